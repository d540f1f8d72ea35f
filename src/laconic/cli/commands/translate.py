"""``laconic translate``: the words that documents would have in another modality, such as a language."""

from __future__ import annotations

import json as json_lines
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.options.arguments import Saved, Texts
from laconic.cli.options.declaring import but, command
from laconic.cli.options.modalities import check_names
from laconic.cli.options.table import MODALITIES, READING
from laconic.cli.screen.console import emit, printable, say, speaks_unicode, waiting
from laconic.cli.screen.reading import ReadingDisplay, tell_problems
from laconic.cli.screen.tables import TERMS_SHOWN
from laconic.cli.standard_input import spooled
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle

EXAMPLES = """
Examples

  laconic translate model new.csv --text-de german

  laconic translate model new.txt --text-de text --to en --json > words.jsonl
"""

To = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The modality to translate to.",
        show_default="the other one, if there are two",
    ),
]
Terms = Annotated[
    int,
    typer.Option("--terms", "-n", metavar="NUMBER", min=1, help="Show at most this many words per document."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write JSON lines: the id of each document and its words with weights.")
]


@command(but(READING, "text", "label", "date", "vocabulary"), MODALITIES)
def translate(
    model: Saved,
    path: Texts,
    to: To = None,
    terms: Terms = TERMS_SHOWN,
    json: AsJson = False,
    *,
    reading: dict[str, Any],
    columns: dict[str, str],
) -> None:
    """Describe documents in words of another language, by way of their topics.

    This needs a model with several modalities (fit --model multimodal-plsa). Name the column of the texts
    with --text-NAME; a .txt file has the column "text". Documents without any known word get no words.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.bundle.reading import TextBatches, check_readable
        from laconic.corpus.sources import Holds, find_source

        bundle = load(model)
        if not bundle.modalities:
            raise ValueError(
                f"{model} has only one modality, so there is nothing to translate to: fit a model with "
                "--model multimodal-plsa"
            )
        check_names(bundle, model, columns, None)
        if len(columns) != 1:
            raise typer.BadParameter(
                "name one column, that of the texts to translate", param_hint="--text-NAME"
            )
        (source,) = columns
        target = _target(bundle, source, to)
        check_readable(bundle, model, [source])
        files = find_source(spooled(path, reading, columns), reading)
        if files.holds is not Holds.texts:
            files.check_columns()
    ids: list[str] = []
    words: list[Sequence[tuple[str, float]]] = []
    vectorizer = bundle.vectorizers.get(target)
    vocabulary = None if vectorizer is None else vectorizer.vocabulary
    with ReadingDisplay() as display:
        batches = TextBatches(bundle, files, columns, reading, display)
        for batch in batches:
            ids += batch.ids
            words += bundle.model.translate(batch.X, source, target, terms, vocabulary)
    if json:
        sys.stdout.write(_as_json(bundle, ids, words))
    else:
        emit(_table(ids, words, target))
    n_unknown = sum(not found for found in words)
    if n_unknown:
        say(f"{plural(n_unknown, 'document')} without any known word, and so without a translation")
    tell_problems(batches.reading)


def _target(bundle: Bundle, source: str, to: str | None) -> str:
    others = [name for name in bundle.modalities if name != source]
    if to is None and len(others) == 1:
        return others[0]
    if to not in others:
        problem = "say which modality's words are wanted" if to is None else f"{to!r} is not among them"
        raise typer.BadParameter(f"{problem}; there are {', '.join(others)}", param_hint="--to")
    return str(to)


def _table(ids: Sequence[str], words: Sequence[Sequence[tuple[str, float]]], target: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("document", style="cyan")
    table.add_column(Text(f"words of {printable(target)}"))
    for name, found in zip(ids, words, strict=True):
        table.add_row(Text(printable(name)), Text(printable(", ".join(term for term, _ in found))))
    return table


def _as_json(bundle: Bundle, ids: Sequence[str], words: Sequence[Sequence[tuple[str, float]]]) -> str:
    ascii_only = not speaks_unicode(sys.stdout.encoding)
    kind = bundle.model.components_.dtype.type

    def line(name: str, found: Sequence[tuple[str, float]]) -> dict[str, Any]:
        # With as many digits as the type of the weights has.
        listed = [{"term": term, "weight": float(str(kind(weight)))} for term, weight in found]
        return {"id": name, "terms": listed}

    lines = map(line, ids, words)
    return "".join(json_lines.dumps(entry, ensure_ascii=ascii_only) + "\n" for entry in lines)
