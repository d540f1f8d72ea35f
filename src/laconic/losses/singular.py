"""Singular vectors and values of documents in shards, by products over documents and over terms alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from laconic.engines import Block, Engine, Shard, Shards, even_blocks, even_rows, weighted_blocks
from laconic.engines.shards import allot, row_range, writes
from laconic.engines.sums import add
from laconic.losses.factor import Floats, Projector, project_rows, weighed_terms
from laconic.losses.memory import Sizes

TERMS_PER_BLOCK, ENTRIES_PER_BLOCK = 512, 1 << 15
# Terms whose products with each other are added up in float64 at a time.
TERMS_PER_PIECE = 2048
# Entries of documents that are multiplied with a vector at a time; at least so many for every term, as each
# piece gives a sum over all terms.
ENTRIES_PER_PIECE, ENTRIES_PER_TERM = 1 << 18, 2
# Randomised subspace iteration (Halko, Martinsson, Tropp): rounds, of which all but the first are steps of
# Chebyshev's polynomials; and vectors beyond those asked for, as many again within limits. More vectors make
# for fewer rounds, and cost less: a pass over the documents takes hardly longer for 48 than for 30.
ROUNDS = 4
FEWEST_SPARE, MOST_SPARE = 28, 64
# Widths that kernels are fast with.
WIDTHS = 16
# The largest singular value of texts stands far above the others: a few vectors do (Lanczos), and a third to
# a half fewer passes over the documents than with scipy's twenty.
LANCZOS, EXACTNESS = 8, 1e-10
# So few terms that their products with each other are made at once.
FEW_TERMS = 32


class Singular(NamedTuple):
    """Singular values, falling, and right singular vectors (terms × vectors)."""

    values: NDArray[np.float64]
    right: Floats


def basis_width(n_vectors: int) -> int:
    """How many vectors there are while some are looked for.

    >>> basis_width(20), basis_width(100)
    (48, 176)
    """
    spare = min(max(n_vectors, FEWEST_SPARE), MOST_SPARE)
    return -(-(n_vectors + spare) // WIDTHS) * WIDTHS


def singular_vectors(shards: Shards, engine: Engine, n_vectors: int, random: Any) -> Singular:
    """The leading singular vectors, approximately. Overwrites the shards' weights.

    Vectors are where the shards have room for arrays, and so are the weights; besides, a few blocks of terms
    are in memory.
    """
    n_vectors = min(n_vectors, *shards.shape)
    width = min(basis_width(n_vectors), *shards.shape)
    room, pieces = shards[0].room, even_blocks(shards.n_terms, TERMS_PER_PIECE)
    basis = room.empty((shards.n_terms, width), shards.dtype)
    generator = np.random.default_rng(random.randint(2**31))
    for piece in pieces:
        # not normal numbers, which take longer to draw than a pass takes
        basis[piece.start : piece.stop] = generator.random((piece.size, width), np.float32) - np.float32(0.5)
    former = room.empty(basis.shape, shards.dtype)
    for number in range(ROUNDS):
        gram = _gram(project(shards, engine, basis))
        evening = _evening(gram, shards.dtype)
        damped = _least_value(basis, evening, engine, pieces) if number else 0.0
        even = evening.astype(shards.dtype)
        # the weights have all that a round takes from the last one
        for _ in engine.map(partial(_step_aside, basis, former, even, damped), pieces):
            continue
        _turn_back(shards, engine, even, basis)
    del former
    # The basis need not be orthogonal for its space to be: Rayleigh and Ritz in the metric of its products.
    metric = np.zeros((width, width))
    for part in engine.map(partial(_exact_gram, basis), pieces):
        metric += part
    even = _evening(metric, np.float64)
    values, vectors = np.linalg.eigh(even.T @ _gram(project(shards, engine, basis)) @ even)
    order = np.argsort(-values, kind="stable")[:n_vectors]
    right = room.empty((shards.n_terms, n_vectors), shards.dtype)
    turn = (even @ vectors[:, order]).astype(shards.dtype)
    for piece in pieces:
        np.matmul(basis[piece.start : piece.stop], turn, out=right[piece.start : piece.stop])
    return Singular(np.sqrt(np.maximum(values[order], 0)), right)


def _least_value(basis: Floats, evening: Floats, engine: Engine, pieces: list[Block]) -> float:
    """The least squared singular value of documents in the space of a basis (Ritz), roughly.

    The documents' products with the basis are orthogonal once they are evened.
    """
    if not evening.any(axis=0).all():
        return 0.0
    metric = np.zeros_like(evening)
    for part in engine.map(partial(_rough_gram, basis), pieces):
        metric += part
    return 1 / float(np.linalg.eigvalsh(evening.T @ metric @ evening)[-1])


def _rough_gram(basis: Floats, rows: Block) -> Floats:
    part = basis[rows.start : rows.stop]
    return np.asarray(part.T @ part)


def _step_aside(basis: Floats, former: Floats, evening: Floats, damped: float, rows: Block) -> None:
    """All of a Chebyshev step but X'X times the basis, which is to be added before the basis is evened.

    The polynomial stays small for values up to `damped`, and grows fast beyond: what no spare vector covers
    fades sooner than by powers. All values below are damped alike, so that a value which is too small only
    takes longer.
    """
    now, before = basis[rows.start : rows.stop], former[rows.start : rows.stop]
    if damped:
        scalar = basis.dtype.type
        evened = now @ evening
        before *= scalar(-(damped**2) / 16)
        now *= scalar(-damped / 2)
        now += before
        before[:] = evened
    else:
        now[:] = before[:] = 0


def _gram(parts: list[Any]) -> NDArray[np.float64]:
    return np.asarray(np.sum([part for part in parts if part is not None], axis=0))


def _evening(gram: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """What makes vectors with these products orthogonal and of length one, as far as a type can tell."""
    values, turn = np.linalg.eigh(gram)
    alive = values > np.finfo(dtype).eps * values[-1]
    turn[:, alive] /= np.sqrt(values[alive])
    turn[:, ~alive] = 0
    return turn


def _exact_gram(basis: Floats, rows: Block) -> NDArray[np.float64]:
    part = basis[rows.start : rows.stop].astype(np.float64)
    return np.asarray(part.T @ part)


def singular_memory(sizes: Sizes) -> int:
    """What that takes in bytes: the basis, the vectors, and weights for the spare vectors, too."""
    width = min(basis_width(sizes.n_topics), sizes.n_documents, sizes.n_terms)
    spare = max(0, width - sizes.n_topics) * sizes.n_documents
    return (2 * sizes.n_terms * width + spare) * sizes.itemsize


def project(shards: Shards, engine: Engine, basis: Floats) -> list[Any]:
    """Make the products of documents with a basis (terms × vectors) their weights; returns W'W by class."""
    engine.each(shards, _make_room, basis.shape[1])
    return engine.documents(shards, project_rows, Projector(basis), even_rows)


@writes("weights")
def _make_room(shard: Shard, width: int) -> None:
    """Make room for weights that are about to be written, unless there is some."""
    if shard.weights.shape != (shard.n_documents, width):
        allot(shard, width)


def _turn_back(shards: Shards, engine: Engine, evening: Floats, out: Floats) -> None:
    """Add X'W, and even the sum."""
    blocks = even_blocks(shards.n_terms, max(TERMS_PER_BLOCK, ENTRIES_PER_BLOCK // out.shape[1]))
    for block, rows in zip(blocks, engine.terms(shards, blocks, _products, _joined, None), strict=True):
        place = out[block.start : block.stop]
        place += rows
        del rows  # as large as what comes next
        place[:] = place @ evening


def _products(shard: Shard, block: Block, message: Any) -> Floats:
    return weighed_terms(shard, *shard.columns.find(np.arange(*block)))


def _joined(block: Block, sums: Iterable[Floats | None], message: Any) -> Floats:
    return np.asarray(reduce(add, sums))


def largest_singular_values(shards: Shards, engine: Engine) -> NDArray[np.float64]:
    """The spectral norm of every class's documents, from a fixed start, so that it is always the same."""
    return np.array([_spectral_norm(Shards(own), engine) for own in _classes(shards)])


def _classes(shards: Shards) -> list[list[Shard]]:
    classes = (shards.of_class(klass) for klass in range(shards.n_classes))
    # each as if it were the only one
    return [[shard.of_class(0) for shard in members] for members in classes if members]


def _largest(shard: Shard, _: Any) -> float:
    """The largest absolute entry."""
    data = shard.X.data
    return max(float(data.max(initial=0)), -float(data.min(initial=0)))


def _spectral_norm(shards: Shards, engine: Engine) -> float:
    largest = max(engine.each(shards, _largest, None))
    if largest == 0:
        return 0.0
    if shards.n_terms <= FEW_TERMS:
        (gram,) = engine.totals(shards, _dense_gram, largest)
        return largest * float(np.sqrt(max(0.0, np.linalg.eigvalsh(gram)[-1])))
    size, product = shards.n_terms, _there_and_back
    if shards.n_documents < size:
        size, product = shards.n_documents, _back_and_there
    if size <= FEW_TERMS:
        gram = np.stack([product(shards, engine, largest, unit) for unit in np.eye(size)])
        return largest * float(np.sqrt(max(0.0, np.linalg.eigvalsh((gram + gram.T) / 2)[-1])))
    operator = LinearOperator((size, size), matvec=partial(product, shards, engine, largest), dtype=float)
    start = np.random.RandomState(0).standard_normal(size)
    found = eigsh(operator, 1, v0=start, ncv=LANCZOS, tol=EXACTNESS, return_eigenvectors=False)
    return largest * float(np.sqrt(max(0.0, found[0])))


def _there_and_back(shards: Shards, engine: Engine, largest: float, vector: Floats) -> Floats:
    """X'Xv, scaled so that squares stay in range."""
    (total,) = engine.documents(shards, _gram_product, (vector, largest), _pieces)
    return np.asarray(total)


def _back_and_there(shards: Shards, engine: Engine, largest: float, vector: Floats) -> Floats:
    """XX'v, alike; `vector` has an entry for every document, shard after shard."""
    begins = np.cumsum([0, *(shard.n_documents for shard in shards)]).tolist()
    places = {int(shard.documents[0]): begin for shard, begin in zip(shards, begins[:-1], strict=True)}
    (back,) = engine.documents(shards, _back, (places, vector.ravel(), largest), _pieces)
    (forth,) = engine.documents(shards, _forth, (places, begins[-1], back, largest), _pieces)
    return np.asarray(forth)


def _back(shard: Shard, rows: Block, message: tuple[dict[int, int], Floats, float]) -> Floats:
    places, vector, largest = message
    begin = places[int(shard.documents[0])]
    own = vector[begin + rows.start : begin + rows.stop]
    return np.asarray(row_range(shard.X, rows).T @ own / largest)


def _forth(shard: Shard, rows: Block, message: tuple[dict[int, int], int, Floats, float]) -> Floats:
    places, n_documents, back, largest = message
    begin, found = places[int(shard.documents[0])], np.zeros(n_documents)
    found[begin + rows.start : begin + rows.stop] = row_range(shard.X, rows) @ back / largest
    return found


def _gram_product(shard: Shard, rows: Block, message: tuple[Floats, float]) -> Floats:
    vector, largest = message
    own = row_range(shard.X, rows)
    return np.asarray(own.T @ (own @ vector.ravel() / largest) / largest)


def _pieces(shard: Shard) -> list[Block]:
    """A few documents at a time: scipy makes a float64 copy of numbers that it multiplies with such."""
    n_documents, n_terms = shard.X.shape
    return weighted_blocks(shard.X.indptr, n_documents, max(ENTRIES_PER_PIECE, ENTRIES_PER_TERM * n_terms))


def _dense_gram(shard: Shard, largest: float) -> Floats:
    scaled = shard.X.astype(np.float64) / largest
    return np.asarray((scaled.T @ scaled).toarray())
