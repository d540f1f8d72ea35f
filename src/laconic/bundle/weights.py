"""Files of documents' weights: Parquet, CSV and JSON lines, written as a whole or not at all."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from laconic.storage.files import appearing, sync

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle

Write: TypeAlias = Callable[[Sequence[str], Any], None]
"""Takes the ids and the weights (dense or sparse, documents by topics) of some documents."""


def check_target(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse, before the work, what could not be written.

    >>> check_target(Path("weights.xlsx"))
    Traceback (most recent call last):
    ValueError: weights.xlsx: has the suffix '.xlsx'; weights are written as .parquet, .csv, .jsonl
    """
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(
            f"{path}: has the suffix {path.suffix!r}; weights are written as {', '.join(_FORMATS)}"
        )
    if path.is_dir():
        raise ValueError(f"{path}: is a directory; give the name of a file")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no directory {path.parent}; make it first, or write elsewhere")
    if path.exists() and any(path.samefile(file) for file in inputs):
        raise ValueError(f"{path}: is the file of the documents; give another file to write to")


@contextmanager
def writing_weights(path: Path, bundle: Bundle) -> Iterator[Write]:
    """Write a file of weights in parts; it appears under its name when the block ends without an error.

    Parameters
    ----------
    path : Path
        Its suffix says the format. A file that is there is replaced.
    bundle : Bundle
        Of the topics: columns are ``topic0``, ``topic1 tennis`` and so on, in JSON lines ``0``, ``1 tennis``.

    Yields
    ------
    callable
        To be called with ids and weights; rows stay in this order.
    """
    suffix = path.suffix.lower()
    names = column_names(bundle, suffix)
    with appearing(path) as temporary, _FORMATS[suffix](temporary, names) as write:
        yield lambda ids, weights: write(ids, _dense(weights))


def column_names(bundle: Bundle, suffix: str) -> list[str]:
    """What the columns of weights are called: numbers of topics, those of classes with them, and names.

    Parameters
    ----------
    bundle : Bundle
        Of the topics.
    suffix : str
        Of the file: keys of JSON lines are numbers.
    """
    names, model = bundle.names, bundle.model
    if model.traits.classes:
        plain = model.get_feature_names_out().tolist()
    else:
        plain = [f"{'' if suffix == '.jsonl' else 'topic'}{number}" for number in range(len(names))]
    return [one if name is None else f"{one} {name}" for one, name in zip(plain, names, strict=True)]


def _dense(weights: Any) -> NDArray[Any]:
    return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights)


@contextmanager
def _parquet(path: Path, topics: Sequence[str]) -> Iterator[Write]:
    names = ["id", *topics]
    writer: Any = None
    with path.open("wb") as file:
        try:

            def write(ids: Sequence[str], weights: NDArray[Any]) -> None:
                nonlocal writer
                arrays = [pa.array(ids, pa.string()), *(pa.array(column) for column in weights.T)]
                table = pa.Table.from_arrays(arrays, names)
                if writer is None:
                    writer = pq.ParquetWriter(file, table.schema)
                writer.write_table(table)

            yield write
        finally:
            if writer is not None:
                writer.close()
        sync(file)


@contextmanager
def _csv(path: Path, topics: Sequence[str]) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *topics])
        yield lambda ids, weights: writer.writerows(
            [id, *row] for id, row in zip(ids, _digits(weights), strict=True)
        )
        sync(file)


@contextmanager
def _jsonl(path: Path, topics: Sequence[str]) -> Iterator[Write]:
    keys = [json.dumps(topic, ensure_ascii=False) for topic in topics]
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def write(ids: Sequence[str], weights: NDArray[Any]) -> None:
            for id, row, digits in zip(ids, weights, _digits(weights), strict=True):
                shown = ", ".join(f"{keys[topic]}: {digits[topic]}" for topic in np.flatnonzero(row))
                file.write(f'{{"id": {json.dumps(id, ensure_ascii=False)}, "topics": {{{shown}}}}}\n')

        yield write
        sync(file)


def _digits(weights: NDArray[Any]) -> Iterator[list[str]]:
    """The rows of an array as numbers in text, with as many digits as it takes to read the same bits back."""
    n_rows, n_columns = weights.shape
    texts: list[str] = pa.array(weights.ravel()).cast(pa.string()).to_pylist()
    return (texts[row * n_columns : (row + 1) * n_columns] for row in range(n_rows))


_FORMATS = {".parquet": _parquet, ".csv": _csv, ".jsonl": _jsonl}
