"""Room for the large arrays of a fit: in memory, or in files that are mapped.

What is mapped is the system's to keep or to write out: a fit over it takes what memory is free, and no more.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

SMALL = 1 << 20
"""Arrays of fewer bytes are in memory anyway."""


class Room:
    """Where arrays are made.

    Parameters
    ----------
    folder : path-like, optional
        Of the files that are mapped. They have no name, and are gone with the arrays, or with the process,
        however it ends. By default arrays are in memory.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Room(folder).full((2, 3), 0.5, np.float32)
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]], dtype=float32)
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = None if folder is None else Path(folder)

    @property
    def mapped(self) -> bool:
        """Whether arrays are in files."""
        return self.folder is not None

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of arbitrary content."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.folder is None or size < SMALL:
            return np.empty(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                # A mapped file with holes kills the process when the disk has no room to fill one.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                # kernels take plain arrays
                return np.asarray(np.memmap(file, dtype, "w+", shape=shape))
        except OSError as error:
            raise OSError(
                error.errno,
                f"{error.strerror} in {self.folder}, where data too large for memory is kept: free some "
                "space, or choose another folder",
            ) from error

    def full(self, shape: int | tuple[int, ...], value: float, dtype: DTypeLike) -> NDArray[Any]:
        """An array of one value."""
        found = self.empty(shape, dtype)
        found[...] = value
        return found

    def copy(self, array: NDArray[Any]) -> NDArray[Any]:
        """The same array here."""
        found = self.empty(array.shape, array.dtype)
        found[...] = array
        return found

    def matrix(self, X: csr_array) -> csr_array:
        """The same canonical matrix, with the arrays that are in memory moved here."""
        if not self.mapped:
            return X
        parts = [part if is_mapped(part) else self.copy(part) for part in (X.data, X.indices, X.indptr)]
        found = csr_array(tuple(parts), shape=X.shape)
        found.has_canonical_format = True
        return found


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array is over a file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


MEMORY = Room()
