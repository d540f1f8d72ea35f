"""Where a fit begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.utils import check_array
from sklearn.utils.extmath import randomized_svd

from laconic.models.factor import squared_norms
from laconic.models.groups import Groups, grouped_rows

SMALLEST_SAMPLE = 1000
SAMPLE_PER_TOPIC = 8
# 1 - cos^2 of two documents that are the same but for rounding
SAME_DOCUMENT = 1e-5


def document_topics(X: csr_array, n_topics: int, random: np.random.RandomState) -> csr_array:
    """Topics × terms: documents that have little in common, each scaled to length one.

    Documents are drawn one after the other, the more likely the less they resemble those drawn before
    (as k-means++ draws its centres), from a random sample of them. A document is a sparse topic whose words
    occur together: so the first iteration is as cheap as the later ones, topics start apart, and no part of
    the collection is left without a topic near it. If there are too few different documents, random halves
    of documents follow; without any words, topics are zero.
    """
    by_document, _ = squared_norms(X)
    usable = np.flatnonzero(by_document > 0)
    if usable.size == 0:
        return csr_array((n_topics, X.shape[1]), dtype=X.dtype)
    sample = random.permutation(usable)[: max(SMALLEST_SAMPLE, SAMPLE_PER_TOPIC * n_topics)]
    documents = unit_budget(X[sample], X.shape[1], nonnegative=False)
    topics = documents[_far_apart(documents, n_topics, random)]
    missing = n_topics - topics.shape[0]
    if missing:
        halves = X[random.choice(usable, missing)]
        kept = random.random_sample(halves.nnz) < 0.5
        kept[halves.indptr[:-1]] = True  # so that no half is empty
        halves.data[~kept] = 0
        halves.eliminate_zeros()
        halves = unit_budget(halves, X.shape[1], nonnegative=False)
        topics = vstack([topics, halves], format="csr")
    return csr_array(topics)


def svd_topics(X: csr_array, n_topics: int, random: np.random.RandomState) -> csr_array:
    """Topics × terms: of each singular vector the positive or the negative part, scaled to length one.

    The part is taken that matters more, in terms and documents together. If there are fewer singular vectors
    than topics, or none of a sign, documents take their place.
    """
    n_vectors = min(n_topics, *X.shape)
    left, _, right = randomized_svd(X, n_vectors, random_state=random)
    topics = np.zeros((n_topics, X.shape[1]), X.dtype)
    for k in range(n_vectors):
        parts = [(np.maximum(sign * left[:, k], 0), np.maximum(sign * right[k], 0)) for sign in (1, -1)]
        sizes = [np.linalg.norm(u) * np.linalg.norm(v) for u, v in parts]
        part = parts[int(np.argmax(sizes))][1]
        if max(sizes) > 0:
            topics[k] = part / np.linalg.norm(part)
    lacking = np.flatnonzero(~topics.any(axis=1))
    if lacking.size:
        topics[lacking] = document_topics(X, lacking.size, random).toarray()
    return csr_array(topics)


def drawn_topics(X: csr_array, groups: Groups, random: np.random.RandomState) -> csr_array:
    """Topics × terms: the shared topics are documents of all, those of a group are its own documents."""
    parts = [document_topics(X, groups.n_shared, random)] if groups.n_shared else []
    for rows, n_own in zip(grouped_rows(X, groups), groups.n_own, strict=True):
        parts.append(document_topics(rows, n_own, random))
    return parts[0] if len(parts) == 1 else vstack(parts, format="csr")


def _far_apart(documents: csr_array, n_topics: int, random: np.random.RandomState) -> list[int]:
    """Rows drawn in proportion to (1 - cos^2)^8 with the nearest of those drawn before; none twice."""
    apart = np.ones(documents.shape[0])
    chosen: list[int] = []
    while len(chosen) < n_topics and apart.any():
        likely = apart**8  # sharp: of clearly separate groups, hardly one is left out
        pick = int(random.choice(apart.size, p=likely / likely.sum()))
        chosen.append(pick)
        cosines = documents @ documents[[pick]].toarray().ravel()
        apart = np.minimum(apart, 1 - cosines.astype(np.float64) ** 2)
        apart[apart < SAME_DOCUMENT] = 0
        apart[pick] = 0
    return chosen


def given_topics(init: Any, n_topics: int, X: csr_array, nonnegative: bool) -> csr_array:
    """Topics that a caller starts from, checked."""
    topics = csr_array(check_array(init, accept_sparse="csr", dtype=X.dtype, copy=True))
    if topics.shape != (n_topics, X.shape[1]):
        raise ValueError(
            f"init has shape {topics.shape}, but {n_topics} topics over {X.shape[1]} terms "
            f"need {(n_topics, X.shape[1])}"
        )
    if nonnegative and topics.nnz and topics.data.min() < 0:
        raise ValueError("init has negative words, but topics are not to be negative here")
    topics.sum_duplicates()
    topics.eliminate_zeros()
    return topics


def unit_budget(topics: csr_array, budget: int, nonnegative: bool) -> csr_array:
    """Each topic cut to its `budget` largest words and scaled to length one (zero topics stay zero)."""
    size = np.abs(topics.data) if not nonnegative else np.maximum(topics.data, 0)
    owner = _owner(topics)
    # by topic, then by falling size; the sort is stable, so of equal words the first stays
    order = np.lexsort((-size, owner))
    rank = np.empty(topics.nnz, np.int64)
    rank[order] = np.arange(topics.nnz) - topics.indptr[owner[order]]
    keep = (rank < budget) & (size > 0)
    data, indices, owner = topics.data[keep], topics.indices[keep], owner[keep]
    norms = np.sqrt(np.bincount(owner, data.astype(np.float64) ** 2, minlength=topics.shape[0]))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=topics.shape[0]))])
    return csr_array(((data / norms[owner]).astype(topics.dtype), indices, indptr), shape=topics.shape)


def _owner(rows: csr_array) -> NDArray[np.int64]:
    """The row of every non-zero."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
