"""Several modalities of a document: ``--text-NAME COLUMN``, for any name; what other options say of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer

from laconic.cli.options.line import Option

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus.sources import Modality

PLACEHOLDER = "--text-NAME"
_TYPED = re.compile(r"--text-(?P<name>[^=]+)(?:=(?P<column>.*))?", re.DOTALL)


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


def columns_as_typed(columns: Mapping[str, str]) -> list[str]:
    """The options as they are typed, each with a space before it.

    >>> columns_as_typed({"de": "body", "en": "the title"})
    [' --text-de body', " --text-en 'the title'"]
    """
    return [f" {shlex.join([f'--text-{name}', column])}" for name, column in columns.items()]


class ByModality(dict[str, Any]):
    """What an option says of each modality that it names."""

    option: Option
    typed: str

    @classmethod
    def read(cls, option: Option, typed: str) -> Self:
        """Take ``de=german,en=english`` apart."""
        found = cls()
        found.option, found.typed = option, typed
        said: dict[str, list[str]] = {}
        name = ""
        for part in typed.split(","):
            # what has no name goes on with what was said of the last: de=german,my.txt,en=english
            head, equals, value = part.partition("=")
            name, value = (head, value) if equals else (name, part)
            if not name or not value:
                raise typer.BadParameter(
                    f"{part!r} in {typed!r} should be NAME=VALUE, with the name of a modality"
                )
            said.setdefault(name, []).append(value)
        found.update({name: option.value(",".join(values)) for name, values in said.items()})
        return found

    def check(self, names: Sequence[str]) -> None:
        """Refuse names of other modalities than these."""
        for name in self:
            if name not in names:
                there_are = ", ".join(names) or "none: every document has one text"
                raise typer.BadParameter(
                    f"{name!r} in {self.typed!r} is not one of the modalities {there_are}",
                    param_hint=self.option.flag,
                )


def modalities_of(columns: Mapping[str, str], terms: Mapping[str, Any]) -> list[Modality]:
    """What is read of every document: the text of each column, by its name, or else one without a name.

    Parameters
    ----------
    columns : mapping of str to str
        From names to columns; empty if documents have one modality.
    terms : mapping of str to object
        The options of a `Vectorizer`; those that say different things of modalities are `ByModality`.

    Returns
    -------
    list of Modality
        In the order of `columns`.
    """
    from laconic.corpus.sources import Modality

    for value in terms.values():
        if isinstance(value, ByModality):
            value.check(list(columns))

    def of(modality: str) -> Any:
        said = {
            name: value.get(modality, _NOTHING) if isinstance(value, ByModality) else value
            for name, value in terms.items()
        }
        return {name: value for name, value in said.items() if value is not _NOTHING}

    if not columns:
        return [Modality("", None, of(""))]
    return [Modality(name, column, of(name)) for name, column in columns.items()]


_NOTHING = object()


def check_fit(columns: Mapping[str, str], text: str | None, save_corpus: Path | None = None) -> None:
    """Refuse fewer than two modalities, and options that mean nothing for several."""
    if len(columns) < 2:
        raise typer.BadParameter(
            "--model multimodal-plsa needs two or more modalities: name their columns, such as --text-de "
            "german --text-en english",
            param_hint=PLACEHOLDER,
        )
    if text is not None:
        raise typer.BadParameter(
            f"every modality needs a name: use --text-NAME {text} instead", param_hint="--text"
        )
    if save_corpus is not None:
        raise typer.BadParameter(
            "a saved corpus has only one modality: leave out this option", param_hint="--save-corpus"
        )


def check_names(bundle: Bundle, path: Path, columns: Mapping[str, str], text: str | None) -> None:
    """Refuse columns of modalities that a model does not know, and other ones where it has several."""
    names = bundle.modalities
    if columns and not names:
        raise typer.BadParameter(
            f"{path} has only one modality: use --text",
            param_hint=f"--text-{next(iter(columns))}",
        )
    if names and (text is not None or not columns):
        known = " or ".join(f"--text-{name}" for name in names)
        raise typer.BadParameter(
            f"{path} has several modalities: say which one the column holds, with {known}",
            param_hint="--text" if text is not None else PLACEHOLDER,
        )
    for name in columns:
        if name not in names:
            raise typer.BadParameter(
                f"{path} has no modality of that name; it has {', '.join(names)}",
                param_hint=f"--text-{name}",
            )
