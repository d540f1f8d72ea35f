"""One fit at a time for each model: two that write the same attributes would leave a mixture of both."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from laconic.errors import InputError

Method = TypeVar("Method", bound=Callable[..., Any])


class _Fitting:
    """The models that are being fitted: by identity, as models themselves are copied and pickled."""

    def __init__(self) -> None:
        self.begin_again()

    def begin_again(self) -> None:
        """In a forked child nobody fits, and the lock may be that of a thread that is not there."""
        self._lock, self._models = threading.Lock(), set[int]()

    def add(self, model: object) -> None:
        with self._lock:
            if id(model) in self._models:
                raise InputError(
                    f"this {type(model).__name__} is being fitted already, by another thread or around this "
                    "call: fit an object of its own for each (sklearn.base.clone(model) makes one)"
                )
            self._models.add(id(model))

    def remove(self, model: object) -> None:
        with self._lock:
            self._models.discard(id(model))


_fitting = _Fitting()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fitting.begin_again)


def one_at_a_time(method: Method) -> Method:
    """Make a method that fits a model refuse to begin while the same object is being fitted.

    Parameters
    ----------
    method : callable
        Its first argument is the model.

    Returns
    -------
    callable
        The same, guarded.

    Examples
    --------
    >>> class Model:
    ...     @one_at_a_time
    ...     def fit(self, inside):
    ...         return inside()
    >>> model = Model()
    >>> model.fit(lambda: 3)
    3
    >>> model.fit(lambda: model.fit(lambda: 3))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    laconic.errors.InputError: this Model is being fitted already...
    """

    @functools.wraps(method)
    def guarded(model: Any, *args: Any, **kwargs: Any) -> Any:
        _fitting.add(model)
        try:
            return method(model, *args, **kwargs)
        finally:
            _fitting.remove(model)

    return cast(Method, guarded)
