"""Parameters and attributes under their former names: for a while, with a warning that says until when."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar


class Renamed(NamedTuple):
    """What a parameter is called now, and the version that will not know its former name any more."""

    now: str
    until: str


RENAMED: dict[str, dict[str, Renamed]] = {"SearchIndex": {"corpus": Renamed("source", "0.3")}}
"""By the name of the class (which is decorated with `accepts_former_names`), then by the former name."""

Class = TypeVar("Class", bound=type)


class FormerAttribute:
    """An attribute under its former name: a FutureWarning, and what it is called now.

    Parameters
    ----------
    now : str
        The attribute that it is.
    until : str
        The version that will not know the former name any more.
    """

    def __init__(self, now: str, until: str) -> None:
        self.now, self.until = now, until

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        found = getattr(instance, self.now)
        warnings.warn(
            f"{type(instance).__name__}: {self.name} has been renamed to {self.now}; the old name will be "
            f"removed in version {self.until}",
            FutureWarning,
            stacklevel=2,
        )
        return found


def current_names(owner: str, given: Mapping[str, Any], stacklevel: int = 3) -> dict[str, Any]:
    """Parameters under the names that they have now; a former one gives a FutureWarning.

    Parameters
    ----------
    owner : str
        The name of the class that takes them.
    given : mapping of str to object
        Parameters by name.
    stacklevel : int, default=3
        Whose line the warning names, as in `warnings.warn`.

    Returns
    -------
    dict
        The same values.

    Raises
    ------
    TypeError
        If a parameter is given under both names.
    """
    former = RENAMED.get(owner, {})
    current = dict(given)
    for name in former.keys() & given.keys():
        now, until = former[name]
        if now in given:
            raise TypeError(f"{owner}: {name} has been renamed to {now}; give one of them, not both")
        warnings.warn(
            f"{owner}: {name} has been renamed to {now}; the old name will be removed in version {until}",
            FutureWarning,
            stacklevel=stacklevel,
        )
        current[now] = current.pop(name)
    return current


def accepts_former_names(kind: Class) -> Class:
    """Let a class take the parameters that `RENAMED` has for it under their former names, too.

    Its signature stays that of today; ``set_params`` of a scikit-learn estimator accepts them as well.
    """
    for method in ("__init__", "set_params"):
        if hasattr(kind, method):
            setattr(kind, method, _accepting(kind.__name__, getattr(kind, method)))
    return kind


def _accepting(owner: str, method: Any) -> Any:
    @wraps(method)
    def accepting(self: Any, *args: Any, **given: Any) -> Any:
        return method(self, *args, **current_names(owner, given))

    return accepting
