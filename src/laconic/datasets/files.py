"""Files to plain values; what cannot be read is named in the error. Nothing here runs what it reads."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from laconic.errors import DatasetError
from laconic.reading.files import COMPRESSIONS, suffixes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SUFFIXES = ("", ".gz", ".xz")


def locate(folder: Path, name: str) -> Path | None:
    """The file of that name, or its compressed version, or None."""
    return next((p for s in _SUFFIXES if (p := folder / f"{name}{s}").is_file()), None)


def require(folder: Path, name: str) -> Path:
    """The file of that name, or its compressed version."""
    path = locate(folder, name)
    if path is None:
        raise DatasetError(f"{folder / name} is missing (so are its .gz and .xz): get the data set again")
    return path


def damaged(path: Path, why: object) -> DatasetError:
    """The error about a file that is not what it should be."""
    return DatasetError(f"{path} is damaged: {why}; get the file again")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Name the file in whatever goes wrong with its contents."""
    try:
        yield
    except DatasetError:
        raise
    except UnicodeDecodeError as error:
        raise damaged(path, f"it is not UTF-8 ({error.reason} at byte {error.start})") from error
    except (
        EOFError,
        gzip.BadGzipFile,
        lzma.LZMAError,
        zlib.error,
        zipfile.BadZipFile,
        ValueError,
        KeyError,
        NotImplementedError,
        RecursionError,
    ) as error:
        raise damaged(path, error) from error


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a text file, compressed or not."""
    compression = COMPRESSIONS.get(suffixes(path)[1])
    with path.open("rb") as file:
        opened: Any = file if compression is None else compression(file)
        with io.TextIOWrapper(opened, encoding="utf-8") as text:
            yield text


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends."""
    with reading(path), open_text(path) as file:
        return [line.rstrip("\n") for line in file]


def read_json(path: Path) -> Any:
    """The value of a JSON file."""
    with reading(path), open_text(path) as file:
        return json.load(file)


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines; there is at least one."""
    records = []
    with reading(path), open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise damaged(path, f"line {number} is not JSON ({error})") from error
            if not isinstance(record, dict):
                raise damaged(path, f"line {number} is not a JSON object")
            records.append(record)
    if not records:
        raise damaged(path, "it is empty")
    return records


def column(records: Iterable[dict[str, Any]], key: str, path: Path, kind: type = str) -> list[Any]:
    """One field of all records, which all have to have it."""
    values = []
    for number, record in enumerate(records, start=1):
        value = record.get(key)
        if not isinstance(value, kind):
            raise damaged(path, f"{key!r} of record {number} is {value!r:.40}, not {kind.__name__}")
        values.append(value)
    return values


def read_rows(path: Path, n_columns: int) -> list[list[str]]:
    """The rows of a tab-separated file, which all have to have that many columns."""
    rows = [line.split("\t") for line in read_lines(path) if line]
    for number, row in enumerate(rows, start=1):
        if len(row) != n_columns:
            raise damaged(path, f"row {number} has {len(row)} columns, not {n_columns}")
    return rows


def read_arrays(path: Path, names: Sequence[str], optional: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz`` file. Python objects in it are refused, since reading them could run code."""
    import numpy as np

    with reading(path):
        if not zipfile.is_zipfile(path):
            raise damaged(path, "it is not an .npz file")
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in names if name not in file.files]
            if missing:
                raise damaged(path, f"it has no array named {', '.join(missing)}")
            return {name: file[name] for name in [*names, *optional] if name in file.files}
