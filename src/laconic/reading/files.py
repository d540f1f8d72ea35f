"""A file as lines of UTF-8, whatever its compression and encoding; what is wrong with it names it."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from laconic.errors import CorpusError, Parameter

if TYPE_CHECKING:
    from laconic.reading.ledger import Ledger

_BUFFER = 1 << 18
LARGEST_LINE = 1 << 25
"""Bytes of a line, of a record of several lines, or of a file that is one document. A few bytes of a
compressed file can stand for any number; nothing longer is taken into memory."""
TOO_LONG = f"more than {LARGEST_LINE:,} bytes, the limit for a line or a document; divide it"
# Where nothing comes of lines, how far the reading is is told every so many bytes.
_TOLD = 1 << 24
_MARK = codecs.BOM_UTF8

# Decoding goes in blocks, so a strict decoder's error would not tell the line. A lone surrogate in place of
# the wrong bytes is no UTF-8, which is found in its line.
codecs.register_error("laconic.mark", lambda error: ("\udcff", getattr(error, "end", 0)))


def _zstandard(file: BinaryIO) -> BinaryIO:
    import pyarrow as pa

    stream: Any = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    return stream


COMPRESSIONS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".xz": lzma.LZMAFile,
    ".bz2": bz2.BZ2File,
    ".zst": _zstandard,
}


def suffixes(path: Path) -> tuple[str, str]:
    """The suffix of the format and that of the compression, in lower case; both may be empty.

    >>> suffixes(Path("news.JSONL.gz")), suffixes(Path("news.csv"))
    (('.jsonl', '.gz'), ('.csv', ''))
    """
    last = path.suffix.lower()
    return (path.with_suffix("").suffix.lower(), last) if last in COMPRESSIONS else (last, "")


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of texts."""
    try:
        "x".encode(encoding)
    except (LookupError, ValueError, TypeError) as error:
        raise CorpusError(
            f"{encoding!r} is not an encoding that Python knows; try ", Parameter("encoding", "utf-8")
        ) from error


class Rows:
    """Numbered rows that have a place.

    Parameters
    ----------
    name : str
        Of the file, or empty.
    ledger : Ledger
        Where bad rows are reported.
    unit : str
        What is numbered: "line" or "row".
    """

    def __init__(self, name: str, ledger: Ledger, unit: str) -> None:
        self._name = name
        self._unit = unit
        self.ledger = ledger

    def place(self, number: int) -> str:
        """Name a row of this source."""
        return f"{self._unit} {number}"

    def where(self, number: int) -> str:
        """Name a row among those of all sources."""
        return f"{self._name}, {self.place(number)}" if self._name else self.place(number)

    def refuse(self, number: int, reason: object) -> None:
        """Raise, or note that a row is left out."""
        self.ledger.refuse(self.where(number), reason)

    def fail(self, number: int, reason: object) -> NoReturn:
        """Raise about what concerns more than one row."""
        raise CorpusError(f"{self.where(number)}: ", reason)


class File(Rows):
    """A file of lines or rows.

    Parameters
    ----------
    path : pathlib.Path
        Of a file that exists; its last suffix tells the compression.
    ledger : Ledger
        Where bad rows are reported.
    encoding : str
        Of the texts in it.
    start : int
        The size of all files before this one.
    unit : str
        What is numbered: "line" or "row".
    """

    def __init__(self, path: Path, ledger: Ledger, encoding: str, start: int = 0, unit: str = "line") -> None:
        super().__init__(str(path), ledger, unit)
        self.path = path
        self.start = start
        self._encoding = encoding

    @property
    def undecodable(self) -> CorpusError:
        """What to say of bytes that are not of the encoding."""
        return CorpusError(
            f"bytes that are not valid {self._encoding}; set the right encoding, such as ",
            Parameter("encoding", "latin-1"),
            ", or convert the file to UTF-8",
        )

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Give the contents as UTF-8 without byte order mark; what goes wrong meanwhile names the file."""
        with self.naming_damage(), io.FileIO(self.path) as raw:
            self.ledger.position = lambda: self.start + raw.tell()
            try:
                file: Any = io.BufferedReader(raw, _BUFFER)
                compression = COMPRESSIONS.get(suffixes(self.path)[1])
                if compression is not None:
                    file = io.BufferedReader(compression(file), _BUFFER)
                if codecs.lookup(self._encoding).name not in ("utf-8", "utf-8-sig"):
                    file = io.BufferedReader(_Recoded(file, self._encoding), _BUFFER)
                if file.peek(len(_MARK)).startswith(_MARK):
                    file.read(len(_MARK))
                yield file
            finally:
                self.ledger.position = partial(int, self.start + raw.tell())

    @contextmanager
    def naming_damage(self) -> Iterator[None]:
        """Turn what a damaged file raises into an error that names it."""
        try:
            yield
        except UnicodeError as error:
            raise CorpusError(f"{self.path}: ", self.undecodable) from error
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None and error.strerror:
                raise CorpusError(f"{self.path} cannot be read: {error.strerror}") from error
            raise self.damaged(error) from error

    def damaged(self, why: object) -> CorpusError:
        """The error about a file that is not what its name says."""
        return CorpusError(
            f"{self.path} is damaged, truncated, or not what its suffix says ({why}); get it again"
        )

    def raw_lines(self, file: BinaryIO) -> Iterator[bytes | None]:
        """Give the lines of what is open; None for one that is too long, which is passed over."""
        untold = 0
        for line in iter(partial(file.readline, LARGEST_LINE + 1), b""):
            untold += len(line)
            if untold > _TOLD:
                untold = 0
                self.ledger.tell()
            if len(line) <= LARGEST_LINE:
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(_BUFFER)
            yield None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give the lines with their numbers, from 1; those that cannot be decoded are refused.

        A line ends at a line feed only: texts may hold the other characters that Python takes for a line end.
        """
        with self.opened() as file:
            for number, line in enumerate(self.raw_lines(file), start=1):
                if line is None:
                    self.refuse(number, TOO_LONG)
                    continue
                try:
                    text = line.decode()
                except UnicodeDecodeError:
                    self.refuse(number, self.undecodable)
                    continue
                yield number, text


class _Recoded(io.RawIOBase):
    """A file of another encoding as UTF-8; what cannot be decoded becomes bytes that are not UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("laconic.mark")
        self._rest = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not (self._rest or self._ended):
            block = self._file.read(_BUFFER)
            self._ended = not block
            self._rest = self._decoder.decode(block, final=self._ended).encode("utf-8", "surrogatepass")
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes
