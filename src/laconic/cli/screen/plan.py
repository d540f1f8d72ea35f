"""``laconic fit --dry-run``: what would be read, fitted and saved, and how much memory that takes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.options.naming import shown
from laconic.cli.screen.console import emit, printable, waiting, warn
from laconic.cli.screen.reading import kept_terms
from laconic.corpus import Vectorizer
from laconic.corpus.sizes import Sizes, expected_sizes
from laconic.corpus.sources import Holds, Modality, Source
from laconic.corpus.spool import SPOOLED_BYTES
from laconic.reading.columns import columns_of
from laconic.reading.files import suffixes
from laconic.words import plural, rounded, size

FILES_SHOWN = 5
COLUMNS_SHOWN = 12

# As measured: Python with the libraries and compiled kernels; the threads that count, and what they keep of
# each different term and each non-zero. Little of that is given back before the fit.
PROGRAM = 310_000_000
COUNTING = 40_000_000
BYTES_PER_FOUND_TERM = 100
SPOOLED_PER_NONZERO = 6
# A Python string of a dozen characters, the reference to it, and its entry in a dictionary.
BYTES_PER_NAME = 64 + 8
BYTES_PER_TERM = BYTES_PER_NAME + 100

_FORMATS = {
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".txt": "a document in each line",
    ".svm": "counts, SVMlight",
    ".svmlight": "counts, SVMlight",
    ".libsvm": "counts, SVMlight",
    ".mtx": "counts, Matrix Market",
    ".mm": "counts, Matrix Market",
}


def show_plan(
    source: Source,
    reading: Mapping[str, Any],
    modalities: Sequence[Modality],
    model: Any,
    output: Path,
    save_corpus: Path | None,
    graph: Path | None = None,
) -> None:
    """Print what `fit` would do; only the beginning of the files is read."""
    with waiting("reading a sample"):
        sizes = expected_sizes(source, reading, modalities)
        plan = _plan(source, reading, modalities, model, output, save_corpus)
        if graph is not None:
            plan.add_row("links", Text(printable(f"{graph} ({size(graph.stat().st_size)})")))
        plan.add_row(
            "size",
            f"{rounded(sizes.n_documents)} documents, {rounded(sizes.n_terms)} terms, "
            f"{rounded(sizes.n_nonzeros)} non-zeros ({sizes.known})",
        )
    emit(plan)
    counted = model.wants == "counts"
    parts = memory(
        sizes,
        n_topics=_topics_of_a_document(model),
        n_modalities=len(modalities),
        dense=getattr(model, "topic_norm", None) == "l2" or getattr(model, "solver", None) == "mu",
        counted=counted,
        weighted=not counted and modalities[0].terms.get("weighting") != "count",
        mapped=source.holds is Holds.corpus,
        labelled="label" in reading,
    )
    emit(_memory_table(parts))
    total, machine = sum(parts.values()), machine_memory()
    if machine is not None and total > machine:
        warn(
            f"this needs about {size(total)}, and the machine has {size(machine)}: take fewer topics, or "
            "fewer terms with --min-df or --max-features"
        )


def _topics_of_a_document(model: Any) -> int:
    """How many topics a document has weights for; how many classes there are is not known yet."""
    if hasattr(model, "n_components"):
        return int(model.n_components)
    return int(model.n_shared + model.n_per_class)


def memory(
    sizes: Sizes,
    *,
    n_topics: int,
    dense: bool,
    weighted: bool,
    mapped: bool,
    labelled: bool,
    counted: bool = False,
    n_modalities: int = 1,
) -> dict[str, int]:
    """What is in memory at once during a fit, in bytes.

    Parameters
    ----------
    sizes : Sizes
        Of the corpus.
    n_topics : int
        Number of topics.
    dense : bool
        Whether topics have no zeros.
    weighted : bool
        Whether weights differ from counts.
    mapped : bool
        Whether counts stay on the disk.
    labelled : bool
        Whether documents have labels.
    counted : bool, default=False
        Whether the model is one of counts.
    n_modalities : int, default=1
        How many modalities documents have, each with weights of its own.

    Returns
    -------
    dict
        From the name of a part to its size.
    """
    n_documents, n_terms, n_nonzeros, _, n_found = sizes
    index = 4 if n_nonzeros < 2**31 else 8
    names = n_documents * n_modalities * BYTES_PER_NAME * (2 if labelled else 1) + n_terms * BYTES_PER_TERM
    counts = 0 if mapped else n_nonzeros * (4 + index) + n_documents * n_modalities * index
    spooled = min(n_nonzeros * SPOOLED_PER_NONZERO, SPOOLED_BYTES)
    return {
        "counting": COUNTING + n_found * BYTES_PER_FOUND_TERM + spooled if n_found else 0,
        "counts, ids and vocabulary": counts + names,
        "weights of terms": n_nonzeros * 4 if weighted else 0,
        "the same, by rows and columns": n_nonzeros * (4 + 2 * index) + n_terms * index,
        # Of counts, also the expected ones.
        "weights of documents": n_documents * n_modalities * n_topics * 4 * (2 if counted else 1),
        # Products and topics; where these are sparse, only the products take room. Of counts, one more copy.
        "topics": n_topics * n_terms * 4 * (3 if counted else 2 if dense else 1),
        "the program itself": PROGRAM,
    }


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
    add("save", _where(output, "model"))
    if save_corpus is not None:
        add("", _where(save_corpus, "corpus"))
    return table


def _files(source: Source) -> list[str]:
    if source.holds is Holds.corpus:
        return [f"{source.path} (a saved corpus)"]
    if source.path.is_dir():
        return [f"{source.path} (a folder, a document in each .txt file)"]
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
        return ["all" if counted else f"all, weighted by {modalities[0].terms.get('weighting', 'tfidf')}"]
    return [
        (f"{each.name}: " if each.name else "") + _terms(Vectorizer(**each.terms).to_dict(), counted)
        for each in modalities
    ]


def _terms(settings: Mapping[str, Any], counted: bool) -> str:
    words = settings["stop_words"]
    stop_words = f"{words} stop words" if isinstance(words, str) else plural(len(words or ()), "stop word")
    parts = [kept_terms(dict(settings)), stop_words]
    if settings["stemmer"]:
        parts.append(f"{settings['stemmer']} stems")
    if settings["ngram_range"][1] > 1:
        parts.append(f"sequences of up to {settings['ngram_range'][1]} words")
    weighting = settings["weighting"] + (", sublinear" if settings["sublinear_tf"] else "")
    return "; ".join([*parts, "counted" if counted else f"weighted by {weighting}"])


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
