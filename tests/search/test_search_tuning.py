import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.evaluate import retrieval_scores
from laconic.search import SearchIndex
from laconic.search.tuning import average_precision

QUERIES = {"q1": "moon comet", "q2": "butter", "q3": "whale", "q4": "galaxy", "q5": "tide"}


@pytest.fixture
def qrels(corpus):
    """Relevant is what is about the field, whether or not it has the word."""
    fields = {"q1": "sky", "q2": "food", "q3": "sea"}
    return {
        name: {id: int(label == field) for id, label in zip(corpus.ids.tolist(), corpus.labels, strict=True)}
        for name, field in fields.items()
    } | {"q4": {"d0": 0}, "q9": {"d0": 1}}


def naive(ranked, relevant, n_relevant):
    total = 0.0
    for place, document in enumerate(ranked):
        if document in relevant:
            total += len(set(ranked[: place + 1]) & set(relevant)) / (place + 1)
    return total / n_relevant


@given(st.permutations(range(12)), st.sets(st.integers(0, 15), min_size=1), st.integers(0, 12))
def test_average_precision_is_the_mean_of_precisions(order, relevant, depth):
    ranked = np.array(order[:depth], int)
    expected = naive(ranked.tolist(), relevant, len(relevant))
    assert average_precision(ranked, np.array(sorted(relevant)), len(relevant)) == pytest.approx(expected)


def test_the_best_is_kept(index, qrels):
    before = index.blend
    found = index.tune(QUERIES, qrels)
    assert found.n_queries == 3
    assert found.score == max(found.blends.values()) == found.blends[found.blend]
    assert found.score > found.blends[0.0]
    assert found.parameters[found.k1, found.b] == max(found.parameters.values())
    assert (index.blend, index.matcher.terms.k1, index.matcher.terms.b) == (found.blend, found.k1, found.b)
    assert index.blend != before
    measured = retrieval_scores({name: qrels[name] for name in ("q1", "q2", "q3")}, index.run(QUERIES))
    assert measured.mean["AP"] == pytest.approx(found.score, abs=0.02)


def test_grids_may_be_given(index, qrels):
    found = index.tune(QUERIES, qrels, blends=[0.25, 0.75], k1=[1.0], b=[0.5])
    assert set(found.blends) == {0.25, 0.75}
    assert list(found.parameters) == [(1.0, 0.5)]


def test_the_vector_space_has_no_parameters(corpus, model, qrels):
    index = SearchIndex(corpus, model, terms="vsm", n_jobs=1)
    found = index.tune(QUERIES, qrels)
    assert (found.k1, found.b, found.parameters) == (None, None, {})


def test_relevant_documents_that_are_not_there_count_as_not_found(index, qrels):
    whole = index.tune({"q1": QUERIES["q1"]}, qrels, k1=[1.2], b=[0.75], blends=[0]).score
    more = {"q1": {**qrels["q1"], **{f"missing{n}": 1 for n in range(30)}}}
    less = index.tune({"q1": QUERIES["q1"]}, more, k1=[1.2], b=[0.75], blends=[0]).score
    assert less == pytest.approx(whole / 2)


def test_refusals(index, qrels):
    with pytest.raises(ValueError, match="no query has a relevant document in the index"):
        index.tune({"q4": "galaxy"}, qrels)
    with pytest.raises(ValueError, match="no query has a relevant document"):
        index.tune(QUERIES, {"q1": {"other": 1}})
    with pytest.raises(ValueError, match="at least one number each"):
        index.tune(QUERIES, qrels, blends=[])
    with pytest.raises(ValueError, match="blend must be"):
        index.tune(QUERIES, qrels, blends=[0.5, 3])
