"""``laconic transform``: new documents described by the topics of a saved model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from laconic.cli.options.arguments import Saved, Sources
from laconic.cli.options.declaring import but, command
from laconic.cli.options.modalities import check_names
from laconic.cli.options.table import MODALITIES, READING
from laconic.cli.screen.console import say, waiting, warn
from laconic.cli.screen.documents import tell_strangers
from laconic.cli.screen.reading import ReadingDisplay, tell_problems
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.bundle.reading import Batch
    from laconic.reading import Reading

EXAMPLES = """
Examples

  laconic transform model new.jsonl -o weights.parquet

  laconic transform model 'new/*.csv' --text body --id key -o weights.csv

  laconic transform model counts.mtx --vocabulary terms.txt -o weights.jsonl

  laconic transform model new.csv --text-de german -o weights.parquet
"""

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write: .parquet or .csv (the columns id, topic0, topic1, ...), or .jsonl (lines such "
        'as {"id": "7", "topics": {"3": 0.51}}, without zeros). Names stand behind numbers: "topic3 tennis".',
        show_default=False,
        readable=False,
    ),
]


Shares = Annotated[
    bool,
    typer.Option(
        "--shares",
        help="Divide the weights of each document by their sum, so that they are the topics' shares of it.",
        show_default=False,
    ),
]


@command(but(READING, "label", "date"), MODALITIES)
def transform(
    model: Saved,
    path: Sources,
    output: Output,
    *,
    shares: Shares = False,
    reading: dict[str, Any],
    columns: dict[str, str],
) -> None:
    """Give new documents their weights for the topics of a saved model.

    There is one row for every document, in their order; documents without any word of the model's vocabulary
    have only zeros, or all topics alike (plsa models). Columns of counts are matched to the model's words by
    name. The file appears when it is complete.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.bundle.reading import TextBatches, check_readable, matrix_batches, read_for
        from laconic.bundle.weights import check_target
        from laconic.corpus.sources import Holds, find_source

        check_target(output)
        bundle = load(model)
        check_names(bundle, model, columns, reading.get("text"))
        check_readable(bundle, model, columns)
        source = find_source(path, reading)
        if len(columns) > 1 or (columns and source.holds is not Holds.texts):
            source.check_columns()
        check_target(output, source.paths)
    with ReadingDisplay() as display:
        if source.holds is Holds.texts:
            texts = TextBatches(bundle, source, columns, reading, display)
            written = _write_weights(bundle, texts, columns, output, shares)
            found: Reading | None = texts.reading
            strangers = 0, 0
        else:
            counted = read_for(bundle, source, reading, progress=display)
            rows = matrix_batches(counted.corpus.ids.tolist(), bundle.weigh(counted.corpus.counts))
            written = _write_weights(bundle, rows, columns, output, shares)
            found, strangers = counted.reading, (counted.n_terms, counted.n_unknown)
    say(f"{plural(written.n_documents, 'document')} written to {output}", whole=True)
    tell_strangers(*strangers)
    if written.n_unknown == written.n_documents:
        warn(
            f"of {plural(written.n_documents, 'document')} none has a word that the model knows: are they of "
            "the same kind and language as those it was fitted to, and is --text the right column?"
        )
    elif written.n_unknown:
        documents = plural(written.n_unknown, "document")
        alike = "all weights are zero" if written.zero else "all topics have the same weight"
        say(f"{documents} without any word of the vocabulary: {alike}")
    tell_problems(found)


class Written(NamedTuple):
    """Numbers of documents in all, and of those without a known word; whether these have no weights."""

    n_documents: int
    n_unknown: int
    zero: bool


def _write_weights(
    bundle: Bundle, batches: Iterator[Batch], columns: Mapping[str, str], output: Path, shares: bool
) -> Written:
    """Write the weights of all documents."""
    import numpy as np

    from laconic.bundle.weights import writing_weights

    n_documents = n_unknown = 0
    zero = True
    options = {"modality": next(iter(columns))} if len(columns) == 1 else {}
    model = bundle.model
    with writing_weights(output, bundle) as write:
        for batch in batches:
            weights = model.transform(batch.X, **options)
            write(batch.ids, model.shares(weights) if shares else weights)
            unknown = np.flatnonzero(batch.empty)
            n_documents += len(batch.ids)
            n_unknown += len(unknown)
            zero = zero and not abs(weights[unknown]).sum()
    return Written(n_documents, n_unknown, zero)
