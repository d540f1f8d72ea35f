"""Folding documents in where topics are fixed: the document half step of the squared loss, to its end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shard, Shards, even_blocks, even_rows
from laconic.engines.shards import ROWS_PER_BLOCK
from laconic.kernels.rows import inner
from laconic.losses.factor import Factor, Floats, Projector, whole_gram
from laconic.losses.squared.rows import RowSolver
from laconic.losses.totals import checked_energy, squared_norms


class Fixed(NamedTuple):
    """What documents need of topics that are fixed."""

    project: Projector
    gram: Floats
    prepared: Floats
    solver: RowSolver


def fixed(topics: Factor, solver: RowSolver, engine: Engine) -> Fixed:
    """Prepare topics (terms × topics) for documents."""
    gram = whole_gram(topics, engine)
    return Fixed(Projector(topics), gram, solver.prepare(gram, topics.dtype), solver)


def fold_in(X: csr_array, topics: Factor, solver: RowSolver, engine: Engine) -> tuple[Floats, float, float]:
    """The weights of documents for fixed topics (terms × topics), the squared loss, and ||X||^2."""
    energy = checked_energy(X)
    shards = Shards.whole(X)
    shards[0].allot(topics.shape[1])
    (loss,) = engine.documents(shards, _fold_rows, fixed(topics, solver, engine), even_rows)
    return shards[0].weights, energy + (loss or 0.0), energy


def _fold_rows(shard: Shard, rows: Block, message: Fixed) -> float:
    """Solve for these documents; returns their loss, less their squares."""
    products = message.project(shard.X, rows)
    weights = shard.weights[rows.start : rows.stop]
    message.solver.solve(message.prepared, products, weights)
    exact = weights.astype(np.float64)
    return float(np.vdot(exact @ message.gram, exact)) - 2 * float(inner(products, weights))


def class_errors(
    X: csr_array,
    shared: Factor,
    own: Sequence[Factor],
    joined: Sequence[Factor],
    solver: RowSolver,
    engine: Engine,
) -> NDArray[np.float64]:
    """The least objective of every document with the topics of each class: documents × classes.

    `own` are the topics of the classes, `joined` the shared ones and those of each class side by side.
    """
    checked_energy(X)
    whole = [fixed(each, solver, engine) for each in joined]
    projects = [Projector(each) for each in own]
    work = partial(_class_errors, X, Projector(shared), projects, whole)
    parts = engine.map(work, even_blocks(X.shape[0], ROWS_PER_BLOCK))
    errors = np.concatenate([np.zeros((0, len(own))), *parts])
    return np.maximum(errors + squared_norms(X).documents[:, None], 0)


def _class_errors(
    X: csr_array, shared: Projector, own: Sequence[Projector], whole: Sequence[Fixed], rows: Block
) -> NDArray[np.float64]:
    common = shared(X, rows)
    errors = np.empty((rows.size, len(own)))
    for p, (project, (_, gram, prepared, solver)) in enumerate(zip(own, whole, strict=True)):
        products = np.concatenate([common, project(X, rows)], axis=1)
        weights = np.zeros_like(products)
        solver.solve(prepared, products, weights)
        exact = weights.astype(np.float64)
        penalty = solver.alpha * (np.abs(exact) ** solver.power).sum(1)
        errors[:, p] = ((exact @ gram - 2 * products) * exact).sum(1) + penalty
    return errors
