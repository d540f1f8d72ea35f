"""Excel: the first sheet of a workbook, whose first row has the names of the columns."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from operator import itemgetter
from typing import Any

from laconic.errors import CorpusError
from laconic.reading.files import File
from laconic.reading.rows import Columns, Row

INSTALL = 'Excel files need the package openpyxl: pip install "laconic[excel]"'


def openpyxl() -> Any:
    """The package that knows workbooks.

    Raises
    ------
    CorpusError
        If it is not installed.
    """
    try:
        return import_module("openpyxl")
    except ImportError as error:
        raise CorpusError(INSTALL) from error


@contextmanager
def _sheet(source: File) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The rows of the first sheet, one at a time."""
    package = openpyxl()
    try:
        book = package.load_workbook(source.path, read_only=True, data_only=True)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise source.damaged(error) from error
    try:
        yield book.worksheets[0].iter_rows(values_only=True)
    finally:
        book.close()


def excel_columns(source: File) -> list[str]:
    """The names of the columns."""
    with _sheet(source) as rows:
        return _header(next(rows, ()))


def read_excel(source: File, columns: Columns) -> Iterator[Row]:
    """Give the rows of the first sheet; those without any value are none."""
    with _sheet(source) as rows:
        header = _header(next(rows, ()))
        if not header:
            raise CorpusError(f"{source.path} is empty; its first row must have the names of the columns")
        for column in columns.named:
            if column not in header:
                source.fail(1, columns.missing(column, header))
            if header.count(column) > 1:
                source.fail(1, f"two columns are named {column!r}; rename one")
        place = {column: header.index(column) for column in columns.named}
        take_text = itemgetter(*(place[column] for column in columns.taken))
        for number, cells in enumerate(rows, start=2):
            if all(cell is None for cell in cells):
                continue
            padded = (*cells, *[None] * (len(header) - len(cells)))
            others = (None if column is None else padded[place[column]] for column in columns.facts)
            yield (number, take_text(padded), *others)


def _header(cells: tuple[Any, ...]) -> list[str]:
    names = ["" if cell is None else str(cell) for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names
