"""One process at a time, where the system has such a lock."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator

if sys.platform != "win32":
    import fcntl

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], flags: int, *, waiting_for: str = "") -> Iterator[None]:
    """Hold the lock of a file or a directory, which is opened with these flags.

    The system releases the lock of a process that dies. Windows and some network file systems have no such
    lock; there nobody waits. Where it takes waiting, and it is said what for, a warning is logged.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(path, flags, 0o666)
    try:
        take_lock(descriptor, waiting_for)
        yield
    finally:
        os.close(descriptor)


def take_lock(descriptor: int, waiting_for: str = "") -> None:
    """Wait for the lock of an open file, and take it, where the system has such locks; see `locked`."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        _lock(descriptor, waiting_for)


def try_lock(descriptor: int) -> bool:
    """Take the lock of an open file if nobody has it; without such locks, nobody does."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock(descriptor: int, waiting_for: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting_for:
            logger.warning("waiting for %s", waiting_for)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
