"""How a command ends when something goes wrong: one clear line and an exit code, no traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

import typer

from laconic.cli.options.table import worded
from laconic.cli.screen.console import fail, say
from laconic.errors import InputError

FAILED = 1
INTERRUPTED = 130
CLOSED_PIPE = 141  # as of a process that SIGPIPE ended

DEBUG = ContextVar("DEBUG", default=False)

Arguments = ParamSpec("Arguments")


def reported(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Wrap a command so that its errors are told in a line; with ``--debug`` they are raised."""

    @wraps(command)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        _allow_any_character()
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except (typer.Exit, typer.BadParameter):
            raise
        except BrokenPipeError as error:
            _forget_output()
            raise typer.Exit(CLOSED_PIPE) from error
        except KeyboardInterrupt as error:
            say(f"laconic: interrupted{f', {error}' if error.args else ''}")
            raise typer.Exit(INTERRUPTED) from error
        except Exception as error:
            if DEBUG.get():
                raise
            fail(described(error))
            raise typer.Exit(FAILED) from error

    return run


def described(error: Exception) -> str:
    """What to tell a user about an error.

    >>> described(FileNotFoundError(2, "No such file or directory", "texts.csv"))
    'texts.csv: No such file or directory'
    >>> described(ZeroDivisionError("division by zero"))
    'unexpected ZeroDivisionError: division by zero (laconic --debug ... shows where it comes from)'
    """
    if isinstance(error, MemoryError):
        reason = f" ({error})" if error.args else ""
        return (
            f"there is not enough memory{reason}: let fit keep documents in files (--memory), or use fewer "
            f"topics, documents or terms (fit has --min-df and --max-features)"
        )
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if isinstance(error, InputError):
        return error.worded(worded)
    if isinstance(error, ValueError | OSError) and error.args:
        return str(error)
    return f"unexpected {type(error).__name__}: {error} (laconic --debug ... shows where it comes from)"


def _allow_any_character() -> None:
    """Escape what the encoding of standard output does not have, as Python does for standard error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """Nobody reads any more: keep the interpreter from complaining when it flushes at its end."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stdout.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
