"""The error that every part of this package raises about data sets."""


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
