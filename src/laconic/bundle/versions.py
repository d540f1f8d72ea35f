"""Versions of a saved model: what it was before each change, so that nothing is lost.

They lie in the folder ``versions`` of the model's directory, each a whole model. Files are linked, not
copied, where the system can: their names carry their hash, so they are never written again. The log,
``edits.jsonl``, has a line for each change.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from laconic.bundle.bundle import Bundle, load
from laconic.errors import BundleError
from laconic.locking import locked
from laconic.storage.files import appearing, sync

DOCUMENT, FOLDER, LOG, LOCK = "model.json", "versions", "edits.jsonl", "edits.lock"


@dataclass(frozen=True)
class Edit:
    """A change that was made: when, what, and of which version it made which."""

    time: str
    what: str
    before: str
    after: str


class StaleError(BundleError):
    """The model was changed since it was looked at."""


def version_of(path: Path) -> str:
    """What tells a version of a saved model from all others."""
    return hashlib.sha256((path / DOCUMENT).read_bytes()).hexdigest()[:16]


def edits(path: Path) -> list[Edit]:
    """The changes that a saved model has been through, the oldest first; those that were undone are not."""
    log = path / LOG
    if not log.exists():
        return []
    try:
        return [Edit(**json.loads(line)) for line in log.read_text("utf-8").splitlines() if line]
    except (TypeError, ValueError) as error:
        raise BundleError(f"{log}: is no log of edits ({error}); remove it to begin another") from error


def save_version(bundle: Bundle, path: Path, what: str, *, parent: str) -> str:
    """Save a changed bundle in place of the one it was made of, which is kept.

    Parameters
    ----------
    bundle : Bundle
    path : Path
        The directory of the model that was changed.
    what : str
        What was changed, for the log.
    parent : str
        The version that it was made of.

    Returns
    -------
    str
        The new version.

    Raises
    ------
    StaleError
        If the model is another by now.
    """
    with _alone(path):
        if version_of(path) != parent:
            raise StaleError(f"{path}: was changed by somebody else since; look at it again")
        _keep(path, parent)
        bundle.save(path)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        after = version_of(path)
        _write(path, [*edits(path), Edit(now, what, parent, after)])
    return after


def undo(path: Path, *, parent: str) -> Edit:
    """Take the last change back.

    Parameters
    ----------
    path : Path
        The directory of a model.
    parent : str
        The version that the caller has seen.

    Returns
    -------
    Edit
        The change that was taken back.
    """
    with _alone(path):
        done = edits(path)
        if version_of(path) != parent:
            raise StaleError(f"{path}: was changed by somebody else since; look at it again")
        if not done or done[-1].after != parent:
            raise BundleError(f"{path}: there is no change to take back")
        kept = path / FOLDER / done[-1].before
        if not kept.is_dir():
            raise BundleError(f"{path}: the version before, {kept}, is not there any more")
        load(kept).save(path)
        _write(path, done[:-1])
    return done[-1]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with locked(path / LOCK, os.O_RDWR | os.O_CREAT, waiting_for=f"another change of {path}"):
        yield


def _keep(path: Path, version: str) -> None:
    """Keep a version: its folder appears when it is whole."""
    target = path / FOLDER / version
    if target.is_dir():
        return
    target.parent.mkdir(exist_ok=True)
    growing = target.with_name(f".{version}.tmp")
    shutil.rmtree(growing, ignore_errors=True)
    growing.mkdir()
    names = json.loads((path / DOCUMENT).read_text("utf-8")).get("files", {})
    for name in [*names, DOCUMENT]:
        try:
            # the document is replaced, never written into; so are all others
            os.link(path / name, growing / name)
        except OSError:
            shutil.copy2(path / name, growing / name)
    growing.rename(target)


def _write(path: Path, lines: list[Edit]) -> None:
    log = path / LOG
    with appearing(log) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(asdict(line), ensure_ascii=False) + "\n" for line in lines)
        sync(file)
