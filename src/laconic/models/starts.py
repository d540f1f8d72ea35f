"""Where a fit begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.utils import check_array


def document_topics(X: csr_array, n_topics: int, random: np.random.RandomState) -> csr_array:
    """Topics × terms: distinct documents, chosen at random, each of length one.

    A document is a sparse topic that occurs together, and different documents are about different
    things: so the first iteration is as cheap as the later ones, and topics start apart. If there are
    fewer documents than topics, the rest are random halves of documents; with no words at all, they are zero.
    """
    norms = np.sqrt(np.bincount(_owner(X), X.data.astype(np.float64) ** 2, minlength=X.shape[0]))
    usable = np.flatnonzero(norms > 0)
    if usable.size == 0:
        return csr_array((n_topics, X.shape[1]), dtype=X.dtype)
    chosen = _distinct(X, random.permutation(usable), n_topics)
    topics = X[chosen]
    if len(chosen) < n_topics:
        halves = X[random.choice(usable, n_topics - len(chosen))]
        # a half may lose every word: keep the first one of each
        kept = random.random_sample(halves.nnz) < 0.5
        kept[halves.indptr[:-1]] = True
        halves.data[~kept] = 0
        halves.eliminate_zeros()
        topics = vstack([topics, halves], format="csr")
    return unit_budget(csr_array(topics), X.shape[1], nonnegative=False)


def given_topics(init: Any, n_topics: int, X: csr_array, nonnegative: bool) -> csr_array:
    """Topics that a caller starts from, checked."""
    topics = csr_array(check_array(init, accept_sparse="csr", dtype=X.dtype, copy=True))
    if topics.shape != (n_topics, X.shape[1]):
        raise ValueError(
            f"init has shape {topics.shape}, but {n_topics} topics over {X.shape[1]} terms "
            f"need {(n_topics, X.shape[1])}"
        )
    if nonnegative and topics.nnz and topics.data.min() < 0:
        raise ValueError("init has negative words, but nonnegative=True")
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


def _distinct(X: csr_array, candidates: NDArray[Any], n_topics: int) -> list[int]:
    """The first candidates, leaving out those equal to an earlier one."""
    seen: set[tuple[bytes, bytes]] = set()
    chosen: list[int] = []
    for n in candidates:
        begin, end = X.indptr[n], X.indptr[n + 1]
        key = X.indices[begin:end].tobytes(), X.data[begin:end].tobytes()
        if key not in seen:
            seen.add(key)
            chosen.append(int(n))
            if len(chosen) == n_topics:
                break
    return chosen
