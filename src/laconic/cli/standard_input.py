"""Documents on standard input, named by a dash: put into a file, by what they look like."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

NAME = Path("-")
_COLUMNS = ("text", "label", "id", "date", "keep")


def spooled(paths: Sequence[Path], reading: Mapping[str, Any], columns: Mapping[str, str]) -> list[Path]:
    """The paths, with a temporary file in place of a dash; it goes when the program ends.

    Parameters
    ----------
    paths : sequence of Path
        As they were typed.
    reading, columns : mapping
        The options of the reader, and the columns of modalities: who names columns has a table.

    Returns
    -------
    list of Path
    """
    if NAME not in paths:
        return list(paths)
    if len(paths) > 1:
        raise typer.BadParameter("standard input (-) cannot be combined with other paths")
    if sys.stdin.isatty():
        raise typer.BadParameter(
            "standard input is a terminal: pipe documents into it, such as cat texts.jsonl | laconic ..."
        )
    folder = tempfile.mkdtemp(prefix="laconic-")
    # documents may be mapped into memory until the end
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = sys.stdin.buffer
    beginning = source.read(1 << 16)
    suffix = suffix_of(beginning, table=bool(columns) or any(name in reading for name in _COLUMNS))
    path = Path(folder, f"standard-input{suffix}")
    with path.open("wb") as file:
        file.write(beginning)
        shutil.copyfileobj(source, file)
    return [path]


def suffix_of(beginning: bytes, *, table: bool) -> str:
    r"""The suffix of a file that begins like this.

    Parameters
    ----------
    beginning : bytes
    table : bool
        Whether columns are named, so that lines of texts are records.

    Examples
    --------
    >>> suffix_of(b'{"text": "red"}', table=False), suffix_of(b" [{", table=True)
    ('.jsonl', '.json')
    >>> suffix_of(b"red fish", table=False), suffix_of(b"a\tb", table=True)
    ('.txt', '.tsv')
    """
    for magic, suffix in ((b"PAR1", ".parquet"), (b"PK\x03\x04", ".xlsx")):
        if beginning.startswith(magic):
            return suffix
    packed = next((end for magic, end in _PACKED.items() if beginning.startswith(magic)), "")
    if packed:
        return (".csv" if table else ".jsonl") + packed
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return ".jsonl"
    if text.startswith(b"["):
        return ".json"
    if not table:
        return ".txt"
    first = text.split(b"\n", 1)[0]
    return ".tsv" if b"\t" in first and b"," not in first else ".csv"


_PACKED = {b"\x1f\x8b": ".gz", b"\xfd7zXZ": ".xz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
