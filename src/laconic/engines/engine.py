"""What a fit asks of whoever runs it: a few verbs over shards, functions and messages.

Functions are pure, picklable and of module level; messages are small and explicit. Whatever an engine does
with them, it adds up shares and products along one binary tree over the shards of a class, so that the answer
has the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from laconic.engines.blocks import Block
from laconic.engines.shards import Shard, Shards

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Who runs the functions of a fit. A context manager: what it holds is let go at the end."""

    remote: bool
    """Whether shards may be elsewhere, so that what couples documents with each other cannot be fitted."""

    folder: Any
    """Where documents are handed over to other processes; None stands for the folder of temporary files."""

    def far(self, n_entries: int) -> bool:
        """Whether documents with so many entries together are worked on in other processes."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def documents(
        self,
        shards: Shards,
        function: Callable[[Shard, Block, Any], Any],
        message: Any,
        rows: Callable[[Shard], Sequence[Block]],
    ) -> list[Any]:
        """The document map: ``function(shard, block, message)`` for the blocks of rows of every shard.

        Returns the sum of the shares of every class: blocks in their order within a shard, shards along the
        tree.
        """

    def terms(
        self,
        shards: Shards,
        blocks: Sequence[Any],
        products: Callable[[Shard, Any, Any], Any],
        solve: Callable[[Any, Iterable[Any], Any], Result],
        message: Any,
    ) -> Iterator[Result]:
        """The term map: for each block of terms, ``solve(block, sums, message)``, in the blocks' order.

        The sums are those of ``products(shard, block, message)`` over the shards of each class, in the order
        of the classes, to be taken one after the other.
        """

    def totals(self, shards: Shards, function: Callable[[Shard, Any], Any], message: Any = None) -> list[Any]:
        """The sum of ``function(shard, message)`` over the shards of every class."""

    def each(self, shards: Shards, function: Callable[[Shard, Any], Result], message: Any) -> list[Result]:
        """``function(shard, message)`` for every shard, in their order."""

    def sample(self, shards: Shards, documents: Any) -> Any:
        """Some documents as a matrix, by their numbers in the collection."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The coordinator's own work, side by side: ``function(item)`` for every item, in order."""
