"""``laconic update``: new documents for a model that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from laconic.cli.options.arguments import Saved, Sources
from laconic.cli.options.declaring import command, usage
from laconic.cli.options.table import READING
from laconic.cli.screen.console import emit, say, waiting
from laconic.cli.screen.tables import topics_table
from laconic.words import plural

EXAMPLES = """
Examples

  laconic update model new.jsonl

  laconic update model december.csv --text body --new-topics 5

  laconic update model december.csv --text body --freeze -o december
"""

NewTopics = Annotated[
    int,
    typer.Option("--new-topics", metavar="NUMBER", min=0, help="How many topics to add for new subjects."),
]
Strength = Annotated[
    float,
    typer.Option(
        "--strength",
        metavar="NUMBER",
        min=0,
        help="How strongly old topics are held in place: at 1, they weigh as much as the new documents.",
    ),
]
Freeze = Annotated[bool, typer.Option("--freeze", help="Keep old topics exactly as they are.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where to save the new model.",
        show_default="the model itself, which is replaced",
        readable=False,
    ),
]


@command(READING)
def update(
    model: Saved,
    path: Sources,
    new_topics: NewTopics = 0,
    strength: Strength = 1.0,
    freeze: Freeze = False,
    output: Output = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Add new documents to a model: old topics stay, and new ones can be added.

    Topics keep their numbers and names. New words are added to the vocabulary, and new documents to those
    of the model. The model is replaced only once everything is written, so a crash leaves the old one.
    `laconic edit MODEL --undo` restores it.
    """
    from laconic.bundle.kind import MODEL
    from laconic.storage.writing import check_writable

    target = output or model
    check_writable(target, MODEL)
    named = {"label": "labels", "date": "dates", "id": "ids"}
    options = {named.get(name, name): value for name, value in reading.items()}
    with waiting(f"loading {model}") as status:
        from laconic.bundle import load
        from laconic.bundle.listing import Listing

        bundle = load(model)
        status.update("reading the documents and finding topics")
        with usage():
            newer = bundle.update(path, new_topics, strength=strength, freeze=freeze, **options)
        status.update("saving the model")
        newer.save(target, parent=None if output else bundle.version)
    words = newer.model.n_features_in_ - bundle.model.n_features_in_
    say(
        f"{plural(words, 'new word')}, {plural(new_topics, 'new topic')}; model saved to {target}", whole=True
    )
    emit(topics_table(Listing.of(newer)))
