"""The engine of many machines: the same functions as those of threads, as tasks of a Dask cluster.

Shards are files that every worker opens by their paths. The weights of an iteration are files, too, written
once beside them. So whatever a worker holds can be found again when it is lost, and no task depends on
anything older than the verb that it is part of.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from laconic.engines.blocks import Block
from laconic.engines.cluster import Cluster
from laconic.engines.placed import KNOWN, KnownWeights, PlacedShard, place_shard
from laconic.engines.shards import Shard, Shards, keep_weights, release, restore_weights, written_by
from laconic.engines.stored import StoredShard
from laconic.engines.sums import whole_tree
from laconic.engines.tasks import (
    Done,
    Part,
    PlaceTask,
    ShardTask,
    SolveTask,
    Task,
    TermTask,
    add_products,
    add_shares,
    on_item,
    on_shard,
    own_versions,
    packed,
    place_stored,
    receive,
    run,
    share_of_shard,
    solve_blocks,
    solve_here,
    term_products,
)
from laconic.engines.threads import Threads
from laconic.engines.workers import AHEAD

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")

LEAST = 1 << 20
"""Documents with fewer entries together, such as samples, are not worth a journey: threads here do them."""
GROUP_BYTES = 1 << 28
"""What the products of a group of blocks of terms take, at most: for each group, all weights are read."""
TASKS_PER_THREAD = 3
"""So many tasks for every thread of the cluster keep all of them busy to the end."""
MOVING = 8
"""So many bytes are read from a file in the time that one byte of products takes to be moved and added up."""
FAN_IN = 8
"""So many sums are added up by one task."""


class DaskEngine(Threads):
    """An `Engine` of the workers of a Dask cluster; see there for its verbs.

    Parameters
    ----------
    client : distributed.Client
        Connected to the cluster. Its workers have the same version of laconic, numpy and scipy as this
        process.
    folder : path-like, optional
        A folder that all workers see, with room for the documents and their weights; by default the one for
        temporary files, which is right if all workers are on this machine.
    n_jobs : int, optional
        Threads of this process, for the coordinator's own work; by default one for every core.
    least : int, optional
        Documents with fewer entries together are not sent to workers: samples, for example, from which a fit
        finds its start.

    Examples
    --------
    >>> from distributed import Client
    >>> from laconic import RLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     model = RLSI(2, random_state=0).fit(X, engine=DaskEngine(client, least=0))
    >>> model.n_alive_
    2
    """

    remote = True

    def __init__(
        self,
        client: Client,
        folder: Any = None,
        *,
        n_jobs: int | None = None,
        least: int | None = None,
    ) -> None:
        super().__init__(n_jobs)
        self.cluster = Cluster(client)
        self.parent, self.least = folder, LEAST if least is None else least
        self._folder: Path | None = None
        self._begin()

    def _begin(self) -> None:
        self._placed: WeakKeyDictionary[Shard, _Placed] = WeakKeyDictionary()
        self._files: dict[tuple[int, ...], tuple[Any, PlacedShard]] = {}
        self._collections: dict[int, _Resident] = {}
        self._groups: _Groups | None = None
        # a task, so that what workers keep in memory goes with the fit
        self._known = self._resident("known", KnownWeights())
        self._versions = count()

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="laconic-", dir=self.parent)).absolute()
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._begin()

    def documents(
        self,
        shards: Shards,
        function: Callable[[Shard, Block, Any], Any],
        message: Any,
        rows: Callable[[Shard], Sequence[Block]],
    ) -> list[Any]:
        """The sum of the shares of every class."""
        if self._near(shards):
            return super().documents(shards, function, message, rows)
        return self._sums(shards, function, message, rows)

    def totals(self, shards: Shards, function: Callable[[Shard, Any], Any], message: Any = None) -> list[Any]:
        """The sum over the shards of every class."""
        if self._near(shards):
            return super().totals(shards, function, message)
        return self._sums(shards, function, message, None)

    def each(self, shards: Shards, function: Callable[[Shard, Any], Result], message: Any) -> list[Result]:
        """The function's result for every shard."""
        if self._near(shards):
            return super().each(shards, function, message)
        if function in (keep_weights, restore_weights, release):
            return [self._move(shard, function) for shard in shards]
        tasks, sent = self._tasks(shards, function, None), self._resident("message", message)

        def submit(numbers: Sequence[int]) -> list[Future]:
            return [
                self._submit("shard", on_shard, (tasks[number],), self._known(), sent()) for number in numbers
            ]

        found: list[Done] = list(self.cluster.results(len(tasks), submit))
        self._take(shards, tasks, [each.names for each in found])
        return [each.share for each in found]

    def terms(
        self,
        shards: Shards,
        blocks: Sequence[Any],
        products: Callable[[Shard, Any, Any], Any],
        solve: Callable[[Any, Iterable[Any], Any], Result],
        message: Any,
    ) -> Iterator[Result]:
        """What `solve` makes of the products of every block, in order."""
        if self._near(shards):
            return super().terms(shards, blocks, products, solve, message)
        return self._terms(shards, blocks, products, solve, message)

    def _terms(
        self, shards: Shards, blocks: Sequence[Any], products: Any, solve: Any, message: Any
    ) -> Iterator[Any]:
        parts, sent = self._parts(shards), self._resident("message", message)
        n_threads = max(1, self.cluster.n_threads)
        sizes = _Sizes.of(shards, parts)
        spans = [TermTask(parts[span], products) for span in sizes.spans(len(parts), n_threads)]
        groups = self._grouped(blocks, sizes.n_groups(len(spans), n_threads))
        solving = SolveTask(solve, shards.n_classes)

        def one(group: Callable[[], Future]) -> Future:
            if len(spans) == 1:
                return self._submit("solve", solve_here, (spans[0], solving), self._known(), group(), sent())
            sums = [
                self._submit("products", term_products, (span,), self._known(), group(), sent())
                for span in spans
            ]
            sums = self._fewer(sums, add_products, FAN_IN)
            return self._submit("solve", solve_blocks, (solving,), group(), sent(), *sums)

        for found in self.cluster.results(
            len(groups), lambda numbers: [one(groups[number]) for number in numbers]
        ):
            yield from found

    def flow(
        self, function: Callable[[Any, Item], Result], message: Any, items: Iterable[Item]
    ) -> Iterator[Result]:
        """What a function makes of items that come one after the other, such as documents that are read.

        Parameters
        ----------
        function : callable
            Of module level; called with the message and an item.
        message : object
            What all of them need.
        items : iterable
            Some are read ahead, not all.
        """
        sent, waiting = self._resident("message", message), iter(items)
        while some := list(islice(waiting, AHEAD * max(1, self.cluster.n_threads))):
            tasks = [(function, item) for item in some]
            yield from self.cluster.results(len(tasks), partial(self._submit_items, tasks, sent))

    def _submit_items(
        self, tasks: Sequence[tuple[Any, Any]], sent: _Resident, numbers: Sequence[int]
    ) -> list[Future]:
        return [self._submit("item", on_item, tasks[number], sent()) for number in numbers]

    def _sums(self, shards: Shards, function: Any, message: Any, rows: Any) -> list[Any]:
        """Shares of all shards, added up by class where they are."""
        tasks, sent = self._tasks(shards, function, rows), self._resident("message", message)

        def submit(_: Sequence[int]) -> list[Future]:
            sums = [self._submit("share", share_of_shard, (task,), self._known(), sent()) for task in tasks]
            return self._fewer(sums, add_shares, 1)

        (sums,) = self.cluster.results(1, submit)
        self._take(shards, tasks, [written_by(function)] * len(tasks))
        return [whole_tree(sums.get(klass, [])) for klass in range(shards.n_classes)]

    def _fewer(self, sums: list[Future], add: Callable[..., Any], most: int) -> list[Future]:
        """Sums of neighbours in place of them, until there are at most so many."""
        while len(sums) > most:
            sums = [
                self._submit("sum", add, (), *sums[first : first + FAN_IN])
                for first in range(0, len(sums), FAN_IN)
            ]
        return sums

    def _submit(
        self, name: str, function: Callable[..., Any], given: tuple[Any, ...], *results: Future
    ) -> Future:
        return self.cluster.submit(name, run, Task(function, given, own_versions()), *results)

    def _resident(self, name: str, value: Any) -> _Resident:
        return _Resident(self.cluster, name, packed(value))

    def _near(self, shards: Shards) -> bool:
        """Whether documents are few, so that threads of this process do the work."""
        if self._folder is None:
            raise RuntimeError("a DaskEngine works inside of `with` only, or given to `fit`")
        return not self.far(shards.nnz)

    def far(self, n_entries: int) -> bool:
        """Whether so many entries are worth a journey."""
        return n_entries >= self.least

    def _parts(self, shards: Shards) -> list[Part]:
        """The shards as tasks find them; those that are seen for the first time are written to the folder."""
        new = [shard for shard in shards if shard not in self._placed]
        # the same documents may come again, as those of another class
        unknown = list({_origin(shard): shard for shard in new if _origin(shard) not in self._files}.values())
        here = [shard for shard in unknown if not isinstance(shard, StoredShard)]
        there = [shard for shard in unknown if isinstance(shard, StoredShard)]
        for shards_of, places in ((here, self.map(self._write, here)), (there, self._written(there))):
            for shard, place in zip(shards_of, places, strict=True):
                # what it is made of is kept, as its identity tells it from others
                kept = (shard.collection, shard.documents) if isinstance(shard, StoredShard) else shard.X
                self._files[_origin(shard)] = kept, place
        for shard in new:
            place = self._files[_origin(shard)][1]
            self._placed[shard] = _Placed(place._replace(klass=shard.klass), {})
        numbers = [count() for _ in range(shards.n_classes)]
        found = []
        for shard in shards:
            placed = self._placed[shard]
            found.append(Part(placed.place, next(numbers[shard.klass]), dict(placed.state)))
        return found

    def _write(self, shard: Shard) -> PlacedShard:
        """Write documents of this process to the folder."""
        assert self._folder is not None
        return place_shard(shard, self._folder, f"shard{next(self._versions)}")

    def _written(self, shards: Sequence[StoredShard]) -> Iterator[PlacedShard]:
        """Have workers load documents, and write them to the folder."""
        tasks = [
            PlaceTask(_numbers(shard.documents), str(self._folder), f"shard{next(self._versions)}")
            for shard in shards
        ]

        def submit(numbers: Sequence[int]) -> list[Future]:
            return [
                self._submit("place", place_stored, (tasks[number],), self._collection(shards[number])())
                for number in numbers
            ]

        return self.cluster.results(len(tasks), submit)

    def _collection(self, shard: StoredShard) -> _Resident:
        """Where the documents of a shard are, for workers."""
        known = self._collections.get(id(shard.collection))
        if known is None:
            known = self._resident("collection", shard.collection)
            self._collections[id(shard.collection)] = known
        return known

    def _tasks(self, shards: Shards, function: Any, rows: Any) -> list[ShardTask]:
        version = next(self._versions)

        def written(shard: int) -> dict[str, str]:
            names = written_by(function)
            return {name: f"{self._folder}/{name}.{version}.{shard}.npy" for name in names}

        parts = self._parts(shards)
        return [ShardTask(part, function, rows, written(shard)) for shard, part in enumerate(parts)]

    def _take(self, shards: Shards, tasks: Sequence[ShardTask], names: Sequence[tuple[str, ...]]) -> None:
        """What tasks have written takes the place of what was there."""
        for shard, task, own in zip(shards, tasks, names, strict=True):
            self._placed[shard].become(task.part.state | {name: task.written[name] for name in own})

    def _move(self, shard: Shard, function: Any) -> Any:
        """What is only another name for a file, or the end of it."""
        placed = self._placed[shard]
        state = dict(placed.state)
        if function is release:
            state = {}
        elif function is keep_weights:
            state["kept"] = state["weights"]
        else:
            state["weights"] = state["kept"]
        placed.become(state)

    def _grouped(self, blocks: Sequence[Any], n_groups: int) -> list[_Resident]:
        """Blocks of terms in groups; kept, as most fits ask for the same ones again."""
        known = self._groups
        if known is not None and known.blocks is blocks and known.n_wanted == n_groups:
            return known.groups
        ends = np.linspace(0, len(blocks), min(n_groups, len(blocks)) + 1).astype(int)
        groups = [self._resident("blocks", list(blocks[begin:end])) for begin, end in pairwise(ends)]
        self._groups = _Groups(blocks, n_groups, groups)
        return groups


def _origin(shard: Shard) -> tuple[int, ...]:
    """What tells the documents of a shard from those of others."""
    if isinstance(shard, StoredShard):
        return id(shard.collection), id(shard.documents)
    return (id(shard.X),)


def _numbers(documents: NDArray[Any]) -> NDArray[Any] | range:
    """Numbers of documents; those of neighbours take no room."""
    first, last = int(documents[0]), int(documents[-1]) + 1
    return range(first, last) if last - first == len(documents) else documents


class _Placed:
    """Where a shard is, and the files of its weights."""

    def __init__(self, place: PlacedShard, state: dict[str, str]) -> None:
        self.place, self.state = place, state

    def become(self, state: dict[str, str]) -> None:
        """Take another state; files that are not in it are not needed any more."""
        for path in set(self.state.values()) - set(state.values()):
            Path(path).unlink(missing_ok=True)
        self.state = state


class _Resident:
    """What many tasks need, as a task itself: it reaches each worker once, and is made again if lost."""

    def __init__(self, cluster: Cluster, name: str, content: bytes) -> None:
        self._cluster, self._name, self._content = cluster, name, content
        self._future: Future | None = None

    def __call__(self) -> Future:
        if self._future is None or self._future.status not in ("pending", "finished"):
            self._future = self._cluster.submit(self._name, receive, self._content)
            self._cluster.n_sent += len(self._content)
        return self._future


class _Groups(NamedTuple):
    """Groups of blocks that workers know."""

    blocks: Sequence[Any]
    n_wanted: int
    groups: list[_Resident]


class _Sizes(NamedTuple):
    """What the products of all terms and the weights of all documents take in bytes, at most."""

    products: int
    weights: int

    @classmethod
    def of(cls, shards: Shards, parts: Sequence[Part]) -> Self:
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
