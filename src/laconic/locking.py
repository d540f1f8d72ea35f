"""One process at a time, where the system has such a lock."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], flags: int) -> Iterator[None]:
    """Hold the lock of a file or a directory, which is opened with these flags.

    The system releases the lock of a process that dies. Windows and some network file systems have no such
    lock; there nobody waits.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(path, flags, 0o666)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
