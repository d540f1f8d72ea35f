"""Files with a matrix of counts, an entry in every line: Matrix Market, and UCI's bags of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from laconic.errors import CorpusError
from laconic.reading.files import File

if TYPE_CHECKING:
    from laconic.matrices import CSR

LARGEST_COUNT = float(np.finfo(np.float32).max)
_BLOCK = 1 << 22
# Documents without terms, and terms without documents, that a file may have beyond its entries: a header
# of a few bytes is not to be believed when it asks for the memory of a billion. Hashed terms are 2**20.
_SPARE = 1 << 22
_LARGEST = int(np.iinfo(np.int32).max)

_Arrays: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]


class Entries(NamedTuple):
    """A matrix of counts, the number of its first column in the file, and the labels of its rows."""

    counts: CSR
    first: int
    labels: list[str] | None


class _Header(NamedTuple):
    """What a file says of itself; `line` is the number of its first entry."""

    n_documents: int
    n_terms: int
    n_entries: int
    counted: bool
    line: int


def check_sizes(n_entries: int, n_documents: int, n_terms: int, where: str) -> None:
    """Refuse numbers of documents and terms that no file with so few entries would have."""
    for size, what in ((n_documents, "documents"), (n_terms, "terms")):
        if size > min(n_entries + _SPARE, _LARGEST):
            raise CorpusError(
                f"{where}: {size:,} {what} for {n_entries:,} entries, which cannot be meant; "
                "number them without gaps"
            )


def read_matrix_market(source: File) -> Entries:
    """Read a Matrix Market file with documents as rows."""
    return _read(source, _market_header)


def read_docword(source: File) -> Entries:
    """Read a bag of words of the UCI repository."""
    return _read(source, _docword_header)


def _docword_header(source: File, file: BinaryIO) -> _Header:
    sizes = [_size(source, number, file.readline(100)) for number in (1, 2, 3)]
    return _Header(sizes[0], sizes[1], sizes[2], counted=True, line=4)


def _market_header(source: File, file: BinaryIO) -> _Header:
    words = file.readline(1000).decode(errors="replace").lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        source.fail(1, "no header of a Matrix Market file, '%%MatrixMarket matrix coordinate real general'")
    if words[2] != "coordinate" or words[3] not in ("real", "integer", "pattern") or words[4] != "general":
        source.fail(
            1,
            f"a matrix that is {' '.join(words[2:])}; counts must be coordinate, real (integer, pattern) and "
            "general, as scipy.io.mmwrite writes sparse arrays",
        )
    line = 1
    while True:
        line += 1
        content = file.readline(10_000)
        if not content:
            source.fail(line, "the file ends before its sizes")
        if content.strip() and not content.startswith(b"%"):
            break
        while content and not content.endswith(b"\n"):
            content = file.readline(10_000)
    sizes = [_size(source, line, size) for size in content.split()]
    if len(sizes) != 3:
        source.fail(line, "the sizes must be three numbers: documents, terms and entries")
    return _Header(sizes[0], sizes[1], sizes[2], counted=words[3] != "pattern", line=line + 1)


def _size(source: File, number: int, content: bytes) -> int:
    if not re.fullmatch(rb"[0-9]{1,18}", content.strip()):
        source.fail(number, f"{content.decode(errors='replace')!r:.40} is no size; it must be a whole number")
    return int(content)


def _read(source: File, read_header: Callable[[File, BinaryIO], _Header]) -> Entries:
    parts: list[_Arrays] = []
    n_entries = 0
    for header, found in _parts(source, read_header):
        n_entries += len(found[0])
        parts.append(found)
        source.ledger.tell()
        if n_entries > header.n_entries:
            break
    if n_entries != header.n_entries:
        raise CorpusError(
            f"{source.path} has {n_entries:,} entries, but its header promises {header.n_entries:,}; "
            "it is cut off or damaged: get it again"
        )
    check_sizes(n_entries, header.n_documents, header.n_terms, str(source.path))
    documents, terms, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    parts.clear()
    matrix = sparse.coo_array((counts, (documents, terms)), shape=(header.n_documents, header.n_terms))
    source.ledger.n_documents = header.n_documents
    source.ledger.finish(str(source.path))
    return Entries(matrix.tocsr(), 1, None)


def _parts(
    source: File, read_header: Callable[[File, BinaryIO], _Header]
) -> Iterator[tuple[_Header, _Arrays]]:
    """Give the entries in parts, the first of which is empty."""
    with source.opened() as file:
        header = read_header(source, file)
        yield header, (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
        line = header.line
        for block in _blocks(source, file):
            found = _fast(block, header)
            if found is None:
                found = _careful(source, block, header, line)
            yield header, found
            line += block.count(b"\n")


def _blocks(source: File, file: BinaryIO) -> Iterator[bytes]:
    """Give a few megabytes of whole lines at a time."""
    while block := file.read(_BLOCK):
        # what is left of a line; a whole one is some dozens of bytes
        rest = file.readline(_BLOCK)
        if len(rest) == _BLOCK:
            raise CorpusError(
                f"{source.path}: a line of more than {_BLOCK:,} bytes, which is no entry of a matrix"
            )
        yield block + rest


def _fast(block: bytes, header: _Header) -> _Arrays | None:
    """Read lines of numbers with one space between them; None if there is anything else, or out of bounds."""
    import pyarrow as pa
    from pyarrow import csv

    kinds = {"document": pa.int64(), "term": pa.int64()} | ({"count": pa.float64()} if header.counted else {})
    # Arrow also takes hexadecimal numbers.
    if b"x" in block or b"X" in block or not block.strip():
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(use_threads=False, column_names=list(kinds), block_size=len(block)),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=kinds, null_values=[]),
        )
    except pa.ArrowException:
        return None
    documents, terms = table["document"].to_numpy(), table["term"].to_numpy()
    counts = table["count"].to_numpy() if header.counted else np.ones(len(terms))
    valid = (
        (documents >= 1).all()
        and (documents <= min(header.n_documents, _LARGEST)).all()
        and (terms >= 1).all()
        and (terms <= min(header.n_terms, _LARGEST)).all()
        and (counts >= 0).all()
        and (counts <= LARGEST_COUNT).all()
    )
    if not valid:
        return None
    return (documents - 1).astype(np.int32), (terms - 1).astype(np.int32), counts.astype(np.float32)


def _careful(source: File, block: bytes, header: _Header, line: int) -> _Arrays:
    """Read any lines of numbers, and say which one is wrong."""
    documents: list[int] = []
    terms: list[int] = []
    counts: list[float] = []
    pattern = _ENTRY if header.counted else _PAIR
    for number, content in enumerate(block.split(b"\n"), start=line):
        if not content.strip():
            continue
        fields = pattern.fullmatch(content)
        if fields is None:
            source.fail(
                number, f"not 'document term{' count' if header.counted else ''}', whole numbers from 1 on"
            )
        document, term = int(fields[1]), int(fields[2])
        count = _count(fields[3]) if header.counted else 1.0
        if count is None:
            source.fail(number, "the count must be a finite number that is not negative")
        for value, size, what in ((document, header.n_documents, "document"), (term, header.n_terms, "term")):
            if not 1 <= value <= min(size, _LARGEST):
                source.fail(number, f"{what} {value:,} is not among the {size:,} that the header promises")
        documents.append(document - 1)
        terms.append(term - 1)
        counts.append(count)
    return np.array(documents, np.int32), np.array(terms, np.int32), np.array(counts, np.float32)


_PAIR = re.compile(rb"\s*([0-9]{1,18})\s+([0-9]{1,18})\s*")
_ENTRY = re.compile(rb"\s*([0-9]{1,18})\s+([0-9]{1,18})\s+([-+.0-9a-zA-Z]+)\s*")


def _count(text: bytes) -> float | None:
    try:
        count = float(text)
    except ValueError:
        return None
    return count if 0 <= count <= LARGEST_COUNT else None
