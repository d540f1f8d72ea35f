"""Files to documents, one at a time: JSONL, CSV, and folders of text files."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from laconic.corpus.errors import CorpusError
from laconic.corpus.strings import as_name, is_unicode, kind

# The csv module's own limit for a field is 128 KB, which a long article exceeds; this is what fits in a
# C long everywhere.
_LARGEST_FIELD = 2**31 - 1


class Document(NamedTuple):
    """One row of a corpus: a text, its label (or None) and its id.

    Examples
    --------
    >>> Document("red fish", label=None, id="0").text
    'red fish'
    """

    text: str
    label: str | None
    id: str


class _Columns(NamedTuple):
    """Where text, label and id stand; label and id may be absent."""

    text: str
    label: str | None
    id: str | None


class _Row(NamedTuple):
    """What a format found, unchecked; `place` is a line number, or the file of a folder."""

    place: int | Path
    text: object
    label: object = None
    id: object = None


_Reader: TypeAlias = Callable[[Path, _Columns, str], Iterator[_Row]]


def read_documents(
    path: str | os.PathLike[str],
    *,
    text: str = "text",
    label: str | None = None,
    id: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Document]:
    r"""Read documents one at a time.

    Parameters
    ----------
    path : str or path
        A file of JSON lines (``.jsonl``, ``.ndjson``), a CSV file with a header row (``.csv``), or a
        folder, of which all ``.txt`` files are read, sub-folders included, in the order of their names
        (hidden files left out).
    text : str, default="text"
        The column, or JSON key, of the text. A text that is null is an empty document.
    label : str or None, default=None
        The column of the label. For a folder only ``"folder"``: the name of the sub-folder that the file
        is in.
    id : str or None, default=None
        The column of the id. By default documents are numbered from "0"; in a folder the id is the path
        of the file in it, without ``.txt``.
    encoding : str, default="utf-8"
        A byte order mark is skipped.

    Returns
    -------
    iterator of Document
        In the order of the file.

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
    Document(text='red fish', label='1960', id='0')
    Document(text='', label='1961', id='1')
    """
    path = Path(path)
    columns = _Columns(text, label, id)
    _check_encoding(encoding)
    if path.is_dir():
        return _documents(path, _read_folder(path, columns, encoding), columns)
    if not path.exists():
        raise CorpusError(f"{path} does not exist; check the path")
    reader = _FORMATS.get(path.suffix.lower())
    if reader is None:
        raise CorpusError(
            f"{path} has the suffix {path.suffix!r}, which is not supported; "
            f"there are {', '.join(_FORMATS)}, and folders of .txt files"
        )
    return _documents(path, reader(path, columns, encoding), columns)


def _documents(path: Path, rows: Iterator[_Row], columns: _Columns) -> Iterator[Document]:
    """Check what a format found, and give each document an id."""
    first_places: dict[str, int | Path] = {}
    number = -1
    for number, row in enumerate(rows):
        where = partial(_where, path, row.place)
        text = "" if row.text is None else row.text
        if not isinstance(text, str):
            raise CorpusError(f"{where()}: the text is of type {kind(text)}; it must be a string (or null)")
        label = None if columns.label is None else as_name(row.label, "label", where)
        name = str(number)
        if row.id is not None or columns.id is not None:
            name = as_name(row.id, "id", where)
            first = first_places.setdefault(name, row.place)
            if first != row.place:
                raise CorpusError(
                    f"{where()}: the id {name!r} is already that of {_short(first)}; ids must differ"
                )
        yield Document(text, label, name)
    if number < 0:
        raise CorpusError(f"{path} has no documents")


def _read_jsonl(path: Path, columns: _Columns, encoding: str) -> Iterator[_Row]:
    # A line ends at \n only: JSON strings may hold the other characters that Python takes for a line end.
    for number, line in _lines(path, encoding, newline="\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{_where(path, number)}: not JSON ({error}); every line must be one JSON object"
            ) from error
        if not isinstance(record, dict):
            raise CorpusError(
                f"{_where(path, number)}: a JSON {kind(record)}; "
                'every line must be one JSON object, such as {"text": "..."}'
            )
        for column in columns:
            if column is not None and column not in record:
                raise _missing(path, number, column, list(record))
        text = record[columns.text]
        if "\\u" in line and isinstance(text, str) and not is_unicode(text):
            # JSON can escape half of a character, as programs that cut texts at a length do.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield _Row(
            number,
            text,
            None if columns.label is None else record[columns.label],
            None if columns.id is None else record[columns.id],
        )


def _read_csv(path: Path, columns: _Columns, encoding: str) -> Iterator[_Row]:
    # The limit belongs to the csv module, not to a reader; restoring it later would race between threads.
    if csv.field_size_limit() < _LARGEST_FIELD:
        csv.field_size_limit(_LARGEST_FIELD)
    records = _csv_records(path, encoding)
    number, header = next(records, (1, []))
    if not header:
        raise CorpusError(f"{path} is empty; a CSV file must start with a row of column names")
    positions = [None if column is None else _position(path, number, header, column) for column in columns]
    for number, fields in records:
        if len(fields) != len(header):
            raise CorpusError(
                f"{_where(path, number)}: {len(fields)} fields, but the header has {len(header)}; "
                "texts with commas or line breaks must be in double quotes"
            )
        yield _Row(number, *(None if position is None else fields[position] for position in positions))


def _csv_records(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Give each record that is not a blank line, with the number of its first line."""
    # strict: otherwise a quote that is never closed swallows the rest of the file in silence.
    reader = csv.reader((line for _, line in _lines(path, encoding, newline="")), strict=True)
    while True:
        number = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise CorpusError(
                f"{_where(path, number)}: not CSV ({error}); "
                "fields with quotes must be in double quotes, and quotes in them doubled"
            ) from error
        if fields:
            yield number, fields


def _read_folder(path: Path, columns: _Columns, encoding: str) -> Iterator[_Row]:
    if columns.text != "text" or columns.id is not None or columns.label not in (None, "folder"):
        raise CorpusError(
            f"{path} is a folder, which has no columns: leave text and id out, "
            'and label too unless it is label="folder" (the name of the sub-folder)'
        )
    for file in _text_files(path):
        if columns.label is not None and file.parent == path:
            raise CorpusError(
                f'{file} is in no sub-folder, so label="folder" gives it no label; '
                "move it to the sub-folder of its label"
            )
        text = "".join(line for _, line in _lines(file, encoding, newline=""))
        yield _Row(file, text, file.parent.name, file.relative_to(path).with_suffix("").as_posix())


def _text_files(path: Path) -> list[Path]:
    found = [
        file
        for file in path.rglob("*")
        if file.suffix.lower() == ".txt"
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and file.is_file()
    ]
    if not found:
        raise CorpusError(f"{path} has no .txt files, nor have its sub-folders")
    return sorted(found, key=lambda file: file.relative_to(path).as_posix())


def _lines(path: Path, encoding: str, *, newline: str) -> Iterator[tuple[int, str]]:
    """Give the lines with their numbers, from 1, and say on which one the encoding is wrong."""
    number = 0
    # Decoding runs ahead of the lines, so a strict decoder's error would not tell the line; escaped bytes
    # are found in theirs.
    with path.open(encoding=encoding, errors="surrogateescape", newline=newline) as file:
        try:
            for number, line in enumerate(file, start=1):
                if not is_unicode(line):
                    raise _undecodable(_where(path, number), encoding)
                yield number, line.removeprefix("\ufeff") if number == 1 else line
        except UnicodeError as error:
            # Bytes that cannot be escaped (those of UTF-16, say): the line is only known about.
            raise _undecodable(f"{_where(path, number + 1)} or later", encoding) from error


def _undecodable(where: str, encoding: str) -> CorpusError:
    return CorpusError(
        f"{where}: bytes that are not {encoding}; say which encoding it is, such as encoding='latin-1', "
        "or convert the file to UTF-8"
    )


def _check_encoding(encoding: str) -> None:
    try:
        "x".encode(encoding)
    except (LookupError, ValueError) as error:
        raise CorpusError(f"{encoding!r} is no encoding that Python knows; try 'utf-8'") from error


def _position(path: Path, number: int, header: Sequence[str], column: str) -> int:
    if column not in header:
        raise _missing(path, number, column, header)
    if header.count(column) > 1:
        raise CorpusError(f"{_where(path, number)}: two columns are named {column!r}; rename one")
    return header.index(column)


def _missing(path: Path, number: int, column: str, columns: Sequence[str]) -> CorpusError:
    shown = ", ".join(map(repr, columns[:20])) + (", ..." if len(columns) > 20 else "")
    return CorpusError(f"{_where(path, number)}: no column {column!r}; there are: {shown or 'none'}")


def _where(path: Path, place: int | Path) -> str:
    return str(place) if isinstance(place, Path) else f"{path}, line {place}"


def _short(place: int | Path) -> str:
    return str(place) if isinstance(place, Path) else f"line {place}"


_FORMATS: dict[str, _Reader] = {".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".csv": _read_csv}
