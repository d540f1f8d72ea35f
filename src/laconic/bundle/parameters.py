"""The parameters of a model as JSON and back: plain values, arrays, and priors.

A prior is ``{"prior": "Pareto", "fields": {"shape": 2.0}}``. Anchors are ``{"anchors": {"frozen": [0]}}``,
in which mappings are lists of pairs, as a topic may be a pair of owner and number; those of modalities are
``{"anchors of modalities": {"text": ...}}``. All else is as `laconic.storage.values` has it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory
from laconic.storage.values import decode, encode
from laconic.storage.writing import DirectoryWriter

if TYPE_CHECKING:
    from laconic.priors import Prior
    from laconic.steering.anchors import Anchors


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
    if isinstance(value, Mapping) and value and all(_is_anchors(part) for part in value.values()):
        parts: dict[str, Json] = {
            key: _encode_anchors(part, f"{name}.{key}", writer) for key, part in value.items()
        }
        return {"anchors of modalities": parts}
    if _is_anchors(value):
        return {"anchors": _encode_anchors(value, name, writer)}
    priors = _priors()
    kind = type(value).__name__
    if priors.get(kind) is not type(value):
        return encode(value, name, writer)
    fields: dict[str, Any] = asdict(value)
    return {"prior": kind, "fields": {k: encode(v, f"{name}.{k}", writer) for k, v in fields.items()}}


def _decode(value: Json, name: str, stored: StoredDirectory) -> Any:
    if isinstance(value, dict) and value.keys() == {"anchors"}:
        return _decode_anchors(value["anchors"], name, stored)
    if isinstance(value, dict) and value.keys() == {"anchors of modalities"}:
        parts = value["anchors of modalities"]
        if not isinstance(parts, dict):
            raise stored.error(f"{name} are anchors of modalities that are {quoted(parts)}, and no object")
        return {key: _decode_anchors(part, f"{name}.{key}", stored) for key, part in parts.items()}
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


def _is_anchors(value: object) -> TypeGuard[Anchors]:
    # who has anchors has imported them
    module = sys.modules.get("laconic.steering.anchors")
    return module is not None and isinstance(value, module.Anchors)


def _encode_anchors(anchors: Anchors, name: str, writer: DirectoryWriter) -> dict[str, Json]:
    return {
        field: encode(_as_pairs(getattr(anchors, field)), f"{name}.{field}", writer)
        for field in anchors.__dataclass_fields__
    }


def _as_pairs(value: Any) -> Any:
    """A mapping as a list of pairs, and other collections as lists."""
    if isinstance(value, Mapping):
        return {"pairs": [[_as_pairs(key), _as_pairs(each)] for key, each in value.items()]}
    module = sys.modules["scipy.sparse"]
    if module.issparse(value):
        return module.csr_array(value)
    if isinstance(value, tuple):
        return tuple(map(_as_pairs, value))
    if isinstance(value, set | frozenset | range):
        value = sorted(value)
    return list(map(_as_pairs, value)) if isinstance(value, list) else value


def _decode_anchors(fields: Json, name: str, stored: StoredDirectory) -> Anchors:
    from laconic.steering.anchors import Anchors

    if not isinstance(fields, dict) or fields.keys() != Anchors.__dataclass_fields__.keys():
        raise stored.error(f"{name} are anchors whose fields are {quoted(fields)}")
    try:
        return Anchors(**{k: _from_pairs(decode(v, f"{name}.{k}", stored)) for k, v in fields.items()})
    except (TypeError, ValueError) as error:
        raise stored.error(f"{name} does not describe anchors ({error})") from error


def _from_pairs(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.keys() != {"pairs"}:
            raise ValueError("a mapping is no list of pairs")
        return {_from_pairs(key): _from_pairs(each) for key, each in value["pairs"]}
    return list(map(_from_pairs, value)) if isinstance(value, list) else value


def _priors() -> Mapping[str, type[Prior]]:
    # Models, to which priors belong, import this package to save themselves.
    from laconic.priors import PRIORS

    return PRIORS
