"""``laconic topics``: what a saved model has found."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command
from laconic.cli.screen.console import emit, say, speaks_unicode, waiting
from laconic.cli.screen.tables import TERMS_SHOWN, topics_csv, topics_json, topics_table
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle.listing import Listing

EXAMPLES = """
Examples

  laconic topics model

  laconic topics model --terms 40 --no-weights

  laconic topics model --json > topics.json
"""

Terms = Annotated[
    int | None,
    typer.Option(
        "--terms",
        "-n",
        metavar="NUMBER",
        min=1,
        help="At most that many words of each topic.",
        show_default=f"{TERMS_SHOWN}; all with --json and --csv",
    ),
]
Weights = Annotated[
    bool, typer.Option(help="Show the weights of the words (--json and --csv always have them).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON: a list of topics with their terms.")]
AsCsv = Annotated[
    bool, typer.Option("--csv", help="Write CSV: the columns topic (and name), rank, term and weight.")
]


@command()
def topics(
    model: Saved, terms: Terms = None, weights: Weights = True, json: AsJson = False, csv: AsCsv = False
) -> None:
    """List the topics of a saved model, the heaviest words first.

    Words that count against a topic are marked with a minus. The numbers of topics are those of the model's
    rows; they never change. If documents have several modalities, the words of each stand side by side.
    """
    if json and csv:
        raise typer.BadParameter("choose one of --json and --csv", param_hint="--csv")
    with waiting(f"loading {model}"):
        from laconic.bundle.listing import read_listing

        listing = read_listing(model)
    n_terms = terms or (listing.n_terms if json or csv else TERMS_SHOWN)
    if not listing.named:
        say("this model was saved without a vocabulary: words are the numbers of columns")
    if json:
        sys.stdout.write(topics_json(listing, n_terms, ascii_only=not speaks_unicode(sys.stdout.encoding)))
    elif csv:
        sys.stdout.write(topics_csv(listing, n_terms))
    else:
        table = topics_table(listing, n_terms, weights=weights)
        table.title, table.title_justify = _headline(listing), "left"
        emit(table)


def _headline(listing: Listing) -> str:
    return (
        f"{listing.model}: {plural(len(listing.sizes), 'topic')}, {listing.n_alive} alive, "
        f"over {plural(listing.n_terms, 'term')} (density {listing.density:.2%})"
    )
