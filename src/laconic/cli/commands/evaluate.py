"""``laconic evaluate``: how good a saved model, or a ranking, is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.commands.evaluate_search import rankings
from laconic.cli.commands.evaluate_topics import evaluate_topics
from laconic.cli.options.arguments import Blend, CorpusPaths
from laconic.cli.options.declaring import but, command
from laconic.cli.options.naming import option_names
from laconic.cli.options.table import READING
from laconic.cli.screen.console import emit, emit_json, printable, say, waiting
from laconic.cli.screen.documents import model_documents

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
    from laconic.evaluate import Comparison

EXAMPLES = """
Examples

  laconic evaluate model --corpus news

  laconic evaluate model --corpus news.csv --text body --label section

  laconic evaluate model --corpus docs.jsonl --id id --queries queries.jsonl --qrels qrels.tsv

  laconic evaluate model --corpus docs.jsonl --id id --queries laconic:cranfield --run blend.trec

  laconic evaluate --qrels qrels.txt --run-file bm25.trec --run-file mine.trec --measure AP --measure P@10
"""

RETRIEVAL = "Retrieval"
MEASURES = ("AP", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10")

Saved = Annotated[
    Path | None,
    typer.Argument(metavar="DIR", help="The directory of a saved model.", show_default=False, readable=False),
]
Queries = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Queries: JSON lines with _id and text, TREC topics, or lines with an id, a tab and a text; or "
        "laconic:NAME or ir_datasets:NAME for those of a known collection.",
        show_default=False,
        rich_help_panel=RETRIEVAL,
    ),
]
Qrels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Judgements: TREC's four columns, or query, document and grade separated by tabs; or the name "
        "of a collection.",
        show_default="those of the collection that --queries names",
        rich_help_panel=RETRIEVAL,
    ),
]
RunFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--run-file",
        metavar="FILE",
        help="A ranking to compare, in TREC's six columns; may be repeated.",
        show_default=False,
        readable=False,
        rich_help_panel=RETRIEVAL,
    ),
]
SaveRun = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="Write the ranking by terms and topics together, in TREC's six columns.",
        show_default=False,
        readable=False,
        rich_help_panel=RETRIEVAL,
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="A measure of trec_eval, such as AP, nDCG@10, P@5, R@100 or RR; may be repeated.",
        show_default=", ".join(MEASURES),
        rich_help_panel=RETRIEVAL,
    ),
]
Depth = Annotated[
    int,
    typer.Option(
        metavar="NUMBER", min=1, help="How many results of each query count.", rich_help_panel=RETRIEVAL
    ),
]
Terms = Annotated[
    int,
    typer.Option(
        "--terms", "-n", metavar="NUMBER", min=2, help="How many words of a topic count for coherence."
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="NUMBER", min=0, help="The seed of clusters, splits and resamples.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, which has more numbers than the table.")]


@command(but(READING, "date"))
def evaluate(
    model: Saved = None,
    corpus: CorpusPaths = None,
    queries: Queries = None,
    qrels: Qrels = None,
    run_file: RunFiles = None,
    run: SaveRun = None,
    measure: Measures = None,
    blend: Blend = None,
    depth: Depth = 1000,
    terms: Terms = 10,
    seed: Seed = 0,
    json: AsJson = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Measure how good topics are, or how well they find documents.

    Without queries, this measures the density, words, diversity and coherence of the topics and, if the
    documents have labels, how well the weights tell the labels apart. With queries and judgements, it
    compares a search by terms, by topics and by both, with significance tests. Rankings by other programs
    can be compared, too. Without --corpus, the documents saved with the model are used.
    """
    _check_usage(model, corpus, reading, queries, qrels, run_file, run)
    # A collection has both.
    judged = qrels or queries
    if judged is None:
        assert model is not None
        bundle, documents = _opened(model, corpus, reading)
        evaluate_topics(bundle, documents, n_terms=terms, seed=seed, json=json)
        return
    with waiting("reading the judgements"):
        from laconic.evaluate import compare, read_qrels, read_run
        from laconic.evaluate.retrieval import parse_measures

        measures = measure or list(MEASURES)
        # Better now than after the search.
        parse_measures(measures)
        grades = read_qrels(judged)
    runs: dict[str, Any] = {}
    if model is not None and queries is not None:
        bundle, documents = _opened(model, corpus, reading)
        runs |= rankings(bundle, documents, model, queries, grades, blend, depth, run)
    for name, path in _run_names(run_file or [], runs):
        with waiting(f"reading {path}"):
            runs[name] = read_run(path)
    with waiting("comparing"):
        comparison = compare(grades, runs, measures=measures, random_state=seed)
    _tell_comparison(comparison, json)


def _check_usage(
    model: Path | None,
    corpus: list[Path] | None,
    reading: Mapping[str, Any],
    queries: str | None,
    qrels: str | None,
    run_file: list[Path] | None,
    run: Path | None,
) -> None:
    """Refuse options that need others."""
    from laconic.evaluate.named import names_collection
    from laconic.reading.files import suffixes

    def refuse(option: str, message: str) -> None:
        raise typer.BadParameter(message, param_hint=option)

    if model is None and not run_file:
        refuse("DIR", "name a saved model, or rankings with --run-file")
    if model is None and queries is not None:
        refuse("--queries", "queries are for a model: name its directory, too")
    if model is None and corpus:
        refuse("--corpus", "documents are for a model: name its directory, too")
    if qrels is None and (run_file or queries is not None) and not names_collection(queries or ""):
        refuse("--qrels", "name the file of the judgements")
    if qrels is not None and queries is None and not run_file:
        refuse("--qrels", "judgements are for queries or rankings: give --queries or --run-file, too")
    if model is not None and run_file and queries is None:
        refuse(
            "--run-file", "to compare rankings with a model, give --queries; without a model, leave DIR out"
        )
    seen: set[Path] = set()
    for path in run_file or []:
        if path.resolve() in seen:
            refuse("--run-file", f"{path} is named twice; name every ranking once")
        seen.add(path.resolve())
    if run is not None and queries is None:
        refuse("--run", "there is no ranking without --queries")
    if run is not None and not run.absolute().parent.is_dir():
        refuse("--run", f"there is no directory {run.parent}; make it first")
    if run is not None and suffixes(run)[1]:
        refuse("--run", f"rankings are written as plain text: leave {run.suffix} out of the name")
    if reading and not corpus:
        refuse("--corpus", f"{option_names(reading)} needs documents: name them with --corpus")


def _opened(
    path: Path, corpus: list[Path] | None, reading: Mapping[str, Any]
) -> tuple[Bundle, Corpus | None]:
    """The model, and the documents if they were named."""
    with waiting(f"loading {path}"):
        from laconic.bundle import load

        bundle = load(path)
    if bundle.modalities:
        raise ValueError(
            f"{path} is a model with several modalities ({', '.join(bundle.modalities)}), which this command "
            "cannot measure; use laconic.evaluate in Python"
        )
    if bundle.vectorizer is None:
        raise ValueError(f"{path} was saved without a vocabulary; use laconic.evaluate in Python")
    return bundle, None if not corpus else model_documents(bundle, corpus, reading)


def _run_names(paths: Sequence[Path], taken: Mapping[str, Any]) -> list[tuple[str, Path]]:
    """A name for each file: its stem, or all of the path where that would be another's."""
    stems = [path.stem for path in paths]

    def name(path: Path) -> str:
        if stems.count(path.stem) == 1 and path.stem not in taken:
            return path.stem
        # With its folder, which no stem has: a file without suffix is called like its stem.
        return str(path) if len(path.parts) > 1 else f"./{path}"

    return [(name(path), path) for path in paths]


def _tell_comparison(comparison: Comparison, json: bool) -> None:
    if json:
        emit_json(comparison.to_dict())
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", caption_justify="left")
    table.add_column("run", style="cyan")
    for measure in comparison.measures:
        table.add_column(measure, justify="right", no_wrap=True)
    for name, *cells in comparison.cells():
        table.add_row(Text(printable(name)), *cells)
    emit(table)
    for note in comparison.notes():
        say(printable(note))
