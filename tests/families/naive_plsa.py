"""PLSA and two-colour GraphPLSA in a few dozen lines (MODELS.md, section 5).

min  Σ x log(x / (WC)) + strength Σ_{j<l} R_jl ½||w(j) - w(l)||²   with the rows of W and of C on simplices.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from laconic.engines import Block, Shards, even_blocks


def ratio(X, fitted):
    """X / fitted, where X is not zero."""
    return np.divide(X, fitted, out=np.zeros_like(X), where=X > 0)


def divergence(X, fitted):
    seen = X > 0
    return np.sum(X[seen] * np.log(X[seen] / fitted[seen]))


class Message(NamedTuple):
    C: np.ndarray
    simultaneous: bool = False
    graph: Any = None
    later: Any = None


class Share(NamedTuple):
    products: np.ndarray
    loss: float
    penalty: float


def solve_documents(shard, rows, message):
    """A step of these documents, and what the topics' half needs of them."""
    X, C, W = shard.X[slice(*rows)].toarray(), message.C, shard.weights[slice(*rows)]
    ratios = ratio(X, W @ C)
    before = W.T @ ratios
    Q = W * (ratios @ C.T)
    if message.graph is None:
        W[:] = simplex_l2(Q, np.zeros_like(Q), np.zeros(len(Q)))
    else:
        edges = message.graph[slice(*rows)]
        W[:] = simplex_l2(Q, edges @ shard.weights, edges.sum(axis=1))
    fitted = W @ C
    products = before if message.simultaneous else W.T @ ratio(X, fitted)
    return Share(C * products, divergence(X, fitted), penalty(shard.weights, rows, message.later))


def penalty(W, rows, later):
    if later is None:
        return 0.0
    edges = later[slice(*rows)].tocoo()
    gaps = W[rows.start + edges.row] - W[edges.col]
    return np.sum(edges.data[:, None] * gaps**2) / 2


def column_losses(shard, columns, C):
    return divergence(shard.X[:, slice(*columns)].toarray(), shard.weights @ C[:, slice(*columns)])


def the_sum(columns, sums, message):
    (total,) = sums
    return total


def rows_of(block, shard):
    return even_blocks(shard.X.shape[0], block)


def given_rows(blocks, shard):
    return blocks


class PLSASteps:
    """EM. The topics' statistic P is taken after the documents' step, or before it (`simultaneous`).

    After: every half step descends. Before: one pass over the ratios, and only whole iterations descend.
    """

    solve = staticmethod(solve_documents)

    def __init__(self, X, W, C, *, block=5, simultaneous=False, n_shards=1):
        self.shards = Shards.cut(sparse.csr_array(X), n_shards)
        for shard in self.shards:
            shard.weights = W[shard.documents].copy()
        self.C, self.simultaneous = C.copy(), simultaneous
        self.stages = [partial(rows_of, block)]
        self.columns = even_blocks(X.shape[1], block)

    @property
    def W(self):
        return self.shards.in_order([shard.weights for shard in self.shards])

    def message(self):
        return Message(self.C, self.simultaneous)

    def documents(self):
        shares = [
            self.engine.documents(self.shards, self.solve, self.message(), rows)[0] for rows in self.stages
        ]
        self.P, self.loss, self.penalties = (sum(part) for part in zip(*shares, strict=True))
        sizes = self.P.sum(axis=1, keepdims=True)
        self.sizes = np.where(sizes > 0, sizes, 1)
        return self.loss + self.penalties

    def topics(self):
        self.C = self.P / self.sizes
        losses = self.engine.terms(self.shards, self.columns, column_losses, the_sum, self.C)
        return sum(losses) + self.penalties

    def summary(self):
        return int(self.C.any(axis=1).sum()), np.count_nonzero(self.C) / self.C.size


class StreamedPLSASteps(PLSASteps):
    """The topics' half sees C and P alone, as where documents are streamed: it reports the EM bound on F."""

    def topics(self):
        old, self.C = self.C, self.P / self.sizes
        return self.loss - divergence(self.P, self.P * ratio(old, self.C)) + self.penalties


class GraphPLSASteps(PLSASteps):
    """Documents are sorted by colour: edges run between the first `n_first` rows and the others only."""

    def __init__(self, X, W, C, graph, n_first, strength, *, block=5, simultaneous=False):
        super().__init__(X, W, C, block=block, simultaneous=simultaneous)
        self.graph = sparse.csr_array(graph) * strength
        # an edge is counted once, by its later end: by then both its rows are new
        self.later = sparse.csr_array(sparse.tril(self.graph, -1))
        second = [Block(b.start + n_first, b.stop + n_first) for b in even_blocks(len(X) - n_first, block)]
        self.colours = even_blocks(n_first, block), second
        self.stages = [partial(given_rows, blocks) for blocks in self.colours]

    def message(self):
        return Message(self.C, self.simultaneous, self.graph, self.later)


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
