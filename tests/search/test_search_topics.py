import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from laconic import NMF, PLSA, RLSI, GroupNMF, GroupRLSI, MultimodalPLSA
from laconic.search import TopicMatcher


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


def cosines(A, B):
    """Of all rows of one with all of the other; 0 where a row is zero."""
    lengths = [np.sqrt((M**2).sum(1)) for M in (A, B)]
    A, B = (M / np.where(n > 0, n, 1)[:, None] for M, n in zip((A, B), lengths, strict=True))
    return A @ B.T


def inputs(model, corpus):
    return (corpus.counts if model.wants == "counts" else corpus.X), corpus.counts[:7]


@pytest.mark.parametrize("similarity", ["gram", "cosine"])
@pytest.mark.parametrize(
    "model", [RLSI(4), RLSI(4, doc_norm="l1", nonnegative=True), NMF(3), PLSA(3)], ids=lambda m: repr(m)
)
def test_scores_are_cosines(model, similarity, corpus):
    X, _ = inputs(model, corpus)
    model.set_params(random_state=0, max_iter=500).fit(X)
    queries = X[:7]
    W, V, C = (
        dense(M).astype(float) for M in (model.transform(X), model.transform(queries), model.components_)
    )
    known = dense(X).any(1)
    W, V = W * known[:, None], V * known[:7, None]
    expected = cosines(V @ C, W @ C) if similarity == "gram" else cosines(V, W)
    found = TopicMatcher(model, X, similarity=similarity).scores(queries)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("similarity", ["gram", "cosine"])
@pytest.mark.parametrize("kind", [GroupRLSI, GroupNMF])
def test_a_query_takes_the_class_of_the_document(kind, similarity, corpus):
    model = kind(2, 2, random_state=0, max_iter=500).fit(corpus.X, corpus.labels)
    queries = corpus.X[:5]
    found = TopicMatcher(model, corpus.X, labels=corpus.labels, similarity=similarity).scores(queries)
    C = dense(model.components_)
    for d, label in enumerate(corpus.labels):
        w = dense(model.transform(corpus.X[[d]], [label]))
        v = dense(model.transform(queries, [label] * 5))
        pair = (v @ C, w @ C) if similarity == "gram" else (v, w)
        np.testing.assert_allclose(found[:, d], cosines(*pair)[:, 0], atol=2e-5)


def test_classes_are_predicted_where_they_are_not_known(corpus):
    model = GroupRLSI(1, 2, random_state=0, max_iter=500).fit(corpus.X, corpus.labels)
    predicted = model.predict(corpus.X)
    expected = TopicMatcher(model, corpus.X, labels=predicted).scores(corpus.X[:3])
    np.testing.assert_array_equal(TopicMatcher(model, corpus.X).scores(corpus.X[:3]), expected)
    strange = np.where(np.arange(len(predicted)) % 2, predicted, "unheard of")
    found = TopicMatcher(model, corpus.X, labels=strange).scores(corpus.X[:3])
    np.testing.assert_array_equal(found, expected)


def test_classes_may_be_numbers(corpus):
    _, numbers = np.unique(corpus.labels, return_inverse=True)
    model = GroupRLSI(1, 2, random_state=0, max_iter=500).fit(corpus.X, numbers)
    expected = TopicMatcher(model, corpus.X, labels=numbers).scores(corpus.X[:3])
    found = TopicMatcher(model, corpus.X, labels=[str(number) for number in numbers]).scores(corpus.X[:3])
    np.testing.assert_array_equal(found, expected)


def test_without_known_words_nothing_is_similar(corpus):
    # Weights that sum to one are not zero, even for a document without words.
    model = PLSA(3, random_state=0).fit(corpus.counts)
    matcher = TopicMatcher(model, corpus.counts)
    empty = np.diff(corpus.counts.indptr) == 0
    assert not matcher.scores(corpus.counts[:3])[:, empty].any()
    assert not matcher.scores(csr_array((1, corpus.shape[1]), dtype=np.float32)).any()


def test_topics_that_cancel_out_are_like_none(corpus, model):
    # Two topics that are the same: what one adds, the other takes away.
    C = np.zeros((2, corpus.shape[1]), np.float32)
    C[:, 3] = 0.1
    twice = clone(model).set_params(n_components=2)
    twice.components_, twice.n_features_in_ = C, corpus.shape[1]
    weights = np.tile([0.7, -0.7], (corpus.shape[0], 1))
    matcher = TopicMatcher(twice, corpus.X, weights=weights)
    assert not matcher.parts[0].vectors.any()


def test_known_weights_are_used(corpus, model):
    weights = np.ones((corpus.shape[0], 4))
    found = TopicMatcher(model, corpus.X, weights=weights).scores(corpus.X[:3])
    known = np.diff(corpus.X.indptr) > 0
    assert np.ptp(found[:, known], axis=1).max() < 1e-6


def test_more_documents_are_as_if_they_had_been_there(corpus, model):
    first, more = corpus.X[:60], corpus.X[60:]
    whole = TopicMatcher(model, corpus.X).scores(corpus.X[:4])
    np.testing.assert_allclose(
        TopicMatcher(model, first).extended(more).scores(corpus.X[:4]), whole, atol=1e-6
    )
    groups = GroupRLSI(1, 2, random_state=0, max_iter=500).fit(corpus.X, corpus.labels)
    whole = TopicMatcher(groups, corpus.X, labels=corpus.labels).scores(corpus.X[:4])
    longer = TopicMatcher(groups, first, labels=corpus.labels[:60]).extended(more, corpus.labels[60:])
    np.testing.assert_allclose(longer.scores(corpus.X[:4]), whole, atol=1e-6)


def test_scores_of_some_documents_and_topics_add_up(corpus):
    model = GroupRLSI(1, 2, random_state=0, max_iter=500).fit(corpus.X, corpus.labels)
    matcher = TopicMatcher(model, corpus.X, labels=corpus.labels)
    vectors = [part[2] for part in matcher.queries(corpus.X[:3])]
    documents = np.array([5, 1, 80, 33])
    whole = matcher.scores(corpus.X[:3])[2, documents]
    np.testing.assert_allclose(matcher.scores_of(documents, vectors), whole, atol=1e-6)
    for document, score in zip(documents, whole, strict=True):
        topics, parts = matcher.contributions(document, vectors)
        assert parts.sum() == pytest.approx(score, abs=1e-6)
        assert set(model.topic_class_[topics]) == {"shared", corpus.labels[document]}


def test_modalities():
    media = {"de": np.eye(4) + 1, "en": np.eye(4)[::-1] + 1}
    model = MultimodalPLSA(2, random_state=0).fit(media)
    with pytest.raises(ValueError, match="say which of 'de', 'en' to search"):
        TopicMatcher(model, media["de"])
    with pytest.raises(ValueError, match="no modality 'fr'; there are: 'de', 'en'"):
        TopicMatcher(model, media["de"], modality="fr")
    found = TopicMatcher(model, media["de"], modality="de").scores(media["de"][:1])
    W, C = model.transform(media["de"], modality="de"), model.modality_topics("de")
    np.testing.assert_allclose(found, cosines(W[:1] @ C, W @ C), atol=2e-5)


def test_refusals(corpus, model):
    with pytest.raises(ValueError, match="similarity='dot' is not known"):
        TopicMatcher(model, corpus.X, similarity="dot")
    with pytest.raises(NotFittedError):
        TopicMatcher(RLSI(2), corpus.X)
    with pytest.raises(ValueError, match="no modality 'de'; there are: none"):
        TopicMatcher(model, corpus.X, modality="de")


def test_a_term_without_weight_in_any_topic_says_nothing():
    counts = np.array([[2, 1, 0, 0, 0], [1, 2, 0, 0, 0], [0, 0, 2, 1, 0], [0, 0, 1, 2, 0]], np.float32)
    more = np.vstack([counts, [[0, 0, 0, 0, 3]]]).astype(np.float32)
    media = MultimodalPLSA(2, random_state=0).fit({"a": counts, "b": counts[:, ::-1]})
    strange = np.eye(5, dtype=np.float32)
    for matcher, unknown in (
        (TopicMatcher(PLSA(2, random_state=0).fit(counts), more), 4),
        (TopicMatcher(media, more, modality="a"), 4),
        (TopicMatcher(media, more[:, ::-1], modality="b"), 0),
    ):
        scores = matcher.scores(strange)
        assert not scores[unknown].any()
        assert not scores[:, 4].any()
        assert scores[np.arange(5) != unknown, :4].any(1).all()
        restored = TopicMatcher.restored(
            matcher.model, matcher.parts, similarity="gram", modality=matcher.modality
        )
        np.testing.assert_array_equal(restored.scores(strange), scores)
