"""What runs on a worker of a cluster: pure functions of paths, functions and messages.

A task may run twice, or again on another worker: it reads files that never change, and writes files that are
the same whoever writes them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.engines.messages import Message
from laconic.engines.placed import KnownWeights, PlacedShard, place_shard, write_array
from laconic.engines.shards import Shard
from laconic.engines.stored import Collection
from laconic.engines.sums import Branch, add, grown, whole_tree
from laconic.engines.threads import Threads
from laconic.errors import InputError
from laconic.storage.writing import versions

Sums = dict[int, list[Branch]]
"""Sums over shards, by class, as far as they have grown together."""


class Part(NamedTuple):
    """A shard as a task finds it: where it is, its number within its class, and the files of its weights."""

    place: PlacedShard
    number: int
    state: dict[str, str]

    def open(self, known: KnownWeights, *, writable: bool = False) -> Shard:
        """The shard."""
        return self.place.open(self.state, known, writable=writable)


class PlaceTask(NamedTuple):
    """Documents of a collection that are to be written to a folder as a shard."""

    documents: NDArray[Any] | range
    folder: str
    name: str


class ShardTask(NamedTuple):
    """A function for one shard, and the files for what it writes."""

    part: Part
    function: Callable[..., Any]
    rows: Callable[[Shard], Sequence[Any]] | None
    """The blocks of rows that the function takes; None if it takes the shard."""
    written: dict[str, str]


class TermTask(NamedTuple):
    """Products of some shards, for a group of blocks of terms."""

    parts: list[Part]
    products: Callable[[Shard, Any, Any], Any]


class SolveTask(NamedTuple):
    """What to make of the sums of products."""

    solve: Callable[[Any, Iterable[Any], Any], Any]
    n_classes: int


@cache
def own_versions() -> dict[str, str]:
    """What decides how numbers are rounded here."""
    return versions()


@dataclass(frozen=True)
class Task:
    """A function to be called with what it has to do, and with the results of other tasks.

    No tuple: Dask would look for results of tasks inside.
    """

    function: Callable[..., Any]
    given: tuple[Any, ...]
    versions: dict[str, str]
    """What decides how numbers are rounded where the results go."""


def run(task: Task, *results: Any) -> Any:
    """Do a task, unless numbers might be rounded otherwise here."""
    for name, version in own_versions().items():
        if name != "python" and task.versions[name] != version:
            raise InputError(
                f"a worker has {name} {version}, and the process that fits has {task.versions[name]}: their "
                "results would differ; install the same versions everywhere"
            )
    opened = (each.open() if isinstance(each, Message) else each for each in results)
    return task.function(*task.given, *opened)


def place_stored(task: PlaceTask, collection: Collection) -> PlacedShard:
    """Load documents, and write them to the folder of the fit."""
    documents = np.asarray(task.documents, np.int64)
    with Threads(1):
        return place_shard(Shard(collection.load(documents), documents), Path(task.folder), task.name)


class Done(NamedTuple):
    """What a function has found for a shard, and which of its arrays were written."""

    share: Any
    names: tuple[str, ...]


def on_shard(task: ShardTask, known: KnownWeights, message: Any) -> Done:
    """What a function finds for a shard."""
    with Threads(1):
        shard = task.part.open(known, writable=bool(task.written))
        if task.rows is None:
            share = task.function(shard, message)
        else:
            blocks = task.rows(shard)
            share = reduce(add, (task.function(shard, block, message) for block in blocks), None)
        # what was not even looked at is as it was
        written = {name: array for name in task.written if (array := vars(shard).get(name)) is not None}
        for name, array in written.items():
            write_array(array, Path(task.written[name]))
        if "weights" in written:
            known.put(task.part.place, task.written["weights"], written["weights"])
        elif isinstance(share, np.ndarray) and np.may_share_memory(share, shard.weights):
            # those that are known are written into by a task that comes later
            share = share.copy()
    return Done(share, tuple(written))


def on_item(function: Callable[[Any, Any], Any], item: Any, message: Any) -> Any:
    """What a function makes of something that came with the task."""
    with Threads(1):
        return function(message, item)


def share_of_shard(task: ShardTask, known: KnownWeights, message: Any) -> Sums:
    """The same, as a share of the sum over all shards of its class."""
    return {task.part.place.klass: [Branch(task.part.number, 0, on_shard(task, known, message).share)]}


def add_shares(*parts: Sums) -> Sums:
    """Add up shares of shards that follow each other."""
    found: Sums = {}
    for part in parts:
        for klass, branches in part.items():
            found.setdefault(klass, []).extend(branches)
    return {klass: grown(branches) for klass, branches in found.items()}


def term_products(task: TermTask, known: KnownWeights, blocks: Sequence[Any], message: Any) -> list[Sums]:
    """The products of some shards for every block of terms, added up as far as these shards go.

    Shard by shard, so that the weights of one are in memory at a time.
    """
    found: list[Sums] = [{} for _ in blocks]
    with Threads(1):
        for part in task.parts:
            shard = part.open(known)
            for block, sums in zip(blocks, found, strict=True):
                branch = Branch(part.number, 0, task.products(shard, block, message))
                sums[shard.klass] = grown([*sums.get(shard.klass, []), branch])
    return found


def add_products(*parts: list[Sums]) -> list[Sums]:
    """Add up products of shards that follow each other, block by block."""
    return [add_shares(*sums) for sums in zip(*parts, strict=True)]


def solve_blocks(task: SolveTask, blocks: Sequence[Any], message: Any, *parts: list[Sums]) -> list[Any]:
    """What the sums of products make of a group of blocks."""
    with Threads(1):
        return [
            task.solve(block, _by_class(task, sums), message)
            for block, sums in zip(blocks, zip(*parts, strict=True), strict=True)
        ]


def _by_class(task: SolveTask, parts: Sequence[Sums]) -> Iterable[Any]:
    """The sum of every class, in their order, for a solver to use up."""
    given = {id(branch.total) for part in parts for branches in part.values() for branch in branches}
    sums = add_shares(*parts)
    for klass in range(task.n_classes):
        total = whole_tree(sums.get(klass, []))
        # what other tasks have made must stay as it is: this one may run again
        yield copy.deepcopy(total) if id(total) in given else total


def solve_here(
    products: TermTask, solve: SolveTask, known: KnownWeights, blocks: Sequence[Any], message: Any
) -> list[Any]:
    """Products of all shards, and what they make of a group of blocks."""
    found = term_products(products, known, blocks, message)
    classes = range(solve.n_classes)
    with Threads(1):
        return [
            solve.solve(block, (whole_tree(sums.get(klass, [])) for klass in classes), message)
            for block, sums in zip(blocks, found, strict=True)
        ]
