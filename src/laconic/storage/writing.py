"""Writing a directory of checked files that is replaced as a whole or not at all.

A stored directory is one document, such as ``model.json``, and the files it lists with their sizes and
SHA-256 sums. File names carry the hash of their content, so a new file never takes the name of a different
old one: all new files are on disk before the document is swapped, and the old ones go after it. Whoever has
mapped an old file keeps it.
"""

import contextlib
import errno
import hashlib
import json
import os
import platform
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
import scipy

from laconic.locking import locked
from laconic.storage.files import naming
from laconic.storage.manifest import (
    FILE_NAME,
    MAX_MANIFEST_BYTES,
    MAX_NAME_LENGTH,
    STEM,
    Json,
    Kind,
    listing,
    quoted,
    sealed,
    unsealed,
)

# Documents were longer once.
_MOST_FORMER_BYTES = 64 * 2**20 + 1
VERSION = "version"
"""How the names of files begin that hold the document of an earlier version."""

_TEMPORARY_NAME = re.compile(r"\.laconic-[0-9a-f]{16}\.tmp")


class Sink(Protocol):
    """Anything bytes can be written to."""

    def write(self, data: bytes | memoryview, /) -> int:
        """Write all of `data`; a view is one of single bytes."""


class _HashedSink:
    """Count and hash bytes on their way into a file, so that nothing is serialised twice."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes | memoryview, /) -> int:
        self._hash.update(data)
        self.size += len(data)
        return self._file.write(data)

    def digest(self) -> str:
        return self._hash.hexdigest()


class WrittenFile(NamedTuple):
    """A file of a stored directory, as its document lists it; the name has a part of the checksum."""

    name: str
    size: int
    sha256: str


def write_file(directory: Path, stem: str, suffix: str, write: Callable[[Sink], object]) -> WrittenFile:
    """Write one file of a stored directory, for a `DirectoryWriter` to list it: here, or in another process.

    It is on the disk, and has its name, when this returns; before that, it has a temporary one.

    Parameters
    ----------
    directory : Path
        Where to write.
    stem, suffix, write
        As in `DirectoryWriter.add`.

    Returns
    -------
    WrittenFile
        For `DirectoryWriter.adopt`.
    """
    temporary = directory / f".laconic-{secrets.token_hex(8)}.tmp"
    try:
        sink = _write_synced(temporary, write)
        name = f"{stem}-{sink.digest()[:16]}.{suffix}"
        temporary.replace(directory / name)
    finally:
        temporary.unlink(missing_ok=True)
    return WrittenFile(name, sink.size, sink.digest())


def _write_synced(path: Path, write: Callable[[Sink], object]) -> _HashedSink:
    with naming(path.parent), path.open("xb") as file:
        sink = _HashedSink(file)
        write(sink)
        file.flush()
        os.fsync(file.fileno())
    return sink


class DirectoryWriter:
    """Add files, then `commit` the document that refers to them; made by `replacing`.

    Parameters
    ----------
    path : Path
        An existing directory.
    kind : Kind
        What is stored.
    """

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path = path
        self.kind = kind
        self._files: dict[str, Json] = {}
        self._made: list[Path] = []
        # What is there now, and may go when it is replaced.
        self._former = _with_versions(path, _listed(path / kind.manifest))
        self.former = _bytes_or_none(path / kind.manifest)
        self._manifest: bytes | None = None

    def add(self, stem: str, suffix: str, write: Callable[[Sink], object]) -> str:
        """Store one file.

        Parameters
        ----------
        stem : str
            What the file holds: letters, digits, underscores and single dots.
        suffix : {"npy", "txt"}
            The kind of file.
        write : callable
            Receives the sink to write to.

        Returns
        -------
        str
            The file's name, which ends in the first 16 hex digits of its SHA-256 sum.
        """
        if not STEM.fullmatch(stem) or len(stem) + len(suffix) + 18 > MAX_NAME_LENGTH:
            raise self.error(f"{quoted(stem)} cannot be part of a file name; use a short plain name")
        temporary, sink = self._write_temporary(write)
        name = f"{stem}-{sink.digest()[:16]}.{suffix}"
        target = self.path / name
        if not target.exists():
            self._made.append(target)
        temporary.replace(target)
        self._files[name] = {"bytes": sink.size, "sha256": sink.digest()}
        return name

    def adopt(self, file: WrittenFile, *, new: bool = True) -> str:
        """List a file that is in the directory already.

        Parameters
        ----------
        file : WrittenFile
            From `write_file`, or from the document that is replaced.
        new : bool, default=True
            Whether it goes if the save fails; False for a file of the directory as it was.

        Returns
        -------
        str
            The file's name.
        """
        if new:
            self._made.append(self.path / file.name)
        self._files[file.name] = {"bytes": file.size, "sha256": file.sha256}
        return file.name

    def commit(self, document: Mapping[str, Json]) -> None:
        """Make `document` and the files added so far the content of the directory.

        Parameters
        ----------
        document : mapping
            JSON values; ``format``, ``format_version``, ``versions``, ``files`` and ``checksum`` are added.
        """
        path = self.path / self.kind.manifest
        complete: dict[str, Json] = {
            **document,
            "format": self.kind.format,
            "format_version": self.kind.version,
            "versions": dict(versions()),
            "files": self._files,
        }
        try:
            manifest = sealed(complete)
            # What could not be read back must not replace what can.
            unsealed(self.kind, path, manifest)
        except (ValueError, RecursionError) as error:
            problem = f"{path}: is not saved, because it could not be read back: {error}"
            raise self.kind.error(problem) from error
        if len(manifest) > MAX_MANIFEST_BYTES:
            raise self.kind.error(
                f"{path}: is not saved, because {len(manifest)} bytes are more than {MAX_MANIFEST_BYTES}, "
                "the limit; keep long lists as numpy arrays"
            )
        self._swap(manifest)

    def keep_former(self) -> str:
        """Keep the document that is replaced, and with it the files that it lists, as a version.

        Returns
        -------
        str
            The name of the file that has the document now.
        """
        former = self.former
        if former is None:
            raise self.error("there is nothing to keep")
        return self.add(VERSION, "txt", lambda sink: sink.write(former))

    def go_back(self, version: str) -> None:
        """Make a document that was kept as a version the content of the directory again, to the byte.

        Parameters
        ----------
        version : str
            The name of its file.
        """
        manifest = _bytes_or_none(self.path / version)
        if manifest is None:
            raise self.error(f"the version {quoted(version)} does not exist")
        document = unsealed(self.kind, self.path / version, manifest)
        entries = listing(self.kind, self.path / version, document.get("files"))
        for name, (size, _) in entries.items():
            path = self.path / name
            if not path.is_file() or path.stat().st_size != size:
                raise self.error(f"{name} of an earlier version is missing or damaged")
        self._files = {name: {"bytes": size, "sha256": digest} for name, (size, digest) in entries.items()}
        self._swap(manifest)

    def _swap(self, manifest: bytes) -> None:
        path = self.path / self.kind.manifest
        self._manifest = manifest
        temporary, _ = self._write_temporary(lambda sink: sink.write(manifest))
        # The files' names must be durable before the document that needs them is.
        _sync_directory(self.path)
        temporary.replace(path)
        _sync_directory(self.path)

    @property
    def files(self) -> list[WrittenFile]:
        """The files added so far."""
        entries: dict[str, Any] = self._files
        return [WrittenFile(name, entry["bytes"], entry["sha256"]) for name, entry in entries.items()]

    def error(self, problem: str) -> ValueError:
        """Return the error to raise about what cannot be stored.

        Parameters
        ----------
        problem : str
            What is wrong, and what to do.

        Returns
        -------
        ValueError
            Of the kind's own type, to be raised.
        """
        return self.kind.error(f"{self.path}: {problem}")

    def clean(self) -> None:
        """Remove what the directory no longer needs or, if the save failed, what it left behind."""
        # The file decides, not a flag: an interrupt can come right after the swap.
        if self._manifest is not None and _bytes_or_none(self.path / self.kind.manifest) == self._manifest:
            needed = _with_versions(self.path, set(self._files))
            unwanted = [
                path
                for path in self.path.iterdir()
                if path.name not in needed and (path.name in self._former or _is_own(path))
            ]
        else:
            unwanted = self._made
        for path in unwanted:
            # Open elsewhere (Windows) or already gone: the next save tries again, this one is complete.
            with contextlib.suppress(OSError):
                path.unlink()

    def _write_temporary(self, write: Callable[[Sink], object]) -> tuple[Path, _HashedSink]:
        temporary = self.path / f".laconic-{secrets.token_hex(8)}.tmp"
        self._made.append(temporary)
        return temporary, _write_synced(temporary, write)


def check_writable(path: Path, kind: Kind) -> None:
    """Find out before the work whether a thing of a kind can be saved there; nothing is changed or created.

    Raises
    ------
    ValueError or OSError
        If the directory holds something else, is none, or may not be written to.

    Examples
    --------
    >>> import tempfile
    >>> shelf = Kind("shelf", "shelf.json", "laconic-shelf", 1, ValueError)
    >>> with tempfile.TemporaryDirectory() as path:
    ...     check_writable(Path(path, "new", "shelf"), shelf)
    """
    if path.is_symlink() and not path.exists():
        raise kind.error(f"{path}: is a broken link; remove it, or give another path")
    if path.exists():
        with replacing(path, kind):
            # Entering checks that it is a directory and holds nothing else.
            existing = path
    else:
        existing = next(parent for parent in path.absolute().parents if parent.exists())
    for wrong, code in (
        (not existing.is_dir(), errno.ENOTDIR),
        (_read_only(existing), errno.EROFS),
        (not os.access(existing, os.W_OK | os.X_OK), errno.EACCES),
    ):
        if wrong:
            raise OSError(code, os.strerror(code), str(existing))


def _read_only(path: Path) -> bool:
    """Whether all of the disk is."""
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], kind: Kind) -> Iterator[DirectoryWriter]:
    """Replace the content of a directory as a whole; a crash at any time leaves the old or the new one.

    Parameters
    ----------
    path : path-like
        A new or empty directory, or one of the same kind that was written before.
    kind : Kind
        What is stored.

    Yields
    ------
    DirectoryWriter
        Whose `commit` makes the new content valid; without it the directory stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> from laconic.storage.reading import read_directory
    >>> shelf = Kind("shelf", "shelf.json", "laconic-shelf", 1, ValueError)
    >>> with tempfile.TemporaryDirectory() as path:
    ...     with replacing(path, shelf) as writer:
    ...         name = writer.add("greeting", "txt", lambda sink: sink.write(b"hello"))
    ...         writer.commit({"greeting": name})
    ...     stored = read_directory(path, shelf)
    >>> stored.document["greeting"], bytes(stored.files[name])
    ('greeting-2cf24dba5fb0a30e.txt', b'hello')
    """
    directory = Path(path)
    if directory.exists() and not directory.is_dir():
        raise kind.error(f"{directory}: is a file; a {kind.noun} is saved as a directory: give another path")
    if not directory.exists():
        directory.mkdir(parents=True, exist_ok=True)
        _sync_directory(directory.parent)
    # One save at a time, or it would take another's new files for orphans.
    with locked(directory, os.O_RDONLY, waiting_for=f"another process that saves to {directory}"):
        _refuse_foreign(directory, kind)
        writer = DirectoryWriter(directory, kind)
        try:
            yield writer
        finally:
            writer.clean()


def remove_directory(path: Path, kind: Kind) -> None:
    """Remove what is stored there, and the directory if nothing else is in it.

    Parameters
    ----------
    path : Path
        A directory of this kind; if it is not there, nothing happens.
    kind : Kind
        What is stored.
    """
    if not path.is_dir():
        return
    with locked(path, os.O_RDONLY):
        listed = _listed(path / kind.manifest)
        # First the document: without it, the rest is nothing that anyone would take for whole.
        (path / kind.manifest).unlink(missing_ok=True)
        for file in [file for file in path.iterdir() if file.name in listed or _is_own(file)]:
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            path.rmdir()


def _is_own(path: Path) -> bool:
    """Whether a file that no document lists was left by a save that was killed: its name has its own hash."""
    if _TEMPORARY_NAME.fullmatch(path.name):
        return path.is_symlink() or path.is_file()
    named = FILE_NAME.fullmatch(path.name)
    if named is None or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest().startswith(named["digest"])
    except OSError:
        return False


def _listed(manifest: Path) -> set[str]:
    """The names of files that a document lists, even if it is damaged otherwise; none that are not ours."""
    try:
        document = json.loads(_bytes_or_none(manifest) or b"")
        names = document["files"].keys()
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return set()
    return {name for name in names if FILE_NAME.fullmatch(name)}


def _with_versions(directory: Path, names: set[str]) -> set[str]:
    """The same, with the files that documents of earlier versions among them list."""
    versions = [name for name in names if name.startswith(f"{VERSION}-")]
    return names.union(*(_listed(directory / name) for name in versions))


def _refuse_foreign(directory: Path, kind: Kind) -> None:
    manifest = directory / kind.manifest
    if os.path.lexists(manifest):
        # A search, not a parse: a damaged directory of ours may be replaced, too.
        if f'"format": "{kind.format}"'.encode() not in (_bytes_or_none(manifest) or b""):
            raise kind.error(
                f"{manifest}: is damaged or was not written by laconic, so it is not overwritten; remove it "
                "or save to another directory"
            )
        return
    # A first save that was killed leaves only files with names of ours.
    foreign = sorted(path.name for path in directory.iterdir() if not _is_own(path))
    if foreign:
        raise kind.error(
            f"{directory}: is not empty and holds no laconic {kind.noun} (it has {quoted(foreign[0])}); save "
            "to a new or an empty directory"
        )


def versions() -> dict[str, str]:
    """The versions that every document names: of laconic, and of what decides how numbers are rounded."""
    from laconic import __version__

    return {
        "laconic": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "scipy": scipy.__version__,
    }


def _bytes_or_none(path: Path) -> bytes | None:
    try:
        # It may be a pipe, which must not be waited for.
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as file:
            return file.read(_MOST_FORMER_BYTES)
    except OSError:
        return None


def _sync_directory(directory: Path) -> None:
    """Make renames durable where the system can sync a directory."""
    if sys.platform == "win32":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with naming(directory):
            os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)
