"""Texts that are short, such as queries: arrays and tables would cost more than their words do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from laconic.corpus.terms import Stem
from laconic.corpus.tokens import Tokens, lowers_one_by_one
from laconic.matrices import canonical_csr

if TYPE_CHECKING:
    from laconic.matrices import CSR

# How many texts, of how many characters together, are gone through word by word.
_TEXTS = 4
_CHARACTERS = 2000


def are_short(texts: object) -> bool:
    """Whether to go through texts word by word.

    >>> are_short(["one query"]), are_short(["a long text " * 500]), are_short(iter(["one query"]))
    (True, False, False)
    """
    return (
        isinstance(texts, list | tuple)
        and len(texts) <= _TEXTS
        and all(isinstance(text, str) for text in texts)
        and sum(map(len, texts)) <= _CHARACTERS
    )


def count_short(
    texts: Sequence[str],
    tokens: Tokens,
    columns: Mapping[str, int],
    *,
    stop_words: Collection[str],
    ngram_range: tuple[int, int],
    stem: Stem | None,
) -> CSR:
    """Count the terms of a vocabulary, as `Counted` does.

    Parameters
    ----------
    texts : sequence of str
        See `are_short`.
    tokens : Tokens
        What is a token.
    columns : mapping of str to int
        The column of each term of the vocabulary.
    stop_words, ngram_range, stem
        As in `Counted`; whether a token is one of `stop_words` is asked often.

    Returns
    -------
    scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
        Canonical.
    """
    indices: list[int] = []
    data: list[int] = []
    indptr = [0]
    for text in texts:
        found = [token for token in tokens.split(text) if token not in stop_words]
        if stem is not None:
            found = [one.decode("utf-8", "surrogatepass") for one in stem(found)]
        counts = Counter(columns[term] for term in _ngrams(found, ngram_range) if term in columns)
        for column in sorted(counts):
            indices.append(column)
            data.append(counts[column])
        indptr.append(len(indices))
    return canonical_csr(
        np.array(data, np.float32), np.array(indices, np.int32), np.array(indptr, np.int32), len(columns)
    )


def _ngrams(tokens: Sequence[str], ngram_range: tuple[int, int]) -> Iterable[str]:
    shortest, longest = ngram_range
    if longest == 1:
        return tokens
    return [
        " ".join(tokens[start : start + length])
        for length in range(shortest, min(longest, len(tokens)) + 1)
        for start in range(len(tokens) - length + 1)
    ]


def words_in(text: str, words: Iterable[str], *, lowercase: bool) -> list[tuple[int, int, str]] | None:
    r"""Where words stand in a text, in its order; None if only a look at all words of the text can tell.

    Parameters
    ----------
    text : str
    words : iterable of str
        Of word characters only; lower-case ones, if texts are lower-cased.
    lowercase : bool
        Whether letters' case is passed over.

    Returns
    -------
    list of (int, int, str), or None
        Beginning and end of each match, and the word.

    Examples
    --------
    >>> words_in("Red fish, RED_fish, reddish, red", ["red"], lowercase=True)
    [(0, 3, 'red'), (29, 32, 'red')]
    """
    if lowercase:
        if not lowers_one_by_one(text):
            return None
        text = text.lower()
    found = []
    for word in words:
        start, size = text.find(word), len(word)
        while start >= 0:
            stop = start + size
            # Not as a part of a longer word: a slice beyond either end is empty, and in no word.
            before, after = text[start - 1 : start], text[stop : stop + 1]
            if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
                found.append((start, stop, word))
            start = text.find(word, stop)
    found.sort()
    return found
