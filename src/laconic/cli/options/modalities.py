"""Several texts of a document: ``--text-NAME COLUMN``, for any name."""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from laconic.cli import completion
from laconic.cli.options.reading import DATA

if TYPE_CHECKING:
    from laconic.bundle import Bundle

PLACEHOLDER = "--text-NAME"
_TYPED = re.compile(r"--text-(?P<name>[^=]+)(?:=(?P<column>.*))?", re.DOTALL)
_OPEN = "laconic.cli.options.modalities: an option without its value"

Media = Annotated[
    list[str] | None,
    typer.Option(
        PLACEHOLDER,
        metavar="COLUMN",
        help="In place of --text, for multimodal-plsa: the column of the texts that are called NAME, such as "
        "--text-de german --text-en english. An empty text is one that the document lacks.",
        show_default=False,
        autocompletion=completion.columns,
        rich_help_panel=DATA,
    ),
]


class MediaCommand(TyperCommand):
    """A command that may have the option ``--text-NAME``, whose name is chosen by who types it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse ``--text-de body`` as ``--text-NAME de=body``, if the command has that."""
        if any(PLACEHOLDER in param.opts for param in self.params):
            args, ctx.meta[_OPEN] = spelled_out(args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters; an option that lacks its value keeps its name, for messages and the Tab key."""
        params = super().get_params(ctx)
        if not ctx.meta.get(_OPEN):
            return params
        return [_named(param, ctx.meta[_OPEN]) if PLACEHOLDER in param.opts else param for param in params]


def _named(param: Any, option: str) -> Any:
    named = copy.copy(param)
    named.opts = [*param.opts, option]
    return named


def spelled_out(args: Sequence[str]) -> tuple[list[str], str | None]:
    """Give options of one name, and the option at the end that lacks its value, if there is one.

    >>> spelled_out(["a.csv", "--text-de", "body", "--text-en=title", "--text", "x"])
    (['a.csv', '--text-NAME', 'de=body', '--text-NAME', 'en=title', '--text', 'x'], None)
    >>> spelled_out(["a.csv", "--text-de"])
    (['a.csv', '--text-de'], '--text-de')
    """
    spelled: list[str] = []
    waiting = iter(args)
    for arg in waiting:
        typed = _TYPED.fullmatch(arg)
        if arg == "--" or typed is None:
            spelled.append(arg)
            if arg == "--":
                break
            continue
        column = typed["column"]
        if column is None:
            column = next(waiting, None)
        if column is None:
            return [*spelled, arg], arg
        spelled += [PLACEHOLDER, f"{typed['name']}={column}"]
    return [*spelled, *waiting], None


def columns_by_name(pairs: Iterable[str] | None) -> dict[str, str]:
    """The column of each medium, by the medium's name.

    >>> columns_by_name(["de=body", "en=title"])
    {'de': 'body', 'en': 'title'}
    """
    columns: dict[str, str] = {}
    for pair in pairs or ():
        name, _, column = pair.partition("=")
        if name in columns:
            raise typer.BadParameter("was typed twice", param_hint=f"--text-{name}")
        columns[name] = column
    return columns


def check_media(columns: Mapping[str, str], text: str | None, save_corpus: Path | None = None) -> None:
    """Refuse fewer than two media, and options that mean nothing for several."""
    if len(columns) < 2:
        raise typer.BadParameter(
            "--model multimodal-plsa needs two or more texts of each document: name their columns, such as "
            "--text-de german --text-en english",
            param_hint=PLACEHOLDER,
        )
    if text is not None:
        raise typer.BadParameter(
            f"every text has a name: say --text-NAME {text} in place of it", param_hint="--text"
        )
    if save_corpus is not None:
        raise typer.BadParameter(
            "a corpus has one text of each document: leave it out", param_hint="--save-corpus"
        )


def as_typed(columns: Mapping[str, str]) -> list[str]:
    """The options as they are typed, each with a space before it.

    >>> as_typed({"de": "body", "en": "the title"})
    [' --text-de body', " --text-en 'the title'"]
    """
    return [f" {shlex.join([f'--text-{name}', column])}" for name, column in columns.items()]


def check_names(bundle: Bundle, path: Path, columns: Mapping[str, str], text: str | None) -> None:
    """Refuse columns of texts that a model does not know, and other ones where it has several texts."""
    names = bundle.modalities
    if columns and not names:
        raise typer.BadParameter(
            f"{path} has one text of each document: say --text", param_hint=f"--text-{next(iter(columns))}"
        )
    if names and (text is not None or not columns):
        known = " or ".join(f"--text-{name}" for name in names)
        raise typer.BadParameter(
            f"{path} has several texts of each document: say which one a column holds, with {known}",
            param_hint="--text" if text is not None else PLACEHOLDER,
        )
    for name in columns:
        if name not in names:
            raise typer.BadParameter(
                f"{path} has no texts of that name; there are {', '.join(names)}", param_hint=f"--text-{name}"
            )
