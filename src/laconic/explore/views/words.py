"""The view of a word: every topic it is in, and documents that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse

from laconic.explore.facts import Facts, Part, facts_of
from laconic.explore.views.lines import UnknownError, document_lines
from laconic.explore.views.shapes import DocumentLine, WordTopic, WordView

if TYPE_CHECKING:
    from laconic.bundle import Bundle

N_DOCUMENTS = 10
N_TOPICS = 50
SUGGESTED = 5


def word(
    bundle: Bundle,
    term: str,
    *,
    modality: str | None = None,
    n_documents: int = N_DOCUMENTS,
    texts: bool = True,
) -> WordView:
    """All about a word.

    Parameters
    ----------
    bundle : Bundle
    term : str
        As it stands in the vocabulary, or as the vectoriser would read it.
    modality : str, optional
        Where to look; by default in the first that has it.
    n_documents : int, default=10
        At most so many, those first in which it occurs most often.
    texts : bool, default=True
        Whether documents come with a piece of their text.

    Returns
    -------
    WordView

    Raises
    ------
    UnknownError
        If it is not in the vocabulary; the message names words that begin like it.
    """
    facts = facts_of(bundle)
    part, column = _place(facts, term, modality)
    topics = _topics_with(facts, part, column)
    n_found = n_times = None
    documents: list[DocumentLine] = []
    if facts.documents is not None:
        counts = facts.documents.corpora[part.modality].counts_csc
        start, stop = counts.indptr[column : column + 2]
        rows, times = counts.indices[start:stop], counts.data[start:stop]
        n_found, n_times = len(rows), int(times.sum())
        most = np.lexsort((rows, -times))[:n_documents]
        documents = document_lines(
            facts, rows[most].tolist(), times[most].tolist(), marked={part.modality: [column]}, texts=texts
        )
    return WordView(part.term(column), part.modality, n_found, n_times, topics, documents)


def _topics_with(facts: Facts, part: Part, column: int) -> list[WordTopic]:
    by_term = part.by_term
    if issparse(by_term):
        start, stop = by_term.indptr[column : column + 2]
        topics, weights = by_term.indices[start:stop], by_term.data[start:stop]
    else:
        topics = np.flatnonzero(by_term[:, column])
        weights = by_term[topics, column]
    order = np.argsort(-np.abs(weights), kind="stable")[:N_TOPICS]
    found = []
    for place in order:
        topic, weight = int(topics[place]), float(weights[place])
        row = part.topics[[topic]]
        sizes = np.abs(row.data if issparse(row) else row)
        found.append(
            WordTopic(
                id=topic,
                name=facts.names[topic],
                owner=facts.owners[topic] if facts.owners else None,
                weight=weight,
                rank=1 + int(np.count_nonzero(sizes > abs(weight))),
            )
        )
    return found


def _place(facts: Facts, term: str, modality: str | None) -> tuple[Part, int]:
    """Where a word is: its modality and its column."""
    among = [part for part in facts.parts if modality in (None, part.modality)]
    for part in among:
        if term in part.columns:
            return part, part.columns[term]
    for part in among:
        vectorizer = facts.bundle.vectorizers.get(part.modality, facts.bundle.vectorizer)
        read = [] if vectorizer is None else vectorizer.count([term]).indices.tolist()
        if len(read) == 1:
            return part, int(read[0])
    near = [name for part in among for name in part.columns if term and name.startswith(term[:4])]
    near = sorted(near, key=lambda name: (not name.startswith(term), len(name), name))[:SUGGESTED]
    hint = f"; there are {', '.join(near)}" if near else ""
    raise UnknownError(f"the word {term[:80]!r} is not in the vocabulary{hint}")
