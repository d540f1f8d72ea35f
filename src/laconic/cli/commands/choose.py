"""``laconic choose``: what speaks for which number of topics."""

from __future__ import annotations

import json as notation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.options.arguments import Sources
from laconic.cli.options.declaring import but, command, usage
from laconic.cli.options.table import MODEL, READING, RUN, TERMS
from laconic.cli.screen.console import emit, emit_json, say, waiting, warn
from laconic.cli.screen.reading import ReadingDisplay, describe, tell_problems
from laconic.cli.screen.working import working
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.steering.choice import Choice

EXAMPLES = """
Examples

  laconic choose news.csv --text body

  laconic choose news.csv --text body -k 10,20,50,100 --words 30 -o choice.html

  laconic choose corpus -k 5,10,15 --runs 10 --json > choice.json

  laconic choose news.csv --text body --into model
"""

NUMBERS = "10,20,50,100"
BAR = 8

Numbers = Annotated[
    str,
    typer.Option(
        "--topics", "-k", metavar="NUMBERS", help="The numbers of topics to try, separated by commas."
    ),
]
Runs = Annotated[
    int,
    typer.Option(
        "--runs",
        metavar="NUMBER",
        min=2,
        help="How many random halves of the documents each model is fitted to.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a chart (.svg), a page with chart and numbers (.html), or all numbers (.json).",
        show_default=False,
        readable=False,
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        metavar="MODEL",
        help="Keep what was found in this saved model, too: its report and explorer show it.",
        show_default=False,
        readable=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output instead of the table.")]

KINDS = (".svg", ".html", ".json")


@command(but(READING, "label", "date"), TERMS, but(MODEL, "n_topics", "n_shared", "n_per_class"), RUN)
def choose(
    path: Sources,
    numbers: Numbers = NUMBERS,
    runs: Runs = 5,
    output: Output = None,
    into: Into = None,
    json: AsJson = False,
    *,
    reading: dict[str, Any],
    terms: dict[str, Any],
    parameters: dict[str, Any],
) -> None:
    """Compare several numbers of topics and recommend one.

    For each number, models are fitted to random halves of the documents with different seeds. The table
    shows how much of unseen documents the topics predict (held-out), how well the words of a topic go
    together (coherence), how many words are repeated (redundancy), and whether the same topics come back
    (stability). One number is recommended, with the reason.
    """
    with waiting("looking at the files"):
        from laconic.bundle import load
        from laconic.bundle.fitting import check_counted
        from laconic.corpus.sources import Modality, find_source
        from laconic.models.making import make_model
        from laconic.steering.choice import checked_numbers, choose_among
        from laconic.steering.refits import check_refittable
        from laconic.storage.files import appearing, sync

        if output is not None and output.suffix.lower() not in KINDS:
            raise typer.BadParameter(
                f"{output} has the suffix {output.suffix!r}; use one of {', '.join(KINDS)}",
                param_hint="--output",
            )
        if into is not None:
            # not after all fits
            load(into)
        tried = _read_numbers(numbers)
        given = {key: value for key, value in parameters.items() if key not in ("model", "graph")}
        with usage("--topics"):
            tried = checked_numbers(tried)
        with usage():
            model = make_model(parameters["model"], tried[0], **given)
            check_refittable(model)
            check_counted(model, terms)
        source = find_source(path, {**reading, **terms})
    vectorizing: Any = terms
    with ReadingDisplay() as display:
        corpus = source.corpora(reading, [Modality("", None, vectorizing)], display)[""]
    say(f"read {describe(corpus)}")
    tell_problems(corpus.reading)
    fits = plural(len(tried) * (runs + 1), "fit")
    with working(f"{fits} of {len(tried)} models") as tell:
        seed = parameters.get("random_state", 0)
        choice = choose_among(
            model, tried, corpus, n_runs=runs, random_state=seed, n_jobs=parameters.get("n_jobs"), tell=tell
        )
    if json:
        emit_json(choice.to_dict())
    else:
        emit(_table(choice))
    say(choice.reason)
    for message in choice.warnings:
        warn(message)
    if output is not None:
        with appearing(output) as temporary, temporary.open("w", encoding="utf-8") as file:
            file.write(_written(choice, output.suffix.lower()))
            sync(file)
        say(f"written to {output}", whole=True)
    if into is not None:
        with waiting(f"saving {into}"):
            # as it is by now
            bundle = load(into)
            bundle.chosen = choice.record()
            bundle.save(into)
        say(f"kept in {into}", whole=True)


def _written(choice: Choice, suffix: str) -> str:
    """What a file of a choice holds."""
    from laconic.steering.pictures import choice_page

    if suffix == ".json":
        return notation.dumps(choice.to_dict(), indent=1) + "\n"
    return choice.to_svg() if suffix == ".svg" else choice_page(choice)


def _read_numbers(typed: str) -> list[int]:
    try:
        return [int(part) for part in typed.split(",")]
    except ValueError as error:
        raise typer.BadParameter(
            f"{typed!r} is not a list of whole numbers separated by commas, such as {NUMBERS}",
            param_hint="--topics",
        ) from error


def _table(choice: Choice) -> Table:
    """A row for each number of topics, with a bar for the mean of all measures."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("topics", justify="right", style="cyan", no_wrap=True)
    for name in ("held-out", "coherence", "redundancy", "stability", "return"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("overall", no_wrap=True)
    for one in choice.candidates:
        chosen = one.n_topics == choice.recommended
        measures = (one.held_out, one.coherence, one.redundancy, one.stability)
        bar = "█" * max(0, round(BAR * one.overall.mean))
        table.add_row(
            str(one.n_topics),
            *(f"{measure.mean:.3f}" for measure in measures),
            f"{one.returning:.0%}",
            Text(f"{one.overall.mean:.2f} {bar}{' *' if chosen else ''}", style="green" if chosen else ""),
            style="bold" if chosen else "",
        )
    return table
