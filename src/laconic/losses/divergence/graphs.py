"""Graphs of documents: from whatever describes one, or from the documents themselves."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse
from sklearn import get_config

from laconic.matrices import check_indices

KINDS = (
    "a sparse or dense matrix of documents by documents, a networkx.Graph, or an array of edges with two "
    "columns (the rows of X that they link) or three (and their weights)"
)


def as_graph(graph: Any, n_documents: int) -> csr_array:
    """The weights of edges between documents: symmetric, non-negative, nothing on the diagonal.

    Parameters
    ----------
    graph : matrix, networkx.Graph or array of edges
        *A matrix* of documents × documents, sparse or dense; if it is not symmetric, the mean of it and its
        transpose is taken. *A networkx.Graph* whose nodes are row numbers of X; the attribute ``weight``, if
        there, weighs an edge, and a directed graph is read as the matrix that it stands for. *Edges*, an
        array with two columns of row numbers: documents are linked or not, whatever the direction and however
        often a pair is listed. A third column has weights; those of a pair that is listed more than once are
        added.
    n_documents : int
        Number of rows of X.

    Returns
    -------
    csr_array of shape (n_documents, n_documents)
        Links of documents to themselves are left out.

    Examples
    --------
    >>> as_graph([[0, 1], [1, 0], [1, 2]], 4).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 0.],
           [0., 0., 0., 0.]])
    """
    if _is_networkx(graph):
        return _symmetric(_from_networkx(graph, n_documents))
    if issparse(graph):
        _check_square(graph.shape, n_documents)
        check_indices(graph, "the graph")
        return _symmetric(coo_array(graph))
    array = _as_array(graph)
    if array.size == 0:
        return csr_array((n_documents, n_documents))
    square = array.shape == (n_documents, n_documents)
    if not square and array.ndim == 2 and array.shape[1] in (2, 3):
        return _symmetric(_from_edges(array, n_documents))
    _check_square(array.shape, n_documents)
    return _symmetric(coo_array(array))


def neighbour_graph(X: csr_array, n_neighbors: int) -> csr_array:
    """Links of every document to those most similar to it (by cosine), with weight one.

    Two documents are linked if either is among the other's nearest. Documents that share no word are never
    linked, so that empty ones have no links; nor does a document have more neighbours than there are others.

    Examples
    --------
    >>> X = csr_array([[2.0, 1, 0], [1, 2, 0], [0, 0, 1], [0, 0, 0]])
    >>> neighbour_graph(X, 1).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    from sklearn.neighbors import NearestNeighbors

    n_documents = X.shape[0]
    rows = np.flatnonzero(np.diff(X.indptr))
    nearest = min(n_neighbors, len(rows) - 1)
    if nearest < 1:
        return csr_array((n_documents, n_documents))
    # brute force goes over the documents in chunks of limited memory
    search = NearestNeighbors(n_neighbors=nearest, metric="cosine", algorithm="brute").fit(X[rows])
    distances, found = search.kneighbors()
    similar = distances < 1
    first = np.repeat(rows, nearest)[similar.ravel()]
    second = rows[found.ravel()][similar.ravel()]
    return _symmetric(_linked(first, second, n_documents))


def neighbours_memory(n_documents: int, itemsize: int) -> int:
    """What the search for neighbours takes in bytes: distances of some documents to all, and their order.

    scikit-learn makes chunks as large as its `working_memory` has room for, at 8 bytes a distance.
    """
    most = get_config()["working_memory"] * 2**20
    n_rows = min(n_documents, max(1, most // (8 * max(1, n_documents))))
    return int(n_rows * n_documents * (itemsize + 8))


def _symmetric(matrix: coo_array) -> csr_array:
    """Check weights; take the mean with the transpose; drop the diagonal and zeros."""
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"weights of edges must be real numbers, not {matrix.dtype}")
    data = matrix.data.astype(np.float64)
    if not np.isfinite(data).all():
        raise ValueError("the graph has edges whose weight is NaN or infinite: remove them")
    if (data < 0).any():
        raise ValueError(
            "the graph has negative weights: they would push documents apart without end. Remove these "
            "edges, or use their absolute values."
        )
    off = matrix.row != matrix.col
    row, col, half = matrix.row[off], matrix.col[off], data[off] / 2
    both = np.concatenate([row, col]), np.concatenate([col, row])
    graph = csr_array((np.concatenate([half, half]), both), shape=matrix.shape)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def _check_square(shape: tuple[int, ...], n_documents: int) -> None:
    if shape != (n_documents, n_documents):
        raise ValueError(f"a graph of shape {shape} does not fit {n_documents} documents: give {KINDS}")


def _as_array(graph: Any) -> NDArray[Any]:
    try:
        array = np.asarray(graph if hasattr(graph, "__len__") else list(graph))
        if array.dtype.kind in "biuf":
            return array
    except (TypeError, ValueError):
        array = np.empty(0, object)
    raise ValueError(f"this is not a graph of documents: give {KINDS}")


def _linked(first: NDArray[Any], second: NDArray[Any], n_documents: int) -> coo_array:
    """Pairs, each once, in both directions."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs = np.unique(np.stack([low, high]), axis=1)
    return _mirrored(pairs[0], pairs[1], np.ones(pairs.shape[1]), n_documents)


def _mirrored(
    first: NDArray[Any], second: NDArray[Any], weights: NDArray[Any], n_documents: int
) -> coo_array:
    both = np.concatenate([first, second]), np.concatenate([second, first])
    return coo_array((np.concatenate([weights, weights]), both), shape=(n_documents, n_documents))


def _from_edges(array: NDArray[Any], n_documents: int) -> coo_array:
    ids = array[:, :2]
    if not np.array_equal(ids, np.floor(ids)):
        raise ValueError("the first two columns of edges are row numbers of X: they must be whole numbers")
    if ids.size and (ids.min() < 0 or ids.max() >= n_documents):
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise ValueError(
            f"an edge names document {int(wrong)}, but X has the rows 0 to {n_documents - 1} "
            f"(an array of edges is read as such because its shape is {array.shape})"
        )
    first, second = ids.astype(np.int64).T
    if array.shape[1] == 2:
        return _linked(first, second, n_documents)
    return _mirrored(first, second, array[:, 2], n_documents)


def _is_networkx(graph: Any) -> bool:
    return all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed"))


def _from_networkx(graph: Any, n_documents: int) -> coo_array:
    for node in graph.nodes:
        if isinstance(node, bool) or not isinstance(node, Integral) or not 0 <= int(node) < n_documents:
            raise ValueError(
                f"the graph has the node {node!r}, but its nodes must be the row numbers of X, "
                f"0 to {n_documents - 1}: see networkx.relabel_nodes"
            )
    links = [(int(a), int(b), weight) for a, b, weight in graph.edges(data="weight", default=1)]
    first = np.array([a for a, _, _ in links], np.int64)
    second = np.array([b for _, b, _ in links], np.int64)
    try:
        weights = np.array([weight for _, _, weight in links], np.float64)
    except (TypeError, ValueError):
        raise ValueError("the attribute 'weight' of some edge is not a number") from None
    if graph.is_directed():
        return coo_array((weights, (first, second)), shape=(n_documents, n_documents))
    return _mirrored(first, second, weights, n_documents)
