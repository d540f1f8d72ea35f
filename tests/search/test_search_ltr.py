import sys

import numpy as np
import pytest

from laconic import RLSI
from laconic.search import BM25, VSM, SearchError, SearchIndex
from laconic.search.ltr import FEATURES, Ranker, cross_validated, features
from stored_files import contents, edit

pytest.importorskip("lightgbm")

QUERIES = {f"{field}{n}": " ".join(words) for field, pairs in {
    "sky": [("moon", "comet"), ("sun",), ("galaxy", "orbit"), ("star",)],
    "food": [("butter",), ("salt", "oven"), ("garlic",), ("flour", "onion")],
    "sea": [("whale",), ("tide", "sail"), ("captain",), ("wave", "anchor")],
}.items() for n, words in enumerate(pairs)}  # fmt: skip
SMALL = {"n_trees": 20, "min_rows": 5, "depth": 60}


@pytest.fixture
def qrels(corpus):
    """Relevant is what is about the field."""
    pairs = list(zip(corpus.ids.tolist(), corpus.labels, strict=True))
    return {name: {id: 1 for id, label in pairs if name.startswith(label)} for name in QUERIES}


@pytest.fixture
def ranker(index, qrels):
    return Ranker(index, **SMALL).fit(QUERIES, qrels)


def column(found, name):
    return found.values[:, found.names.index(name)]


def test_features_are_what_they_are_called(index, corpus):
    queries = {"q1": "moon moon tide unheardof", "q2": "unheardof", "q3": "salt"}
    found = features(index, queries, depth=30)
    assert found.names == FEATURES
    assert found.queries == list(queries)
    assert found.sizes.tolist() == [30, 0, 30]
    counts = corpus.vectorizer.count(queries.values())
    bm25, vsm = BM25(corpus.counts).scores(counts), VSM(corpus.counts).scores(counts)
    documents = corpus.counts.toarray()[found.documents[:30]]
    np.testing.assert_allclose(column(found, "bm25")[:30], bm25[0, found.documents[:30]], rtol=1e-6)
    np.testing.assert_allclose(column(found, "bm25_share")[:30].max(), 1)
    np.testing.assert_allclose(column(found, "vsm")[30:], vsm[2, found.documents[30:]], rtol=1e-6)
    np.testing.assert_allclose(column(found, "length")[:30], np.log1p(documents.sum(1)), rtol=1e-6)
    assert set(column(found, "query_length")[:30]) == {3}
    terms = counts[[0]].indices
    has = documents[:, terms] > 0
    np.testing.assert_allclose(column(found, "coverage")[:30], has.mean(1), rtol=1e-6)
    idf = BM25(corpus.counts).idf[terms]
    np.testing.assert_allclose(column(found, "idf_coverage")[:30], has @ idf / idf.sum(), rtol=1e-5)
    topics = index.matcher.topics.scores(index.rows(counts))
    np.testing.assert_allclose(column(found, "topics")[:30], topics[0, found.documents[:30]], atol=1e-6)


def test_without_topics_they_have_no_part(index):
    found = features(index, {"q": "moon"}, depth=90, topics=False)
    assert "topics" not in found.names
    assert (column(found, "bm25") > 0).all()
    assert found.sizes[0] < features(index, {"q": "moon"}, depth=90).sizes[0]


def test_it_learns_that_topics_tell_the_field(ranker, index, qrels):
    assert ranker.importance["topics"] > 0.5
    assert sum(ranker.importance.values()) == pytest.approx(1)
    run = ranker.rank({"new": "planet"}, k=20)["new"]
    fields = dict.fromkeys(qrels["sky0"])
    assert sum(id in fields for id in run) >= 18
    assert list(run.values()) == sorted(run.values(), reverse=True)


def test_the_same_seed_gives_the_same_ranking(ranker, index, qrels):
    again = Ranker(index, **SMALL).fit(QUERIES, qrels)
    assert again.rank(QUERIES) == ranker.rank(QUERIES)


def test_nothing_is_ranked_for_unknown_words(ranker):
    assert ranker.rank({"a": "unheardof", "b": ""}) == {"a": {}, "b": {}}
    assert ranker.rank({}) == {}


def test_cross_validation_ranks_every_judged_query(index, qrels):
    run = cross_validated(index, {**QUERIES, "unjudged": "moon"}, qrels, folds=3, **SMALL)
    assert set(run) == set(QUERIES)
    with pytest.raises(ValueError, match="12 judged queries cannot be divided into 20 folds"):
        cross_validated(index, QUERIES, qrels, folds=20)


def test_what_was_learnt_is_kept(ranker, index, tmp_path):
    ranker.save(tmp_path)
    assert Ranker.load(tmp_path, index).rank(QUERIES) == ranker.rank(QUERIES)
    assert not list(tmp_path.glob("*.txt"))


def test_damaged_and_foreign_rankers_are_refused(ranker, index, corpus, tmp_path):
    ranker.save(tmp_path)
    other = SearchIndex(corpus, RLSI(2, random_state=0, max_iter=500).fit(corpus.X))
    with pytest.raises(SearchError, match="was learnt with another model"):
        Ranker.load(tmp_path, other)
    for name, content in contents(tmp_path).items():
        (tmp_path / name).write_bytes(content[:-5])
        with pytest.raises(SearchError):
            Ranker.load(tmp_path, index)
        (tmp_path / name).write_bytes(content)
    for change in (
        lambda document: document["options"].update(topics=False),
        lambda document: document["options"].update(depth=0),
        lambda document: document["options"].update(new=1),
        lambda document: document.update(trees="none"),
    ):
        ranker.save(tmp_path)
        edit(tmp_path, change)
        with pytest.raises(SearchError):
            Ranker.load(tmp_path, index)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"terms": "vsm"}, "terms"),
        ({"k1": 0.9}, "k1"),
        ({"b": 0.4}, "b"),
        ({"similarity": "cosine"}, "similarity"),
        ({"scaling": "raw"}, "scaling"),
        ({"blend": 0.9}, "blend"),
    ],
)
def test_an_index_of_other_settings_is_refused(index, qrels, corpus, model, tmp_path, arguments, name):
    other = SearchIndex(corpus, model, **arguments)
    Ranker(index, n_trees=2, min_rows=5).fit(QUERIES, qrels).save(tmp_path / "topics")
    with pytest.raises(SearchError, match=f"was learnt with an index of {name}="):
        Ranker.load(tmp_path / "topics", other)
    alone = Ranker(index, topics=False, n_trees=2, min_rows=5).fit(QUERIES, qrels)
    alone.save(tmp_path / "terms")
    if name in ("similarity", "scaling", "blend"):
        # Terms alone do not depend on these.
        assert Ranker.load(tmp_path / "terms", other).rank(QUERIES) == alone.rank(QUERIES)
    else:
        with pytest.raises(SearchError, match=f"was learnt with an index of {name}="):
            Ranker.load(tmp_path / "terms", other)


def test_refusals(index, qrels, monkeypatch):
    with pytest.raises(ValueError, match="has learnt nothing yet"):
        Ranker(index).rank({"q": "moon"})
    with pytest.raises(ValueError, match="none of the documents found for the queries is relevant"):
        Ranker(index).fit({"q": "moon"}, {"q": {"nobody": 1}})
    with pytest.raises(ValueError, match="the grade 300000, but grades go up to 30"):
        Ranker(index).fit(QUERIES, {name: dict.fromkeys(ids, 300_000) for name, ids in qrels.items()})
    with pytest.raises(ValueError, match="depth must be a whole number"):
        Ranker(index, depth=0)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"pip install 'laconic\[ltr\]'"):
        Ranker(index).fit(QUERIES, qrels)
