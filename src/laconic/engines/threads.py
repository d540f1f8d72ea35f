"""The engine of one machine: threads, over shards in memory or mapped from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Any, TypeVar

from laconic.engines.blocks import Block
from laconic.engines.shards import Shard, Shards
from laconic.engines.sums import add, tree_sum
from laconic.engines.workers import Workers

Result = TypeVar("Result")


class Threads(Workers):
    """An `Engine` of threads; see there for its verbs.

    The products of a block of terms are added up over the shards, and solved, in one task: so they are never
    whole, and with one shard not even copied.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads. None or -1 takes every core this process may use; -2 all but one.
    """

    remote = False
    folder: Any = None

    def far(self, n_entries: int) -> bool:
        """No documents are elsewhere."""
        return False

    def documents(
        self,
        shards: Shards,
        function: Callable[[Shard, Block, Any], Any],
        message: Any,
        rows: Callable[[Shard], Sequence[Block]],
    ) -> list[Any]:
        """The sum of the shares of every class."""
        tasks = [(number, block) for number, shard in enumerate(shards) for block in rows(shard)]

        def work(task: tuple[int, Block]) -> tuple[int, Any]:
            return task[0], function(shards[task[0]], task[1], message)

        by_shard: list[Any] = [None] * len(shards)
        for number, shares in groupby(self.map(work, tasks), key=_first):
            by_shard[number] = reduce(add, (share for _, share in shares))
        return _by_class(shards, by_shard)

    def terms(
        self,
        shards: Shards,
        blocks: Sequence[Any],
        products: Callable[[Shard, Any, Any], Any],
        solve: Callable[[Any, Iterable[Any], Any], Result],
        message: Any,
    ) -> Iterator[Result]:
        """What `solve` makes of the products of every block, in order."""
        classes = [shards.of_class(klass) for klass in range(shards.n_classes)]

        def work(block: Any) -> Result:
            sums = (tree_sum(products(shard, block, message) for shard in members) for members in classes)
            return solve(block, sums, message)

        return self.map(work, blocks)

    def totals(self, shards: Shards, function: Callable[[Shard, Any], Any], message: Any = None) -> list[Any]:
        """The sum over the shards of every class."""
        # by class, so that each is added up as its parts come: they may be large
        ordered = sorted(shards, key=_class)
        found = zip(ordered, self.map(lambda shard: function(shard, message), ordered), strict=True)
        sums: list[Any] = [None] * shards.n_classes
        for klass, parts in groupby(found, key=lambda pair: pair[0].klass):
            sums[klass] = tree_sum(part for _, part in parts)
        return sums

    def each(self, shards: Shards, function: Callable[[Shard, Any], Result], message: Any) -> list[Result]:
        """The function's result for every shard."""
        return list(self.map(lambda shard: function(shard, message), shards))

    def sample(self, shards: Shards, documents: Any) -> Any:
        """Rows of the shards."""
        return shards.rows(documents)


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _class(shard: Shard) -> int:
    return shard.klass


def _by_class(shards: Shards, parts: Sequence[Any]) -> list[Any]:
    """Parts of the shards, added up along the tree in every class."""
    return [
        tree_sum(part for shard, part in zip(shards, parts, strict=True) if shard.klass == klass)
        for klass in range(shards.n_classes)
    ]
