"""Views of documents: one to read, those that a search finds, and a new text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.explore.facts import Facts, facts_of
from laconic.explore.views.lines import (
    UnknownError,
    best_topics,
    facts_about,
    pieces,
    row_of,
    snippet_pieces,
    topic_parts,
)
from laconic.explore.views.shapes import (
    Body,
    Described,
    DocumentView,
    Found,
    Piece,
    Reason,
    SearchView,
    TermCount,
)
from laconic.search.explaining import explanations

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.search.results import Explanation, Hit

LONGEST_TEXT = 50_000
"""Characters of a text that are shown."""

N_TERMS = 200
N_TOPICS = 20
N_HITS = 10
N_REASONS = 8


def document(bundle: Bundle, id: str) -> DocumentView:
    """A document to read: its topics, and its words with the topic that explains each.

    Parameters
    ----------
    bundle : Bundle
        With documents.
    id : str
        The document's.

    Returns
    -------
    DocumentView

    Raises
    ------
    UnknownError
        If there is no such document.
    """
    facts = facts_of(bundle)
    documents = facts.documents
    if documents is None:
        raise UnknownError("this model has no documents: keep them when you fit")
    row = facts.rows.get(str(id))
    if row is None:
        raise UnknownError(f"there is no document {str(id)[:80]!r}")
    bodies, known, spoken = [], 0, 0
    for modality, corpus in documents.corpora.items():
        counts = corpus.counts
        start, stop = counts.indptr[row : row + 2]
        columns, times = counts.indices[start:stop].astype(np.int64), counts.data[start:stop]
        topics, weights = row_of(documents.modality_weights[modality], row)
        topic_of = best_topics(facts.part(modality), topics, weights, columns)
        known += int(times.sum())
        spoken += int(times[np.isin(columns, list(topic_of))].sum())
        text = None if corpus.texts is None else corpus.texts[row]
        bodies.append(_body(facts, modality, text, columns, times, topic_of))
    topics, weights = row_of(facts.weights, row)
    ids = documents.ids
    return DocumentView(
        id=str(ids[row]),
        topics=topic_parts(facts, topics, weights, N_TOPICS),
        bodies=bodies,
        explained=spoken / known if known else 0.0,
        before=str(ids[row - 1]) if row else None,
        after=str(ids[row + 1]) if row + 1 < len(ids) else None,
        **facts_about(facts, row),
    )


def _body(
    facts: Facts,
    modality: str,
    text: str | None,
    columns: NDArray[np.int64],
    times: NDArray[Any],
    topic_of: dict[int, int],
) -> Body:
    part = facts.part(modality)
    order = np.argsort(-times, kind="stable")[:N_TERMS]
    terms = [
        TermCount(part.term(int(columns[p])), int(times[p]), topic_of.get(int(columns[p]))) for p in order
    ]
    if text is None:
        return Body(modality, [], False, terms)
    return Body(modality, _read(facts, modality, text, topic_of), len(text) > LONGEST_TEXT, terms)


def _read(facts: Facts, modality: str, text: str, topic_of: dict[int, int]) -> list[Piece]:
    """A text in pieces, words with the topic that explains each."""
    vectorizer = facts.vectorizer(modality)
    shown = vectorizer.plain(text[:LONGEST_TEXT])
    return pieces(shown, vectorizer.find(shown, topic_of), topic_of)


def describe(bundle: Bundle, text: str, *, modality: str | None = None) -> Described:
    """The topics of a new text, and its words with the topic that explains each.

    Parameters
    ----------
    bundle : Bundle
        With a vectoriser.
    text : str
        Anything.
    modality : str, optional
        Which one the text is of; by default the first.

    Returns
    -------
    Described
        A text without any known word has no topics.
    """
    facts = facts_of(bundle)
    name = _readable(bundle, modality)
    X = bundle.vectorize([text], modality=name or None)
    options = {"modality": name} if name else {}
    columns = np.flatnonzero(X.toarray()[0]) if X.nnz else np.zeros(0, np.int64)
    topics, weights = np.zeros(0, np.int64), np.zeros(0)
    label = None
    if len(columns):
        topics, weights = row_of(bundle.model.transform(X, **options), 0)
        label = str(bundle.model.classes_of(X)[0]) if bundle.model.traits.classes else None
    topic_of = best_topics(facts.part(name), topics, weights, columns)
    return Described(
        modality=name,
        label=label,
        known=len(columns),
        topics=topic_parts(facts, topics, weights, N_TOPICS),
        text=_read(facts, name, text, topic_of),
        explained=len(topic_of) / len(columns) if len(columns) else 0.0,
    )


def _readable(bundle: Bundle, modality: str | None) -> str:
    """The modality whose texts can be read; "" if there is just one."""
    if not bundle.modalities:
        bundle.vectorizer_of()
        return ""
    name = modality or next(iter(bundle.vectorizers), bundle.modalities[0])
    bundle.vectorizer_of(name)
    return name


def search(
    bundle: Bundle, query: str, *, k: int = N_HITS, blend: float | None = None, modality: str | None = None
) -> SearchView:
    """Find documents, with both parts of their scores, and why they matched.

    Parameters
    ----------
    bundle : Bundle
        With documents.
    query : str
        Words; those that are not in the vocabulary are ignored.
    k : int, default=10
        At most this many documents.
    blend : float, optional
        How much topics count in the score, from 0 (words only) to 1 (topics only).
    modality : str, optional
        Which one to search, for a model of several; by default the first.

    Returns
    -------
    SearchView
    """
    facts = facts_of(bundle)
    if facts.documents is None:
        raise UnknownError("this model has no documents to search: keep them when you fit")
    index = bundle.index_of(_readable(bundle, modality) or None)
    blend = index.blend if blend is None else blend
    hits = index.search(query, k, blend=blend)
    reasons = explanations(index, query, [facts.rows[hit.id] for hit in hits], blend)
    columns = index.vectorizer.count([query]).indices
    return SearchView(
        query=query,
        blend=float(blend),
        modality=index.modality or "",
        known=[str(index.vectorizer.vocabulary[column]) for column in columns],
        n_documents=index.n_documents,
        hits=[_found(facts, hit, reason) for hit, reason in zip(hits, reasons, strict=True)],
    )


def _found(facts: Facts, hit: Hit, why: Explanation) -> Found:
    per_term = (1 - why.blend) / why.term_unit if why.term_unit else 0.0
    reasons = [Reason("word", match.term, None, match.contribution * per_term) for match in why.terms]
    reasons += [
        Reason("topic", facts.names[match.topic], match.topic, match.contribution * why.blend)
        for match in why.topics
    ]
    reasons = sorted((reason for reason in reasons if reason.part), key=lambda reason: -abs(reason.part))
    return Found(
        id=hit.id,
        score=hit.score,
        terms=why.term_score * per_term,
        topics=why.topic_score * why.blend,
        label=hit.label,
        date=None if hit.date is None else hit.date[:10],
        text=snippet_pieces(hit.snippet, None),
        reasons=reasons[:N_REASONS],
    )
