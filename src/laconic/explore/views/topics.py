"""Views of topics: all of them, one, two beside each other, and how near they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from laconic.explore.facts import Facts, facts_of
from laconic.explore.layout import LANDMARKS, apart, product
from laconic.explore.views.lines import (
    N_WORDS,
    UnknownError,
    checked_topic,
    column_of,
    document_lines,
    topic_columns,
    topic_line,
    topic_lines,
)
from laconic.explore.views.shapes import (
    ComparedWord,
    Comparison,
    LabelLine,
    LabelPart,
    MapView,
    Neighbour,
    Overview,
    Pair,
    Period,
    Point,
    Similarity,
    TopicView,
)
from laconic.steering.tree import Branch, tree_of

if TYPE_CHECKING:
    from laconic.bundle import Bundle

N_NEIGHBOURS = 6
N_PAIRS = 30
N_DOCUMENTS = 10
WORDS_OF_TOPIC = 40
SHARED_WORDS = 5
COMPARED = 30
MOST_COMPARED = 300
"""Of more topics than this, similarities of the heaviest are told: a picture of more shows nothing."""

MOST_IN_TREE = 200

LEAST_RADIUS, LARGEST_RADIUS = 0.012, 0.08
"""Of circles on the map, whose half width is 1."""

ROOM = 1.45
"""Circles are kept so many times their radii apart, for labels."""

ORDERS = ("id", "share", "size", "name")


def overview(
    bundle: Bundle, *, first: int = 0, n: int | None = None, order: str = "id", n_words: int = N_WORDS
) -> Overview:
    """A model and its documents at a glance.

    Parameters
    ----------
    bundle : Bundle
        With a fitted model.
    first, n : int
        Which of the topics are listed; by default all.
    order : {"id", "share", "size", "name"}, default="id"
        What they are sorted by; shares and sizes the largest first.
    n_words : int, default=10
        How many words of each.

    Returns
    -------
    Overview

    Examples
    --------
    >>> import laconic
    >>> from laconic.explore import views
    >>> bundle = laconic.fit(["sun, moon", "moon, sun", "salt, pepper", "pepper, salt"], n_topics=2)
    >>> sorted(topic.name for topic in views.overview(bundle).topics)
    ['moon, sun', 'pepper, salt']
    """
    facts = facts_of(bundle)
    documents, model = facts.documents, facts.model
    listed = _ordered(facts, order)[first : None if n is None else first + n]
    explained = facts.explained
    corpora = {} if documents is None else documents.corpora
    period = _period(None if documents is None else documents.dates)
    return Overview(
        model=type(model).__name__,
        n_topics=facts.n_topics,
        n_alive=int(np.count_nonzero(facts.sizes)),
        n_terms=int(model.n_features_in_),
        n_used=_used(model.components_),
        n_documents=None if documents is None else len(documents),
        has_texts=any(corpus.texts is not None for corpus in corpora.values()),
        has_dates=period is not None,
        signed=facts.signed,
        modalities=bundle.modalities,
        labels=_label_lines(facts),
        period=period,
        explained=None if explained is None else explained[0],
        measured=None if explained is None else explained[1],
        n_iter=int(model.n_iter_),
        chosen=bundle.chosen,
        first=first,
        topics=topic_lines(facts, listed, n_words),
    )


def _ordered(facts: Facts, order: str) -> list[int]:
    if order not in ORDERS:
        raise UnknownError(f"topics are ordered by {', '.join(ORDERS)}, not by {order!r}")
    topics = range(facts.n_topics)
    if order == "name":
        return sorted(topics, key=lambda topic: (facts.names[topic].casefold(), topic))
    if order == "id" or (order == "share" and facts.shares is None):
        return list(topics)
    values: Any = facts.shares if order == "share" else np.array(facts.sizes)
    return [int(topic) for topic in np.argsort(-values, kind="stable")]


def _used(components: Any) -> int:
    """How many terms some topic has."""
    if issparse(components):
        return int(np.unique(components.indices).size)
    return int(np.count_nonzero(components.any(axis=0)))


def _period(dates: Any) -> list[str] | None:
    known = np.zeros(0, "datetime64[s]") if dates is None else dates[~np.isnat(dates)]
    return [str(known.min())[:10], str(known.max())[:10]] if known.size else None


def _label_lines(facts: Facts) -> list[LabelLine]:
    """The labels of the documents; without documents, the classes of the model."""
    own = {owner: facts.owners.count(owner) for owner in dict.fromkeys(facts.owners)}
    if facts.label_names:
        sizes = facts.label_sizes
        return [
            LabelLine(label, int(sizes[place]), own.get(label, 0))
            for place, label in enumerate(facts.label_names)
        ]
    return [LabelLine(owner, 0, count) for owner, count in own.items() if owner != "shared"]


def topic(
    bundle: Bundle,
    id: int,
    *,
    n_words: int = WORDS_OF_TOPIC,
    n_documents: int = N_DOCUMENTS,
    texts: bool = True,
) -> TopicView:
    """All about a topic: words, classes, time, neighbours, typical documents.

    Parameters
    ----------
    bundle : Bundle
    id : int
        The number of the topic.
    n_words, n_documents : int
        At most so many.
    texts : bool, default=True
        Whether documents come with a piece of their text, the topic's words marked.

    Returns
    -------
    TopicView
        Lists are empty where the bundle does not know.
    """
    facts = facts_of(bundle)
    checked_topic(facts, id)
    documents = []
    if facts.documents is not None and n_documents:
        rows, weights = column_of(facts, id)
        most = np.lexsort((rows, -weights))[:n_documents]
        most = most[weights[most] > 0]
        documents = document_lines(
            facts, rows[most], weights[most], marked=topic_columns(facts, id), topic=id, texts=texts
        )
    return TopicView(
        topic=topic_line(facts, id, n_words),
        labels=label_parts(facts, id),
        time=periods_of(facts, id),
        neighbours=neighbours(facts, id),
        documents=documents,
    )


def label_parts(facts: Facts, topic: int) -> list[LabelPart]:
    """What the documents of each label have of a topic, the most first."""
    if not facts.label_names:
        return []
    column = facts.by_label[:, topic]
    usual = 0.0 if facts.shares is None else float(facts.shares[topic])
    return [
        LabelPart(
            facts.label_names[label], float(column[label]), float(column[label] / usual if usual else 0)
        )
        for label in np.argsort(-column, kind="stable")
    ]


def periods_of(facts: Facts, topic: int) -> list[Period]:
    """A topic over time."""
    over = facts.over_time
    if over is None:
        return []
    return [
        Period(period, float(share), n)
        for period, share, n in zip(over.periods, over.shares[:, topic], over.documents, strict=True)
    ]


def neighbours(facts: Facts, topic: int, n: int = N_NEIGHBOURS) -> list[Neighbour]:
    """The topics nearest to another."""
    cosines = facts.cosines(topic)
    cosines[topic] = -np.inf
    found = []
    for other in np.argsort(-cosines, kind="stable")[:n]:
        if cosines[other] <= 0:
            break
        found.append(
            Neighbour(
                id=int(other),
                name=facts.names[other],
                owner=facts.owners[other] if facts.owners else None,
                cosine=float(min(1.0, cosines[other])),
                words=_in_common(facts, topic, int(other)),
            )
        )
    return found


def _row(facts: Facts, topic: int) -> Any:
    return csr_array(facts.directions[[topic]])


def _in_common(facts: Facts, first: int, second: int, n: int = SHARED_WORDS) -> list[str]:
    """The words that two topics share, by what each adds to their cosine."""
    both = _row(facts, first).multiply(_row(facts, second)).tocsr()
    order = np.argsort(-both.data, kind="stable")[:n]
    return [_term(facts, int(both.indices[place]))[0] for place in order if both.data[place] > 0]


def _term(facts: Facts, column: int) -> tuple[str, str]:
    """A term and its modality, by its column among those of all modalities."""
    for part in facts.parts:
        if column < part.topics.shape[1]:
            return part.term(column), part.modality
        column -= part.topics.shape[1]
    raise IndexError(column)


def compare(bundle: Bundle, first: int, second: int, *, n_words: int = COMPARED) -> Comparison:
    """Two topics side by side: the words of both, and those of one alone.

    Parameters
    ----------
    bundle : Bundle
    first, second : int
        Their numbers.
    n_words : int, default=30
        At most so many of each kind, the heaviest first.

    Returns
    -------
    Comparison
        Weights are those of topics of length one, so that they can be compared.
    """
    facts = facts_of(bundle)
    a, b = (_row(facts, checked_topic(facts, one)) for one in (first, second))
    one, other = np.zeros(a.shape[1]), np.zeros(b.shape[1])
    one[a.indices], other[b.indices] = a.data, b.data
    columns = np.union1d(a.indices, b.indices)
    kinds: list[list[ComparedWord]] = [[], [], []]
    n_both = 0
    for column in columns[np.argsort(-(np.abs(one) + np.abs(other))[columns], kind="stable")]:
        has = bool(one[column]), bool(other[column])
        kind = 0 if all(has) else 1 if has[0] else 2
        n_both += kind == 0
        if len(kinds[kind]) < n_words:
            word = ComparedWord(*_term(facts, int(column)), float(one[column]), float(other[column]))
            kinds[kind].append(word)
    return Comparison(
        first=topic_line(facts, first),
        second=topic_line(facts, second),
        cosine=float(one @ other),
        both=kinds[0],
        only_first=kinds[1],
        only_second=kinds[2],
        n_both=n_both,
        labels=[label_parts(facts, first), label_parts(facts, second)],
    )


def similarity(bundle: Bundle, *, most: int = MOST_COMPARED) -> Similarity:
    """How near topics are to each other: cosines, by the words that they share.

    Parameters
    ----------
    bundle : Bundle
    most : int, default=300
        Of more topics, only the heaviest are compared.

    Returns
    -------
    Similarity
        Rows and columns in the order of the topics' numbers.
    """
    facts = facts_of(bundle)
    topics = sorted(t for t in _ordered(facts, "share")[: max(most, 0)] if facts.sizes[t])
    some = facts.directions[topics]
    cosines = np.clip(product(some, some.T), -1, 1)
    np.fill_diagonal(cosines, 1)
    return Similarity(topics, [facts.names[topic] for topic in topics], cosines.tolist())


def nearest_pairs(bundle: Bundle, *, n: int = N_PAIRS) -> list[Pair]:
    """The pairs of topics that share most.

    Parameters
    ----------
    bundle : Bundle
    n : int, default=30
        At most so many; of more than a thousand topics, pairs of the heaviest.

    Returns
    -------
    list of Pair
        The nearest first; those that share nothing are left out.
    """
    facts = facts_of(bundle)
    if facts.pairs is None:
        facts.pairs = _pairs(facts)
    return facts.pairs[:n]


def _pairs(facts: Facts) -> list[Pair]:
    topics = [topic for topic in _ordered(facts, "share")[:LANDMARKS] if facts.sizes[topic]]
    some = facts.directions[topics]
    cosines = np.triu(product(some, some.T), 1)
    order = np.argsort(-cosines, axis=None, kind="stable")[: 10 * N_PAIRS]
    found = []
    for place in order:
        row, column = divmod(int(place), len(topics))
        if cosines[row, column] <= 0:
            break
        first, second = sorted((topics[row], topics[column]))
        cosine = float(min(1.0, cosines[row, column]))
        words = _in_common(facts, first, second)
        found.append(Pair(first, second, facts.names[first], facts.names[second], cosine, words))
    return found


def tree(bundle: Bundle, *, most: int = MOST_IN_TREE) -> Branch | None:
    """The topics as a tree: those that share most words are joined first.

    Parameters
    ----------
    bundle : Bundle
    most : int, default=200
        Of more topics, only the heaviest are in it.

    Returns
    -------
    Branch or None
        The root; its height, and that of every branch, is the mean distance (1 - cosine) of the topics that
        it joins. None, if no topic has words.
    """
    found = similarity(bundle, most=most)
    weights = facts_of(bundle).map_weights[found.topics]
    return tree_of(found.topics, found.names, weights, np.array(found.cosines))


def topic_map(bundle: Bundle, *, most: int | None = None) -> MapView:
    """The topics as points of a plane: near each other where they share words.

    Classical multidimensional scaling of the distances between topics of length one (the Gram metric).
    Circles that would cover each other are moved apart. Names play no part in it, and the same topics always
    give the same map.

    Parameters
    ----------
    bundle : Bundle
    most : int, optional
        Only so many topics, the heaviest; by default all.

    Returns
    -------
    MapView
        Topics without words are not on it.
    """
    facts = facts_of(bundle)
    shown = np.flatnonzero(facts.sizes)
    if most is not None:
        heavy = np.argsort(-facts.map_weights[shown], kind="stable")[: max(most, 0)]
        shown = shown[np.sort(heavy)]
    weights = facts.map_weights[shown]
    parts = weights / (weights.max(initial=0) or 1.0)
    if len(shown) not in facts.placed:
        facts.placed[len(shown)] = _fitting(
            apart(_fitting(facts.layout.points[shown]), ROOM * map_radii(parts))
        )
    owners = facts.owners
    return MapView(
        points=[
            Point(
                int(topic),
                facts.names[topic],
                owners[topic] if owners else None,
                float(x),
                float(y),
                float(part),
            )
            for topic, (x, y), part in zip(shown, facts.placed[len(shown)], parts, strict=True)
        ],
        shown=facts.layout.shown,
        owners=list(dict.fromkeys(owners)),
    )


def _fitting(points: Any) -> Any:
    """The same points in the middle of a square from -1 to 1, one side of which they fill."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    return (points - (low + high) / 2) / (float((high - low).max()) / 2 or 1.0)


def map_radii(parts: Any) -> Any:
    """The radii of circles on the map, by the parts of the largest topic: their areas grow with these.

    Parameters
    ----------
    parts : ndarray of float
        From 0 to 1.
    """
    # many circles have less room each
    largest = min(LARGEST_RADIUS, 0.9 / np.sqrt(max(1, len(parts))))
    return np.maximum(largest * np.sqrt(parts), min(LEAST_RADIUS, largest / 3))
