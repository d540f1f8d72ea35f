"""The columns of a file, without reading more than its beginning."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from laconic.errors import CorpusError
from laconic.reading.excel import excel_columns
from laconic.reading.files import File, suffixes
from laconic.reading.jsonl import first_keys, keys_of
from laconic.reading.ledger import Ledger


def columns_of(path: Path, encoding: str | None = None, delimiter: str | None = None) -> list[str]:
    r"""Name the columns of a table, or the keys of the first of its JSON objects.

    Parameters
    ----------
    path : pathlib.Path
        Of a file.
    encoding, delimiter : str or None
        As in `Corpus.read`.

    Returns
    -------
    list of str
        Empty for files without columns.

    Raises
    ------
    CorpusError
        If the file cannot be read, or is empty.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fish.csv")
    ...     _ = path.write_text("text,colour\nfish,red\n")
    ...     columns_of(path)
    ['text', 'colour']
    """
    suffix, _ = suffixes(path)
    source = File(path, Ledger(), encoding or "utf-8")
    if suffix == ".parquet":
        import pyarrow as pa
        from pyarrow.parquet import read_schema

        with source.naming_damage():
            try:
                return list(read_schema(path).names)
            except pa.ArrowException as error:
                raise source.damaged(error) from error
    if suffix == ".xlsx":
        return excel_columns(source)
    if suffix == ".json":
        return first_keys(source)
    contents = (line for _, line in source.lines() if not line.isspace())
    if suffix in (".csv", ".tsv"):
        usual = "\t" if suffix == ".tsv" else ","
        try:
            return next(csv.reader(contents, delimiter=delimiter or usual), [])
        except csv.Error as error:
            raise CorpusError(f"{path}, line 1: not CSV ({error})") from error
    if suffix in (".jsonl", ".ndjson"):
        try:
            record = json.loads(next(contents, "{}"))
        except ValueError as error:
            raise CorpusError(f"{path}, line 1: not JSON ({error})") from error
        return keys_of(record)
    return []
