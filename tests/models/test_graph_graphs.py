"""Graphs of documents: every way to give one, what is refused, and the graph of nearest neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from planting import planted
from scipy import sparse

from laconic.losses.divergence.graphs import as_graph, neighbour_graph


class Links:
    """As much of a networkx.Graph as is asked for."""

    def __init__(self, edges, nodes=(), directed=False):
        self._edges, self._directed = edges, directed
        self.nodes = sorted({*nodes, *(end for edge in edges for end in edge[:2])})

    def edges(self, data, default):
        assert data == "weight"
        return [(edge[0], edge[1], edge[2] if len(edge) > 2 else default) for edge in self._edges]

    def is_directed(self):
        return self._directed


PATH = np.array([[0.0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    "given",
    [
        PATH,
        PATH.tolist(),
        PATH.astype(int),
        sparse.csr_array(PATH),
        sparse.coo_matrix(PATH),
        sparse.lil_array(PATH.astype(np.float32)),
        np.array([[0, 1, 1], [2, 1, 2]]),
        [(1, 0, 1.0), (1, 2, 2.0)],
        ((1, 2, 1.5), (0, 1, 1.0), (2, 1, 0.5)),
        Links([(0, 1), (1, 2, 2.0)]),
        Links([(0, 1, 2), (1, 2, 4)], directed=True),
    ],
)
def test_all_ways_to_give_a_graph(given):
    graph = as_graph(given, 4)
    assert_array_equal(graph.toarray(), PATH)
    assert graph.dtype == np.float64
    assert graph.has_sorted_indices
    assert graph.has_canonical_format


def test_a_pair_counts_once_however_often_it_is_listed():
    edges = np.array([[0, 1], [1, 0], [0, 1], [1, 2]])
    assert_array_equal(as_graph(edges, 4).toarray(), PATH > 0)
    assert_array_equal(as_graph(edges.astype(float), 4).toarray(), PATH > 0)
    assert_array_equal(as_graph(iter(edges.tolist()), 4).toarray(), PATH > 0)


def test_a_matrix_that_is_not_symmetric_becomes_so_and_loops_go():
    citations = np.array([[5.0, 1, 0], [0, 7, 2], [0, 2, 0]])
    assert_array_equal(as_graph(citations, 3).toarray(), [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]])
    assert (
        as_graph(
            [
                (1, 1),
                (
                    2,
                    2,
                ),
            ],
            3,
        ).nnz
        == 0
    )
    # stored zeros are no edges
    stored = sparse.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(3, 3))
    assert as_graph(stored, 3).nnz == 0


def test_no_edges():
    for nothing in (
        sparse.csr_array((3, 3)),
        np.zeros((3, 3)),
        np.empty((0, 2)),
        [],
        Links([], nodes=[0, 2]),
    ):
        assert as_graph(nothing, 3).shape == (3, 3)
        assert as_graph(nothing, 3).nnz == 0


def test_the_matrix_given_is_left_alone():
    given = sparse.csr_array(PATH)
    given.data[0] = 0
    before = given.data.copy(), given.indices.copy(), given.indptr.copy()
    as_graph(given, 4)
    for now, then in zip((given.data, given.indices, given.indptr), before, strict=True):
        assert_array_equal(now, then)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-PATH, "negative weights"),
        (sparse.csr_array(-PATH), "negative weights"),
        ([(0, 1, -1.0)], "negative weights"),
        (np.where(PATH == 2, np.nan, PATH), "NaN or infinite"),
        (np.where(PATH == 2, np.inf, PATH), "NaN or infinite"),
        ([(0, 1, np.nan)], "NaN or infinite"),
        (np.zeros((5, 5)), "does not fit 4 documents"),
        (sparse.csr_array((4, 5)), "does not fit 4 documents"),
        (np.zeros(4), "does not fit 4 documents"),
        ([(0, 4)], "document 4, but X has the rows 0 to 3"),
        ([(-1, 2)], "document -1"),
        ([(0.5, 2, 1.0)], "whole numbers"),
        ([(np.nan, 2, 1.0)], "whole numbers"),
        ([("a", "b")], "not a graph"),
        ([(0, 1), (1, 2, 3)], "not a graph"),
        ("graph", "not a graph"),
        (7, "not a graph"),
        (sparse.csr_array(PATH.astype(complex) * 1j), "real numbers, not complex"),
        (Links([(0, 4)]), "node 4, but its nodes must be the row numbers of X, 0 to 3"),
        (Links([("a", "b")]), "relabel_nodes"),
        (Links([(0, 1, "near")]), "'weight' of some edge is not a number"),
        (Links([(0, 1, -2)]), "negative weights"),
    ],
)
def test_what_is_no_graph_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_graph(given, 4)


def test_networkx_graphs():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge(0, 1)
    graph.add_edge(2, 1, weight=2.0)
    assert_array_equal(as_graph(graph, 4).toarray(), PATH)
    assert_array_equal(as_graph(networkx.MultiGraph([(0, 1), (1, 0)]), 2).toarray(), [[0, 2], [2, 0]])
    with pytest.raises(ValueError, match="relabel_nodes"):
        as_graph(networkx.karate_club_graph(), 4)


@pytest.mark.parametrize("n_neighbors", [1, 3, 500])
def test_nearest_neighbours_beside_all_cosines(n_neighbors):
    X = planted(60, 40, seed=4)
    cosines = (X @ X.T).toarray()
    np.fill_diagonal(cosines, -1)
    near = np.argsort(-cosines, axis=1, kind="stable")[:, :n_neighbors]
    expected = np.zeros((60, 60))
    np.put_along_axis(expected, near, 1, axis=1)
    expected *= cosines > 0
    expected = np.maximum(expected, expected.T)
    found = neighbour_graph(X, n_neighbors).toarray()
    assert set(np.unique(found)) == {0, 1}
    # documents that are equally near may be chosen either way
    threshold = np.sort(cosines, axis=1)[:, -min(n_neighbors, 60)]
    sure = (np.abs(cosines - threshold[:, None]) > 1e-9) & (np.abs(cosines - threshold) > 1e-9)
    assert_array_equal(found[sure], expected[sure])
    assert (found == found.T).all()
    assert not found[::40].any()


def test_documents_that_share_nothing_are_not_linked():
    X = sparse.csr_array(np.array([[1.0, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]))
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1
    for n_neighbors in (1, 2, 5):
        assert_array_equal(neighbour_graph(X, n_neighbors).toarray(), expected)
    assert neighbour_graph(X[:1], 5).shape == (1, 1)
    assert neighbour_graph(X[2:], 5).nnz == 0


def test_equal_documents_are_not_their_own_neighbours():
    X = sparse.csr_array(np.tile([[1.0, 2.0]], (4, 1)))
    graph = neighbour_graph(X, 2).toarray()
    assert not graph.diagonal().any()
    assert (graph.sum(axis=1) >= 2).all()
