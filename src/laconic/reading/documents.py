"""Documents, one at a time: the one loop in which all rows are checked."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from laconic.errors import CorpusError, Parameter
from laconic.reading.arrow import read_arrow
from laconic.reading.dates import as_date
from laconic.reading.files import Rows
from laconic.reading.ledger import Ledger, OnError, Progress, Reading
from laconic.reading.paths import Paths, Plan, plan
from laconic.reading.rows import Columns, Joined
from laconic.reading.strings import as_name, kind


class Document(NamedTuple):
    """One row of a corpus: a text, its label (or None), its id and its date (or None), and what else is kept.

    Examples
    --------
    >>> Document("red fish", label=None, id="0").text
    'red fish'
    """

    text: str
    label: str | None
    id: str
    date: np.datetime64 | None = None
    kept: tuple[object, ...] = ()


class MultimodalDocument(NamedTuple):
    """One row of several corpora: a document's texts in all its modalities, its label (or None) and id.

    Examples
    --------
    >>> MultimodalDocument(("rote Fische", "red fish"), label=None, id="0").texts[1]
    'red fish'
    """

    texts: tuple[str, ...]
    label: str | None
    id: str
    date: np.datetime64 | None = None
    kept: tuple[object, ...] = ()


PARAGRAPH = "\n\n"
"""What stands between the texts of several columns of a document."""

Kind = TypeVar("Kind", Document, MultimodalDocument)


class DocumentStream(Iterator[Kind]):
    """An iterator of documents that knows what was read so far.

    Attributes
    ----------
    reading : Reading
        Complete when the iterator is at its end.
    """

    def __init__(self, documents: Iterator[Kind], ledger: Ledger) -> None:
        self._documents: Iterator[Kind] = documents
        self._ledger = ledger

    def __iter__(self) -> Iterator[Kind]:
        # A loop over the generator itself saves a call for every document.
        return self._documents

    def __next__(self) -> Kind:
        return next(self._documents)

    @property
    def reading(self) -> Reading:
        """What was read so far."""
        return self._ledger.reading


def read_documents(
    path: Paths,
    *,
    text: str | Sequence[str] = "text",
    label: str | None = None,
    id: str | None = None,
    date: str | None = None,
    keep: Sequence[str] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
    on_error: OnError = "raise",
    max_documents: int | None = None,
    progress: Progress | None = None,
) -> DocumentStream[Document]:
    r"""Read documents one at a time.

    Parameters
    ----------
    path : str or path, or a list of them
        A file of JSON lines (``.jsonl``, ``.ndjson``), a CSV or TSV file with a header row (``.csv``,
        ``.tsv``), a Parquet file (``.parquet``), or a text file with a document in every line (``.txt``; an
        empty line is an empty document). All but Parquet may be compressed (``.jsonl.gz``; ``.gz``,
        ``.xz``, ``.bz2``, ``.zst``). Or a pattern such as ``"news/*.csv"``, whose files are read in the
        order of their names. Or a folder, of which all ``.txt`` files are read as one document each,
        sub-folders included, in the order of their names (hidden files left out).
    text : str or list of str, default="text"
        The column, or JSON key, of the text; of several columns, the texts are joined, a paragraph each.
        ``"meta.body"`` is the key "body" of the object "meta", unless a column has that name. A text that is
        null is an empty document; a number is taken as it is written.
    label : str or None, default=None
        The column of the label. For a folder only ``"folder"``: the name of the sub-folder that the file
        is in.
    id : str or None, default=None
        The column of the id. By default documents are numbered from "0", over all files; in a folder the
        id is the path of the file in it, without ``.txt``.
    date : str or None, default=None
        The column of the date: ISO 8601, a year, or as mail has it; may be missing.
    keep : sequence of str, default=()
        Other columns, whose values are taken along as they are, in ``Document.kept``.
    encoding : str, default="utf-8"
        A byte order mark is skipped.
    delimiter : str or None, default=None
        The character between the fields of CSV and TSV files, if not a comma or a tab.
    on_error : {"raise", "skip"}, default="raise"
        Whether a row that cannot be used raises, or is left out and noted in `DocumentStream.reading`. What
        is wrong with a whole file, such as a missing column, always raises; in a folder, each file is a row.
    max_documents : int or None, default=None
        Stop after this many documents, to try something out.
    progress : callable or None, default=None
        Called every few megabytes, or ten thousand documents, and at the end, with the number of bytes read
        (of compressed files, of compressed bytes), that of all, and the number of documents.

    Returns
    -------
    DocumentStream
        An iterator of `Document` in the order of the files.

    Raises
    ------
    CorpusError
        At once if there is no such path or format; while iterating if a row cannot be used. The message
        names the file, the line and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "fish.jsonl")
    ...     _ = path.write_text('{"text": "red fish", "year": 1960}\n{"text": null, "year": 1961}\n')
    ...     for document in read_documents(path, label="year"):
    ...         print(document)
    Document(text='red fish', label='1960', id='0', date=None, kept=())
    Document(text='', label='1961', id='1', date=None, kept=())
    """
    found = plan(path, encoding, delimiter, on_error, progress, max_documents)
    return _documents(found, text, label, id, date, keep)


def read_modalities(
    path: Paths,
    texts: Sequence[str],
    *,
    label: str | None = None,
    id: str | None = None,
    date: str | None = None,
    keep: Sequence[str] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
    on_error: OnError = "raise",
    max_documents: int | None = None,
    progress: Progress | None = None,
) -> DocumentStream[MultimodalDocument]:
    """Read documents that have several texts, such as translations of each other, one document at a time.

    Parameters
    ----------
    path : str or path, or a list of them
        Files with columns; see `read_documents`.
    texts : sequence of str
        Two or more columns of texts. One that is null is empty.
    label, id, date, keep, encoding, delimiter, on_error, max_documents, progress
        As in `read_documents`.

    Returns
    -------
    DocumentStream
        An iterator of `MultimodalDocument`, whose texts are in the order of the columns.

    Raises
    ------
    CorpusError
        As in `read_documents`.
    """
    if isinstance(texts, str) or len(texts) < 2:
        raise CorpusError("give two or more columns of texts; read_documents reads one")
    found = plan(path, encoding, delimiter, on_error, progress, max_documents)
    rows = _rows(found, Columns(tuple(texts), label, id, date, tuple(keep)))
    return DocumentStream((MultimodalDocument(*row) for row in rows), found.ledger)


def read_table(
    table: Any,
    *,
    text: str | Sequence[str] = "text",
    label: str | None = None,
    id: str | None = None,
    date: str | None = None,
) -> DocumentStream[Document]:
    """Read documents from a table in memory; see `Corpus.from_table`."""
    ledger = Ledger()
    source = Rows("", ledger, "row")
    found = Plan("the table", [(source, partial(read_arrow, table=table))], ledger)
    return _documents(found, text, label, id, date)


def _documents(
    found: Plan,
    text: str | Sequence[str],
    label: str | None,
    id: str | None,
    date: str | None,
    keep: Sequence[str] = (),
) -> DocumentStream[Document]:
    """Documents whose text is that of a column, or those of several columns, joined."""
    columns = Columns(text_columns(text), label, id, date, tuple(keep))
    rows = _rows(found, columns)
    if len(columns.texts) > 1:
        documents = (Document(PARAGRAPH.join(filter(None, row[0])), *row[1:]) for row in rows)
    else:
        documents = (Document(*row) for row in rows)
    return DocumentStream(documents, found.ledger)


def text_columns(text: object) -> str | Joined:
    """The column of the text, or several of them, checked.

    >>> text_columns("body"), text_columns(["title", "body"])
    ('body', ('title', 'body'))
    """
    if isinstance(text, str):
        return text
    columns = Joined(text) if isinstance(text, list | tuple) else Joined()
    if not columns or not all(isinstance(column, str) for column in columns):
        raise CorpusError(
            Parameter("text"), f" must be the name of a column, or a list of names, not {text!r:.40}"
        )
    return columns[0] if len(columns) == 1 else columns


_Checked: TypeAlias = tuple[Any, str | None, str, np.datetime64 | None, tuple[object, ...]]


def _rows(found: Plan, columns: Columns) -> Iterator[_Checked]:
    """Check what formats found, and give each document an id; as many as are wanted."""
    ledger = found.ledger
    for row in _checked_rows(found, columns):
        yield row
        if ledger.full:
            break
    ledger.finish(found.name)


def _checked_rows(found: Plan, columns: Columns) -> Iterator[_Checked]:
    ledger = found.ledger
    labelled, keyed, dated = (column is not None for column in columns.facts)
    several, kept = len(columns.texts) > 1, ()
    places = _Places()
    for source, reader in found.sources:
        start = places.begin(source)
        for number, text, label, name, date in reader(source, columns):
            if columns.kept:
                text, kept = _apart(text, len(columns.texts))
            try:
                if several:
                    text = tuple(
                        _text(part, f"text {column!r}")
                        for part, column in zip(text, columns.texts, strict=True)  # type: ignore[call-overload]
                    )
                else:
                    text = _text(text, "text")
                label = as_name(label, "label") if labelled else None
                moment = as_date(date) if dated else None
                if keyed or name is not None:
                    name = as_name(name, "id")
                    places.claim(name, start + number)
                else:
                    name = str(ledger.n_documents)
            except CorpusError as error:
                source.refuse(number, error)
                continue
            ledger.accept(sum(map(len, text)) if several else len(text))
            yield text, label, name, moment, kept


def _apart(taken: Any, n_texts: int) -> tuple[Any, Any]:
    """The text or texts of a row, and what is kept of it."""
    return (taken[0] if n_texts == 1 else taken[:n_texts]), taken[n_texts:]


def _text(value: object, what: str) -> str:
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    raise CorpusError(
        f"the {what} is of type {kind(value)}; it must be a string, a number, a list of strings or null"
    )


class _Places:
    """Which row has which id; the rows of all sources have numbers in one sequence, to keep just a number."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._starts: list[int] = []
        self._sources: list[Rows] = []
        self._last = 0

    def begin(self, source: Rows) -> int:
        self._starts.append(self._last + 1)
        self._sources.append(source)
        return self._starts[-1]

    def claim(self, name: str, row: int) -> None:
        self._last = row
        first = self._rows.setdefault(name, row)
        if first != row:
            at = bisect_right(self._starts, first) - 1
            other, number = self._sources[at], first - self._starts[at]
            same = at == len(self._sources) - 1
            place = other.place(number) if same else other.where(number)
            raise CorpusError(f"the id {name!r} is already that of {place}; ids must differ")
