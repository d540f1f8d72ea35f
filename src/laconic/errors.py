"""The errors that laconic raises about what it is given: all are of the type ValueError.

A message is made of parts, and a parameter in it is a part of its own, as data: so the same message can be
worded for Python (``min_df=1``) and for the command line (``--min-df 1``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

_NOT_SAID = object()


@dataclass(frozen=True)
class Parameter:
    """A parameter that a message names, and perhaps a value to give it.

    Parameters
    ----------
    name : str
        As it is called in Python.
    value : object, optional
        What to set it to, or what it was.

    Examples
    --------
    >>> print(Parameter("min_df"), Parameter("min_df", 1), Parameter("encoding", "latin-1"))
    min_df min_df=1 encoding='latin-1'
    """

    name: str
    value: object = _NOT_SAID

    @property
    def has_value(self) -> bool:
        """Whether a value is named, too."""
        return self.value is not _NOT_SAID

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}" if self.has_value else self.name


@dataclass(frozen=True)
class InPython:
    """A part of a message that is of use only to who writes Python: elsewhere it is left out.

    Examples
    --------
    >>> error = InputError("change ", Parameter("stop_words"), InPython(" or token_pattern"))
    >>> str(error)
    'change stop_words or token_pattern'
    >>> error.worded(lambda parameter: "--stop-words")
    'change --stop-words'
    """

    text: str

    def __str__(self) -> str:
        return self.text


class InputError(ValueError):
    """Base of laconic's errors: a message whose parts are texts, parameters and other errors.

    Examples
    --------
    >>> error = InputError("no term is left: lower ", Parameter("min_df"))
    >>> str(error)
    'no term is left: lower min_df'
    >>> error.worded(lambda parameter: f"--{parameter.name.replace('_', '-')}")
    'no term is left: lower --min-df'
    >>> error.parameter
    'min_df'
    """

    def __str__(self) -> str:
        return self.worded(str)

    def worded(self, word: Callable[[Parameter], str]) -> str:
        """The message, with parameters worded by a function (`str` is Python's way)."""

        def text(part: object) -> str:
            if isinstance(part, Parameter):
                return word(part)
            if isinstance(part, InputError):
                return part.worded(word)
            return "" if isinstance(part, InPython) and word is not str else str(part)

        return "".join(map(text, self.args))

    def without(self, start: str) -> Self:
        """The same error, whose message does not begin with this any more.

        >>> error = InputError("a.csv: unknown ", Parameter("encoding"))
        >>> str(error.without("a.csv: "))
        'unknown encoding'
        """
        first, *others = self.args
        return type(self)(str(first).removeprefix(start), *others)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same error, with other names for some parameters."""
        return type(self)(
            *(
                replace(part, name=names.get(part.name, part.name))
                if isinstance(part, Parameter)
                else part.renamed(names)
                if isinstance(part, InputError)
                else part
                for part in self.args
            )
        )

    @property
    def parameter(self) -> str | None:
        """The first parameter that the message names."""
        return next(iter(self.parameters), None)

    @property
    def parameters(self) -> list[str]:
        """All parameters that the message names, in its order."""
        names: list[str] = []
        for part in self.args:
            if isinstance(part, Parameter):
                names.append(part.name)
            elif isinstance(part, InputError):
                names += part.parameters
        return names


def listed(names: Sequence[str]) -> list[object]:
    """Parameters as the parts of a message: a, b and c.

    >>> print(InputError("leave ", *listed(["text", "label", "id"]), " out"))
    leave text, label and id out
    """
    parts: list[object] = []
    for place, name in enumerate(names):
        if place:
            parts.append(" and " if place == len(names) - 1 else ", ")
        parts.append(Parameter(name))
    return parts


class ParameterError(InputError):
    """A parameter that makes no sense, by itself or with the others."""


class CorpusError(InputError):
    """Documents that cannot be used as they are.

    The message names the file and the line (or the position in the list) and says what to do.

    Examples
    --------
    >>> from laconic import Corpus, CorpusError
    >>> try:
    ...     Corpus.from_texts("one text, not a list")
    ... except CorpusError as error:
    ...     print(error)
    texts must be a list or another iterable of strings, not one string: write [text]
    """


class InputWarning(UserWarning):
    """What was given can be used, but is probably not what was meant.

    Parameters
    ----------
    message : InputError
        Parts and all, so that the command line can word it.

    Examples
    --------
    >>> print(InputWarning(InputError("lower ", Parameter("alpha_topics"))))
    lower alpha_topics
    """

    def __init__(self, message: InputError) -> None:
        super().__init__(str(message))
        self.message = message


class BundleError(InputError):
    """A saved model cannot be read, or a model cannot be saved; the message names the file and the reason."""


class CheckpointError(InputError):
    """A checkpoint that cannot be used: it is damaged, or of another fit; the message says which."""


class ClusterError(InputError):
    """A cluster that does not do its work any more; the message says why and what to do."""


class SearchError(InputError):
    """A search index that cannot be used; the message says why and what to do."""


class DatasetError(InputError):
    """A data set that is unknown, absent or damaged.

    The message names the data set or the file and says what to do.

    Examples
    --------
    >>> from laconic.datasets import DatasetError, load
    >>> try:
    ...     load("20newsgroup")
    ... except DatasetError as error:
    ...     print(error)
    there is no data set '20newsgroup'; did you mean '20newsgroups'? `laconic datasets` lists them all
    """
