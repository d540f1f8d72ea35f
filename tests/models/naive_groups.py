"""Group models, dense and class by class: residuals are formed, and every row is solved in a Python loop."""

from __future__ import annotations

import numpy as np

PRECISION = 32 * np.finfo(float).eps


class Descend:
    """Coordinate descent for  c'Gc - 2 r'c + alpha sum |c|**power  on coordinates that are not at rest."""

    def __init__(self, power=1, nonnegative=False, max_sweeps=2000):
        self.power, self.nonnegative, self.max_sweeps = power, nonnegative, max_sweeps

    def __call__(self, G, R, explained, C, alpha):
        C = C.copy()
        for m in range(C.shape[1]):
            self.column(G, R[:, m] - explained[:, m], C[:, m], alpha)
        return C

    def column(self, G, r, c, alpha):
        t, ridge = (alpha / 2, 0.0) if self.power == 1 else (0.0, alpha)
        reach = np.maximum(r, 0) if self.nonnegative else np.abs(r)
        if reach.max(initial=0) <= t:
            c[:] = 0
            return
        left, enough = self.max_sweeps, PRECISION * np.abs(r).max()
        while left > 0:
            g = r - G @ c - ridge * c
            pull = g if self.nonnegative else np.abs(g)
            violation = np.where(c != 0, np.abs(g - t * np.sign(c)), pull - t)
            active = np.flatnonzero((c != 0) | (violation > 0))
            if violation.max() <= enough:
                return
            change = np.inf
            while left > 0 and change > enough:
                left, change = left - 1, 0.0
                for k in active:
                    curvature, old = G[k, k] + ridge, c[k]
                    b = r[k] - G[k] @ c + G[k, k] * old
                    size = np.maximum(b if self.nonnegative else abs(b), t) - t
                    c[k] = np.sign(b) * size / curvature if curvature > 0 and size > 0 else 0.0
                    change = max(change, abs(c[k] - old) * curvature)


def update_each(G, R, explained, C, alpha):
    """One non-negative update of every coordinate, at rest or not: HALS."""
    C = C.copy()
    for k in range(len(G)):
        C[k] = 0
        if G[k, k] > 0:
            C[k] = np.maximum((R[k] - explained[k] - G[k] @ C) / G[k, k], 0)
    return C


def ridge(G, R, explained, C, alpha):
    return np.linalg.solve(G + alpha * np.eye(len(G)), R - explained)


def multiply(G, R, explained, C, alpha):
    return C * R / np.maximum(G @ C + explained, 1e-300)


class Budget:
    """Topics of length one with their largest words, one after the other."""

    def __init__(self, n_words):
        self.n_words = n_words

    def __call__(self, G, R, explained, C, alpha):
        C = C.copy()
        for k in range(len(C)):
            b = R[k] - explained[k] - G[k] @ C + G[k, k] * C[k]
            largest = np.argsort(-np.abs(b), kind="stable")[: self.n_words]
            if b.any():
                C[k] = 0
                C[k, largest] = b[largest] / np.linalg.norm(b[largest])
        return C


class NaiveGroups:
    """The documents `parts` of each class, shared topics C0, and topics Cs and weights Ws of each class."""

    def __init__(
        self, parts, C0, Cs, *, documents, topics, power=1, alphas=None, alpha_shared=0.0, alpha_docs=0.0
    ):
        self.parts, self.C0, self.Cs = parts, C0, list(Cs)
        self.documents, self.topics, self.power = documents, topics, power
        self.alphas = [0.0] * len(parts) if alphas is None else alphas
        self.alpha_shared, self.alpha_docs = alpha_shared, alpha_docs
        self.Ws = [np.zeros((len(X), len(C0) + len(C))) for X, C in zip(parts, self.Cs, strict=True)]

    def whole(self, p):
        return np.vstack([self.C0, self.Cs[p]])

    def start(self, solver, least):
        """First weights: solved in full, and none of a document below a share of its largest one."""
        for p in range(len(self.parts)):
            self.solve_documents(p, solver)
            self.Ws[p] = np.maximum(self.Ws[p], least * self.Ws[p].max(axis=1, keepdims=True))

    def solve_documents(self, p, solver):
        C, X = self.whole(p), self.parts[p]
        self.Ws[p] = solver(C @ C.T, C @ X.T, np.zeros((len(C), len(X))), self.Ws[p].T, self.alpha_docs).T

    def balance(self):
        n = len(self.C0)
        norms = sum((W[:, :n] ** 2).sum(0) for W in self.Ws)
        scale = self.scale(self.C0, norms, self.alpha_shared)
        self.C0 = self.C0 * scale[:, None]
        for p, W in enumerate(self.Ws):
            W[:, :n] /= scale
            own = self.scale(self.Cs[p], (W[:, n:] ** 2).sum(0), self.alphas[p])
            self.Cs[p] = self.Cs[p] * own[:, None]
            W[:, n:] /= own

    def scale(self, C, norms, alpha):
        sizes = (np.abs(C) ** self.power).sum(1)
        alive = (sizes > 0) & (norms > 0)
        ratio = np.where(alive, 2 * self.alpha_docs * norms, 1) / np.where(
            alive, self.power * alpha * sizes, 1
        )
        return ratio ** (1 / (self.power + 2))

    def iterate(self):
        """Documents, the topics of classes given the shared ones, shared topics given the classes'."""
        n = len(self.C0)
        for p in range(len(self.parts)):
            self.solve_documents(p, self.documents)
        if self.alpha_docs > 0 and self.alpha_shared > 0:
            self.balance()
        for p, (X, W) in enumerate(zip(self.parts, self.Ws, strict=True)):
            H, Z = W[:, :n], W[:, n:]
            self.Cs[p] = self.topics(Z.T @ Z, Z.T @ X, Z.T @ (H @ self.C0), self.Cs[p], self.alphas[p])
        pairs = list(zip(self.parts, self.Ws, self.Cs, strict=True))
        if n:
            G = sum(W[:, :n].T @ W[:, :n] for _, W, _ in pairs)
            R = sum(W[:, :n].T @ X for X, W, _ in pairs)
            explained = sum(W[:, :n].T @ (W[:, n:] @ C) for _, W, C in pairs)
            self.C0 = self.topics(G, R, explained, self.C0, self.alpha_shared)
        return self.objective()

    def objective(self):
        value = self.alpha_shared * (np.abs(self.C0) ** self.power).sum()
        for p, (X, W) in enumerate(zip(self.parts, self.Ws, strict=True)):
            value += ((X - W @ self.whole(p)) ** 2).sum() + self.alpha_docs * (W**2).sum()
            value += self.alphas[p] * (np.abs(self.Cs[p]) ** self.power).sum()
        return value
