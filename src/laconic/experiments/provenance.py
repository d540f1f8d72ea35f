"""Which code made a result, and when."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

UNKNOWN = "unknown"


@cache
def commit() -> str:
    """The commit of the code that runs, with "+" if files of the package were changed since; or "unknown".

    It is found once: what is imported does not change any more.
    """
    folder = Path(__file__).parents[1]
    # An installed package may lie inside the checkout of something else.
    if not _git(folder, "ls-files", "--", "__init__.py"):
        return UNKNOWN
    head = _git(folder, "rev-parse", "--short=8", "HEAD")
    return head + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".") else "")


def now() -> str:
    """The time in UTC, to the minute."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def _git(folder: Path, *arguments: str) -> str:
    """What git says; nothing, where there is none or where this is no checkout."""
    try:
        said = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()
