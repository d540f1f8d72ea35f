"""Topics that lost all their words are given to documents that the basis lacks most.

The part of a document that is orthogonal to the basis becomes a new direction of it; what it explains is
known exactly before it is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shard, Shards, even_rows
from laconic.losses.factor import Floats
from laconic.losses.orthogonal.shares import TermMessage, basis_products, whole_products

# Documents that are looked at for each topic that died.
CANDIDATES, FEWEST_CANDIDATES, MOST_CANDIDATES = 4, 16, 256
# A document of which less than this share is outside of the basis has no direction of its own.
INSIDE = 1e-6


class Basis(NamedTuple):
    """The basis U = X A' G^(-1/2), by what it is made of: documents, topics, and G^(-1/2)."""

    shards: Shards
    blocks: list[NDArray[Any]]
    topics: csr_array
    whitening: Floats
    message: TermMessage


def revived(
    basis: Basis, topics: csr_array, dead: NDArray[Any], by_document: NDArray[np.float64], engine: Engine
) -> tuple[csr_array, int]:
    """Give topics without words to documents that the basis lacks most; tells how many were revived."""
    shards = basis.shards
    (parts,) = engine.documents(shards, leverage, basis.message.whitening, even_rows)
    inside = np.empty(shards.n_documents)
    inside[np.concatenate([shard.documents for shard in shards])] = np.concatenate(parts)
    lacking = np.maximum(1 - inside, 0) * by_document
    count = min(MOST_CANDIDATES, max(CANDIDATES * dead.size, FEWEST_CANDIDATES))
    candidates = np.argsort(-lacking, kind="stable")[:count]
    candidates = candidates[lacking[candidates] > INSIDE * by_document[candidates]]
    if candidates.size == 0:
        return topics, 0
    shrunk = _directions(basis, engine.sample(shards, candidates), dead.size, engine)
    useful = np.flatnonzero(shrunk.any(axis=0))
    added = np.zeros(topics.shape, shards.dtype)
    added[:, dead[: useful.size]] = shrunk[:, useful]
    return csr_array(topics + csr_array(added)), useful.size


def leverage(shard: Shard, rows: Block, whitening: Floats) -> list[Floats]:
    """The squared lengths of these documents' rows of the basis: lists add up to longer ones."""
    return [np.square(shard.weights[rows.start : rows.stop] @ whitening, dtype=np.float64).sum(1)]


def _directions(basis: Basis, rows: csr_array, most: int, engine: Engine) -> Floats:
    """Shrunk topics of new directions, orthogonal to U and each other: the best of some documents."""
    shards = basis.shards
    places = (rows @ basis.topics).toarray().astype(np.float64) @ basis.whitening
    lengths = np.sqrt(np.maximum(1 - np.square(places).sum(1), INSIDE))
    gains = np.zeros(len(lengths))
    for part in _outside(basis, rows, places, np.diag(1 / lengths), engine):
        gains += np.square(part, dtype=np.float64).sum(0)
    order = np.argsort(-gains, kind="stable")
    order = order[gains[order] > 0][:most]
    # the parts of documents that are orthogonal to the basis have the products I - WW' with each other
    gram = np.eye(len(order)) - places[order] @ places[order].T
    kept = _independent(gram)
    best = order[kept]
    shrunk = np.zeros((shards.n_terms, len(best)), shards.dtype)
    if len(best) == 0:
        return shrunk
    lower = np.linalg.cholesky(gram[np.ix_(kept, kept)])
    mix = solve_triangular(lower, np.eye(len(best)), lower=True).T
    parts = _outside(basis, csr_array(rows[best]), places[best], mix, engine)
    for terms, part in zip(basis.blocks, parts, strict=True):
        shrunk[terms] = part
    return shrunk


class Outside(NamedTuple):
    """Documents (as columns), their places in the basis, how to mix them, and what blocks need otherwise."""

    documents: csr_array
    places: Floats
    mix: Floats
    message: TermMessage


def _outside(basis: Basis, rows: csr_array, places: Floats, mix: Floats, engine: Engine) -> Iterable[Floats]:
    """What documents have beyond the basis, mixed into directions and shrunk, block of terms by block."""
    message = Outside(csr_array(rows.T), basis.whitening @ places.T, mix, basis.message)
    return engine.terms(basis.shards, basis.blocks, basis_products, outside_rows, message)


def outside_rows(terms: NDArray[Any], sums: Iterable[Floats], message: Outside) -> Floats:
    """New directions at these terms, shrunk."""
    R = whole_products(terms, sums, message.message)
    outside = message.documents[terms].toarray().astype(np.float64) - R @ message.places
    return message.message.shrink(np.ascontiguousarray(outside @ message.mix, R.dtype), terms)


def _independent(gram: Floats) -> list[int]:
    """Rows, first come first served, that are far from the span of those before."""
    kept: list[int] = []
    for i in range(len(gram)):
        left = gram[i, i]
        if kept:
            own = gram[np.ix_(kept, kept)]
            left -= gram[i, kept] @ np.linalg.solve(own, gram[kept, i])
        if left > INSIDE:
            kept.append(i)
    return kept
