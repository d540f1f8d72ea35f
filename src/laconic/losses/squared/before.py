"""Statistics from before, for the squared loss: S and R to which those of the documents are added.

An anchor  tau ||c_k - z_k||^2  is a document sqrt(tau) z_k whose weight is known, sqrt(tau) for topic k: it
adds tau to the diagonal of S = W'W and tau z_k to R = W'X. Documents of earlier batches add whole matrices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from laconic.losses.anchoring import Anchoring, rows_of
from laconic.losses.factor import Factor, Floats, narrow, transposed
from laconic.losses.squared.rows import RowSolver

UNIT = 1e-5
"""A topic whose length differs from one by less is left as it is."""


class Before(NamedTuple):
    """What is known of topics that are solved together (terms × topics); picklable."""

    gram: NDArray[np.float64]
    """Added to S."""
    products: Factor
    """Terms by topics: added to R."""
    energy: float
    held: NDArray[np.bool_]
    """Topics that keep their scale, and their sign."""
    frozen: NDArray[np.bool_]
    targets: csr_array
    """Terms by topics: what frozen topics are."""
    solved: NDArray[np.bool_]
    """Terms that are solved, though no document may have them."""
    patterns: NDArray[np.bool_]
    """Patterns by topics: which topics of a term are free."""
    pattern_of: NDArray[np.intp]
    """The pattern of every term."""
    forbidden: csr_array | None

    def added(self, terms: NDArray[Any], products: Floats) -> Floats:
        """Products of some terms with those from before."""
        return np.asarray(products + rows_of(self.products, terms).astype(products.dtype, copy=False))

    def cross(self, topics: Factor) -> float:
        """<R, C> of what was before."""
        if isinstance(self.products, np.ndarray):
            whole = topics if isinstance(topics, np.ndarray) else topics.toarray()
            return float(np.einsum("mk,mk->", self.products, whole, dtype=np.float64))
        if isinstance(topics, np.ndarray):
            terms = np.repeat(np.arange(len(topics)), np.diff(self.products.indptr))
            found = topics[terms, self.products.indices].astype(np.float64)
            return float(np.dot(self.products.data.astype(np.float64), found))
        return float(self.products.astype(np.float64).multiply(topics).sum())

    def loss(self, topics: Factor, gram: Floats) -> float:
        """What the documents from before, or anchors, add to the loss; `gram` is that of the topics."""
        return self.energy - 2 * self.cross(topics) + float(np.vdot(self.gram, gram))

    def begun(self, components: csr_array) -> csr_array:
        """The topics (terms × topics) to begin with: frozen ones in their place, forbidden words zero."""
        free = diags_array((~self.frozen).astype(components.dtype), dtype=components.dtype)
        fixed = diags_array(self.frozen.astype(components.dtype), dtype=components.dtype)
        topics = csr_array(components @ free + self.targets.astype(components.dtype) @ fixed)
        if self.forbidden is not None:
            topics = csr_array(topics - topics.multiply(self.forbidden != 0))
        topics.eliminate_zeros()
        topics.sort_indices()
        return narrow(csr_array(topics, dtype=components.dtype))

    def prepare(self, penalty: RowSolver, gram: Floats, dtype: Any) -> list[Prepared]:
        """What the rows of every pattern share."""
        whole = gram + self.gram
        found = []
        for free in self.patterns:
            own = whole[np.ix_(free, free)]
            prepared = penalty.prepare(own, dtype) if free.any() else own
            coupling = None if free.all() else np.ascontiguousarray(whole[np.ix_(~free, free)], dtype)
            found.append(Prepared(free, prepared, coupling))
        return found


class Prepared(NamedTuple):
    """What terms with the same free topics share."""

    free: NDArray[np.bool_]
    prepared: Floats
    coupling: Floats | None
    """S between the topics that are not free, and those that are."""

    def solve(self, penalty: RowSolver, targets: Floats, rows: Floats, explained: Floats | None) -> None:
        """Overwrite the free entries of rows with their solution."""
        if self.coupling is None:
            penalty.solve(self.prepared, targets, rows, explained)
            return
        if not self.free.any():
            return
        known = rows[:, ~self.free] @ self.coupling
        if explained is not None:
            known += explained[:, self.free]
        own = np.ascontiguousarray(rows[:, self.free])
        penalty.solve(self.prepared, np.ascontiguousarray(targets[:, self.free]), own, known)
        rows[:, self.free] = own


def anchored(
    anchors: Anchoring, topics: slice, energy: float, n_topics: int, names: NDArray[Any] | None, unit: bool
) -> Before | None:
    """What anchors say of some topics of a problem; None if nothing.

    Parameters
    ----------
    anchors : Anchoring
    topics : slice
        Which of all topics.
    energy : float
        ``||X||^2``; with the number of all topics, it gives strengths their scale.
    n_topics : int
    names : ndarray, optional
        The terms in the order in which they are called by.
    unit : bool
        Whether topics have length one: targets then have it, too.
    """
    targets, strengths, frozen = (
        csr_array(anchors.targets[topics]),
        anchors.strengths[0, topics],
        anchors.frozen[0, topics],
    )
    forbidden = None if anchors.forbidden is None else csr_array(anchors.forbidden[topics])
    if forbidden is not None and forbidden.nnz == 0:
        forbidden = None
    if not (strengths.any() or frozen.any() or forbidden is not None):
        return None
    lengths = np.sqrt(np.asarray(targets.astype(np.float64).power(2).sum(axis=1)).ravel())
    if unit:
        far = (lengths > 0) & (np.abs(lengths - 1) > UNIT)
        scale = np.where(far, 1 / np.where(far, lengths, 1), 1).astype(targets.dtype)
        targets = csr_array(diags_array(scale, dtype=targets.dtype) @ targets)
        lengths = np.where(far, 1.0, lengths)
    elif anchors.words_only is not None:
        # of about the length that topics get which are scaled against their weights
        scale = np.where(anchors.words_only[topics], (energy / n_topics) ** 0.25, 1.0)
        targets = csr_array(diags_array(scale, dtype=targets.dtype) @ targets)
        lengths = lengths * scale
    alive = (lengths > 0) & ~frozen
    taus = np.where(alive, strengths * energy / (n_topics * np.where(alive, lengths, 1) ** 2), 0)
    pulls = csr_array(diags_array(taus, dtype=np.float64) @ targets, dtype=targets.dtype)
    pulls.eliminate_zeros()
    by_term = [_called(each, names) for each in (pulls, targets)]
    barred = None if forbidden is None else _called(forbidden, names)
    solved = np.diff(by_term[1].indptr) > 0
    patterns, pattern_of = _patterns(frozen, barred, solved.size)
    return Before(
        np.diag(taus),
        by_term[0],
        float(np.dot(taus, lengths**2)),
        (taus > 0) | frozen,
        frozen,
        by_term[1],
        solved,
        patterns,
        pattern_of,
        barred,
    )


def _called(matrix: csr_array, names: NDArray[Any] | None) -> csr_array:
    """Topics × terms as terms × topics, the terms in their new order."""
    turned = transposed(matrix)
    return turned if names is None else narrow(csr_array(turned[names]))


def _patterns(
    frozen: NDArray[np.bool_], forbidden: csr_array | None, n_terms: int
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which topics are free, in as many patterns as there are, and the pattern of every term."""
    pattern_of = np.zeros(n_terms, np.intp)
    patterns = [~frozen]
    if forbidden is not None:
        barred = np.flatnonzero(np.diff(forbidden.indptr))
        different, which = np.unique(forbidden[barred].toarray() != 0, axis=0, return_inverse=True)
        pattern_of[barred] = 1 + which.ravel()
        patterns += [~frozen & ~each for each in different]
    return np.array(patterns), pattern_of
