"""Files of links between documents, by their ids."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.errors import CorpusError
from laconic.reading.files import File, suffixes
from laconic.reading.ledger import Ledger, OnError, Reading

_COMMENTS = ("#", "%")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


class Links(NamedTuple):
    """Links, and what was read of them."""

    edges: NDArray[Any]
    """Two columns, the numbers of documents, or three, with weights."""
    reading: Reading


def check_links(path: Path) -> None:
    """Refuse, before the work, what is no file."""
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise CorpusError(f"{path} {problem}; name a file of links")


def read_links(path: Path, ids: Sequence[str], on_error: OnError = "raise") -> Links:
    r"""Read the links between documents.

    Parameters
    ----------
    path : Path
        In each line two ids and, in all lines or in none, a weight: separated by commas in .csv, by tabs in
        .tsv, and otherwise by white space. Lines that are empty or begin with # or % are skipped; so is, in
        .csv and .tsv, a first line that names no document (it names columns). May be compressed.
    ids : sequence of str
        Of the documents, in the order of the rows.
    on_error : {"raise", "skip"}
        Whether a line that cannot be used ends the reading or is left out.

    Returns
    -------
    Links
        As `GraphPLSA` takes them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "links.csv")
    ...     _ = path.write_text("from,to\na,c\nb,c\n")
    ...     read_links(path, ["a", "b", "c"]).edges
    array([[0, 2],
           [1, 2]])
    """
    ledger = Ledger((path,), on_error=on_error)
    file = File(path, ledger, "utf-8")
    rows = {name: row for row, name in enumerate(ids)}
    ends: list[tuple[int, int]] = []
    weights: list[float] = []
    width = 0
    for number, fields in _fields(file, rows):
        problem = _problem(fields, rows, width)
        if problem is not None:
            file.refuse(number, problem)
            continue
        width = len(fields)
        ends.append((rows[fields[0]], rows[fields[1]]))
        weights += map(float, fields[2:])
        ledger.accept(0)
    if not ends:
        first = [
            part
            for error in ledger.reading.errors[:1]
            for part in ("; the first line that cannot be used: ", error)
        ]
        raise CorpusError(f"{path} has no links", *first)
    edges = np.array(ends, np.int64)
    if width == 3:
        edges = np.column_stack([edges.astype(np.float64), weights])
    return Links(edges, ledger.reading)


def _fields(file: File, rows: dict[str, int]) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that has any, without the line of column names."""
    delimiter = _DELIMITERS.get(suffixes(file.path)[0])
    may_name_columns = delimiter is not None
    for number, line in file.lines():
        content = line.strip()
        if not content or content.startswith(_COMMENTS):
            continue
        if delimiter is None:
            fields = content.split()
        else:
            fields = [field.strip() for field in next(csv.reader([content], delimiter=delimiter))]
        if not may_name_columns or any(field in rows for field in fields):
            yield number, fields
        may_name_columns = False


def _problem(fields: list[str], rows: dict[str, int], width: int) -> str | None:
    """What is wrong with a line, if anything; `width` is the number of fields of those before, or 0."""
    if len(fields) not in (2, 3):
        fields_found = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
        return f"{fields_found}, where two ids, or two ids and a weight, are expected"
    if width and len(fields) != width:
        return f"{len(fields)} fields, but the lines before have {width}; give all links a weight, or none"
    for name in fields[:2]:
        if name not in rows:
            return f"no document has the id {name!r}; ids are such as {', '.join(map(repr, list(rows)[:3]))}"
    for weight in fields[2:]:
        try:
            valid = 0 <= float(weight) < float("inf")
        except ValueError:
            valid = False
        if not valid:
            return f"the weight {weight!r} is no number of at least 0"
    return None
