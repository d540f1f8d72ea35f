"""Rows as a table: a data frame where pandas or polars is there, else one of our own."""

from __future__ import annotations

import contextlib
import csv
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from laconic.reading.excel import openpyxl
from laconic.storage.files import appearing, sync

WIDEST = 70
"""How many characters of a value are printed."""


class Table(Sequence[dict[str, Any]]):
    """Named columns, row by row: what a data frame would be.

    Parameters
    ----------
    columns : mapping of str to sequence
        All of the same length.

    Examples
    --------
    >>> table = Table({"topic": [0, 1], "words": ["moon, sun", "salt"]})
    >>> table
    topic  words
        0  moon, sun
        1  salt
    >>> table["topic"], table[1]
    ([0, 1], {'topic': 1, 'words': 'salt'})
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = {name: list(values) for name, values in columns.items()}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str):
            return self.columns[place]
        if isinstance(place, slice):
            return Table({name: values[place] for name, values in self.columns.items()})
        return {name: values[place] for name, values in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        shown = {name: [name, *map(_shown, values)] for name, values in self.columns.items()}
        widths = {name: max(map(len, cells)) for name, cells in shown.items()}
        right = {
            name: all(isinstance(value, int | float | None) for value in values)
            for name, values in self.columns.items()
        }
        return "\n".join(
            "  ".join(
                cells[row].rjust(widths[name]) if right[name] else cells[row].ljust(widths[name])
                for name, cells in shown.items()
            ).rstrip()
            for row in range(len(self) + 1)
        )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def write_table(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns to a file, as its suffix says: ``.xlsx`` or ``.csv``.

    Parameters
    ----------
    columns : mapping of str to sequence
        All of the same length.
    path : Path
        Replaced when all is written, or not at all.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".xlsx"):
        raise ValueError(f"{path}: has the suffix {path.suffix!r}; tables are written as .xlsx or .csv")
    rows = list(zip(*columns.values(), strict=True))
    if suffix == ".csv":
        with appearing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
            sync(file)
        return
    from laconic.bundle.weights import excel_cell

    book = openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet("topics")
    for row in (tuple(columns), *rows):
        sheet.append([excel_cell(value) for value in row])
    with appearing(path) as new, new.open("wb") as file:
        book.save(file)
        sync(file)


def as_table(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A data frame of the library in use (pandas or polars), or of one that is installed; else a `Table`."""
    for name in sorted(("pandas", "polars"), key=lambda name: sys.modules.get(name) is None):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).DataFrame(columns)
    return Table(columns)


def columns_of(table: Any) -> dict[str, list[Any]]:
    """The columns of what `as_table` gave, as plain lists.

    >>> columns_of(Table({"topic": [0, 1]}))
    {'topic': [0, 1]}
    """
    if isinstance(table, Table):
        return table.columns
    if hasattr(table, "iter_columns"):
        return {str(column.name): column.to_list() for column in table.iter_columns()}
    return {str(name): table[name].tolist() for name in table.columns}
