"""The help of a command: what people mostly need, in two columns; all of it on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from laconic.cli.options.table import TABLE
from laconic.models.making import RECIPES, parameters_of

ALL = "--help-all"
SHORT = {
    "fit": (
        "--output", "--text", "--label", "--date", "--topics", "--words", "--model",
        "--stop-words", "--min-df", "--max-df", "--dry-run",
    ),
}  # fmt: skip
"""The options that the help shows first, of commands that have many."""

_OPTIONS = "Options"
_WIDEST_NAMES = 30
_WIDEST = 120
_EXAMPLES = 4


class Wanted:
    """Which help was asked for: the short one, all of it, or the options of one model.

    Parameters
    ----------
    args : sequence of str
        What was typed after the command.
    command : str
        Its name.
    """

    def __init__(self, args: Sequence[str], command: str) -> None:
        typed = list(args)[: args.index("--")] if "--" in args else list(args)
        self.all = ALL in typed or command not in SHORT
        self.model = next((arg for arg in typed if arg in RECIPES), None) if command == "fit" else None

    def params(self, params: Iterable[Any], command: str) -> list[Any]:
        """Those parameters of a command that are shown."""
        shown = [param for param in params if not getattr(param, "hidden", False)]
        if self.model is not None:
            taken = {line.flag for line in TABLE if self._is_taken(line)}
            table = {line.flag for line in TABLE}
            return [param for param in shown if param.opts[0] not in table or param.opts[0] in taken]
        if self.all:
            return shown
        return [param for param in shown if not _is_option(param) or param.opts[0] in SHORT[command]]

    def _is_taken(self, line: Any) -> bool:
        if line.kind.argument != "parameters" or line.name in ("model", "random_state", "n_jobs"):
            return True
        return any(name in parameters_of(str(self.model)) for name in line.names.split())


def help_of(command: Any, context: Any, wanted: Wanted) -> Group:
    """The help of a command, to be printed.

    Parameters
    ----------
    command : TyperCommand
    context : Context
        In which it was called.
    wanted : Wanted
        How much of it.
    """
    params = wanted.params(command.get_params(context), command.name)
    parts: list[Any] = [Text.assemble(("Usage: ", "bold"), usage_of(command, context)), ""]
    parts += [Padding(Text(command.help or ""), (0, 0, 0, 2)), ""]
    for title, listed in _panels(params).items():
        parts += [Text(title, style="bold"), _rows(listed), ""]
    if not wanted.all or wanted.model is not None:
        parts += [Padding(_more(context.command_path, wanted), (0, 0, 0, 2)), ""]
    examples = (command.epilog or "").strip("\n").replace("\n\n", "\n")
    title, *lines = examples.split("\n")
    few = lines if wanted.all else lines[:_EXAMPLES]
    return Group(*parts, Text(title, style="bold"), *map(_example, few))


def usage_of(command: Any, context: Any) -> str:
    """How a command is called: what it cannot do without, and that there is more."""
    params = command.get_params(context)
    required = [param for param in params if _is_option(param) and param.required]
    return " ".join(
        [
            context.command_path,
            *(_argument(param) for param in params if not _is_option(param)),
            *(f"{_shortest(param)} {param.metavar}" for param in required),
            "[OPTIONS]",
        ]
    )


def help_of_group(group: Any, context: Any) -> Group:
    """The help of a command that has commands of its own, to be printed.

    Parameters
    ----------
    group : TyperGroup
    context : Context
        In which it was called.
    """
    options = [param for param in group.get_params(context) if not getattr(param, "hidden", False)]
    commands = Table.grid(padding=(0, 2), pad_edge=False)
    commands.add_column(style="cyan", no_wrap=True)
    commands.add_column(ratio=1)
    for name in group.list_commands(context):
        said = (group.get_command(context, name).help or "").split("\n\n")[0]
        commands.add_row(Padding(Text(name), (0, 0, 0, 2)), Text(said))
    return Group(
        Text.assemble(("Usage: ", "bold"), f"{context.command_path} [OPTIONS] COMMAND ..."),
        "",
        Padding(Text(group.help or ""), (0, 0, 0, 2)),
        "",
        Text("Commands", style="bold"),
        commands,
        "",
        Text(_OPTIONS, style="bold"),
        _rows(options),
        "",
        Text((group.epilog or "").strip("\n")),
    )


def _example(line: str) -> Padding:
    """A command as it is typed; what does not fit goes on, indented."""
    return Padding(Text(line.strip()), (0, 0, 0, 2))


def console() -> Console:
    """Where help goes: as wide as the terminal, but not so wide that lines are hard to read."""
    found = Console(highlight=False)
    found.width = min(found.width, _WIDEST)
    return found


def _more(path: str, wanted: Wanted) -> Text:
    if wanted.model is not None:
        return Text(f"These are the options of {wanted.model}. All options: {path} {ALL}")
    return Text(
        f"All options: {path} {ALL}\nThose of one model: {path} --model NAME --help, where NAME is one of "
        f"{', '.join(RECIPES)}"
    )


def _panels(params: Iterable[Any]) -> dict[str, list[Any]]:
    panels: dict[str, list[Any]] = {}
    for param in params:
        if _is_option(param):
            panels.setdefault(param.rich_help_panel or _OPTIONS, []).append(param)
        else:
            panels.setdefault("Arguments", []).append(param)
    return panels


def _rows(params: Iterable[Any]) -> Table:
    table = Table.grid(padding=(0, 2), pad_edge=False)
    table.add_column(style="cyan", max_width=_WIDEST_NAMES)
    table.add_column(ratio=1)
    for param in params:
        table.add_row(Padding(Text(_names(param)), (0, 0, 0, 2)), _said(param))
    return table


def _names(param: Any) -> str:
    if not _is_option(param):
        return _argument(param)
    names = ", ".join(sorted(param.opts, key=len))
    if param.secondary_opts:
        names += f" / {', '.join(param.secondary_opts)}"
    return names if param.is_flag else f"{names} {param.metavar or 'NAME'}"


def _said(param: Any) -> Text:
    said = Text((param.help or "").strip())
    choices = _choices(param)
    if choices and not all(choice in said.plain for choice in choices):
        said.append(f" One of {', '.join(choices)}.")
    if getattr(param, "required", False) and _is_option(param):
        said.append(" Required.", "bold")
    default = param.show_default if isinstance(param.show_default, str) else None
    if default is None and param.show_default is True and not getattr(param, "is_flag", False):
        value = param.default
        default = None if value is None or callable(value) else str(value)
    if default is not None:
        said.append(f" [{default}]", "dim")
    return said


def _choices(param: Any) -> list[str]:
    """The values that an option takes, if these are a few."""
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(one.value) for one in kind]
    return list(getattr(getattr(param, "type", None), "choices", None) or ())


def _argument(param: Any) -> str:
    name = param.metavar or param.name.upper()
    several = param.nargs == -1 and not name.endswith("...")
    shown = f"{name}..." if several else name
    return shown if param.required else f"[{shown}]"


def _shortest(param: Any) -> str:
    return str(min(param.opts, key=len))


def _is_option(param: Any) -> bool:
    return bool(param.param_type_name == "option")
