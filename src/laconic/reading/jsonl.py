"""JSON: an object in every line, or an array of objects."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from laconic.errors import CorpusError
from laconic.reading.files import LARGEST_LINE, TOO_LONG, File
from laconic.reading.rows import Columns, Row
from laconic.reading.strings import is_unicode, kind

_decode = json.JSONDecoder().raw_decode
_SUCH = 'such as {"text": "..."}'
# So many bytes of an array are read at a time; an object of more is read on until it ends, but not for ever.
_BLOCK = 1 << 20
_LARGEST_OBJECT = LARGEST_LINE
_WHITE = " \t\r\n"


def read_jsonl(source: File, columns: Columns) -> Iterator[Row]:
    """Give the rows of a file of JSON lines; lines of white space are none."""
    take = _taker(columns)
    for number, line in source.lines():
        if line.isspace():
            continue
        try:
            record, end = _decode(line)
            if line[end:] not in ("\n", "\r\n", ""):
                record = json.loads(line)
            text, label, name, date = take(record)
        except (ValueError, RecursionError, LookupError, TypeError):
            # Something is wrong, or there is white space where it rarely is.
            found = _examined(line, columns)
            if isinstance(found, CorpusError):
                source.refuse(number, found)
                continue
            text, label, name, date = found
        if "\\u" in line:
            text = _mended(text)
        yield number, text, label, name, date


def read_json(source: File, columns: Columns) -> Iterator[Row]:
    """Give the rows of a JSON file: an array of objects, or objects one after the other, as in JSON lines."""
    take = _taker(columns)
    for number, record in enumerate(_records(source), start=1):
        try:
            text, label, name, date = take(record)
        except (LookupError, TypeError):
            source.refuse(number, _lacking(record, columns))
            continue
        yield number, _mended(text), label, name, date


def _records(source: File) -> Iterator[Any]:
    """Give the values of an array, or those that follow each other, without holding the whole file."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    rest, number, ended = "", 0, False
    with source.opened() as file:

        def more() -> None:
            nonlocal rest, ended
            if len(rest) > _LARGEST_OBJECT:
                source.fail(number + 1, f"an object of {TOO_LONG}")
            # an object that is cut off is parsed again, so each time with twice as much of it
            block = file.read(max(_BLOCK, len(rest)))
            ended = not block
            rest += decoder.decode(block, final=ended)

        def following(expected: str = "") -> str:
            """The next character that is no white space; passed over, if it is one of those expected."""
            nonlocal rest
            while not (rest := rest.lstrip(_WHITE)) and not ended:
                more()
            sign = rest[:1]
            rest = rest[1:] if sign and sign in expected else rest
            return sign

        within = following("[") == "["
        if within and following("]") == "]":
            return
        while following() or within:
            while True:
                try:
                    record, end = _decode(rest)
                except (ValueError, RecursionError) as error:
                    if ended:
                        source.fail(number + 1, f"not JSON ({error}); the file must be an array of objects")
                    more()
                    continue
                if end < len(rest) or ended:
                    break
                # a number at the end may go on in what comes next
                more()
            number += 1
            yield record
            rest = rest[end:]
            if within and (sign := following(",]")) != ",":
                if sign != "]":
                    source.fail(number + 1, "the array does not end; the file is cut off or damaged")
                return


def _taker(columns: Columns) -> Callable[[Any], tuple[Any, Any, Any, Any]]:
    """What takes text, label, id and date out of an object; a LookupError or TypeError if it cannot."""
    label_key, id_key, date_key = columns.facts
    if any("." in column for column in columns.named):
        several = len(columns.taken) > 1

        def take_deep(record: Any) -> tuple[Any, Any, Any, Any]:
            texts = tuple(value_at(record, column) for column in columns.taken)
            others = (None if column is None else value_at(record, column) for column in columns.facts)
            return (texts if several else texts[0], *others)  # type: ignore[return-value]

        return take_deep
    take_text = itemgetter(*columns.taken)

    def take(record: Any) -> tuple[Any, Any, Any, Any]:
        return (
            take_text(record),
            None if label_key is None else record[label_key],
            None if id_key is None else record[id_key],
            None if date_key is None else record[date_key],
        )

    return take


def value_at(record: Any, path: str) -> Any:
    """The value of a key, or of a key in an object within, such as "meta.body".

    >>> value_at({"meta": {"body": "fish"}, "a.b": 1}, "meta.body")
    'fish'
    """
    if path in record:
        return record[path]
    head, dot, tail = path.partition(".")
    if not dot:
        raise KeyError(path)
    # null is an object without keys
    inner = record[head]
    return None if inner is None else value_at(inner, tail)


def _mended(text: Any) -> Any:
    return tuple(map(_whole, text)) if isinstance(text, tuple) else _whole(text)


def _whole(text: Any) -> Any:
    """Replace halves of characters, which JSON can escape, as programs that cut texts at a length do."""
    if not isinstance(text, str) or is_unicode(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _examined(line: str, columns: Columns) -> CorpusError | tuple[Any, Any, Any, Any]:
    """Give the values of a line, or say what is wrong with it."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return CorpusError(f"not JSON ({error}); every line must be one JSON object")
    if not isinstance(record, dict):
        return CorpusError(f"a JSON {kind(record)}; every line must be one JSON object, {_SUCH}")
    try:
        return _taker(columns)(record)
    except (LookupError, TypeError):
        return _lacking(record, columns)


def _lacking(record: Any, columns: Columns) -> CorpusError:
    """Say what an object lacks."""
    if not isinstance(record, dict):
        return CorpusError(f"a JSON {kind(record)}; there must be objects, {_SUCH}")
    for column in columns.named:
        try:
            value_at(record, column)
        except (LookupError, TypeError):
            return columns.missing(column, keys_of(record))
    raise AssertionError("nothing is missing")


def first_keys(source: File) -> list[str]:
    """The keys of the first object of a JSON file, and of those within it."""
    return keys_of(next(_records(source), {}))


def keys_of(record: Any) -> list[str]:
    """The keys of an object, and of those within it.

    >>> keys_of({"id": 1, "meta": {"body": "fish", "year": 1960}})
    ['id', 'meta.body', 'meta.year']
    """
    found = []
    for key, value in record.items() if isinstance(record, dict) else ():
        within = keys_of(value)
        found += [f"{key}.{inner}" for inner in within] if within else [key]
    return found
