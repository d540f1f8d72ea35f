"""Vectors of your own: those of documents, compared by their cosines, and those of queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.errors import InputError, InputWarning, Parameter, SearchError

Floats = NDArray[np.float32]
Encoder = Callable[[str], Any]

# Vectors that are read at a time, so that those in a file are never in memory all at once.
_BLOCK = 1 << 14


class VectorMatcher:
    """Vectors of documents by an encoder of your own, compared by their cosines.

    Parameters
    ----------
    vectors : array of shape (n_documents, n_dimensions), or path
        One for each document, in their order. A ``.npy`` file, or an array that is mapped (``np.load(path,
        mmap_mode="r")``), stays where it is, and is read block by block.
    n_documents : int
        How many there must be.
    """

    def __init__(self, vectors: Any, n_documents: int) -> None:
        if isinstance(vectors, str | Path):
            vectors = read_vectors(vectors)
        if not isinstance(vectors, np.ndarray):
            vectors = np.asarray(vectors)
        if vectors.ndim != 2 or vectors.shape[0] != n_documents or vectors.dtype.kind not in "fiu":
            raise SearchError(
                Parameter("vectors"),
                f" must be one row of numbers for each of {n_documents:,} documents, not {vectors.dtype} of "
                f"shape {vectors.shape}",
            )
        self.vectors = vectors
        self._norms = np.empty(n_documents, np.float32)
        for start in range(0, n_documents, _BLOCK):
            block = np.asarray(vectors[start : start + _BLOCK], np.float32)
            if not np.isfinite(block).all():
                raise SearchError(
                    Parameter("vectors"), f" has a value that is not finite after row {start:,}"
                )
            self._norms[start : start + _BLOCK] = np.linalg.norm(block, axis=1)

    def query(self, vector: Any) -> Floats:
        """A vector of a query, of length one (or zero), checked."""
        given = np.asarray(vector, np.float32)
        if given.shape != (self.vectors.shape[1],) or not np.isfinite(given).all():
            raise SearchError(
                Parameter("vector"),
                f" must be {self.vectors.shape[1]} finite numbers, as the documents have them",
            )
        norm = np.linalg.norm(given)
        return given / norm if norm > 0 else given

    def scores(self, query: Floats) -> Floats:
        """The cosine of each document with a query; zero for a vector of zeros."""
        found = np.empty(len(self._norms), np.float32)
        for start in range(0, len(found), _BLOCK):
            found[start : start + _BLOCK] = (
                np.asarray(self.vectors[start : start + _BLOCK], np.float32) @ query
            )
        np.divide(found, self._norms, out=found, where=self._norms > 0)
        return found


def read_vectors(path: str | Path) -> NDArray[Any]:
    """The array of a ``.npy`` file, which stays on disk."""
    try:
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise SearchError(f"{path}: does not exist; write it with numpy.save") from None
    except (ValueError, EOFError, OSError) as error:
        raise SearchError(
            f"{path}: is no .npy file of numbers ({error}); write one with numpy.save"
        ) from error
    if not isinstance(found, np.ndarray):
        raise SearchError(f"{path}: holds several arrays; write one with numpy.save")
    return found


def query_vector(
    documents: VectorMatcher | None,
    encoder: Encoder | None,
    query: str,
    vector: Any,
    stacklevel: int = 3,
) -> Floats | None:
    """The vector of a query, given or by the encoder; None without one, or for documents without vectors."""
    if documents is None:
        if vector is not None:
            raise SearchError("this index has no vectors to compare with: give ", Parameter("vectors"))
        return None
    if vector is None:
        if encoder is None:
            unlikely = InputError(
                "this index has vectors, but the query has none, so only words and topics count: give ",
                Parameter("vector"),
                ", or the index an ",
                Parameter("encoder"),
            )
            warnings.warn(InputWarning(unlikely), stacklevel=stacklevel)
            return None
        vector = encoder(query)
    return documents.query(vector)


def query_vectors(
    documents: VectorMatcher | None, encoder: Encoder | None, queries: Mapping[str, str], vectors: Any
) -> list[Floats] | None:
    """The vectors of queries; see `SearchIndex.query_vectors`."""
    if vectors is None:
        found = [query_vector(documents, encoder, query, None, 4) for query in queries.values()]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else None
    if documents is None or len(vectors) != len(queries):
        n_given = len(vectors)
        raise SearchError(
            f"there are {n_given:,} vectors for {len(queries):,} queries, of an index "
            f"{'without' if documents is None else 'with'} vectors: give one for each query, in their "
            "order"
        )
    return [documents.query(vector) for vector in vectors]


def new_vectors(
    documents: VectorMatcher | None, encoder: Encoder | None, texts: Sequence[str], vectors: Any
) -> Floats | None:
    """The vectors of documents that come, as the others have them; None for an index without."""
    if documents is None:
        if vectors is not None:
            raise SearchError("this index has no vectors, so new documents need none: leave them out")
        return None
    if not texts:
        return None
    if vectors is None:
        if encoder is None:
            raise SearchError(
                "this index has vectors, so new documents need them, too: give ", Parameter("vectors")
            )
        vectors = [encoder(text) for text in texts]
    n_dimensions = documents.vectors.shape[1]
    found = VectorMatcher(vectors, len(texts))
    if found.vectors.shape[1] != n_dimensions:
        raise SearchError(
            Parameter("vectors"),
            f" must have {n_dimensions} numbers for each document, not {found.vectors.shape[1]}",
        )
    return np.asarray(found.vectors, np.float32)
