"""Folding documents in where topics are fixed: the document half step of the squared loss, to its end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from laconic.engines import Block, Engine, Threads, even_blocks
from laconic.engines.shards import ROWS_PER_BLOCK
from laconic.kernels.rows import inner
from laconic.losses.factor import Factor, Floats, Projector, transposed, whole_gram
from laconic.losses.folding import Explained, Recent
from laconic.losses.squared.rows import RowSolver
from laconic.losses.totals import checked_energy, document_norms

# With more classes than this, what their documents need is made again when it is needed: each class takes
# memory in proportion to the number of all terms.
CLASSES_KEPT = 64


class FixedTopics(NamedTuple):
    """What documents need of topics that are fixed: a `FoldIn`."""

    project: Projector
    gram: Floats
    prepared: Floats
    solver: RowSolver

    @property
    def sparse(self) -> bool:
        """Whether weights have exact zeros."""
        return self.solver.sparse

    def weights(self, X: csr_array, engine: Engine) -> Floats:
        """The weights of documents."""
        checked_energy(X)
        weights = self._room(X)
        for _ in engine.map(partial(_solve_rows, self, X, weights), even_blocks(X.shape[0], ROWS_PER_BLOCK)):
            continue
        return weights

    def explained(self, X: csr_array, engine: Engine) -> Explained:
        """The weights of documents, the squared loss, and ||X||^2."""
        energy = checked_energy(X)
        weights = self._room(X)
        work = partial(_explain_rows, self, X, weights)
        losses = engine.map(work, even_blocks(X.shape[0], ROWS_PER_BLOCK))
        return Explained(weights, energy + sum(losses, 0.0), energy)

    def _room(self, X: csr_array) -> Floats:
        return np.zeros((X.shape[0], len(self.gram)), X.dtype)


def fixed(topics: Factor, solver: RowSolver, engine: Engine) -> FixedTopics:
    """Prepare topics (terms × topics) for documents."""
    gram = whole_gram(topics, engine)
    return FixedTopics(Projector(topics), gram, solver.prepare(gram, topics.dtype), solver)


def _solve_rows(topics: FixedTopics, X: csr_array, out: Floats, rows: Block) -> Floats:
    """Solve for these documents; returns their products with the topics."""
    products = topics.project(X, rows)
    topics.solver.solve(topics.prepared, products, out[rows.start : rows.stop])
    return products


def _explain_rows(topics: FixedTopics, X: csr_array, out: Floats, rows: Block) -> float:
    """Solve for these documents; returns their loss, less their squares."""
    products = _solve_rows(topics, X, out, rows)
    weights = out[rows.start : rows.stop]
    exact = weights.astype(np.float64)
    return float(np.vdot(exact @ topics.gram, exact)) - 2 * float(inner(products, weights))


class ClassJudge(NamedTuple):
    """What tells how well the topics of a class, with the shared ones, explain a document."""

    project: Projector
    """Of the class's own topics."""
    gram: Floats
    prepared: Floats


class FixedClasses:
    """What documents need of shared topics and those of their class, prepared class by class.

    Parameters
    ----------
    components : csr_array or ndarray of shape (n_topics, n_terms)
        Shared topics first, then those of each class.
    n_shared : int
    places : sequence of slice
        Where the topics of each class stand.
    solver : RowSolver
    """

    def __init__(self, components: Factor, n_shared: int, places: Sequence[slice], solver: RowSolver) -> None:
        self._components, self._places, self._solver = components, places, solver
        self._shared = transposed(components[:n_shared])
        self._project = Projector(self._shared)
        self._topics, self._judges = Recent(CLASSES_KEPT), Recent(CLASSES_KEPT)

    def of(self, klass: int) -> FixedTopics:
        """What documents of a class need; -1 stands for the shared topics alone."""
        found: FixedTopics = self._topics.get(klass, partial(self._fixed, klass))
        return found

    def _own(self, klass: int) -> Factor:
        return transposed(self._components[self._places[klass]])

    def _fixed(self, klass: int) -> FixedTopics:
        topics = self._shared if klass < 0 else join(self._shared, self._own(klass))
        # an engine that is not at work: the pieces of the Gram matrix are the same, one after the other
        return fixed(topics, self._solver, Threads(1))

    def _judge(self, klass: int) -> ClassJudge:
        own = self._own(klass)
        gram = whole_gram(join(self._shared, own), Threads(1))
        return ClassJudge(Projector(own), gram, self._solver.prepare(gram, own.dtype))

    def errors(self, X: csr_array, engine: Engine) -> NDArray[np.float64]:
        """The least objective of every document with the topics of each class: documents × classes."""
        checked_energy(X)
        classes = range(len(self._places))
        # those that are kept do not wait for threads
        over = map if len(classes) <= CLASSES_KEPT else engine.map
        judges = list(over(lambda p: self._judges.get(p, partial(self._judge, p)), classes))
        work = partial(_class_errors, X, self._project, judges, self._solver)
        parts = engine.map(work, even_blocks(X.shape[0], ROWS_PER_BLOCK))
        errors = np.concatenate([np.zeros((0, len(judges))), *parts])
        return np.maximum(errors + document_norms(X)[:, None], 0)


def _class_errors(
    X: csr_array, shared: Projector, judges: Sequence[ClassJudge], solver: RowSolver, rows: Block
) -> NDArray[np.float64]:
    common = shared(X, rows)
    errors = np.empty((rows.size, len(judges)))
    for p, (project, gram, prepared) in enumerate(judges):
        products = np.concatenate([common, project(X, rows)], axis=1)
        weights = np.zeros_like(products)
        solver.solve(prepared, products, weights)
        exact = weights.astype(np.float64)
        penalty = solver.alpha * (np.abs(exact) ** solver.power).sum(1)
        errors[:, p] = ((exact @ gram - 2 * products) * exact).sum(1) + penalty
    return errors


def join(shared: Factor, own: Factor) -> Factor:
    """Shared topics and a class's side by side (terms × topics)."""
    if isinstance(own, np.ndarray):
        return np.concatenate([shared, own], axis=1)
    return csr_array(hstack([shared, own], format="csr"))
