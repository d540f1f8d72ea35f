"""New documents for a model that is there: old topics stay, new words join, new topics are free."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack
from sklearn.base import clone

from laconic.bundle.bundle import Bundle
from laconic.bundle.documents import Documents
from laconic.bundle.given import Names, Options, corpora_of
from laconic.checks import check_number
from laconic.corpus import Corpus, Vectorizer
from laconic.corpus.weighting import term_weights
from laconic.engines import Shards, Threads
from laconic.errors import CorpusError, InPython, Parameter, ParameterError
from laconic.losses.starts import document_topics
from laconic.reading.strings import UNKNOWN
from laconic.steering.anchors import Anchors
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.losses.loop import Callback
    from laconic.models.base import TopicModel

STRENGTH = 1.0
"""How strongly old topics are held: as much as the new documents weigh in the average topic."""
# New topics begin at documents of which the old ones explain least: this share of all.
STRANGEST = 0.25
# The share of the new documents' words in every topic at the start, for steps that never leave zero.
COMMON = 0.05


logger = logging.getLogger(__name__)


def updated(
    bundle: Bundle,
    data: Any,
    new_topics: int = 0,
    *,
    strength: float = STRENGTH,
    freeze: bool = False,
    text: str | Sequence[str] = "text",
    names: Names | None = None,
    reading: Mapping[str, Any] | None = None,
    callback: Callback | None = None,
) -> Bundle:
    """A bundle whose model has seen new documents, too: old topics stay, and new ones are for what is new.

    Parameters
    ----------
    bundle : Bundle
        Stays as it is.
    data : list of str, path, table or Corpus
        The new documents, as in `laconic.fit`.
    new_topics : int, default=0
        How many topics to add. They start from the documents that the old topics explain least.
    strength : float, default=1.0
        How strongly old topics are held in place: at 1 they weigh as much as the new documents do in the
        average topic; at 0 they are free.
    freeze : bool, default=False
        Whether old topics stay exactly as they are.
    text : str or sequence of str
        As in `laconic.fit`.
    names : Names, optional
        Labels, dates and ids, as in `laconic.fit`.
    reading : mapping, optional
        Options of files (`encoding`, `delimiter`, ...).
    callback : callable, optional
        As in the model's ``fit``.

    Returns
    -------
    Bundle
        Topics keep their numbers and names, words their columns. Words of the new documents join the
        vocabulary, if there are enough of them (`min_df`); the old ones keep their weights. If the bundle has
        documents, the new one has both: an id that is taken gets a number. Where only some have labels or
        dates, the others are labelled "unknown" and have no date.
    """
    check_number("new_topics", new_topics, Integral, 0)
    check_number("strength", strength, Real, 0)
    model, vectorizer = bundle.model, _vectorizer(bundle)
    _check_model(model)
    # all words, to begin with: which are kept is decided below
    terms = {**vectorizer.to_dict(), "min_df": 1, "max_df": 1.0, "max_features": None}
    given = Options(dict(reading or {}), {} if isinstance(data, Corpus) else terms, {})
    (found,) = corpora_of(
        data, text, names or Names(None, None, None), given, keep_texts=bundle.documents is not None
    ).values()
    if found.labels is None and model.traits.classes:
        raise CorpusError(
            f"{type(model).__name__} needs the class of every new document: read them with ",
            Parameter("label"),
        )
    wider = _widened(vectorizer, found, 0 if bundle.documents is None else len(bundle.documents))
    corpus = _recounted(found, wider, bundle.documents)
    fitted = _refitted(bundle, corpus, new_topics, strength, freeze, callback)
    documents = None
    if bundle.documents is not None:
        old = bundle.documents.corpus()
        padded = _padded(old.counts, len(wider.vocabulary))
        before = Corpus(padded, wider, labels=old.labels, ids=old.ids, dates=old.dates, texts=old.texts)
        documents = Documents.of(fitted, before.extended(corpus))
        _tell_missing(bundle.documents, corpus)
    newer = Bundle(fitted, wider, documents=documents)
    called = (*bundle.notes.names, *((None,) * new_topics))
    newer.notes = replace(bundle.notes, names=called, returns=None)
    return newer._follow(bundle, (f"update with {plural(corpus.shape[0], 'document')}",))


def _tell_missing(old: Documents, new: Corpus) -> None:
    """Say what the documents of before have and the new ones lack, and what comes of it."""
    if old.dates is not None and new.dates is None:
        logger.warning(
            "the new documents have no dates, so whatever goes by time leaves them out: read them with "
            "dates= (--date)"
        )
    if old.labels is not None and new.labels is None:
        logger.warning(
            "the new documents have no labels, so theirs is %r: read them with labels= (--label)", UNKNOWN
        )
    if old.corpus().texts is not None and new.texts is None:
        logger.warning("the new documents have no texts, so those of the others are left out")
    if old.vectors is not None:
        logger.warning(
            "the new documents have no vectors, so those of the others are left out: give all of them "
            "again, with index.use_vectors (laconic search --vectors)"
        )


def _vectorizer(bundle: Bundle) -> Vectorizer:
    if bundle.vectorizer is None:
        raise ParameterError(
            "the model was saved without a vocabulary, or has several, so it cannot be updated",
            InPython(": go on with partial_fit"),
        )
    if bundle.vectorizer.to_dict().get("tokenizer") is not None:
        raise ParameterError("a model whose texts were split by a function of yours cannot be updated")
    return bundle.vectorizer


def _check_model(model: TopicModel) -> None:
    if not model.fitted or "anchors" not in model.get_params(deep=False) or model.traits.links:
        raise ParameterError(
            f"{type(model).__name__} cannot be updated: choose another model, such as ",
            Parameter("model", "rlsi"),
        )
    if model.traits.classes:
        raise ParameterError(
            f"{type(model).__name__} is a group model, which cannot be updated",
            InPython(": go on with partial_fit"),
        )


def _widened(vectorizer: Vectorizer, found: Corpus, n_before: int) -> Vectorizer:
    """A vectoriser with the words of before in their places, and new ones behind them."""
    settings, old = vectorizer.to_dict(), set(vectorizer.vocabulary)
    # a word that no document had before is in few of all
    n_documents = n_before + found.shape[0]
    frequencies = np.bincount(found.counts.indices, minlength=found.shape[1])
    least, most = (
        limit if isinstance(limit, int) else limit * n_documents
        for limit in (settings["min_df"], settings["max_df"])
    )
    kept = [
        column
        for column, term in enumerate(found.vocabulary)
        if term not in old and least <= frequencies[column] <= most
    ]
    terms = [*vectorizer.vocabulary, *(found.vocabulary[column] for column in kept)]
    weights = vectorizer.idf
    if weights is not None:
        # the old words keep their weights, so that old topics mean what they meant
        new = term_weights(found.counts, vectorizer.weighting)
        assert new is not None
        weights = np.concatenate([weights, np.asarray(new)[kept]])
    return Vectorizer.from_dict(settings, terms, weights, vectorizer.mean_length)


def _recounted(found: Corpus, wider: Vectorizer, documents: Documents | None) -> Corpus:
    """The new documents over the words of a vectoriser, with ids that no old one has."""
    columns = {term: column for column, term in enumerate(wider.vocabulary)}
    places = np.array([columns.get(term, -1) for term in found.vocabulary], np.int64)
    counts = found.counts.tocoo()
    known = places[counts.col] >= 0
    entries = counts.data[known], (counts.row[known], places[counts.col[known]])
    whole = csr_array(entries, shape=(found.shape[0], len(columns)))
    ids: Iterable[str] = found.ids
    if documents is not None:
        taken = set(documents.ids)
        free = []
        for name in found.ids:
            called, number = str(name), 2
            while called in taken:
                called, number = f"{name}~{number}", number + 1
            taken.add(called)
            free.append(called)
        ids = free
    return Corpus(whole, wider, labels=found.labels, ids=ids, dates=found.dates, texts=found.texts)


def _padded(matrix: Any, n_columns: int) -> Any:
    """The same with empty columns behind it."""
    missing = n_columns - matrix.shape[1]
    if not issparse(matrix):
        return np.pad(matrix, ((0, 0), (0, missing)))
    return csr_array(
        hstack([matrix, csr_array((matrix.shape[0], missing), dtype=matrix.dtype)], format="csr")
    )


def _refitted(
    bundle: Bundle,
    corpus: Corpus,
    new_topics: int,
    strength: float,
    freeze: bool,
    callback: Callback | None,
) -> Any:
    """The model of old topics, held or frozen, and new ones, fitted to new documents."""
    model, notes = bundle.model, bundle.notes
    # topics that edits have taken away are not found again
    place = {topic: row for row, topic in enumerate(notes.living)}
    old = csr_array(_padded(model.components_, corpus.shape[1]))[list(place)]
    n_old, n_topics = len(place), len(notes.names) + new_topics
    X = corpus.counts if model.wants == "counts" else corpus.X
    targets = csr_array(vstack([old, csr_array((new_topics, old.shape[1]), dtype=old.dtype)], format="csr"))
    given = model.get_params(deep=False)
    before = given["anchors"]
    anchors = Anchors(
        targets,
        strength=0.0 if freeze else strength,
        frozen=list(range(n_old)) if freeze else sorted(place[topic] for topic in notes.frozen),
        forbidden=_forbidden(bundle, before, corpus, place),
    )
    start = csr_array(vstack([old, _strange(model, X, old, new_topics, list(place))], format="csr"))
    start = with_every_word(model, start, X)
    settled = {}
    if "alpha_topics" in given and model.topic_penalty is not None:
        settled = {"alpha_topics": model.topic_penalty}
    fitted = clone(model).set_params(n_components=n_old + new_topics, anchors=anchors, init=start, **settled)
    fitted.fit(X, callback=callback)
    # what a fit from scratch would begin with
    anew = None if before is None else before.grown(n_topics, corpus.shape[1])
    fitted.set_params(anchors=anew, init=given["init"])
    if n_old + new_topics < n_topics:
        rows = [*place, *range(len(notes.names), n_topics)]
        fitted.set_params(n_components=n_topics)
        fitted.take_topics(_in_rows(fitted.components_, rows, n_topics), np.full(n_topics, -1))
    return fitted


def _in_rows(topics: Any, rows: Sequence[int], n_rows: int) -> Any:
    """Topics in these rows of so many; the others are empty."""
    chosen = csr_array((np.ones(len(rows), topics.dtype), (rows, np.arange(len(rows)))), (n_rows, len(rows)))
    found = chosen @ topics
    return csr_array(found) if issparse(topics) else np.asarray(found)


def with_every_word(model: TopicModel, start: csr_array, X: Any) -> csr_array:
    """Topics to begin with, which words of new documents can join whatever the steps of the model.

    Parameters
    ----------
    model : TopicModel
    start : csr_array of shape (n_topics, n_terms)
    X : csr_array of shape (n_documents, n_terms)

    Returns
    -------
    csr_array
        With a little of every word of the documents, if what is zero stays zero in a fit; else as it was.
    """
    if model.wants != "counts" and model.get_params(deep=False).get("solver") != "mu":
        return start
    words = np.asarray(X.sum(axis=0), np.float64).ravel()
    sums = np.asarray(start.sum(axis=1), np.float64).reshape(-1, 1)
    return csr_array((1 - COMMON) * start.toarray() + COMMON * sums * words / words.sum(), dtype=start.dtype)


def _forbidden(
    bundle: Bundle, anchors: Anchors | None, corpus: Corpus, place: Mapping[int, int]
) -> dict[int | None, list[int]]:
    """Words that topics may not have, by seeds and by edits, as columns; topics as rows of the fit."""
    barred: dict[Any, list[Any]] = {}
    if anchors is not None:
        given = anchors.forbidden
        by_topic = given.items() if isinstance(given, Mapping) else [(None, given)]
        for topic, words in by_topic:
            barred.setdefault(topic, []).extend(words)
    columns = {term: column for column, term in enumerate(corpus.vocabulary)}
    for topic, word in bundle.notes.forbidden:
        if word in columns:
            barred.setdefault(topic, []).append(columns[word])
    rows: dict[int | None, int | None] = {None: None}
    rows.update(place.items())
    return {rows[topic]: words for topic, words in barred.items() if words and topic in rows}


def _strange(model: TopicModel, X: Any, old: csr_array, new_topics: int, living: Sequence[int]) -> csr_array:
    """Topics × terms to begin new ones with: documents of which the old topics explain little."""
    if new_topics == 0:
        return csr_array((0, old.shape[1]), dtype=old.dtype)
    shards = Shards.whole(csr_array(X))
    lengths = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    weights = model.transform(csr_array(X[:, : model.n_features_in_]))
    known = csr_array(weights[:, living] @ old)
    scale = (
        np.asarray(X.sum(axis=1), np.float64).ravel() if model.wants == "counts" else np.ones(len(lengths))
    )
    cross = np.asarray(known.multiply(X).sum(axis=1), np.float64).ravel() * scale
    sizes = np.asarray(known.multiply(known).sum(axis=1), np.float64).ravel() * scale**2
    left = np.divide(lengths - 2 * cross + sizes, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    count = max(new_topics, round(STRANGEST * len(left)))
    usable: NDArray[np.int64] = np.sort(np.argsort(-left, kind="stable")[:count])
    usable = usable[lengths[usable] > 0]
    random = np.random.RandomState(0)
    with Threads(model.get_params()["n_jobs"]) as engine:
        return document_topics(shards, engine, new_topics, random, usable).astype(old.dtype)
