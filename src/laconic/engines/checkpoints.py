"""Checkpoints: a fit as it was after an iteration, in a directory, for another process to go on from.

What the coordinator knows is written here; what shards hold is written by the shards, each into a file of its
own, named by shard and iteration. The document that lists them all is swapped last, so a process that dies at
any moment leaves the checkpoint of before or the new one, whole.
"""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from laconic.engines.shards import Shard, writes
from laconic.errors import CheckpointError, Parameter
from laconic.storage.arrays import read_array, write_array
from laconic.storage.forms import AnyNumberOf, Form, Kinds, Named, Number, Numbers, OneOf, misfit
from laconic.storage.manifest import Json, Kind, quoted
from laconic.storage.reading import StoredDirectory, read_directory, read_file
from laconic.storage.values import decode, encode
from laconic.storage.writing import (
    WrittenFile,
    check_writable,
    remove_directory,
    replacing,
    versions,
    write_file,
)

if TYPE_CHECKING:
    from laconic.losses.loop import Course, ResumableSteps, Steps, Trace

CHECKPOINT = Kind(
    noun="checkpoint",
    manifest="checkpoint.json",
    format="laconic-checkpoint",
    version=1,
    error=CheckpointError,
)
EVERY = 60.0
"""Seconds between two checkpoints of a fit."""


class Checkpoint:
    """Where a fit is written down while it runs, to be continued if its process dies.

    Parameters
    ----------
    path : path-like
        A new or empty directory, or that of a checkpoint of the same fit.
    every : float, default=60
        Seconds between two checkpoints; one is written after the iteration that is under way.
    keep : bool, default=False
        Whether the checkpoint stays when the fit has ended, for a caller who first saves the model and then
        calls `remove`.

    Examples
    --------
    >>> import tempfile
    >>> from laconic import RLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = RLSI(2, random_state=0).fit(X, checkpoint=Checkpoint(folder, every=10))
    >>> model.n_alive_
    2
    """

    def __init__(self, path: str | os.PathLike[str], *, every: float = EVERY, keep: bool = False) -> None:
        self.path, self.every, self.keep = Path(path), float(every), keep

    @classmethod
    def of(cls, given: Checkpoint | str | os.PathLike[str]) -> Checkpoint:
        """A checkpoint, or that of a path."""
        return given if isinstance(given, Checkpoint) else cls(given)

    @property
    def exists(self) -> bool:
        """Whether there is something to go on from."""
        return (self.path / CHECKPOINT.manifest).exists()

    def open(self, identity: Mapping[str, str]) -> Pages:
        """What is written down of a fit, if anything is, checked to be of this one; and room for more.

        Parameters
        ----------
        identity : mapping of str to str
            What tells this fit from others, by the names of parameters and data.
        """
        check_writable(self.path, CHECKPOINT)
        return Pages(self, dict(identity), read_saved(self.path, identity) if self.exists else None)

    def remove(self) -> None:
        """Remove the checkpoint, and its directory if nothing else is there."""
        remove_directory(self.path, CHECKPOINT)


CheckpointLike: TypeAlias = "Checkpoint | str | os.PathLike[str]"


class Saved(NamedTuple):
    """A checkpoint as it was read: the last state of the fit, and the one before it."""

    states: list[Any]
    stored: StoredDirectory
    listed: dict[str, WrittenFile]


def read_saved(path: Path, identity: Mapping[str, str] | None = None) -> Saved:
    """Read a checkpoint; refuse one of another fit, by name, where an identity is given."""
    stored = read_directory(path, CHECKPOINT, later="")
    document = stored.document
    states = document.get("states")
    if not isinstance(states, list) or not states:
        raise stored.error("has no states")
    if identity is not None:
        _check_identity(stored, identity)
    return Saved(states, stored, {name: WrittenFile(name, *rest) for name, rest in stored.listed.items()})


class Place(NamedTuple):
    """Where a fit was that is written down."""

    model: str
    run: int
    iteration: int


def check_saved(path: Path) -> Place:
    """Check all that a checkpoint holds, of both states: checksums, shapes and types."""
    saved = read_saved(path)
    for state in saved.states:
        check_state(state, saved.stored)
        for name in state["files"]:
            saved.stored.checked(name)
        decode(state["steps"], "steps", saved.stored)
        for files in state["held"].values():
            for name in files.values():
                read_array(name, saved.stored)
    last = saved.states[0]
    return Place(str(saved.stored.object("fit").get("model")), last["run"], last["iteration"])


STATE: Form = {
    "run": Number(0, 1e6, whole=True),
    "iteration": Number(1, 1e9, whole=True),
    "half": OneOf(("documents", "topics")),
    "history": AnyNumberOf(Number()),
    "falls": AnyNumberOf(Number()),
    "traces": Kinds((list,)),
    "notes": Kinds((dict,)),
    "steps": Kinds((dict,)),
    "held": Named(Named(Kinds((str,)))),
    "files": AnyNumberOf(Kinds((str,))),
}
TRACE: Form = {"history": AnyNumberOf(Number()), "converged": Kinds((bool,))}


def check_state(state: Any, stored: StoredDirectory) -> None:
    """Refuse what no fit could have written down; what only its steps know is left to their `form`."""
    problem = misfit(state, STATE) or _inconsistency(state)
    if problem is None:
        problem = misfit([decode(one, "traces", stored) for one in state["traces"]], AnyNumberOf(TRACE))
    if problem is None:
        problem = Kinds((dict,)).problem(decode(state["notes"], "notes", stored))
    if problem is not None:
        raise stored.error(f"does not describe a state of a fit ({problem})")


def _inconsistency(state: dict[str, Any]) -> str | None:
    """What cannot be true of a state whose parts have the right form."""
    n_told = len(state["history"])
    if len(state["traces"]) != state["run"]:
        return f"run {state['run']} has {len(state['traces'])} before it"
    if n_told not in (state["iteration"] - 1, state["iteration"]):
        return f"iteration {state['iteration']} has {n_told} objectives"
    if len(state["falls"]) != max(0, n_told - 1):
        return f"{n_told} objectives have {len(state['falls'])} differences"
    return None


def _check_identity(stored: StoredDirectory, identity: Mapping[str, str]) -> None:
    written: dict[str, Any] = stored.object("versions")
    for name, version in versions().items():
        if name != "python" and written.get(name) != version:
            raise CheckpointError(
                f"{stored.path}: is a checkpoint made with {name} {written.get(name)}, but this is "
                f"{version}, which may round differently: continue with that version, or remove the "
                "directory to start again"
            )
    known: dict[str, Any] = stored.object("fit")
    # the model first: another one has other parameters, too
    for name in sorted({*known, *identity}, key=lambda name: (name != "model", name != "data", name)):
        if known.get(name) == identity.get(name):
            continue
        if name in ("data", "y", "graph"):
            problem: tuple[object, ...] = (f"of other {'data' if name == 'data' else name}",)
        elif name == "model":
            problem = (f"of another model, {known.get(name)}",)
        else:
            was, now = known.get(name, "not known"), identity.get(name, "not known")
            problem = ("of other parameters: ", Parameter(name), f" was {was}, and is {now}")
        raise CheckpointError(
            f"{stored.path}: is a checkpoint ",
            *problem,
            "; fit as before to continue, or remove the directory (or give another) to start again",
        )


class Pages:
    """The journal of a fit in a checkpoint's directory; see `laconic.losses.loop.Journal`."""

    def __init__(self, checkpoint: Checkpoint, identity: dict[str, str], saved: Saved | None) -> None:
        self._checkpoint, self._identity = checkpoint, identity
        self._run = -1
        self._traces: list[Json] = []
        self._notes: dict[str, Any] = {}
        self._saved, self._state = saved, None
        self._before: tuple[dict[str, Json], list[WrittenFile]] | None = None
        if saved is not None:
            self._state = self._readable(saved)
            self._traces = list(self._state["traces"])
            self._notes = decode(self._state["notes"], "notes", saved.stored)
        self._told = time.monotonic()

    def _readable(self, saved: Saved) -> Any:
        """The last state, or the one before it if a file of the last one is damaged."""
        for number, state in enumerate(saved.states):
            try:
                check_state(state, saved.stored)
                files = [saved.listed[saved.stored.checked(name)] for name in state["files"]]
            except CheckpointError as error:
                if number + 1 == len(saved.states):
                    raise
                warnings.warn(f"{error}; continuing from the checkpoint before it", stacklevel=2)
                continue
            self._before = state, files
            return state
        raise AssertionError

    @property
    def resumed(self) -> tuple[int, int] | None:
        """The run and the iteration that the fit goes on from; None at a beginning."""
        return None if self._state is None else (self._state["run"], self._state["iteration"])

    def begin(self, steps: Steps) -> Trace | Course | None:
        """What is known of the next run."""
        from laconic.losses.loop import Course, ResumableSteps, Trace

        self._run += 1
        state, saved = self._state, self._saved
        if state is None or saved is None or self._run > state["run"]:
            return None
        if self._run < state["run"]:
            return Trace(**decode(self._traces[self._run], "traces", saved.stored))
        if not isinstance(steps, ResumableSteps):
            raise CheckpointError(f"{saved.stored.path}: does not fit steps that cannot be taken up")
        # mapped arrays are read-only, and steps may change theirs
        known = copy.deepcopy(decode(state["steps"], "steps", saved.stored))
        problem = misfit(known, steps.form())
        if problem is not None:
            raise saved.stored.error(f"does not hold this fit (steps: {problem})")
        steps.restore(known)
        message = Taken(str(saved.stored.path.absolute()), saved.listed, state["held"], steps.held())
        steps.engine.each(steps.shards, take_held, message)
        self._state = self._saved = None
        return Course(state["iteration"], state["half"], state["history"], state["falls"])

    def due(self) -> bool:
        """Whether the last checkpoint is old enough."""
        return time.monotonic() - self._told >= self._checkpoint.every

    def note(self, name: str, find: Callable[[], Any], form: Form) -> Any:
        """A value that is found once; it is written with the next checkpoint."""
        if name not in self._notes:
            self._notes[name] = find()
        problem = misfit(self._notes[name], form)
        if problem is not None:
            raise CheckpointError(f"{self._checkpoint.path}: does not hold this fit ({name} {problem})")
        return self._notes[name]

    def end(self, trace: Trace) -> None:
        """Keep how a run ended; one that was stopped is to be gone on with."""
        if not trace.interrupted:
            self._traces.append(
                {
                    "mapping": [
                        ["history", list(trace.history)],
                        ["converged", trace.converged],
                    ]
                }
            )

    def save(self, course: Course, steps: ResumableSteps) -> None:
        """Write a checkpoint; if that is impossible, the fit goes on, and the one before stays."""
        try:
            self._save(course, steps)
        except OSError as error:
            warnings.warn(
                f"no checkpoint could be written to {self._checkpoint.path} ({error.strerror}): free some "
                "space, or check the permissions. The fit continues, and the previous checkpoint stays",
                stacklevel=2,
            )
        self._told = time.monotonic()

    def _save(self, course: Course, steps: ResumableSteps) -> None:
        with replacing(self._checkpoint.path, CHECKPOINT) as writer:
            place = f"run{self._run}.iteration{course.iteration}.{course.half}"
            message = Holding(str(self._checkpoint.path.absolute()), place, steps.held())
            written = steps.engine.each(steps.shards, write_held, message)
            for each in written:
                for file in each.files.values():
                    writer.adopt(file)
            state: dict[str, Json] = {
                "run": self._run,
                "iteration": course.iteration,
                "half": course.half,
                "history": list(course.history),
                "falls": list(course.falls),
                "traces": self._traces[: self._run],
                "notes": encode(self._notes, "notes", writer),
                "steps": encode(steps.state(), "steps", writer),
                "held": {each.shard: {name: f.name for name, f in each.files.items()} for each in written},
            }
            files = writer.files
            state["files"] = [file.name for file in files]
            states: list[Json] = [state]
            if self._before is not None:
                states.append(self._before[0])
                for file in self._before[1]:
                    writer.adopt(file, new=False)
            writer.commit({"fit": dict(self._identity), "states": states})
        self._before = state, files


class Holding(NamedTuple):
    """Where shards write what they hold: the directory, the place in the fit, and the names of arrays."""

    path: str
    place: str
    names: tuple[str, ...]


class Held(NamedTuple):
    """What a shard has written."""

    shard: str
    files: dict[str, WrittenFile]


class Taken(NamedTuple):
    """Where shards find what they held, and the names of what they need of it."""

    path: str
    listed: dict[str, WrittenFile]
    held: dict[str, dict[str, str]]
    names: tuple[str, ...]


def shard_name(shard: Shard) -> str:
    """What a shard is called in files: by its first document, which is in no other."""
    return f"shard{int(shard.documents[0])}"


def write_held(shard: Shard, message: Holding) -> Held:
    """Write arrays of a shard, once and for all, into files named by shard and iteration."""
    files = {}
    for name in message.names:
        array = np.ascontiguousarray(getattr(shard, name))
        stem = f"{name}.{shard_name(shard)}.{message.place}"
        files[name] = write_file(Path(message.path), stem, "npy", partial(write_array, array))
    return Held(shard_name(shard), files)


@writes("weights", "kept")
def take_held(shard: Shard, message: Taken) -> None:
    """Take over the arrays that a shard held."""
    for name in message.names:
        file = message.held.get(shard_name(shard), {}).get(name)
        if file is None or file not in message.listed:
            raise CheckpointError(
                f"{message.path}: has no {name} of {shard_name(shard)}; remove the directory to begin again"
            )
        stored = read_file(Path(message.path), CHECKPOINT, *message.listed[file])
        array = read_array(file, stored)
        problem = misfit(array, Numbers(shard.weights.shape, shard.X.dtype))
        if problem is not None:
            raise stored.error(f"does not hold the {name} of these documents (it {problem})", file)
        setattr(shard, name, shard.room.copy(array))


def described(value: Any) -> str:
    """What tells a value from others: itself, where it is short; else what it is, and a checksum.

    >>> described(3), described("l1"), described(None)
    ('3', "'l1'", 'None')
    >>> described(np.zeros(3))[:24]
    'array of 3 float64, sha2'
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 60 else f"{quoted(value)} sha256 {_digest(text.encode())}"
    if isinstance(value, np.ndarray):
        shape = " x ".join(map(str, value.shape))
        content = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        return f"array of {shape} {value.dtype}, sha256 {_digest(content)}"
    if issparse(value):
        whole = csr_array(value)
        parts = whole.indptr.astype(np.int64), whole.indices.astype(np.int64), whole.data
        return f"sparse array of {whole.nnz} entries, sha256 {_digest(*(part.tobytes() for part in parts))}"
    if isinstance(value, np.random.RandomState):
        return f"generator, sha256 {_digest(repr(value.get_state(legacy=False)).encode())}"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{described(key)}: {described(each)}" for key, each in value.items())
        return _short(f"{{{inner}}}")
    if isinstance(value, list | tuple | set | frozenset):
        ordered = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return _short(f"[{', '.join(map(described, ordered))}]")
    if is_dataclass(value):
        inner = ", ".join(f"{f.name}={described(getattr(value, f.name))}" for f in fields(value))
        return _short(f"{type(value).__name__}({inner})")
    raise CheckpointError(
        f"a fit with a {type(value).__name__} cannot have checkpoints, because it could not be told from "
        "another: use plain values or arrays"
    )


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:60]}..., sha256 {_digest(text.encode())}"


def _digest(*contents: bytes) -> str:
    digest = sha256()
    for content in contents:
        digest.update(content)
    return digest.hexdigest()[:32]
