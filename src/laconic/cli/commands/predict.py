"""``laconic predict``: the classes of new documents, by a model that was fitted to classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from laconic.cli.commands.transform import Keep, class_column, kept_columns
from laconic.cli.options.arguments import Saved, Sources
from laconic.cli.options.declaring import but, command
from laconic.cli.options.table import READING
from laconic.cli.screen.console import say, waiting, warn
from laconic.cli.screen.reading import ReadingDisplay, tell_problems
from laconic.cli.standard_input import spooled
from laconic.words import plural

EXAMPLES = """
Examples

  laconic fit news.csv --text body --label section --model group-rlsi -o model

  laconic predict model new.csv --text body

  laconic predict model new.csv --text body --keep title,date -o classes.xlsx
"""

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write: .csv, .parquet, .xlsx or .jsonl, with the columns id and class; - is CSV on "
        "standard output.",
        readable=False,
    ),
]


@command(but(READING, "label", "date"))
def predict(
    model: Saved, path: Sources, output: Output = Path("-"), keep: Keep = None, *, reading: dict[str, Any]
) -> None:
    """Predict the class of new documents.

    The class is the one whose topics explain the document best. This needs a group model (fit --model
    group-rlsi or group-nmf, with --label). `laconic transform` writes the topic weights as well.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.bundle.reading import TextBatches, check_readable, matrix_batches, read_for
        from laconic.bundle.weights import STANDARD, check_target, writing_rows
        from laconic.corpus.sources import Holds, find_source

        check_target(output)
        bundle = load(model)
        if not bundle.model.traits.classes:
            raise ValueError(
                f"{model} has no classes to predict: fit a model with --model group-rlsi and --label"
            )
        check_readable(bundle, model, ())
        kept = kept_columns(keep, reading)
        source = find_source(spooled(path, {**reading, "keep": kept} if kept else reading, {}), reading)
        if kept and source.holds is not Holds.texts:
            raise typer.BadParameter(f"{source.path} has no columns to keep", param_hint="--keep")
        check_target(output, source.paths)
    n_documents = n_unknown = 0
    with ReadingDisplay() as display, writing_rows(output, [class_column(kept), *kept]) as write:
        if source.holds is Holds.texts:
            batches: Any = TextBatches(bundle, source, {}, {**reading, "keep": kept}, display)
        else:
            counted = read_for(bundle, source, reading, progress=display)
            batches = matrix_batches(counted.corpus.ids.tolist(), bundle.weigh(counted.corpus.counts))
        for batch in batches:
            found = bundle.model.predict(batch.X).tolist()
            own = batch.kept or [()] * len(found)
            values = [(label, *more) for label, more in zip(found, own, strict=True)]
            write(batch.ids, None, values)
            n_documents += len(found)
            n_unknown += int(batch.empty.sum())
    if output != STANDARD:
        say(f"classes of {plural(n_documents, 'document')} written to {output}", whole=True)
    if n_unknown:
        warn(f"{plural(n_unknown, 'document')} without any known word, whose class is a guess")
    tell_problems(batches.reading if source.holds is Holds.texts else counted.reading)
