"""Why a document has its score for a query, word by word and topic by topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laconic.display.topics import heaviest
from laconic.search.results import Explanation, TermMatch, TopicMatch

if TYPE_CHECKING:
    from laconic.search.index import SearchIndex


def explanations(
    index: SearchIndex, query: str, documents: Sequence[int], blend: float, n_words: int = 5
) -> list[Explanation]:
    """The parts of the scores of several documents, by their numbers."""
    if not documents:
        return []
    matcher = index.matcher
    counts = index.vectorizer.count([query])
    (terms,) = matcher.terms.queries(counts)
    vectors = [part[0] for part in matcher.topics.queries(index.rows(counts))]
    scores = np.zeros(index.n_documents, np.float32)
    matcher.terms.add_scores(terms, scores)
    unit = matcher.unit(scores.max())
    found = matcher.score(scores, vectors, np.array(documents), blend, unit)
    made = []
    for place, document in enumerate(documents):
        topics, parts = matcher.topics.contributions(document, vectors)
        made.append(
            Explanation(
                id=str(index.ids[document]),
                score=float(found.scores[place]),
                term_score=float(found.terms[place]),
                topic_score=float(found.topics[place]),
                blend=blend,
                term_unit=float(unit),
                terms=_term_matches(index, terms.terms, matcher.terms.contributions(terms, document)),
                topics=_topic_matches(index, topics, parts, n_words),
            )
        )
    return made


def _term_matches(
    index: SearchIndex, terms: NDArray[np.int64], parts: NDArray[np.float32]
) -> tuple[TermMatch, ...]:
    whole = float(parts.sum(dtype=np.float64))
    return tuple(
        TermMatch(str(index.vectorizer.vocabulary[terms[t]]), float(parts[t]), float(parts[t]) / whole)
        for t in np.argsort(-parts, kind="stable")
        if parts[t]
    )


def _topic_matches(
    index: SearchIndex, topics: NDArray[np.int64], parts: NDArray[np.float32], n_words: int
) -> tuple[TopicMatch, ...]:
    components, vocabulary = index.model.components_of(index.modality), index.vectorizer.vocabulary
    # Where topics for and against cancel out, there is nothing to have a share of.
    whole = float(parts.sum(dtype=np.float64)) or 1.0
    return tuple(
        TopicMatch(
            topic=int(topics[t]),
            # of the topics that match alone: a model may have thousands
            words=tuple(word for word, _ in heaviest(components[[topics[t]]], vocabulary, n_words)),
            contribution=float(parts[t]),
            share=float(parts[t]) / whole,
            name=index.notes.names[topics[t]],
        )
        for t in np.argsort(-np.abs(parts), kind="stable")
        if parts[t]
    )
