"""Graph regularised NMF (Cai et al., 2011), to compare with: updates as published, for both of its losses.

R are the weights of the edges, symmetric and non-negative; ``D - R`` is the Laplacian of the graph.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import kl_div

Floats = NDArray[np.float64]

_TINY = 1e-12


class Spectrum(NamedTuple):
    """The Laplacian of a graph: eigenvalues, none of which is negative, and vectors as columns."""

    values: Floats
    vectors: Floats


def spectrum_of(graph: Any) -> Spectrum:
    """Decompose the Laplacian of a graph."""
    dense = graph.toarray()
    values, vectors = eigh(np.diag(dense.sum(axis=1)) - dense)
    return Spectrum(np.maximum(values, 0), vectors)


class GraphNMF(Protocol):
    """One of the two losses: documents × topics W and topics × terms C, all non-negative."""

    def step(self, W: Floats, C: Floats) -> tuple[Floats, Floats]:
        """An iteration: topics, then documents."""

    def objective(self, W: Floats, C: Floats) -> float:
        """What the updates are to lower."""

    def scaled(self, W: Floats, C: Floats) -> Floats:
        """The weights of documents, in the scale in which all topics have the same size."""


class SquaredGraphNMF:
    """``||X - WC||^2 + strength * sum over edges of R_jl ||w(j) - w(l)||^2``, by multiplicative updates."""

    def __init__(self, X: Floats, graph: Any, strength: float) -> None:
        self.X, self.graph, self.strength = X, graph, strength
        self.degrees = np.asarray(graph.sum(axis=1)).reshape(-1, 1)

    def step(self, W: Floats, C: Floats) -> tuple[Floats, Floats]:
        """An iteration: topics, then documents."""
        C = C * (W.T @ self.X) / np.maximum(W.T @ W @ C, _TINY)
        pull = self.X @ C.T + self.strength * (self.graph @ W)
        push = W @ (C @ C.T) + self.strength * self.degrees * W
        return W * pull / np.maximum(push, _TINY), C

    def objective(self, W: Floats, C: Floats) -> float:
        """Falls with every step."""
        smooth = np.sum(W * (self.degrees * W - self.graph @ W))
        return float(np.sum((self.X - W @ C) ** 2) + self.strength * smooth)

    def scaled(self, W: Floats, C: Floats) -> Floats:
        """Topics of length one."""
        return W * np.linalg.norm(C, axis=1)


class DivergenceGraphNMF:
    """``D(X || WC) + strength / 2 * sum over edges of R_jl (D(w(j) || w(l)) + D(w(l) || w(j)))``.

    Topics by multiplicative updates; documents by the linear equations that come of ``log(x / y)`` being
    about ``1 - y / x``. That is an approximation, so that the objective may rise. The Laplacian is
    decomposed once: then the equations of every topic, which differ by a multiple of the identity, are solved
    by two products. `spectrum` is that of the graph, if it is known: to find it takes long.
    """

    def __init__(self, X: Floats, graph: Any, strength: float, spectrum: Spectrum | None = None) -> None:
        self.X, self.graph, self.strength = X, graph.tocoo(), strength
        self.values, self.vectors = spectrum_of(graph) if spectrum is None else spectrum

    def step(self, W: Floats, C: Floats) -> tuple[Floats, Floats]:
        """An iteration: topics, then documents."""
        C = C * (W.T @ (self.X / np.maximum(W @ C, _TINY))) / np.maximum(W.sum(axis=0), _TINY)[:, None]
        expected = W * ((self.X / np.maximum(W @ C, _TINY)) @ C.T)
        shifts = np.maximum(C.sum(axis=1), _TINY)
        inverse = 1 / (shifts + self.strength * self.values[:, None])
        W = self.vectors @ (inverse * (self.vectors.T @ expected))
        # The inverse has no negative entries; rounding may.
        return np.maximum(W, _TINY), C

    def objective(self, W: Floats, C: Floats) -> float:
        """What the updates are meant to lower, and lower nearly."""
        ends = W[self.graph.row], W[self.graph.col]
        # Both directions of an edge are listed.
        smooth = np.sum(self.graph.data[:, None] * (ends[0] - ends[1]) * np.log(ends[0] / ends[1])) / 4
        return float(np.sum(kl_div(self.X, W @ C)) + self.strength * smooth)

    def scaled(self, W: Floats, C: Floats) -> Floats:
        """Topics that sum to one."""
        return W * C.sum(axis=1)
