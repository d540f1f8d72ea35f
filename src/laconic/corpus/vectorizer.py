"""Texts to counts to weights: tokens, the vocabulary that is kept, and its weighting."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic.corpus.counting import Counted, Progress, Tally
from laconic.corpus.languages import english_words
from laconic.corpus.languages import stemmer as stemmer_of
from laconic.corpus.markup import looked_at, without_markup
from laconic.corpus.matching import TimedPattern
from laconic.corpus.noticing import noticed
from laconic.corpus.options import Weighting, check_options
from laconic.corpus.short import are_short, count_short, words_in
from laconic.corpus.terms import Ids
from laconic.corpus.tokens import GivenTokens, Tokens, Untrusted, find_tokens, is_harmless, with_emoji
from laconic.corpus.weighting import checked_length, checked_weights, term_weights, usual_length, weighed
from laconic.errors import CorpusError, InputWarning, InPython, Parameter
from laconic.matrices import counts_to_read
from laconic.reading.strings import Strings, as_vocabulary
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.matrices import CSR

TOKEN_PATTERN = r"(?u)\b[^\W\d_]\w+\b"

# A term in more than this part of the texts is in nearly every one, if there are enough to tell.
_NEARLY_ALL = 0.9
_FEWEST_TEXTS = 100

# Terms that are looked up at a time, so that not all that a stream of texts has are strings at once.
_LOOKED_UP = 1 << 17


def _outside() -> int:
    """How far up the caller is who is not of this package: whom a warning is about."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("laconic."):
        level, frame = level + 1, frame.f_back
    return level


def check_texts(texts: object) -> None:
    """Refuse what is not an iterable of texts."""
    if isinstance(texts, str | bytes):
        raise CorpusError("texts must be a list or another iterable of strings, not one string: write [text]")
    if hasattr(texts, "columns"):
        # To go through a data frame is to go through the names of its columns.
        raise CorpusError(
            "this is a table, not a list of texts: pass one of its columns, such as table['text']"
        )
    if not isinstance(texts, Iterable):
        raise CorpusError(f"texts must be a list or another iterable of strings, not {type(texts).__name__}")


class Vectorizer:
    r"""Turn texts into a documents × terms matrix.

    The options have scikit-learn's names and meaning: the counts are those of its `CountVectorizer`, the
    weights those of its `TfidfVectorizer`. Nothing of the texts is kept but the vocabulary.

    Parameters
    ----------
    token_pattern : str, default=r"(?u)\b[^\W\d_]\w+\b"
        Regular expression of a token: two or more word characters, the first of them a letter. If it has
        a group, the group is the token. This pattern, ``\b\w\w+\b`` and ``\b\w+\b`` are read by compiled
        code; with others, counting takes several times as long.
    tokenizer : callable or None, default=None
        A function from a text to a list of its words, instead of the pattern: for languages without spaces,
        such as ``jieba.lcut``. Only its name is saved with a model; set ``vectorizer.tokenizer`` again
        after loading. Texts may also be lists of words, which need no tokenizer.
    emoji : bool, default=False
        Whether emoji count as words.
    lowercase : bool, default=True
        Whether texts are lower-cased first.
    html : bool or None, default=None
        Whether HTML tags and entities are removed from texts first, including the content of scripts and
        styles. None removes them if at least 2 % of the first 1,000 texts in `fit_count` contain some;
        later texts are then treated the same way. Only HTML elements are tags, not "a < b" or "<stdio.h>".
    ngram_range : (int, int), default=(1, 1)
        Lengths of the shortest and the longest n-grams.
    min_df, max_df : int or float, default=2 and 0.5
        Terms that occur in fewer or in more documents are left out; a float is a fraction of all documents.
    max_features : int or None, default=None
        Keep only this many terms, the most frequent ones; ties are broken alphabetically.
    stop_words : str, path, list or None, default="english"
        Tokens to leave out: "english", the name of another language (which needs the package `stop-words`),
        a `pathlib.Path` to a file with one word per line, or a list of words. They can be combined:
        "english,german,my.txt", or, to extend a language, ``["english", ["inc", "ltd"]]``.
    stemmer : str or None, default=None
        The language of the stemmer, such as "english": "fishing" and "fishes" are both counted as "fish".
        Stop words are removed before, and n-grams are made of stems. Needs the package PyStemmer.
    weighting : {"count", "binary", "tfidf", "log-entropy", "bm25"}, default="log-entropy"
        "tfidf" is the count times ln((1 + n) / (1 + df)) + 1. "log-entropy" is ln(1 + count) times
        1 + sum_d p ln p / ln n, where p is the share of the term's occurrences that document d has: 1 for a
        term of one document, 0 (and so no entry) for one that all documents have equally often. "bm25" is
        ln(1 + (n - df + 0.5) / (df + 0.5)) times count / (count + 1.2 (0.25 + 0.75 l)), where l is the length
        of the document, as a part of the mean. With these three, rows have length one; "count" and "binary"
        are not normalised.
    sublinear_tf : bool, default=False
        For "tfidf", use 1 + ln(count) instead of the count.

    Attributes
    ----------
    vocabulary : numpy.ndarray of str
        The terms in the order of the columns (sorted, if learnt by `fit_count`).
    idf : numpy.ndarray of float64, or None
        The weight of each term; None for "count" and "binary".
    mean_length : float or None
        For "bm25": how many words of the vocabulary documents have on average, not counting empty ones.
    tally : Tally or None
        What `fit_count` found: numbers of texts, tokens and terms. None if it was not called.

    Notes
    -----
    Texts are counted in batches, in threads, and not kept. Counts that take more than a few hundred
    megabytes go to temporary files (in TMPDIR), so texts may be larger than memory.

    Examples
    --------
    >>> from laconic.corpus import Vectorizer
    >>> vectorizer = Vectorizer(min_df=1, max_df=1.0)
    >>> vectorizer.fit_count(["Red fish, blue fish", "", "The fish is new"]).toarray()
    array([[1., 2., 0., 1.],
           [0., 0., 0., 0.],
           [0., 1., 1., 0.]], dtype=float32)
    >>> vectorizer.vocabulary
    array(['blue', 'fish', 'new', 'red'], dtype=object)
    >>> vectorizer.transform(["fish", "bird"]).toarray()
    array([[0., 1., 0., 0.],
           [0., 0., 0., 0.]], dtype=float32)
    """

    def __init__(
        self,
        *,
        token_pattern: str = TOKEN_PATTERN,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        emoji: bool = False,
        lowercase: bool = True,
        html: bool | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 2,
        max_df: int | float = 0.5,
        max_features: int | None = None,
        stop_words: str | Path | Iterable[str | Path | Iterable[str]] | None = "english",
        stemmer: str | None = None,
        weighting: Weighting = "log-entropy",
        sublinear_tf: bool = False,
    ) -> None:
        self._settings = check_options(
            {
                "token_pattern": token_pattern,
                "tokenizer": tokenizer,
                "emoji": emoji,
                "lowercase": lowercase,
                "html": html,
                "ngram_range": ngram_range,
                "min_df": min_df,
                "max_df": max_df,
                "max_features": max_features,
                "stop_words": stop_words,
                "stemmer": stemmer,
                "weighting": weighting,
                "sublinear_tf": sublinear_tf,
            }
        )
        # What was asked for, which the settings tell until texts have been looked at.
        self._html = self._settings["html"]
        self.tokenizer = tokenizer
        self._vocabulary: Strings | None = None
        self._idf: NDArray[np.float64] | None = None
        self._mean_length: float | None = None
        self._tally: Tally | None = None
        self._forms: list[str] | None = None

    @property
    def vocabulary(self) -> Strings:
        """The terms in the order of the columns."""
        if self._vocabulary is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this Vectorizer has no vocabulary yet; call fit_count(texts) first")
        return self._vocabulary

    @property
    def shown(self) -> Strings:
        """The terms for display: stems as their most common form, the others as they are."""
        return self.vocabulary if self._forms is None else np.array(self._forms, dtype=object)

    @property
    def forms(self) -> list[str] | None:
        """The most common form of each stem, in the order of the columns; None without a stemmer."""
        return self._forms

    @forms.setter
    def forms(self, forms: list[str] | None) -> None:
        if forms is not None and (
            len(forms) != len(self.vocabulary) or not all(isinstance(form, str) and form for form in forms)
        ):
            raise ValueError(f"forms must be one text for each of {len(self.vocabulary)} terms")
        self._forms = forms

    @property
    def idf(self) -> NDArray[np.float64] | None:
        """The weight of each term, or None for the weightings "count" and "binary"."""
        return self._idf

    @property
    def mean_length(self) -> float | None:
        """The mean length of the documents, for the weighting "bm25"."""
        return self._mean_length

    @property
    def tally(self) -> Tally | None:
        """What `fit_count` found."""
        return self._tally

    @property
    def tokenizer(self) -> Callable[[str], Iterable[str]] | None:
        """The function that splits texts into words, instead of the pattern; set it again after loading."""
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: Callable[[str], Iterable[str]] | None) -> None:
        if tokenizer is not None:
            self._settings["tokenizer"] = check_options({"tokenizer": tokenizer})["tokenizer"]
        self._tokenizer = tokenizer
        self._tokens = find_tokens(self._pattern, lowercase=self._settings["lowercase"], tokenizer=tokenizer)

    @property
    def _pattern(self) -> str:
        """What is a token, emoji included where they are words."""
        pattern = str(self._settings["token_pattern"])
        return with_emoji(pattern) if self._settings["emoji"] else pattern

    def _tokens_of(self, texts: Iterable[Any]) -> tuple[Tokens, Iterable[Any]]:
        """What splits texts, which may be lists of words, by the first of them; and all of them again."""
        waiting = iter(texts)
        begin = list(islice(waiting, 1))
        first, texts = begin[0] if begin else None, chain(begin, waiting)
        if isinstance(first, list | tuple):
            return GivenTokens(self._tokenizer, lowercase=self._settings["lowercase"]), texts
        name = self._settings["tokenizer"]
        if name is not None and self._tokenizer is None:
            raise CorpusError(
                f"this model splits texts into words with the function {name}, which is not saved with it: "
                "set vectorizer.tokenizer (bundle.vectorizer.tokenizer) to that function, or pass lists of "
                "words"
            )
        return self._tokens, texts

    @property
    def weighting(self) -> str:
        """How counts become weights."""
        return str(self._settings["weighting"])

    def fit_count(self, texts: Iterable[str], *, progress: Progress | None = None) -> CSR:
        """Learn the vocabulary and the weights of its terms, and count.

        Parameters
        ----------
        texts : iterable of str
            Read once, so it may be a stream, even one larger than memory.
        progress : callable or None, default=None
            Called now and then, with the numbers of texts and of characters so far.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            How often each term of the vocabulary occurs in each text. Texts without any are empty rows.

        Raises
        ------
        CorpusError
            If there are no texts, or no term is left.
        """
        check_texts(texts)
        html: bool | None = self._html
        if html is None:
            html, texts = looked_at(texts)  # type: ignore[assignment]
        self._settings["html"] = html
        counted = self._counted(texts, self._reading(self._stop_words), progress)
        if counted.n_texts == 0:
            raise CorpusError("there are no texts; give at least one")
        n_found = int(np.count_nonzero(counted.documents))
        if n_found == 0:
            raise CorpusError(
                f"no terms found in {plural(counted.n_texts, 'text')}: all are empty, or consist of stop "
                "words and of what is not a word",
                InPython(" for token_pattern"),
                "; check the texts, or change ",
                Parameter("stop_words"),
                InPython(" or token_pattern"),
            )
        for message in noticed(counted, self._settings):
            # Before terms are chosen: of clauses none may be left, and this is why.
            warnings.warn(InputWarning(message), stacklevel=_outside())
        terms, vocabulary = self._kept(counted, n_found)
        columns = np.full(len(counted.table), -1, np.int32)
        columns[terms] = np.arange(len(terms), dtype=np.int32)
        counts = counted.matrix(columns, len(terms))
        self._adopt(
            np.array(vocabulary, dtype=object) if self._tokens.only_words else as_vocabulary(vocabulary)
        )
        self._forms = counted.forms(terms)
        self._idf = term_weights(counts, self.weighting)
        self._mean_length = usual_length(counts, self.weighting)
        self._tally = Tally(counted.n_texts, counted.n_tokens, n_found, len(terms), _common(counted))
        return counts

    def count(self, texts: Iterable[str]) -> CSR:
        """Count the terms of the vocabulary in texts.

        Parameters
        ----------
        texts : iterable of str
            May be empty.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text, also for those without any term of the vocabulary.
        """
        n_terms = len(self.vocabulary)
        reading = self._reading(self._left_out)
        if are_short(texts) and (self._settings["tokenizer"] is None or self._tokenizer is not None):
            return count_short([self.plain(text) for text in texts], self._tokens, self._columns, **reading)
        counted = self._counted(texts, reading)
        found = np.flatnonzero(counted.table.documents).astype(np.int32)
        columns = np.full(len(counted.table), -1, np.int32)
        for start in range(0, len(found), _LOOKED_UP):
            terms = found[start : start + _LOOKED_UP]
            columns[terms] = [self._columns.get(term, -1) for term in counted.table.spell(terms)]
        return counted.matrix(columns, n_terms)

    def weigh(self, counts: ArrayLike | CSR) -> CSR:
        """Turn counts into weights.

        Parameters
        ----------
        counts : sparse array or array-like of shape (n_texts, n_terms)
            As from `count`; not changed.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            For the weighting "count" this may be `counts` itself. Otherwise it has an array of weights of its
            own, but the indices may be those of `counts`: change neither of them in place.
        """
        n_terms = len(self.vocabulary)
        counts = counts_to_read(counts)
        if counts.shape[1] != n_terms:
            raise CorpusError(f"counts have {counts.shape[1]} columns; the vocabulary has {n_terms} terms")
        return self.weigher()(counts)

    def weigher(self) -> Callable[[CSR], CSR]:
        """What `weigh` does to counts that are in order, without the vocabulary: to be sent elsewhere.

        Returns
        -------
        callable
            Takes and returns a canonical csr_array of shape (n_texts, n_terms).
        """
        return partial(
            weighed,
            weighting=self.weighting,
            weights=self._idf,
            mean_length=self._mean_length,
            sublinear_tf=self._settings["sublinear_tf"],
        )

    def transform(self, texts: Iterable[str]) -> CSR:
        """Count and weigh: ``weigh(count(texts))``.

        Parameters
        ----------
        texts : iterable of str
            May be empty.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text.
        """
        return self.weigh(self.count(texts))

    def to_dict(self) -> dict[str, Any]:
        """The settings, without vocabulary and idf, as values that JSON can hold.

        Returns
        -------
        dict
            All options by name.

        Examples
        --------
        >>> Vectorizer(stop_words=["the", "a"]).to_dict()["stop_words"]
        ['a', 'the']
        """
        return {
            name: list(value) if isinstance(value, list) else value for name, value in self._settings.items()
        }

    @classmethod
    def from_dict(
        cls,
        settings: Mapping[str, Any],
        vocabulary: Iterable[str],
        idf: ArrayLike | None = None,
        mean_length: float | None = None,
        *,
        trust_patterns: bool = True,
    ) -> Self:
        """Make a vectoriser from saved settings; everything is checked.

        Parameters
        ----------
        settings : mapping
            As from `to_dict`; options that are not in it have their default.
        vocabulary : iterable of str
            In the order of the columns.
        idf : array-like of shape (n_terms,), or None
            The weight of each term. Needed for the weightings "tfidf", "log-entropy" and "bm25", and only
            there.
        mean_length : float or None
            Needed for the weighting "bm25", and only there.
        trust_patterns : bool, default=True
            Whether texts are split by any `token_pattern`; otherwise only by one that is known to be quick.

        Returns
        -------
        Vectorizer
            Ready to `count` and `transform`.

        Raises
        ------
        ValueError
            For anything that `fit_count` could not have made.

        Examples
        --------
        >>> vectorizer = Vectorizer.from_dict({"weighting": "count"}, ["fish", "red"])
        >>> vectorizer.transform(["one fish"]).toarray()
        array([[1., 0.]], dtype=float32)
        """
        if not isinstance(settings, Mapping):
            raise ValueError(f"settings must be a mapping of options, not {type(settings).__name__}")  # noqa: TRY004
        # Those that were saved before there was such a setting took nothing out.
        # files of before have no "html", and may have a "sublinear_tf" that was of no effect
        of_no_effect = settings.get("sublinear_tf") is True and settings.get("weighting") != "tfidf"
        idle = {"sublinear_tf": False} if of_no_effect else {}
        # of a function, only the name is saved
        named = settings.get("tokenizer")
        if not isinstance(named, str | None):
            raise ValueError(f"the name of the tokenizer is no text: {named!r:.40}")  # noqa: TRY004
        vectorizer = cls(**check_options({"html": False, **settings, **idle, "tokenizer": None}))
        vectorizer._settings["tokenizer"] = named
        vectorizer._adopt(as_vocabulary(vocabulary))
        vectorizer._idf = checked_weights(idf, vectorizer.weighting, len(vectorizer.vocabulary))
        vectorizer._mean_length = checked_length(mean_length, vectorizer.weighting)
        if not trust_patterns and not is_harmless(str(vectorizer._settings["token_pattern"])):
            vectorizer._tokens = Untrusted(str(vectorizer._settings["token_pattern"]))
        return vectorizer

    def __repr__(self) -> str:
        shown = [
            f"{name}={value!r}"
            for name, value in self._settings.items()
            # Nothing to take out is what one expects.
            if value != _DEFAULTS[name] and (name, value) != ("html", False)
        ]
        return f"Vectorizer({', '.join(shown)})"

    def _adopt(self, vocabulary: Strings) -> None:
        self._vocabulary = vocabulary
        self.__dict__.pop("_columns", None)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.vocabulary)}

    def _counted(
        self, texts: Iterable[str], reading: dict[str, Any], progress: Progress | None = None
    ) -> Counted:
        check_texts(texts)
        if self._settings["html"]:
            texts = (self.plain(text) for text in texts)
        tokens, texts = self._tokens_of(texts)
        return Counted(texts, tokens, progress=progress, **reading)

    def _reading(self, stop_words: frozenset[str]) -> dict[str, Any]:
        """What becomes of tokens: stop words, n-grams and stems."""
        language, ngram_range = self._settings["stemmer"], self._settings["ngram_range"]
        return {
            "stop_words": stop_words,
            "ngram_range": tuple(ngram_range),
            # A new one each time, since no two threads may share it.
            "stem": None if language is None else stemmer_of(language),
        }

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        words = self._settings["stop_words"]
        return english_words() if words == "english" else frozenset(words or ())

    @property
    def _left_out(self) -> frozenset[str]:
        """The stop words that make a difference to what is counted of the vocabulary.

        Where terms are words as they stand, those of "english" were left out of the vocabulary itself. To ask
        scikit-learn for them again would take longer than a query.
        """
        settings = self._settings
        as_they_stand = settings["stemmer"] is None and tuple(settings["ngram_range"]) == (1, 1)
        return frozenset() if as_they_stand and settings["stop_words"] == "english" else self._stop_words

    def split(self, text: str) -> list[str]:
        """The words of a text, in order, before stop words are removed and words are stemmed.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of str
            In lower case, if the vectoriser makes it so.
        """
        return self._tokens.split(text)

    def plain(self, text: str) -> str:
        """A text as it is counted: without HTML, if that is removed.

        Parameters
        ----------
        text : str

        Returns
        -------
        str
            The same text, if there is nothing to take out.

        Examples
        --------
        >>> Vectorizer(html=True).plain("<b>R&amp;D</b>").strip()
        'R&D'
        """
        # What is no string is refused where it is counted, by its number.
        return without_markup(text) if self._settings["html"] and isinstance(text, str) else text

    def find(self, text: str, terms: Iterable[int]) -> list[tuple[int, int, int]]:
        """Find words in a text, such as those of a query, to show where they are.

        Parameters
        ----------
        text : str
        terms : iterable of int
            Columns of the vocabulary; n-grams are not looked for.

        Returns
        -------
        list of (int, int, int)
            Beginning and end of each word that is one of the terms, and which, in the order of the text.

        Examples
        --------
        >>> vectorizer = Vectorizer.from_dict({"weighting": "count"}, ["fish", "red"])
        >>> vectorizer.find("Red fish, blue fish", [0])
        [(4, 8, 0), (15, 19, 0)]
        """
        wanted = set(terms)
        if self._tokens.only_words and self._settings["stemmer"] is None:
            # A word is looked for as it is spelled, which is much faster than to look at all there are.
            spelled = (str(self.vocabulary[term]) for term in wanted)
            words = [word for word in spelled if word not in self._left_out and " " not in word]
            found = words_in(text, words, lowercase=self._settings["lowercase"])
            if found is not None:
                return [(start, stop, self._columns[word]) for start, stop, word in found]
        tokens = self._places(text)
        distinct = sorted({word for _, _, word in tokens})
        counts = self.count(distinct)
        meant = {
            word: int(term)
            for word, start, stop in zip(distinct, counts.indptr[:-1], counts.indptr[1:], strict=True)
            for term in counts.indices[start:stop]
            if int(term) in wanted
        }
        return [(start, stop, meant[word]) for start, stop, word in tokens if word in meant]

    def _places(self, text: str) -> list[tuple[int, int, str]]:
        """Where the tokens of a text stand."""
        if self._tokenizer is None:
            if isinstance(self._tokens, Untrusted):
                raise self._tokens.error()
            return TimedPattern(self._pattern).places(text)
        found, end = [], 0
        for token in self._tokenizer(text):
            start = text.find(token, end)
            if token.strip() and start >= 0:
                end = start + len(token)
                found.append((start, end, token))
        return found

    def _kept(self, counted: Counted, n_found: int) -> tuple[Ids, list[str]]:
        """Choose the terms that stay, in alphabetical order."""
        n_texts, min_df, max_df = counted.n_texts, self._settings["min_df"], self._settings["max_df"]
        least = min_df if isinstance(min_df, int) else min_df * n_texts
        most = max_df if isinstance(max_df, int) else max_df * n_texts
        df = counted.documents
        terms = np.flatnonzero((df > 0) & (df >= least) & (df <= most)).astype(np.int32)
        if len(terms) == 0:
            raise CorpusError(
                f"no terms are left of {n_found:,}: for {n_texts:,} texts, ",
                Parameter("min_df", min_df),
                f" requires terms in at least {least:g} and ",
                Parameter("max_df", max_df),
                f" in at most {most:g}; lower ",
                Parameter("min_df"),
                " (such as ",
                Parameter("min_df", 1),
                ") or raise ",
                Parameter("max_df"),
                " (such as ",
                Parameter("max_df", 1.0),
                ")",
            )
        spelled = counted.table.spell(terms)
        order = np.array(sorted(range(len(spelled)), key=spelled.__getitem__))
        limit = self._settings["max_features"]
        if limit is not None and len(order) > limit:
            frequency = counted.total()[terms[order]]
            order = order[np.sort(np.argsort(-frequency, kind="stable")[:limit])]
        return terms[order], [spelled[place] for place in order]


def _common(counted: Counted) -> tuple[str, ...]:
    """Terms in nearly every text, the most frequent first."""
    if counted.n_texts < _FEWEST_TEXTS:
        return ()
    found = np.flatnonzero(counted.documents > _NEARLY_ALL * counted.n_texts).astype(np.int32)
    ordered = found[np.argsort(-counted.documents[found], kind="stable")]
    return tuple(counted.table.spell(ordered))


_DEFAULTS = Vectorizer().to_dict()
