"""Topics by period: numbers stay, words follow the documents."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import laconic
from laconic.corpus.periods import PERIODS, cut
from laconic.errors import ParameterError

THEMES = {
    "kitchen": ["salt", "pepper", "oven", "knife", "spoon", "plate"],
    "sea": ["ship", "harbour", "sail", "wave", "anchor", "tide"],
    "phones": ["phone", "call", "number", "cable", "dial", "booth"],
}
LATER = ["phone", "call", "number", "screen", "app", "battery"]


def planted(years=(1990, 1991, 1992), per_theme=30, seed=0):
    """Texts of three themes; in the last year, the words of phones are others."""
    rng = np.random.default_rng(seed)
    texts, dates = [], []
    for year in years:
        for theme, words in THEMES.items():
            own = LATER if theme == "phones" and year == years[-1] else words
            for _ in range(per_theme):
                texts.append(" ".join(rng.choice(own, 8)))
                dates.append(f"{year}-{rng.integers(1, 13):02d}-01")
    return texts, dates


def fitted(model="rlsi", **given):
    texts, dates = planted()
    given = {"dates": dates, "stop_words": None, "random_state": 0, **given}
    return laconic.fit(texts, model=model, **({} if "n_shared" in given else {"n_topics": 3}), **given)


@pytest.fixture(scope="module")
def bundle():
    found = fitted()
    return found.rename(topic_of(found, "phone"), "telephones")


def topic_of(bundle, word):
    column = bundle.vocabulary.tolist().index(word)
    rows = bundle.model.components_
    return int(np.argmax(np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)[:, column]))


@pytest.mark.parametrize("model", ["rlsi", "nmf", "plsa"])
def test_words_of_one_topic_change(model, bundle):
    bundle = bundle if model == "rlsi" else fitted(model)
    phones = topic_of(bundle, "phone")
    found = bundle.drift(n_terms=6)
    assert found.periods == ("1990", "1991", "1992")
    assert found.documents == (90, 90, 90)
    moved = found.most_moved(1)[0]
    assert moved.topic == phones
    first, second, third = moved.moments
    assert first.cosine is None
    assert first.gained == first.lost == second.gained == second.lost == ()
    assert {word for word, _ in second.words} == set(THEMES["phones"])
    assert set(third.gained) == {"screen", "app", "battery"}
    assert set(third.lost) == {"cable", "dial", "booth"}
    assert third.cosine < second.cosine
    for course in found.topics:
        assert [moment.documents for moment in course.moments] == [30, 30, 30]
        if course is not moved:
            assert course.moved < 0.05
            assert not any(moment.gained or moment.lost for moment in course.moments)
    for period in range(3):
        assert sum(course.moments[period].share for course in found.topics) == pytest.approx(1)


def test_names_and_the_bundle_stay(bundle):
    before = bundle.model.components_.copy()
    found = bundle.drift()
    assert [course.topic for course in found.topics] == [0, 1, 2]
    assert [course.name for course in found.topics] == bundle.names
    assert abs(bundle.model.components_ - before).max() == 0
    assert bundle.model.get_params()["anchors"] is None
    assert bundle.drift() == found
    with pytest.raises(FrozenInstanceError):
        found.by = "month"
    described = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert described["topics"][0]["moments"][1]["period"] == "1991"


def test_strength(bundle):
    phones = topic_of(bundle, "phone")
    moved = [bundle.drift(strength=strength).topics[phones].moved for strength in (0.01, 1, 100, 1e7)]
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > 0.2
    assert moved[-1] < 1e-6


def test_words_come_where_steps_never_leave_zero():
    bundle = fitted("nmf", solver="mu")
    last = bundle.drift(strength=0, n_terms=6).topics[topic_of(bundle, "phone")].moments[-1]
    assert set(last.gained) == {"screen", "app", "battery"}


def test_topics_go_on_from_the_period_before():
    texts, dates = planted(years=(1990, 1991))
    texts, dates = texts + texts[90:], dates + ["1992"] * 90  # the same again
    bundle = laconic.fit(texts, n_topics=3, dates=dates, stop_words=None, random_state=0)
    moments = bundle.drift(strength=1, n_terms=20).topics[topic_of(bundle, "phone")].moments
    screen, booth = ([dict(moment.words)[word] for moment in moments] for word in ("screen", "booth"))
    assert screen[0] < screen[1] < screen[2]
    assert booth[0] > booth[1] > booth[2]


def test_edits_are_kept(bundle):
    phones, salt = topic_of(bundle, "phone"), topic_of(bundle, "salt")
    edited = bundle.edit().drop(salt).freeze(phones).forbid(["wave"]).apply()
    found = edited.drift(n_terms=20)
    assert [course.topic for course in found.topics] == [k for k in range(3) if k != salt]
    by_topic = {course.topic: course for course in found.topics}
    assert by_topic[phones].moved == pytest.approx(0, abs=1e-12)
    for course in found.topics:
        assert all("wave" not in dict(moment.words) for moment in course.moments)


def test_progress(bundle):
    told = []
    bundle.drift(progress=told.append)
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


def test_small_periods_are_joined():
    texts, dates = planted()
    dates[:88] = ["1988"] * 88  # of 1990, two documents are left
    dates[-2:] = ["1995"] * 2
    texts[5], dates[6] = "", None
    found = laconic.fit(texts, n_topics=3, dates=dates, stop_words=None).drift()
    assert found.periods == ("1988", "1990 to 1991", "1992 to 1995")
    assert found.documents == (86, 92, 90)
    assert found.left_out == 2


def test_periods():
    dates = np.array(["1969-12-31", "1970-01-01", "NaT", "1971-05-09T10:00:00"], "datetime64[s]")
    names = {}
    for by in PERIODS:
        found = cut(dates, by)
        assert found.numbers[2] == -1
        names[by] = [found.name(number) for number in found.numbers[[0, 1, 3]]]
    assert names == {
        "decade": ["1960s", "1970s", "1970s"],
        "year": ["1969", "1970", "1971"],
        "quarter": ["1969-Q4", "1970-Q1", "1971-Q2"],
        "month": ["1969-12", "1970-01", "1971-05"],
        "day": ["1969-12-31", "1970-01-01", "1971-05-09"],
    }


def test_refusals(bundle):
    with pytest.raises(ParameterError, match="only one period \\(1990s\\)"):
        bundle.drift("decade")
    with pytest.raises(ParameterError, match="'year', 'quarter'"):
        bundle.drift("fortnight")
    with pytest.raises(ParameterError, match="strength"):
        bundle.drift(strength=-1)
    with pytest.raises(ParameterError, match="n_terms"):
        bundle.drift(n_terms=0)
    with pytest.raises(ParameterError, match="without its documents"):
        laconic.Bundle(bundle.model, bundle.vectorizer).drift()
    with pytest.raises(ParameterError, match="no dates"):
        fitted(dates=None).drift()
    with pytest.raises(ParameterError, match="no dates"):
        fitted(dates=[None] * 270).drift()
    with pytest.raises(ParameterError, match=r"orthonormal basis.*followed through time"):
        fitted("sparse-lsa").drift()
    labels = ["a", "b"] * 135
    with pytest.raises(ParameterError, match="belong to classes"):
        fitted("group-rlsi", labels=labels, n_shared=2, n_per_class=1).drift()
