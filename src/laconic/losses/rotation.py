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


# Columns that are turned half way between two simple ones can be so for each of several pairs.
ESCAPES = 8
# A turn of two columns counts if it adds more than this share of their fourth powers; it does everything
# where there are no others.
WORTH, WORTH_ALONE = 1e-2, 1e-9


def varimax(
    vectors: NDArray[Any], scale: NDArray[np.float64], *, max_iter: int = 100, tol: float = 1e-6
) -> NDArray[np.float64]:
    """The rotation of columns that makes the squares of the loads, vectors times a scale, vary most.

    Where two groups of documents are of the same size, singular vectors may lie anywhere between them, and no
    way leads up: half way the slope is zero, since squares vary least. Such pairs of columns are turned by
    themselves.
    """
    rotation = np.eye(len(scale))
    for _ in range(ESCAPES):
        rotation = _climbed(vectors, scale, rotation, max_iter, tol)
        turn = _from_the_least(vectors, scale, rotation)
        if turn is None:
            break
        rotation = rotation @ turn
    return rotation


def _climbed(
    vectors: NDArray[Any],
    scale: NDArray[np.float64],
    rotation: NDArray[np.float64],
    max_iter: int,
    tol: float,
) -> NDArray[np.float64]:
    """A rotation from which the squares' variance hardly grows."""
    gram = sum((rows.T @ rows for rows in _scaled(vectors, scale)), np.zeros_like(scale))
    before = 0.0
    for _ in range(max_iter):
        squares = np.diagonal(rotation.T @ gram @ rotation) / len(vectors)
        slope = np.zeros_like(scale)
        for rows in _scaled(vectors, scale):
            turned = rows @ rotation
            # a third power by name would take most of the time
            slope += rows.T @ (turned * (turned * turned - squares))
        left, values, right = np.linalg.svd(slope)
        if values.sum() <= np.finfo(float).tiny:
            break
        rotation = left @ right
        if values.sum() <= before * (1 + tol):
            break
        before = values.sum()
    return rotation


def _from_the_least(
    vectors: NDArray[Any], scale: NDArray[np.float64], rotation: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Turns of pairs of columns whose squares vary about least now, to where they vary most; None if none is.

    In the plane of two columns x and y the criterion is a cosine of four times the angle (Kaiser 1958), with
    the amplitudes ``level`` and ``tilt``.
    """
    n_rows, zero = len(vectors), np.zeros_like(scale)
    products, thirds, squares = zero.copy(), zero.copy(), zero.copy()
    for rows in _scaled(vectors, scale):
        x = rows @ rotation
        products += x.T @ x
        thirds += (x * x * x).T @ x
        squares += (x * x).T @ (x * x)
    lengths, fourths = np.diagonal(products), np.diagonal(squares)
    longer, both = lengths[:, None] - lengths, fourths[:, None] + fourths
    tilt = 4 * (thirds - thirds.T) - 4 * longer * products / n_rows
    level = both - 6 * squares - (longer**2 - 4 * products**2) / n_rows
    gain = (np.hypot(tilt, level) - level) / 4
    gain[gain <= (WORTH if len(scale) > 2 else WORTH_ALONE) * both] = 0
    turn, free = np.eye(len(scale)), np.ones(len(scale), bool)
    for place in np.argsort(-gain, axis=None, kind="stable")[: np.count_nonzero(gain)]:
        one, other = divmod(int(place), len(scale))
        if one < other and free[one] and free[other]:
            angle = np.arctan2(tilt[one, other], level[one, other]) / 4
            cosine, sine = np.cos(angle), np.sin(angle)
            turn[np.ix_((one, other), (one, other))] = [[cosine, -sine], [sine, cosine]]
            free[[one, other]] = False
    return None if free.all() else turn


def _scaled(vectors: NDArray[Any], scale: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    return (rows @ scale for rows in pieces(vectors))
