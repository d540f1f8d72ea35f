"""Options by their names in Python, as they are typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from laconic.cli.options.table import option_of
from laconic.errors import Parameter


def option_names(names: Iterable[str]) -> str:
    """List the options of these parameters.

    >>> option_names(["min_df", "ngram_range", "id"])
    '--min-df, --ngrams and --id'
    """
    *others, last = (line.flag for line in map(option_of, names) if line is not None)
    return f"{', '.join(others)} and {last}" if others else last


def as_typed(options: Mapping[str, Any], also: tuple[str, ...] = ()) -> str:
    """The options of reading that the next command needs, too, as they are typed.

    >>> as_typed({"text": "body", "label": "kind", "delimiter": ";"})
    " --text body --delimiter ';'"
    """
    needed = ("text", *also, "encoding", "delimiter", "vocabulary")
    lines = ((option_of(name), name) for name in needed if name in options)
    return "".join(f" {line.worded(Parameter(name, options[name]))}" for line, name in lines if line)


def shown(options: Mapping[str, Any]) -> list[str]:
    """Options with their values, to be read and not to be typed.

    >>> shown({"text": "body", "delimiter": ";"})
    ['--text body', '--delimiter ;']
    """
    return [" ".join(shlex.split(as_option(name, value))) for name, value in options.items()]


def as_option(name: str, value: Any) -> str:
    """An option with a value, as it is typed.

    >>> as_option("min_df", 2)
    '--min-df 2'
    """
    line = option_of(name)
    assert line is not None
    return line.worded(Parameter(name, value))
