"""What was read: how many rows, which of them could not be used, and how far the reading is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from laconic.checks import check_number
from laconic.errors import CorpusError, Parameter
from laconic.reading.rows import MissingColumnError

OnError: TypeAlias = Literal["raise", "skip"]
Progress: TypeAlias = Callable[[int, int | None, int], object]

# Problems beyond these are counted and not told: a file may have a million of one kind.
_MOST_PROBLEMS = 20
# Progress is told every so many characters; a document counts as 400 at least, so that short ones are told
# every 10,000.
_STEP = 4_000_000
_LEAST = 400


@dataclass(frozen=True)
class Reading:
    """What was read from files.

    There is a document for every row that was not left out: ``n_rows == n_documents + n_skipped``.

    Attributes
    ----------
    files : tuple of pathlib.Path
        The files in the order of reading; for a folder of texts, the folder.
    n_rows : int
        How many rows there were.
    n_skipped : int
        How many of them could not be used and were left out.
    problems : tuple of str
        Where and why: the first 20.
    errors : tuple of CorpusError
        The same, with the parameters that they name as data; see `worded`.

    Examples
    --------
    >>> Reading((Path("fish.csv"),), n_rows=3, n_skipped=1, problems=("fish.csv, line 3: ...",)).n_skipped
    1
    """

    files: tuple[Path, ...]
    n_rows: int
    n_skipped: int
    problems: tuple[str, ...]
    errors: tuple[CorpusError, ...] = field(default=(), repr=False, compare=False)

    def worded(self, word: Callable[[Parameter], str]) -> tuple[str, ...]:
        """The problems, with parameters worded by a function."""
        return tuple(error.worded(word) for error in self.errors)


class Ledger:
    """Keeps count while files are read, and decides what becomes of rows that cannot be used.

    Parameters
    ----------
    files : sequence of pathlib.Path
        What is going to be read.
    n_bytes : int or None
        The size of all of them, if known.
    on_error : {"raise", "skip"}
        Whether a bad row ends the reading or is left out.
    progress : callable or None
        Called with the bytes read, the bytes in all (or None), and the number of documents.
    max_documents : int or None
        After so many, reading stops.
    """

    def __init__(
        self,
        files: tuple[Path, ...] = (),
        n_bytes: int | None = None,
        on_error: OnError = "raise",
        progress: Progress | None = None,
        max_documents: int | None = None,
    ) -> None:
        if max_documents is not None:
            check_number("max_documents", max_documents, Integral, 1)
        if on_error not in get_args(OnError):
            raise CorpusError(Parameter("on_error"), f' must be "raise" or "skip", not {on_error!r}')
        self.n_documents = 0
        # How many bytes of the files are read; the source that is open knows.
        self.position: Callable[[], int] = int
        self._files = files
        self._n_bytes = n_bytes
        self._raises = on_error == "raise"
        self._progress = progress
        self._most = math.inf if max_documents is None else int(max_documents)
        self._to_go = _STEP
        self._n_skipped = 0
        self._problems: list[CorpusError] = []

    def refuse(self, where: str, reason: object) -> None:
        """Raise, or note that a row is left out."""
        problem = CorpusError(f"{where}: ", reason)
        if self._raises:
            # What the first row lacks, probably all do: then nothing would be left.
            if not self._files or (isinstance(reason, MissingColumnError) and self.n_documents == 0):
                raise problem
            raise CorpusError(problem, " (", Parameter("on_error", "skip"), " skips such rows)")
        self._n_skipped += 1
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(problem)

    def accept(self, n_characters: int) -> None:
        """Count a document."""
        self.n_documents += 1
        self._to_go -= n_characters if n_characters > _LEAST else _LEAST
        if self._to_go < 0:
            self._to_go = _STEP
            self.tell()

    @property
    def full(self) -> bool:
        """Whether there are as many documents as are wanted."""
        return self.n_documents >= self._most

    def tell(self) -> None:
        """Tell how far the reading is."""
        if self._progress is not None:
            self._progress(self.position(), self._n_bytes, self.n_documents)

    def finish(self, what: str) -> None:
        """Tell that the reading is complete; there has to be a document."""
        if self.n_documents == 0 and self._n_skipped:
            raise CorpusError(
                f"{what}: none of {self._n_skipped:,} rows could be used; the first: ", self._problems[0]
            )
        if self.n_documents == 0:
            raise CorpusError(f"{what} has no documents")
        self.tell()

    @property
    def reading(self) -> Reading:
        """What was read so far."""
        n_rows = self.n_documents + self._n_skipped
        problems = tuple(map(str, self._problems))
        return Reading(self._files, n_rows, self._n_skipped, problems, tuple(self._problems))
