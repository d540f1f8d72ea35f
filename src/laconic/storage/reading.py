"""Reading a directory that `laconic.storage.writing` wrote, with every byte checked before it is used."""

import contextlib
import hashlib
import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import TypeAlias

from laconic.storage.manifest import MAX_MANIFEST_BYTES, Json, Kind, listing, quoted, unsealed

Content: TypeAlias = bytearray | mmap.mmap

# Not every system has all of them; a file may have become a link or a pipe since it was looked at.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


@dataclass(frozen=True)
class StoredDirectory:
    """The content of a stored directory, checked.

    Parameters
    ----------
    path : Path
        Where it was read.
    kind : Kind
        What it stores.
    document : dict
        What was committed.
    files : dict
        The content of each file, in memory or mapped.
    verify : bool
        Whether what mapped files hold was checked, and is to be checked further.
    unchecked : dict
        The checksums of files that are compared when they are first taken.
    listed : dict
        The size and the checksum of every file, as the document has them.
    """

    path: Path
    kind: Kind
    document: dict[str, Json]
    files: dict[str, Content]
    verify: bool = True
    unchecked: dict[str, str] = field(default_factory=dict, repr=False)
    listed: dict[str, tuple[int, str]] = field(default_factory=dict, repr=False)
    _taken: set[str] = field(default_factory=set, repr=False)
    _repeated: dict[str, int] = field(default_factory=dict, repr=False)

    def take(self, name: Json) -> Content:
        """Return the content of a file for the caller's own use.

        Parameters
        ----------
        name : str
            A file name, as found in the document.

        Returns
        -------
        bytearray or mmap.mmap
            Memory is shared with nobody, even if two things in the document refer to one file. A map is
            read-only.
        """
        name = self.checked(name)
        content = self.files[name]
        if name in self._taken:
            # Nothing refers to a large file twice, but a few bytes could ask for any amount of memory so.
            self._repeated[name] = self._repeated.get(name, 0) + len(content)
            if sum(self._repeated.values()) > sum(map(len, self.files.values())):
                raise self.error("refers to the same files repeatedly")
            return content[:] if isinstance(content, bytearray) else content
        self._taken.add(name)
        return content

    def checked(self, name: Json) -> str:
        """Return the name of a file that is there, and whose content is what was written.

        Parameters
        ----------
        name : str
            A file name, as found in the document.

        Returns
        -------
        str
            The name.
        """
        if not isinstance(name, str) or name not in self.files:
            raise self.error(f"refers to {quoted(name)}, which is not among its files")
        expected = self.unchecked.get(name)
        if expected is not None:
            if hashlib.sha256(self.files[name]).hexdigest() != expected:
                raise self.error("is damaged (its checksum differs)", name)
            self.unchecked.pop(name, None)
        return name

    def object(self, key: str) -> dict[str, Json]:
        """Return an object of the document.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        dict
            The object.
        """
        value = self.document.get(key)
        if not isinstance(value, dict):
            raise self.error(f"has no valid {key!r}")
        return value

    def error(self, problem: str, file: Json = None) -> ValueError:
        """Return the error to raise for one of the files.

        Parameters
        ----------
        problem : str
            What is wrong.
        file : str or None
            The file's name; None for the document.

        Returns
        -------
        ValueError
            Of the kind's own type, to be raised.
        """
        name = self.kind.manifest if file is None else str(file)
        return self.kind.error(f"{self.path / name}: {problem}; {self.kind.restore}")

    def misdescribed(self, what: str, error: Exception) -> ValueError:
        """Return the error to raise when something could not be made of the document.

        Parameters
        ----------
        what : str
            What it should have become.
        error : Exception
            What went wrong: whatever it is, the file is at fault.

        Returns
        -------
        ValueError
            Of the kind's own type, to be raised.
        """
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        return self.error(f"does not describe a {what} ({reason})")


def read_directory(
    path: str | os.PathLike[str],
    kind: Kind,
    *,
    mapped: bool = False,
    verify: bool = True,
    later: str | None = None,
) -> StoredDirectory:
    """Read a stored directory and check every byte of it.

    Parameters
    ----------
    path : path-like
        The directory.
    kind : Kind
        What it should store.
    mapped : bool, default=False
        Whether array files are mapped into memory, read-only, instead of being read.
    verify : bool, default=True
        Whether files that are mapped are read once, in small pieces, to compare their checksums. Files that
        are read anyway are always compared, and so are all sizes.
    later : str, optional
        How the names of files begin that are mapped, and compared when they are taken: what is large, and
        not always needed.

    Returns
    -------
    StoredDirectory
        Its document and files.

    Raises
    ------
    ValueError
        Of the kind's own type, if anything is missing, damaged, foreign or from a newer version.
    """
    directory = Path(path)
    if not directory.is_dir():
        problem = f"is a file, not the directory of a {kind.noun}" if directory.exists() else "does not exist"
        raise kind.error(f"{directory}: {problem}; give the directory a {kind.noun} was saved to")
    while True:
        before = _identity(directory / kind.manifest)
        try:
            return _read_listed(directory, kind, mapped, verify, later)
        except kind.error:
            # A save may have replaced the files between reading the document and reading them.
            if _identity(directory / kind.manifest) == before:
                raise


def read_file(
    directory: Path, kind: Kind, name: str, size: int, sha256: str, *, verify: bool = True
) -> StoredDirectory:
    """One file of a stored directory whose document was read elsewhere; it is checked when it is taken.

    Parameters
    ----------
    directory : Path
        Where it is.
    kind : Kind
        What the directory stores.
    name, size, sha256
        As the document lists it.
    verify : bool, default=True
        Whether its checksum is compared, for which all of it is read.

    Returns
    -------
    StoredDirectory
        With this file alone, mapped, and an empty document.
    """
    path = directory / name
    with _opened(path, kind, size) as (file, found):
        content = _map(file, found, path, kind)
    listed = {name: (size, sha256)}
    unchecked = {name: sha256} if verify else {}
    return StoredDirectory(directory, kind, {}, {name: content}, verify, unchecked, listed)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from the one that replaces it, even if their contents are equal."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read_listed(
    directory: Path, kind: Kind, mapped: bool, verify: bool, later: str | None
) -> StoredDirectory:
    manifest = directory / kind.manifest
    with _opened(manifest, kind) as (file, size):
        document = unsealed(kind, manifest, _read(file, size, manifest, kind))
    files: dict[str, Content] = {}
    unchecked: dict[str, str] = {}
    listed = listing(kind, manifest, document.pop("files", None))
    for name, (saved_size, sha256) in listed.items():
        path = directory / name
        with _opened(path, kind, saved_size) as (file, size):
            # An empty file cannot be mapped; what wants an array of it will say what is wrong.
            if later is not None and name.startswith(later) and size:
                files[name], digest = _map(file, size, path, kind), sha256
                if verify:
                    unchecked[name] = sha256
            elif mapped and size and path.suffix == ".npy":
                digest = hashlib.file_digest(file, "sha256").hexdigest() if verify else sha256
                files[name] = _map(file, size, path, kind)
            else:
                content = files[name] = _read(file, size, path, kind)
                digest = hashlib.sha256(content).hexdigest()
        if digest != sha256:
            raise kind.error(f"{path}: is damaged (its checksum differs); {kind.restore}")
    return StoredDirectory(directory, kind, document, files, verify, unchecked, listed)


@contextlib.contextmanager
def _opened(path: Path, kind: Kind, size: int | None = None) -> Iterator[tuple[BufferedReader, int]]:
    """Open a regular file whose size is known, or bounded, before memory is taken for it."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise kind.error(
                f"{path}: is not a regular file; copy the {kind.noun} with what its links point to"
            )
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            found = os.fstat(file.fileno()).st_size
            if size is None and found > MAX_MANIFEST_BYTES:
                raise kind.error(
                    f"{path}: has {found} bytes, too many for a {kind.noun}'s description; {kind.restore}"
                )
            if size is not None and found != size:
                raise kind.error(f"{path}: has {found} bytes where {size} were saved; {kind.restore}")
            yield file, found
    except FileNotFoundError as error:
        foreign = f"this is no saved {kind.noun}, give a {kind.noun}'s directory"
        advice = foreign if path.name == kind.manifest else kind.restore
        raise kind.error(f"{path}: is missing; {advice}") from error
    except OSError as error:
        reason = error.strerror
        raise kind.error(f"{path}: cannot be read ({reason}); check its permissions and the disk") from error


def _read(file: BufferedReader, size: int, path: Path, kind: Kind) -> bytearray:
    content = bytearray(size)
    if file.readinto(content) != size:
        raise kind.error(f"{path}: became shorter while it was being read; {kind.restore}")
    return content


def _map(file: BufferedReader, size: int, path: Path, kind: Kind) -> mmap.mmap:
    try:
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise kind.error(f"{path}: became shorter while it was being read; {kind.restore}") from error
