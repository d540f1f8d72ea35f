"""What topics are called: in memory and on disk."""

import copy
import json

import pytest

import laconic
from laconic import Bundle, BundleError, load
from laconic.bundle.listing import read_listing
from laconic.errors import ParameterError
from stored_files import edit

TEXTS = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"] * 3


@pytest.fixture(scope="module")
def _fitted():
    return laconic.fit(TEXTS, n_topics=2)


@pytest.fixture
def bundle(_fitted):
    return Bundle(copy.deepcopy(_fitted.model), documents=_fitted.documents)


def test_names_are_shown_beside_numbers_which_stay(bundle):
    assert bundle.names == [None, None]
    assert "name" not in list(bundle.topics().columns)
    before = bundle.topic_words()
    assert bundle.rename(1, " night ") is bundle
    assert bundle.names == [None, "night"]
    assert bundle.topic_words() == before
    assert [list(bundle.topics()[column]) for column in ("topic", "name")] == [[0, 1], ["", "night"]]
    assert bundle.topic_number("night") == 1 == bundle.topic_number("1") == bundle.topic_number(1)
    assert list(bundle.documents_of("night")["id"]) == list(bundle.documents_of(1)["id"])
    assert "night" in bundle._repr_html_()
    assert bundle.rename("night", None).names == [None, None]


def test_names_come_back_from_disk_to_the_byte(bundle, tmp_path):
    bundle.rename(0, "Küche & <Salz>").save(tmp_path / "one")
    found = load(tmp_path / "one")
    assert found.names == ["Küche & <Salz>", None] == list(read_listing(tmp_path / "one").notes.names)
    assert "Küche &amp; &lt;Salz&gt;" in found._repr_html_()
    found.save(tmp_path / "two")
    assert (tmp_path / "one/model.json").read_bytes() == (tmp_path / "two/model.json").read_bytes()


def test_models_without_names_are_stored_as_ever(bundle, tmp_path):
    bundle.save(tmp_path)
    assert "topics" not in json.loads((tmp_path / "model.json").read_text())


def test_names_are_given_by_list_or_by_number(bundle):
    assert Bundle(bundle.model, names=["a", None]).names == ["a", None]
    assert Bundle(bundle.model, names={1: "b"}).names == [None, "b"]
    with pytest.raises(ParameterError, match="for each of 2 topics"):
        Bundle(bundle.model, names=["a"])
    with pytest.raises(ParameterError, match="topic 2: topics are 0 to 1"):
        Bundle(bundle.model, names={2: "a"})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "empty"),
        (" \t", "empty"),
        ("x" * 101, "101 characters"),
        ("two\nlines", "control"),
        ("\x1b[2J", "control"),
        ("\u202eevil", "control"),
        ("line\u2028end", "control"),
        ("\ud800", "control"),
        ("7", "could be mistaken for the number"),
        ("-7", "could be mistaken for the number"),
        (7, "must be text"),
        ("taken", "topic 1 already has the name"),
    ],
)
def test_unfit_names_are_refused_and_nothing_changes(bundle, name, why):
    bundle.rename(1, "taken")
    with pytest.raises(ParameterError, match=why):
        bundle.rename(0, name)
    assert bundle.names == [None, "taken"]


def test_letters_that_look_alike_in_two_forms_are_one_name(bundle):
    bundle.rename(0, "e\u0301tudes")
    with pytest.raises(ParameterError, match="topic 0 already has"):
        bundle.rename(1, "\u00e9tudes")


@pytest.mark.parametrize("topic", [2, -1, 1.5, True, "nobody", "2", None])
def test_topics_that_are_none_are_refused(bundle, topic):
    with pytest.raises(ParameterError, match="topic"):
        bundle.rename(topic, "name")


@pytest.mark.parametrize(
    "topics",
    [
        None,
        [],
        {"names": []},
        {"names": {"2": "a"}},
        {"names": {"01": "a"}},
        {"names": {"-1": "a"}},
        {"names": {"0": None}},
        {"names": {"0": 5}},
        {"names": {"0": "a", "1": "a"}},
        {"names": {"0": "a\nb"}},
        {"names": {"0": "x" * 101}},
    ],
)
def test_names_on_disk_are_checked(bundle, topics, tmp_path):
    bundle.rename(0, "a").save(tmp_path)
    edit(tmp_path, lambda document: document.update(topics=topics))
    for read in (load, read_listing):
        with pytest.raises(BundleError, match="topic"):
            read(tmp_path)


def test_another_fit_has_topics_without_names(bundle):
    bundle.rename(0, "a")
    bundle.model.set_params(n_components=1).fit(bundle.documents.corpus().X)
    assert bundle.names == [None]


def test_search_tells_names_and_keeps_them(bundle, tmp_path):
    topic = next(k for k, words in enumerate(bundle.topic_words()) if "salt" in dict(words))
    index = bundle.rename(topic, "kitchen").index
    (match,) = index.explain("salt", "2").topics
    assert (match.topic, match.name) == (topic, "kitchen")
    assert f"topic {topic} kitchen: " in str(index.explain("salt", "2"))
    assert f"topic {topic} kitchen" in index.explain("salt", "2")._repr_html_()
    bundle.rename(topic, "spices")
    assert index.explain("salt", "2").topics[0].name == "spices"
    index.save(tmp_path)
    assert load(tmp_path).names[topic] == "spices"
