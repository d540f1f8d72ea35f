"""Arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laconic.cli.options.table import DATA

_TEXTS = (
    "Files of texts (.jsonl, .json, .csv, .tsv, .xlsx, .parquet, or .txt with one document per line), a "
    "pattern such as 'news/*.csv', - for standard input, "
)

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help=f"{_TEXTS}a folder of .txt files, a file of counts (.svm, .mtx, docword.NAME.txt), or a saved "
        "corpus. All but Parquet and Excel may be compressed (.gz, .xz, .bz2, .zst).",
        show_default=False,
        readable=False,  # an error of the file, not of usage: told when it is opened
    ),
]
Texts = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help=f"{_TEXTS}or a folder of .txt files.",
        show_default=False,
        readable=False,
    ),
]
Saved = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="The directory of a saved model.", show_default=False, readable=False),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Let a Dask cluster do the work: the address of its scheduler, such as tcp://10.0.0.1:8786, or "
        "local:4 for four processes of this machine. The answer is the same.",
        show_default="threads",
    ),
]
CorpusPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="The documents: any files that `fit` reads, or a saved corpus (fit --save-corpus); may be "
        "repeated.",
        show_default=False,
        readable=False,
        rich_help_panel=DATA,
    ),
]
Blend = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        max=1,
        help="How much topics count in the score, from 0 (only words) to 1 (only topics).",
        show_default="that of the index",
    ),
]
