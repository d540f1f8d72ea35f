"""What several views are made of: topics and documents in a line, texts in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from laconic.errors import InputError
from laconic.explore.facts import Facts, Part
from laconic.explore.views.shapes import DocumentLine, Piece, TopicLine, TopicPart, Word, Words
from laconic.search.results import Snippet
from laconic.search.snippets import make_snippet

N_WORDS = 10
"""How many words of a topic stand in a line."""

N_LABELS = 3
SNIPPET = 240
MARKED_WORDS = 40
"""So many of a topic's words are looked for in texts."""

NEGLIGIBLE = 1e-9
"""What is smaller than this part of the largest was left by rounding."""


class UnknownError(InputError):
    """Something was asked for that the bundle does not have."""


def words_of(facts: Facts, topic: int, n_words: int) -> list[Words]:
    """The heaviest words of a topic, an entry for each modality."""
    return [
        Words(part.modality, [Word(term, weight) for term, weight in part.words(topic, n_words)])
        for part in facts.parts
    ]


def topic_line(facts: Facts, topic: int, n_words: int = N_WORDS) -> TopicLine:
    """A topic in a line."""
    return topic_lines(facts, [topic], n_words)[0]


def topic_lines(facts: Facts, topics: Iterable[int], n_words: int = N_WORDS) -> list[TopicLine]:
    """Topics in a line each."""
    shares, counts, owners = facts.shares, facts.main_counts, facts.owners
    names, given = facts.names, facts.given_names
    return [
        TopicLine(
            id=topic,
            name=names[topic],
            named=given[topic] is not None,
            owner=owners[topic] if owners else None,
            size=facts.sizes[topic],
            share=None if shares is None else float(shares[topic]),
            documents=None if counts is None else counts[topic],
            stability=facts.stability(topic),
            labels=strongest(facts, topic),
            words=words_of(facts, topic, n_words),
        )
        for topic in topics
    ]


def strongest(facts: Facts, topic: int) -> list[str]:
    """The labels whose documents have most of a topic, beside what they have of others."""
    if not facts.label_names:
        return []
    column = facts.by_label[:, topic]
    # a label in which the topic is no larger than everywhere says nothing of it
    usual = 0.0 if facts.shares is None else float(facts.shares[topic])
    best = np.argsort(-column, kind="stable")[:N_LABELS]
    return [facts.label_names[label] for label in best if column[label] > 0 and column[label] >= usual]


def checked_topic(facts: Facts, topic: int) -> int:
    """A topic that there is."""
    if not 0 <= topic < facts.n_topics:
        raise UnknownError(f"there is no topic {topic}: they are numbered from 0 to {facts.n_topics - 1}")
    return int(topic)


def row_of(weights: Any, row: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The topics that a document has, and their weights."""
    if issparse(weights):
        start, stop = weights.indptr[row : row + 2]
        topics, found = weights.indices[start:stop], weights.data[start:stop]
    else:
        whole = np.asarray(weights[row])
        topics = np.flatnonzero(whole)
        found = whole[topics]
    return topics.astype(np.int64), found.astype(np.float64)


def column_of(facts: Facts, topic: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The documents that have a topic, and their weights."""
    weights = facts.weights_by_topic
    if issparse(weights):
        start, stop = weights.indptr[topic : topic + 2]
        return weights.indices[start:stop].astype(np.int64), weights.data[start:stop].astype(np.float64)
    return np.arange(weights.shape[0]), weights[:, topic].astype(np.float64)


def topic_parts(
    facts: Facts, topics: NDArray[np.int64], weights: NDArray[np.float64], most: int | None = None
) -> list[TopicPart]:
    """What a document or a class has of topics, the most first."""
    total = float(np.maximum(weights, 0).sum()) or 1.0
    least = NEGLIGIBLE * float(np.abs(weights).max(initial=0))
    order = np.argsort(-weights, kind="stable")
    return [
        TopicPart(
            id=int(topics[place]),
            name=facts.names[topics[place]],
            owner=facts.owners[topics[place]] if facts.owners else None,
            weight=float(weights[place]),
            share=float(max(weights[place], 0) / total),
        )
        for place in order[:most]
        if abs(weights[place]) > least
    ]


def best_topics(
    part: Part, topics: NDArray[np.int64], weights: NDArray[np.float64], columns: NDArray[np.int64]
) -> dict[int, int]:
    """The topic that explains each word of a document.

    It is the one with the largest product of its weight in the document and the word's weight in it: of the
    model's approximation of that word, the largest part. Words that no topic speaks for are left out.
    """
    if not len(topics) or not len(columns):
        return {}
    among = part.topics[topics][:, columns]
    parts = weights[:, None] * np.asarray(among.toarray() if issparse(among) else among)
    best = parts.argmax(axis=0)
    values = parts[best, np.arange(len(columns))]
    least = NEGLIGIBLE * float(values.max(initial=0))
    return {
        int(column): int(topics[winner])
        for column, winner, value in zip(columns, best, values, strict=True)
        if value > least
    }


def pieces(text: str, found: Sequence[tuple[int, int, int]], topic_of: dict[int, int]) -> list[Piece]:
    """A text in pieces: words with the topic that explains each, and what stands between them.

    >>> pieces("red fish", [(4, 8, 0)], {0: 7})
    [Piece(text='red ', topic=None), Piece(text='fish', topic=7)]
    """
    made, end = [], 0
    for start, stop, term in found:
        if start < end or term not in topic_of:
            continue
        if start > end:
            made.append(Piece(text[end:start]))
        made.append(Piece(text[start:stop], topic_of[term]))
        end = stop
    return [*made, Piece(text[end:])] if end < len(text) else made


def snippet_pieces(snippet: Snippet | None, topic: int | None) -> list[Piece]:
    """A snippet in pieces; its matches belong to a topic (-1 for the words of a query)."""
    if snippet is None:
        return []
    mark = -1 if topic is None else topic
    return pieces(snippet.text, [(start, stop, 0) for start, stop in snippet.matches], {0: mark})


def facts_about(facts: Facts, row: int) -> dict[str, str | None]:
    """The label and the day of a document."""
    documents = facts.documents
    assert documents is not None
    label = None if documents.labels is None else str(documents.labels[row])
    date = None if documents.dates is None else documents.dates[row]
    return {"label": label, "date": None if date is None or np.isnat(date) else str(date)[:10]}


def document_lines(
    facts: Facts,
    rows: Iterable[int],
    weights: Iterable[float],
    *,
    marked: dict[str, list[int]],
    topic: int | None = None,
    texts: bool = True,
) -> list[DocumentLine]:
    """Documents in a line each, with a piece of text in which some terms are marked.

    Parameters
    ----------
    facts : Facts
    rows, weights
        Which documents, and what they have of what is looked at.
    marked : mapping of str to list of int
        By modality, the columns of the terms.
    topic : int, optional
        The topic that the marks belong to.
    texts : bool
        Whether pieces of text are wanted.
    """
    documents = facts.documents
    assert documents is not None
    found = []
    for row, weight in zip(rows, weights, strict=True):
        text: list[Piece] = []
        for modality, corpus in documents.corpora.items() if texts else ():
            columns = marked.get(modality)
            if corpus.texts is not None and columns is not None and not text:
                snippet = make_snippet(
                    corpus.texts[row], facts.vectorizer(modality), np.array(columns, np.int64), SNIPPET
                )
                text = snippet_pieces(snippet, topic)
        found.append(
            DocumentLine(
                id=str(documents.ids[row]),
                weight=float(weight),
                share=None if topic is None else _share(facts, row, topic),
                text=text,
                **facts_about(facts, row),
            )
        )
    return found


def _share(facts: Facts, row: int, topic: int) -> float:
    """The part of a topic in the positive weights of a document."""
    topics, weights = row_of(facts.weights, row)
    positive = np.maximum(weights, 0)
    return float(positive[topics == topic].sum() / (positive.sum() or 1.0))


def topic_columns(facts: Facts, topic: int) -> dict[str, list[int]]:
    """The columns of a topic's heaviest words, by modality."""
    return {
        part.modality: [part.columns[term] for term, weight in part.words(topic, MARKED_WORDS) if weight > 0]
        for part in facts.parts
    }
