"""Do the words of a topic belong together? Measured by where they occur together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from laconic.checks import check_choice, check_number
from laconic.errors import CorpusError
from laconic.evaluate.windows import count_in_windows

if TYPE_CHECKING:
    from laconic.corpus import Corpus

Topic: TypeAlias = Sequence[str] | Sequence[tuple[str, float]]
Measure: TypeAlias = Literal["npmi", "umass", "c_v"]
Floats: TypeAlias = NDArray[np.float64]

N_TERMS = 10
N_DIVERSE = 25
EPSILON = 1e-12


@dataclass(frozen=True, eq=False)
class Coherence:
    """What `coherence` found.

    Attributes
    ----------
    measure : str
        "npmi", "umass" or "c_v".
    per_topic : numpy.ndarray of float64
        One value for each topic, never NaN. Topics of fewer than two words have the lowest value there is: -1
        for NPMI, the logarithm of the smoothing for UMass, 0 for C_v.
    mean : float
        Over the topics of two words or more; if there is none, that lowest value.
    n_short : int
        How many topics have fewer than two words.
    """

    measure: str
    per_topic: Floats
    mean: float
    n_short: int


def coherence(
    topics: Iterable[Topic],
    corpus: Corpus,
    *,
    measure: Measure = "npmi",
    n_terms: int = N_TERMS,
    smoothing: float | None = None,
    texts: Iterable[str] | None = None,
    window: int | None = None,
) -> Coherence:
    r"""Measure how well the first words of each topic go together.

    With P(v) the share of documents that have the word v, and P(v, w) that of documents with both,

    - NPMI is the mean over pairs of words of log((P(v, w) + s) / (P(v) P(w))) / -log(P(v, w) + s), from -1 to
      1: 0 for words that are independent, 1 for words that only occur together, and also where a large s
      would make it more;
    - UMass is the mean, over pairs of which v is the earlier word of the topic and w the later, of
      log((P(v, w) + s) / P(v)): at most about 0;
    - C_v compares the word's row in the table of all NPMI of the topic's words (itself included) with the sum
      of all rows: the mean of their cosines.

    Logarithms are natural; the smoothing s keeps them finite.

    Parameters
    ----------
    topics : iterable of topics
        Lists of words, or of words and weights, as ``model.topics(vocabulary)`` has them, the heaviest first.
        Where weights have both signs, the words that have the sign of the first are taken.
    corpus : Corpus
        Where occurrences are counted: the one that the model was fitted on, or another.
    measure : {"npmi", "umass", "c_v"}, default="npmi"
        Which one.
    n_terms : int, default=10
        At most this many words of each topic.
    smoothing : float, optional
        The s above. By default 0 for NPMI, where words that never occur together then have the limit, -1;
        for UMass one document (or window) of all; and for C_v 1e-12. The last gives such words an NPMI the
        higher, the rarer they are: -0.67 for words in one of a hundred documents, -0.5 for one of a thousand.
    texts : iterable of str, optional
        The documents of the corpus, all of them; needed with `window`.
    window : int, optional
        Count in windows of that many words, which slide over each text word by word, in place of whole
        documents; a text that is shorter is one window. Published values of C_v have 110, those of NPMI 10.
        Stop words of the corpus are left out before; its other words keep their place.

    Returns
    -------
    Coherence
        Values of the topics, and their mean.

    Notes
    -----
    Two words in every document or window have the NPMI 1. A word that never occurs has the NPMI -1 with any
    other, the lowest UMass for those after it, and adds a cosine of 0 to C_v.

    With ``smoothing=1e-12`` values are those of gensim: of its ``u_mass`` for whole documents, and of its
    ``c_npmi`` and ``c_v`` for windows, but for two things: it takes a word for gone when the first of several
    occurrences leaves the window, and gives words in every window the NPMI -1.

    Examples
    --------
    >>> from laconic import Corpus
    >>> texts = ["red fish", "red fish", "blue bird", "blue bird", "red bird"]
    >>> corpus = Corpus.from_texts(texts, max_df=1.0)
    >>> found = coherence([["red", "fish"], ["fish", "bird"], ["red"]], corpus)
    >>> found.per_topic.round(3), found.n_short
    (array([ 0.557, -1.   , -1.   ]), 1)
    >>> round(found.mean, 3)
    -0.221
    """
    if not hasattr(corpus, "vocabulary") or not hasattr(corpus, "counts"):
        raise TypeError(
            f"words are counted in a corpus, not in a {type(corpus).__name__}: give the corpus that the "
            "model was fitted on, or Corpus.from_texts(texts)"
        )
    check_choice("measure", measure, get_args(Measure))
    listed = [_heaviest(topic, n_terms) for topic in topics]
    _refuse_numbers(listed, corpus)
    if window is None:
        n_units, together = _in_documents(corpus)
    else:
        check_number("window", window, Integral, 1)
        if texts is None:
            raise ValueError("windows need texts; pass the texts of the corpus, or leave out window")
        if isinstance(texts, str | bytes):
            raise ValueError("texts must be a list of strings, one for each document, not a single string")
        checked = _one_for_each(texts, corpus.shape[0])
        n_units, together = count_in_windows(checked, corpus.vectorizer, listed, window)
    if smoothing is None:
        smoothing = {"npmi": 0.0, "umass": 1 / n_units, "c_v": EPSILON}[measure]
    check_number("smoothing", smoothing, Real, 0)
    if measure == "umass" and smoothing == 0:
        raise ValueError(
            "UMass needs a smoothing above 0, because words that never occur together would have no value"
        )
    lowest = {"npmi": -1.0, "umass": math.log(smoothing or 1), "c_v": 0.0}[measure]
    judge = {"npmi": _npmi_mean, "umass": _umass_mean, "c_v": _c_v}[measure]
    values = np.full(len(listed), lowest)
    for place, words in enumerate(listed):
        if len(words) > 1:
            values[place] = judge(together(words) / n_units, smoothing)
    judged = np.array([len(words) > 1 for words in listed], dtype=bool)
    mean = float(values[judged].mean()) if judged.any() else lowest
    return Coherence(measure, values, mean, int(np.count_nonzero(~judged)))


def diversity(topics: Iterable[Topic], n_terms: int = N_DIVERSE) -> float:
    """Share of distinct words among the first words of all topics.

    Parameters
    ----------
    topics : iterable of topics
        As in `coherence`.
    n_terms : int, default=25
        At most this many words of each topic.

    Returns
    -------
    float
        1 if no two topics share a word, near 0 if all are the same, and 0 if there are no words at all.

    Examples
    --------
    >>> diversity([["red", "fish"], ["blue", "fish"]])
    0.75
    """
    words = [word for topic in topics for word in _heaviest(topic, n_terms)]
    return len(set(words)) / len(words) if words else 0.0


def _heaviest(topic: Topic, n_terms: int) -> list[str]:
    """The first words of a topic; of a signed one, those on the side of the first."""
    check_number("n_terms", n_terms, Integral, 1)
    words: list[str] = []
    side = 0.0
    for entry in topic:
        word, weight = (entry, 1.0) if isinstance(entry, str) else entry
        side = side or weight
        if weight * side > 0:
            words.append(word)
    return list(dict.fromkeys(words))[:n_terms]


def _refuse_numbers(topics: Sequence[Sequence[str]], corpus: Corpus) -> None:
    """Refuse numbers of columns in place of words: all would have the lowest value."""
    words = {word for topic in topics for word in topic}
    if words and all(word.isdecimal() for word in words) and not words.intersection(corpus.vocabulary):
        raise CorpusError(
            f"the words of these topics are column numbers, such as {min(words)!r}, and none is a word of "
            "the corpus: name the columns, as in model.topics(corpus.vocabulary)"
        )


def _one_for_each(texts: Iterable[str], n_documents: int) -> Iterator[str]:
    """The texts as they are read; at the end, there must have been as many as documents."""
    n_texts = 0
    for n_texts, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise ValueError(f"text {n_texts:,} is {type(text).__name__}, not a string")  # noqa: TRY004
        yield text
    if n_texts != n_documents:
        raise ValueError(
            f"there are {n_texts:,} texts for the corpus's {n_documents:,} documents; give one each"
        )


def _in_documents(corpus: Corpus) -> tuple[int, Callable[[list[str]], Floats]]:
    """How many documents there are, and what counts those with two words."""
    columns = {term: column for column, term in enumerate(corpus.vocabulary)}
    counts = corpus.counts_csc

    def together(words: list[str]) -> Floats:
        known = [place for place, word in enumerate(words) if word in columns]
        present = counts[:, [columns[words[place]] for place in known]]
        present = (present > 0).astype(np.float64)
        table = np.zeros((len(words), len(words)))
        table[np.ix_(known, known)] = (present.T @ present).toarray()
        return table

    return corpus.shape[0], together


def _npmi(together: Floats, smoothing: float) -> Floats:
    """The table of NPMI, from that of probabilities: of single words in the diagonal, else of two."""
    alone = np.diagonal(together)
    smoothed = together + smoothing
    values = np.full_like(together, -1.0)
    seen = (alone[:, None] > 0) & (alone > 0) & (smoothed > 0)
    logs = np.log(smoothed, where=seen, out=np.zeros_like(together))
    expected = np.log(np.outer(alone, alone), where=seen, out=np.zeros_like(together))
    certain = smoothed >= 1
    np.divide(logs - expected, -logs, where=seen & ~certain, out=values)
    values[seen & certain] = 1.0
    # Smoothing may give two words a larger share than either has alone, and then values above the limit.
    return np.minimum(values, 1.0)


def _npmi_mean(together: Floats, smoothing: float) -> float:
    return float(_npmi(together, smoothing)[np.triu_indices(len(together), 1)].mean())


def _umass_mean(together: Floats, smoothing: float) -> float:
    earlier, later = np.triu_indices(len(together), 1)
    given = np.diagonal(together)[earlier]
    return float(np.log((together[earlier, later] + smoothing) / np.where(given > 0, given, 1)).mean())


def _c_v(together: Floats, smoothing: float) -> float:
    rows = _npmi(together, smoothing)
    total = rows.sum(axis=0)
    sizes = np.linalg.norm(rows, axis=1) * np.linalg.norm(total)
    seen = (np.diagonal(together) > 0) & (sizes > 0)
    return float(np.divide(rows @ total, sizes, where=seen, out=np.zeros(len(rows))).mean())
