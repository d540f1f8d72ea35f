"""The steps of Sparse LSA: topics and an orthonormal basis of documents in turn, without the basis.

With U the polar factor of V = XA', the topics are B = U'X, shrunk. U is not needed: with the products R = V'X
and G = V'V,  B = G^(-1/2) R. V stays with its shards, as the weights of the documents, and R is solved block
of terms by block of terms; so neither is ever whole.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Engine, Shards, even_rows
from laconic.engines.shards import allot
from laconic.kernels.rows import sparse_products
from laconic.losses.factor import Floats, Projector, project_rows, scattered_rows
from laconic.losses.orthogonal.further import FURTHER_PER_TOPIC, FurtherDirections
from laconic.losses.orthogonal.revival import Basis, revived
from laconic.losses.orthogonal.shares import (
    Shrink,
    TermMessage,
    basis_products,
    shrunk_rows,
    turned_rows,
)
from laconic.losses.totals import above_rounding, by_falling_frequency, document_frequencies, norms
from laconic.storage.forms import Form, Maybe, Number, Numbers


class Seen(NamedTuple):
    """What is kept of documents that are gone: B = U'X (as terms × directions), and their squares by term.

    The first directions of U are the basis of the topics, the others go beyond it. A basis of all documents
    whose part for these is UQ has the products Q'B with them. So the rows of U'X can stand for the documents:
    with them, the objective is exact for every basis that is made of U.
    """

    products: Floats
    squares: NDArray[np.float64]


class OrthogonalSteps:
    """Topics and basis in turn for  1/2 ||X - UA||^2 + penalty(A)  with U'U = I.

    From the second iteration on, the basis is that of topics a step ahead: as far beyond the last ones as
    those are beyond the ones before. It takes half as many iterations. If the objective rises by it, the step
    is done again from where it was; so it never does.

    Parameters
    ----------
    shards : Shards
    topics : csr_array of shape (n_terms, n_topics)
        Where to begin.
    shrink : Shrink
    engine : Engine
    seen : Seen, optional
        Documents before X.
    """

    def __init__(
        self, shards: Shards, topics: csr_array, shrink: Shrink, engine: Engine, seen: Seen | None = None
    ) -> None:
        self.shards, self.shrink, self.engine, self.seen = shards, shrink, engine, seen
        self.components = topics
        self._ahead = topics
        self._objective = np.inf
        self.by_document, by_term = norms(shards, engine)
        self.squares = by_term if seen is None else by_term + seen.squares
        self.half_energy = float(self.squares.sum()) / 2
        frequencies = document_frequencies(shards, engine)
        if seen is not None:
            frequencies = np.maximum(frequencies, seen.squares > 0)
        self._order = by_falling_frequency(frequencies)
        self.blocks = shrink.blocks(frequencies, shards.n_documents)
        engine.each(shards, allot, topics.shape[1])
        self.revivals = 0

    def documents(self) -> float:
        """The basis, as G^(-1/2); returns the objective with it (ahead, that before it)."""
        (G,) = self.engine.documents(
            self.shards, project_rows, Projector(self._ahead, self._order), even_rows
        )
        self._before = None
        if self.seen is not None:
            # the products of the stand-ins with the topics: topics × stand-ins
            own, stand_ins = self._ahead, self.seen.products
            before = np.zeros((own.shape[1], stand_ins.shape[1]))
            sparse_products(own.indptr, own.indices, own.data, 0, len(stand_ins), stand_ins, before)
            self._before = np.ascontiguousarray(before.T, self.shards.dtype)
            G = G + before @ before.T
        if not np.isfinite(G).all():
            return float("nan")
        self.whitening, cross = inverse_root(G, self.shards.dtype)
        if self._ahead is not self.components:
            # the basis goes with topics that are not taken yet
            return self._objective
        loss = self.half_energy - cross + _squares(self.components) / 2
        return self._above_rounding(loss) + self.shrink.penalty(self.components)

    def message(self) -> TermMessage:
        """What blocks of terms need."""
        dtype = self.shards.dtype
        stand_ins = None if self.seen is None else self.seen.products
        return TermMessage(self.whitening.astype(dtype), self.shrink, stand_ins, self._before)

    def topics(self) -> float:
        """Take over the new topics, and give those without words another document."""
        found, objective = self._found()
        if objective > self._objective and self._ahead is not self.components:
            self.restart()
            found, objective = self._found()
        if objective > self._objective:
            # by rounding: what is left of X is less than that
            found, objective = self.components, self._objective
        before, self.components = self.components, found
        self._ahead = found if np.isinf(self._objective) else csr_array(2 * found - before)
        self._objective = objective
        return objective

    def restart(self) -> None:
        """Find the basis of the topics themselves."""
        self._ahead = self.components
        self.documents()

    def state(self) -> dict[str, Any]:
        """Topics, those ahead, and the objective; the basis is found again."""
        return {
            "components": self.components,
            "ahead": None if self._ahead is self.components else self._ahead,
            "objective": self._objective,
            "revivals": self.revivals,
        }

    def form(self) -> dict[str, Form]:
        """Topics ahead are like those of now."""
        topics = Numbers(self.components.shape, self.components.dtype, sparse=True)
        revivals = Number(0, 1e9, whole=True)
        return {"components": topics, "ahead": Maybe(topics), "objective": Number(), "revivals": revivals}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.components = state["components"]
        self._ahead = self.components if state["ahead"] is None else state["ahead"]
        self._objective, self.revivals = state["objective"], state["revivals"]

    def held(self) -> tuple[str, ...]:
        """Nothing: the products of documents with topics are made anew."""
        return ()

    def remember(self) -> Seen:
        """What to keep of all documents, once the basis is that of the last topics (`restart`).

        The weights of the documents are no longer their products with topics then.
        """
        products = np.zeros(self.components.shape, self.shards.dtype)
        rows = self.engine.terms(self.shards, self.blocks, basis_products, turned_rows, self.message())
        for terms, part in zip(self.blocks, rows, strict=True):
            products[terms] = part
        directions = FurtherDirections(self.shards, self.blocks, self.message(), self.engine)
        further = directions.products(FURTHER_PER_TOPIC * products.shape[1])
        return Seen(np.hstack([products, further]), self.squares)

    def _found(self) -> tuple[csr_array, float]:
        """The new topics, and the objective with them."""
        message = self.message()
        parts = list(self.engine.terms(self.shards, self.blocks, basis_products, shrunk_rows, message))
        terms = np.concatenate([np.zeros(0, np.int64), *self.blocks])
        topics = scattered_rows(terms, parts, self.components)
        dead = np.flatnonzero(np.bincount(topics.indices, minlength=topics.shape[1]) == 0)
        if dead.size:
            basis = Basis(self.shards, self.blocks, self._ahead, self.whitening, message)
            topics, revivals = revived(basis, topics, dead, self.by_document, self.engine)
            self.revivals += revivals
        # with its penalty, which the shrinkage has taken from the squares
        return topics, self._above_rounding(self.half_energy - _squares(topics) / 2)

    def _above_rounding(self, loss: float) -> float:
        return above_rounding(loss, self.half_energy, self.shards.dtype)

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        sizes = np.bincount(self.components.indices, minlength=self.components.shape[1])
        return int(np.count_nonzero(sizes)), self.components.nnz / max(1, np.prod(self.components.shape))


def _squares(topics: csr_array) -> float:
    return float(np.square(topics.data, dtype=np.float64).sum())


def inverse_root(G: Floats, dtype: Any) -> tuple[Floats, float]:
    """G^(-1/2) on the range of G, and the trace of G^(1/2); `dtype` says how exact G is."""
    values, vectors = np.linalg.eigh(G)
    noise = max(len(G) * np.finfo(np.float64).eps, np.finfo(dtype).eps)
    kept = values > noise * max(values[-1], 0)
    roots = np.sqrt(values[kept])
    return vectors[:, kept] / roots @ vectors[:, kept].T, float(roots.sum())
