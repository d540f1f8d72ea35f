"""What a model is fitted to: texts, counts or a saved corpus, and which options go with each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.corpus.corpus import Corpus
from laconic.corpus.kind import CORPUS
from laconic.corpus.modalities import read_corpora
from laconic.errors import CorpusError, listed
from laconic.reading import holds_counts
from laconic.reading.files import suffixes
from laconic.reading.paths import expanded

if TYPE_CHECKING:
    from laconic.corpus.options import VectorizerOptions
    from laconic.reading import Progress

_FOR_COUNTS = {"label", "encoding", "vocabulary", "on_error", "max_documents", "weighting", "sublinear_tf"}
# Of texts, those without columns.
_WITHOUT_COLUMNS = ".txt"


class Holds(Enum):
    """What files hold."""

    texts = "texts"
    counts = "counts"
    corpus = "a corpus"


class Modality(NamedTuple):
    """What is read of every document: the texts of a column, and which terms are counted in them."""

    name: str
    """Empty if documents have just one modality."""
    column: str | None
    """None for the column that the reader is told of, or for files without columns."""
    terms: VectorizerOptions


class Source(NamedTuple):
    """Files that exist, and what they hold; of counts or a corpus there is one."""

    holds: Holds
    paths: list[Path]

    @property
    def path(self) -> Path:
        """The first."""
        return self.paths[0]

    def check_columns(self) -> None:
        """Refuse files that cannot have several modalities of a document."""
        for path in self.paths:
            if self.holds is not Holds.texts or path.is_dir() or suffixes(path)[0] == _WITHOUT_COLUMNS:
                raise CorpusError(
                    f"{path} has no text columns: several modalities can only be read from .jsonl, .csv, "
                    ".tsv and .parquet files"
                )

    def corpora(
        self,
        reading: Mapping[str, Any],
        modalities: Sequence[Modality],
        progress: Progress | None = None,
        *,
        keep_texts: bool = False,
    ) -> dict[str, Corpus]:
        """Read all of it: a corpus for each modality, by its name ("" if there is one).

        Parameters
        ----------
        reading : mapping
            Options of `Corpus.read` that are not those of a `Vectorizer`.
        modalities : sequence of Modality
            One without a name, or several.
        progress : callable, optional
            As in `Corpus.read`.
        keep_texts : bool, default=False
            As in `Corpus.read`; a saved corpus has its texts, or not.

        Returns
        -------
        dict of str to Corpus
            With the same rows.
        """
        if self.holds is Holds.corpus:
            saved = Corpus.load(self.path)
            return {"": saved if keep_texts else saved.with_texts(None)}
        path = self.paths if len(self.paths) > 1 else self.path
        columns = {each.name: each.column for each in modalities if each.column is not None}
        try:
            if columns:
                options = {each.name: each.terms for each in modalities}
                return read_corpora(
                    path, columns, **reading, progress=progress, keep_texts=keep_texts, options=options
                )
            options_of_one: Any = {**modalities[0].terms, "progress": progress}
            if self.holds is Holds.texts:
                options_of_one["keep_texts"] = keep_texts
            return {"": Corpus.read(path, **reading, **options_of_one)}
        except CorpusError as error:
            # What concerns all texts, such as a vocabulary without terms, names none of the files.
            files = [*self.paths, *filter(None, [reading.get("vocabulary")])]
            if any(str(file) in str(error) for file in files):
                raise
            more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
            raise CorpusError(f"{self.path}{more}: ", error) from error


def find_source(paths: Iterable[str | Path], options: Iterable[str]) -> Source:
    """Find out what is to be read, and refuse options that mean nothing there.

    Parameters
    ----------
    paths : iterable of str or Path
        Patterns, too.
    options : iterable of str
        The names of those options of readers and vectorisers that were given.

    Returns
    -------
    Source
        Nothing of it is read yet.

    Raises
    ------
    CorpusError
        If something is not there, or options do not go with it.
    """
    found = expanded(paths)
    first = found[0]
    if len(found) > 1:
        counts = next((path for path in found if holds_counts(path)), None)
        if counts is not None:
            raise CorpusError(
                f"{counts} holds counts, and only one such file can be read at a time: name it alone"
            )
    given = list(options)
    if (first / CORPUS.manifest).is_file():
        allowed: set[str] = set()
        holds, why = Holds.corpus, "is a saved corpus, whose terms are counted and weighted already"
    elif holds_counts(first):
        holds, allowed, why = Holds.counts, _FOR_COUNTS, "holds counts, not texts"
    else:
        holds, allowed = Holds.texts, set(given) - {"vocabulary"}
        why = "holds texts, whose vocabulary is found in them"
    refused = [name for name in given if name not in allowed]
    if refused:
        raise CorpusError(f"{first} {why}: leave ", *listed(refused), " out")
    return Source(holds, found)
