"""``laconic fit --dry-run``: what would be read, fitted and saved, and how much memory that takes."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.console import emit, plural, printable, size, waiting, warn
from laconic.cli.errors import option_names
from laconic.cli.reading import kept_terms, rounded
from laconic.cli.sources import Holds, Source
from laconic.corpus import Corpus, CorpusError, Vectorizer
from laconic.corpus.spool import SPOOLED_BYTES
from laconic.reading import read_documents
from laconic.reading.columns import columns_of
from laconic.reading.ledger import Ledger
from laconic.reading.sources import File, suffixes

if TYPE_CHECKING:
    from laconic.cli.term_options import Texts
    from laconic.corpus.options import VectorizerOptions
    from laconic.matrices import CSR

FILES_SHOWN = 5
COLUMNS_SHOWN = 12

# Readers report every 4 million characters or 10,000 documents.
REPORTS_READ = 2
LINES_READ = 4_000_000

# As measured: Python with the libraries and compiled kernels; the threads that count, and what they keep of
# each different term and each non-zero. Little of that is given back before the fit.
PROGRAM = 310_000_000
COUNTING = 40_000_000
BYTES_PER_FOUND_TERM = 100
SPOOLED_PER_NONZERO = 6
# A Python string of a dozen characters, the reference to it, and its entry in a dictionary.
BYTES_PER_NAME = 64 + 8
BYTES_PER_TERM = BYTES_PER_NAME + 100
# A larger number is scaled to the sample: few of the terms it asks for would be found there.
LARGE_FREQUENCY = 20

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


class Sizes(NamedTuple):
    """How large a corpus is or will be, and how that is known."""

    n_documents: int
    n_terms: int
    n_nonzeros: int
    known: str
    n_found: int = 0
    """Different terms before some of them were left out; 0 where none have to be found."""


def show_plan(
    source: Source,
    reading: Mapping[str, Any],
    texts: Sequence[Texts],
    model: Any,
    output: Path,
    save_corpus: Path | None,
    graph: Path | None = None,
) -> None:
    """Print what `fit` would do; only the beginning of the files is read."""
    with waiting("reading a sample"):
        sizes = _sizes_of_all(source, reading, texts)
        plan = _plan(source, reading, texts, model, output, save_corpus)
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
        n_texts=len(texts),
        dense=getattr(model, "topic_norm", None) == "l2" or getattr(model, "solver", None) == "mu",
        counted=counted,
        weighted=not counted and texts[0].terms.get("weighting") != "count",
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


def _sizes_of_all(source: Source, reading: Mapping[str, Any], texts: Sequence[Texts]) -> Sizes:
    """The sizes of all texts of the documents together."""
    sizes = [
        expected_sizes(
            source, reading if text.column is None else {**reading, "text": text.column}, text.terms
        )
        for text in texts
    ]
    return sizes[0]._replace(
        n_terms=sum(size.n_terms for size in sizes),
        n_nonzeros=sum(size.n_nonzeros for size in sizes),
        n_found=sum(size.n_found for size in sizes),
    )


def expected_sizes(source: Source, reading: Mapping[str, Any], terms: VectorizerOptions) -> Sizes:
    """Find out how large a corpus will be, from its beginning where nothing else tells."""
    if source.holds is Holds.corpus:
        corpus = Corpus.load(source.path, verify=False)
        n_documents, n_terms = corpus.shape
        return Sizes(n_documents, n_terms, int(corpus.counts.nnz), "as saved")
    if source.holds is Holds.texts:
        return _sizes_of_texts(source, reading, terms)
    file = File(source.path, Ledger(), reading.get("encoding", "utf-8"))
    if _format(source.path) == _FORMATS[".svm"]:
        return _sizes_of_svmlight(file)
    return _sizes_in_header(file)


def _sizes_of_texts(source: Source, reading: Mapping[str, Any], terms: VectorizerOptions) -> Sizes:
    reports: list[tuple[int, int]] = []

    def note(done: int, total: int | None, n_documents: int) -> None:
        reports.append((done, total or done))

    texts = []
    for document in read_documents(source.paths, **reading, progress=note):
        texts.append(document.text)
        if len(reports) == REPORTS_READ:
            break
    done, total = reports[-1]
    if done >= total:
        vectorizer, counts = _counted(texts, terms)
        n_documents, n_terms = counts.shape
        return Sizes(n_documents, n_terms, int(counts.nnz), "all of it was read", _n_found(vectorizer))
    factor = total / max(done, 1)
    # How they grew from the first half of the sample to all of it tells how they go on.
    of_half, half = _counted(texts[: len(texts) // 2], _scaled(terms, 0.5 / factor))
    of_whole, whole = _counted(texts, _scaled(terms, 1 / factor))
    n_terms = _grown(half.shape[1], whole.shape[1], factor, 0, 1)
    return Sizes(
        round(len(texts) * factor),
        min(n_terms, terms.get("max_features") or n_terms),
        _grown(half.nnz, whole.nnz, factor, 1, 1.1),
        f"by the first {size(done)} of {size(total)}",
        _grown(_n_found(of_half), _n_found(of_whole), factor, 0, 1),
    )


def _counted(texts: list[str], terms: VectorizerOptions) -> tuple[Vectorizer, CSR]:
    vectorizer = Vectorizer(**terms)
    return vectorizer, vectorizer.fit_count(texts)


def _n_found(vectorizer: Vectorizer) -> int:
    return 0 if vectorizer.tally is None else vectorizer.tally.n_terms_found


def _scaled(terms: VectorizerOptions, part: float) -> VectorizerOptions:
    """Options for a part of all documents: large numbers of documents become smaller."""
    scaled = terms.copy()
    least, most = terms.get("min_df"), terms.get("max_df")
    if isinstance(least, int) and least > LARGE_FREQUENCY:
        scaled["min_df"] = max(2, round(least * part))
    if isinstance(most, int):
        scaled["max_df"] = max(2, round(most * part))
    return scaled


def _grown(half: int, whole: int, factor: float, lowest: float, highest: float) -> int:
    """Extend a power law through two points.

    >>> _grown(half=100, whole=200, factor=4, lowest=0, highest=1)
    800
    >>> _grown(half=100, whole=100, factor=4, lowest=0, highest=1)
    100
    """
    exponent = math.log2(max(whole, 1) / max(half, 1))
    return round(whole * factor ** min(max(exponent, lowest), highest))


def _sizes_of_svmlight(file: File) -> Sizes:
    n_documents = n_terms = n_nonzeros = n_characters = 0
    for _, line in file.lines():
        content = line.partition("#")[0]
        numbers = re.findall(r"\b([0-9]{1,9}):", content)
        n_documents += bool(content.strip())
        n_nonzeros += len(numbers)
        n_terms = max(n_terms, *map(int, numbers), 0)
        n_characters += len(line)
        if n_characters > LINES_READ:
            break
    done = file.ledger.position()
    total = file.path.stat().st_size
    known = "all of it was read" if done >= total else f"by the first {size(done)} of {size(total)}"
    factor = total / max(done, 1)
    return Sizes(round(n_documents * factor), n_terms, round(n_nonzeros * factor), known)


def _sizes_in_header(file: File) -> Sizes:
    numbers: list[str] = []
    for _, line in file.lines():
        numbers += [] if line.startswith("%") else line.split()
        if len(numbers) >= 3:
            break
    if len(numbers) < 3 or not all(number.isdecimal() for number in numbers[:3]):
        raise CorpusError(f"{file.path} does not begin with its numbers of documents, terms and entries")
    n_documents, n_terms, n_nonzeros = map(int, numbers[:3])
    return Sizes(n_documents, n_terms, n_nonzeros, "as the file says")


def memory(
    sizes: Sizes,
    *,
    n_topics: int,
    dense: bool,
    weighted: bool,
    mapped: bool,
    labelled: bool,
    counted: bool = False,
    n_texts: int = 1,
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
    n_texts : int, default=1
        How many texts documents have, each with weights of its own.

    Returns
    -------
    dict
        From the name of a part to its size.
    """
    n_documents, n_terms, n_nonzeros, _, n_found = sizes
    index = 4 if n_nonzeros < 2**31 else 8
    names = n_documents * n_texts * BYTES_PER_NAME * (2 if labelled else 1) + n_terms * BYTES_PER_TERM
    counts = 0 if mapped else n_nonzeros * (4 + index) + n_documents * n_texts * index
    spooled = min(n_nonzeros * SPOOLED_PER_NONZERO, SPOOLED_BYTES)
    return {
        "counting": COUNTING + n_found * BYTES_PER_FOUND_TERM + spooled if n_found else 0,
        "counts, ids and vocabulary": counts + names,
        "weights of terms": n_nonzeros * 4 if weighted else 0,
        "the same, by rows and columns": n_nonzeros * (4 + 2 * index) + n_terms * index,
        # Of counts, also the expected ones.
        "weights of documents": n_documents * n_texts * n_topics * 4 * (2 if counted else 1),
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
    texts: Sequence[Texts],
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
    options = [f"--text-{text.name} {text.column}" for text in texts if text.column is not None]
    options += [f"{option_names([name])} {value}" for name, value in reading.items()]
    if options:
        add("options", "  ".join(options))
    for number, line in enumerate(_terms_of_all(source, texts, model)):
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


def _terms_of_all(source: Source, texts: Sequence[Texts], model: Any) -> list[str]:
    counted = model.wants == "counts"
    if source.holds is Holds.corpus:
        return []
    if source.holds is Holds.counts:
        return ["all" if counted else f"all, weighted by {texts[0].terms.get('weighting', 'tfidf')}"]
    return [
        (f"{text.name}: " if text.name else "") + _terms(Vectorizer(**text.terms).to_dict(), counted)
        for text in texts
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
