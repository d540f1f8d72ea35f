"""``laconic drift``: how the topics of a saved model change over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command, usage
from laconic.cli.screen.console import emit, emit_json, printable, say, waiting
from laconic.cli.screen.working import working
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.steering.drift import Course

MOVERS_SHOWN = 3
"""How many topics are shown unless one is named."""

EXAMPLES = """
Examples

  laconic drift model

  laconic drift model --by quarter --topic 3

  laconic drift model --json > drift.json
"""

By = Annotated[
    str,
    typer.Option(
        "--by", metavar="PERIOD", help="The length of a period: decade, year, quarter, month or day."
    ),
]
OneTopic = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="TOPIC",
        help="Show one topic, by its number or its name.",
        show_default=f"the {MOVERS_SHOWN} that moved most",
    ),
]
Words = Annotated[
    int, typer.Option("--terms", "-n", metavar="NUMBER", min=1, help="How many words to show and compare.")
]
Strength = Annotated[
    float,
    typer.Option(
        "--strength",
        metavar="NUMBER",
        min=0,
        help="How strongly topics are held near where they were in the previous period.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON: all topics in all periods.")]


@command()
def drift(
    model: Saved,
    by: By = "year",
    topic: OneTopic = None,
    terms: Words = 8,
    strength: Strength = 0.05,
    json: AsJson = False,
) -> None:
    """Show how the words of topics change over time.

    The documents saved with the model are divided into periods by date. The model is fitted to one period
    after another, and every topic is held near where it was in the last: it keeps its number, while its
    words follow the documents. A period with fewer documents than topics is joined with the next. The
    saved model does not change.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.checks import check_choice
        from laconic.corpus.periods import PERIODS

        with usage("--by"):
            check_choice("by", by, PERIODS)
        bundle = load(model)
        with usage("--topic"):
            number = None if topic is None else bundle.topic_number(topic)
    with working("fitting the model to every period") as tell:
        found = bundle.drift(by, strength=strength, n_terms=terms, progress=tell)
    shown = found.most_moved(MOVERS_SHOWN) if number is None else found.topics
    shown = [course for course in shown if number in (None, course.topic)]
    if json:
        emit_json({**found.to_dict(), **({} if number is None else {"topics": [c.to_dict() for c in shown]})})
        return
    for course in shown:
        emit(_table(course, bundle.notes.shown(course.topic)))
    if found.left_out:
        say(f"{plural(found.left_out, 'document')} without a date or without words left out")
    if number is None and len(found.topics) > len(shown):
        say(
            f"these are the topics that moved most, of {plural(len(found.topics), 'topic')}; to see another: "
            f"laconic drift {model} --topic NUMBER",
            whole=True,
        )


def _table(course: Course, called: str) -> Table:
    """A row for every period of a topic."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        header_style="bold",
        title=Text(f"topic {printable(called)}, moved by {course.moved:.2f}"),
        title_justify="left",
    )
    table.add_column("period", style="cyan", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("words")
    table.add_column("gained", style="green")
    table.add_column("lost", style="red")
    for moment in course.moments:
        words = (f"-{word}" if weight < 0 else word for word, weight in moment.words)
        columns = (", ".join(map(printable, some)) for some in (words, moment.gained, moment.lost))
        table.add_row(moment.period, f"{moment.share:.1%}", *map(Text, columns))
    return table
