"""Documents of earlier batches, for the squared loss: the sums over them that a topic step needs.

With the weights W that they had, S = W'W and R = W'X say all about them: so a batch goes on from these, as if
the documents were still there, and the objective is exact for all documents with these weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.losses.factor import Factor, Floats


class Seen(NamedTuple):
    """Sums over documents that are gone, one for each class; picklable."""

    grams: list[NDArray[np.float64]]
    """W'W of the shared topics and those of the class."""
    products: list[Floats]
    """X'W, terms by topics."""
    norms: list[NDArray[np.float64]]
    """Sums of the penalised weights, topic by topic."""
    energy: float
    """The sum of squares of all entries of X."""

    def faded(self, decay: float) -> Seen:
        """The same, counted for less."""
        return Seen(
            [decay * each for each in self.grams],
            [(decay * each).astype(each.dtype) for each in self.products],
            [decay * each for each in self.norms],
            decay * self.energy,
        )

    def called(self, names: NDArray[Any] | None) -> Seen:
        """A copy with the terms in another order."""
        order = slice(None) if names is None else names
        return Seen(
            [each.copy() for each in self.grams],
            [each[order].copy() for each in self.products],
            [each.copy() for each in self.norms],
            self.energy,
        )

    def scale(self, klass: int, scale: NDArray[np.float64], power: int) -> None:
        """Divide the weights of a class, in place, by what its topics are multiplied by."""
        if (scale != 1).any():
            self.grams[klass][:] /= np.outer(scale, scale)
            self.products[klass][:] /= scale.astype(self.products[klass].dtype)
            self.norms[klass][:] /= scale**power

    def turned(self, signs: NDArray[Any], n_shared: int) -> Seen:
        """The same where topics, shared ones first and then those of each class, are turned."""
        if (signs > 0).all():
            return self
        grams, products, start = [], [], n_shared
        for gram, part in zip(self.grams, self.products, strict=True):
            stop = start + len(gram) - n_shared
            own = np.concatenate([signs[:n_shared], signs[start:stop]])
            grams.append(gram * np.outer(own, own))
            products.append(part * own.astype(part.dtype))
            start = stop
        return self._replace(grams=grams, products=products)

    @property
    def terms(self) -> NDArray[np.bool_]:
        """Which terms any of the documents had."""
        return np.any([each.any(axis=1) for each in self.products], axis=0)

    def cross(self, klass: int, shared: Factor | None, own: Factor) -> float:
        """<R, C> of a class."""
        products = self.products[klass]
        if shared is None:
            return _inner(products, own)
        n_shared = shared.shape[1]
        return _inner(products[:, :n_shared], shared) + _inner(products[:, n_shared:], own)


def _inner(products: Floats, topics: Factor) -> float:
    if isinstance(topics, np.ndarray):
        return float(np.einsum("mk,mk->", products, topics, dtype=np.float64))
    terms = np.repeat(np.arange(topics.shape[0]), np.diff(topics.indptr))
    return float(np.dot(products[terms, topics.indices].astype(np.float64), topics.data.astype(np.float64)))
