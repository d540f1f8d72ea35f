"""Files of queries: JSON lines, TREC topics, or an id and a text in every line."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator, Sequence

from laconic.errors import CorpusError
from laconic.reading.files import File, suffixes
from laconic.reading.rankings import Lines, Queries, read_lines, source_of

_IDS = ("_id", "id", "query_id", "query-id", "qid")
_TEXTS = ("text", "query", "title")
_TOP = re.compile(r"(</?top>)", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z]+)>", re.IGNORECASE)
# Only what ends with a semicolon: elsewhere, & stands for itself.
_ENTITY = re.compile(r"&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);", re.IGNORECASE)
# What topics repeat after their tags.
_CAPTION = re.compile(r"\A\s*(?:number|topic|description|narrative)\s*:", re.IGNORECASE)


def read_queries(
    path: str | os.PathLike[str], *, fields: Sequence[str] = ("title",), encoding: str = "utf-8"
) -> Queries:
    r"""Read queries.

    Parameters
    ----------
    path : str or path
        A file, possibly compressed: JSON lines with ``_id`` (or ``id``) and ``text``, as in BEIR
        (``.jsonl``); TREC topics (if the file begins with ``<``); or else lines with an id, a tab and a
        text.
    fields : sequence of str, default=("title",)
        For TREC topics, the fields that make up the text: "title", "desc", "narr".
    encoding : str, default="utf-8"
        Of the file.

    Returns
    -------
    dict of str to str
        From ids to texts, in the order of the file.

    Raises
    ------
    CorpusError
        If the file cannot be used; the message names the file and the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "topics.txt")
    ...     _ = path.write_text("<top>\n<num> Number: 301\n<title> Red fish\n<desc> Where?\n</top>\n")
    ...     read_queries(path), read_queries(path, fields=["title", "desc"])
    ({'301': 'Red fish'}, {'301': 'Red fish Where?'})
    """
    source = source_of(path, encoding)
    lines = read_lines(source)
    if suffixes(source.path)[0] in (".jsonl", ".ndjson"):
        found = _json_queries(source, lines)
    elif lines[0][1].lstrip().startswith("<"):
        found = _topics(source, lines, fields)
    else:
        found = _tabbed_queries(source, lines)
    queries: Queries = {}
    for number, name, text in found:
        if name in queries:
            source.fail(number, f"query {name!r} is there twice; ids must differ")
        queries[name] = text
    if not queries:
        raise CorpusError(f"{source.path} has no queries")
    return queries


def _json_queries(source: File, lines: Lines) -> Iterator[tuple[int, str, str]]:
    for number, line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            source.fail(number, f"not JSON ({error}); every line must be one JSON object")
        if not isinstance(record, dict):
            source.fail(number, 'every line must be one JSON object, such as {"_id": "1", "text": "..."}')
        name = next((record[key] for key in _IDS if key in record), None)
        text = next((record[key] for key in _TEXTS if key in record), None)
        if not isinstance(name, str | int) or isinstance(name, bool) or not isinstance(text, str):
            source.fail(number, f"no id ({' or '.join(_IDS)}), or no text ({' or '.join(_TEXTS)})")
        if not str(name).strip():
            source.fail(number, "the id is missing")
        yield number, str(name), text


def _tabbed_queries(source: File, lines: Lines) -> Iterator[tuple[int, str, str]]:
    for place, (number, line) in enumerate(lines):
        name, tab, text = line.rstrip("\r\n").partition("\t")
        if not tab:
            source.fail(
                number,
                "no tab; queries are JSON lines (.jsonl), TREC topics (<top>), or an id, a tab and a text in "
                "every line",
            )
        if place == 0 and name.lower() in _IDS and text.lower() in _TEXTS:
            continue
        if not name.strip():
            source.fail(number, "the id is missing")
        yield number, name.strip(), text


def _topics(source: File, lines: Lines, fields: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The topics of a file, of which each begins with ``<top>``; tags inside may be closed or not."""
    opened = 0
    content = ""
    for number, line in lines:
        for piece in _TOP.split(line):
            if not _TOP.fullmatch(piece):
                if not opened and piece.strip():
                    source.fail(number, "text outside of <top> and </top>")
                content += piece
                continue
            closes = piece[1] == "/"
            if closes != bool(opened):
                source.fail(number, f"{piece} {'without' if closes else 'inside of'} <top>")
            if closes:
                yield (opened, *_topic(source, opened, content, fields))
            opened, content = (0 if closes else number), ""
    if opened:
        source.fail(opened, "<top> without </top>: the file may be cut off")


def _topic(source: File, number: int, content: str, fields: Sequence[str]) -> tuple[str, str]:
    """The id and the text of a topic that begins at a line."""
    pieces = _TAG.split(content)
    parts: dict[str, str] = {}
    for closing, name, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        if not closing:
            decoded = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _CAPTION.sub("", text))
            parts[name.lower()] = " ".join(decoded.split())
    name = parts.get("num", "")
    if not name:
        source.fail(number, "the topic has no <num>")
    for field in fields:
        if field not in parts:
            have = ", ".join(f"<{part}>" for part in parts if part != "num")
            source.fail(number, f"topic {name} has no <{field}>, only {have or 'its number'}")
    return name, " ".join(parts[field] for field in fields)
