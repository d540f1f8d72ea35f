"""Sparse LSA in a few dozen lines: min ½||X - UA||² + alpha ||A||₁ with U'U = I (MODELS.md, section 1)."""

import numpy as np

from laconic.engines import even_blocks


def soft(B, threshold):
    return np.sign(B) * np.maximum(np.abs(B) - threshold, 0)


def inverse_root(G):
    """G^{-1/2} on the range of G, and the trace of G^{1/2}."""
    values, vectors = np.linalg.eigh(G)
    # not `>`: an overflow to NaN must reach the objective, not pass for a missing direction
    kept = ~(values <= len(G) * np.finfo(float).eps * values[-1])
    roots = np.sqrt(values[kept])
    return vectors[:, kept] / roots @ vectors[:, kept].T, roots.sum()


class SparseLSASteps:
    """U is never formed: its place is taken by the statistic R = AX'X and by G^{-1/2}."""

    def __init__(self, X, A, alpha, *, block=5):
        self.X, self.A, self.alpha = X, A.copy(), alpha
        self.document_stages = [even_blocks(X.shape[0], block)]
        self.term_stages = [even_blocks(X.shape[1], block)]
        self.half_energy = np.sum(X**2) / 2

    def solve_documents(self, rows):
        X = self.X[rows.start : rows.stop]
        return (X @ self.A.T).T @ X

    def reduce_documents(self, shares):
        self.R = sum(shares)
        G = self.R @ self.A.T
        self.polar, cross = inverse_root((G + G.T) / 2)
        # <B, A> = tr(G^{-1/2} R A') = tr(G^{1/2}): the objective without B
        return self.half_energy - cross + np.sum(self.A**2) / 2 + self.alpha * np.abs(self.A).sum()

    def solve_terms(self, columns):
        part = slice(*columns)
        self.A[:, part] = soft(self.polar @ self.R[:, part], self.alpha)
        return np.sum(self.A[:, part] ** 2) / 2

    def reduce_terms(self, stage, shares):
        return self.half_energy - sum(shares)

    def summary(self):
        return int(self.A.any(axis=1).sum()), np.count_nonzero(self.A) / self.A.size
