"""New documents for a model: read, and given its columns, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.corpus import Corpus, Vectorizer
from laconic.corpus.corpus import Given
from laconic.corpus.sources import Holds, Source
from laconic.errors import BundleError, Parameter
from laconic.reading import read_documents, read_modalities

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle
    from laconic.corpus.stored import StoredCounts
    from laconic.matrices import CSR
    from laconic.reading import Progress, Reading
    from laconic.reading.strings import Strings

# So many documents are in memory at a time. A multiple of the blocks in which models fold documents in, so
# that the weights are to the bit those of all documents at once.
BATCH = 16 * 1024


class Batch(NamedTuple):
    """The ids of some documents, their rows (by modality, if of several), and what is kept of them."""

    ids: Sequence[str]
    X: Any
    kept: Sequence[Sequence[object]] = ()
    labels: NDArray[Any] | None = None
    """The classes of documents, where they are known."""

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which documents have no word of the vocabulary."""
        matrices = self.X.values() if isinstance(self.X, Mapping) else [self.X]
        return np.all([np.diff(X.indptr) == 0 for X in matrices], axis=0)


class TextBatches(Iterator[Batch]):
    """Texts of files as rows; `reading` tells what was read so far.

    Parameters
    ----------
    bundle : Bundle
        With a vectoriser for every modality.
    source : Source
        Files of texts.
    columns : mapping of str to str
        The columns of texts, by the names of the model's modalities; empty if it has none.
    reading : mapping
        The options of the reader.
    progress : callable, optional
        Told how far the reading is.
    """

    def __init__(
        self,
        bundle: Bundle,
        source: Source,
        columns: Mapping[str, str],
        reading: Mapping[str, Any],
        progress: Progress | None = None,
    ) -> None:
        self._bundle, self._names = bundle, list(columns)
        if len(columns) > 1:
            self._documents: Any = read_modalities(
                source.paths, list(columns.values()), **reading, progress=progress
            )
        else:
            named = {**reading, "text": next(iter(columns.values()))} if columns else reading
            self._documents = read_documents(source.paths, **named, progress=progress)

    def __next__(self) -> Batch:
        some = list(islice(self._documents, BATCH))
        if not some:
            raise StopIteration
        return Batch([one.id for one in some], self._rows(some), [one.kept for one in some])

    def _rows(self, some: list[Any]) -> Any:
        if len(self._names) > 1:
            return {
                name: self._bundle.vectorize((document.texts[number] for document in some), modality=name)
                for number, name in enumerate(self._names)
            }
        name = self._names[0] if self._names else None
        return self._bundle.vectorize((document.text for document in some), modality=name)

    @property
    def reading(self) -> Reading:
        """What was read so far."""
        reading: Reading = self._documents.reading
        return reading


def matrix_batches(ids: Sequence[str], X: CSR) -> Iterator[Batch]:
    """The rows of a matrix."""
    for start in range(0, X.shape[0], BATCH):
        yield Batch(ids[start : start + BATCH], X[start : start + BATCH])


class Matched(NamedTuple):
    """Counts with the columns of a model; how many terms there were, and how many it does not know."""

    counts: CSR
    n_terms: int
    n_unknown: int


def match_terms(counts: CSR, terms: Strings, vocabulary: Strings) -> Matched:
    """Give counts the columns of a vocabulary, by the names of terms; others are left out.

    >>> from laconic.matrices import as_counts
    >>> terms, vocabulary = np.array(["red", "new", "fish"]), np.array(["blue", "fish", "red"])
    >>> matched = match_terms(as_counts([[1, 2, 0], [0, 0, 4]]), terms, vocabulary)
    >>> matched.counts.toarray(), matched.n_unknown
    (array([[0., 0., 1.],
           [0., 4., 0.]], dtype=float32), 1)
    """
    places = matching_columns(terms, vocabulary)
    matched = take_matching(counts, places, len(vocabulary))
    return Matched(matched, len(terms), int(np.count_nonzero(places < 0)))


def matching_columns(terms: Strings, vocabulary: Strings) -> NDArray[np.int64]:
    """The column of each term in a vocabulary; -1 for those that it does not have."""
    columns = {term: column for column, term in enumerate(vocabulary)}
    return np.array([columns.get(term, -1) for term in terms], np.int64)


def take_matching(counts: CSR, places: NDArray[np.int64], n_terms: int) -> CSR:
    """Counts with other columns; those without a place are left out."""
    found = places.astype(counts.indices.dtype)[counts.indices]
    known = found >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[counts.indptr]
    # Indices of another width would be solved by other kernels, which may round otherwise.
    parts = (counts.data[known], found[known], ends.astype(counts.indptr.dtype))
    return csr_array(parts, shape=(counts.shape[0], n_terms))


class Read(NamedTuple):
    """Documents with the columns of a model, and what was read of them."""

    corpus: Corpus
    reading: Reading | None
    n_terms: int = 0
    n_unknown: int = 0
    """Of counts: how many terms there were, and how many of them the model does not know."""


def read_for(
    bundle: Bundle,
    source: Source,
    reading: Mapping[str, Any],
    *,
    modality: str | None = None,
    keep_texts: bool = False,
    progress: Progress | None = None,
) -> Read:
    """Read all documents of a source, with the columns of a model.

    Parameters
    ----------
    bundle : Bundle
        With a vectoriser.
    source : Source
        Texts, counts or a saved corpus.
    reading : mapping
        The options of the reader.
    modality : str, optional
        Which one the texts are of.
    keep_texts : bool, default=False
        As in `Corpus.read`.
    progress : callable, optional
        Told how far the reading is.

    Returns
    -------
    Read
        The corpus has the model's vectoriser.
    """
    vectorizer = bundle.vectorizer_of(modality)
    if source.holds is not Holds.texts:
        if modality is not None:
            source.check_columns()
        found = _counted(vectorizer, source, reading, progress)
        return found if keep_texts else found._replace(corpus=found.corpus.with_texts(None))
    documents = read_documents(source.paths, **reading, progress=progress)
    given = Given("label" in reading, "date" in reading, keep_texts)
    return Read(Corpus.of_documents(documents, given, vectorizer, vectorizer.count), documents.reading)


def _counted(
    vectorizer: Vectorizer, source: Source, reading: Mapping[str, Any], progress: Progress | None
) -> Read:
    """Counts or a saved corpus, with the columns of the model by the names of terms."""
    if source.holds is Holds.corpus:
        found = Corpus.load(source.path)
    else:
        found = Corpus.read(source.path, **reading, progress=progress)
    matched = match_terms(found.counts, found.vocabulary, vectorizer.vocabulary)
    _check_common(matched.n_terms - matched.n_unknown, source, found, vectorizer)
    known = {"labels": found.labels, "ids": found.ids, "dates": found.dates, "texts": found.texts}
    corpus = Corpus(matched.counts, vectorizer, **known)
    return Read(corpus, found.reading, matched.n_terms, matched.n_unknown)


def _check_common(n_known: int, source: Source, found: Corpus, vectorizer: Vectorizer) -> None:
    """Refuse documents without any word of the model."""
    if n_known:
        return
    theirs, ours = (
        ", ".join(map(repr, names[:3].tolist())) for names in (found.vocabulary, vectorizer.vocabulary)
    )
    raise BundleError(
        f"{source.path} has terms such as {theirs}, and the model such as {ours}: none in common; "
        "name its terms with ",
        Parameter("vocabulary"),
        ", or use a model with the same vocabulary",
    )


class StoredRows(NamedTuple):
    """Documents of a saved corpus, with the columns of a model when they are loaded; and their ids."""

    collection: StoredCounts
    ids: Strings
    n_terms: int
    n_unknown: int


def stored_for(bundle: Bundle, source: Source) -> StoredRows:
    """The documents of a saved corpus as rows for a model, without loading them.

    Parameters
    ----------
    bundle : Bundle
        With a vectoriser.
    source : Source
        A saved corpus.
    """
    vectorizer = bundle.vectorizer_of(None)
    found = Corpus.load(source.path)
    places = matching_columns(found.vocabulary, vectorizer.vocabulary)
    n_unknown = int(np.count_nonzero(places < 0))
    _check_common(len(places) - n_unknown, source, found, vectorizer)
    assert found.stored is not None
    rows = found.stored.transformed(partial(take_matching, places=places, n_terms=len(vectorizer.vocabulary)))
    if bundle.model.wants != "counts":
        rows = rows.transformed(vectorizer.weigher())
    return StoredRows(rows, found.ids, len(places), n_unknown)


def check_readable(bundle: Bundle, path: Path, names: Iterable[str] = ()) -> None:
    """Refuse a model that cannot read texts, or not those of some of its modalities."""
    missing = [name for name in names if name not in bundle.vectorizers]
    if missing or (not bundle.modalities and bundle.vectorizer is None):
        of = f" of {missing[0]}" if missing else ""
        raise BundleError(
            f"{path} was saved without a vocabulary{of}, so it cannot read texts; use it from Python"
        )
