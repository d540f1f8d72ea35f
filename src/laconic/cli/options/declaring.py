"""How a command is declared: with the kinds of options that it takes, which it receives sorted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import typer

from laconic.cli.options.line import Kind, Option
from laconic.cli.options.modalities import ByModality
from laconic.cli.options.table import MODALITIES, TABLE, option_of, worded
from laconic.cli.screen.errors import reported
from laconic.errors import InputError, ParameterError


class Some(NamedTuple):
    """The options of a kind, but for a few."""

    kind: Kind
    left_out: frozenset[str]


def but(kind: Kind, *names: str) -> Some:
    """All options of a kind but those of these names."""
    return Some(kind, frozenset(names))


class Command:
    """A command: what typer takes for a function with all its options, and the function that receives them.

    Parameters
    ----------
    function : callable
        Its own arguments and options have annotations of typer. By keyword it receives ``reading``, ``terms``
        and ``parameters``, dicts from names in Python to values of those options that were typed (or have a
        default on the command line), and ``columns``, those of the modalities by name.
    wanted : list of Some
        The options of the table that it takes.
    """

    # typer asks for those of functions
    __annotations__ = {}

    def __init__(self, function: Callable[..., None], wanted: list[Some]) -> None:
        self.function = function
        self.wanted = wanted
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._run = reported(self._receive)

    @property
    def options(self) -> list[Option]:
        """The lines of the table, in their order."""
        return [
            line
            for line in TABLE
            if any(line.kind is some.kind and line.name not in some.left_out for some in self.wanted)
        ]

    @property
    def __signature__(self) -> inspect.Signature:
        received = {some.kind.argument for some in self.wanted}
        own = [
            parameter.replace(
                annotation=_evaluated(parameter.annotation, self.function),
                kind=inspect.Parameter.KEYWORD_ONLY,
            )
            for parameter in inspect.signature(self.function).parameters.values()
            if parameter.name not in received
        ]
        return inspect.Signature([*own, *(line.parameter() for line in self.options)])

    def __call__(self, **typed: Any) -> None:
        """Sort what was typed, and run."""
        self._run(typed)

    def _receive(self, typed: Mapping[str, Any]) -> None:
        given = dict(typed)
        several = any(given.get(line.key) for line in self.options if line.kind is MODALITIES)
        sorted_: dict[str, dict[str, Any]] = {some.kind.argument: {} for some in self.wanted}
        for line in self.options:
            # an option that may be given several times is empty if it is not given
            value = given.pop(line.key) or None if line.type == list[str] else given.pop(line.key)
            value = _read(line, line.default if value is None else value, several)
            if line.kind is MODALITIES:
                sorted_[line.kind.argument] = value
            elif value is not None:
                sorted_[line.kind.argument][line.name] = value.value if isinstance(value, _Kept) else value
        self.function(**given, **sorted_)


def command(*wanted: Kind | Some) -> Callable[[Callable[..., None]], Command]:
    """Declare a command, with the kinds of options that it takes besides its own.

    Parameters
    ----------
    *wanted : Kind or Some
        Such as ``READING``, or ``but(READING, "label")``.

    Returns
    -------
    callable
        A decorator.
    """
    some = [one if isinstance(one, Some) else but(one) for one in wanted]
    return lambda function: Command(function, some)


@contextmanager
def usage(hint: str | None = None) -> Iterator[None]:
    """Turn an error about parameters into one of usage, which names the option."""
    try:
        yield
    except ParameterError as error:
        raise bad_usage(error, hint) from error


def bad_usage(error: InputError, hint: str | None = None) -> typer.BadParameter:
    """The error of usage that says the same; it names the option once."""
    message = error.worded(worded)
    if hint is None:
        # a model that does not take an option is not what is wrong, if the option is named as well
        lines = [line for line in map(option_of, error.parameters) if line is not None]
        line = next((line for line in lines if line.name != "model"), next(iter(lines), None))
        hint = None if line is None else line.flag
    return typer.BadParameter(message, param_hint=None if message.startswith(hint or " ") else hint)


class _Kept(NamedTuple):
    """A value that may be None."""

    value: Any


def _read(line: Option, typed: Any, several: bool) -> Any:
    if typed is None and line.kind is not MODALITIES:
        return None
    try:
        with usage(line.flag):
            if several and line.by_modality and "=" in typed:
                return ByModality.read(line, typed)
            return _Kept(line.value(typed)) if line.kind is not MODALITIES else line.value(typed)
    except typer.BadParameter as error:
        error.param_hint = error.param_hint or (None if _names(error, line) else line.flag)
        raise


def _names(error: typer.BadParameter, line: Option) -> bool:
    return error.message.startswith(line.flag)


def _evaluated(annotation: Any, function: Callable[..., None]) -> Any:
    """An annotation, which is a text where a module says so."""
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation
