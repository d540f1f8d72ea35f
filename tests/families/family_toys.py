"""Small data for every family, and a run of the loop that remembers what it was told."""

import numpy as np
from naive_plsa import GraphPLSASteps, PLSASteps
from naive_sparse_lsa import SparseLSASteps, soft

from laconic.engines import Threads
from laconic.losses.loop import Patience, alternate

N, M, K = 23, 17, 4
N_FIRST = 12
ALPHA = 0.4
STRENGTH = 2.0
# never reached, so that a run has exactly max_iter iterations
NEVER = -np.inf


def counts(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.4, 2.0, (N, M))).astype(float)
    X[np.arange(N), np.arange(N) % M] += 1
    return X


def simplex_rows(rows, columns, seed):
    A = np.random.default_rng(seed).random((rows, columns)) + 0.1
    return A / A.sum(axis=1, keepdims=True)


def bipartite_graph(seed=3):
    """Symmetric weights between the first N_FIRST documents and the rest."""
    rng = np.random.default_rng(seed)
    graph = np.zeros((N, N))
    edges = rng.random((N_FIRST, N - N_FIRST)) * (rng.random((N_FIRST, N - N_FIRST)) < 0.3)
    graph[:N_FIRST, N_FIRST:] = edges
    return graph + graph.T


def unit_rows():
    X = counts()
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def sparse_lsa(**more):
    X = unit_rows()
    return SparseLSASteps(X, soft(X[:K], ALPHA), ALPHA, **more)


def plsa(**more):
    return PLSASteps(counts(), simplex_rows(N, K, 1), simplex_rows(K, M, 2), **more)


def graph_plsa():
    return GraphPLSASteps(
        counts(), simplex_rows(N, K, 1), simplex_rows(K, M, 2), bipartite_graph(), N_FIRST, STRENGTH
    )


FAMILIES = {"sparse_lsa": sparse_lsa, "plsa": plsa, "graph_plsa": graph_plsa}


def run(steps, *, threads=2, max_iter=12, tol=NEVER, answer=None):
    """The trace, and every Progress; `answer` is what the callback returns for one."""
    told = []

    def callback(progress):
        told.append(progress)
        return None if answer is None else answer(progress)

    with Threads(threads) as engine:
        steps.engine = engine
        return alternate(steps, Patience(max_iter, tol, callback)), told


def factors(steps):
    return {name: getattr(steps, name) for name in ("A", "W", "C") if hasattr(steps, name)}


def assert_never_rises(objectives, scale):
    assert np.all(np.diff(objectives) <= 1e-12 * scale)
