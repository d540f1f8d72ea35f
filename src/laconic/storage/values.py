"""Values of parameters and fitted state as JSON and array files, and back, checked.

Scalars and lists are plain JSON. Everything else is an object with one key:

- ``{"array": file}``
- ``{"csr": {"data": file, "indices": file, "indptr": file, "shape": [rows, columns]}}``
- ``{"tuple": [item, ...]}``
- ``{"mapping": [[key, value], ...]}``, whose keys need not be strings: they may be class labels
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from laconic.storage.arrays import add_array, add_csr, read_array, read_csr
from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory
from laconic.storage.writing import DirectoryWriter

if TYPE_CHECKING:
    from scipy import sparse

_MAX_NESTING = 12


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
    ValueError
        Of the kind's own type, if the value is of another kind or holds NaN or an infinity.

    Examples
    --------
    >>> import tempfile
    >>> from laconic.storage.manifest import Kind
    >>> from laconic.storage.writing import replacing
    >>> shelf = Kind("shelf", "shelf.json", "laconic-shelf", 1, ValueError)
    >>> with tempfile.TemporaryDirectory() as path, replacing(path, shelf) as writer:
    ...     encode({"news": 3, "sports": (np.float64(0.1), None)}, "sizes", writer)
    {'mapping': [['news', 3], ['sports', {'tuple': [0.1, None]}]]}
    """
    if _nesting > _MAX_NESTING:
        raise writer.error(f"{name} is nested over {_MAX_NESTING} deep, so it is not saved")
    if isinstance(value, np.ndarray):
        return {"array": add_array(value, name, writer)}
    if _is_csr(value):
        return {"csr": add_csr(value, name, writer)}

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


def _is_csr(value: object) -> TypeGuard[sparse.csr_array[Any, Any]]:
    # Who has one has imported it: topics are listed without.
    module = sys.modules.get("scipy.sparse")
    return module is not None and isinstance(value, module.csr_array)


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
            raise writer.error(f"{name} is {value}; only finite numbers can be saved")
        return float(value)
    if isinstance(value, str):
        return str(value)
    raise writer.error(
        f"{name} is {quoted(value)} of type {type(value).__name__}, which cannot be saved; "
        "use None, numbers, strings, lists, mappings, numpy arrays or scipy.sparse.csr_array"
    )


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
        The value; arrays are writable and shared with nobody, or mapped and read-only.

    Raises
    ------
    ValueError
        Of the kind's own type, if the JSON or an array is not what `encode` could have made.
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
            return read_array(content, stored)
        if kind == "csr" and isinstance(content, dict):
            return read_csr(content, name, stored)
        if kind == "tuple" and isinstance(content, list):
            return tuple(decode_all(content))
        if kind == "mapping" and isinstance(content, list):
            return _read_mapping(content, name, stored)
    raise stored.error(f"{name} is an object of unknown kind (its keys: {quoted(sorted(value))})")


def _read_mapping(pairs: list[Json], name: str, stored: StoredDirectory) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for i, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list | dict):
            raise stored.error(f"{name} has an entry that is not a pair of key and value")
        if pair[0] in mapping:
            raise stored.error(f"{name} has the key {quoted(pair[0])} twice")
        mapping[pair[0]] = decode(pair[1], f"{name}.{i}", stored)
    return mapping
