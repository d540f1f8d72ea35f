"""Where Sparse LSA begins: documents or singular vectors, shrunk as the penalty does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from laconic.engines import Engine, Shards
from laconic.losses.factor import transposed
from laconic.losses.orthogonal.shrinkage import GroupSoft, Soft
from laconic.losses.rotation import pieces, varimax
from laconic.losses.singular import singular_vectors
from laconic.losses.starts import Start, document_topics
from laconic.losses.totals import norms


def first_topics(
    shards: Shards,
    engine: Engine,
    n_topics: int,
    start: Start,
    shrink: Soft | GroupSoft,
    *,
    rotate: str | None,
) -> csr_array:
    """First topics (terms × topics), by the name of the start."""
    by_document, by_term = norms(shards, engine)
    if start.init == "documents":
        # as long as documents are: at length one, those of a collection of short ones would start too large
        usable = np.flatnonzero(by_document)
        drawn = document_topics(shards, engine, n_topics, start.random(), usable)
        typical_length = shards.dtype.type(np.sqrt(by_document[usable].mean()) if usable.size else 1)
        first = transposed(drawn * typical_length)
    elif start.init == "identity":
        rows = engine.sample(shards, np.flatnonzero(by_document)[:n_topics])
        rows.resize((n_topics, shards.n_terms))
        first = transposed(rows)
    else:
        first = _singular(shards, engine, n_topics, start.random(), rotate, shrink.nonnegative)
    kept = shrunk(first, shrink)
    return kept if kept.nnz else _strongest_terms(by_term, n_topics, shards.dtype)


def _singular(
    shards: Shards, engine: Engine, n_topics: int, random: Any, rotate: str | None, nonnegative: bool
) -> NDArray[Any]:
    values, right = singular_vectors(shards, engine, n_topics, random)
    turn = np.diag(values)
    if rotate == "varimax":
        turn = turn @ varimax(right, turn)
    if nonnegative:
        leaning = np.zeros(len(values))
        for rows in pieces(right):
            # more above zero than below
            leaning += (rows @ turn).sum(0)
        turn = turn * np.where(leaning < 0, -1, 1)
    full = shards[0].room.full((shards.n_terms, n_topics), 0, shards.dtype)
    for rows, out in zip(pieces(right), pieces(full), strict=True):
        out[:, : len(values)] = rows @ turn
    return full


def _strongest_terms(squares: NDArray[np.float64], n_topics: int, dtype: Any) -> csr_array:
    """A term for each topic: if the penalty leaves nothing of documents, it may leave something of these."""
    terms = np.argsort(-squares, kind="stable")[:n_topics]
    terms = terms[squares[terms] > 0]
    lengths = np.sqrt(squares[terms]).astype(dtype)
    return csr_array((lengths, (terms, np.arange(terms.size))), shape=(len(squares), n_topics))


def shrunk(topics: Any, shrink: Soft | GroupSoft) -> csr_array:
    """Topics (terms × topics, sparse or dense) after the penalty's step."""
    parts = []
    for block in shrink.ranges:
        rows = topics[block.start : block.stop]
        rows = rows.copy() if isinstance(rows, np.ndarray) else np.ascontiguousarray(rows.toarray())
        parts.append(csr_array(shrink(rows, np.arange(*block))))
    return csr_array(vstack(parts, format="csr"))
