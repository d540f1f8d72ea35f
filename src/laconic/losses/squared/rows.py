"""Row problems of the squared loss: how one factor is found when the other is fixed.

Each solves  c'Gc - 2 r'c + penalty(c)  for every row of a block; topics (a row per term) and documents
use the same ones: ridge regression, the lasso and non-negative least squares by coordinate descent (with one
sweep a call and no penalty, that is HALS), and the multiplicative updates of Lee and Seung.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

from laconic.kernels.rows import descend, update_once

Floats = NDArray[Any]

# Rows of so few entries are updated whole, zeros and all, side by side; longer ones where they are not zero.
NARROW = 128
# What rounding leaves of an eigenvalue of zero grows with the size of the Gram matrix, and with the sums that
# made it, however small it is: it counts as at least so large.
FEWEST = 32


class RowSolver(Protocol):
    """A penalty on the rows of one factor, and the solution of their problems."""

    alpha: float
    power: int
    """The penalty is alpha times the sum of ``|c|**power``."""
    sparse: bool
    """Whether solutions have exact zeros."""
    nonnegative: bool
    closed_form: bool
    """Whether a solution does not depend on where it starts."""

    def prepare(self, gram: Floats, dtype: Any) -> Floats:
        """What all rows share: a function of the Gram matrix (float64) alone."""

    def solve(self, prepared: Floats, targets: Floats, rows: Floats, explained: Floats | None = None) -> int:
        """Overwrite `rows` (the warm start) with the solution; returns how many are not solved in full.

        `explained` is what is to be taken off the targets, because other topics account for it.
        """


class Ridge:
    """alpha times the squared norm: closed form, one matrix product for a block of rows."""

    power = 2
    sparse = False
    nonnegative = False
    closed_form = True

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def prepare(self, gram: Floats, dtype: Any) -> Floats:
        """The inverse of the Gram matrix plus alpha.

        Where alpha is too small to keep it apart from zero in the rows' type (more topics than the data have
        dimensions, and hardly a penalty), directions of no weight are left out: a pseudo-inverse.
        """
        rounding = max(FEWEST, len(gram)) * float(np.finfo(dtype).eps)
        identity = np.eye(len(gram))
        if self.alpha > rounding * float(np.trace(gram)):
            factor = cho_factor(gram + self.alpha * identity, lower=True)
            return np.ascontiguousarray(cho_solve(factor, identity), dtype)
        values, vectors = eigh(gram)
        kept = values > rounding * max(0.0, float(values[-1]))
        vectors = vectors[:, kept]
        return np.ascontiguousarray((vectors / (values[kept] + self.alpha)) @ vectors.T, dtype)

    def solve(self, prepared: Floats, targets: Floats, rows: Floats, explained: Floats | None = None) -> int:
        """All rows at once; a warm start is of no use here."""
        np.matmul(targets if explained is None else targets - explained, prepared, out=rows)
        return 0


class Descent:
    """Lasso, and everything non-negative: coordinate descent on the active entries of a row.

    Parameters
    ----------
    alpha : float
        Weight of the l1 norm (`power` 1) or of the squared l2 norm (`power` 2).
    power : {1, 2}
    nonnegative : bool
    precision : float
        A row is solved when its KKT violation is below this share of its largest product.
    max_sweeps : int
        Warm-started rows may be left unfinished: the objective still falls.
    """

    sparse = True
    closed_form = False

    def __init__(
        self, alpha: float, *, power: int = 1, nonnegative: bool = False, precision: float, max_sweeps: int
    ) -> None:
        self.alpha = alpha
        self.power = power
        self.nonnegative = nonnegative
        self.precision = precision
        self.max_sweeps = max_sweeps

    def prepare(self, gram: Floats, dtype: Any) -> Floats:
        """The Gram matrix itself, in the rows' type."""
        return np.ascontiguousarray(gram, dtype)

    def solve(self, prepared: Floats, targets: Floats, rows: Floats, explained: Floats | None = None) -> int:
        """Descend from the rows as they are."""
        if self.max_sweeps == 1 and self.nonnegative and self.alpha == 0 and len(prepared) <= NARROW:
            update_once(prepared, targets if explained is None else targets - explained, rows)
            return len(rows)
        scalar = rows.dtype.type
        threshold, ridge = (self.alpha / 2, 0.0) if self.power == 1 else (0.0, self.alpha)
        unsolved: int = descend(
            prepared,
            targets if explained is None else targets - explained,
            rows,
            scalar(threshold),
            scalar(ridge),
            self.nonnegative,
            scalar(self.precision),
            self.max_sweeps,
        )
        return unsolved


class Multiplicative:
    """Non-negative least squares by one multiplicative update a call: slow to converge, and never to zero.

    Zeros stay, whatever their gradient: rows must begin positive.
    """

    alpha = 0.0
    power = 2
    sparse = False
    nonnegative = True
    closed_form = False

    def prepare(self, gram: Floats, dtype: Any) -> Floats:
        """The Gram matrix itself, in the rows' type."""
        return np.ascontiguousarray(gram, dtype)

    def solve(self, prepared: Floats, targets: Floats, rows: Floats, explained: Floats | None = None) -> int:
        """Multiply rows by the ratio of targets and what is explained of them."""
        reached = rows @ prepared
        if explained is not None:
            reached += explained
        # Weights that fade away become so small that a ratio is no number any more: they stay as they are.
        limits = np.finfo(rows.dtype)
        ratio = np.ones_like(reached)
        np.divide(targets, reached, out=ratio, where=reached > limits.tiny / limits.eps**2)
        rows *= ratio
        return len(rows)
