"""Paths, lists of them and patterns to sources of documents, and the table of formats."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from laconic.errors import CorpusError, InPython, Parameter
from laconic.reading.arrow import read_parquet
from laconic.reading.delimited import check_delimiter, read_delimited
from laconic.reading.excel import read_excel
from laconic.reading.files import COMPRESSIONS, File, Rows, check_encoding, suffixes
from laconic.reading.jsonl import read_json, read_jsonl
from laconic.reading.ledger import Ledger, OnError, Progress
from laconic.reading.rows import Columns, Row
from laconic.reading.texts import Folder, read_folder, read_lines, text_files

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Reader: TypeAlias = Callable[[Any, Columns], Iterator[Row]]

FORMATS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".csv": read_delimited,
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".txt": read_lines,
    ".parquet": read_parquet,
    ".xlsx": read_excel,
}
_UNITS: dict[Reader, str] = {read_parquet: "row", read_excel: "row", read_json: "object"}
COUNT_FORMATS = (".svm", ".svmlight", ".libsvm", ".mtx", ".mm")


class Plan(NamedTuple):
    """What is going to be read, and how."""

    name: str
    sources: list[tuple[Rows, Reader]]
    ledger: Ledger


def plan(
    path: Paths,
    encoding: str,
    delimiter: str | None,
    on_error: OnError,
    progress: Progress | None,
    max_documents: int | None = None,
) -> Plan:
    """Find the files and their formats; nothing is opened yet."""
    check_encoding(encoding)
    if delimiter is not None:
        check_delimiter(delimiter)
    paths = expanded(path)
    name = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    if len(paths) == 1 and paths[0].is_dir():
        return _folder_plan(paths[0], encoding, delimiter, on_error, progress, max_documents)
    readers = [_reader(file, delimiter) for file in paths]
    sizes = [file.stat().st_size for file in paths]
    ledger = Ledger(tuple(paths), sum(sizes), on_error, progress, max_documents)
    sources: list[tuple[Rows, Reader]] = []
    start = 0
    for file, reader, size in zip(paths, readers, sizes, strict=True):
        unit = _UNITS.get(reader, "line")
        sources.append((File(file, ledger, encoding, start, unit), reader))
        start += size
    return Plan(name, sources, ledger)


def expanded(path: Paths) -> list[Path]:
    """Give the paths of a path, a list or a pattern; all exist, and there is at least one."""
    if isinstance(path, str | os.PathLike):
        found = _matches(path)
    elif hasattr(path, "__arrow_c_stream__") or hasattr(path, "columns"):
        raise CorpusError("this is a table, not a path; Corpus.from_table takes tables in memory")
    elif isinstance(path, bytes) or not isinstance(path, Iterable):
        raise CorpusError(f"a path must be a string, a path or a list of them, not {type(path).__name__}")
    else:
        found = [file for one in path for file in _matches(one)]
        if not found:
            raise CorpusError("the list of paths is empty; name at least one file")
    for file in found:
        if len(found) > 1 and file.is_dir():
            raise CorpusError(
                f"{file} is a folder; if you give several paths, all must be files: leave it out, or use "
                f"{file}/*"
            )
        if not (file.is_file() or file.is_dir()):
            raise CorpusError(f"{file} is neither a file nor a folder; copy its contents to a file")
    return found


def _unsupported(path: Path) -> str:
    """Say which suffix is wrong, and which there are."""
    known = ", ".join([*FORMATS, *COUNT_FORMATS])
    return (
        f"{path} has the suffix {path.suffix!r}, which is not supported; there are {known} (all but Parquet "
        f"and Excel also with {', '.join(COMPRESSIONS)}), and folders of .txt files"
    )


def _matches(path: object) -> list[Path]:
    if not isinstance(path, str | os.PathLike):
        raise CorpusError(f"a path must be a string or a path, not {type(path).__name__}")
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise CorpusError(f"{name!r} is not the name of a file; check the path")
    try:
        # A file may have the signs of a pattern in its name.
        if os.path.lexists(name) and not Path(name).exists():
            raise CorpusError(f"{name} is a link to a file that does not exist; mend it")
        if Path(name).exists():
            return [Path(name)]
        if not glob.has_magic(name):
            raise CorpusError(f"{name} does not exist; check the path")
        found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 (a Path has no absolute patterns)
    except OSError as error:
        raise CorpusError(f"{name} cannot be read: {error.strerror}") from error
    if not found:
        raise CorpusError(f"no file matches {name}; check the pattern")
    return [Path(file) for file in found]


def _reader(path: Path, delimiter: str | None) -> Reader:
    suffix, compression = suffixes(path)
    if suffix in COUNT_FORMATS or is_docword(path):
        raise CorpusError(
            f"{path} holds counts, not texts", InPython("; only Corpus.read can read it, on its own")
        )
    if suffix not in FORMATS:
        raise CorpusError(_unsupported(path))
    if suffix in (".parquet", ".xlsx") and compression:
        raise CorpusError(f"{path}: {suffix} files have their own compression; decompress it")
    if delimiter is None:
        return FORMATS[suffix]
    if suffix not in (".csv", ".tsv"):
        raise CorpusError(
            f"{path} has no delimiter, only .csv and .tsv files do: leave ", Parameter("delimiter"), " out"
        )
    return partial(read_delimited, delimiter=delimiter)


def is_docword(path: Path) -> bool:
    """Whether the name is that of a bag of words of the UCI repository."""
    return path.name.startswith("docword.") and suffixes(path)[0] == ".txt"


def _folder_plan(
    path: Path,
    encoding: str,
    delimiter: str | None,
    on_error: OnError,
    progress: Progress | None,
    max_documents: int | None,
) -> Plan:
    if delimiter is not None:
        raise CorpusError(
            f"{path} is a folder of texts, which have no delimiter: leave ", Parameter("delimiter"), " out"
        )
    for kind in ("corpus", "model"):
        # It has a vocabulary in a .txt file, which is no document.
        if (path / f"{kind}.json").is_file() and any(path.glob("vocabulary-*.txt")):
            remedy = InPython("; Corpus.load takes it") if kind == "corpus" else "; give the texts"
            raise CorpusError(f"{path} is a saved {kind}, not a folder of texts", remedy)
    try:
        files = text_files(path)
        if not files:
            raise CorpusError(_no_texts(path))
        size = sum(file.stat().st_size for file in files)
    except OSError as error:
        raise CorpusError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    ledger = Ledger((path,), size, on_error, progress, max_documents)
    return Plan(str(path), [(Folder(path, files, ledger, encoding), read_folder)], ledger)


def _no_texts(path: Path) -> str:
    others = sorted({"".join(suffixes(file)) for file in path.iterdir() if suffixes(file)[0] in FORMATS})
    hint = f"; for its {others[0]} files, say {path}/*{others[0]}" if others else ""
    return f"{path} has no .txt files, nor have its sub-folders{hint}"
