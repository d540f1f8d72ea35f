"""From what is typed to what the library takes, where these differ; and back, for messages.

A conversion raises `typer.BadParameter` for what only the command line knows; who calls it names the option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from laconic.cli import completion

MOST_SEED = 2**32 - 1


def opposite(typed: bool) -> bool:
    """Of an option that says no where the parameter says yes."""
    return not typed


def sign(typed: str) -> str:
    r"""A character; most shells have no simple way to type a tab.

    >>> sign(r"\t"), sign(";")
    ('\t', ';')
    """
    return "\t" if typed == r"\t" else typed


def typed_sign(value: str) -> str:
    r"""The way back: ``\t`` for a tab."""
    return value.replace("\t", r"\t")


def frequency(typed: str) -> int | float:
    """A number of documents, or a part of all documents.

    >>> frequency("5"), frequency("0.05"), frequency("1.0")
    (5, 0.05, 1.0)
    """
    try:
        number = int(typed) if typed.strip().isdecimal() else float(typed)
    except ValueError:
        number = -1.0
    if (isinstance(number, int) and number >= 1) or (isinstance(number, float) and 0 <= number <= 1):
        return number
    raise typer.BadParameter(
        f"{typed!r} is neither a number of documents (1, 2, ...) nor a fraction of all documents (0.0 to 1.0)"
    )


_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(typed: str) -> float:
    """A time: seconds, or with a unit.

    >>> seconds("90"), seconds("60s"), seconds("1.5m"), seconds("2h")
    (90.0, 60.0, 90.0, 7200.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|)\s*", typed)
    if found is None:
        raise typer.BadParameter(f"{typed!r} is not a time: give seconds, or something like 30s, 10m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


def up_to(typed: int) -> tuple[int, int]:
    """Sequences of up to so many words.

    >>> up_to(2)
    (1, 2)
    """
    return 1, typed


def longest(value: Any) -> str:
    """The way back from the shortest and the longest sequence."""
    return str(value[1])


def stop_words(typed: str) -> str | list[str] | None:
    """The words to leave out, as a `Vectorizer` takes them: of languages, of files, or none."""
    if typed.lower() == "none":
        return None
    from laconic.corpus.languages import words_named

    known = completion.stop_word_languages("")
    for part in filter(None, map(str.strip, typed.split(","))):
        if known and part.lower() not in known and not Path(part).is_file():
            raise typer.BadParameter(
                f"{part!r} is neither a file nor a language with a list of stop words; known are none, "
                f"{', '.join(known)}"
            )
    # Without the package that has them, this says how to get it.
    words = words_named(typed)
    # Texts are lower-cased before their stop words are looked for.
    return words if isinstance(words, str) else sorted({word.lower() for word in words})


def stemmer(typed: str) -> str:
    """The name of a language that has a stemmer."""
    from laconic.corpus.languages import stemmers

    known = stemmers()
    if typed.lower() not in known:
        raise typer.BadParameter(f"there is no stemmer for {typed!r}; known languages are {', '.join(known)}")
    return typed.lower()


def prior(typed: str) -> Any:
    """A prior, from its name and its numbers."""
    from laconic.priors import from_text

    return from_text(typed)


def typed_prior(value: Any) -> str:
    """The way back."""
    from laconic.priors import as_text

    return value if isinstance(value, str) else as_text(value)


def seed(typed: int) -> int:
    """A seed of random numbers."""
    if not 0 <= typed <= MOST_SEED:
        raise typer.BadParameter(f"{typed} is not between 0 and {MOST_SEED:,}")
    return typed


def jobs(typed: int) -> int:
    """A number of threads."""
    if typed == 0:
        raise typer.BadParameter("0 threads are not enough: give 1 or more, or -1 for all cores")
    return typed


def columns(typed: list[str]) -> str | list[str]:
    """The column of the text, or several.

    >>> columns(["body"]), columns(["title", "body"])
    ('body', ['title', 'body'])
    """
    return typed[0] if len(typed) == 1 else list(typed)


def columns_by_name(pairs: Iterable[str] | None) -> dict[str, str]:
    """The column of each modality, by the modality's name.

    >>> columns_by_name(["de=body", "en=title"])
    {'de': 'body', 'en': 'title'}
    """
    columns: dict[str, str] = {}
    for pair in pairs or ():
        name, _, column = pair.partition("=")
        if name in columns:
            raise typer.BadParameter("was typed twice", param_hint=f"--text-{name}")
        columns[name] = column
    return columns
