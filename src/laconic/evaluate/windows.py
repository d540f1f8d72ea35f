"""In how many windows of texts words occur together."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.corpus.languages import english_words
from laconic.corpus.languages import stemmer as stemmer_of
from laconic.kernels.windows import slide

if TYPE_CHECKING:
    from laconic.corpus import Vectorizer

# A table of so many words and as many is filled at a time.
_WORDS = 2048


def count_in_windows(
    texts: Iterable[str], vectorizer: Vectorizer, topics: Sequence[Sequence[str]], size: int
) -> tuple[int, Callable[[list[str]], NDArray[np.float64]]]:
    """Count the windows with two words of a topic.

    Parameters
    ----------
    texts : iterable of str
        Read once.
    vectorizer : Vectorizer
        Says what is a word. Stop words are left out; terms of several words are never found.
    topics : sequence of sequence of str
        The words of each topic.
    size : int
        How many words a window has.

    Returns
    -------
    n_windows : int
        In all; a text of no more words than a window has is one, even if it is empty.
    together : callable
        From the words of one of the topics to a square array: how many windows have both words.
    """
    numbers: dict[str, int] = {}
    for word in (word for topic in topics for word in topic):
        numbers.setdefault(word, len(numbers))
    tokens, ends = array("i"), array("q")
    for words in _words(texts, vectorizer):
        tokens.extend(numbers.get(word, -1) for word in words)
        ends.append(len(tokens))
    found, stops = np.asarray(tokens, np.int32), np.asarray(ends, np.int64)
    lengths = np.diff(stops, prepend=0)
    tables: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for part in _parts(topics):
        chosen = {word: place for place, word in enumerate(dict.fromkeys(w for topic in part for w in topic))}
        places = np.full(len(numbers) + 1, -1, np.int32)  # the last is for what is in no topic
        places[[numbers[word] for word in chosen]] = np.arange(len(chosen))
        table = np.zeros((len(chosen), len(chosen)), np.int64)
        slide(places[found], stops, size, table)
        table += np.triu(table, 1).T + np.tril(table, -1).T
        for topic in part:
            own = [chosen[word] for word in topic]
            tables[tuple(topic)] = table[np.ix_(own, own)].astype(np.float64)
    return int(np.maximum(lengths - size + 1, 1).sum()), lambda words: tables[tuple(words)]


def _parts(topics: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Divide topics so that a table of all words of a part fits into memory."""
    part: list[Sequence[str]] = []
    n_words = 0
    for topic in topics:
        if part and n_words + len(topic) > _WORDS:
            yield part
            part, n_words = [], 0
        part.append(topic)
        n_words += len(topic)
    if part:
        yield part


def _words(texts: Iterable[str], vectorizer: Vectorizer) -> Iterator[list[str]]:
    """The words of each text, in their order, as the vectoriser sees them."""
    settings: dict[str, Any] = vectorizer.to_dict()
    stops = settings["stop_words"]
    left_out = english_words() if stops == "english" else frozenset(stops or ())
    stem = None if settings["stemmer"] is None else stemmer_of(settings["stemmer"])
    for text in map(vectorizer.plain, texts):
        words = [word for word in vectorizer.split(text) if word not in left_out]
        yield words if stem is None else [stemmed.decode("utf-8", "replace") for stemmed in stem(words)]
