"""Arrays as ``.npy`` files of a stored directory, written and checked without a second copy in memory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory
from laconic.storage.writing import DirectoryWriter, Sink

if TYPE_CHECKING:
    from scipy import sparse

Array: TypeAlias = NDArray[Any]

BLOCK = 2**22
"""How many entries are looked at together where that takes memory."""

_DTYPES = {"<f4": "float32", "<f8": "float64", "<i4": "int32", "<i8": "int64", "|u1": "uint8", "|b1": "bool"}
_MAX_DIMENSIONS = 32
# What has no entries in one direction may be that long in another: loops go over it all the same.
_MAX_EMPTY = 2**20
_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64
_HEADER = re.compile(
    rb"\{'descr': '(?P<descr>[^']*)', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>(?:[0-9]{1,18}(?:, [0-9]{1,18})*,?)?)\), \} *\n"
)


def add_array(value: Array, name: str, writer: DirectoryWriter) -> str:
    """Store an array.

    Parameters
    ----------
    value : numpy.ndarray
        Finite; of float32, float64, int32, int64, uint8 or bool.
    name : str
        What it is called, in the file's name and in messages.
    writer : DirectoryWriter
        Receives the file.

    Returns
    -------
    str
        The file's name.
    """
    little = value.dtype.newbyteorder("<")
    if little.str not in _DTYPES or isinstance(value, np.ma.MaskedArray):
        raise writer.error(
            f"{name} is a {type(value).__name__} of dtype {value.dtype}, which cannot be "
            f"saved; use an array of {', '.join(_DTYPES.values())}, or a list of strings"
        )
    if not _all_finite(value):
        raise writer.error(f"{name} has NaN or infinite entries; only finite ones can be saved")
    array = np.asarray(value, dtype=little)
    return writer.add(name, "npy", lambda sink: write_array(array, sink))


def write_array(array: Array, sink: Sink) -> None:
    """Write an array in the form that `read_array` takes; `add_array` checks it before.

    Parameters
    ----------
    array : numpy.ndarray
        Finite, little-endian, and of a type that `add_array` takes.
    sink : Sink
        Receives the bytes.
    """
    np.lib.format.write_array(sink, array, version=(1, 0), allow_pickle=False)


def add_blocks(
    blocks: Iterable[Array], length: int, dtype: np.dtype[Any], name: str, writer: DirectoryWriter
) -> str:
    """Store a one-dimensional array that is made piece by piece.

    Parameters
    ----------
    blocks : iterable of numpy.ndarray
        Contiguous and finite; each is written before the next one is asked for, which may use its memory.
    length : int
        How many entries the blocks have together.
    dtype : numpy.dtype
        That of every block: float32, float64, int32, int64 or uint8.
    name : str
        What the array is called, in the file's name.
    writer : DirectoryWriter
        Receives the file.

    Returns
    -------
    str
        The file's name.
    """
    little = dtype.newbyteorder("<")

    def write(sink: Sink) -> None:
        header = {"descr": little.str, "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(sink, header)
        for block in blocks:
            sink.write(block.astype(little, copy=False).view(np.uint8).data)

    return writer.add(name, "npy", write)


def add_csr(value: sparse.csr_array[Any, Any], name: str, writer: DirectoryWriter) -> Json:
    """Store a CSR array, in canonical form, as three arrays.

    Parameters
    ----------
    value : scipy.sparse.csr_array
        Not changed.
    name : str
        What it is called, in the files' names and in messages.
    writer : DirectoryWriter
        Receives the files.

    Returns
    -------
    JSON value
        The files' names and the shape, for `read_csr`.
    """
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    shape: list[Json] = [int(n) for n in value.shape]
    problem = _layout_problem(value.data, value.indices, value.indptr, shape) or index_problem(
        value.indices, value.indptr, value.shape[1]
    )
    if problem:
        raise writer.error(f"{name} is not a valid CSR array ({problem}), so it is not saved")
    return {
        "data": add_array(value.data, f"{name}.data", writer),
        "indices": add_array(value.indices, f"{name}.indices", writer),
        "indptr": add_array(value.indptr, f"{name}.indptr", writer),
        "shape": shape,
    }


def read_array(file: Json, stored: StoredDirectory) -> Array:
    """Read one array without copying or executing anything: an allowed dtype, finite, of the file's size.

    Parameters
    ----------
    file : str
        The file's name, as found in the document.
    stored : StoredDirectory
        Holds the file. Without ``verify`` only the header is checked, and nothing else is read.

    Returns
    -------
    numpy.ndarray
        Over the file's content: writable if that is in memory, read-only if it is mapped.
    """
    content = stored.take(file)
    start = len(_MAGIC) + 2
    end = start + int.from_bytes(content[len(_MAGIC) : start], "little")
    # Numpy's own reader parses the header as a Python literal; the few forms that are written here need less.
    header = _HEADER.fullmatch(content[start:end])
    if content[: len(_MAGIC)] != _MAGIC or header is None or end % _ALIGNMENT:
        raise stored.error("has no valid .npy header", file)
    descr = header["descr"].decode("latin-1")
    if descr not in _DTYPES:
        allowed = ", ".join(_DTYPES.values())
        raise stored.error(f"has the dtype {quoted(descr)}; allowed are {allowed}", file)
    dtype = np.dtype(descr)
    shape = tuple(int(n) for n in header["shape"].split(b",") if n)
    if max(shape, default=0) > max(len(content), _MAX_EMPTY):
        raise stored.error(f"has the shape {quoted(shape)}, but just {len(content)} bytes", file)
    if len(shape) > _MAX_DIMENSIONS or math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 2**63:
        raise stored.error(f"has the shape {quoted(shape)}, which no array can have", file)
    if math.prod(shape) * dtype.itemsize != len(content) - end:
        raise stored.error(f"has the shape {quoted(shape)}, which does not fit its size", file)
    order: Any = "F" if header["fortran"] == b"True" else "C"
    array: Array = np.ndarray(shape, dtype, content, offset=end, order=order)
    if stored.verify:
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise stored.error("has entries that are neither true nor false", file)
        if not _all_finite(array):
            raise stored.error("has NaN or infinite entries", file)
    return array


def read_csr(parts: dict[str, Json], name: str, stored: StoredDirectory) -> sparse.csr_array[Any, Any]:
    """Read what `add_csr` stored.

    Parameters
    ----------
    parts : dict
        What `add_csr` returned.
    name : str
        What it is called, for messages.
    stored : StoredDirectory
        Holds the files. Without ``verify`` the lengths and the ends of the arrays are checked, but not
        the indices.

    Returns
    -------
    scipy.sparse.csr_array
        Canonical, over the arrays of `read_array`.
    """
    data, indices, indptr, shape = read_csr_parts(parts, name, stored)
    # Here, since topics are listed without it.
    from scipy import sparse

    array = sparse.csr_array((data, indices, indptr), shape=shape)
    # Known by now, or trusted; finding it out again would read all indices.
    array.has_canonical_format = True
    return array


class CsrParts(NamedTuple):
    """What a CSR array consists of."""

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]


def read_csr_parts(parts: dict[str, Json], name: str, stored: StoredDirectory) -> CsrParts:
    """Read what `add_csr` stored as the arrays that it consists of, checked as `read_csr` does.

    Parameters
    ----------
    parts : dict
        What `add_csr` returned.
    name : str
        What it is called, for messages.
    stored : StoredDirectory
        Holds the files.

    Returns
    -------
    CsrParts
        Of a canonical CSR array.
    """
    if parts.keys() != {"data", "indices", "indptr", "shape"}:
        raise stored.error(f"{name} is not described as a CSR array")
    data, indices, indptr = (read_array(parts[part], stored) for part in ("data", "indices", "indptr"))
    shape: Any = parts["shape"]
    problem = _layout_problem(data, indices, indptr, shape)
    if not problem and stored.verify:
        problem = index_problem(indices, indptr, shape[1])
    if problem:
        raise stored.error(f"{name} is not a valid CSR array ({problem})", parts["indices"])
    return CsrParts(data, indices, indptr, (shape[0], shape[1]))


def _all_finite(array: Array) -> bool:
    if array.dtype.kind != "f":
        return True
    # Both are NaN if any entry is, and neither needs an array of its own.
    with np.errstate(invalid="ignore"):
        return bool(np.isfinite(array.min(initial=0)) and np.isfinite(array.max(initial=0)))


def _layout_problem(data: Array, indices: Array, indptr: Array, shape: Any) -> str | None:
    """Say what is wrong with the sizes and kinds of the parts of a CSR array, if anything is."""
    if not isinstance(shape, list) or len(shape) != 2 or any(type(n) is not int or n < 0 for n in shape):
        return f"its shape is {quoted(shape)}"
    rows, columns = shape
    if not (data.ndim == indices.ndim == indptr.ndim == 1) or len(data) != len(indices):
        return "data and indices differ in length"
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        return f"the indices are {indices.dtype} and {indptr.dtype}"
    if columns > max(np.iinfo(np.int32).max, len(indices)):
        return f"{columns} columns are too many for {len(indices)} entries"
    if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        return f"indptr does not divide {len(indices)} entries among {rows} rows"
    return None


def index_problem(indices: Array, indptr: Array, columns: int) -> str | None:
    """Say what is wrong with the indices of a CSR array, if anything is, before compiled code sees them."""
    for part in _overlapping(len(indptr)):
        if (indptr[part][1:] < indptr[part][:-1]).any():
            return "indptr decreases"
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        return f"column indices are not all from 0 to {columns - 1}"
    for part in _overlapping(len(indices)):
        # An index may step back only where a row begins.
        steps_back = np.flatnonzero(indices[part][1:] <= indices[part][:-1]) + (part.start + 1)
        steps_back = steps_back.astype(indptr.dtype)
        if (indptr[np.searchsorted(indptr, steps_back)] != steps_back).any():
            return "column indices do not increase within each row"
    return None


def _overlapping(length: int) -> Iterator[slice]:
    """Divide positions into blocks that share one with the next, so that all neighbours meet in a block."""
    return (slice(start, min(start + BLOCK + 1, length)) for start in range(0, max(length - 1, 0), BLOCK))
