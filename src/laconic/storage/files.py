"""Single files that appear under their names when they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A place to write to, beside a file; it takes the file's name when the block ends without an error.

    Parameters
    ----------
    path : Path
        A file that is there is replaced.

    Yields
    ------
    Path
        Of a file that does not exist yet; `sync` it before it is closed.
    """
    temporary = path.with_name(f".{path.stem[:50]}-{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def sync(file: IO[Any]) -> None:
    """Put a file on the disk before its name: a crash must not leave an empty one in place of the old."""
    file.flush()
    os.fsync(file.fileno())
