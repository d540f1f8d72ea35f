"""Directions of documents beyond the basis: where earlier documents can go when later ones come.

What is kept of a batch is its products with some orthonormal directions. With the basis U alone, later bases
could only turn it; the further directions are those in which documents have most outside of it. They are the
leading ones of a Krylov space from a random start, which takes only products over documents and terms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.engines import Block, Engine, Shard, Shards, even_blocks, even_rows
from laconic.engines.shards import writes
from laconic.losses.factor import Floats, Projector
from laconic.losses.orthogonal.shares import TermMessage, basis_products, whole_products

# Directions kept besides each topic's own, and blocks of the Krylov space, each as wide as they are many.
# Chosen on bbc_news (118 topics, ten batches): a pass ends 1.80 % above a fit of all documents without
# further directions, 1.06 % with half of one for each topic, 0.65 % with one. The leading directions
# themselves would give 0.91 and 0.65 %, and a plain random projection only 1.59 and 1.49 %.
FURTHER_PER_TOPIC, KRYLOV_BLOCKS = 1, 3
TERMS_PER_PIECE = 2048
# Of directions that have been orthonormal: one that has lost half its square was not outside of the others.
MOSTLY_OUTSIDE = 0.5


class FurtherDirections:
    """What the rows Z of a batch, stand-ins of earlier documents and new ones, have outside of a basis.

    Parameters
    ----------
    shards : Shards
        Documents; their weights are the products V with topics, and will be overwritten.
    blocks : list of arrays
        Terms whose products are made together.
    message : TermMessage
        What V and the stand-ins make a basis with.
    engine : Engine
    """

    def __init__(
        self, shards: Shards, blocks: list[NDArray[Any]], message: TermMessage, engine: Engine
    ) -> None:
        self._shards, self._blocks, self._message, self._engine = shards, blocks, message, engine
        own = self._of_documents(turned_weights, message.whitening)
        before = own[:0] if message.before is None else message.before @ message.whitening
        self._n_before = len(before)
        self._basis = np.concatenate([before, own])

    def products(self, count: int) -> Floats:
        """Z' times `count` leading directions (terms × directions), or fewer if there are no more."""
        space, images = self._krylov(count)
        reach = space.T @ images
        values, turn = np.linalg.eigh((reach + reach.T).astype(np.float64) / 2)
        leading = np.argsort(-values, kind="stable")[:count]
        leading = leading[values[leading] > np.finfo(reach.dtype).eps * values.max(initial=0)]
        return self._back(space @ turn[:, leading].astype(space.dtype))

    def _krylov(self, width: int) -> tuple[Floats, Floats]:
        """Orthonormal columns outside of the basis, and their products with ZZ', Z all rows of the batch."""
        # from a fixed start, so that it is always the same
        drawn = np.random.default_rng(0).standard_normal((len(self._basis), width), np.float32)
        images = drawn.astype(self._basis.dtype)
        taken, blocks, reached = self._basis, [self._basis[:, :0]], [self._basis[:, :0]]
        for _ in range(KRYLOV_BLOCKS):
            block = _orthonormal(images, taken)
            if block.shape[1] == 0:
                break
            images = self._forth(self._back(block))
            blocks.append(block)
            reached.append(images)
            taken = np.hstack([taken, block])
        return np.hstack(blocks), np.hstack(reached)

    def _back(self, columns: Floats) -> Floats:
        """Z' times columns: terms × columns."""
        self._engine.each(self._shards, take_weights, columns[self._n_before :])
        message = self._message._replace(before=columns[: self._n_before])
        out = np.zeros((self._shards.n_terms, columns.shape[1]), columns.dtype)
        parts = self._engine.terms(self._shards, self._blocks, basis_products, whole_products, message)
        for terms, part in zip(self._blocks, parts, strict=True):
            out[terms] = part
        return out

    def _forth(self, vectors: Floats) -> Floats:
        """Z times vectors (terms × vectors)."""
        before = np.zeros((self._n_before, vectors.shape[1]), vectors.dtype)
        if self._message.stand_ins is not None:
            work = partial(_cross, self._message.stand_ins, vectors)
            for part in self._engine.map(work, even_blocks(len(vectors), TERMS_PER_PIECE)):
                before += part
        return np.concatenate([before, self._of_documents(projected, Projector(vectors))])

    def _of_documents(self, function: Callable[[Shard, Block, Any], list[Floats]], message: Any) -> Floats:
        """What a function makes of all documents, in their order in the collection."""
        (parts,) = self._engine.documents(self._shards, function, message, even_rows)
        found = np.concatenate(parts)
        found[np.concatenate([shard.documents for shard in self._shards])] = found.copy()
        return found


def _orthonormal(columns: Floats, taken: Floats) -> Floats:
    """An orthonormal basis of what columns have outside of `taken`, whose columns are orthonormal."""
    # squares of large or small numbers might leave their type
    columns = columns / (np.abs(columns).max(initial=0) or 1)
    noise = float(np.finfo(columns.dtype).eps * np.square(columns, dtype=np.float64).sum())
    # twice, as the first time leaves roundings
    for least in (noise, MOSTLY_OUTSIDE):
        columns = columns - taken @ (taken.T @ columns)
        values, turn = np.linalg.eigh((columns.T @ columns).astype(np.float64))
        kept = values > least
        columns = columns @ (turn[:, kept] / np.sqrt(values[kept])).astype(columns.dtype)
    return columns


@writes("weights")
def take_weights(shard: Shard, columns: Floats) -> None:
    """Make columns with an entry for every document of the collection the weights."""
    shard.weights = shard.room.copy(columns[shard.documents])


def turned_weights(shard: Shard, rows: Block, turn: Floats) -> list[Floats]:
    """The weights of these documents, turned: lists add up to longer ones."""
    return [shard.weights[rows.start : rows.stop] @ turn]


def projected(shard: Shard, rows: Block, project: Projector) -> list[Floats]:
    """The products of these documents with vectors."""
    return [project(shard.X, rows)]


def _cross(one: Floats, other: Floats, rows: Block) -> Floats:
    return np.asarray(one[rows.start : rows.stop].T @ other[rows.start : rows.stop])
