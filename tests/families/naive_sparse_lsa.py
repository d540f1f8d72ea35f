"""Sparse LSA in a few dozen lines: min ½||X - UA||² + alpha ||A||₁ with U'U = I (MODELS.md, section 1)."""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Shards, even_blocks


def soft(B, threshold):
    return np.sign(B) * np.maximum(np.abs(B) - threshold, 0)


def inverse_root(G):
    """G^{-1/2} on the range of G, and the trace of G^{1/2}."""
    values, vectors = np.linalg.eigh(G)
    # not `>`: an overflow to NaN must reach the objective, not pass for a missing direction
    kept = ~(values <= len(G) * np.finfo(float).eps * values[-1])
    roots = np.sqrt(values[kept])
    return vectors[:, kept] / roots @ vectors[:, kept].T, roots.sum()


class DocumentMessage(NamedTuple):
    A: np.ndarray


class TermMessage(NamedTuple):
    R: np.ndarray
    polar: np.ndarray
    alpha: float


def document_products(shard, rows, message):
    """These documents' share of R = AX'X: additive over any split of them."""
    X = shard.X[slice(*rows)].toarray()
    return (X @ message.A.T).T @ X


def nothing(shard, columns, message):
    """All that the topics need of the documents is in R."""


def shrunk_columns(columns, sums, message):
    return soft(message.polar @ message.R[:, slice(*columns)], message.alpha)


def rows_of(block, shard):
    return even_blocks(shard.X.shape[0], block)


class SparseLSASteps:
    """U is never formed: its place is taken by the statistic R = AX'X and by G^{-1/2}."""

    def __init__(self, X, A, alpha, *, block=5, n_shards=1):
        self.shards = Shards.cut(csr_array(X), n_shards)
        self.X, self.A, self.alpha, self.block = X, A.copy(), alpha, block
        self.half_energy = np.sum(X**2) / 2

    def documents(self):
        rows = partial(rows_of, self.block)
        (self.R,) = self.engine.documents(self.shards, document_products, DocumentMessage(self.A), rows)
        G = self.R @ self.A.T
        self.polar, cross = inverse_root((G + G.T) / 2)
        # <B, A> = tr(G^{-1/2} R A') = tr(G^{1/2}): the objective without B
        return self.half_energy - cross + np.sum(self.A**2) / 2 + self.alpha * np.abs(self.A).sum()

    def topics(self):
        columns = even_blocks(self.X.shape[1], self.block)
        message = TermMessage(self.R, self.polar, self.alpha)
        found = self.engine.terms(self.shards, columns, nothing, shrunk_columns, message)
        self.A = np.concatenate(list(found), axis=1)
        return self.half_energy - np.sum(self.A**2) / 2

    def summary(self):
        return int(self.A.any(axis=1).sum()), np.count_nonzero(self.A) / self.A.size
