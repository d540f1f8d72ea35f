"""``laconic transform``: new documents described by the topics of a saved model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from laconic.cli.options.arguments import Dask, Saved, Sources
from laconic.cli.options.declaring import but, command
from laconic.cli.options.modalities import check_names
from laconic.cli.options.table import DATA, MODALITIES, READING
from laconic.cli.screen.console import say, waiting, warn
from laconic.cli.screen.documents import tell_strangers
from laconic.cli.screen.reading import ReadingDisplay, tell_problems
from laconic.cli.standard_input import spooled
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.bundle.folding import Folded
    from laconic.reading import Reading

EXAMPLES = """
Examples

  laconic transform model new.jsonl -o weights.parquet

  laconic transform model 'new/*.csv' --text body --id key -o weights.csv

  laconic transform model counts.mtx --vocabulary terms.txt -o weights.jsonl

  laconic transform model new.csv --text-de german -o weights.parquet

  laconic transform model new.csv --text body --keep author,date -o weights.xlsx

  laconic transform model huge.jsonl --dask tcp://scheduler:8786 -o weights.parquet

  cat new.jsonl | laconic transform model - -o - > weights.csv
"""

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write: .parquet, .csv or .xlsx (the columns id, topic0, topic1, ...), .jsonl (lines "
        'such as {"id": "7", "topics": {"3": 0.51}}, without zeros), or - for CSV on standard output. Names '
        'follow the numbers: "topic3 tennis".',
        show_default=False,
        readable=False,
    ),
]


Shares = Annotated[
    bool,
    typer.Option(
        "--shares",
        help="Scale the weights of each document to sum to one, so that they are shares.",
        show_default=False,
    ),
]


Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLUMNS",
        help="Columns of the input to write as well, such as --keep author,date.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]


@command(but(READING, "label", "date"), MODALITIES)
def transform(
    model: Saved,
    path: Sources,
    output: Output,
    *,
    shares: Shares = False,
    keep: Keep = None,
    dask: Dask = None,
    reading: dict[str, Any],
    columns: dict[str, str],
) -> None:
    """Compute the topic weights of new documents.

    The output has one row per document, in the order of the input. Documents without any known word get
    only zeros, or the same weight for all topics (plsa models). Group models also predict the class of
    each document, in the column "class". Columns of counts are matched to the model's words by name. The
    file appears only when it is complete.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.bundle.folding import Folding, fold_all, fold_collection
        from laconic.bundle.reading import (
            TextBatches,
            check_readable,
            matrix_batches,
            read_for,
            stored_for,
        )
        from laconic.bundle.weights import STANDARD, check_target
        from laconic.corpus.sources import Holds, find_source

        check_target(output)
        bundle = load(model)
        check_names(bundle, model, columns, reading.get("text"))
        check_readable(bundle, model, columns)
        kept = kept_columns(keep, reading)
        path = spooled(path, {**reading, "keep": kept} if kept else reading, columns)
        source = find_source(path, reading)
        if kept and source.holds is not Holds.texts:
            raise typer.BadParameter(f"{source.path} has no columns to keep", param_hint="--keep")
        if len(columns) > 1 or (columns and source.holds is not Holds.texts):
            source.check_columns()
        check_target(output, source.paths)
    with ExitStack() as stack:
        engine = None
        if dask is not None:
            from laconic.engines.connecting import connected

            with waiting(f"connecting to {dask}"):
                client = stack.enter_context(connected(dask))
            from laconic.engines.dask import DaskEngine

            engine = DaskEngine(client)
        display = stack.enter_context(ReadingDisplay())
        if source.holds is Holds.texts:
            texts = TextBatches(bundle, source, columns, {**reading, "keep": kept}, display)
            folded = fold_all(Folding.of(bundle.model, columns), texts, engine)
            written = _write_weights(bundle, folded, output, shares, kept)
            found: Reading | None = texts.reading
            strangers = 0, 0
        elif source.holds is Holds.corpus and engine is not None:
            stored = stored_for(bundle, source)
            folding = Folding.of(bundle.model, columns)
            folded = fold_collection(folding, stored.collection, stored.ids, engine)
            written = _write_weights(bundle, folded, output, shares)
            found, strangers = None, (stored.n_terms, stored.n_unknown)
        else:
            counted = read_for(bundle, source, reading, progress=display)
            rows = matrix_batches(counted.corpus.ids.tolist(), bundle.weigh(counted.corpus.counts))
            folded = fold_all(Folding.of(bundle.model, columns), rows, engine)
            written = _write_weights(bundle, folded, output, shares)
            found, strangers = counted.reading, (counted.n_terms, counted.n_unknown)
    if output != STANDARD:
        say(f"{plural(written.n_documents, 'document')} written to {output}", whole=True)
    tell_strangers(*strangers)
    if written.n_unknown == written.n_documents:
        warn(
            f"none of {plural(written.n_documents, 'document')} has a word that the model knows: are they in "
            "the same language as the documents of the fit, and is --text the right column?"
        )
    elif written.n_unknown:
        documents = plural(written.n_unknown, "document")
        alike = "all weights are zero" if written.zero else "all topics have the same weight"
        guess = ", and the class is a guess" if bundle.model.traits.classes else ""
        say(f"{documents} without any known word: {alike}{guess}")
    tell_problems(found)


def kept_columns(typed: list[str] | None, reading: dict[str, Any]) -> list[str]:
    """The columns to keep, each of them once; that of the ids, which are written anyway, is none of them."""
    names = [name.strip() for one in typed or () for name in one.split(",")]
    kept = list(dict.fromkeys(filter(None, names)))
    if "id" in kept and "id" not in reading:
        reading["id"] = "id"
    return [name for name in kept if name != reading.get("id")]


class Written(NamedTuple):
    """Numbers of documents in all, and of those without a known word; whether these have no weights."""

    n_documents: int
    n_unknown: int
    zero: bool


def _write_weights(
    bundle: Bundle,
    batches: Iterable[Folded],
    output: Path,
    shares: bool,
    kept: Sequence[str] = (),
) -> Written:
    """Write the weights of all documents, what is kept of them and, if there are classes, theirs."""
    import numpy as np

    from laconic.bundle.weights import writing_weights

    model = bundle.model
    n_documents = n_unknown = 0
    zero = True
    header = [*([class_column(kept)] if model.traits.classes else []), *kept]
    with writing_weights(output, bundle, header) as write:
        for batch in batches:
            values: Sequence[Sequence[object]] = batch.kept or [()] * len(batch.ids)
            if batch.classes is not None:
                values = [(label, *own) for label, own in zip(batch.classes.tolist(), values, strict=True)]
            weights = batch.weights
            write(batch.ids, model.shares(weights) if shares else weights, values)
            unknown = np.flatnonzero(batch.empty)
            n_documents += len(batch.ids)
            n_unknown += len(unknown)
            zero = zero and not abs(weights[unknown]).sum()
    return Written(n_documents, n_unknown, zero)


def class_column(kept: Sequence[str]) -> str:
    """What the column of predicted classes is called."""
    return "predicted_class" if "class" in kept else "class"
