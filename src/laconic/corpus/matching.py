"""Regular expressions that any caller may give, with a limit of time: some never end on forty letters."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from laconic.errors import CorpusError

SECONDS = 30.0
"""What a text of any length may take; one of a million characters may take twice as long."""


class TimedPattern:
    r"""A compiled pattern that gives up on a text that takes it too long.

    Python's `re` cannot be told to stop, but listens to signals. So the limit is kept by the alarm clock of
    the process: in its main thread, where there is such a clock (not on Windows), and where nobody else uses
    it.

    Parameters
    ----------
    pattern : str
        A regular expression.

    Examples
    --------
    >>> TimedPattern(r"\w+-\w+").findall("a well-known fact")
    ['well-known']
    """

    def __init__(self, pattern: str) -> None:
        self._compiled = re.compile(pattern)

    def findall(self, text: str) -> list[Any]:
        """As in `re`."""
        with self._limited(text):
            return self._compiled.findall(text)

    def places(self, text: str) -> list[tuple[int, int, str]]:
        """Beginning and end of every token of a text, and the token."""
        group = min(1, self._compiled.groups)
        with self._limited(text):
            found = list(self._compiled.finditer(text))
        return [(match.start(group), match.end(group), match[group]) for match in found]

    @contextlib.contextmanager
    def _limited(self, text: str) -> Iterator[None]:
        if not _has_clock():
            yield
            return
        seconds = SECONDS * (1 + len(text) / 1e6)

        def give_up(*_: object) -> NoReturn:
            raise CorpusError(
                f"the pattern {self._compiled.pattern!r:.80} has taken {seconds:.0f} seconds for a text of "
                f"{len(text):,} characters, and might never end: simplify it (what takes long are "
                "repetitions within repetitions, such as (a+)+)"
            )

        before = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _has_clock() -> bool:
    """Whether there is an alarm clock that nobody else has set, and this thread would hear it."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
