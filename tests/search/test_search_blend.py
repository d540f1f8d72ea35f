import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.kernels.search import tile_blend
from laconic.models.base import TopicModel
from laconic.search import BM25, TopicMatcher, blend
from laconic.search.blend import BlendedMatcher


class Plain(TopicModel):
    """A model whose weights are the first columns."""

    def __init__(self):
        self.components_ = np.eye(4, 12, dtype=np.float32)
        self.n_features_in_ = 12

    def transform(self, X):
        return X.toarray()[:, :4] - 0.5


def collection(seed, n_documents=60):
    random = np.random.default_rng(seed)
    counts = random.poisson(0.4, (n_documents, 12)).astype(np.float32)
    # Equal documents have equal scores, and empty ones none.
    counts[20:25] = counts[5:10]
    counts[3] = 0
    return counts, random.poisson(0.3, (9, 12)).astype(np.float32)


def oracle(terms, topics, k, weight, scaling):
    unit = np.where(terms.max(1) > 0, terms.max(1), 1)[:, None] if scaling == "max" else np.float32(1)
    weight = np.float32(weight)
    scores = weight * topics + (np.float32(1) - weight) * (terms / unit)
    for row in scores:
        order = np.lexsort((np.arange(row.size), -row))
        yield order[row[order] > 0][:k], row


@pytest.mark.parametrize("wide", [-1.0, 0.3, 2.0], ids=["tiles", "either", "scan"])
@given(
    seed=st.integers(0, 10_000),
    k=st.sampled_from([1, 5, 20, 100]),
    weight=st.sampled_from([0, 0.1, 0.5, 0.9, 1]),
    scaling=st.sampled_from(["max", "raw"]),
)
def test_the_best_are_those_of_all_scores(wide, seed, k, weight, scaling):
    counts, queries = collection(seed)
    matcher = BlendedMatcher(BM25(counts), TopicMatcher(Plain(), counts), scaling)
    terms, topics = matcher.terms.scores(queries), matcher.topics.scores(queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blend, "WIDE", wide)
        patch.setattr(blend, "DOCUMENTS_PER_TILE", 7)
        patch.setattr(blend, "QUERIES_PER_BLOCK", 4)
        patch.setattr(blend, "FEWEST_WIDE", 1)
        found = matcher.top(queries, queries, k, weight, n_jobs=2)
    for q, (order, row) in enumerate(oracle(terms, topics, k, weight, scaling)):
        ranked = found[q]
        assert len(ranked.documents) == len(order)
        np.testing.assert_allclose(ranked.scores, row[order], atol=1e-5)
        # Scores that differ by rounding alone may come in either order.
        np.testing.assert_allclose(row[ranked.documents], row[order], atol=1e-5)
        np.testing.assert_array_equal(ranked.terms, terms[q, ranked.documents])
        np.testing.assert_allclose(ranked.topics, topics[q, ranked.documents], atol=1e-6)


def test_scores_do_not_depend_on_how_they_were_found(monkeypatch):
    counts, queries = collection(1, 300)
    matcher = BlendedMatcher(BM25(counts), TopicMatcher(Plain(), counts), "max")
    monkeypatch.setattr(blend, "FEWEST_WIDE", 1)
    found = []
    for wide, size, jobs in ((-1.0, 16, 1), (2.0, 1, 1), (0.2, 3, 2), (2.0, 3, 4)):
        monkeypatch.setattr(blend, "WIDE", wide)
        monkeypatch.setattr(blend, "QUERIES_PER_BLOCK", size)
        found.append(matcher.top(queries, queries, 10, 0.4, n_jobs=jobs))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("scaling", ["max", "raw"])
@pytest.mark.parametrize("weight", [0.3, 1])
@pytest.mark.parametrize("more", [0, 5, 100])
def test_ties_are_settled_alike_however_they_are_found(monkeypatch, more, weight, scaling):
    random = np.random.default_rng(0)
    kinds = random.poisson(0.6, (30, 12)).astype(np.float32)
    counts = kinds[random.integers(0, 30, 500)]
    queries = random.poisson(0.5, (20, 12)).astype(np.float32)
    matcher = BlendedMatcher(BM25(counts), TopicMatcher(Plain(), counts), scaling)
    expected = [matcher.top(queries[[q]], queries[[q]], 10, weight)[0] for q in range(20)]

    # The product of all queries and documents, with what rounding may do to it at its worst.
    def noisy(scores, topics, *others):
        tile_blend(scores, topics + random.uniform(-2e-6, 2e-6, topics.shape).astype(np.float32), *others)

    monkeypatch.setattr(blend, "tile_blend", noisy)
    monkeypatch.setattr(blend, "WIDE", -1.0)
    monkeypatch.setattr(blend, "MORE_BY_TILES", more)
    for one, other in zip(matcher.top(queries, queries, 10, weight, n_jobs=1), expected, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_rounding_may_take_grows_with_the_scores():
    counts, queries = collection(2)
    matcher = BlendedMatcher(BM25(counts), TopicMatcher(Plain(), counts), "raw")
    margins = []
    for times in (1, 1000):
        (terms,) = matcher.terms.queries(queries[:1] * np.float32(times))
        query = blend.Query(terms, [part[0] for part in matcher.topics.queries(queries[:1])])
        margins.append(matcher._begun(query, np.empty(60, np.float32), 5, np.float32(0.5)).margin)
    assert margins[1] > 100 * margins[0]
