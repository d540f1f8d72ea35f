from copy import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from laconic import Corpus, GraphPLSA, MultimodalPLSA
from laconic.models import MODELS
from laconic.search import BM25, VSM, Explanation, SearchIndex, TopicMatch, TopicMatcher


def fitted(name, corpus):
    """A small model of every kind."""
    kind = MODELS[name]
    if name.startswith("Group"):
        return kind(1, 1, random_state=0, max_iter=500).fit(corpus.X, corpus.labels)
    model = kind(3, random_state=0, max_iter=500)
    if name == "MultimodalPLSA":
        return model.fit({"words": corpus.counts, "others": corpus.counts[:, ::-1]})
    X = corpus.counts if model.wants == "counts" else corpus.X
    if name == "GraphPLSA":
        return model.fit(X, graph=[(n, n + 3) for n in range(corpus.shape[0] - 3)])
    return model.fit(X)


@pytest.mark.parametrize("terms", ["bm25", "vsm"])
@pytest.mark.parametrize("similarity", ["gram", "cosine"])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_searched(name, similarity, terms, corpus):
    model = fitted(name, corpus)
    modality = "words" if name == "MultimodalPLSA" else None
    index = SearchIndex(corpus, model, terms=terms, similarity=similarity, modality=modality, n_jobs=1)
    found = index.search("salt and pepper", k=30)
    assert len(found) == 30
    assert np.isfinite(found.scores).all()
    fields = [corpus.labels[corpus.ids.tolist().index(id)] for id in found.ids[:10]]
    assert fields.count("food") >= 8
    reason = index.explain("salt and pepper", found[0].id)
    assert reason.score == found[0].score
    assert sum(part.contribution for part in reason.topics) == pytest.approx(reason.topic_score, abs=1e-5)


def test_the_limits_of_the_blend(index, corpus, model):
    query = "moon over the harbour"
    counts = corpus.vectorizer.count([query])
    terms, topics = (
        BM25(corpus.counts).scores(counts)[0],
        TopicMatcher(model, corpus.X).scores(index.rows(counts))[0],
    )
    for blend, scores in ((0, terms / terms.max()), (1, topics)):
        found = index.search(query, k=1000, blend=blend)
        order = np.argsort(-scores, kind="stable")
        expected = order[scores[order] > 0]
        np.testing.assert_allclose(found.scores, scores[expected], atol=1e-6)
        assert set(found.ids) == set(corpus.ids[expected])
    assert len(index.search(query, k=1000, blend=1)) > len(index.search(query, k=1000, blend=0))


def test_a_score_is_the_blend_of_its_parts(corpus, model):
    for scaling in ("max", "raw"):
        index = SearchIndex(corpus, model, scaling=scaling, blend=0.6)
        found = index.search("moon tide")
        unit = BM25(corpus.counts).scores(corpus.vectorizer.count(["moon tide"])).max()
        for hit in found:
            term = hit.term_score / (unit if scaling == "max" else 1)
            assert hit.score == pytest.approx(0.6 * hit.topic_score + 0.4 * term, rel=1e-5)


def test_run_and_search_agree_to_the_bit(index):
    queries = {"q1": "moon and stars", "q2": "whale", "q3": "unheardof", "q4": ""}
    run = index.run(queries, k=20)
    assert list(run) == list(queries)
    assert run["q3"] == run["q4"] == {}
    assert index.run({}) == {}
    for name, query in queries.items():
        found = index.search(query, k=20)
        assert list(run[name].items()) == list(zip(found.ids, found.scores, strict=True))


def test_what_is_explained_adds_up(index):
    for query in ("moon", "captain of the ship", "salt salt oven tide"):
        found = index.search(query, k=40)
        for hit in found:
            reason = index.explain(query, hit.id)
            assert (reason.score, reason.term_score, reason.topic_score) == (
                hit.score,
                hit.term_score,
                hit.topic_score,
            )
            assert sum(m.contribution for m in reason.terms) == pytest.approx(hit.term_score, abs=1e-5)
            assert sum(m.contribution for m in reason.topics) == pytest.approx(hit.topic_score, abs=1e-5)
            for matches in (reason.terms, reason.topics):
                assert not matches or sum(m.share for m in matches) == pytest.approx(1, abs=1e-4)
            blended = reason.blend * hit.topic_score + (1 - reason.blend) * hit.term_score / reason.term_unit
            assert blended == pytest.approx(hit.score, abs=1e-6)
            assert str(reason).startswith(f"{hit.id}: {hit.score:.4f} = ")


def test_no_share_is_printed_where_topics_cancel():
    def explained(*parts):
        topics = tuple(TopicMatch(n, ("word",), part, part / sum(parts)) for n, part in enumerate(parts))
        return str(Explanation("d", 0, 0, sum(parts), 1, 1, (), topics)).splitlines()[1:]

    assert explained(0.7, -0.69, 0.001) == ["  topic 0: 0.7000: word", "  topic 1: -0.6900: word"]
    assert explained(0.75, -0.25, 0.001) == [
        "  topic 0: 0.7500 (150%): word",
        "  topic 1: -0.2500 (-50%): word",
    ]


def test_an_explanation_of_what_was_not_found(index, corpus):
    empty = corpus.ids[10]
    reason = index.explain("moon", empty)
    assert (reason.score, reason.terms, reason.topics) == (0, (), ())
    assert index.explain("unheardof", corpus.ids[0]).score == 0
    with pytest.raises(ValueError, match="there is no document 'nobody' in the index"):
        index.explain("moon", "nobody")


@pytest.mark.parametrize("terms", ["bm25", "vsm"])
def test_added_documents_are_as_if_they_had_been_there(terms, corpus, model, texts):
    first = Corpus(corpus.counts[:60], corpus.vectorizer, ids=corpus.ids[:60])
    index = SearchIndex(first, model, terms=terms, texts=texts[:60], blend=0.5)
    assert index.add(dict(zip(corpus.ids[60:].tolist(), texts[60:], strict=True))) is index
    whole = SearchIndex(corpus, model, terms=terms, texts=texts, blend=0.5)
    # The same but for the idf and the mean length, which are those of the first documents.
    matcher = whole.matcher.terms
    matcher = first_statistics(first, terms).with_columns(matcher.columns)
    whole.matcher.terms = matcher
    for query in ("moon", "salt in the sea", "captain"):
        expected, found = whole.search(query, 90), index.search(query, 90)
        assert found.ids == expected.ids
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
        assert [hit.snippet for hit in found] == [hit.snippet for hit in expected]
    assert index.n_documents == 90


def first_statistics(corpus, terms):
    return BM25(corpus.counts) if terms == "bm25" else VSM(corpus.counts)


def test_nothing_is_added_if_anything_is_wrong(index):
    before = index.search("moon", 50)
    with pytest.raises(ValueError, match="the index already has a document 'd3'"):
        index.add({"new": "moon moon", "d3": "moon"})
    with pytest.raises(ValueError, match="text 1 is NoneType"):
        index.add({"new": "moon moon", "newer": None})
    with pytest.raises(ValueError, match="documents 0 and 1 have the same id '1'"):
        index.add({1: "moon", "1": "star"})
    with pytest.raises(ValueError, match="text 0 is not valid Unicode"):
        index.add({"new": "moon \ud800"})
    assert index.n_documents == 90
    assert index.add({}) is index
    assert index.search("moon", 50) == before


def test_added_documents_of_a_class(corpus):
    model = fitted("GroupRLSI", corpus)
    index = SearchIndex(corpus, model, n_jobs=1)
    index.add({"a": "moon salt", "b": "moon salt", "c": "moon salt"}, labels={"a": "sky", "b": "food"})
    places = {part.label: set(part.documents.tolist()) for part in index.matcher.topics.parts}
    assert 90 in places["sky"]
    assert 91 in places["food"]


def test_links_count_for_the_documents_of_the_fit(corpus):
    model = fitted("GraphPLSA", corpus)
    assert isinstance(model, GraphPLSA)
    index = SearchIndex(corpus, model, similarity="cosine")
    expected = TopicMatcher(model, corpus.counts, weights=model.weights_, similarity="cosine")
    np.testing.assert_array_equal(index.matcher.topics.parts[0].vectors, expected.parts[0].vectors)
    others = SearchIndex(Corpus(corpus.counts[::-1], corpus.vectorizer), model, similarity="cosine")
    assert not np.allclose(others.matcher.topics.parts[0].vectors, expected.parts[0].vectors[::-1], atol=1e-3)


def test_results(index, corpus, model):
    found = index.search("moon", 3)
    assert found.ids == [hit.id for hit in found]
    assert found[:2].ids == found.ids[:2]
    assert found == index.search("moon", 3)
    assert found != index.search("moon", 2)
    assert repr(found).splitlines()[1].split()[3].strip(":") == found[0].id
    assert repr(index.search("unheardof")) == "no document matches"
    assert SearchIndex(corpus, model).search("moon")[0].snippet is None


@pytest.mark.parametrize("query", ["", "unheardof", "the of and", "?!", "\x00\ud800"])
def test_queries_without_known_words_find_nothing(index, query):
    assert len(index.search(query)) == 0


def test_long_queries(index):
    words = " ".join(["moon", "salt", "whale", "unheardof"] * 2500)
    assert len(index.search(words, 10)) == 10


def test_more_than_there_are(index):
    assert len(index.search("thing", k=10**9, blend=0)) == 88


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.search("moon", 0), "k must be a whole number of at least 1, not 0"),
        (lambda index: index.search("moon", 2.5), "k must be a whole number"),
        (lambda index: index.search("moon", blend=-0.1), "blend must be a number from 0"),
        (lambda index: index.search("moon", blend=1.01), "blend must be a number from 0"),
        (lambda index: index.search("moon", blend=float("nan")), "blend must be a number from 0"),
        (lambda index: index.search("moon", blend="half"), "blend must be a number from 0"),
        (lambda index: index.search(["moon"]), "a query is a text, not list"),
        (lambda index: index.run(["moon"]), "queries are a mapping of ids to texts, not list"),
        (lambda index: index.run({"q": None}), "query 'q' is NoneType, not a text"),
        (lambda index: index.explain("moon", "d1", blend=2), "blend must be a number from 0"),
        (lambda index: index.add(["moon"]), "documents are a mapping of ids to texts, not list"),
        (lambda index: index.add({"a": "moon"}, ["sky"]), "labels are a mapping of ids to classes, not list"),
    ],
)
def test_unfit_arguments_are_refused(index, call, message):
    with pytest.raises(ValueError, match=message):
        call(index)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"terms": "tfidf"}, "terms='tfidf' is not known"),
        ({"similarity": "dot"}, "similarity='dot' is not known"),
        ({"scaling": "min"}, "scaling='min' is not known"),
        ({"blend": True}, "blend must be"),
        ({"k1": -1}, "k1 must be"),
        ({"texts": ["one"]}, "there are 1 texts for 90 documents"),
        ({"texts": "one"}, "not one string"),
        ({"texts": ["moon"] * 89 + ["\ud800"]}, "text 89 is not valid Unicode"),
        ({"modality": "de"}, "no modality 'de'"),
    ],
)
def test_unfit_parameters_are_refused(corpus, model, arguments, message):
    with pytest.raises(ValueError, match=message):
        SearchIndex(corpus, model, **arguments)


def test_a_corpus_with_other_words_is_refused(model):
    other = Corpus.from_texts(["red fish", "blue fish"], min_df=1, max_df=1.0)
    with pytest.raises(ValueError, match="the corpus has 3 terms, but the model was fitted on 25"):
        SearchIndex(other, model)


def test_a_corpus_with_as_many_other_words_is_refused(corpus, model):
    named = copy(model)
    named.feature_names_in_ = corpus.vectorizer.vocabulary
    assert SearchIndex(corpus, named).search("moon") == SearchIndex(corpus, model).search("moon")
    named.feature_names_in_ = corpus.vectorizer.vocabulary[::-1]
    with pytest.raises(ValueError, match="term 0 of the corpus is 'anchor', but the model was fitted with"):
        SearchIndex(corpus, named)
    media = fitted("MultimodalPLSA", corpus)
    media.term_names_ = {"others": corpus.vectorizer.vocabulary[::-1]}
    SearchIndex(corpus, media, modality="words")
    with pytest.raises(ValueError, match="term 0 of the corpus is 'anchor'"):
        SearchIndex(corpus, media, modality="others")


def test_a_model_that_is_not_fitted_is_refused(corpus):
    with pytest.raises(NotFittedError):
        SearchIndex(corpus, MODELS["RLSI"](2))


def test_a_model_of_several_texts_needs_the_name_of_one(corpus):
    model = fitted("MultimodalPLSA", corpus)
    assert isinstance(model, MultimodalPLSA)
    with pytest.raises(ValueError, match="say which of 'words', 'others' to search"):
        SearchIndex(corpus, model)
