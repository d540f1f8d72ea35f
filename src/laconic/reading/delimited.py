"""CSV and TSV: a row of column names, then records, in which quoted fields may span lines."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import BinaryIO

from laconic.errors import CorpusError, Parameter
from laconic.reading.files import LARGEST_LINE, TOO_LONG, File
from laconic.reading.rows import Columns, Row

# The csv module's own limit for a field is 128 KB, which a long article exceeds. Without any, a quote that
# is never closed would take the memory of all that comes after it, also where it seems closed and opened
# again in every line.
_LARGEST_RECORD = LARGEST_LINE
_QUOTING = "fields with quotes must be in double quotes, and quotes in them doubled"
_USUAL = (",", ";", "\t", "|")


def check_delimiter(delimiter: object) -> None:
    """Refuse what cannot stand between fields."""
    if not (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'):
        raise CorpusError(
            Parameter("delimiter"),
            f" must be one character, such as ';', not {delimiter!r}, a quote or a line end",
        )


def read_delimited(source: File, columns: Columns, delimiter: str = ",") -> Iterator[Row]:
    """Give the rows of a CSV file, all of which have as many fields as the header; blank lines are none."""
    # The limit belongs to the csv module, not to a reader; restoring it later would race between threads.
    if csv.field_size_limit() < _LARGEST_RECORD:
        csv.field_size_limit(_LARGEST_RECORD)
    with source.opened() as file:
        records = _records(source, file, delimiter)
        number, header = next(records, (1, []))
        if not header:
            raise CorpusError(f"{source.path} is empty; a CSV file must start with a row of column names")
        position = {
            name: _position(source, number, header, columns, name, delimiter) for name in columns.named
        }
        take_text = itemgetter(*(position[column] for column in columns.taken))
        label, name, date = columns.facts
        width = len(header)
        for number, fields in records:
            if len(fields) != width:
                source.refuse(
                    number,
                    f"{len(fields)} fields, but the header has {width}; "
                    f"texts with {delimiter!r} or line breaks must be in double quotes",
                )
                continue
            yield (
                number,
                take_text(fields),
                None if label is None else fields[position[label]],
                None if name is None else fields[position[name]],
                None if date is None else fields[position[date]],
            )


def _records(source: File, file: BinaryIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Give each record that is not a blank line, with the number of its first line.

    After one that is wrong, reading goes on in its second line: a quote that is never closed costs its own
    line and not the rest of the file. A record that is then still open where a line of the wrong one ended
    would go the same way, so it is not followed, and the time stays linear.
    """
    lines = _lines(source, file)
    again: list[bytes] = []
    taken: list[bytes] = []
    undecodable: list[int] = []
    # The last line of a wrong record, and what was wrong.
    last, wrong = 0, ""

    def feed() -> Iterator[str]:
        n_bytes = 0
        while True:
            if taken and number + len(taken) <= last:
                raise csv.Error(wrong)
            line = again.pop() if again else next(lines, None)
            if line is None:
                return
            n_bytes = len(line) + (n_bytes if taken else 0)
            taken.append(line)
            if n_bytes > _LARGEST_RECORD or not line:
                raise csv.Error(f"a record of {TOO_LONG}")
            try:
                text = line.decode()
            except UnicodeDecodeError:
                undecodable.append(number + len(taken) - 1)
                text = line.decode(errors="replace")
            yield text

    # strict: otherwise a quote that is never closed swallows the rest of the file in silence.
    reader = csv.reader(feed(), delimiter=delimiter, strict=True)
    number = 1
    # Without a header there is nothing to go on with.
    refuse: Callable[[int, object], None] = source.fail
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # What is wrong with later lines is told when it is their turn.
            bad = source.undecodable if number in undecodable else f"not CSV ({error}); {_QUOTING}"
            refuse(number, bad)
            if len(taken) > 1:
                last, wrong = number + len(taken) - 1, str(error)
            again += taken[:0:-1]
            del taken[1:]
            reader = csv.reader(feed(), delimiter=delimiter, strict=True)
        else:
            if undecodable:
                refuse(undecodable[0], source.undecodable)
            elif fields:
                yield number, fields
                refuse = source.refuse
        number += len(taken)
        taken.clear()
        undecodable.clear()


def _lines(source: File, file: BinaryIO) -> Iterator[bytes]:
    """Give the lines, which may end as on any system; nothing for one that is too long."""
    for line in source.raw_lines(file):
        if line is None:
            yield b""
        elif b"\r" in line:
            yield from line.splitlines(keepends=True)
        else:
            yield line


def _position(
    source: File, number: int, header: Sequence[str], columns: Columns, column: str, delimiter: str
) -> int:
    if column not in header:
        other = next((sign for sign in _USUAL if sign != delimiter and sign in header[0]), None)
        hint: tuple[object, ...] = ()
        if len(header) == 1 and other:
            hint = (f"; the header looks separated by {other!r}: say ", Parameter("delimiter", other))
        source.fail(number, CorpusError(columns.missing(column, header), *hint))
    if header.count(column) > 1:
        source.fail(number, f"two columns are named {column!r}; rename one")
    return header.index(column)
