"""Reading a directory that `laconic.bundle.writing` wrote, with every byte checked before it is used."""

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from laconic.bundle.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    RESTORE,
    BundleError,
    Json,
    listing,
    quoted,
    unsealed,
)

# Not every system has all of them; a file may have become a link or a pipe since it was looked at.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


@dataclass(frozen=True)
class StoredDirectory:
    """The content of a stored directory, checked.

    Parameters
    ----------
    path : Path
        Where it was read.
    document : dict
        What was committed.
    files : dict
        The content of each file.
    """

    path: Path
    document: dict[str, Json]
    files: dict[str, bytearray]
    _taken: set[str] = field(default_factory=set, repr=False)

    def take(self, name: Json) -> bytearray:
        """Return the content of a file for the caller's own use.

        Parameters
        ----------
        name : str
            A file name, as found in the document.

        Returns
        -------
        bytearray
            Shared with nobody, even if two things in the document refer to one file.
        """
        if not isinstance(name, str) or name not in self.files:
            raise self.error(f"refers to {quoted(name)}, which is not among its files")
        if name in self._taken:
            return self.files[name][:]
        self._taken.add(name)
        return self.files[name]

    def error(self, problem: str, file: Json = MANIFEST) -> BundleError:
        """Return the error to raise for one of the files.

        Parameters
        ----------
        problem : str
            What is wrong.
        file : str
            The file's name.

        Returns
        -------
        BundleError
            To be raised.
        """
        return BundleError(f"{self.path / str(file)}: {problem}; {RESTORE}")


def read_directory(path: str | os.PathLike[str]) -> StoredDirectory:
    """Read a stored directory and check every byte of it.

    Parameters
    ----------
    path : path-like
        The directory.

    Returns
    -------
    StoredDirectory
        Its document and files.

    Raises
    ------
    BundleError
        If anything is missing, damaged, foreign or from a newer version.
    """
    directory = Path(path)
    if not directory.is_dir():
        problem = "is a file, not the directory of a model" if directory.exists() else "does not exist"
        raise BundleError(f"{directory}: {problem}; give the directory a model was saved to")
    while True:
        before = _identity(directory / MANIFEST)
        try:
            return _read_listed(directory)
        except BundleError:
            # A save may have replaced the files between reading the document and reading them.
            if _identity(directory / MANIFEST) == before:
                raise


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from the one that replaces it, even if their contents are equal."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read_listed(directory: Path) -> StoredDirectory:
    document = unsealed(directory / MANIFEST, _read_file(directory / MANIFEST))
    files = {}
    for name, (size, sha256) in listing(directory / MANIFEST, document.pop("files", None)).items():
        content = _read_file(directory / name, size)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BundleError(f"{directory / name}: is damaged (its checksum differs); {RESTORE}")
        files[name] = content
    return StoredDirectory(directory, document, files)


def _read_file(path: Path, size: int | None = None) -> bytearray:
    """Read a regular file whose size is known, or bounded, before memory is taken for it."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise BundleError(f"{path}: is not a regular file; copy the model with what its links point to")
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            found = os.fstat(file.fileno()).st_size
            if size is None and found > MAX_MANIFEST_BYTES:
                raise BundleError(f"{path}: has {found} bytes, too many for a model's description; {RESTORE}")
            if size is not None and found != size:
                raise BundleError(f"{path}: has {found} bytes where {size} were saved; {RESTORE}")
            content = bytearray(found)
            if file.readinto(content) != found:
                raise BundleError(f"{path}: became shorter while it was read; {RESTORE}")
            return content
    except FileNotFoundError as error:
        advice = "this is no saved model, give a model's directory" if path.name == MANIFEST else RESTORE
        raise BundleError(f"{path}: is missing; {advice}") from error
    except OSError as error:
        reason = error.strerror
        raise BundleError(f"{path}: cannot be read ({reason}); check its permissions and the disk") from error
