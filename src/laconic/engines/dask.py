"""The engine of many machines: the same functions as those of threads, as tasks of a Dask cluster.

Shards are files that every worker opens by their paths. The weights of an iteration are files, too, written
once beside them. So whatever a worker holds can be found again when it is lost, and no task depends on
anything older than the verb that it is part of.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import count, islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

from numpy.typing import NDArray

from laconic.engines.blocks import Block
from laconic.engines.cluster import Cluster
from laconic.engines.dividing import Sizes, dealt, spread
from laconic.engines.messages import Resident, packed, sending
from laconic.engines.placed import KnownWeights, PlacedShard, place_shard
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
    place_stored,
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
        self.folder, self.least = folder, LEAST if least is None else least
        self._folder: Path | None = None
        self._begin()

    def _begin(self) -> None:
        self._placed: WeakKeyDictionary[Shard, _Placed] = WeakKeyDictionary()
        self._files: dict[tuple[int, ...], tuple[Any, PlacedShard]] = {}
        self._collections: dict[int, Resident] = {}
        self._groups: _Groups | None = None
        self._known_by: dict[str | None, Resident] = {}
        self._versions = count()

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="laconic-", dir=self.folder)).absolute()
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
        tasks = self._tasks(shards, function, None)

        def submit(numbers: Sequence[int]) -> list[Future]:
            homes = self._homes(shards)
            return [
                self._at(homes[number], "shard", on_shard, (tasks[number],), sent()) for number in numbers
            ]

        with self._sending(message) as sent:
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
        if len(blocks) == 0:
            return
        parts, slots = self._parts(shards), self.cluster.slots()
        n_threads = max(1, len(slots))
        sizes = Sizes.of(shards, parts)
        spans = sizes.spans(len(parts), n_threads)
        groups = self._grouped(blocks, sizes.n_groups(len(spans), n_threads))
        loads = [sum(shard.nnz for shard in shards[span]) for span in spans for _ in groups]
        spread_out, n_groups = spread(loads, slots), len(groups)
        homes = [dealt(spread_out[first : first + n_groups]) for first in range(0, len(loads), n_groups)]
        given = [TermTask(parts[span], products) for span in spans]
        solving = SolveTask(solve, shards.n_classes)

        def one(number: int) -> Future:
            group, own = groups[number], [of_span[number] for of_span in homes]
            if len(spans) == 1:
                return self._at(own[0], "solve", solve_here, (given[0], solving), group(own[0]), sent())
            sums = [
                self._at(home, "products", term_products, (span,), group(home), sent())
                for span, home in zip(given, own, strict=True)
            ]
            sums = self._fewer(sums, add_products, FAN_IN)
            return self._submit("solve", solve_blocks, (solving,), group(), sent(), *sums)

        with self._sending(message) as sent:
            found = list(self.cluster.results(n_groups, lambda numbers: [one(number) for number in numbers]))
        by_group = [iter(each) for each in found]
        for number in range(len(blocks)):
            yield next(by_group[number % n_groups])

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
        while some := list(islice(waiting, AHEAD * max(1, len(self.cluster.slots())))):
            tasks = [(function, item) for item in some]
            yield from self.cluster.results(len(tasks), partial(self._submit_items, tasks, sent))

    def _submit_items(
        self, tasks: Sequence[tuple[Any, Any]], sent: Resident, numbers: Sequence[int]
    ) -> list[Future]:
        return [self._submit("item", on_item, tasks[number], sent()) for number in numbers]

    def _sums(self, shards: Shards, function: Any, message: Any, rows: Any) -> list[Any]:
        """Shares of all shards, added up by class where they are."""
        tasks = self._tasks(shards, function, rows)

        def submit(_: Sequence[int]) -> list[Future]:
            sums = [
                self._at(home, "share", share_of_shard, (task,), sent())
                for task, home in zip(tasks, self._homes(shards), strict=True)
            ]
            return self._fewer(sums, add_shares, 1)

        with self._sending(message) as sent:
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
        self,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        *results: Future,
        worker: str | None = None,
    ) -> Future:
        return self.cluster.submit(name, run, Task(function, given, own_versions()), *results, worker=worker)

    def _at(
        self,
        home: str | None,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        *results: Future,
    ) -> Future:
        """Submit a task for a worker that knows weights of the time before."""
        known = self._known_by.get(home)
        if known is None:
            # a task, so that what a worker keeps in memory goes with the fit; one for each worker, as Dask
            # drops what is on several of them
            known = self._known_by[home] = self._resident("known", KnownWeights())
        return self._submit(name, function, given, known(home), *results, worker=home)

    def _sending(self, message: Any) -> AbstractContextManager[Resident]:
        return sending(self.cluster, message, f"{self._folder}/message.{next(self._versions)}")

    def _homes(self, shards: Shards) -> list[str | None]:
        """The worker that each shard is for, which has its weights in memory from the time before."""
        return spread([shard.nnz for shard in shards], self.cluster.slots(ask=False))

    def _resident(self, name: str, value: Any) -> Resident:
        return Resident(self.cluster, name, packed(value))

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

    def _collection(self, shard: StoredShard) -> Resident:
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

    def _grouped(self, blocks: Sequence[Any], n_groups: int) -> list[Resident]:
        """Blocks of terms in groups; kept, as most fits ask for the same ones again.

        Neighbours go to different groups: they are about as heavy, while the first may be much heavier than
        the last, so that groups of neighbours would keep workers waiting for one of them.
        """
        known = self._groups
        if known is not None and known.blocks is blocks and known.n_wanted == n_groups:
            return known.groups
        n_some = min(n_groups, len(blocks))
        groups = [self._resident("blocks", list(blocks[first::n_some])) for first in range(n_some)]
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


class _Groups(NamedTuple):
    """Groups of blocks that workers know."""

    blocks: Sequence[Any]
    n_wanted: int
    groups: list[Resident]
