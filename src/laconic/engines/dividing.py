"""How the work of a verb is divided among the workers of a cluster: by its sizes alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from laconic.engines.placed import KNOWN
from laconic.engines.shards import Shards
from laconic.engines.tasks import Part

GROUP_BYTES = 1 << 28
"""What the products of a group of blocks of terms take, at most: for each group, all weights are read."""
TASKS_PER_THREAD = 3
"""So many tasks for every thread of the cluster keep all of them busy to the end."""
MOVING = 8
"""So many bytes are read from a file in the time that one byte of products takes to be moved and added up."""


def spread(loads: Sequence[float], slots: Sequence[str]) -> list[str | None]:
    """Which slot does each of some tasks: neighbours the same, and all slots about as much.

    The same tasks on the same slots are spread in the same way, so that workers find what they have done
    before in their memory.

    >>> spread([1, 1, 2, 4], ["a", "b"])
    ['a', 'a', 'a', 'b']
    >>> spread([1, 1], [])
    [None, None]
    """
    if not slots:
        return [None] * len(loads)
    own = np.maximum(loads, 1.0)
    ends = np.cumsum(own)
    places = (ends - own / 2) * (len(slots) / ends[-1])
    return [slots[min(int(place), len(slots) - 1)] for place in places]


def dealt(homes: Sequence[str | None]) -> list[str | None]:
    """The same slots, in rounds: for tasks of which the first may be the heaviest.

    >>> dealt(["a", "a", "a", "b", "b"])
    ['a', 'b', 'a', 'b', 'a']
    """
    seen: Counter[str | None] = Counter()
    rounds = []
    for place, home in enumerate(homes):
        rounds.append((seen[home], place))
        seen[home] += 1
    return [homes[place] for _, place in sorted(rounds)]


class Sizes(NamedTuple):
    """What the products of all terms and the weights of all documents take in bytes, at most."""

    products: int
    weights: int

    @classmethod
    def of(cls, shards: Shards, parts: Sequence[Part]) -> Self:
        """Of the products and weights of a collection."""
        widths = {}
        weights = 0
        for part in parts:
            own = np.load(part.state["weights"], mmap_mode="r", allow_pickle=False)
            widths[part.place.klass] = own.shape[1]
            weights += own.nbytes
        return cls(shards.n_terms * sum(widths.values()) * shards.dtype.itemsize, weights)

    def spans(self, n_shards: int, n_threads: int) -> list[slice]:
        """Shards whose products one task adds up.

        With many spans, all their products are moved; with few, there are more groups of terms, each of which
        reads all weights, unless these are known. The least time is taken in between.
        """
        readings = n_threads * (1 if self.weights <= KNOWN else TASKS_PER_THREAD)
        best = np.sqrt(readings * self.weights / max(1, MOVING * self.products))
        wanted = max(1, min(n_threads, n_shards, int(best)))
        # branches of the tree
        length = 1 << (-(-n_shards // wanted) - 1).bit_length()
        return [slice(first, first + length) for first in range(0, n_shards, length)]

    def n_groups(self, n_spans: int, n_threads: int) -> int:
        """In how many groups blocks of terms are worked on: enough tasks for all, and none too large."""
        return max(-(-TASKS_PER_THREAD * n_threads // n_spans), -(-self.products // GROUP_BYTES))
