"""What happens before an option is an option: names that are chosen freely, former names, help on demand."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from laconic.cli.options.help import ALL, Wanted, console, help_of, help_of_group, usage_of
from laconic.cli.options.modalities import PLACEHOLDER, spelled_out
from laconic.cli.options.table import TABLE
from laconic.cli.screen.console import warn

_WANTED = "laconic.cli.options.parsing: which help"
_OPEN = "laconic.cli.options.parsing: an option without its value"


class OptionsCommand(TyperCommand):
    """A command with options of the table."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse ``--text-de body`` as ``--text-NAME de=body``, if the command has that, and former names."""
        known = {option for param in self.params for option in param.opts}
        ctx.meta[_WANTED] = Wanted(args, str(self.name))
        if ALL in args and ALL not in known:
            args = ["--help"]
        if PLACEHOLDER in known:
            args, ctx.meta[_OPEN] = spelled_out(args)
        args = renamed(args, known, silent=ctx.resilient_parsing)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters; an option that lacks its value keeps its name, for messages and the Tab key."""
        params = super().get_params(ctx)
        if not ctx.meta.get(_OPEN):
            return params
        return [_named(param, ctx.meta[_OPEN]) if PLACEHOLDER in param.opts else param for param in params]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the defaults: to find these takes a moment that only the help should take."""
        lines = {line.flag: line for line in TABLE}
        params: list[Any] = list(self.params)
        for param in params:
            line = next((lines[option] for option in param.opts if option in lines), None)
            if line is not None and param.name == line.key and not param.show_default:
                param.show_default = line.default_words() or False
        console().print(help_of(self, ctx, ctx.meta.get(_WANTED) or Wanted([], str(self.name))))

    def get_usage(self, ctx: Any) -> str:
        """How the command is called, in an error, too."""
        return f"Usage: {usage_of(self, ctx)}"


class CommandsGroup(TyperGroup):
    """A command with commands of its own."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help as that of all other commands."""
        console().print(help_of_group(self, ctx))


def renamed(args: Sequence[str], known: set[str], *, silent: bool = False) -> list[str]:
    """Give former names of options their new ones, with a warning; only those of options that are known."""
    former = {old: line.flag for line in TABLE for old in line.formerly if line.flag in known}
    current: list[str] = []
    for place, arg in enumerate(args):
        if arg == "--":
            return [*current, *args[place:]]
        name, equals, value = arg.partition("=")
        if name in former and name not in known:
            if not silent:
                warn(
                    f"{name} has been renamed to {former[name]}; the next version will no longer accept the "
                    "old name"
                )
            arg = former[name] + equals + value
        current.append(arg)
    return current


def _named(param: Any, option: str) -> Any:
    named = copy.copy(param)
    named.opts = [*param.opts, option]
    return named
