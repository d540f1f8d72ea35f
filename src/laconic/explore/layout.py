"""Topics as points of a plane: near each other where they share words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse

LANDMARKS = 1_000
"""Of more topics than this, so many are laid out exactly, and the others beside them: memory is bounded."""

Floats = NDArray[np.float64]


class Layout(NamedTuple):
    """Points, and how much of the distances between topics they show."""

    points: Floats
    shown: float
    """The part of the squared distances that two dimensions hold, from 0 to 1."""


def normalised(topics: Any) -> Any:
    """Topics of length one; those without words stay zero.

    Parameters
    ----------
    topics : ndarray or csr_array of shape (n_topics, n_terms)

    Returns
    -------
    ndarray or csr_array of float64
    """
    rows = topics.astype(np.float64)
    lengths = np.sqrt(np.asarray((rows * rows).sum(axis=1)).ravel())
    factors = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    if not issparse(rows):
        return rows * factors[:, None]
    rows.data *= np.repeat(factors, np.diff(rows.indptr))
    return rows


def product(a: Any, b: Any) -> Floats:
    """The dense product of two matrices, either of which may be sparse."""
    found = a @ b
    return np.asarray(found.toarray() if issparse(found) else found)


def laid_out(directions: Any, weights: Floats) -> Layout:
    """Lay topics out by classical multidimensional scaling of the distances between them.

    The distance of two topics is that of their directions, ``sqrt(2 - 2 cos)``, so the inner products are
    those of the Gram matrix. The same topics give the same picture: axes are turned so that the far ends lie
    right and up. Of more than `LANDMARKS` topics, the heaviest are laid out among themselves, and each of the
    others goes where its distances to these put it (Gower's formula, which is exact for the landmarks).

    Parameters
    ----------
    directions : ndarray or csr_array of shape (n_topics, n_terms)
        Of length one each, or zero.
    weights : ndarray of shape (n_topics,)
        Which topics count most, where there are many.

    Returns
    -------
    Layout
        A row for each topic.

    Examples
    --------
    >>> found = laid_out(np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2))
    >>> found.points.round(3).tolist(), found.shown
    ([[0.707, 0.0], [-0.707, 0.0]], 1.0)
    """
    n_topics = directions.shape[0]
    if n_topics < 2:
        return Layout(np.zeros((n_topics, 2)), 1.0)
    chosen = np.sort(np.argsort(-weights, kind="stable")[:LANDMARKS])
    marks = directions[chosen]
    gram = product(marks, marks.T)
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    last = len(chosen) - 1
    values, vectors = eigh(centred, subset_by_index=[max(0, last - 1), last])
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    total = float(np.trace(centred))
    # Beyond what rounding leaves, there is no second direction to show.
    usable = values > 1e-9 * max(total, 1e-300)
    vectors = _turned(vectors * usable)
    scale = np.divide(1, np.sqrt(values), out=np.zeros_like(values), where=usable)
    # rows of the centred Gram matrix between all topics and the landmarks, times the axes
    axes = vectors * scale
    points = product(directions, product(marks.T, axes - axes.mean(axis=0)))
    points -= points[chosen].mean(axis=0)
    shown = float(values.sum() / total) if total > 0 else 1.0
    return Layout(np.pad(points, ((0, 0), (0, 2 - points.shape[1]))) + 0.0, min(1.0, shown))


def _turned(vectors: Floats) -> Floats:
    """Axes whose long tails lie on the positive side, whatever the order of the topics."""
    for axis in vectors.T:
        skew = float((axis**3).sum())
        if abs(skew) < 1e-9:
            skew = float(axis[np.argmax(np.abs(axis))]) if axis.any() else 1.0
        if skew < 0:
            axis *= -1
    return vectors


def apart(points: Floats, radii: Floats, sweeps: int = 80) -> Floats:
    """Move circles that cover each other apart, so that each can be seen and pointed at.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    radii : ndarray of shape (n,)
    sweeps : int
        How often all pairs are looked at; only so many circles are moved as this takes little time for.

    Returns
    -------
    ndarray of shape (n, 2)
        The same points where nothing is covered, and always the same ones.
    """
    moved = points.copy()
    if not 2 <= len(moved) <= LANDMARKS:
        return moved
    reach = radii[:, None] + radii
    np.fill_diagonal(reach, 0)
    # points in the same place part in directions that depend on their number alone
    angles = 2.399963 * np.arange(len(moved))
    moved += 1e-6 * radii.max() * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for _ in range(sweeps):
        steps = moved[:, None, :] - moved
        far = np.sqrt((steps**2).sum(axis=2))
        np.fill_diagonal(far, 1)
        overlap = np.maximum(reach - far, 0)
        if overlap.max() < 1e-3 * radii.max():
            break
        push = (0.5 * overlap / np.maximum(far, 1e-12))[:, :, None] * steps
        # the mean of all pushes, so that crowds do not explode
        moved += push.sum(axis=1) / np.maximum((overlap > 0).sum(axis=1), 1)[:, None] * 1.2
    return moved
