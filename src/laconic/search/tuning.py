"""Choosing the parameters of a search by queries whose relevant documents are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.engines import Workers
from laconic.kernels.search import best_positive, blend_all
from laconic.search.arguments import checked_blend
from laconic.search.terms import BM25, TermMatcher

if TYPE_CHECKING:
    from laconic.matrices import CSR
    from laconic.search.index import SearchIndex

Floats = NDArray[np.float32]
Truth = tuple[NDArray[np.int64], int]

BLENDS = tuple(round(0.05 * step, 2) for step in range(21))
VECTOR_BLENDS = tuple(round(0.1 * step, 1) for step in range(11))
K1 = (0.6, 0.9, 1.2, 1.6, 2.0)
B = (0.3, 0.5, 0.75, 0.9)
DEPTH = 1000
"""How many documents of a ranking count."""


class Tuning(NamedTuple):
    """What was chosen, and what it was chosen from."""

    blend: float
    k1: float | None
    """None if terms are not matched by BM25; as `b`."""
    b: float | None
    score: float
    """The mean average precision of what was chosen."""
    n_queries: int
    """How many queries had a relevant document."""
    blends: dict[float, float]
    """The mean average precision of every blend, with the `k1` and `b` that were chosen."""
    parameters: dict[tuple[float, float], float]
    """That of every `k1` and `b`, with terms alone."""
    vector_blend: float | None = None
    """None if there are no vectors."""
    vector_blends: dict[float, float] | None = None
    """The mean average precision of every part of vectors, with the best blend of words and topics for it."""


def tuned(
    index: SearchIndex,
    queries: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    vectors: Sequence[Floats] | None = None,
    *,
    blends: Sequence[float] = BLENDS,
    vector_blends: Sequence[float] = VECTOR_BLENDS,
    k1: Sequence[float] = K1,
    b: Sequence[float] = B,
) -> tuple[Tuning, TermMatcher]:
    """Choose k1 and b for terms alone, and then the blends together, each by mean average precision.

    Of equally good ones, the first is chosen. Queries without a relevant document say nothing and are left
    out. Gives what was chosen and the terms with its parameters.
    """
    blends = [checked_blend(blend) for blend in blends]
    parts = [0.0] if vectors is None else [checked_blend(part) for part in vector_blends]
    pairs = [(float(one), float(other)) for one in k1 for other in b]
    if not blends or not pairs or not parts:
        raise ValueError("blends, vector_blends, k1 and b need at least one number each to choose from")
    names, truths = _truths(index, queries, qrels)
    counts = index.vectorizer.count([queries[name] for name in names])
    terms = index.matcher.terms
    parameters: dict[tuple[float, float], float] = {}
    if isinstance(terms, BM25):
        for pair in pairs:
            parameters[pair] = _precision_of_terms(terms.with_parameters(*pair), counts, truths, index.n_jobs)
        best_k1, best_b = max(parameters, key=parameters.__getitem__)
        terms = terms.with_parameters(best_k1, best_b)
    meant = None if vectors is None else [vectors[list(queries).index(name)] for name in names]
    table = _precision_of_blends(index, terms, counts, truths, blends, parts, meant)
    part, blend = max(table, key=table.__getitem__)
    precision = {one: table[part, one] for one in blends}
    found = Tuning(
        blend=blend,
        k1=getattr(terms, "k1", None),
        b=getattr(terms, "b", None),
        score=precision[blend],
        n_queries=len(names),
        blends=precision,
        parameters=parameters,
        vector_blend=None if vectors is None else part,
        vector_blends=None
        if vectors is None
        else {one: max(table[one, blend] for blend in blends) for one in parts},
    )
    return found, terms


def average_precision(ranked: NDArray[np.int64], relevant: NDArray[np.int64], n_relevant: int) -> float:
    """The mean, over the relevant documents, of the precision at their ranks; 0 for those not found.

    >>> average_precision(np.array([5, 1, 2]), np.array([2, 5]), 4)
    0.41666666666666663
    """
    hits = np.isin(ranked, relevant)
    precision = np.cumsum(hits) / np.arange(1, hits.size + 1)
    return float(precision[hits].sum() / n_relevant)


def _truths(
    index: SearchIndex, queries: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]
) -> tuple[list[str], list[Truth]]:
    """The queries that have relevant documents, and those of each: their numbers, and how many there are."""
    numbers = {str(id): number for number, id in enumerate(index.ids)}
    names, truths = [], []
    for name in queries:
        relevant = [id for id, grade in qrels.get(name, {}).items() if grade > 0]
        if relevant:
            known = [numbers[id] for id in relevant if id in numbers]
            names.append(name)
            truths.append((np.array(known, np.int64), len(relevant)))
    if not any(known.size for known, _ in truths):
        raise ValueError(
            "no query has a relevant document in the index: check that qrels use the ids of the queries and "
            "of the documents"
        )
    return names, truths


def _ranked(scores: Floats) -> NDArray[np.int64]:
    room = min(DEPTH, scores.size)
    best, documents = np.empty(room, np.float32), np.empty(room, np.int64)
    return documents[: best_positive(scores, best, documents)]


def _precision_of_terms(
    terms: TermMatcher, counts: CSR, truths: Sequence[Truth], n_jobs: int | None
) -> float:
    queries = terms.queries(counts)

    def precision(q: int) -> float:
        scores = np.zeros(terms.n_documents, np.float32)
        terms.add_scores(queries[q], scores)
        return average_precision(_ranked(scores), *truths[q])

    with Workers(n_jobs) as engine:
        return float(np.mean(list(engine.map(precision, range(len(truths))))))


def _precision_of_blends(
    index: SearchIndex,
    terms: TermMatcher,
    counts: CSR,
    truths: Sequence[Truth],
    blends: Sequence[float],
    parts: Sequence[float],
    meant: Sequence[Floats] | None,
) -> dict[tuple[float, float], float]:
    """The mean average precision of every part of vectors with every blend of words and topics."""
    matcher = index.matcher
    queries, vectors = terms.queries(counts), matcher.topics.queries(index.rows(counts))
    everything = np.arange(index.n_documents)

    def precisions(q: int) -> list[float]:
        scores, out = np.zeros(index.n_documents, np.float32), np.empty((2, index.n_documents), np.float32)
        terms.add_scores(queries[q], scores)
        topics = matcher.topics.scores_of(everything, [part[q] for part in vectors])
        unit = matcher.unit(scores.max())
        none = np.zeros_like(scores)
        cosines = none if meant is None or index.vectors is None else index.vectors.scores(meant[q])
        found = []
        for part in parts:
            for blend in blends:
                blend_all(scores, topics, np.float32(blend), unit, out[0])
                blend_all(out[0], cosines, np.float32(part), np.float32(1), out[1])
                found.append(average_precision(_ranked(out[1]), *truths[q]))
        return found

    with Workers(index.n_jobs) as engine:
        table = np.array(list(engine.map(precisions, range(len(truths)))))
    tried = [(part, blend) for part in parts for blend in blends]
    return {one: float(score) for one, score in zip(tried, table.mean(0), strict=True)}
