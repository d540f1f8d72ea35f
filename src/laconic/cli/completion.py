"""What the Tab key completes, beside the names of commands, options and files.

Imports are light and late, and what goes wrong gives no words: a shell waits for the answer, and has no place
for an error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import typer


def stemmer_languages(incomplete: str) -> list[str]:
    """The languages that have a stemmer, if its package is installed.

    >>> stemmer_languages("engl")
    ['english']
    """
    with contextlib.suppress(ImportError):
        return _beginning(import_module("Stemmer").algorithms(), incomplete)
    return []


def stop_word_languages(incomplete: str) -> list[str]:
    """The languages whose stop words are known, if their package is installed.

    >>> stop_word_languages("ger")
    ['german']
    """
    with contextlib.suppress(ImportError):
        return _beginning(import_module("stop_words").AVAILABLE_LANGUAGES, incomplete)
    return []


def priors(incomplete: str) -> list[str]:
    """The beginnings of priors: their numbers are to be typed.

    >>> priors("pa")
    ['pareto:']
    """
    return _beginning(("exponential:", "pareto:", "pseudo-dirichlet:"), incomplete)


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the first file that was typed."""
    # The option that is being typed lacks its value, so arguments are not assigned yet.
    file = next((path for path in map(Path, context.args) if path.is_file()), None)
    if file is None:
        return []
    from laconic.corpus import CorpusError
    from laconic.reading.columns import columns_of

    typed = context.params
    with contextlib.suppress(CorpusError, LookupError, TypeError):
        return _beginning(columns_of(file, typed.get("encoding"), typed.get("delimiter")), incomplete)
    return []


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return sorted(word for word in words if word.startswith(incomplete))
