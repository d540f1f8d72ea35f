"""How large a corpus will be, before all of it is read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.corpus.corpus import Corpus
from laconic.corpus.sources import Holds, Modality, Source
from laconic.corpus.spool import spooled_bytes, within
from laconic.corpus.vectorizer import Vectorizer
from laconic.errors import CorpusError
from laconic.reading import read_documents
from laconic.reading.counts import SVMLIGHT
from laconic.reading.files import File, suffixes
from laconic.reading.ledger import Ledger
from laconic.words import size

if TYPE_CHECKING:
    from laconic.corpus.options import VectorizerOptions
    from laconic.matrices import CSR

# Readers report every 4 million characters or 10,000 documents.
REPORTS_READ = 2
LINES_READ = 4_000_000
# A larger number is scaled to the sample: few of the terms it asks for would be found there.
LARGE_FREQUENCY = 20
# As measured: the threads that count, and what they keep of each different term and each non-zero. Little of
# that is given back before the fit.
COUNTING = 40_000_000
BYTES_PER_FOUND_TERM = 100
SPOOLED_PER_NONZERO = 6
# A Python string of a dozen characters, the reference to it, and its entry in a dictionary.
BYTES_PER_NAME = 64 + 8
BYTES_PER_TERM = BYTES_PER_NAME + 100


class Sizes(NamedTuple):
    """How large a corpus is or will be, and how that is known."""

    n_documents: int
    n_terms: int
    n_nonzeros: int
    known: str
    n_found: int = 0
    """Different terms before some of them were left out; 0 where none have to be found."""


def expected_sizes(source: Source, reading: Mapping[str, Any], modalities: Sequence[Modality]) -> Sizes:
    """Find out how large a corpus will be, from its beginning where nothing else tells.

    Parameters
    ----------
    source : Source
        What is to be read.
    reading : mapping
        The options of the reader.
    modalities : sequence of Modality
        What is counted; the sizes are those of all together.

    Returns
    -------
    Sizes
        With the words that say how it is known.
    """
    sizes = [
        _sizes_of(source, reading if each.column is None else {**reading, "text": each.column}, each.terms)
        for each in modalities
    ]
    return sizes[0]._replace(
        n_terms=sum(size.n_terms for size in sizes),
        n_nonzeros=sum(size.n_nonzeros for size in sizes),
        n_found=sum(size.n_found for size in sizes),
    )


def _sizes_of(source: Source, reading: Mapping[str, Any], terms: VectorizerOptions) -> Sizes:
    if source.holds is Holds.corpus:
        corpus = Corpus.load(source.path, verify=False)
        n_documents, n_terms = corpus.shape
        return Sizes(n_documents, n_terms, int(corpus.counts.nnz), "as saved")
    if source.holds is Holds.texts:
        return _sizes_of_texts(source, reading, terms)
    file = File(source.path, Ledger(), reading.get("encoding", "utf-8"))
    if suffixes(source.path)[0] in SVMLIGHT:
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
        return Sizes(n_documents, n_terms, int(counts.nnz), "all of it was read", found_terms(vectorizer))
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
        _grown(found_terms(of_half), found_terms(of_whole), factor, 0, 1),
    )


def _counted(texts: list[str], terms: VectorizerOptions) -> tuple[Vectorizer, CSR]:
    vectorizer = Vectorizer(**terms)
    return vectorizer, vectorizer.fit_count(texts)


def found_terms(vectorizer: Vectorizer) -> int:
    """How many terms were found in this process, before some of them were left out."""
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


def reading_memory(
    sizes: Sizes,
    *,
    weighted: bool,
    mapped: bool,
    labelled: bool,
    n_modalities: int = 1,
    text_bytes: int = 0,
    memory: int | None = None,
) -> dict[str, int]:
    """What a corpus takes in memory, in bytes, counting it included.

    Parameters
    ----------
    sizes : Sizes
        Of the corpus.
    weighted : bool
        Whether weights are needed, which differ from counts.
    mapped : bool
        Whether counts stay on the disk.
    labelled : bool
        Whether documents have labels.
    n_modalities : int, default=1
        How many modalities documents have.
    text_bytes : int, default=0
        How large the texts are that are kept; many of them go to a temporary file.
    memory : int, optional
        What all of it may take; with little, more goes to temporary files.

    Returns
    -------
    dict of str to int
        From the name of a part to its size.
    """
    n_documents, n_terms, n_nonzeros, _, n_found = sizes
    index = 4 if n_nonzeros < 2**31 else 8
    names = n_documents * n_modalities * BYTES_PER_NAME * (2 if labelled else 1) + n_terms * BYTES_PER_TERM
    counts = 0 if mapped else n_nonzeros * (4 + index) + n_documents * n_modalities * index
    with within(memory):
        most = spooled_bytes()
    spooled = min(n_nonzeros * SPOOLED_PER_NONZERO, most)
    return {
        "counting": COUNTING + n_found * BYTES_PER_FOUND_TERM + spooled if n_found else 0,
        "counts, ids and vocabulary": counts + names,
        "texts": min(text_bytes, most),
        "weights of terms": n_nonzeros * 4 if weighted else 0,
    }
