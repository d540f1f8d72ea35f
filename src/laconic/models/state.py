"""What a fitted model consists of, as a declared schema: what is stored, and how it is checked."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from laconic.checks import check_number


def _as_is(value: Any) -> Any:
    return value


class Field(NamedTuple):
    """One fitted attribute."""

    name: str
    """As stored; the attribute has an underscore behind it."""
    check: Callable[[Any, Any], Any]
    """Called with a stored value and the model: raises ValueError, or returns the attribute's value."""
    optional: bool = False
    attribute: str = ""
    """If it is called otherwise."""
    stored: Callable[[Any], Any] = _as_is
    """What is stored of the attribute's value."""

    @property
    def place(self) -> str:
        """The name of the attribute."""
        return self.attribute or f"{self.name}_"


def number(least: float, most: float = np.inf, kind: Any = Real) -> Callable[[Any, Any], Any]:
    """A check: a number within limits."""

    def check(value: Any, model: Any) -> Any:
        check_number("it", value, kind, least, most)
        return int(value) if kind is Integral else float(value)

    return check


def array(
    shape: Callable[[Any], tuple[int | None, ...]], *, nonnegative: bool = False, dtype: Any = None
) -> Callable[[Any, Any], Any]:
    """A check: a dense array of floats, of a shape that depends on the model (None: any length)."""

    def check(value: Any, model: Any) -> Any:
        wanted = shape(model)
        if not isinstance(value, np.ndarray) or value.ndim != len(wanted):
            raise ValueError(f"it is no dense array of {len(wanted)} dimensions")
        if any(size is not None and size != own for size, own in zip(wanted, value.shape, strict=True)):
            raise ValueError(f"shape {value.shape} does not fit the model")
        expected = model.components_.dtype if dtype is None else np.dtype(dtype)
        if value.dtype != expected:
            raise ValueError(f"it is {value.dtype}, not {expected}")
        if not np.isfinite(value).all() or (nonnegative and not value.min(initial=0) >= 0):
            raise ValueError("numbers are negative or not finite")
        return value

    return check


def _components(value: Any, model: Any) -> Any:
    if not isinstance(value, np.ndarray | csr_array) or value.ndim != 2:
        raise ValueError("components are no matrix")
    if value.dtype not in (np.float32, np.float64):
        raise ValueError(f"components are {value.dtype}, not float32 or float64")
    if not value.shape[1]:
        raise ValueError("components are topics without terms")
    if value.shape[0] != model._n_topics:
        raise ValueError(f"components have {value.shape[0]} rows, not {model._n_topics}")
    return value


def _n_features(value: Any, model: Any) -> int:
    if model.components_.shape[1] != value:
        raise ValueError(f"components of shape {model.components_.shape} do not have {value} columns")
    return int(value)


def _history(value: Any, model: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise ValueError("a history is a list of numbers")
    return value


def _n_iter(value: Any, model: Any) -> int:
    if len(model.objective_history_) != value:
        raise ValueError(
            f"a history of shape {model.objective_history_.shape} does not fit {value} iterations"
        )
    return int(value)


def _text(value: Any, model: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a data hash is text, not {value!r}")  # noqa: TRY004
    return value


def _names(value: Any, model: Any) -> Any:
    if len(value) != model.n_features_in_:
        raise ValueError(f"{len(value)} feature names do not fit {model.n_features_in_} terms")
    return np.asarray(value, object)


def check_links(value: Any, model: Any) -> Any:
    """Stored links between the documents of a fit, whose weights are known already."""
    if not isinstance(value, csr_array) or value.shape[0] != value.shape[1]:
        raise ValueError("links are no square matrix")
    if not np.issubdtype(value.dtype, np.floating) or not np.isfinite(value.data).all():
        raise ValueError("links have weights that are no finite numbers")
    if value.data.min(initial=0) < 0:
        raise ValueError("links have negative weights")
    return value


COMMON = (
    Field("components", _components),
    Field("n_features_in", _n_features),
    Field("objective_history", _history),
    Field("n_iter", _n_iter),
    Field("data_hash", _text),
    Field("feature_names_in", _names, optional=True, stored=lambda names: [str(name) for name in names]),
)
"""What every model has."""


def fitted_state(model: Any, schema: tuple[Field, ...]) -> dict[str, Any]:
    """What is stored of a fitted model besides its parameters."""
    state = {}
    for field in schema:
        value = getattr(model, field.place, None)
        if value is not None or not field.optional:
            state[field.name] = field.stored(value)
    return state


def restore(model: Any, schema: tuple[Field, ...], state: dict[str, Any]) -> None:
    """Take over a stored state; raises ValueError if its parts do not fit each other, or the parameters."""
    for field in schema:
        value = state.get(field.name)
        if value is None and field.optional:
            continue
        if field.name not in state:
            raise ValueError(f"{field.name} is missing")
        try:
            setattr(model, field.place, field.check(value, model))
        except ValueError as error:
            raise ValueError(f"{field.name}: {error}") from error
