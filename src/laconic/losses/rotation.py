"""Rotations that make vectors simple: few large loads, many small ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.engines import even_blocks
from laconic.losses.singular import TERMS_PER_PIECE


def pieces(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Some rows at a time, as float64 copies of all could be more than memory holds."""
    return (rows[block.start : block.stop] for block in even_blocks(len(rows), TERMS_PER_PIECE))


def varimax(
    vectors: NDArray[Any], scale: NDArray[np.float64], *, max_iter: int = 100, tol: float = 1e-6
) -> NDArray[np.float64]:
    """The rotation of columns that makes the squares of the loads, vectors times a scale, vary most."""
    gram = sum((rows.T @ rows for rows in _scaled(vectors, scale)), np.zeros_like(scale))
    rotation, before = np.eye(len(scale)), 0.0
    for _ in range(max_iter):
        squares = np.diagonal(rotation.T @ gram @ rotation) / len(vectors)
        slope = np.zeros_like(scale)
        for rows in _scaled(vectors, scale):
            turned = rows @ rotation
            # a third power by name would take most of the time
            slope += rows.T @ (turned * (turned * turned - squares))
        left, values, right = np.linalg.svd(slope)
        rotation = left @ right
        if values.sum() <= before * (1 + tol):
            break
        before = values.sum()
    return rotation


def _scaled(vectors: NDArray[Any], scale: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    return (rows @ scale for rows in pieces(vectors))
