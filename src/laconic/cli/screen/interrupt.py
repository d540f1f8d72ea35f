"""Ctrl-C during a fit: the first asks it to stop and to keep what it has, the second aborts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupt:
    """Take over Ctrl-C inside a ``with`` block.

    Parameters
    ----------
    when_asked : callable
        Called at the first Ctrl-C, from the signal handler: it must not write to a stream.

    Attributes
    ----------
    asked : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self, when_asked: Callable[[], None]) -> None:
        self.asked = False
        self._when_asked = when_asked
        self._previous: Any = None

    def __enter__(self) -> Self:
        # Only the main thread may set a handler; and who ignores the signal (nohup, say) goes on ignoring it.
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._previous = signal.signal(signal.SIGINT, self._answer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _answer(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._when_asked()
