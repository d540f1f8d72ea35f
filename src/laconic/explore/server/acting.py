"""Changes from the page: small ones at once, refits in the background, each kept as a new version."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from laconic.bundle.history import StaleError, undo
from laconic.bundle.pending import forget_pending, keep_asked, keep_found, pending
from laconic.errors import InputError
from laconic.explore.server.changes import Change
from laconic.explore.server.state import Explored, Seen
from laconic.explore.views.differences import difference
from laconic.explore.views.shapes import Difference
from laconic.steering.refitting import found_before, refitted

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.losses.loop import Callback, Progress

STALE = "The model was changed in the meantime, in another tab or by somebody else: reload the page."
OVERTAKEN = "The model was changed after this refit had begun, so the refit can only be discarded."
BUSY = "A refit is running, or waiting to be accepted or discarded on the page Edits."


class ConflictError(InputError):
    """It cannot be done now: the page is out of date, or something else is going on."""


@dataclass(frozen=True)
class Edit:
    """A change that was made: what, to which version, and whether it can be taken back."""

    what: str
    parent: str
    kept: bool


@dataclass(frozen=True)
class JobView:
    """A refit: how far it is, and what it would change.

    `state` is "none", "running", "ready" (to be accepted or discarded) or "failed".
    """

    state: str
    what: str = ""
    iteration: int = 0
    most: int = 0
    seconds: float = 0.0
    message: str = ""
    difference: Difference | None = None


class _Job:
    """A refit in a thread of its own.

    Parameters
    ----------
    seen : Seen
        What is changed.
    what : str
        What is done to it, in words.
    find : callable
        Finds the bundle, given what watches the fit.
    keep : callable, optional
        Called when it has ended, whatever has become of it.
    """

    def __init__(
        self,
        seen: Seen,
        what: str,
        find: Callable[[Callback], Bundle],
        keep: Callable[[_Job], None] = lambda job: None,
    ) -> None:
        self.seen, self.what = seen, what
        self.began = time.monotonic()
        self.seconds = 0.0
        self.stopped = threading.Event()
        self.progress: Progress | None = None
        self.found: Bundle | None = None
        self.difference: Difference | None = None
        self.message = ""
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(find, keep), daemon=True, name="refit")
        self.thread.start()

    def _run(self, find: Callable[[Callback], Bundle], keep: Callable[[_Job], None]) -> None:
        try:
            with warnings.catch_warnings():
                # Whether it has converged is not what is asked here: it is seen what it has become.
                warnings.simplefilter("ignore")
                found = find(self._watch)
                if not self.stopped.is_set():
                    self.difference = difference(self.seen.bundle, found)
                    self.found = found
        except InputError as error:
            self.message = str(error)
        except Exception as error:
            self.message = f"the refit failed: {type(error).__name__}: {error}"
        try:
            keep(self)
        except (InputError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self.message = f"It could not be kept on disk ({why}): accept it before the server stops."
        finally:
            self.seconds = time.monotonic() - self.began
            self.done.set()

    def _watch(self, report: Progress) -> bool:
        self.progress = report
        return self.stopped.is_set()

    def view(self) -> JobView:
        """How far it is."""
        state = "running" if not self.done.is_set() else "ready" if self.found is not None else "failed"
        return JobView(
            state=state,
            what=self.what,
            iteration=0 if self.progress is None else self.progress.iteration,
            most=0 if self.progress is None else self.progress.max_iter,
            seconds=self.seconds or time.monotonic() - self.began,
            message=self.message,
            difference=self.difference,
        )


class Workshop:
    """Where a model is changed: one refit at a time, and the model stays as it is until it is accepted.

    A refit is kept in the model's directory from the moment it is asked for, so that it is found again when
    the server has crashed.

    Parameters
    ----------
    explored : Explored
    """

    def __init__(self, explored: Explored) -> None:
        self.explored = explored
        self._lock = threading.Lock()
        self._job: _Job | None = None

    def resume(self) -> None:
        """Take up the refit that an earlier server has left: begin it again, or show what it had found."""
        path, seen = self.explored.path, self.explored.now()
        with self._lock:
            try:
                left = pending(path)
            except InputError as error:
                damage = error
                self._job = _Job(seen, "a refit that cannot be read", lambda watch: _raised(damage))
                return
            if left is None:
                return
            if left.found is not None and left.found.history.log[-1:] == seen.bundle.history.log[-1:]:
                # It was accepted, and the server ended before it could forget it.
                forget_pending(path)
            elif left.parent != seen.version:
                self._job = _Job(seen, left.what, lambda watch: _raised(ConflictError(OVERTAKEN)))
            elif left.found is not None:
                self._job = _Job(seen, left.what, lambda watch: found_before(seen.bundle, left))
            else:
                self._begin(seen, left.what, lambda: Change.restored(left.asked))

    def log(self) -> list[Edit]:
        """The changes so far, the oldest first."""
        history = self.explored.now().bundle.history
        kept = {one.version for one in history.kept}
        return [Edit(" + ".join(entry.did), entry.parent, entry.parent in kept) for entry in history.log]

    def job(self) -> JobView:
        """The refit that is going on, or waits for a decision."""
        with self._lock:
            return JobView("none") if self._job is None else self._job.view()

    def change(self, change: Change, version: str) -> str:
        """Make a small change at once, or begin a refit.

        Parameters
        ----------
        change : Change
        version : str
            That the page was made of.

        Returns
        -------
        str
            The version that the model has now.
        """
        with self._lock:
            seen = self._seen(version)
            self._check_idle()
            if change.at_once:
                return self._save(refitted(change.drafted(seen.bundle)), seen.version, STALE)
            keep_asked(self.explored.path, str(change), change.stored(), seen.version)
            self._begin(seen, str(change), lambda: change)
            return seen.version

    def accept(self) -> str:
        """Save what the refit has found; tells the new version."""
        with self._lock:
            job = self._job
            if job is None or job.found is None:
                raise ConflictError("There is nothing to accept.")
            version = self._save(job.found, job.seen.version, OVERTAKEN)
            forget_pending(self.explored.path)
            self._job = None
            return version

    def discard(self) -> None:
        """Forget the refit; one that is going on ends with its iteration."""
        with self._lock:
            if self._job is not None:
                self._job.stopped.set()
                forget_pending(self.explored.path)
            self._job = None

    def undo(self, version: str) -> str:
        """Take the last change back; tells the version that is there again."""
        with self._lock:
            self._check_idle()
            try:
                return undo(self.explored.path, parent=self._seen(version).version)
            except StaleError as error:
                raise ConflictError(STALE) from error

    def _seen(self, version: str) -> Seen:
        seen = self.explored.now()
        if seen.version != version:
            raise ConflictError(STALE)
        return seen

    def _save(self, bundle: Bundle, parent: str, stale: str) -> str:
        try:
            bundle.save(self.explored.path, parent=parent)
        except StaleError as error:
            raise ConflictError(stale) from error
        return self.explored.now().version

    def _check_idle(self) -> None:
        """Refuse to change a model under its refit, which could not be accepted any more."""
        if self._job is not None and not (self._job.done.is_set() and self._job.found is None):
            raise ConflictError(BUSY)

    def _begin(self, seen: Seen, what: str, asked: Callable[[], Change]) -> None:
        def find(watch: Callback) -> Bundle:
            return refitted(asked().drafted(seen.bundle), callback=watch)

        self._job = _Job(seen, what, find, self._keep)

    def _keep(self, job: _Job) -> None:
        """Write what a refit has found to the disk, if nobody has discarded it; forget one that failed."""
        with self._lock:
            if job is not self._job:
                return
            if job.found is None:
                forget_pending(self.explored.path)
            else:
                keep_found(self.explored.path, job.found)


def _raised(error: InputError) -> Bundle:
    raise error
