"""The documents of a model: counts, ids, labels, dates, weights and, where wanted, texts, kept once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from laconic.bundle.folding import weights_from
from laconic.bundle.kind import PREFIX
from laconic.corpus.corpus import Corpus
from laconic.corpus.saving import restore_documents, store_documents
from laconic.corpus.texts import Texts
from laconic.storage.manifest import Json
from laconic.storage.reading import StoredDirectory
from laconic.storage.values import decode, encode
from laconic.storage.writing import DirectoryWriter
from laconic.words import plural, size

if TYPE_CHECKING:
    from laconic.corpus import Vectorizer
    from laconic.engines import Engine
    from laconic.matrices import CSR
    from laconic.models.base import TopicModel
    from laconic.reading.dates import Dates
    from laconic.reading.strings import Strings

Weights: TypeAlias = Any
"""A row for each document, a column for each topic: an array, or a `csr_array` where weights have zeros."""


class Documents:
    """Documents, and their weights for the topics of a model.

    Parameters
    ----------
    corpora : mapping of str to Corpus
        By modality, row n of each being document n; ``""`` is the name of the only one.
    weights : mapping of str to array, by modality
        Of shape (n_documents, n_topics) each.
    vectors : array of shape (n_documents, n_dimensions), optional
        Of an encoder of your own, for the search.

    Attributes
    ----------
    ids, labels, dates, texts, counts
        Those of the corpus; where there are several modalities, see `corpus`.

    Examples
    --------
    >>> import laconic
    >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
    >>> bundle = laconic.fit(texts, n_topics=2, labels=["sky", "sky", "food", "food"])
    >>> bundle.documents
    <Documents: 4 documents x 2 topics, labels, texts; 356 bytes>
    >>> bundle.documents.texts[2]
    'salt and pepper'
    """

    def __init__(
        self,
        corpora: Mapping[str, Corpus],
        weights: Mapping[str, Weights],
        vectors: NDArray[Any] | None = None,
    ) -> None:
        self.corpora, self.vectors = dict(corpora), vectors
        self.modality_weights = dict(weights)
        if self.corpora.keys() != self.modality_weights.keys() or not self.corpora:
            raise ValueError("documents have weights for each of their modalities, and at least one")
        for name, corpus in self.corpora.items():
            if self.modality_weights[name].shape[0] != corpus.shape[0] or corpus.shape[0] != len(self.ids):
                raise ValueError("modalities and weights must have one row for each document")
        if vectors is not None and (vectors.ndim != 2 or len(vectors) != len(self)):
            raise ValueError("vectors must have one row for each document")

    def with_vectors(self, vectors: NDArray[Any] | None) -> Documents:
        """The same documents with other vectors, or with none."""
        return Documents(self.corpora, self.modality_weights, vectors)

    @classmethod
    def of(
        cls,
        model: TopicModel,
        corpora: Corpus | Mapping[str, Corpus],
        *,
        fitted: bool = False,
        engine: Engine | None = None,
    ) -> Documents:
        """Documents with the weights that a model gives them.

        Parameters
        ----------
        model : TopicModel
            Fitted.
        corpora : Corpus, or mapping of str to Corpus
            By modality, as in `Documents`.
        fitted : bool, default=False
            Whether these are the documents of the fit: then the weights that the model has kept of them are
            taken, if it has any.
        engine : Engine, optional
            If it is a cluster, many documents are folded in there.

        Returns
        -------
        Documents
            Labels say the class of a document where the model has classes.
        """
        corpora = {"": corpora} if isinstance(corpora, Corpus) else corpora
        weights = {}
        for name, corpus in corpora.items():
            kept = model.fit_weights(name or None) if fitted else None
            if kept is None and engine is not None and engine.far(int(corpus.counts.nnz)):
                kept = weights_from(model, corpus, engine, name or None)
            elif kept is None:
                rows = _rows(model, corpus)
                kept = model.weights_of(rows, _classes(model, rows, corpus.labels), modality=name or None)
            weights[name] = kept
        return cls(corpora, weights)

    @property
    def _first(self) -> Corpus:
        return next(iter(self.corpora.values()))

    def corpus(self, modality: str | None = None) -> Corpus:
        """The documents as a corpus.

        Parameters
        ----------
        modality : str, optional
            Needed if there are several.
        """
        if modality is None and len(self.corpora) == 1:
            return self._first
        if modality not in self.corpora:
            names = ", ".join(map(repr, self.corpora))
            raise ValueError(
                f"the documents have the modalities {names}: say which one is meant, not {modality!r}"
            )
        return self.corpora[modality]

    def __len__(self) -> int:
        return int(self._first.shape[0])

    @property
    def ids(self) -> Strings:
        """The id of each document."""
        return self._first.ids

    @property
    def labels(self) -> Strings | None:
        """The label of each document, if there are labels."""
        return self._first.labels

    @property
    def dates(self) -> Dates | None:
        """The date of each document, NaT where it has none, if there are dates."""
        return self._first.dates

    @property
    def counts(self) -> CSR:
        """How often each term occurs in each document, where there is one modality."""
        return self.corpus().counts

    @property
    def texts(self) -> Texts | None:
        """The texts, if they were kept, where there is one modality."""
        return self.corpus().texts

    @property
    def weights(self) -> Weights:
        """The weights of documents for topics; of several modalities, the mean over those a document has."""
        if len(self.modality_weights) == 1:
            return next(iter(self.modality_weights.values()))
        present = np.stack([np.diff(corpus.counts.indptr) > 0 for corpus in self.corpora.values()])
        total = sum(
            has[:, None] * np.asarray(weights)
            for has, weights in zip(present, self.modality_weights.values(), strict=True)
        )
        return total / np.maximum(present.sum(0), 1)[:, None]

    @property
    def nbytes(self) -> int:
        """About how much room they take, in memory or on disk."""
        total = sum(_bytes(weights) for weights in self.modality_weights.values())
        total += 0 if self.vectors is None else self.vectors.nbytes
        for corpus in self.corpora.values():
            # by rows and by columns
            total += 2 * _bytes(corpus.counts) + (0 if corpus.texts is None else corpus.texts.nbytes)
        names = (*self.ids.tolist(), *(() if self.labels is None else self.labels.tolist()))
        return total + sum(len(name) + 3 for name in names) + (0 if self.dates is None else self.dates.nbytes)

    def shares(self) -> NDArray[np.float64]:
        """The part of each topic in all documents' weights, of which only positive ones count."""
        return shares_of(self.weights)

    def by_topic(self) -> dict[str, list[Any]]:
        """What the documents say of each topic, in columns; see `Bundle.topics`."""
        weights = _dense(self.weights)
        columns: dict[str, list[Any]] = {
            "share": shares_of(weights).tolist(),
            "documents": documents_by_largest(weights).tolist(),
        }
        if self.labels is not None:
            columns["labels"] = labels_told(self.labels, weights)
        return columns

    def most_of(self, topic: int, n: int) -> dict[str, list[Any]]:
        """The documents that have most of a topic, in columns; see `Bundle.documents_of`."""
        weights = self.weights[:, [topic]]
        column = np.asarray(weights.toarray() if issparse(weights) else weights).ravel()
        best = np.argsort(-column, kind="stable")[:n]
        best = best[column[best] > 0]
        columns: dict[str, list[Any]] = {
            "id": self.ids[best].tolist(),
            "weight": column[best].astype(float).tolist(),
        }
        if self.labels is not None:
            columns["label"] = self.labels[best].tolist()
        if self.dates is not None:
            columns["date"] = [date.item() for date in self.dates[best]]
        for name, corpus in self.corpora.items():
            if corpus.texts is not None:
                columns[f"text_{name}" if name else "text"] = [corpus.texts[int(number)] for number in best]
        return columns

    def chosen(self, rows: NDArray[np.int64]) -> Documents:
        """Some of the documents, by their numbers."""

        def some(corpus: Corpus) -> Corpus:
            known = {"labels": corpus.labels, "ids": corpus.ids, "dates": corpus.dates}
            facts = {name: None if value is None else value[rows] for name, value in known.items()}
            texts = None if corpus.texts is None else [corpus.texts[int(row)] for row in rows]
            return Corpus(corpus.counts[rows], corpus.vectorizer, **facts, texts=texts)

        return Documents(
            {name: some(corpus) for name, corpus in self.corpora.items()},
            {name: weights[rows] for name, weights in self.modality_weights.items()},
            None if self.vectors is None else self.vectors[rows],
        )

    def extended(self, others: Documents) -> Documents:
        """The same with others after them, as `Corpus.extended`; vectors stay only where both have them."""
        some = [] if self.vectors is None or others.vectors is None else [self.vectors, others.vectors]
        return Documents(
            {name: one.extended(others.corpora[name]) for name, one in self.corpora.items()},
            {
                name: _stacked(one, others.modality_weights[name])
                for name, one in self.modality_weights.items()
            },
            np.concatenate(some) if some else None,
        )

    def __repr__(self) -> str:
        n_topics = next(iter(self.modality_weights.values())).shape[1]
        has = [name for name in ("labels", "dates") if getattr(self, name) is not None]
        has += ["texts"] * any(corpus.texts is not None for corpus in self.corpora.values())
        has += ["vectors"] * (self.vectors is not None)
        sizes = f"{plural(len(self), 'document')} x {plural(n_topics, 'topic')}"
        return f"<Documents: {', '.join([sizes, *has])}; {size(self.nbytes)}>"


def shares_of(weights: Weights) -> NDArray[np.float64]:
    """The part of each topic in all weights, of which only positive ones count."""
    totals = np.maximum(_dense(weights), 0).sum(axis=0, dtype=np.float64)
    return np.asarray(totals / (totals.sum() or 1.0))


def documents_by_largest(weights: Weights) -> NDArray[np.int64]:
    """How many documents have each topic as their largest; one without a positive weight has none."""
    weights = _dense(weights)
    largest = weights.argmax(axis=1)[weights.max(axis=1, initial=0) > 0]
    return np.bincount(largest, minlength=weights.shape[1])


def strongest_labels(labels: Iterable[object], weights: Any, n_labels: int = 3) -> list[list[str]]:
    """Find, for each topic, the labels of the documents that have most of it.

    Positive weights are summed over a label and divided by the root of its number of documents: the sum alone
    would always name the largest labels, the mean the smallest.

    Parameters
    ----------
    labels : iterable of str
        One for each document.
    weights : array or sparse array of shape (n_documents, n_topics)
        As a model's ``transform`` gives them.
    n_labels : int, default=3
        At most this many labels of a topic.

    Returns
    -------
    list of list of str
        The strongest first; labels whose documents have nothing of a topic are left out.

    Examples
    --------
    >>> strongest_labels(["sea", "sea", "sky"], [[1, 0], [2, 0], [0.5, 3]])
    [['sea', 'sky'], ['sky']]
    """
    weights = _dense(weights)
    places: dict[str, int] = {}
    owner = np.array([places.setdefault(str(label), len(places)) for label in labels])
    members = csr_array(
        (np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(len(places), len(owner))
    )
    names = sorted(places)
    order = [places[name] for name in names]
    strength = (members @ np.maximum(weights, 0) / np.sqrt(members.sum(axis=1))[:, None])[order]
    best = np.argsort(-strength, axis=0, kind="stable")[:n_labels]
    return [
        [str(names[label]) for label in best[:, topic] if strength[label, topic] > 0]
        for topic in range(weights.shape[1])
    ]


def labels_told(labels: Iterable[object], weights: Any) -> list[str]:
    """Where each topic is strongest, in words: labels, and how much of the topic's weight is theirs.

    Parameters
    ----------
    labels : iterable of str
        One for each document.
    weights : array or sparse array of shape (n_documents, n_topics)
        As a model's ``transform`` gives them; negative ones do not count.

    Returns
    -------
    list of str
        As `strongest_labels` chooses them.

    Examples
    --------
    >>> labels_told(["sea", "sea", "sky"], [[1, 0], [2, 0], [1, 3]])
    ['sea 75%, sky 25%', 'sky 100%']
    """
    names = np.array([str(label) for label in labels], object)
    positive = np.maximum(_dense(weights), 0)
    totals = positive.sum(axis=0)
    told = []
    for topic, chosen in enumerate(strongest_labels(names, positive)):
        shares = {name: positive[names == name, topic].sum() / totals[topic] for name in chosen}
        largest = sorted(shares, key=lambda name: -shares[name])
        told.append(", ".join(f"{name} {shares[name]:.0%}" for name in largest))
    return told


def store(
    documents: Documents, model: TopicModel, writer: DirectoryWriter, suffixes: Mapping[str, str]
) -> Json:
    """Store documents in the directory of their model.

    Parameters
    ----------
    documents : Documents
    model : TopicModel
        Whose own weights of its fit are not stored a second time.
    writer : DirectoryWriter
        Receives the files.
    suffixes : mapping of str to str
        What is added to the names of files, by modality.

    Returns
    -------
    JSON value
        What `restore` expects.
    """
    described: dict[str, Json] = {}
    for name, corpus in documents.corpora.items():
        weights, suffix = documents.modality_weights[name], suffixes.get(name, "")
        kept = weights is model.fit_weights(name or None)
        described[name] = {
            **store_documents(corpus, writer, PREFIX, suffix),
            "weights": None if kept else encode(weights, f"{PREFIX}weights{suffix}", writer),
        }
    if documents.vectors is None:
        return {"modalities": described}
    vectors = np.asarray(documents.vectors, np.float32)
    return {"modalities": described, "vectors": encode(vectors, f"{PREFIX}vectors", writer)}


def restore(
    described: Json,
    model: TopicModel,
    vectorizer_of: Callable[[str | None], Vectorizer],
    stored: StoredDirectory,
) -> Documents:
    """Read the documents that `store` stored; everything is checked."""
    modalities = described.get("modalities") if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(modalities, dict) or not modalities:
        raise stored.error("has no valid 'documents'")
    corpora: dict[str, Corpus] = {}
    weights: dict[str, Weights] = {}
    # Names in the document are in the order of the alphabet.
    for name in sorted(modalities, key=[*model.modalities, *modalities].index):
        one = modalities[name]
        if not isinstance(one, dict) or "weights" not in one:
            raise stored.error(f"has no valid documents of the modality {name!r}")
        try:
            vectorizer = vectorizer_of(name or None)
        except ValueError as error:
            raise stored.error(f"has documents that do not fit its model ({error})") from error
        corpora[name] = restore_documents(one, vectorizer, stored)
        found = decode(one["weights"], f"{PREFIX}weights", stored)
        weights[name] = model.fit_weights(name or None) if found is None else found
        shape = corpora[name].shape[0], model.components_.shape[0]
        fits = isinstance(weights[name], np.ndarray | csr_array) and weights[name].shape == shape
        if not fits or weights[name].dtype not in (np.float32, np.float64):
            raise stored.error(f"has no weights of {shape[0]} documents for {shape[1]} topics")
    vectors = decode(described.get("vectors"), f"{PREFIX}vectors", stored)
    if vectors is not None and not (isinstance(vectors, np.ndarray) and vectors.dtype == np.float32):
        raise stored.error("has no valid vectors of its documents")
    try:
        return Documents(corpora, weights, vectors)
    except ValueError as error:
        raise stored.error(f"has documents that do not fit each other ({error})") from error


def _classes(model: TopicModel, rows: Any, labels: Iterable[str] | None) -> Any:
    """The classes of documents, for a model that has them; predicted where they are not known."""
    return model.classes_of(rows, labels) if model.traits.classes else None


def _rows(model: TopicModel, corpus: Corpus) -> CSR:
    """The documents as the model takes them; weights are found once for a corpus."""
    rows: CSR = model.rows(corpus.counts, lambda counts: corpus.X)
    return rows


def _dense(weights: Weights) -> NDArray[Any]:
    return np.asarray(weights.toarray() if issparse(weights) else weights)


def _stacked(one: Weights, other: Weights) -> Weights:
    return csr_array(vstack([one, other], "csr")) if issparse(one) else np.concatenate([one, other])


def _bytes(matrix: Any) -> int:
    if issparse(matrix):
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
    array: NDArray[Any] = matrix
    return int(array.nbytes)
