"""``laconic search``: find documents by the words and the topics of a query."""

from __future__ import annotations

import json as notation
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.commands.search_vectors import (
    CHANGE,
    QueryVectors,
    VectorBlend,
    Vectors,
    check_vectors,
    only_row,
    query_rows,
    take_vectors,
    vectors_told,
)
from laconic.cli.options.arguments import Blend, CorpusPaths, Saved
from laconic.cli.options.declaring import command
from laconic.cli.options.modalities import check_names
from laconic.cli.options.naming import option_names
from laconic.cli.options.table import DATA, MODALITIES, READING
from laconic.cli.screen.console import emit, is_narrow, printable, say, speaks_unicode, waiting
from laconic.cli.screen.documents import model_documents
from laconic.cli.screen.reading import ReadingDisplay, tell_problems
from laconic.postponing import postpone
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.search import Explanation, Results, SearchIndex, Snippet

EXAMPLES = """
Examples

  laconic search model --corpus reviews.jsonl --text body --id key

  laconic search model "a phone with a good camera"

  laconic search model battery life -k 20 --blend 0.5 --explain

  laconic search model "battery life" --json > found.json

  laconic search model "battery life" --only-label phones --since 2026-01-01

  laconic search model --similar review-17

  laconic search model --queries queries.tsv --run run.txt

  laconic search model --tune --queries queries.tsv --qrels qrels.txt

  laconic search model --add new.csv --text body --id key

  laconic search model --remove review-17

  laconic search model --vectors reviews.npy

  laconic search model "battery life" --query-vectors query.npy
"""

Query = Annotated[
    list[str] | None,
    typer.Argument(metavar="QUERY", help="What to search for, with or without quotes.", show_default=False),
]
Texts = Annotated[
    bool,
    typer.Option(
        "--texts/--no-texts",
        help="Save the texts, so that results can be quoted, or not.",
        rich_help_panel=DATA,
    ),
]
Number = Annotated[
    int, typer.Option("--number", "-k", metavar="NUMBER", min=1, help="Show at most this many documents.")
]
ModalityOption = Annotated[
    str | None,
    typer.Option(
        "--modality",
        metavar="NAME",
        help="For a model of several modalities: the one to search.",
        show_default="that of the last --corpus",
    ),
]
MANY = "Many queries"
Similar = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Instead of a query: find the documents most similar to this one."),
]
OnlyLabel = Annotated[
    list[str] | None,
    typer.Option("--only-label", metavar="LABEL", help="Only documents with this label; may be repeated."),
]
Since = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Only documents from this day, month or year on: 2026-11-16."),
]
Until = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only documents up to this day, month or year.")
]
QueriesFile = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="Run many queries and write the results to --run: JSON lines with _id and text, TREC topics, or "
        "lines with an id, a tab and a text.",
        readable=False,
        rich_help_panel=MANY,
    ),
]
RunFile = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="Where to write the results of --queries, in TREC's six columns (-k 1000 for 1,000 per query).",
        readable=False,
        rich_help_panel=MANY,
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Choose the best blend and BM25 parameters for --queries and --qrels, and save them.",
        rich_help_panel=MANY,
    ),
]
QrelsFile = Annotated[
    Path | None,
    typer.Option(
        "--qrels",
        metavar="FILE",
        help="Which documents are relevant to --queries: TREC's four columns, or query, document and grade.",
        readable=False,
        rich_help_panel=MANY,
    ),
]
Add = Annotated[
    list[Path] | None,
    typer.Option(
        "--add",
        metavar="PATH",
        help="Add the documents in these files, replacing those with the same --id. The topics stay as they "
        "are.",
        readable=False,
        rich_help_panel=CHANGE,
    ),
]
Remove = Annotated[
    list[str] | None,
    typer.Option(
        "--remove", metavar="ID", help="Remove a document; may be repeated.", rich_help_panel=CHANGE
    ),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show which words and topics match.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write the results as JSON, with all numbers.")]


@command(READING, MODALITIES)
def search(
    model: Saved,
    query: Query = None,
    number: Number = 10,
    blend: Blend = None,
    explain: Explain = False,
    json: AsJson = False,
    modality: ModalityOption = None,
    similar: Similar = None,
    only_label: OnlyLabel = None,
    since: Since = None,
    until: Until = None,
    queries: QueriesFile = None,
    run: RunFile = None,
    tune: Tune = False,
    qrels: QrelsFile = None,
    add: Add = None,
    remove: Remove = None,
    vectors: Vectors = None,
    query_vectors: QueryVectors = None,
    vector_blend: VectorBlend = None,
    corpus: CorpusPaths = None,
    texts: Texts = True,
    *,
    reading: dict[str, Any],
    columns: dict[str, str],
) -> None:
    """Find documents by the words of a query and by its topics.

    It searches the documents the model was fitted to. --corpus replaces them with others, which are saved
    with the model; --add and --remove change single documents. If you plan to search, fit with --min-df 1,
    because rare words find documents best.
    """
    if corpus is None and add is None and (reading or columns):
        typed = option_names(reading) if reading else f"--text-{next(iter(columns))}"
        raise typer.BadParameter(
            f"{typed} needs documents: name them with --corpus or --add", param_hint="--corpus"
        )
    if corpus is None and not texts:
        raise typer.BadParameter("it only applies to documents named by --corpus", param_hint="--no-texts")
    if (run is None) != (queries is None) and not tune:
        raise typer.BadParameter("--queries and --run go together: give both", param_hint="--run")
    if tune and (queries is None or qrels is None):
        raise typer.BadParameter("needs --queries and --qrels", param_hint="--tune")
    if query_vectors is not None and not (query or queries):
        raise typer.BadParameter("is about a QUERY, or --queries", param_hint="--query-vectors")
    if not (query or corpus or similar or queries or add or remove or vectors):
        raise typer.BadParameter("say what to search for", param_hint="QUERY")
    postpone()
    with waiting(f"loading {model}"):
        from laconic.bundle import load

        bundle = load(model)
    if corpus is None:
        index = _opened(bundle, model, modality)
    else:
        index = _made(bundle, model, corpus, reading, columns, keep_texts=texts)
    if remove or add:
        _change(index, model, remove or [], add or [], reading, vectors)
    elif vectors is not None:
        take_vectors(index, model, vectors, vector_blend)
    if vector_blend is not None:
        check_vectors(index, "--vector-blend")
        index.vector_blend = vector_blend
    asked = None if query_vectors is None else query_rows(index, query_vectors)
    if queries is not None:
        _answer(index, model, queries, run, qrels if tune else None, number, blend, asked)
    if not query and similar is None:
        return
    words = " ".join(query or ())
    if similar is not None:
        found, reasons = index.similar(similar, number, blend=blend), []
        words = words or f"documents like {similar}"
    else:
        chosen: dict[str, Any] = {"labels": only_label or None, "since": since, "until": until}
        with vectors_told(index, asked):
            vector = only_row(asked)
            found = index.search(words, number, blend=blend, vector=vector, **chosen)
            reasons = [index.explain(words, hit.id, blend=blend, vector=vector) for hit in found if explain]
    if json:
        sys.stdout.write(_as_json(index, words, index.blend if blend is None else blend, found, reasons))
    elif found:
        emit(_table(found))
        for reason in reasons:
            emit(_reason(reason))
    else:
        say(_why_nothing(index, words))


def _change(
    index: SearchIndex,
    model: Path,
    gone: list[str],
    files: list[Path],
    reading: Mapping[str, Any],
    vectors: Path | None,
) -> None:
    """Take documents out, and add others, in place of those with the same ids; saved with the model."""
    index.remove(gone)
    new: dict[str, str] = {}
    labels: dict[str, str] = {}
    dates: dict[str, Any] = {}
    if files:
        if "id" not in reading:
            raise typer.BadParameter("name the column of the ids", param_hint="--id")
        from laconic.reading import read_documents

        with ReadingDisplay() as display:
            documents = read_documents(files, **reading, progress=display)
            for document in documents:
                new[document.id] = document.text
                if document.label is not None:
                    labels[document.id] = document.label
                if document.date is not None:
                    dates[document.id] = document.date
        tell_problems(documents.reading)
    n_replaced = len(set(new).intersection(index.ids.tolist()))
    with waiting("saving the documents"):
        index.update(new, labels, dates=dates, vectors=vectors)
        index.save(model)
    told = [
        f"{plural(number, 'document')} {what}"
        for number, what in (
            (len(gone), "removed"),
            (len(new) - n_replaced, "added"),
            (n_replaced, "replaced"),
        )
        if number
    ]
    say(f"{', '.join(told)}: {plural(index.n_documents, 'document')} in {model}", whole=True)


def _answer(
    index: SearchIndex,
    model: Path,
    queries: Path,
    run: Path | None,
    qrels: Path | None,
    number: int,
    blend: float | None,
    vectors: Any,
) -> None:
    """Tune the index by queries with known answers, and write what is found for queries to a run."""
    from laconic.reading.queries import read_queries
    from laconic.reading.rankings import read_qrels, write_run

    asked = read_queries(queries)
    if qrels is not None:
        with waiting(f"trying blends on {plural(len(asked), 'query')}"):
            with vectors_told(index, vectors):
                found = index.tune(asked, read_qrels(qrels), vectors=vectors)
            index.save(model)
        parameters = "" if found.k1 is None else f", k1 {found.k1:g}, b {found.b:g}"
        if found.vector_blend is not None:
            parameters = f", vectors {found.vector_blend:g}{parameters}"
        say(
            f"blend {found.blend:g}{parameters} saved in {model}: mean average precision {found.score:.3f} "
            f"on {plural(found.n_queries, 'query')}",
            whole=True,
        )
    if run is not None:
        with waiting(f"searching for {plural(len(asked), 'query')}"):
            with vectors_told(index, vectors):
                found_all = index.run(asked, number, blend=blend, vectors=vectors)
            write_run(found_all, run)
        say(f"results of {plural(len(asked), 'query')} written to {run}", whole=True)


def _why_nothing(index: SearchIndex, query: str) -> str:
    if not query.strip():
        return "the query is empty: say what to search for"
    known = index.vectorizer.count([query]).nnz
    return "no document matches" if known else "no word of the query is in the vocabulary of the model"


def _opened(bundle: Bundle, model: Path, modality: str | None) -> SearchIndex:
    """The documents that are saved with a model."""
    from laconic.search import SearchError, SearchIndex

    again = f"laconic search {model} --corpus FILE and the options for reading it"
    with waiting("loading the documents"):
        if bundle.documents is None:
            raise ValueError(f"{model} has no documents to search; add them once with {again}")
        if modality is not None:
            return SearchIndex(bundle, modality=modality)
        if bundle.modalities and bundle.search_settings is None:
            names = " or ".join(bundle.modalities)
            raise typer.BadParameter(
                f"the documents have several modalities: choose one with --modality {names}",
                param_hint="--modality",
            )
        try:
            return bundle.index
        except SearchError as error:
            raise SearchError(error, f": {again}") from error


def _made(
    bundle: Bundle,
    model: Path,
    paths: list[Path],
    reading: Mapping[str, Any],
    columns: Mapping[str, str],
    *,
    keep_texts: bool,
) -> SearchIndex:
    """An index of documents, saved with the model."""
    check_names(bundle, model, columns, reading.get("text"))
    from laconic.bundle.reading import check_readable

    check_readable(bundle, model, columns)
    if len(columns) > 1:
        raise typer.BadParameter(
            "only one modality can be searched: name one", param_hint=f"--text-{list(columns)[1]}"
        )
    modality = next(iter(columns), None)
    if columns:
        reading = {**reading, "text": next(iter(columns.values()))}
    corpus = model_documents(bundle, paths, reading, modality, keep_texts=keep_texts)
    with waiting(f"finding the topics of {plural(corpus.shape[0], 'document')}") as status:
        from laconic.search import SearchIndex

        index = SearchIndex(corpus, bundle.model, modality=modality, **_settings(bundle))
        index.notes = bundle.notes
        status.update(Text("saving the documents"))
        index.save(model)
    if keep_texts and corpus.texts is None:
        say("these documents have counts but no texts, so no excerpts will be shown")
    say(
        f"{plural(index.n_documents, 'document')} saved with {model}; from now on, these are searched",
        whole=True,
    )
    return index


def _settings(bundle: Bundle) -> dict[str, Any]:
    """How the documents before were searched: what was tuned is not lost with them."""
    known = bundle.search_settings or {}
    terms = known.get("terms", {})
    matching = {"terms": terms["kind"]} if "kind" in terms else {}
    return {
        **{name: known[name] for name in ("blend", "scaling", "similarity") if name in known},
        **matching,
        **{name: terms[name] for name in ("k1", "b") if name in terms},
    }


def _table(found: Results) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("rank", justify="right", style="cyan", no_wrap=True)
    parts = ["words", "topics"] + ["vectors"] * any(hit.vector_score is not None for hit in found)
    for name in ("score", *parts):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("document", style="green")
    known = [name for name in ("label", "date") if any(getattr(hit, name) is not None for hit in found)]
    # A narrow terminal leaves no room beside them: they stand below the id.
    beside = [] if is_narrow() else known
    for name in beside:
        table.add_column(name)
    with_texts = any(hit.snippet is not None for hit in found)
    if with_texts:
        table.add_column("text")
    for rank, hit in enumerate(found, start=1):
        scores = (hit.score, hit.term_score, hit.topic_score, hit.vector_score)
        numbers = (f"{value:.3f}" for value in scores if value is not None)
        facts = [getattr(hit, name) or "" for name in known]
        below = [] if beside else [fact for fact in facts if fact]
        row: list[str | Text] = [str(rank), *numbers, Text("\n".join(map(printable, [hit.id, *below])))]
        row += [Text(printable(fact)) for fact in facts if beside]
        table.add_row(*row, *([_marked(hit.snippet)] if with_texts else []))
    return table


def _marked(snippet: Snippet | None) -> Text:
    """A piece of a text, with the words that match in bold letters."""
    if snippet is None:
        return Text("")
    shown, end = Text(), 0
    for start, stop in snippet.matches:
        shown.append(printable(snippet.text[end:start]))
        shown.append(printable(snippet.text[start:stop]), "bold")
        end = stop
    return shown.append(printable(snippet.text[end:]))


def _reason(reason: Explanation) -> Text:
    """Why a document has its score, in several lines."""
    first, *others = str(reason).split("\n")
    shown = Text(printable(first), style="bold")
    for line in others:
        shown.append(f"\n{printable(line)}", "not bold")
    return shown.append("\n")


def _as_json(index: SearchIndex, query: str, blend: float, found: Results, reasons: list[Explanation]) -> str:
    """A JSON object; each document that was found is on a line of its own."""
    ascii_only = not speaks_unicode(sys.stdout.encoding)
    lines = []
    for place, hit in enumerate(found):
        shown: dict[str, Any] = {"rank": place + 1, **asdict(hit)}
        if reasons:
            reason = asdict(reasons[place])
            shown |= {name: reason[name] for name in ("term_unit", "terms", "topics")}
        lines.append(notation.dumps(shown, ensure_ascii=ascii_only))
    asked = {"query": query, "blend": blend, "documents": index.n_documents}
    if any(hit.vector_score is not None for hit in found):
        asked["vector_blend"] = index.vector_blend
    head = notation.dumps(asked, ensure_ascii=ascii_only)[:-1]
    return head + ', "hits": [' + ",".join(f"\n{line}" for line in lines) + "\n]}\n"
