"""``laconic report``: a model as one file to pass on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command
from laconic.cli.screen.console import say, waiting
from laconic.words import size

EXAMPLES = """
Examples

  laconic report model

  laconic report model -o reviews.html --title "What customers write" --documents 3
"""

Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.", readable=False)
]
Shown = Annotated[
    int,
    typer.Option(
        "--documents",
        metavar="NUMBER",
        min=0,
        help="How many typical documents of each topic to quote. By default none, because reports are made "
        "to be shared.",
    ),
]
Title = Annotated[
    str | None,
    typer.Option("--title", metavar="TEXT", help="The title of the report.", show_default="the model's name"),
]


@command()
def report(
    model: Saved, output: Output = Path("report.html"), documents: Shown = 0, title: Title = None
) -> None:
    """Write a report: one HTML file that you can mail, open anywhere and print.

    The report has a summary in plain words, a map and a table of the topics, a card for each of them, and
    how the model was made. It fetches nothing from the network, and contains no documents unless you ask
    for them.
    """
    with waiting(f"loading {model}") as status:
        from laconic.bundle import load

        bundle = load(model)
        status.update("writing the report")
        path = bundle.report(output, documents=documents, title=title or model.absolute().name)
    say(f"report written to {path} ({size(path.stat().st_size)}): open it in a browser", whole=True)
