"""The errors that laconic raises about what it is given: all are of the type ValueError."""

from __future__ import annotations


class CorpusError(ValueError):
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


class BundleError(ValueError):
    """A saved model cannot be read, or a model cannot be saved; the message names the file and the reason."""


class SearchError(ValueError):
    """A search index that cannot be used; the message says why and what to do."""


class DatasetError(ValueError):
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
