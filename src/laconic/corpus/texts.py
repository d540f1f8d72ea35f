"""Texts that are kept: one run of bytes, in memory or on disk, and where each text begins in it."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, overload

import numpy as np
from numpy.typing import NDArray

from laconic.corpus.spool import no_room, spooled_bytes

BLOCK = 1 << 24
"""How many bytes are looked at together."""


class Texts(Sequence[str]):
    """Texts by their numbers; each is decoded when it is asked for.

    Parameters
    ----------
    content : ndarray of uint8
        All texts in UTF-8, one after the other. May be mapped into memory.
    starts : ndarray of int64, shape (n_texts + 1,)
        Where each begins, and where the last ends.

    Examples
    --------
    >>> texts = Texts.of(["red fish", "", "Füße"])
    >>> texts[2], len(texts), texts[:2]
    ('Füße', 3, ['red fish', ''])
    """

    def __init__(self, content: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        self.content, self.starts = content, starts

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Keep texts; those of other kinds of texts are taken over as they are."""
        if isinstance(texts, Texts):
            return texts
        keeper = TextKeeper()
        for text in texts:
            keeper.add(text)
        return keeper.kept()

    @property
    def nbytes(self) -> int:
        """How much room they take."""
        return int(self.content.nbytes + self.starts.nbytes)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        return (
            self.content[self.starts[number] : self.starts[number + 1]].tobytes().decode("utf-8", "replace")
        )

    def __iter__(self) -> Iterator[str]:
        return (self[number] for number in range(len(self)))

    def extended(self, others: Texts) -> Texts:
        """These and others after them."""
        content = np.concatenate([self.content, others.content])
        return Texts(content, np.concatenate([self.starts, others.starts[1:] + self.starts[-1]]))

    def __repr__(self) -> str:
        return f"<{len(self):,} texts>"


class TextKeeper:
    """Takes texts one at a time; many go to a temporary file, which has no name and goes with the texts."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._ends = array("q", [0])
        self._file: IO[bytes] | None = None

    def add(self, text: str) -> None:
        """Keep one more; halves of characters, which are not UTF-8, are replaced."""
        encoded = text.encode("utf-8", "replace")
        self._waiting += encoded
        self._ends.append(self._ends[-1] + len(encoded))
        if len(self._waiting) > (spooled_bytes() if self._file is None else BLOCK):
            self._write()

    def kept(self) -> Texts:
        """All texts so far; nothing can be added any more."""
        if self._file is None:
            content = np.frombuffer(self._waiting, np.uint8)
        else:
            self._write()
            mapped = mmap.mmap(self._file.fileno(), self._ends[-1], access=mmap.ACCESS_READ)
            self._file.close()
            content = np.frombuffer(mapped, np.uint8)
        return Texts(content, np.frombuffer(self._ends, np.int64))

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            self._file.write(self._waiting)
            self._file.flush()
        except OSError as error:
            raise no_room(error) from error
        self._waiting.clear()
