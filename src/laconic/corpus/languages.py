"""What differs from language to language: stop words and stems, by packages that are installed on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import ModuleType

from laconic.errors import InputError, InPython, Parameter, ParameterError

INSTALL = 'pip install "laconic[languages]"'


def stop_words_of(language: str) -> list[str]:
    """Give the stop words of a language, by the package `stop-words`.

    Parameters
    ----------
    language : str
        Its English name, such as "german".

    Returns
    -------
    list of str
        Sorted.

    Raises
    ------
    ParameterError
        For a language that the package does not have, or if the package is missing.

    Examples
    --------
    >>> "und" in stop_words_of("german")
    True
    """
    package = _imported("stop_words", Parameter("stop_words", language))
    known = sorted(package.AVAILABLE_LANGUAGES)
    if language not in known:
        raise ParameterError(
            Parameter("stop_words", language),
            f" is not known; there are {', '.join(known)}",
            InPython("; or give a list of words, a Path to a file with one word per line, or None"),
        )
    return sorted(set(package.get_stop_words(language)))


def has_stop_words() -> bool:
    """Whether the package with the lists of other languages is installed."""
    return find_spec("stop_words") is not None


def words_named(names: str) -> str | list[str]:
    """The stop words of languages and files whose names are separated by commas; "english" stays its name.

    Parameters
    ----------
    names : str
        Such as "german", or "english,german,my.txt": the words of all of them.

    Returns
    -------
    str or list of str
        "english", or words, sorted.

    Raises
    ------
    ParameterError
        For what is neither a language nor a file.
    """
    parts = [name.strip() for name in names.split(",") if name.strip()]
    if [part.lower() for part in parts] == ["english"]:
        return "english"
    words: set[str] = set()
    for part in parts:
        if Path(part).is_file():
            words.update(read_words(Path(part)))
        elif part.lower() == "english":
            words.update(english_words())
        elif Path(part).suffix:
            raise ParameterError(
                Parameter("stop_words", names), f": there is no file {part} with one word per line"
            )
        else:
            words.update(stop_words_of(part.lower()))
    if not parts:
        raise ParameterError(Parameter("stop_words", names), " is neither a language nor a file")
    return sorted(words)


@cache
def english_words() -> frozenset[str]:
    """The stop words of "english": those of scikit-learn.

    They are read from their own file: the package around it brings a large part of scipy, which no fit needs.
    """
    installed = find_spec("sklearn")
    for folder in (installed and installed.submodule_search_locations) or []:
        file = Path(folder, "feature_extraction", "_stop_words.py")
        if file.is_file():
            return frozenset(run_path(str(file))["ENGLISH_STOP_WORDS"])
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


def read_words(path: Path) -> list[str]:
    """Read words from a UTF-8 file with one on each line, sorted; blank lines are skipped."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(
            Parameter("stop_words"),
            f": {path} cannot be read as a UTF-8 file with one word per line: {error}",
        ) from error
    return sorted({line.strip() for line in lines} - {""})


def stemmers() -> list[str]:
    """List the languages that `stemmer` knows."""
    return list(_imported("Stemmer", Parameter("stemmer")).algorithms())


def stemmer(language: str) -> Callable[[list[str]], list[bytes]]:
    """Make the function that gives the stems of tokens, as UTF-8; no two threads may share it.

    Parameters
    ----------
    language : str
        One of `stemmers`.

    Returns
    -------
    callable
        From tokens to stems.

    Examples
    --------
    >>> stemmer("english")(["fishes", "fishing"])
    [b'fish', b'fish']
    """
    # what they need is much, and who asks for names of languages needs nothing of it
    from laconic.corpus.terms import encoded
    from laconic.reading.strings import is_unicode

    stem_words = _imported("Stemmer", Parameter("stemmer", language)).Stemmer(language).stemWords

    def stems(tokens: list[str]) -> list[bytes]:
        try:
            stemmed = stem_words([token.encode() for token in tokens])
        except UnicodeEncodeError:
            # Half a character has no stem, and stays as it is.
            stemmed = [stem_words([token.encode()])[0] if is_unicode(token) else b"" for token in tokens]
        # A stem may be empty, and a term may not.
        return [stem or encoded(token) for stem, token in zip(stemmed, tokens, strict=True)]

    return stems


@cache
def _imported(module: str, needed_by: Parameter) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(needed_by, f" needs a package that is not installed: {INSTALL}") from error
