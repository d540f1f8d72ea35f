"""What is said to whom: results on standard output, everything else on standard error."""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.text import Text

if TYPE_CHECKING:
    from rich.status import Status

# Wider than any row: in a pipe every row is one line, for grep and its like.
_UNWRAPPED = 1_000_000


class PipeConsole(Console):
    """A console that leaves a closed pipe to its caller, in place of ending the process."""

    def on_broken_pipe(self) -> None:
        """Raise the error again."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def messages() -> Console:
    """A console on standard error."""
    return PipeConsole(stderr=True, highlight=False)


def say(message: str | Text, *, whole: bool = False) -> None:
    """Write a line to standard error.

    Parameters
    ----------
    message : str or Text
        Broken between words where a terminal ends.
    whole : bool
        Leave it in one piece, to be copied or searched for.
    """
    console = messages()
    text = message if isinstance(message, Text) else Text(_lines(message))
    console.print(text, soft_wrap=whole or not console.is_terminal)


def warn(message: str) -> None:
    """Write a warning to standard error."""
    say(Text.assemble(("laconic: warning: ", "yellow"), _lines(message)))


class _Shown(logging.Handler):
    """What the library logs, as messages of the command line."""

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def show_logged() -> None:
    """Show warnings that the library logs."""
    logger = logging.getLogger("laconic")
    if not any(isinstance(handler, _Shown) for handler in logger.handlers):
        logger.addHandler(_Shown(logging.WARNING))


def fail(message: str) -> None:
    """Write an error, as one line, to standard error."""
    line = printable(" ".join(message.split()))
    say(Text.assemble(("laconic: error: ", "bold red"), (line, "red")), whole=True)


@contextmanager
def waiting(message: str) -> Iterator[Status]:
    """Show on a terminal that something goes on; gives the display, whose text may be changed."""
    console = messages()
    spinner = "dots" if speaks_unicode(console.encoding) else "line"
    with console.status(Text(message), spinner=spinner) as status:
        yield status


def emit(renderable: RenderableType) -> None:
    """Write a table to standard output: as wide as the terminal, or else with one line for each row."""
    console = PipeConsole(highlight=False)
    if console.is_terminal:
        console.print(renderable)
        return
    console = PipeConsole(highlight=False, width=_UNWRAPPED)
    with console.capture() as capture:
        console.print(renderable)
    lines = "\n".join(line.rstrip() for line in capture.get().split("\n"))
    # Without the empty lines around the table, so that `head -1` gives the names of the columns.
    sys.stdout.write(lines.strip("\n") + "\n")
    sys.stdout.flush()


def is_narrow() -> bool:
    """Whether results go to a terminal of fewer than 110 columns."""
    console = PipeConsole(highlight=False)
    return console.is_terminal and console.width < 110


def _lines(message: str) -> str:
    """A message, which may have the names of files in it, or labels, as a terminal may have it."""
    return "\n".join(map(printable, message.split("\n")))


def printable(text: str) -> str:
    r"""Escape what a terminal would obey and not show.

    >>> printable("naïve\x1b[2J")
    'naïve\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def speaks_unicode(encoding: str | None) -> bool:
    """Whether an encoding has all characters.

    >>> speaks_unicode("UTF-8"), speaks_unicode("latin-1")
    (True, False)
    """
    return (encoding or "").lower().startswith("utf")


def emit_json(value: Any) -> None:
    """Write a value as JSON to standard output, in letters that it can show."""
    ascii_only = not speaks_unicode(sys.stdout.encoding)
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False) + "\n")
