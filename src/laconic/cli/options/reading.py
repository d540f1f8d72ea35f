"""The options of `fit` and `transform` that say what is read and how.

None stands for an option that was not typed; see `term_options`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from laconic.cli import completion

DATA = "Reading the collection"


class OnErrorName(Enum):
    """What becomes of rows that cannot be used."""

    stop = "raise"
    skip = "skip"


Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Files of texts (.jsonl, .csv, .tsv, .parquet, or .txt with a document in each line), a pattern "
        "such as 'news/*.csv', a folder of .txt files, a file of counts (.svm, .mtx, docword.NAME.txt), or a "
        "saved corpus. All but Parquet may be compressed (.gz, .xz, .bz2, .zst).",
        show_default=False,
        readable=False,  # an error of the file, not of usage: told when it is opened
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the text.",
        show_default="text",
        autocompletion=completion.columns,
        rich_help_panel=DATA,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help='The column of the label; "folder" takes the names of sub-folders, "label" those of SVMlight.',
        autocompletion=completion.columns,
        rich_help_panel=DATA,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the id.",
        show_default="numbered",
        autocompletion=completion.columns,
        rich_help_panel=DATA,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of the file or files.",
        show_default="utf-8",
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        help=r"What stands between the fields of .csv and .tsv files, such as ';' or '\t'.",
        show_default="a comma or a tab",
        rich_help_panel=DATA,
    ),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="For counts: the terms of the columns, one in each line.",
        show_default="vocab.NAME.txt for a docword.NAME.txt, otherwise numbers",
        readable=False,
        rich_help_panel=DATA,
    ),
]
OnErrorOption = Annotated[
    OnErrorName | None,
    typer.Option(
        help="Whether a row that cannot be used ends the reading, or is left out and told.",
        show_default="raise",
        rich_help_panel=DATA,
    ),
]


def reading_options(
    *,
    text: str | None,
    id: str | None,
    encoding: str | None,
    delimiter: str | None,
    vocabulary: Path | None,
    on_error: OnErrorName | None,
    label: str | None = None,
) -> dict[str, Any]:
    """The options of a reader: those that were typed."""
    typed = {
        "text": text,
        "label": label,
        "id": id,
        "encoding": encoding,
        # Most shells have no simple way to type a tab.
        "delimiter": "\t" if delimiter == r"\t" else delimiter,
        "vocabulary": vocabulary,
        "on_error": None if on_error is None else on_error.value,
    }
    return {name: value for name, value in typed.items() if value is not None}


def as_typed(options: Mapping[str, Any], also: tuple[str, ...] = ()) -> str:
    """The options of reading that the next command needs, too, as they are typed.

    >>> as_typed({"text": "body", "label": "kind", "delimiter": ";"})
    " --text body --delimiter ';'"
    """
    needed = ("text", *also, "encoding", "delimiter", "vocabulary")
    return "".join(
        f" --{name} {shlex.quote(str(options[name]).replace(chr(9), chr(92) + 't'))}"
        for name in needed
        if name in options
    )
