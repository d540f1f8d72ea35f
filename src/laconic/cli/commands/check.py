"""``laconic check``: whether what was saved is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laconic.cli.options.declaring import command
from laconic.cli.screen.console import fail, printable, waiting
from laconic.cli.screen.errors import DEBUG, FAILED
from laconic.cli.screen.errors import described as told

EXAMPLES = """
Examples

  laconic check model

  laconic check model nips.corpus fit.checkpoint && echo intact
"""

Directories = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR",
        help="Directories of saved models, corpora, search indexes and checkpoints.",
        show_default=False,
        readable=False,
    ),
]


@command()
def check(paths: Directories) -> None:
    """Check that saved models, corpora, search indexes and checkpoints are intact.

    Every file is read, and its checksum, shape and version are checked. If something is missing or
    damaged, it is named, and the exit code is 1. Nothing is changed.
    """
    from laconic.wholeness import check_directory, described

    damaged = False
    for path in paths:
        try:
            with waiting(f"checking {path}"):
                found = check_directory(path)
        except (ValueError, OSError) as error:
            if DEBUG.get():
                raise
            fail(told(error))
            damaged = True
        else:
            typer.echo(printable(described(path, found)))
    if damaged:
        raise typer.Exit(FAILED)
