"""New documents for a saved model: read, and turned into rows, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer

from laconic.cli import media as several

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.cli.sources import Source
    from laconic.matrices import CSR
    from laconic.reading import Progress, Reading

# So many documents are in memory at a time. A multiple of the blocks in which models fold documents in, so
# that the weights are to the bit those of all documents at once.
BATCH = 16 * 1024

Item = TypeVar("Item")


class Part(NamedTuple):
    """The ids of some documents, and their rows: of the texts of each name, if they have several."""

    ids: Sequence[str]
    X: Any

    @property
    def empty(self) -> Any:
        """Which documents have no word of the vocabulary."""
        import numpy as np

        matrices = self.X.values() if isinstance(self.X, Mapping) else [self.X]
        return np.all([np.diff(X.indptr) == 0 for X in matrices], axis=0)


class TextParts(Iterator[Part]):
    """Texts of files as rows; `reading` tells what was read so far.

    Parameters
    ----------
    bundle : Bundle
        With a vectoriser for every text.
    source : Source
        Files of texts.
    columns : mapping of str to str
        The columns of texts, by the names of the model's modalities; empty if it has none.
    reading : mapping
        The options of the reader.
    progress : callable
        Told how far the reading is.
    """

    def __init__(
        self,
        bundle: Bundle,
        source: Source,
        columns: Mapping[str, str],
        reading: Mapping[str, Any],
        progress: Progress,
    ) -> None:
        from laconic.reading import read_documents, read_modalities

        self._bundle, self._names = bundle, list(columns)
        if len(columns) > 1:
            self._documents: Any = read_modalities(
                source.paths, list(columns.values()), **reading, progress=progress
            )
        else:
            named = {**reading, "text": next(iter(columns.values()))} if columns else reading
            self._documents = read_documents(source.paths, **named, progress=progress)

    def __next__(self) -> Part:
        batch = list(islice(self._documents, BATCH))
        if not batch:
            raise StopIteration
        return Part([document.id for document in batch], self._rows(batch))

    def _rows(self, batch: list[Any]) -> Any:
        if len(self._names) > 1:
            return {
                name: self._bundle.vectorize((document.texts[number] for document in batch), modality=name)
                for number, name in enumerate(self._names)
            }
        name = self._names[0] if self._names else None
        return self._bundle.vectorize((document.text for document in batch), modality=name)

    @property
    def reading(self) -> Reading:
        """What was read so far."""
        reading: Reading = self._documents.reading
        return reading


def matrix_parts(ids: Sequence[str], X: CSR) -> Iterator[Part]:
    """The rows of a matrix."""
    for start in range(0, X.shape[0], BATCH):
        yield Part(ids[start : start + BATCH], X[start : start + BATCH])


def check_names(bundle: Bundle, path: Path, columns: Mapping[str, str], text: str | None) -> None:
    """Refuse columns of texts that a model does not know, and other ones where it has several texts."""
    names = bundle.modalities
    if columns and not names:
        raise typer.BadParameter(
            f"{path} has one text of each document: say --text", param_hint=f"--text-{next(iter(columns))}"
        )
    if names and (text is not None or not columns):
        known = " or ".join(f"--text-{name}" for name in names)
        raise typer.BadParameter(
            f"{path} has several texts of each document: say which one a column holds, with {known}",
            param_hint="--text" if text is not None else several.PLACEHOLDER,
        )
    for name in columns:
        if name not in names:
            raise typer.BadParameter(
                f"{path} has no texts of that name; there are {', '.join(names)}", param_hint=f"--text-{name}"
            )


def check_vectorizers(bundle: Bundle, path: Path, names: Iterable[str]) -> None:
    """Refuse a model that cannot read texts."""
    missing = [name for name in names if name not in bundle.vectorizers]
    if missing or (not bundle.modalities and bundle.vectorizer is None):
        of = f" of {missing[0]}" if missing else ""
        raise ValueError(
            f"{path}: was saved without a vocabulary{of}, so it cannot read texts; use it from Python"
        )
