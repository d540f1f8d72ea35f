"""The parameters of a model as JSON and back: plain values, arrays, and priors.

A prior is ``{"prior": "Pareto", "fields": {"shape": 2.0}}``; all else is as `laconic.storage.values` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory
from laconic.storage.values import decode, encode
from laconic.storage.writing import DirectoryWriter

if TYPE_CHECKING:
    from laconic.priors import Prior


def encode_parameters(parameters: Mapping[str, object], writer: DirectoryWriter) -> dict[str, Json]:
    """Turn parameters into JSON, storing their arrays as files.

    Parameters
    ----------
    parameters : mapping
        As from ``get_params``. Random generators become None: their state is not that of the start of the fit
        any more. Arrays of strings become lists.
    writer : DirectoryWriter
        Receives the arrays.

    Returns
    -------
    dict
        What `decode_parameters` turns back into equal values.

    Raises
    ------
    BundleError
        If a value is of another kind, such as a prior that is none of laconic's own.
    """
    return {name: _encode(value, f"parameters.{name}", writer) for name, value in parameters.items()}


def decode_parameters(stored: StoredDirectory) -> dict[str, Any]:
    """Turn what `encode_parameters` made into values again; everything is checked, nothing is executed.

    Parameters
    ----------
    stored : StoredDirectory
        With ``parameters`` in its document.

    Returns
    -------
    dict
        The values by name.

    Raises
    ------
    BundleError
        If a value is not what `encode_parameters` could have made; the message names it.
    """
    return {
        name: _decode(value, f"parameters.{name}", stored)
        for name, value in stored.object("parameters").items()
    }


def _encode(value: object, name: str, writer: DirectoryWriter) -> Json:
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        # of strings: files of arrays are for numbers
        value = value.tolist()
    priors = _priors()
    kind = type(value).__name__
    if priors.get(kind) is not type(value):
        return encode(value, name, writer)
    fields: dict[str, Any] = asdict(value)
    return {"prior": kind, "fields": {k: encode(v, f"{name}.{k}", writer) for k, v in fields.items()}}


def _decode(value: Json, name: str, stored: StoredDirectory) -> Any:
    if not isinstance(value, dict) or value.keys() != {"prior", "fields"}:
        return decode(value, name, stored)
    kind, fields = value["prior"], value["fields"]
    if not isinstance(kind, str) or kind not in _priors():
        known = ", ".join(_priors())
        raise stored.error(f"{name} is a prior called {quoted(kind)}, which is not known (there are {known})")
    if not isinstance(fields, dict):
        raise stored.error(f"{name} is a prior whose fields are {quoted(fields)}, and no object")
    try:
        return _priors()[kind](**fields)
    except (TypeError, ValueError) as error:
        # Fields that are missing or unknown, or values that are of another type or out of range.
        raise stored.error(f"{name} does not describe a prior {kind} ({error})") from error


def _priors() -> Mapping[str, type[Prior]]:
    # Models, to which priors belong, import this package to save themselves.
    from laconic.priors import PRIORS

    return PRIORS
