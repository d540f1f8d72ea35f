"""JSON lines: an object in every line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from laconic.errors import CorpusError
from laconic.reading.files import File
from laconic.reading.rows import Columns, Row
from laconic.reading.strings import is_unicode, kind

_decode = json.JSONDecoder().raw_decode


def read_jsonl(source: File, columns: Columns) -> Iterator[Row]:
    """Give the rows of a file of JSON lines; lines of white space are none."""
    _, label_key, id_key, date_key = columns
    take_text = itemgetter(*columns.texts)
    for number, line in source.lines():
        if line.isspace():
            continue
        try:
            record, end = _decode(line)
            if line[end:] not in ("\n", "\r\n", ""):
                record = json.loads(line)
            text = take_text(record)
            label = None if label_key is None else record[label_key]
            name = None if id_key is None else record[id_key]
            date = None if date_key is None else record[date_key]
        except (ValueError, RecursionError, LookupError, TypeError):
            # Something is wrong, or there is white space where it rarely is.
            found = _examined(line, columns)
            if isinstance(found, CorpusError):
                source.refuse(number, found)
                continue
            text, label, name, date = found
        if "\\u" in line:
            text = tuple(map(_whole, text)) if isinstance(text, tuple) else _whole(text)
        yield number, text, label, name, date


def _whole(text: Any) -> Any:
    """Replace halves of characters, which JSON can escape, as programs that cut texts at a length do."""
    if not isinstance(text, str) or is_unicode(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _examined(line: str, columns: Columns) -> CorpusError | list[Any]:
    """Give the values of a line, or say what is wrong with it."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return CorpusError(f"not JSON ({error}); every line must be one JSON object")
    if not isinstance(record, dict):
        such = 'such as {"text": "..."}'
        return CorpusError(f"a JSON {kind(record)}; every line must be one JSON object, {such}")
    for column in columns.named:
        if column not in record:
            return columns.missing(column, list(record))
    others = [None if column is None else record[column] for column in columns[1:]]
    return [itemgetter(*columns.texts)(record), *others]
