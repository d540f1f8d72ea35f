"""What `fit` and `transform` read: texts, counts or a saved corpus, and which options go with each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.cli.errors import option_names

if TYPE_CHECKING:
    from laconic.cli.term_options import Texts
    from laconic.corpus import Corpus
    from laconic.reading import Progress


class Holds(Enum):
    """What files hold."""

    texts = "texts"
    counts = "counts"
    corpus = "a corpus"


class Source(NamedTuple):
    """Files that exist, and what they hold; of counts or a corpus there is one."""

    holds: Holds
    paths: list[Path]

    @property
    def path(self) -> Path:
        """The first."""
        return self.paths[0]


_FOR_COUNTS = {"label", "encoding", "vocabulary", "on_error", "weighting", "sublinear_tf"}


def find_source(paths: Iterable[Path], options: Mapping[str, Any]) -> Source:
    """Find out what is to be read, and refuse options that mean nothing there.

    Parameters
    ----------
    paths : iterable of Path
        As typed: patterns that no shell has expanded, too.
    options : mapping
        Those of readers and vectorisers that were typed.

    Returns
    -------
    Source
        Nothing of it is read yet.

    Raises
    ------
    CorpusError
        If something is not there, or options do not go with it.
    """
    from laconic.corpus import CorpusError
    from laconic.corpus.saving import CORPUS
    from laconic.reading import holds_counts
    from laconic.reading.paths import expanded

    found = expanded(paths)
    first = found[0]
    if len(found) > 1:
        counts = next((path for path in found if holds_counts(path)), None)
        if counts is not None:
            raise CorpusError(f"{counts} holds counts, of which only one file can be read: name it alone")
    if (first / CORPUS.manifest).is_file():
        allowed: set[str] = set()
        holds, why = Holds.corpus, "is a saved corpus, whose terms are counted and weighted already"
    elif holds_counts(first):
        holds, allowed, why = Holds.counts, _FOR_COUNTS, "holds counts and no texts"
    else:
        holds, allowed = Holds.texts, options.keys() - {"vocabulary"}
        why = "holds texts, whose vocabulary is found in them"
    refused = [name for name in options if name not in allowed]
    if refused:
        raise CorpusError(f"{first} {why}: leave {option_names(refused)} out")
    return Source(holds, found)


def read_corpora(
    source: Source, reading: Mapping[str, Any], texts: Sequence[Texts], progress: Progress
) -> dict[str, Corpus]:
    """Read all of a source: a corpus for each text of the documents, by its name ("" if there is one)."""
    from laconic.corpus import Corpus, CorpusError
    from laconic.corpus import read_corpora as read_all

    if source.holds is Holds.corpus:
        return {"": Corpus.load(source.path)}
    path = source.paths if len(source.paths) > 1 else source.path
    columns = {text.name: text.column for text in texts if text.column is not None}
    try:
        if columns:
            options = {text.name: text.terms for text in texts}
            return read_all(path, columns, **reading, progress=progress, options=options)
        return {"": Corpus.read(path, **reading, **texts[0].terms, progress=progress)}
    except CorpusError as error:
        # What concerns all texts, such as a vocabulary without terms, names none of the files.
        if any(str(file) in str(error) for file in [*source.paths, reading.get("vocabulary")]):
            raise
        more = f" and {len(source.paths) - 1} more" if len(source.paths) > 1 else ""
        raise CorpusError(f"{source.path}{more}: {error}") from error
