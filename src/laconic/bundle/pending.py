"""A refit that nobody has accepted or discarded yet, kept in the model's directory: no crash loses it.

``model/refit`` holds what was asked for, and ``model/refit/found`` what was found, once it is. Documents are
not among it: they are those of the model, and their weights follow from the topics.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.bundle.kind import MODEL
from laconic.errors import BundleError
from laconic.storage.manifest import Json, Kind
from laconic.storage.reading import StoredDirectory, read_directory
from laconic.storage.writing import remove_directory, replacing

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle

REFIT = Kind(noun="refit", manifest="refit.json", format="laconic-refit", version=1, error=BundleError)
FOLDER, FOUND = "refit", "found"


@dataclass(frozen=True)
class Pending:
    """A refit that waits for a decision.

    Parameters
    ----------
    what : str
        What was asked for, in words.
    asked : mapping
        The same, as whoever asked has stored it.
    parent : str
        The version that it was asked of.
    found : Bundle or None
        The topics that were found, without documents; None if it had not ended.
    """

    what: str
    asked: Mapping[str, Json]
    parent: str
    found: Bundle | None

    @property
    def did(self) -> tuple[str, ...]:
        """What was done, as the log of the model will have it; nothing before it has ended."""
        return () if self.found is None else self.found.history.log[-1].did


def keep_asked(path: str | os.PathLike[str], what: str, asked: Mapping[str, Json], parent: str) -> None:
    """Note in the directory of a model that a refit was asked for, in place of any before."""
    forget_pending(path)
    with replacing(Path(path) / FOLDER, REFIT) as writer:
        writer.commit({"what": what, "asked": dict(asked), "parent": parent})


def keep_found(path: str | os.PathLike[str], bundle: Bundle) -> None:
    """Note what the refit of a model has found."""
    from laconic.bundle.bundle import Bundle

    alone = Bundle(bundle.model)
    alone.notes, alone.history = bundle.notes, bundle.history
    alone.save(Path(path) / FOLDER / FOUND)


def pending(path: str | os.PathLike[str]) -> Pending | None:
    """The refit that waits in the directory of a model, if there is one; everything is checked.

    Raises
    ------
    BundleError
        If it is damaged; the message names the file.
    """
    folder = Path(path) / FOLDER
    if not (folder / REFIT.manifest).exists():
        return None
    stored = read_directory(folder, REFIT)
    what, parent = (_text(stored, key) for key in ("what", "parent"))
    found = None
    if (folder / FOUND / MODEL.manifest).exists():
        from laconic.bundle.loading import load

        found = load(folder / FOUND)
        if not found.history.log:
            raise BundleError(f"{folder / FOUND}: does not say what was done; discard this refit")
    return Pending(what, stored.object("asked"), parent, found)


def move_pending(path: str | os.PathLike[str], before: str, after: str) -> None:
    """Let the refit of a version go on as that of another, which differs only in what is kept beside it."""
    folder = Path(path) / FOLDER
    if not (folder / REFIT.manifest).exists():
        return
    document = read_directory(folder, REFIT).document
    if document.get("parent") == before:
        with replacing(folder, REFIT) as writer:
            writer.commit({**{key: document.get(key) for key in ("what", "asked")}, "parent": after})


def forget_pending(path: str | os.PathLike[str]) -> None:
    """Remove the refit that waits, whole or damaged, if there is one."""
    folder = Path(path) / FOLDER
    if not folder.is_dir():
        return
    # First what was asked: without it, the rest is nothing that anyone would take for a refit.
    remove_directory(folder, REFIT)
    remove_directory(folder / FOUND, MODEL)
    with contextlib.suppress(OSError):
        # somebody else's file may be in it
        folder.rmdir()


def _text(stored: StoredDirectory, key: str) -> str:
    value = stored.document.get(key)
    if not isinstance(value, str):
        raise stored.error(f"has no valid {key!r}")
    return value
