"""A line of the table of options: how a parameter is typed, and what follows from that."""

from __future__ import annotations

import inspect
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from laconic.errors import Parameter

_METAVARS = {int: "NUMBER", float: "NUMBER", str: "NAME", Path: "FILE"}


class Kind(NamedTuple):
    """What options are about."""

    argument: str
    """The command's argument that receives them, as a dict by their names in Python."""
    panel: str
    """The heading over them in the help."""


@dataclass(frozen=True)
class Option:
    """An option of the command line that is a parameter in Python.

    Parameters
    ----------
    typed : str
        How it is typed: ``"--topics -k"``, or ``"--signed/--nonnegative"`` for a flag that has an opposite.
    names : str
        What it is called in Python; further names, by which errors may call it, stand behind it.
    kind : Kind
        What it is about.
    help : str
        A sentence or two.
    type : type, optional
        bool for a flag. That of a parameter of the models, with its limits and choices, is known to
        `laconic.models.parameters`.
    least : float, optional
        The least value.
    choices : tuple of str, optional
        The values there are.
    metavar : str, optional
        What stands for the value in the help.
    default : object, optional
        What it is if it is not typed, where the library would have it otherwise.
    shown : str, optional
        What the help says of the default, where that is no value, or not the same in all cases.
    read : callable, optional
        From what was typed to what the library takes.
    write : callable, optional
        The way back, for messages.
    by_modality : bool
        Whether modalities may have different values: ``de=german,en=english``.
    completion : callable, optional
        What the Tab key offers.
    formerly : tuple of str
        Former ways to type it: accepted with a warning, and not in the help.
    """

    typed: str
    names: str
    kind: Kind
    help: str
    type: type | None = None
    least: float | None = None
    choices: tuple[str, ...] | None = None
    metavar: str | None = None
    default: Any = None
    shown: str | None = None
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], str] | None = None
    by_modality: bool = False
    completion: Callable[..., list[str]] | None = None
    formerly: tuple[str, ...] = ()

    @cached_property
    def flag(self) -> str:
        """How it is typed in full.

        >>> Option("--topics -k", "n_topics", Kind("parameters", "Model"), "How many.").flag
        '--topics'
        """
        return self.typed.replace("/", " ").split()[0]

    @cached_property
    def name(self) -> str:
        """What it is called in Python."""
        return self.names.split()[0]

    @cached_property
    def key(self) -> str:
        """What typer calls it."""
        return self.flag.removeprefix("--").replace("-", "_")

    @cached_property
    def value_type(self) -> Any:
        """The type of what is typed; an enumeration, if there are choices."""
        type, _, choices = self._limits
        return type if choices is None else Enum(self.key, {choice: choice for choice in choices})

    @cached_property
    def _limits(self) -> tuple[Any, float | None, tuple[str, ...] | None]:
        """Type, least value and choices: as the line has them, or as the models' table of parameters has."""
        from laconic.models.parameters import FLAG, LAST, PARAMETERS, Choice, Number

        if self.type is not None or self.choices is not None:
            return self.type or str, self.least, self.choices
        found = next((rule for rule in map({**PARAMETERS, **LAST}.get, self.names.split()) if rule), None)
        if isinstance(found, Number):
            return (int if found.kind is Integral else float), found.least, None
        if found == FLAG:
            return bool, None, None
        return str, self.least, found.values if isinstance(found, Choice) else None

    def parameter(self) -> inspect.Parameter:
        """The parameter of a function that typer makes an option of.

        What the help says of the default is found when the help is asked for: `default_words`.
        """
        type, least, choices = self._limits
        metavar = self.metavar
        if metavar is None and choices is None and type is not bool:
            metavar = _METAVARS[type]
        information = typer.Option(
            *self.typed.split(" "),
            metavar=metavar,
            min=least,
            help=self.help,
            show_default=False,
            case_sensitive=False,
            # what is wrong with a file is told when it is opened
            readable=False,
            autocompletion=self.completion,
            rich_help_panel=self.kind.panel,
        )
        return inspect.Parameter(
            self.key,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[self.value_type | None, information],
        )

    def default_words(self) -> str | None:
        """What the help says of the default; None where there is nothing to say.

        >>> line = Option("--strength", "strength", Kind("parameters", "Links"), "What differences cost.")
        >>> line.default_words()
        '0.3 for graph-plsa, 1.0 for multimodal-plsa'
        """
        if self.shown is not None:
            return self.shown
        if self.default is not None:
            return self._written(self.default)
        from laconic.cli.options.defaults import library_defaults

        defaults = library_defaults(self.name)
        values = {name: self._written(value) for name, value in defaults.items()}
        if self._limits[0] is bool or None in defaults.values() or not values:
            return None
        usual, times = Counter(values.values()).most_common(1)[0]
        # one that most models share is said once
        shared = times > 1 or len(values) == 1
        others = [f"{value} for {name}" for name, value in values.items() if not shared or value != usual]
        return ", ".join([usual, *others] if shared else others)

    def value(self, typed: Any) -> Any:
        """What the library takes, from what typer gives.

        Raises
        ------
        typer.BadParameter
            If it makes no sense; it names the option.
        """
        plain = typed.value if isinstance(typed, Enum) else typed
        return plain if self.read is None else self.read(plain)

    def worded(self, parameter: Parameter) -> str:
        """How the parameter is typed, with the value that a message gives it.

        >>> kind = Kind("", "")
        >>> line = Option("--signed/--nonnegative", "nonnegative", kind, "", bool, read=lambda on: not on)
        >>> line.worded(Parameter("nonnegative", False)), line.worded(Parameter("nonnegative", True))
        ('--signed', '--nonnegative')
        """
        if not parameter.has_value:
            return self.flag
        value = parameter.value
        if self._limits[0] is bool:
            on, *off = self.typed.split("/")
            return on if self.value(value) else next(iter(off), f"no {on}")
        several = value if isinstance(value, list) and self.type == list[str] else [value]
        return " ".join(f"{self.flag} {shlex.quote(self._written(each))}" for each in several)

    def _written(self, value: Any) -> str:
        return str(value) if self.write is None else self.write(value)
