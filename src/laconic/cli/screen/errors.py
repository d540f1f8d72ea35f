"""How a command ends when something goes wrong: one clear line and an exit code, no traceback."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

import typer

from laconic.cli.screen.console import fail, say
from laconic.errors import InputError, Parameter

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
            f"there is not enough memory{reason}: take fewer topics or documents, or fewer terms "
            "(fit has --min-df and --max-features)"
        )
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if isinstance(error, InputError):
        return as_options(error.worded(option))
    if isinstance(error, ValueError | OSError) and error.args:
        return as_options(str(error))
    return f"unexpected {type(error).__name__}: {error} (laconic --debug ... shows where it comes from)"


def option(parameter: Parameter) -> str:
    """How a parameter is typed.

    >>> option(Parameter("min_df", 1)), option(Parameter("n_topics"))
    ('--min-df 1', '--topics')
    """
    name = _OPTIONS.get(parameter.name, f"--{parameter.name.replace('_', '-')}")
    return f"{name} {shlex.quote(str(parameter.value))}" if parameter.has_value else name


def as_options(message: str) -> str:
    """Say what the library says in the command line's words.

    >>> as_options("lower min_df (such as min_df=1), or give encoding='latin-1'")
    'lower --min-df (such as --min-df 1), or give --encoding latin-1'
    >>> as_options("a.txt has no columns: leave text, label and id out; the label of label=spam/a.txt")
    'a.txt has no columns: leave --text, --label and --id out; the label of label=spam/a.txt'
    """
    for phrase, ours in _PHRASES.items():
        message = message.replace(phrase, ours)
    message = re.sub(
        r"(no column '[^']*'); there are: ", r"\1 (--text, --label and --id name them); there are: ", message
    )
    names = "|".join(_OPTIONS)
    typed = re.sub(
        rf"""(?<![\w/.-])({names})=(?:'([^']*)'|"([^"]*)"|([\w.+-]+))(?![\w.+/-])""",
        lambda m: f"{_OPTIONS[m[1]]} {shlex.quote(m[2] or m[3] or m[4] or '')}",
        message,
    )
    # "encoding" alone is an ordinary word, unless it is to be left out; names with an underscore are not.
    left_out = re.sub(
        r"(?<=\bleave )[\w, ]+(?= out\b)",
        lambda m: re.sub(rf"\b({names})\b", lambda n: _OPTIONS[n[1]], m[0]),
        typed,
    )
    bare = "|".join(name for name in _OPTIONS if "_" in name)
    return re.sub(rf"(?<![\w/.-])({bare})(?![\w/-]|\.\w)", lambda m: _OPTIONS[m[1]], left_out)


def option_names(names: Iterable[str]) -> str:
    """List the options that give the library these.

    >>> option_names(["min_df", "ngram_range", "id"])
    '--min-df, --ngrams and --id'
    """
    *others, last = (_OPTIONS[name] for name in names)
    return f"{', '.join(others)} and {last}" if others else last


_OPTIONS = {
    "alpha_docs": "--alpha-docs",
    "alpha_topics": "--alpha-topics",
    "delimiter": "--delimiter",
    "divergence": "--divergence",
    "doc_norm": "--doc-norm",
    "encoding": "--encoding",
    "id": "--id",
    "label": "--label",
    "max_df": "--max-df",
    "max_features": "--max-features",
    "max_iter": "--max-iter",
    "min_df": "--min-df",
    "n_components": "--topics",
    "n_per_class": "--per-class",
    "n_shared": "--shared",
    "n_topics": "--topics",
    "n_neighbors": "--neighbors",
    "ngram_range": "--ngrams",
    "on_error": "--on-error",
    "stemmer": "--stemmer",
    "stop_words": "--stop-words",
    "strength": "--strength",
    "sublinear_tf": "--sublinear-tf",
    "terms_per_topic": "--words",
    "text": "--text",
    "topic_norm": "--topic-norm",
    "vocabulary": "--vocabulary",
    "weighting": "--weighting",
}

# What has no option of its own, or is said with words that only look like a name.
_PHRASES = {
    "of what token_pattern does not match": "of what is no word",
    "change stop_words or token_pattern": "change stop_words",
    "and label too unless it is label=": "and --label too unless it is label=",
    "delimiter must be one character": "--delimiter must be one character",
    "use priors.Pareto or priors.PseudoDirichlet, or NMF with loss='kl'": (
        "use --prior pareto or pseudo-dirichlet, or --model nmf-kl"
    ),
}


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
