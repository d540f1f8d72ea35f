"""PLSA and two-colour GraphPLSA in a few dozen lines (MODELS.md, section 5).

min  Σ x log(x / (WC)) + strength Σ_{j<l} R_jl ½||w(j) - w(l)||²   with the rows of W and of C on simplices.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from laconic.engines import even_blocks


def ratio(X, fitted):
    """X / fitted, where X is not zero."""
    return np.divide(X, fitted, out=np.zeros_like(X), where=X > 0)


def divergence(X, fitted):
    seen = X > 0
    return np.sum(X[seen] * np.log(X[seen] / fitted[seen]))


class Share(NamedTuple):
    products: np.ndarray
    loss: float
    penalty: float


class PLSASteps:
    """EM. The topics' statistic P is taken after the documents' step, or before it (`simultaneous`).

    After: every half step descends. Before: one pass over the ratios, and only whole iterations descend.
    """

    def __init__(self, X, W, C, *, block=5, simultaneous=False):
        self.X, self.W, self.C = X, W.copy(), C.copy()
        self.simultaneous = simultaneous
        self.document_stages = [even_blocks(X.shape[0], block)]
        self.term_stages = [even_blocks(X.shape[1], block)]

    def solve_documents(self, rows):
        X, W = self.X[slice(*rows)], self.W[slice(*rows)]
        ratios = ratio(X, W @ self.C)
        before = W.T @ ratios
        W[:] = self.weights(rows, W * (ratios @ self.C.T))
        fitted = W @ self.C
        products = before if self.simultaneous else W.T @ ratio(X, fitted)
        return Share(self.C * products, divergence(X, fitted), self.penalty(rows))

    def weights(self, rows, Q):
        return simplex_l2(Q, np.zeros_like(Q), np.zeros(len(Q)))

    def penalty(self, rows):
        return 0.0

    def reduce_documents(self, shares):
        self.P, self.loss, self.penalties = np.zeros_like(self.C), 0.0, 0.0
        for share in shares:
            self.P += share.products
            self.loss += share.loss
            self.penalties += share.penalty
        sizes = self.P.sum(axis=1, keepdims=True)
        self.sizes = np.where(sizes > 0, sizes, 1)
        return self.loss + self.penalties

    def solve_terms(self, columns):
        part = slice(*columns)
        self.C[:, part] = self.P[:, part] / self.sizes
        return divergence(self.X[:, part], self.W @ self.C[:, part])

    def reduce_terms(self, stage, shares):
        return sum(shares) + self.penalties

    def summary(self):
        return int(self.C.any(axis=1).sum()), np.count_nonzero(self.C) / self.C.size


class StreamedPLSASteps(PLSASteps):
    """The topics' half sees C and P alone, as where documents are streamed: it reports the EM bound on F."""

    def solve_terms(self, columns):
        old = self.C[:, slice(*columns)].copy()
        P = self.P[:, slice(*columns)]
        self.C[:, slice(*columns)] = P / self.sizes
        return -divergence(P, P * ratio(old, self.C[:, slice(*columns)]))

    def reduce_terms(self, stage, shares):
        return self.loss + sum(shares) + self.penalties


class GraphPLSASteps(PLSASteps):
    """Documents are sorted by colour: edges run between the first `n_first` rows and the others only."""

    def __init__(self, X, W, C, graph, n_first, strength, *, block=5, simultaneous=False):
        super().__init__(X, W, C, block=block, simultaneous=simultaneous)
        self.graph = sparse.csr_array(graph) * strength
        # an edge is counted once, by its later end: by then both its rows are new
        self.later = sparse.csr_array(sparse.tril(self.graph, -1))
        first = even_blocks(n_first, block)
        second = even_blocks(len(X) - n_first, block)
        self.document_stages = [first, [type(b)(b.start + n_first, b.stop + n_first) for b in second]]

    def weights(self, rows, Q):
        edges = self.graph[slice(*rows)]
        return simplex_l2(Q, edges @ self.W, edges.sum(axis=1))

    def penalty(self, rows):
        edges = self.later[slice(*rows)].tocoo()
        gaps = self.W[rows.start + edges.row] - self.W[edges.col]
        return np.sum(edges.data[:, None] * gaps**2) / 2


def simplex_l2(Q, V, kappa):
    """Rows u on the simplex that minimise  -Σ Q log u + ½ kappa ||u||² - V·u."""
    return root_l2(Q, V, kappa)[0]


def root_l2(Q, V, kappa):
    """The root η of Σ u(η) = 1 for every row, by Newton from the left end of its bracket, and u there."""
    kappa = kappa[:, None]
    # a document with neither words nor neighbours may be anything: uniform
    Q = np.where((Q.sum(axis=1, keepdims=True) == 0) & (kappa == 0), 1.0, Q)
    total = Q.sum(axis=1, keepdims=True)
    eta = total - kappa
    small = 4 * np.finfo(float).eps * (total + kappa)
    for _ in range(100):
        u = weights_at(Q, V, kappa, eta)
        curvature = Q + kappa * u**2
        slope = np.divide(u**2, curvature, out=np.zeros_like(u), where=u > 0).sum(axis=1, keepdims=True)
        step = (u.sum(axis=1, keepdims=True) - 1) / slope
        if np.all(step <= small):
            break
        eta = eta + np.where(step > small, step, 0)
    return u, eta[:, 0]


def weights_at(Q, V, kappa, eta):
    """The positive root of  kappa u² + (η - V) u = Q, in the form that does not cancel."""
    b = eta - V
    root = np.sqrt(b**2 + 4 * kappa * Q)
    return np.where(b > 0, 2 * Q, root - b) / np.where(b > 0, b + root, 2 * kappa)
