"""What was done to a model since it was fitted, and the versions before that can be had back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from laconic.bundle.kind import MODEL
from laconic.bundle.pending import move_pending
from laconic.errors import BundleError
from laconic.storage.manifest import Json, canonical_json, quoted, unsealed
from laconic.storage.reading import StoredDirectory
from laconic.storage.writing import DirectoryWriter, WrittenFile, replacing

# What does not tell one version from another: who wrote it, and sums that follow from the rest.
_NOT_COUNTED = ("format", "format_version", "versions", "files", "checksum")


class StaleError(BundleError):
    """The model is another one by now than the one that was edited."""


class Entry(NamedTuple):
    """A line of the log: what was done, and the version that it was done to."""

    did: tuple[str, ...]
    parent: str


class Kept(NamedTuple):
    """A version that can be had back, and the file of its document."""

    version: str
    file: str


@dataclass(frozen=True)
class History:
    """What was done to a model.

    Parameters
    ----------
    log : tuple of Entry
        The edits, the first one first.
    kept : tuple of Kept
        The versions before that are kept, the oldest first.
    edited : bool
        Whether the last edit is not saved yet.
    """

    log: tuple[Entry, ...] = ()
    kept: tuple[Kept, ...] = ()
    edited: bool = False

    def extended(self, did: tuple[str, ...], parent: str | None) -> Self:
        """The same with one more edit, of a version that was saved (None: it never was)."""
        return replace(self, log=(*self.log, Entry(did, parent or "")), edited=True)

    def stored(self) -> dict[str, Json]:
        """As it stands in the document of a saved model."""
        if not self.log:
            return {}
        return {
            "history": {
                "log": [{"did": [*entry.did], "parent": entry.parent} for entry in self.log],
                "kept": [{"version": one.version, "file": one.file} for one in self.kept],
            }
        }

    def continued(self, writer: DirectoryWriter, version: str | None, parent: str | None) -> Self:
        """The history of a bundle that is being saved: earlier versions are kept where they are.

        Parameters
        ----------
        writer : DirectoryWriter
            Of the directory; it is locked.
        version : str or None
            Which version the bundle is, or was made of.
        parent : str or None
            Which version has to be there.

        Raises
        ------
        BundleError
            If another version is there.
        """
        there = _document(writer)
        current = None if there is None else version_of(there)
        if parent is not None and current != parent:
            raise StaleError(
                f"{writer.path}: holds {f'version {current}' if current else 'no model'} by now, but your "
                f"change is based on version {parent}: load it again, and repeat your change"
            )
        if there is None or current is None or current != version or not self.log:
            # Somebody else's versions are none of this model's.
            return replace(self, kept=(), edited=False)
        kept = _kept_in(there)
        files: Any = there.get("files")
        for one in kept:
            entry = files[one.file]
            writer.adopt(WrittenFile(one.file, entry["bytes"], entry["sha256"]), new=False)
        if self.edited:
            kept = (*kept, Kept(current, writer.keep_former()))
        return replace(self, kept=kept, edited=False)


def version_of(document: Mapping[str, Json]) -> str:
    """The name of a version: how many edits it has seen, and the first digits of a hash of what it is.

    >>> version_of({"class": "RLSI", "files": {}})
    '0-c6fb4f4d'
    """
    content = {key: value for key, value in document.items() if key not in _NOT_COUNTED}
    history = document.get("history")
    log = history.get("log") if isinstance(history, dict) else None
    number = len(log) if isinstance(log, list) else 0
    return f"{number}-{hashlib.sha256(canonical_json(content)).hexdigest()[:8]}"


def undo(path: str | os.PathLike[str], parent: str | None = None) -> str:
    """Take back the last edit of a saved model: it is what it was before, to the byte.

    Parameters
    ----------
    path : path-like
        The directory.
    parent : str, optional
        The version that has to be there.

    Returns
    -------
    str
        The version that is there now.
    """
    with _replacing(path) as writer:
        there = _document(writer)
        if there is None:
            raise BundleError(f"{path}: holds no model")
        if parent is not None and version_of(there) != parent:
            raise StaleError(f"{path}: holds version {version_of(there)} by now, not {parent}")
        kept = _kept_in(there)
        if not kept:
            raise BundleError(f"{path}: nothing to undo: no earlier version is kept")
        writer.go_back(kept[-1].file)
        return kept[-1].version


def prune(path: str | os.PathLike[str]) -> int:
    """Remove the versions before; the log of what was done stays, and so does a refit that waits.

    Returns
    -------
    int
        How many versions were removed.
    """
    with _replacing(path) as writer:
        there = _document(writer)
        if there is None:
            raise BundleError(f"{path}: holds no model")
        kept = _kept_in(there)
        history: Any = there.get("history")
        files: Any = there["files"]
        gone = {one.file for one in kept}
        for name, entry in files.items():
            if name not in gone:
                writer.adopt(WrittenFile(name, entry["bytes"], entry["sha256"]), new=False)
        if kept:
            rest = {key: value for key, value in there.items() if key not in (*_NOT_COUNTED, "history")}
            without: dict[str, Json] = {**rest, "history": {**history, "kept": []}}
            writer.commit(without)
            move_pending(path, version_of(there), version_of(without))
        return len(kept)


def restored_history(stored: StoredDirectory) -> History:
    """The history in the document of a saved model; everything is checked."""
    return _history(stored.document, stored.error)


def _history(document: Mapping[str, Json], error: Any) -> History:
    described = document.get("history")
    if described is None:
        return History()
    log: Any = described.get("log") if isinstance(described, dict) else None
    kept: Any = described.get("kept") if isinstance(described, dict) else None
    fits = (
        isinstance(log, list)
        and isinstance(kept, list)
        and all(
            isinstance(entry, dict)
            and isinstance(entry.get("parent"), str)
            and isinstance(entry.get("did"), list)
            and all(isinstance(step, str) for step in entry["did"])
            for entry in log
        )
        and all(
            isinstance(one, dict)
            and isinstance(one.get("version"), str)
            and isinstance(one.get("file"), str)
            and one["file"].startswith("version-")
            for one in kept
        )
    )
    if not fits:
        raise error("has no valid history")
    return History(
        tuple(Entry(tuple(entry["did"]), entry["parent"]) for entry in log),
        tuple(Kept(one["version"], one["file"]) for one in kept),
    )


def _document(writer: DirectoryWriter) -> dict[str, Json] | None:
    """The document of the directory as it is; None if there is none, or it is damaged."""
    if writer.former is None:
        return None
    try:
        return unsealed(MODEL, writer.path / MODEL.manifest, writer.former)
    except BundleError:
        return None


def _kept_in(document: Mapping[str, Json]) -> tuple[Kept, ...]:
    """Versions that a document keeps, and whose files it lists."""
    files: Any = document.get("files") or {}
    history = _history(document, lambda problem: BundleError(f"{MODEL.manifest}: {problem}"))
    return tuple(one for one in history.kept if one.file in files)


def _replacing(path: str | os.PathLike[str]) -> Any:
    if not (Path(path) / MODEL.manifest).is_file():
        raise BundleError(f"{quoted(str(path))}: does not hold a model; give the directory of one")
    return replacing(path, MODEL)
