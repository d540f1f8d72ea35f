"""``laconic stability``: which topics of a saved model come back when it is fitted again."""

from __future__ import annotations

from typing import Annotated

import typer

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command
from laconic.cli.screen.console import emit, say, waiting
from laconic.cli.screen.returning import tell_returns, watched_returns
from laconic.cli.screen.tables import topics_table

EXAMPLES = """
Examples

  laconic stability model

  laconic stability model --refits 30 --seed 7
"""

Refits = Annotated[
    int,
    typer.Option(
        "--refits",
        metavar="NUMBER",
        min=1,
        help="How many random halves of the documents the model is fitted to.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", min=0, help="The seed of the random halves.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="NUMBER", help="How many fits to run at a time.", show_default="one per core"
    ),
]


@command()
def stability(model: Saved, refits: Refits = 10, seed: Seed = 0, jobs: Jobs = None) -> None:
    """Measure which topics of a saved model come back when it is fitted again.

    The model is fitted to random halves of its documents, with different seeds. A topic has come back if
    a topic of such a fit has at least half of its twenty heaviest words. How often each topic comes back
    is saved with the model, and shown wherever topics are listed.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.bundle.listing import Listing

        bundle = load(model)
    watched_returns(bundle, refits, seed, jobs)
    with waiting("saving the model"):
        bundle.save(model)
    emit(topics_table(Listing.of(bundle)))
    tell_returns(bundle)
    say(f"saved with {model}; laconic topics {model} shows it, too", whole=True)
