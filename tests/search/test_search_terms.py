import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from laconic.search import BM25, VSM


def naive_bm25(counts, queries, k1, b):
    """Lucene's formula, entry by entry."""
    n_documents, n_terms = counts.shape
    lengths = counts.sum(1)
    scores = np.zeros((len(queries), n_documents))
    for q, query in enumerate(queries):
        for d, document in enumerate(counts):
            for m in range(n_terms):
                df = np.count_nonzero(counts[:, m])
                idf = np.log(1 + (n_documents - df + 0.5) / (df + 0.5))
                saturated = document[m] + k1 * (1 - b + b * lengths[d] / lengths.mean())
                scores[q, d] += query[m] * idf * (document[m] / saturated if document[m] else 0)
    return scores


def random_counts(seed, n_documents=30, n_terms=12, rate=0.4):
    counts = np.random.default_rng(seed).poisson(rate, (n_documents, n_terms)).astype(float)
    counts[2] = 0
    counts[:, 5] = 0
    return counts


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0, 0.5), (2.0, 0), (0.9, 1)])
def test_bm25_is_the_formula(k1, b):
    counts, queries = random_counts(0), random_counts(1, 5)
    found = BM25(counts, k1=k1, b=b).scores(queries)
    np.testing.assert_allclose(found, naive_bm25(counts, queries, k1, b), rtol=1e-5, atol=1e-6)


def test_bm25_gives_the_scores_of_bm25s():
    counts, queries = random_counts(2), random_counts(3, 6)
    tokens = [np.repeat(np.arange(counts.shape[1]), row.astype(int)).tolist() for row in counts]
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    peer.index((tokens, {str(m): m for m in range(counts.shape[1])}), show_progress=False)
    ours = BM25(counts)
    for query in queries:
        if query.any():
            terms = np.repeat(np.arange(counts.shape[1]), query.astype(int)).tolist()
            expected = peer.get_scores_from_ids(terms)
            np.testing.assert_allclose(ours.scores([query])[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sublinear", [False, True])
def test_vsm_is_the_cosine_of_tfidf(sublinear):
    counts, queries = random_counts(4), random_counts(5, 5)
    weigh = TfidfTransformer(sublinear_tf=sublinear).fit(counts)
    expected = normalize(weigh.transform(queries)) @ normalize(weigh.transform(counts)).T
    found = VSM(counts, sublinear_tf=sublinear).scores(queries)
    np.testing.assert_allclose(found, expected.toarray(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [BM25, VSM])
@given(seed=st.integers(0, 1000), k=st.integers(1, 40))
def test_the_best_are_those_of_a_stable_sort(kind, seed, k):
    counts, queries = random_counts(seed), random_counts(seed + 1, 4)
    # Documents that are the same have the same score: the earlier comes first.
    counts[10:20] = counts[0:10]
    matcher = kind(counts)
    scores = matcher.scores(queries)
    for row, (documents, found) in zip(scores, matcher.top(queries, k), strict=True):
        order = np.argsort(-row, kind="stable")
        order = order[row[order] > 0][:k]
        np.testing.assert_array_equal(documents, order)
        np.testing.assert_array_equal(found, row[order])


@pytest.mark.parametrize("kind", [BM25, VSM])
def test_what_terms_contribute_adds_up(kind):
    counts, queries = random_counts(6), random_counts(7, 3)
    matcher = kind(counts)
    for query, scores in zip(matcher.queries(queries), matcher.scores(queries), strict=True):
        for document in range(len(counts)):
            total = matcher.contributions(query, document).sum()
            assert total == pytest.approx(scores[document], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("kind", [BM25, VSM])
def test_more_documents_keep_the_statistics_of_the_first(kind):
    counts, more, queries = random_counts(8), random_counts(9, 7), random_counts(1, 4)
    matcher = kind(counts)
    longer = matcher.extended(more)
    whole = matcher.with_columns(kind(np.vstack([counts, more])).columns)
    np.testing.assert_array_equal(longer.scores(queries), whole.scores(queries))
    np.testing.assert_array_equal(longer.scores(queries)[:, :30], matcher.scores(queries))


def test_other_parameters_leave_the_documents(monkeypatch):
    counts, queries = random_counts(10), random_counts(11, 4)
    changed = BM25(counts).with_parameters(2.0, 0.4)
    np.testing.assert_array_equal(changed.scores(queries), BM25(counts, k1=2.0, b=0.4).scores(queries))


def test_documents_without_words_have_no_score():
    assert not BM25(csr_array((3, 4))).scores([[1, 1, 1, 1]]).any()
    assert not VSM(csr_array((3, 4))).scores([[1, 1, 1, 1]]).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"k1": -1}, "k1 must be"), ({"b": 1.5}, "from 0 to 1"), ({"b": np.nan}, "b must be")],
)
def test_unfit_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        BM25([[1.0]], **arguments)


def test_logarithms_need_counts_of_one():
    with pytest.raises(ValueError, match="sublinear_tf needs counts of 1 or more"):
        VSM([[0.5]], sublinear_tf=True)
