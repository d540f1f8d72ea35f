"""Where Sparse LSA begins: documents or singular vectors, shrunk as the penalty does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.utils.extmath import randomized_svd

from laconic.models.factor import squared_norms, transposed
from laconic.models.shrink import GroupSoft, Soft
from laconic.models.starts import document_topics


def start(
    name: str, X: csr_array, n_topics: int, shrink: Soft | GroupSoft, random: Any, *, rotate: str | None
) -> csr_array:
    """First topics (terms × topics), by the name of the start."""
    if name == "documents":
        # as long as documents are: at length one, those of a collection of short ones would start too large
        first = transposed(document_topics(X, n_topics, random) * _typical_length(X))
    elif name == "identity":
        rows = csr_array(X[np.flatnonzero(squared_norms(X)[0])[:n_topics]])
        rows.resize((n_topics, X.shape[1]))
        first = transposed(rows)
    else:
        first = csr_array(_singular(X, n_topics, random, rotate, shrink.nonnegative))
    kept = shrunk(first, shrink)
    return kept if kept.nnz else _strongest_terms(X, n_topics)


def _singular(
    X: csr_array, n_topics: int, random: Any, rotate: str | None, nonnegative: bool
) -> NDArray[Any]:
    _, values, right = randomized_svd(X, min(n_topics, *X.shape), random_state=random)
    loads = (right * values[:, None]).T
    if rotate == "varimax":
        loads = loads @ varimax(loads)
    if nonnegative:
        loads = loads * np.where(np.maximum(loads, 0).sum(0) < np.maximum(-loads, 0).sum(0), -1, 1)
    full = np.zeros((X.shape[1], n_topics), X.dtype)
    full[:, : loads.shape[1]] = loads
    return full


def _strongest_terms(X: csr_array, n_topics: int) -> csr_array:
    """A term for each topic: if the penalty leaves nothing of documents, it may leave something of these."""
    _, squares = squared_norms(X)
    terms = np.argsort(-squares, kind="stable")[:n_topics]
    terms = terms[squares[terms] > 0]
    lengths = np.sqrt(squares[terms]).astype(X.dtype)
    return csr_array((lengths, (terms, np.arange(terms.size))), shape=(X.shape[1], n_topics))


def _typical_length(X: csr_array) -> Any:
    """The root mean square of the lengths of documents that are not empty."""
    by_document, _ = squared_norms(X)
    used = by_document[by_document > 0]
    return X.dtype.type(np.sqrt(used.mean()) if used.size else 1)


def shrunk(topics: Any, shrink: Soft | GroupSoft) -> csr_array:
    """Topics (terms × topics, sparse or dense) after the penalty's step."""
    parts = []
    for block in shrink.blocks:
        rows = topics[block.start : block.stop]
        rows = rows.copy() if isinstance(rows, np.ndarray) else np.ascontiguousarray(rows.toarray())
        parts.append(csr_array(shrink(rows, block)))
    return csr_array(vstack(parts, format="csr"))


def varimax(loads: NDArray[Any], *, max_iter: int = 100, tol: float = 1e-6) -> NDArray[np.float64]:
    """The rotation of columns that makes the squares of the loads vary most."""
    loads = loads.astype(np.float64)
    rotation, before = np.eye(loads.shape[1]), 0.0
    for _ in range(max_iter):
        turned = loads @ rotation
        left, values, right = np.linalg.svd(loads.T @ (turned**3 - turned * np.square(turned).mean(0)))
        rotation = left @ right
        if values.sum() <= before * (1 + tol):
            break
        before = values.sum()
    return rotation
