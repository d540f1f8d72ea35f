"""Tables of typed columns: Parquet files, and data frames in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from laconic.errors import CorpusError, Parameter
from laconic.reading.files import File, Rows
from laconic.reading.rows import Columns, Row

# So many texts are in memory at a time.
_BATCH = 2048
_BLOCK = 1 << 20


def read_parquet(source: File, columns: Columns) -> Iterator[Row]:
    """Give the rows of a Parquet file; other columns than those named are not read."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with source.naming_damage():
        try:
            size = source.path.stat().st_size
            # Without a buffer of its own size, a whole row group would be in memory.
            file = ParquetFile(source.path, buffer_size=_BLOCK, pre_buffer=False)
            with file:
                check_columns(file.schema_arrow, columns, str(source.path))
                batches = file.iter_batches(_BATCH, columns=columns.named, use_threads=False)
                n_rows, done = file.metadata.num_rows, 0
                for batch in batches:
                    done += len(batch)
                    # The columns lie apart in the file, so its rows tell how far the reading is.
                    part = source.start + size * done // max(n_rows, done)
                    source.ledger.position = partial(int, part)
                    yield from batch_rows(source, batch, columns, done - len(batch))
        except (pa.ArrowException, MemoryError, OverflowError) as error:
            raise source.damaged(error) from error


def is_table(data: Any) -> bool:
    """Whether this is a table in memory, as `read_arrow` takes them, and not a single column."""
    if hasattr(data, "collect_schema"):
        # A query that was not run yet: refused, with what to do, where it is read.
        return True
    return hasattr(data, "__arrow_c_stream__") and not hasattr(data, "dtype") and not hasattr(data, "type")


def read_arrow(source: Rows, columns: Columns, table: Any) -> Iterator[Row]:
    """Give the rows of a table that has the Arrow interface (``__arrow_c_stream__``)."""
    import pyarrow as pa

    narrowed = _narrowed(table, columns)
    try:
        reader = pa.RecordBatchReader.from_stream(narrowed)
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise CorpusError(f"the table cannot be read: {error}") from error
    check_columns(reader.schema, columns, "the table")
    start = 0
    try:
        for whole in reader:
            for first in range(0, len(whole), _BATCH):
                yield from batch_rows(source, whole.slice(first, _BATCH), columns, start + first)
            start += len(whole)
    except pa.ArrowException as error:
        raise CorpusError(f"the table cannot be read: {error}") from error


def _narrowed(table: Any, columns: Columns) -> Any:
    """Leave other columns out, since they may be of types that Arrow does not have."""
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        raise CorpusError("the table is a lazy query: pass table.collect()")
    if hasattr(table, "to_frame") and not hasattr(table, "columns"):
        raise CorpusError(
            "this is a single column, not a table: pass it to Corpus.from_texts, or pass the table"
        )
    if not hasattr(table, "__arrow_c_stream__"):
        raise CorpusError(
            "a table must be a pandas (2.2 or newer) or polars data frame, a pyarrow table, or something "
            "else with the Arrow interface, not {type(table).__name__}; from_texts takes lists of texts"
        )
    if hasattr(table, "column_names"):
        check_columns(table.schema, columns, "the table")
        return table.select(list(dict.fromkeys(_top(column, table.column_names) for column in columns.named)))
    names = getattr(table, "columns", None)
    if names is None:
        return table
    for column in columns.named:
        if _top(column, names) not in names:
            raise CorpusError("the table: ", columns.missing(column, [str(name) for name in names]))
    narrowed = table[list(dict.fromkeys(_top(column, names) for column in columns.named))]
    return _all_strings(narrowed, columns) if hasattr(narrowed, "iloc") else narrowed


def _top(column: str, names: Any) -> str:
    """The column itself, or that of the structure which it is a part of."""
    return column if column in names else column.partition(".")[0]


def _all_strings(frame: Any, columns: Columns) -> Any:
    """A frame of pandas whose columns of texts may hold numbers among the strings, which Arrow refuses."""
    mixed = {
        column: frame[column].map(_written).astype(object)
        for column in columns.texts
        if column in frame and str(getattr(frame[column], "dtype", "")) == "object"
    }
    return frame.assign(**mixed) if mixed else frame


def _written(value: Any) -> Any:
    if isinstance(value, bool | int | float) and value == value:
        return str(value)
    return value


def check_columns(schema: Any, columns: Columns, where: str) -> None:
    """Refuse columns that are not there, or there twice, and texts that are no strings."""
    names: Sequence[str] = schema.names
    for column in columns.named:
        if _type(schema, column) is None:
            raise CorpusError(f"{where}: ", columns.missing(column, _paths(schema)))
        if names.count(column) > 1:
            raise CorpusError(f"{where}: two columns are named {column!r}; rename one")
    for column in columns.texts:
        kind = _type(schema, column)
        value = getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind
        if str(value) not in ("string", "large_string", "string_view", "null"):
            raise CorpusError(
                f"{where}: the column {column!r} holds {kind}; texts must be strings (",
                Parameter("text"),
                " says which column they are in)",
            )


def _type(schema: Any, column: str) -> Any:
    """The type of a column, or of a part of a structure; None if there is none."""
    names: list[str] = schema.names
    if column in names:
        # of two with the same name, the first: that there are two is told elsewhere
        return schema.field(names.index(column)).type
    head, *parts = column.split(".")
    kind: Any = schema.field(head).type if names.count(head) == 1 else None
    for part in parts:
        place = -1 if not str(kind).startswith("struct") else kind.get_field_index(part)
        kind = kind.field(place).type if place >= 0 else None
    return kind if parts else None


def _paths(schema: Any) -> list[str]:
    """The columns, and the parts of structures."""

    def within(name: str, kind: Any) -> list[str]:
        if not str(kind).startswith("struct"):
            return [name]
        return [path for field in kind for path in within(f"{name}.{field.name}", field.type)]

    return [path for field in schema for path in within(field.name, field.type)]


def _column(batch: Any, column: str) -> Any:
    """A column, or a part of a structure."""
    if column in batch.schema.names:
        return batch.column(column)
    import pyarrow.compute as pc

    head, *parts = column.split(".")
    return pc.struct_field(batch.column(head), parts)


def batch_rows(source: Rows, batch: Any, columns: Columns, start: int) -> Iterator[Row]:
    """Give the rows of a record batch, of which `start` is the number of the first."""
    n_rows = len(batch)
    try:
        texts = [_values(_column(batch, column)) for column in columns.taken]
        others = [
            [None] * n_rows if column is None else _values(_column(batch, column)) for column in columns.facts
        ]
    except UnicodeDecodeError:
        # Arrow does not look into strings, so one of them may be anything.
        if n_rows == 1:
            source.refuse(start, "bytes that are not utf-8 in a column of strings; mend the table")
            return
        for i in range(n_rows):
            yield from batch_rows(source, batch.slice(i, 1), columns, start + i)
        return
    text = texts[0] if len(texts) == 1 else zip(*texts, strict=True)
    yield from zip(range(start, start + n_rows), text, *others, strict=True)


def _values(array: Any) -> list[Any]:
    if not hasattr(array, "dictionary"):
        return list(array.to_pylist())
    # The dictionary may be that of a whole table, and not all kinds of strings can be decoded at once.
    indices = array.indices.to_pylist()
    entries = {index: array.dictionary[index].as_py() for index in set(indices) if index is not None}
    return [entries.get(index) for index in indices]
