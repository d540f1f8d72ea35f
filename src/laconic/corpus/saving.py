"""A corpus on disk: a readable directory whose matrix is mapped into memory, by rows and by columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.corpus.corpus import Corpus, Part
from laconic.corpus.described import described_vectorizer
from laconic.corpus.kind import CORPUS
from laconic.corpus.stored import StoredCounts
from laconic.corpus.texts import BLOCK, Texts
from laconic.corpus.vectorizer import Vectorizer
from laconic.engines import Block, weighted_blocks
from laconic.engines.shards import Columns, row_range, shard_rows
from laconic.errors import CorpusError
from laconic.kernels.columns import count_columns, same_by_columns, take_columns
from laconic.reading.dates import Dates, out_of_calendar
from laconic.reading.strings import Strings, as_names, check_unique
from laconic.storage.arrays import add_array, add_blocks, add_csr, read_array, read_csr
from laconic.storage.lines import add_lines, add_strings, read_lines, read_strings
from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory, read_directory
from laconic.storage.values import decode, encode
from laconic.storage.writing import DirectoryWriter, replacing

if TYPE_CHECKING:
    from laconic.matrices import CSC, CSR

BLOCK_BYTES = 2**28
"""How much of the matrix by columns is put together in memory at a time."""


def save_corpus(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Save a corpus as a directory; a crash at any time leaves what was there before, or the new corpus.

    Parameters
    ----------
    corpus : Corpus
        Its matrix may be mapped, also from the directory that is replaced.
    path : path-like
        A new or empty directory, or that of a saved corpus, which is replaced. Files that are not part of a
        corpus are left alone.

    Raises
    ------
    CorpusError
        If the directory holds something else.
    OSError
        If the disk is full, for example; the old model is then still valid.

    Notes
    -----
    Saving twice gives the same bytes. Beside the corpus itself, saving takes 256 MB of memory and 16 bytes
    for each document and each term; until it is done, the old corpus keeps its room on the disk.

    Examples
    --------
    >>> import tempfile
    >>> corpus = Corpus.from_texts(["red fish", "blue fish", "red bird"], min_df=1, max_df=1.0)
    >>> with tempfile.TemporaryDirectory() as path:
    ...     save_corpus(corpus, path)
    ...     load_corpus(path)
    Corpus(3 documents x 4 terms, 6 non-zeros)
    """
    with replacing(path, CORPUS) as writer:
        writer.commit(
            {
                **store_documents(corpus, writer, in_parts=True),
                "vectorizer": add_vectorizer(corpus.vectorizer, writer),
            }
        )


def store_documents(
    corpus: Corpus, writer: DirectoryWriter, prefix: str = "", modality: str = "", *, in_parts: bool = False
) -> dict[str, Json]:
    """Store the documents of a corpus: counts, ids, labels, dates and texts, as far as it has them.

    Parameters
    ----------
    corpus : Corpus
        Its matrix may be mapped, also from the directory that is replaced.
    writer : DirectoryWriter
        Receives the files.
    prefix : str, default=""
        What the names of files begin with.
    modality : str, default=""
        Added to the names of files that are not those of all modalities.
    in_parts : bool, default=False
        Whether the columns of a large corpus are stored shard by shard, for a fit, and not as one matrix.

    Returns
    -------
    dict
        What `restore_documents` expects.
    """
    counts = corpus.counts
    if counts.dtype != np.float32 or not counts.has_canonical_format or counts.data.min(initial=1) <= 0:
        raise CorpusError(
            f"{writer.path}: the counts of the corpus were changed and are no longer sorted and positive "
            "float32, so it is not saved; make it again with Corpus.from_counts"
        )
    total = float(counts.data.sum(dtype=np.float64))
    tokens = int(total) if total.is_integer() and total < 2**53 else total
    name = f"{prefix}counts{modality}"
    labels, dates, texts = corpus.labels, corpus.dates, corpus.texts
    return {
        "numbers": {**_sizes(counts), "tokens": tokens},
        "counts": {
            "csr": add_csr(counts, f"{name}.csr", writer),
            **_add_by_columns(counts, name, writer, in_parts=in_parts),
        },
        "ids": add_strings(corpus.ids.tolist(), f"{prefix}ids", writer),
        "labels": None if labels is None else add_strings(labels.tolist(), f"{prefix}labels", writer),
        "dates": None if dates is None else add_array(dates.astype(np.int64), f"{prefix}dates", writer),
        "texts": None if texts is None else _add_texts(texts, f"{prefix}texts{modality}", writer),
    }


def load_corpus(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = True, trust_patterns: bool = False
) -> Corpus:
    """Open a saved corpus; its matrix is mapped into memory, and nothing in the directory is executed.

    Parameters
    ----------
    path : path-like
        The directory that was given to `save_corpus`.
    verify : bool, default=True
        Whether all of the matrix is read once, in bounded memory, to check it: the checksums of its files,
        that indices are within bounds, sorted and not repeated, that counts are finite and positive, and that
        it is the same by rows and by columns; also that ids differ. False is for a corpus that is too large
        for that and that you trust: then only the checksums of the document and of the text files, and the
        sizes, types and shapes of the arrays are checked, and a damaged array can give wrong results or
        crash the process.
    mmap : bool, default=True
        Whether the matrix is mapped. If a mapped file is cut short by somebody, using it ends the process
        (SIGBUS); without, everything is read into memory at once.
    trust_patterns : bool, default=False
        As in `laconic.load`.

    Returns
    -------
    Corpus
        Equal to the one that was saved, bit for bit. The arrays of ``counts`` and ``counts_csc`` are mapped
        and read-only; they stay what they are, even if the directory is replaced or removed.

    Raises
    ------
    CorpusError
        If the directory is not a saved corpus, or is damaged, or from a newer version; the message names the
        file and says what is wrong with it.
    """
    stored = read_directory(path, CORPUS, mapped=mmap, verify=verify)
    vectorizer = read_vectorizer(stored, stored.document.get("vectorizer"), trust_patterns=trust_patterns)
    corpus = restore_documents(stored.document, vectorizer, stored)
    described: Any = stored.document["counts"]
    corpus.stored = StoredCounts.of(stored, described["csr"], corpus.shape)
    return corpus


def restore_documents(described: Json, vectorizer: Vectorizer, stored: StoredDirectory) -> Corpus:
    """Read the documents that `store_documents` stored.

    Parameters
    ----------
    described : JSON value
        What `store_documents` returned.
    vectorizer : Vectorizer
        Of the terms that were counted.
    stored : StoredDirectory
        Holds the files, mapped.

    Returns
    -------
    Corpus
        Its matrix is mapped and read-only.
    """
    if not isinstance(described, dict):
        raise stored.error("has no valid description of its documents")
    counts, columns = _read_counts(described, stored)
    n_documents, n_terms = counts.shape
    if len(vectorizer.vocabulary) != n_terms:
        raise stored.error(f"has a vocabulary of {len(vectorizer.vocabulary)} terms for {n_terms} columns")
    if "labels" not in described:
        raise stored.error("has no valid 'labels'")
    labels = described["labels"]
    # Format 1 of corpora had neither dates nor texts.
    dates, texts = described.get("dates"), described.get("texts")
    return Corpus._restored(
        counts,
        columns,
        vectorizer,
        ids=_read_names("ids", described.get("ids"), n_documents, stored),
        labels=None if labels is None else _read_names("labels", labels, n_documents, stored),
        dates=None if dates is None else _read_dates(dates, n_documents, stored),
        texts=None if texts is None else _read_texts(texts, n_documents, stored),
    )


def add_vectorizer(vectorizer: Vectorizer, writer: DirectoryWriter, suffix: str = "") -> Json:
    """Store a vectoriser: its settings, its vocabulary and the weights of its terms.

    Parameters
    ----------
    vectorizer : Vectorizer
        With a vocabulary.
    writer : DirectoryWriter
        Receives the files.
    suffix : str, default=""
        Added to the names of files, where there are several vectorisers.

    Returns
    -------
    JSON value
        What `read_vectorizer` expects.
    """
    settings = vectorizer.to_dict()
    terms = [str(term) for term in vectorizer.vocabulary]
    described = {
        "settings": {k: encode(v, f"vectorizer.{k}{suffix}", writer) for k, v in settings.items()},
        "vocabulary": add_lines(terms, f"vocabulary{suffix}", writer),
        "idf": encode(vectorizer.idf, f"vectorizer.idf{suffix}", writer),
    }
    if vectorizer.mean_length is not None:
        described["mean_length"] = vectorizer.mean_length
    if vectorizer.forms is not None:
        described["forms"] = add_lines(vectorizer.forms, f"forms{suffix}", writer)
    return described


def read_vectorizer(stored: StoredDirectory, described: Json, *, trust_patterns: bool = False) -> Vectorizer:
    """Read the vectoriser that `add_vectorizer` stored.

    Parameters
    ----------
    stored : StoredDirectory
        Holds the files.
    described : JSON value
        Of its document: what `add_vectorizer` returned.
    trust_patterns : bool, default=False
        As in `laconic.load`.

    Returns
    -------
    Vectorizer
        Checked as any other.
    """
    parts, vocabulary = described_vectorizer(stored, described)
    if not isinstance(parts["settings"], dict):
        raise stored.error("has no valid settings of its 'vectorizer'")
    settings = {k: decode(v, f"vectorizer.{k}", stored) for k, v in parts["settings"].items()}
    idf = decode(parts["idf"], "vectorizer.idf", stored)
    try:
        mean_length: Any = parts.get("mean_length")
        found = Vectorizer.from_dict(settings, vocabulary, idf, mean_length, trust_patterns=trust_patterns)
        if "forms" in parts:
            found.forms = read_lines(parts["forms"], "forms of stems", stored)
    except Exception as error:
        # Whatever settings that are not a vectoriser's make go wrong, the file is at fault.
        raise stored.misdescribed("vectoriser", error) from error
    return found


def _sizes(counts: CSR) -> dict[str, Json]:
    return {"documents": counts.shape[0], "terms": counts.shape[1], "nonzeros": int(counts.nnz)}


def _add_texts(texts: Texts, name: str, writer: DirectoryWriter) -> dict[str, Json]:
    content = texts.content
    blocks = (content[start : start + BLOCK] for start in range(0, len(content), BLOCK))
    return {
        "content": add_blocks(blocks, len(content), content.dtype, f"{name}.content", writer),
        "starts": add_array(texts.starts, f"{name}.starts", writer),
    }


def _read_texts(described: Json, n_documents: int, stored: StoredDirectory) -> Texts:
    if not isinstance(described, dict) or described.keys() != {"content", "starts"}:
        raise stored.error("has no valid texts")
    content, starts = (read_array(described[part], stored) for part in ("content", "starts"))
    fits = (
        content.dtype == np.uint8
        and starts.dtype == np.int64
        and content.ndim == starts.ndim == 1
        and len(starts) == n_documents + 1
        and starts[0] == 0
        and starts[-1] == len(content)
        and (starts[1:] >= starts[:-1]).all()
    )
    if not fits:
        raise stored.error(f"does not divide its texts among {n_documents} documents", described["starts"])
    return Texts(content, starts)


def _read_dates(file: Json, n_documents: int, stored: StoredDirectory) -> Dates:
    seconds = read_array(file, stored)
    if seconds.dtype != np.int64 or seconds.shape != (n_documents,):
        raise stored.error(f"does not have a date for each of {n_documents} documents", file)
    dates = seconds.view("datetime64[s]")
    # Counted by years, those of a forged file would be more than any view could list.
    if out_of_calendar(dates).any():
        raise stored.error("has dates that are not in the years 1 to 9999", file)
    return dates


def _add_by_columns(counts: CSR, name: str, writer: DirectoryWriter, *, in_parts: bool) -> dict[str, Json]:
    cut = shard_rows(counts.indptr) if in_parts else []
    if len(cut) < 2:
        return {"csc": _add_columns(counts, f"{name}.csc", writer)}
    parts: list[Json] = []
    for number, rows in enumerate(cut):
        columns = _add_columns(row_range(counts, rows), f"{name}.part{number}", writer, present=True)
        parts.append({**columns, "rows": [rows.start, rows.stop]})
    return {"parts": parts}


def _add_columns(
    counts: CSR, name: str, writer: DirectoryWriter, *, present: bool = False
) -> dict[str, Json]:
    """Store the matrix by columns: each of two arrays is made, and written, in blocks of columns.

    Only those that are `present`, and their numbers, where most may be empty.
    """
    sizes = np.zeros(counts.shape[1], dtype=np.int64)
    count_columns(counts.indices, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    index = counts.indices.dtype
    blocks = partial(_blocks_of_columns, counts, starts)
    stored: dict[str, Json] = {
        "data": add_blocks(blocks(counts.data), counts.nnz, counts.dtype, f"{name}.data", writer),
        "indices": add_blocks(blocks(None), counts.nnz, index, f"{name}.indices", writer),
    }
    if present:
        terms = np.flatnonzero(sizes)
        stored["terms"] = add_array(terms, f"{name}.terms", writer)
        starts = np.append(starts[terms], starts[-1])
    return {**stored, "indptr": add_array(starts.astype(index), f"{name}.indptr", writer)}


def _blocks_of_columns(
    counts: CSR, starts: NDArray[np.int64], data: NDArray[np.float32] | None
) -> Iterator[NDArray[Any]]:
    """Give the entries (or, without data, their rows) by columns, in blocks that take each other's place."""
    dtype = counts.indices.dtype if data is None else data.dtype
    blocks = weighted_blocks(starts, counts.shape[1], BLOCK_BYTES // dtype.itemsize)
    room = np.empty(max(starts[stop] - starts[start] for start, stop in blocks), dtype)
    done = counts.indptr[:-1].astype(np.int64)
    for start, stop in blocks:
        out = room[: starts[stop] - starts[start]]
        place = starts[start:stop] - starts[start]
        take_columns(counts.indptr, counts.indices, data, start, stop, done, place, out)
        yield out


def _read_counts(documents: dict[str, Json], stored: StoredDirectory) -> tuple[CSR, CSC | list[Part]]:
    described, numbers = documents.get("counts"), documents.get("numbers")
    if not isinstance(described, dict) or not isinstance(numbers, dict):
        raise stored.error("has no valid 'counts' or 'numbers'")
    by_rows = described.get("csr")
    if described.keys() not in ({"csr", "csc"}, {"csr", "parts"}) or not isinstance(by_rows, dict):
        raise stored.error("has no valid 'counts'")
    counts = read_csr(by_rows, "counts.csr", stored)
    if counts.dtype != np.float32:
        raise stored.error(f"has counts of {counts.dtype}, which must be float32", by_rows["data"])
    if counts.shape[0] == 0 or {**numbers, **_sizes(counts)} != numbers:
        raise stored.error(f"has counts that do not fit its numbers ({quoted(numbers)})")
    if stored.verify and counts.data.min(initial=1) <= 0:
        raise stored.error("has counts that are not positive", by_rows["data"])
    if "parts" in described:
        return counts, _read_parts(described["parts"], counts, stored)
    columns = _read_columns(described["csc"], counts, counts.shape[1], "counts.csc", stored)
    if stored.verify:
        terms = np.arange(counts.shape[1])
        _check_same(counts, terms, columns, described["csc"], stored)
    return counts, columns


def _read_columns(described: Json, counts: CSR, n_columns: int, name: str, stored: StoredDirectory) -> CSC:
    """Some columns of these rows: by columns, a matrix is its transpose by rows."""
    if not isinstance(described, dict):
        raise stored.error("has no valid 'counts'")
    parts = {key: described.get(key) for key in ("data", "indices", "indptr")}
    transposed = read_csr({**parts, "shape": [n_columns, counts.shape[0]]}, name, stored)
    if transposed.dtype != np.float32:
        raise stored.error(f"has counts of {transposed.dtype}, which must be float32", described.get("data"))
    if transposed.nnz != counts.nnz:
        raise stored.error("does not hold as many counts by columns as by rows", described.get("indices"))
    columns: CSC = transposed.T
    columns.has_canonical_format = True
    return columns


def _check_same(
    counts: CSR, terms: NDArray[np.int64], columns: CSC, described: Any, stored: StoredDirectory
) -> None:
    """Refuse columns that hold other counts than rows."""
    place, ends = np.zeros((2, counts.shape[1]), np.int64)
    place[terms], ends[terms] = columns.indptr[:-1], columns.indptr[1:]
    rows = counts.indptr, counts.indices, counts.data
    if not same_by_columns(*rows, columns.indices, columns.data, place, ends):
        raise stored.error("does not hold the same counts by columns as by rows", described["indices"])


def _read_parts(described: Json, counts: CSR, stored: StoredDirectory) -> list[Part]:
    """The columns of every shard."""
    found: list[Part] = []
    done = 0
    for number, each in enumerate(described if isinstance(described, list) else []):
        part: Any = each if isinstance(each, dict) else {}
        rows = part.get("rows")
        if not isinstance(rows, list) or len(rows) != 2 or rows[0] != done or type(rows[1]) is not int:
            raise stored.error("has parts that do not follow one another")
        if not done < rows[1] <= counts.shape[0]:
            raise stored.error(f"has a part of the documents {done} to {rows[1]}, of {counts.shape[0]}")
        block = Block(done, rows[1])
        terms = read_array(part.get("terms"), stored)
        rising = terms.ndim == 1 and terms.dtype == np.int64 and bool((np.diff(terms) > 0).all())
        if not rising or (terms.size and not 0 <= terms[0] <= terms[-1] < counts.shape[1]):
            raise stored.error(f"does not name rising columns of {counts.shape[1]}", part.get("terms"))
        own = row_range(counts, block)
        columns = _read_columns(part, own, terms.size, f"counts.part{number}", stored)
        if stored.verify:
            _check_same(own, terms, columns, part, stored)
        found.append(Part(block, Columns(terms, columns.indptr, columns.indices, columns.data)))
        done = block.stop
    if done != counts.shape[0]:
        raise stored.error(f"has parts of {done} documents, of {counts.shape[0]}")
    return found


def _read_names(key: str, file: Json, n_documents: int, stored: StoredDirectory) -> Strings:
    names = read_strings(file, key, stored)
    if len(names) != n_documents:
        raise stored.error(f"has {len(names)} {key} for {n_documents} documents", file)
    if not stored.verify:
        return np.array(names, dtype=object)
    try:
        checked = as_names(names, key.removesuffix("s"))
        if key == "ids":
            check_unique(checked)
    except CorpusError as error:
        raise stored.error(f"has unfit {key} ({error})", file) from error
    return checked
