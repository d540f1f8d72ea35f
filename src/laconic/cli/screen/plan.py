"""``laconic fit --dry-run``: what would be read, fitted and saved, and how much memory that takes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from laconic.bundle.planning import CountedDocuments, plan_fit
from laconic.cli.options.naming import shown
from laconic.cli.screen.console import emit, printable, say, waiting, warn
from laconic.cli.screen.reading import kept_terms
from laconic.corpus import Vectorizer
from laconic.corpus.sizes import expected_sizes
from laconic.corpus.sources import Holds, Modality, Source
from laconic.reading.columns import columns_of
from laconic.reading.files import suffixes
from laconic.words import plural, rounded, size

FILES_SHOWN = 5
COLUMNS_SHOWN = 12

# What labels mostly have; a model with more classes has more topics.
CLASSES = 10

_FORMATS = {
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".xlsx": "Excel",
    ".txt": "one document per line",
    ".svm": "counts, SVMlight",
    ".svmlight": "counts, SVMlight",
    ".libsvm": "counts, SVMlight",
    ".mtx": "counts, Matrix Market",
    ".mm": "counts, Matrix Market",
}


class Kept(NamedTuple):
    """What is saved with the model."""

    documents: bool
    texts: bool


def show_plan(
    source: Source,
    reading: Mapping[str, Any],
    modalities: Sequence[Modality],
    model: Any,
    output: Path,
    save_corpus: Path | None,
    graph: Path | None,
    kept: Kept,
    memory: int | None = None,
) -> None:
    """Print what `fit` would do; only the beginning of the files is read."""
    with waiting("reading a sample"):
        sizes = expected_sizes(source, reading, modalities)
        plan = _plan(source, reading, modalities, model, output, save_corpus, kept)
        if graph is not None:
            plan.add_row("links", Text(printable(f"{graph} ({size(graph.stat().st_size)})")))
        plan.add_row(
            "size",
            f"{rounded(sizes.n_documents)} documents, {rounded(sizes.n_terms)} terms, "
            f"{rounded(sizes.n_nonzeros)} non-zeros ({sizes.known})",
        )
    emit(plan)
    weighted = model.wants == "weights" and modalities[0].terms.get("weighting") != "count"
    texts = (
        sum(path.stat().st_size for path in source.paths) if kept.texts and source.holds is Holds.texts else 0
    )
    # How many classes and links there are is not known before all is read.
    counted = CountedDocuments(
        sizes,
        weighted=weighted,
        mapped=source.holds is Holds.corpus,
        labelled="label" in reading,
        n_classes=CLASSES,
        n_modalities=len(modalities),
        text_bytes=texts,
    )
    planned = plan_fit(model, counted, memory)
    emit(_memory_table(planned.memory))
    if memory is not None:
        say(f"plan: {planned.words()}", whole=True)
        if planned.folder is not None and kept.documents:
            say("      documents are not saved with the model", whole=True)
    machine = machine_memory()
    if machine is not None and planned.total > machine:
        warn(
            f"this needs about {size(planned.total)}, but the machine has {size(machine)}: keep documents in "
            "files with --memory, choose fewer topics, or fewer terms with --min-df or --max-features"
        )


def machine_memory() -> int | None:
    """The memory of the machine in bytes, where the system tells it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _plan(
    source: Source,
    reading: Mapping[str, Any],
    modalities: Sequence[Modality],
    model: Any,
    output: Path,
    save_corpus: Path | None,
    kept: Kept,
) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()

    def add(name: str, value: str) -> None:
        table.add_row(name, Text(printable(value)))

    for number, line in enumerate(_files(source)):
        add("" if number else "read", line)
    columns = (
        [] if source.path.is_dir() else columns_of(source.path, *map(reading.get, ("encoding", "delimiter")))
    )
    if columns:
        more = ", ..." if len(columns) > COLUMNS_SHOWN else ""
        add("columns", ", ".join(columns[:COLUMNS_SHOWN]) + more)
    options = [f"--text-{each.name} {each.column}" for each in modalities if each.column is not None]
    options += shown(reading)
    if options:
        add("options", "  ".join(options))
    for number, line in enumerate(_terms_of_all(source, modalities, model)):
        add("" if number else "terms", line)
    parameters = ", ".join(
        f"{name} {value}"
        for name, value in model.get_params().items()
        if value is not None and name != "verbose"
    )
    add("fit", f"{type(model).__name__}: {parameters}")
    add("save", _where(output, "model") + _kept(kept))
    if save_corpus is not None:
        add("", _where(save_corpus, "corpus"))
    return table


def _files(source: Source) -> list[str]:
    if source.holds is Holds.corpus:
        return [f"{source.path} (a saved corpus)"]
    if source.path.is_dir():
        return [f"{source.path} (a folder, one document per .txt file)"]
    files = [f"{path} ({_format(path)}, {size(path.stat().st_size)})" for path in source.paths[:FILES_SHOWN]]
    more = source.paths[FILES_SHOWN:]
    if more:
        files.append(f"and {plural(len(more), 'file')} more, {size(sum(p.stat().st_size for p in more))}")
    return files


def _format(path: Path) -> str:
    suffix, compression = suffixes(path)
    if path.name.startswith("docword."):
        return "counts, UCI bag of words"
    return _FORMATS[suffix] + (f", {compression[1:]}" if compression else "")


def _terms_of_all(source: Source, modalities: Sequence[Modality], model: Any) -> list[str]:
    counted = model.wants == "counts"
    if source.holds is Holds.corpus:
        return []
    if source.holds is Holds.counts:
        return [
            "all" if counted else f"all, weighted by {modalities[0].terms.get('weighting', 'log-entropy')}"
        ]
    return [
        (f"{each.name}: " if each.name else "") + _terms(Vectorizer(**each.terms).to_dict(), counted)
        for each in modalities
    ]


def _terms(settings: Mapping[str, Any], counted: bool) -> str:
    words = settings["stop_words"]
    stop_words = f"{words} stop words" if isinstance(words, str) else plural(len(words or ()), "stop word")
    parts = [kept_terms(dict(settings)), stop_words]
    if settings["html"]:
        parts.append("without HTML")
    if settings["stemmer"]:
        parts.append(f"{settings['stemmer']} stems")
    if settings["ngram_range"][1] > 1:
        parts.append(f"sequences of up to {settings['ngram_range'][1]} words")
    weighting = settings["weighting"] + (", sublinear" if settings["sublinear_tf"] else "")
    return "; ".join([*parts, "counted" if counted else f"weighted by {weighting}"])


def _kept(kept: Kept) -> str:
    if not kept.documents:
        return ", without documents"
    return f", with the documents{'' if kept.texts else ', without their texts'}"


def _where(path: Path, noun: str) -> str:
    return f"the {noun} to {path} ({f'replacing the {noun} there' if path.exists() else 'new'})"


def _memory_table(parts: Mapping[str, int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_footer=True)
    machine = machine_memory()
    of = "" if machine is None else f", of {size(machine)} that the machine has"
    table.add_column("memory", "in all" + of)
    table.add_column("about", size(sum(parts.values())), justify="right", no_wrap=True)
    for name, n_bytes in parts.items():
        if n_bytes:
            table.add_row(name, size(n_bytes))
    return table
