import json
from dataclasses import asdict

import numpy as np
import pytest
from explore_toys import HOSTILE, KINDS, SUBJECTS, of_size
from scipy.sparse import issparse

import laconic
from laconic.explore import views
from laconic.explore.facts import facts_of
from laconic.explore.views.lines import best_topics
from laconic.explore.views.topics import map_radii


def dense_of(matrix):
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)


def every_view(bundle):
    """All that can be looked at, by name."""
    facts = facts_of(bundle)
    found = {
        "overview": views.overview(bundle),
        "topic": views.topic(bundle, 0),
        "word": views.word(bundle, facts.parts[0].term(0)),
        "labels": views.labels(bundle),
        "time": views.time(bundle),
        "compare": views.compare(bundle, 0, facts.n_topics - 1),
        "similarity": views.similarity(bundle),
        "map": views.topic_map(bundle),
        "describe": views.describe(bundle, "sun and salt, sonne und salz"),
    }
    if bundle.documents is not None:
        found["document"] = views.document(bundle, "doc/0")
        found["search"] = views.search(bundle, "sun salt butter")
    if facts.label_names:
        found["label"] = views.label(bundle, facts.label_names[0])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_view_of_every_kind_is_plain_data(kind):
    for name, view in every_view(KINDS[kind]()).items():
        assert json.loads(json.dumps(asdict(view), allow_nan=False)) == asdict(view), name


@pytest.mark.parametrize("n_topics", [1, 2, 3, 10_000])
def test_any_number_of_topics(n_topics):
    bundle = of_size(n_topics)
    made = every_view(bundle)
    assert made["overview"].n_topics == len(made["overview"].topics) == len(made["map"].points) == n_topics
    assert all(-1 <= value <= 1 for point in made["map"].points for value in (point.x, point.y))
    assert len(made["similarity"].topics) == min(n_topics, 300)


def test_views_are_found_once():
    bundle = KINDS["flat"]()
    assert facts_of(bundle) is facts_of(bundle)


def test_overview_tells_what_there_is():
    found = views.overview(KINDS["flat"](), order="share", first=1, n=2)
    assert (found.n_documents, found.n_topics, found.has_texts, found.has_dates) == (60, 4, True, True)
    assert [line.documents for line in found.labels] == [20, 20, 20]
    assert found.period == ["2015-03-01", "2022-03-28"]
    assert 0 < found.explained <= 1
    assert found.measured == 60
    assert found.first == 1
    assert found.topics[0].share >= found.topics[1].share
    whole = views.overview(KINDS["flat"]())
    assert sum(topic.share for topic in whole.topics) == pytest.approx(1)
    assert sum(topic.documents for topic in whole.topics) == 60


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="ordered by id, share, size, name, not by 'age'"):
        views.overview(KINDS["flat"](), order="age")


@pytest.mark.parametrize("kind", ["flat", "signed", "dense", "group", "graph", "multimodal"])
def test_classes_and_shares_as_a_naive_count_has_them(kind):
    bundle = KINDS[kind]()
    weights = np.maximum(dense_of(bundle.documents.weights), 0)
    labels = np.asarray(bundle.documents.labels)
    found = views.labels(bundle)
    for column, label in enumerate(found.labels):
        sums = weights[labels == label].sum(axis=0)
        naive = sums / sums.sum()
        np.testing.assert_allclose(
            [row[column] for row in found.shares], naive[found.topics], rtol=1e-5, atol=1e-7
        )
    np.testing.assert_allclose(facts_of(bundle).shares, bundle.documents.shares(), rtol=1e-5)
    assert facts_of(bundle).main_counts == bundle.documents.by_topic()["documents"]


def test_time_as_a_naive_count_has_it():
    bundle = KINDS["flat"]()
    weights = np.maximum(dense_of(bundle.documents.weights), 0)
    years = np.array([str(date)[:4] for date in bundle.documents.dates])
    found = views.time(bundle)
    assert (found.unit, found.periods) == ("year", [str(year) for year in range(2015, 2023)])
    for row in found.topics:
        for year, share in zip(found.periods, row.shares, strict=True):
            sums = weights[years == year].sum(axis=0)
            assert share == pytest.approx(sums[row.id] / sums.sum(), rel=1e-5)


def test_a_topic_has_its_documents_neighbours_and_words():
    bundle = KINDS["flat"]()
    found = views.topic(bundle, 1)
    table = bundle.documents.most_of(1, 10)
    assert [line.id for line in found.documents] == table["id"]
    assert [line.weight for line in found.documents] == pytest.approx(table["weight"])
    assert all(0 < line.share <= 1 for line in found.documents)
    marked = {piece.text for line in found.documents for piece in line.text if piece.topic is not None}
    assert marked <= {word.term for word in found.topic.words[0].words}
    assert found.topic.words[0].words[0].term in marked
    cosines = [near.cosine for near in found.neighbours]
    assert cosines == sorted(cosines, reverse=True)
    for near in found.neighbours:
        assert near.cosine == pytest.approx(views.compare(bundle, 1, near.id).cosine)


@pytest.mark.parametrize("kind", ["flat", "signed", "dense", "group"])
def test_words_are_explained_by_the_topic_that_gives_most(kind):
    bundle = KINDS[kind]()
    facts = facts_of(bundle)
    topics = dense_of(bundle.model.components_)
    weights = dense_of(bundle.documents.weights)
    for row in (0, 7, 31):
        counts = bundle.documents.counts[[row]]
        has = np.flatnonzero(weights[row])
        found = best_topics(facts.parts[0], has, weights[row][has], counts.indices.astype(np.int64))
        for column in counts.indices:
            parts = weights[row] * topics[:, column]
            if parts.max() > 1e-6:
                assert parts[found[column]] == pytest.approx(parts.max())
            else:
                assert column not in found or parts[found[column]] > 0


def test_a_document_is_its_text_in_pieces():
    bundle = KINDS["flat"]()
    found = views.document(bundle, HOSTILE)
    row = facts_of(bundle).rows[HOSTILE]
    assert "".join(piece.text for piece in found.bodies[0].text) == bundle.documents.texts[row]
    assert (found.before, found.after) == ("doc/0", "doc/2")
    assert sum(part.share for part in found.topics) == pytest.approx(1)
    known = set(SUBJECTS["sky"].split() + SUBJECTS["sea"].split() + SUBJECTS["food"].split())
    assert {piece.text for piece in found.bodies[0].text if piece.topic is not None} <= known


def test_a_document_of_two_languages_has_two_bodies():
    found = views.document(KINDS["multimodal"](), "doc/0")
    assert [body.modality for body in found.bodies] == ["german", "english"]
    assert all(any(piece.topic is not None for piece in body.text) for body in found.bodies)


def test_without_texts_there_are_terms():
    body = views.document(KINDS["no_texts"](), "doc/5").bodies[0]
    assert not body.text
    assert sum(term.count for term in body.terms) == 15


def test_a_word_has_all_its_topics_and_documents():
    bundle = KINDS["flat"]()
    topics = dense_of(bundle.model.components_)
    for column, term in enumerate(bundle.vocabulary):
        found = views.word(bundle, term)
        assert {one.id for one in found.topics} == set(np.flatnonzero(topics[:, column]))
        for one in found.topics:
            assert one.rank == 1 + np.count_nonzero(np.abs(topics[one.id]) > abs(one.weight) + 1e-12)
        counts = bundle.documents.counts.toarray()[:, column]
        assert (found.n_documents, found.n_occurrences) == (np.count_nonzero(counts), counts.sum())
        assert found.documents[0].weight == counts.max()


def test_a_word_is_read_as_the_vectoriser_reads_it():
    assert views.word(KINDS["flat"](), "SUN").term == "sun"
    assert views.word(KINDS["multimodal"](), "pfeffer").modality == "german"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda b: views.topic(b, 4), "there is no topic 4: they are numbered from 0 to 3"),
        (
            lambda b: views.word(b, "harbourmaster"),
            "is not in the vocabulary; there are harbour",
        ),
        (lambda b: views.document(b, "x"), "there is no document 'x'"),
        (lambda b: views.label(b, "air"), "no class 'air'; there are: food, sea, sky"),
        (lambda b: views.compare(b, 0, -1), "there is no topic -1"),
    ],
)
def test_what_there_is_not_is_said(ask, message):
    with pytest.raises(views.UnknownError, match=message):
        ask(KINDS["flat"]())


def test_without_documents_there_is_nothing_to_read_or_search():
    for ask in (views.document, views.search):
        with pytest.raises(views.UnknownError, match="has no documents"):
            ask(KINDS["no_documents"](), "x")


@pytest.mark.parametrize("kind", ["flat", "signed", "group", "graph"])
@pytest.mark.parametrize("blend", [0, 0.3, 1])
def test_reasons_add_up_to_the_score(kind, blend):
    found = views.search(KINDS[kind](), "moon butter", blend=blend)
    assert found.hits
    assert found.known == ["butter", "moon"]
    for hit in found.hits:
        assert hit.terms + hit.topics == pytest.approx(hit.score, abs=1e-5)
        assert sum(reason.part for reason in hit.reasons) == pytest.approx(hit.score, abs=1e-5)


def test_a_search_finds_what_the_index_finds():
    bundle = KINDS["flat"]()
    hits = bundle.search("comet orbit", 5)
    found = views.search(bundle, "comet orbit", k=5)
    assert [hit.id for hit in found.hits] == hits.ids
    assert [hit.score for hit in found.hits] == hits.scores


def test_a_new_text_gets_its_topics():
    bundle = KINDS["flat"]()
    text = "The moon and the sun, and a telescope."
    found = views.describe(bundle, text)
    assert "".join(piece.text for piece in found.text) == text
    weights = dense_of(bundle.transform([text]))[0]
    assert {part.id: pytest.approx(part.weight) for part in found.topics} == {
        int(k): weights[k] for k in np.flatnonzero(weights)
    }
    assert views.describe(bundle, "nothing known").topics == []
    assert views.describe(KINDS["group"](), text).label == "sky"
    assert views.describe(KINDS["multimodal"](), text, modality="english").known == 3


def test_a_class_has_its_own_topics_and_the_shared_ones():
    found = views.label(KINDS["group"](), "sea")
    assert [line.owner for line in found.own] == ["sea", "sea"]
    assert [line.owner for line in found.shared] == ["shared", "shared"]
    assert found.documents == 20
    assert {line.label for line in found.examples} == {"sea"}
    assert sum(part.share for part in found.topics) == pytest.approx(1)


def test_compared_topics_have_words_of_both_and_of_one():
    bundle = KINDS["flat"]()
    found = views.compare(bundle, 0, 1)
    first, second = (set(dict(words)) for words in bundle.topic_words(None)[:2])
    assert {word.term for word in found.both} == first & second
    assert {word.term for word in found.only_first} == first - second
    assert {word.term for word in found.only_second} == second - first
    assert views.compare(bundle, 1, 1).cosine == pytest.approx(1)


def test_circles_have_areas_by_weight():
    radii = map_radii(np.array([1.0, 0.25]))
    assert radii[1] / radii[0] == pytest.approx(0.5)


def test_the_map_is_the_same_after_saving(tmp_path):
    bundle = KINDS["flat"]()
    bundle.save(tmp_path / "model")
    assert views.topic_map(laconic.load(tmp_path / "model")) == views.topic_map(bundle)


def test_what_comes_back_is_told_where_it_was_measured():
    from dataclasses import replace

    from laconic.bundle.notes import Returns
    from laconic.explore.report import report_html, summary

    bundle = of_size(3)
    assert views.overview(bundle).topics[0].stability is None
    bundle.notes = replace(bundle.notes, returns=Returns((0.9, 0.5, None), 10))
    found = views.overview(bundle)
    assert [topic.stability for topic in found.topics] == [0.9, 0.5, None]
    assert any("1 of 2 topics are stable" in said for said in summary(found))
    assert "comes back in 90%" in report_html(bundle)


def test_facts_do_not_keep_bundles_alive():
    import gc
    import weakref

    bundle = of_size(3)
    views.overview(bundle)
    kept = weakref.ref(bundle)
    del bundle
    gc.collect()
    assert kept() is None
