"""Files of documents' weights: Parquet, CSV, JSON lines and Excel, written as a whole or not at all."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from laconic.reading.excel import openpyxl
from laconic.storage.files import appearing, sync

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle

Rows: TypeAlias = Sequence[Sequence[object]]
Write: TypeAlias = Callable[..., None]
"""Takes ids and weights (dense or sparse, documents by topics) of documents, and what is kept of them."""

STANDARD = Path("-")
"""Standard output, as CSV."""

MOST_ROWS = 1_048_576
"""Of a sheet of Excel."""


def check_target(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse, before the work, what could not be written.

    >>> check_target(Path("weights.doc"))
    Traceback (most recent call last):
    ValueError: weights.doc has the suffix '.doc'; weights are written as .parquet, .csv, .jsonl, .xlsx, or \
- for CSV on standard output
    """
    if path == STANDARD:
        return
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(
            f"{path} has the suffix {path.suffix!r}; weights are written as {', '.join(_FORMATS)}, or - "
            "for CSV on standard output"
        )
    if path.suffix.lower() == ".xlsx":
        openpyxl()
    if path.is_dir():
        raise ValueError(f"{path}: is a directory; give the name of a file")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no directory {path.parent}; make it first, or write elsewhere")
    if path.exists() and any(path.samefile(file) for file in inputs):
        raise ValueError(f"{path} is the file of the documents; choose another file to write to")


@contextmanager
def writing_weights(path: Path, bundle: Bundle, kept: Sequence[str] = ()) -> Iterator[Write]:
    """Write a file of weights in parts; it appears under its name when the block ends without an error.

    Parameters
    ----------
    path : Path
        Its suffix says the format; ``-`` is standard output. A file that is there is replaced.
    bundle : Bundle
        Of the topics: columns are ``topic0``, ``topic1 tennis`` and so on, in JSON lines ``0``, ``1 tennis``.
    kept : sequence of str, default=()
        The names of columns that stand between the ids and the topics.

    Yields
    ------
    callable
        To be called with ids, weights and, of each document, the values of the columns that are kept; rows
        stay in this order.
    """
    living = bundle.notes.living
    with writing_rows(path, kept, column_names(bundle, path.suffix.lower())) as write:
        if not bundle.notes.retired:
            yield write
        else:
            yield lambda ids, weights, *more: write(ids, weights[:, living], *more)


@contextmanager
def writing_rows(path: Path, kept: Sequence[str], topics: Sequence[str] = ()) -> Iterator[Write]:
    """As `writing_weights`, with the names of the topics; without any, there are no weights."""

    def rows(ids: Sequence[str], weights: Any = None, values: Rows = ()) -> tuple[Any, Any, Any]:
        table = np.zeros((len(ids), 0)) if weights is None else _dense(weights)
        return ids, table, values if kept else [()] * len(ids)

    if path == STANDARD:
        with _csv(path, kept, topics) as write:
            yield lambda *parts: write(*rows(*parts))
        return
    with appearing(path) as temporary, _FORMATS[path.suffix.lower()](temporary, kept, topics) as write:
        yield lambda *parts: write(*rows(*parts))


def column_names(bundle: Bundle, suffix: str) -> list[str]:
    """What the columns of weights are called: numbers of topics, those of classes with them, and names.

    Parameters
    ----------
    bundle : Bundle
        Of the topics.
    suffix : str
        Of the file: keys of JSON lines are numbers.
    """
    names, model = bundle.names, bundle.model
    if model.traits.classes:
        plain = model.get_feature_names_out().tolist()
    else:
        plain = [f"{'' if suffix == '.jsonl' else 'topic'}{number}" for number in range(len(names))]
    called = [one if name is None else f"{one} {name}" for one, name in zip(plain, names, strict=True)]
    return [called[topic] for topic in bundle.notes.living]


def _dense(weights: Any) -> NDArray[Any]:
    return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights)


@contextmanager
def _parquet(path: Path, kept: Sequence[str], topics: Sequence[str]) -> Iterator[Write]:
    names = ["id", *kept, *topics]
    writer: Any = None
    with path.open("wb") as file:
        try:

            def write(ids: Sequence[str], weights: NDArray[Any], values: Rows) -> None:
                nonlocal writer
                known = [None] * len(kept) if writer is None else writer.schema.types[1 : 1 + len(kept)]
                others = [
                    _typed(name, [row[place] for row in values], known[place])
                    for place, name in enumerate(kept)
                ]
                arrays = [pa.array(ids, pa.string()), *others, *(pa.array(column) for column in weights.T)]
                table = pa.Table.from_arrays(arrays, names)
                if writer is None:
                    writer = pq.ParquetWriter(file, table.schema)
                writer.write_table(table)

            yield write
        finally:
            if writer is not None:
                writer.close()
        sync(file)


def _typed(name: str, values: list[Any], kind: Any) -> Any:
    """A column of values; of the type that the first documents have, if there are any before."""
    try:
        array = pa.array(values, kind)
    except (pa.ArrowException, OverflowError) as error:
        raise ValueError(
            f"the column {name!r} has values of several kinds ({error}); write .csv or .jsonl"
        ) from error
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _text_file(path: Path, newline: str) -> AbstractContextManager[Any]:
    return nullcontext(sys.stdout) if path == STANDARD else path.open("w", encoding="utf-8", newline=newline)


@contextmanager
def _csv(path: Path, kept: Sequence[str], topics: Sequence[str]) -> Iterator[Write]:
    with _text_file(path, "") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *kept, *topics])
        yield lambda ids, weights, values: writer.writerows(
            [id, *own, *row] for id, own, row in zip(ids, values, _digits(weights), strict=True)
        )
        if path != STANDARD:
            sync(file)


@contextmanager
def _jsonl(path: Path, kept: Sequence[str], topics: Sequence[str]) -> Iterator[Write]:
    keys = [json.dumps(topic, ensure_ascii=False) for topic in topics]
    with _text_file(path, "\n") as file:

        def write(ids: Sequence[str], weights: NDArray[Any], values: Rows) -> None:
            for id, own, row, digits in zip(ids, values, weights, _digits(weights), strict=True):
                facts = {"id": id, **dict(zip(kept, own, strict=True))}
                shown = json.dumps(facts, ensure_ascii=False, default=str)[:-1]
                if topics:
                    listed = ", ".join(f"{keys[topic]}: {digits[topic]}" for topic in np.flatnonzero(row))
                    shown += f', "topics": {{{listed}}}'
                file.write(f"{shown}}}\n")

        yield write
        sync(file)


@contextmanager
def _excel(path: Path, kept: Sequence[str], topics: Sequence[str]) -> Iterator[Write]:
    book = openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet("weights" if topics else "documents")
    sheet.append(["id", *kept, *topics])
    n_rows = 1

    def write(ids: Sequence[str], weights: NDArray[Any], values: Rows) -> None:
        nonlocal n_rows
        n_rows += len(ids)
        if n_rows > MOST_ROWS:
            raise ValueError(f"a sheet of Excel has at most {MOST_ROWS:,} rows; write .csv or .parquet")
        for id, own, row in zip(ids, values, weights.tolist(), strict=True):
            sheet.append([excel_cell(value) for value in (id, *own)] + row)

    yield write
    with path.open("wb") as file:
        book.save(file)
        sync(file)


def excel_cell(value: object) -> object:
    """What a cell can hold: no formulas, no control characters, no more than Excel takes."""
    if isinstance(value, list | tuple | dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    if not isinstance(value, str):
        return value
    # A text that begins like a formula would be one.
    text = "".join(sign for sign in value[:32_000] if sign in "\t\n" or sign >= " ")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _digits(weights: NDArray[Any]) -> Iterator[list[str]]:
    """The rows of an array as numbers in text, with as many digits as it takes to read the same bits back."""
    n_rows, n_columns = weights.shape
    texts: list[str] = pa.array(weights.ravel()).cast(pa.string()).to_pylist()
    return (texts[row * n_columns : (row + 1) * n_columns] for row in range(n_rows))


_FORMATS = {".parquet": _parquet, ".csv": _csv, ".jsonl": _jsonl, ".xlsx": _excel}
