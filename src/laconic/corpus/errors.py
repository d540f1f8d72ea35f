"""The error that every part of this package raises about documents."""


class CorpusError(ValueError):
    """Documents that cannot be used as they are.

    The message names the file and the line (or the position in the list) and says what to do.

    Examples
    --------
    >>> from laconic.corpus import Corpus, CorpusError
    >>> try:
    ...     Corpus.from_texts("one text, not a list")
    ... except CorpusError as error:
    ...     print(error)
    texts must be a list or another iterable of strings, not one string: write [text]
    """
