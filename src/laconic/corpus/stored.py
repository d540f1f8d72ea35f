"""The counts of a saved corpus by its path: whoever sees the directory loads the documents that it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.corpus.kind import CORPUS
from laconic.engines.blocks import Block
from laconic.engines.shards import row_range
from laconic.storage.arrays import index_problem, read_array, write_array
from laconic.storage.reading import read_file
from laconic.storage.writing import write_file

if TYPE_CHECKING:
    from laconic.matrices import CSR
    from laconic.storage.reading import StoredDirectory

Change = Callable[[csr_array], csr_array]


@dataclass(frozen=True)
class StoredCounts:
    """Documents of a saved corpus, as a `laconic.engines.stored.Collection`.

    Parameters
    ----------
    directory : str
        Of the corpus.
    files : tuple
        The name, the size and the checksum of the files of the matrix by rows: data, indices, row pointers.
    shape : tuple of int
        Numbers of documents and of terms that were counted.
    changes : tuple of callable, default=()
        What is made of the counts, row by row, one after the other.
    """

    directory: str
    files: tuple[tuple[str, int, str], ...]
    shape: tuple[int, int]
    changes: tuple[Change, ...] = ()

    @classmethod
    def of(cls, stored: StoredDirectory, described: Any, shape: Sequence[int]) -> Self:
        """Those of a directory whose document was read; `described` is its matrix by rows."""
        names = [described[part] for part in ("data", "indices", "indptr")]
        files = tuple((name, *stored.listed[name]) for name in names)
        return cls(str(stored.path.absolute()), files, (int(shape[0]), int(shape[1])))

    @classmethod
    def written(cls, counts: CSR, directory: Path) -> Self:
        """Write the counts of a corpus that was not saved, for as long as a fit needs them."""
        files = [
            write_file(directory, part, "npy", partial(write_array, getattr(counts, part)))
            for part in ("data", "indices", "indptr")
        ]
        n_documents, n_terms = counts.shape
        return cls(str(directory.absolute()), tuple(files), (n_documents, n_terms))

    def transformed(self, change: Change) -> Self:
        """The same documents with another matrix, made row by row of theirs."""
        return replace(self, changes=(*self.changes, change))

    def load(self, documents: NDArray[Any]) -> csr_array:
        """Some documents, by their numbers.

        Raises
        ------
        CorpusError
            If a file is missing or damaged; it is named.
        """
        counts = _mapped(self.directory, self.files, self.shape)
        numbers = np.asarray(documents)
        neighbours = numbers.size > 0 and bool((np.diff(numbers) == 1).all())
        # copies: what is mapped is read-only, and kernels are compiled for arrays that are not
        if neighbours:
            # not sliced by scipy, which leaves out entries beyond the last column before they are checked
            X = row_range(counts, Block(int(numbers[0]), int(numbers[-1]) + 1)).copy()
        else:
            X = csr_array(counts[numbers])
        self._check(X)
        return self._changed(X)

    def _check(self, X: csr_array) -> None:
        problem = index_problem(X.indices, X.indptr, X.shape[1])
        place = self.files[1]
        if problem is None and not (np.isfinite(X.data).all() and X.data.min(initial=1) > 0):
            problem, place = "counts are not positive numbers", self.files[0]
        if problem is not None:
            raise CORPUS.error(f"{Path(self.directory) / place[0]}: is damaged ({problem}); {CORPUS.restore}")
        X.has_canonical_format = True

    def _changed(self, X: csr_array) -> csr_array:
        for change in self.changes:
            X = change(X)
        return X

    @cached_property
    def _like(self) -> csr_array:
        """What becomes of a document without words: it has all columns, and the right type."""
        return self._changed(csr_array((1, self.shape[1]), dtype=np.float32))

    @property
    def n_terms(self) -> int:
        """Number of terms, after all changes."""
        return int(self._like.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries, after all changes."""
        return np.dtype(self._like.dtype)

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("directory", "files", "shape", "changes")}


@lru_cache(maxsize=4)
def _mapped(directory: str, files: tuple[tuple[str, int, str], ...], shape: tuple[int, int]) -> CSR:
    """The counts of all documents, mapped: what is not asked for is not read."""
    # without checksums, for which each process would have to read all documents
    parts = [
        read_array(name, read_file(Path(directory), CORPUS, name, size, checksum, verify=False))
        for name, size, checksum in files
    ]
    counts = csr_array(tuple(parts), shape=shape)
    counts.has_canonical_format = True
    return counts
