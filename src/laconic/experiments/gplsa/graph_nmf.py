"""Graph regularised NMF (Cai et al., 2011), to compare with: multiplicative updates as published."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TINY = 1e-12


def graph_nmf(
    X: Floats, graph: Any, n_components: int, strength: float, n_iter: int, seed: int
) -> tuple[Floats, Floats]:
    r"""Minimise ``||X - WC||^2 + strength * sum over edges of R_jl ||w(j) - w(l)||^2``, all non-negative.

    Parameters
    ----------
    X : ndarray of shape (n_documents, n_terms)
        Non-negative.
    graph : sparse array of shape (n_documents, n_documents)
        The weights R of the edges: symmetric and non-negative.
    n_components : int
        Number of topics.
    strength : float
        Of the graph.
    n_iter : int
        Number of iterations.
    seed : int
        Of the random start.

    Returns
    -------
    W : ndarray of shape (n_documents, n_components)
        In the scale in which topics have length one.
    C : ndarray of shape (n_components, n_terms)
        The topics.
    """
    rng = np.random.default_rng(seed)
    W, C = rng.random((X.shape[0], n_components)), rng.random((n_components, X.shape[1]))
    degrees = np.asarray(graph.sum(axis=1)).reshape(-1, 1)
    for _ in range(n_iter):
        C *= (W.T @ X) / np.maximum(W.T @ W @ C, _TINY)
        pull, push = X @ C.T + strength * (graph @ W), W @ (C @ C.T) + strength * degrees * W
        W *= pull / np.maximum(push, _TINY)
    lengths = np.maximum(np.linalg.norm(C, axis=1), _TINY)
    return W * lengths, C / lengths[:, None]
