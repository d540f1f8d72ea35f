"""``laconic reproduce``: run the experiments of a paper, and put our numbers beside the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.options.declaring import command
from laconic.cli.screen.console import emit, say, waiting
from laconic.words import clock

if TYPE_CHECKING:
    from laconic.experiments import Experiment
    from laconic.experiments.parts import Results

EXAMPLES = """
Examples

  laconic reproduce

  laconic reproduce priors --quick

  laconic reproduce gplsa

  laconic reproduce gplsa --part europarl

  laconic reproduce gplsa --render
"""

RESULTS = Path("results")
PAGES = Path("docs", "papers")
QUICK = RESULTS / "quick"

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="The experiment to run. Without a name, all are listed.", show_default=False
    ),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help=f"Run a small version, about a minute per part. Results go to {QUICK}."),
]
Parts = Annotated[
    list[str] | None,
    typer.Option(
        "--part", metavar="PART", help="Run only this part; may be repeated. Other results stay as they are."
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Start interrupted parts from scratch instead of continuing them."),
]
Render = Annotated[
    bool, typer.Option("--render", help="Run nothing; only write the page again from existing results.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help=f"Folder for results, page and figures, instead of {RESULTS} and {PAGES} in the current folder.",
        show_default=False,
        file_okay=False,
    ),
]


@command()
def reproduce(
    name: Name = None,
    part: Parts = None,
    quick: Quick = False,
    fresh: Fresh = False,
    render: Render = False,
    output: Output = None,
) -> None:
    """Run the experiments of a paper on your copy of the data.

    The numbers, ours and the paper's, are written to results/NAME.json, and a page about them to
    docs/papers/NAME.md. Results are saved after each part, and long parts save what they have found so
    far: the same command continues where it was interrupted. `laconic datasets` shows where data sets are
    looked for.
    """
    from laconic.experiments import find
    from laconic.experiments.pages import write
    from laconic.experiments.running import read_results

    if name is None:
        if part or quick or fresh or render or output:
            raise ValueError("name an experiment; `laconic reproduce` lists them")
        _list()
        return
    experiment = find(name)
    numbers, pages = _folders(quick, output)
    path = numbers / f"{experiment.name}.json"
    if render and part:
        raise ValueError("--render writes the whole page: leave out --part")
    results = read_results(experiment, path) if render else _run(experiment, path, part or [], quick, fresh)
    where = f" --output {output}" if output else " --quick" if quick else ""
    page, note = write(experiment, results, pages, where)
    say(f"numbers written to {path}, page to {page}", whole=True)
    if note:
        say(note, whole=True)


def _folders(quick: bool, output: Path | None) -> tuple[Path, Path]:
    """Where results and pages go; the quick ones never to the place of the others unless one asks for it."""
    if output is not None:
        return output, output
    return (QUICK, QUICK) if quick else (RESULTS, PAGES)


def _run(
    experiment: Experiment, path: Path, parts: list[str], quick: bool, fresh: bool
) -> dict[str, Results]:
    from laconic.experiments.running import run

    finished: list[str] = []
    with waiting(f"{experiment.name}: starting") as status:

        def show(message: str) -> None:
            status.update(Text(f"{experiment.name}: {message}"))

        def done(part: str, seconds: float) -> None:
            finished.append(part)
            say(f"{experiment.name}: {part} took {clock(seconds)}")

        try:
            return run(experiment, path, parts=parts, quick=quick, fresh=fresh, say=show, done=done)
        except KeyboardInterrupt:
            kept = (
                f"the results of {', '.join(finished)} are in {path}" if finished else "nothing was written"
            )
            raise KeyboardInterrupt(f"{kept}; the same command continues with the interrupted part") from None


def _list() -> None:
    from laconic.datasets.folders import lookup
    from laconic.experiments import EXPERIMENTS

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("experiment", style="cyan", no_wrap=True)
    table.add_column("what it is about")
    table.add_column("minutes", justify="right")
    table.add_column("parts")
    table.add_column("data missing")
    for experiment in EXPERIMENTS.values():
        names = dict.fromkeys(name for needed in experiment.needs.values() for name in needed)
        missing = ", ".join(name for name in names if not lookup(name).present)
        table.add_row(
            experiment.name,
            experiment.summary,
            str(experiment.minutes),
            ", ".join(experiment.needs),
            Text(missing, style="yellow") if missing else Text("none", style="green"),
        )
    emit(table)
