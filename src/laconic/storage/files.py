"""Single files that appear under their names when they are complete."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from laconic.locking import take_lock, try_lock


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A place to write to, beside a file; it takes the file's name when the block ends without an error.

    Parameters
    ----------
    path : Path
        A file that is there is replaced. What earlier writers of it left behind, because they were killed, is
        removed.

    Yields
    ------
    Path
        Of an empty file; `sync` it before it is closed.
    """
    stem = f".{path.stem[:50]}-"
    _sweep(path.parent, stem)
    with naming(path):
        temporary, descriptor = _made(path, stem)
        try:
            yield temporary
            temporary.replace(path)
        finally:
            os.close(descriptor)
            temporary.unlink(missing_ok=True)


def _made(path: Path, stem: str) -> tuple[Path, int]:
    """An empty file beside another one, open and locked."""
    while True:
        temporary = path.with_name(f"{stem}{secrets.token_hex(8)}.tmp")
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        # As long as this process lives, nobody takes the file for one that was left behind.
        take_lock(descriptor)
        # But until it was locked, another writer could, and has removed it then.
        if temporary.exists():
            return temporary, descriptor
        os.close(descriptor)


def _sweep(folder: Path, stem: str) -> None:
    """Remove what writers that no longer live left behind."""
    left = re.compile(re.escape(stem) + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):
        for file in [one for one in folder.iterdir() if left.fullmatch(one.name)]:
            descriptor = os.open(file, os.O_RDWR)
            try:
                if try_lock(descriptor):
                    file.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error of the system, such as a full disk, say of what it is: writing alone does not know."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror or os.strerror(error.errno), str(path)) from error


def sync(file: IO[Any]) -> None:
    """Put a file on the disk before its name: a crash must not leave an empty one in place of the old."""
    file.flush()
    os.fsync(file.fileno())
