"""The view of a change: what a model was before, and what it is after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from laconic.explore.facts import Facts, facts_of
from laconic.explore.layout import product
from laconic.explore.views.shapes import Difference, TopicDifference

if TYPE_CHECKING:
    from laconic.bundle import Bundle

N_WORDS = 12
SAME = 0.995
"""Topics whose cosine is at least this have stayed what they were."""


def difference(before: Bundle, after: Bundle) -> Difference:
    """What has changed from one model to another of the same terms, topic by topic.

    Parameters
    ----------
    before, after : Bundle
        Numbers of topics mean the same in both; either may have more of them.

    Returns
    -------
    Difference
        The topics that have changed most come first; those that stayed are only counted.
    """
    old, new = facts_of(before), facts_of(after)
    found, n_same = [], 0
    for topic in range(max(old.n_topics, new.n_topics)):
        cosine = _cosine(old, new, topic)
        was, now = _words(old, topic), _words(new, topic)
        if cosine >= SAME or (not was and not now):
            n_same += 1
            continue
        found.append(
            TopicDifference(
                id=topic,
                name=(new if now else old).names[topic],
                cosine=cosine,
                before=was[:N_WORDS],
                after=now[:N_WORDS],
                gained=[word for word in now if word not in set(was)][:N_WORDS],
                lost=[word for word in was if word not in set(now)][:N_WORDS],
            )
        )
    explained = [None if facts.explained is None else facts.explained[0] for facts in (old, new)]
    lost_names = [name for name in before.notes.names if name and name not in after.notes.names]
    return Difference(sorted(found, key=lambda one: (one.cosine, one.id)), n_same, explained, lost_names)


def _cosine(old: Facts, new: Facts, topic: int) -> float:
    if topic >= min(old.n_topics, new.n_topics):
        return 0.0
    value = product(old.directions[[topic]], new.directions[[topic]].T)
    return float(np.clip(value[0, 0], -1, 1))


def _words(facts: Facts, topic: int) -> list[str]:
    if topic >= facts.n_topics or not facts.sizes[topic]:
        return []
    return [term for part in facts.parts for term, _ in part.words(topic, 40)]
