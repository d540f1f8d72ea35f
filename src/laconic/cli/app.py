"""``laconic``: the commands and what they have in common."""

from __future__ import annotations

import inspect
import os
import re
from typing import Annotated

import typer

from laconic import __version__
from laconic.cli.commands import (
    check,
    choose,
    datasets,
    demo,
    drift,
    edit,
    evaluate,
    fit,
    predict,
    report,
    reproduce,
    search,
    serve,
    stability,
    topics,
    transform,
    translate,
    update,
)
from laconic.cli.options.parsing import CommandsGroup, OptionsCommand
from laconic.cli.screen.console import show_logged
from laconic.cli.screen.errors import DEBUG

EXAMPLES = """
Start with

  laconic demo

or with a file of your own, such as a CSV file with a column of texts:

  laconic fit texts.csv --text body -o model

Let the Tab key complete commands, options and names of columns:

  laconic --install-completion
"""


def _flowing(text: str) -> str:
    r"""Join the lines of each paragraph: a terminal has other widths than the source.

    >>> _flowing("One line\n    and another.\n\n    The end.")
    'One line and another.\n\nThe end.'
    """
    return re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(text))


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"laconic {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="On an error, show the full traceback. LACONIC_DEBUG=1 does the same.",
    ),
]

app = typer.Typer(
    cls=CommandsGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback(epilog=EXAMPLES)
def _laconic(version: Version = False, debug: Debug = False) -> None:
    """Topic models in few words: topics that are short enough to read."""
    # not typer's envvar, which some of its versions do not read for flags
    DEBUG.set(debug or os.environ.get("LACONIC_DEBUG", "").lower() in ("1", "true", "yes", "on"))
    show_logged()


for _command, _examples in (
    (demo.demo, demo.EXAMPLES),
    (fit.fit, fit.EXAMPLES),
    (choose.choose, choose.EXAMPLES),
    (update.update, update.EXAMPLES),
    (topics.topics, topics.EXAMPLES),
    (transform.transform, transform.EXAMPLES),
    (predict.predict, predict.EXAMPLES),
    (translate.translate, translate.EXAMPLES),
    (search.search, search.EXAMPLES),
    (report.report, report.EXAMPLES),
    (check.check, check.EXAMPLES),
    (serve.serve, serve.EXAMPLES),
    (evaluate.evaluate, evaluate.EXAMPLES),
    (stability.stability, stability.EXAMPLES),
    (drift.drift, drift.EXAMPLES),
    (edit.edit, edit.EXAMPLES),
    (reproduce.reproduce, reproduce.EXAMPLES),
):
    app.command(help=_flowing(_command.__doc__ or ""), epilog=_examples, cls=OptionsCommand)(_command)
app.add_typer(datasets.app, name="datasets", help=_flowing(datasets.datasets.__doc__ or ""))
