"""Views of documents that belong together: by their label, and by their date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from laconic.explore.facts import Facts, facts_of
from laconic.explore.views.lines import UnknownError, document_lines, row_of, topic_lines, topic_parts
from laconic.explore.views.shapes import DocumentLine, LabelView, Table, TimeRow, TimeView

if TYPE_CHECKING:
    from laconic.bundle import Bundle

N_TOPICS = 30
N_EXAMPLES = 5
SHARED = "shared"


def label(bundle: Bundle, name: str, *, texts: bool = True) -> LabelView:
    """A class: its topics, its own and the shared ones apart, and documents that are typical of it.

    Parameters
    ----------
    bundle : Bundle
        Whose documents have labels, or whose model has classes.
    name : str
        The label.
    texts : bool, default=True
        Whether documents come with a piece of their text.

    Returns
    -------
    LabelView

    Raises
    ------
    UnknownError
        If there is no such label.
    """
    facts = facts_of(bundle)
    known = [*facts.label_names, *(owner for owner in facts.owners if owner != SHARED)]
    if name not in known:
        shown = ", ".join(dict.fromkeys(known[:10])) or "none"
        raise UnknownError(f"there is no class {name[:80]!r}; there are: {shown}")
    own = [topic for topic, owner in enumerate(facts.owners) if owner == name]
    shared = [topic for topic, owner in enumerate(facts.owners) if owner == SHARED]
    if name not in facts.label_names:
        return LabelView(name, 0, [], topic_lines(facts, own), topic_lines(facts, shared), [])
    place = facts.label_names.index(name)
    parts = facts.by_label[place]
    return LabelView(
        label=name,
        documents=int(facts.label_sizes[place]),
        topics=topic_parts(facts, np.arange(facts.n_topics), parts, N_TOPICS),
        own=topic_lines(facts, own),
        shared=topic_lines(facts, shared),
        examples=_examples(facts, place, texts=texts),
    )


def _examples(facts: Facts, place: int, *, texts: bool) -> list[DocumentLine]:
    """The documents that are most like their class: nearest in their topics to the mean of all of them."""
    rows = np.flatnonzero(facts.label_of == place)
    # no more than can be looked at in a moment
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), 1000)).astype(np.int64))]
    mean = facts.by_label[place]
    scores = []
    for row in rows:
        topics, weights = row_of(facts.weights, int(row))
        length = float(np.sqrt(weights @ weights))
        scores.append(float(weights @ mean[topics]) / length if length else 0.0)
    most = np.argsort(-np.array(scores), kind="stable")[:N_EXAMPLES]
    return document_lines(
        facts,
        rows[most].tolist(),
        [scores[place] for place in most],
        marked={part.modality: [] for part in facts.parts},
        texts=texts,
    )


def labels(bundle: Bundle, *, most: int | None = None) -> Table:
    """Topics × classes: what the documents of each label have of each topic.

    Parameters
    ----------
    bundle : Bundle
    most : int, optional
        Only so many topics, the heaviest; by default all.

    Returns
    -------
    Table
        Columns sum to one; without labels, there are none.
    """
    facts = facts_of(bundle)
    heavy = np.argsort(-facts.map_weights, kind="stable")[:most]
    topics = sorted(int(topic) for topic in heavy if facts.sizes[topic])
    shares = facts.by_label[:, topics].T.tolist() if facts.label_names else [[] for _ in topics]
    return Table(facts.label_names, topics, [facts.names[topic] for topic in topics], shares)


def time(bundle: Bundle) -> TimeView:
    """Topics over time: the part of each in the documents of every period.

    Parameters
    ----------
    bundle : Bundle
        Whose documents have dates.

    Returns
    -------
    TimeView
        The topics that change most come first; without dates, there are no periods.
    """
    facts = facts_of(bundle)
    over = facts.over_time
    if over is None:
        return TimeView("", [], [], 0 if facts.documents is None else len(facts.documents), [])
    spread = over.shares.max(axis=0, initial=0) - over.shares.min(axis=0, initial=1)
    return TimeView(
        unit=over.unit,
        periods=over.periods,
        documents=over.documents,
        undated=over.undated,
        topics=[
            TimeRow(int(topic), facts.names[topic], over.shares[:, topic].tolist())
            for topic in np.argsort(-spread, kind="stable")
            if facts.sizes[topic]
        ],
    )
