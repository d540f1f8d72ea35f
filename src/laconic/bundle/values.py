"""Values of parameters and fitted state as JSON and array files, and back, checked.

Scalars and lists are plain JSON. Everything else is an object with one key:

- ``{"array": file}``
- ``{"csr": {"data": file, "indices": file, "indptr": file, "shape": [rows, columns]}}``
- ``{"tuple": [item, ...]}``
- ``{"mapping": [[key, value], ...]}``, whose keys need not be strings: they may be class labels
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from laconic.bundle.manifest import BundleError, Json, quoted
from laconic.bundle.reading import StoredDirectory
from laconic.bundle.writing import DirectoryWriter, Sink

Array: TypeAlias = NDArray[Any]

_DTYPES = {"<f4": "float32", "<f8": "float64", "<i4": "int32", "<i8": "int64", "|b1": "bool"}
_MAX_NESTING = 12
_MAX_DIMENSIONS = 32
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '(?P<descr>[^']*)', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>(?:[0-9]{1,18}(?:, [0-9]{1,18})*,?)?)\), \} *\n"
)


def encode(value: object, name: str, writer: DirectoryWriter, *, _nesting: int = 0) -> Json:
    """Turn a value into JSON, storing its arrays as files.

    Parameters
    ----------
    value : None, bool, int, float, str, numpy scalar, ndarray, csr_array, list, tuple or mapping
        Lists, tuples and mappings may be nested.
    name : str
        What the value is called, in file names and messages.
    writer : DirectoryWriter
        Receives the arrays.

    Returns
    -------
    JSON value
        What `decode` turns back into an equal value, bit for bit.

    Raises
    ------
    BundleError
        If the value is of another kind or holds NaN or an infinity.

    Examples
    --------
    >>> import tempfile
    >>> from laconic.bundle.writing import replacing
    >>> with tempfile.TemporaryDirectory() as path, replacing(path) as writer:
    ...     encode({"news": 3, "sports": (np.float64(0.1), None)}, "sizes", writer)
    {'mapping': [['news', 3], ['sports', {'tuple': [0.1, None]}]]}
    """
    if _nesting > _MAX_NESTING:
        raise BundleError(f"{writer.path}: {name} is nested over {_MAX_NESTING} deep, so it is not saved")
    if isinstance(value, np.ndarray):
        return {"array": _add_array(value, name, writer)}
    if isinstance(value, sparse.csr_array):
        return {"csr": _add_csr(value, name, writer)}

    def encode_all(items: Iterable[object]) -> list[Json]:
        return [encode(item, f"{name}.{i}", writer, _nesting=_nesting + 1) for i, item in enumerate(items)]

    if isinstance(value, list):
        return encode_all(value)
    if isinstance(value, tuple):
        return {"tuple": encode_all(value)}
    if isinstance(value, Mapping):
        keys = [_plain(key, f"a key of {name}", writer) for key in value]
        return {"mapping": [[key, item] for key, item in zip(keys, encode_all(value.values()), strict=True)]}
    return _plain(value, name, writer)


def _plain(value: object, name: str, writer: DirectoryWriter) -> Json:
    """Turn a scalar into its JSON value; numpy's become Python's."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.float32 | np.float16):
        if not math.isfinite(value):
            raise BundleError(f"{writer.path}: {name} is {value}; only finite numbers can be saved")
        return float(value)
    if isinstance(value, str):
        return str(value)
    raise BundleError(
        f"{writer.path}: {name} is {quoted(value)} of type {type(value).__name__}, which cannot be saved; "
        "use None, numbers, strings, lists, mappings, numpy arrays or scipy.sparse.csr_array"
    )


def _add_array(value: Array, name: str, writer: DirectoryWriter) -> str:
    little = value.dtype.newbyteorder("<")
    if little.str not in _DTYPES or isinstance(value, np.ma.MaskedArray):
        raise BundleError(
            f"{writer.path}: {name} is a {type(value).__name__} of dtype {value.dtype}, which cannot be "
            f"saved; use an array of {', '.join(_DTYPES.values())}, or a list of strings"
        )
    if not _all_finite(value):
        raise BundleError(f"{writer.path}: {name} has NaN or infinite entries; only finite ones can be saved")
    array = np.asarray(value, dtype=little)

    def write(sink: Sink) -> None:
        np.lib.format.write_array(sink, array, version=(1, 0), allow_pickle=False)

    return writer.add(name, "npy", write)


def _add_csr(value: sparse.csr_array[Any, Any], name: str, writer: DirectoryWriter) -> Json:
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    shape: list[Json] = [int(n) for n in value.shape]
    problem = _csr_problem(value.data, value.indices, value.indptr, shape)
    if problem:
        raise BundleError(f"{writer.path}: {name} is not a valid CSR array ({problem}), so it is not saved")
    return {
        "data": _add_array(value.data, f"{name}.data", writer),
        "indices": _add_array(value.indices, f"{name}.indices", writer),
        "indptr": _add_array(value.indptr, f"{name}.indptr", writer),
        "shape": shape,
    }


def _all_finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def decode(value: Json, name: str, stored: StoredDirectory) -> Any:
    """Turn what `encode` made into the value again.

    Parameters
    ----------
    value : JSON value
        From the document of `stored`.
    name : str
        What the value is called, for messages.
    stored : StoredDirectory
        Holds the arrays.

    Returns
    -------
    object
        The value; arrays are writable and shared with nobody.

    Raises
    ------
    BundleError
        If the JSON or an array is not what `encode` could have made.
    """

    def decode_all(items: list[Json]) -> list[Any]:
        return [decode(item, f"{name}.{i}", stored) for i, item in enumerate(items)]

    if isinstance(value, list):
        return decode_all(value)
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "array":
            return _read_array(content, stored)
        if kind == "csr" and isinstance(content, dict):
            return _read_csr(content, name, stored)
        if kind == "tuple" and isinstance(content, list):
            return tuple(decode_all(content))
        if kind == "mapping" and isinstance(content, list):
            return _read_mapping(content, name, stored)
    raise stored.error(f"{name} is an object of no known kind (its keys: {quoted(sorted(value))})")


def _read_mapping(pairs: list[Json], name: str, stored: StoredDirectory) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for i, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list | dict):
            raise stored.error(f"{name} has an entry that is no pair of key and value")
        if pair[0] in mapping:
            raise stored.error(f"{name} has the key {quoted(pair[0])} twice")
        mapping[pair[0]] = decode(pair[1], f"{name}.{i}", stored)
    return mapping


def _read_array(file: Json, stored: StoredDirectory) -> Array:
    """Read one array without copying or executing anything: an allowed dtype, finite, of the file's size."""
    content = stored.take(file)
    start = len(_MAGIC) + 2
    length = int.from_bytes(content[len(_MAGIC) : start], "little")
    # Numpy's own reader parses the header as a Python literal; the few forms that are written here need less.
    header = _HEADER.fullmatch(content[start : start + length])
    if content[: len(_MAGIC)] != _MAGIC or header is None:
        raise stored.error("has no valid .npy header", file)
    descr = header["descr"].decode("latin-1")
    if descr not in _DTYPES:
        allowed = ", ".join(_DTYPES.values())
        raise stored.error(f"has the dtype {quoted(descr)}; allowed are {allowed}", file)
    dtype = np.dtype(descr)
    shape = tuple(int(n) for n in header["shape"].split(b",") if n)
    if len(shape) > _MAX_DIMENSIONS or math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 2**63:
        raise stored.error(f"has the shape {quoted(shape)}, which no array can have", file)
    if math.prod(shape) * dtype.itemsize != len(content) - start - length:
        raise stored.error(f"has the shape {quoted(shape)}, which does not fit its size", file)
    array: Array = np.ndarray(
        shape, dtype, content, offset=start + length, order="F" if header["fortran"] == b"True" else "C"
    )
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise stored.error("has entries that are neither true nor false", file)
    if not _all_finite(array):
        raise stored.error("has NaN or infinite entries", file)
    return array


def _read_csr(parts: dict[str, Json], name: str, stored: StoredDirectory) -> sparse.csr_array[Any, Any]:
    if parts.keys() != {"data", "indices", "indptr", "shape"}:
        raise stored.error(f"{name} is not described as a CSR array")
    data, indices, indptr = (_read_array(parts[part], stored) for part in ("data", "indices", "indptr"))
    shape: Any = parts["shape"]
    problem = _csr_problem(data, indices, indptr, shape)
    if problem:
        raise stored.error(f"{name} is not a valid CSR array ({problem})", parts["indices"])
    return sparse.csr_array((data, indices, indptr), shape=tuple(shape))


def _csr_problem(data: Array, indices: Array, indptr: Array, shape: Any) -> str | None:
    """Say what is wrong with the parts of a CSR array, if anything is, before compiled code sees them."""
    if not isinstance(shape, list) or len(shape) != 2 or any(type(n) is not int or n < 0 for n in shape):
        return f"its shape is {quoted(shape)}"
    rows, columns = shape
    if not (data.ndim == indices.ndim == indptr.ndim == 1) or len(data) != len(indices):
        return "data and indices differ in length"
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        return f"the indices are {indices.dtype} and {indptr.dtype}"
    if columns > np.iinfo(indices.dtype).max:
        return f"{columns} columns are too many for {indices.dtype}"
    if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        return f"indptr does not divide {len(indices)} entries among {rows} rows"
    if (indptr[1:] < indptr[:-1]).any():
        return "indptr decreases"
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        return f"column indices are not all from 0 to {columns - 1}"
    # An index may step back only where a row begins.
    steps_back = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    if (indptr[np.searchsorted(indptr, steps_back)] != steps_back).any():
        return "column indices do not increase within each row"
    return None
