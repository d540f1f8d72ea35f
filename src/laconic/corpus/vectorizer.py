"""Texts to counts to weights: tokens, the vocabulary that is kept, and its weighting."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.preprocessing import normalize

from laconic.corpus.errors import CorpusError
from laconic.corpus.matrices import as_counts, csr, document_frequency
from laconic.corpus.options import Weighting, check_options
from laconic.corpus.strings import Strings, as_vocabulary

if TYPE_CHECKING:
    from laconic.corpus.matrices import CSR

TOKEN_PATTERN = r"(?u)\b[^\W\d_]\w+\b"


class _GrowingColumns(dict[str, int]):
    """The columns of terms, where a new term gets the next one."""

    def __missing__(self, term: str) -> int:
        self[term] = column = len(self)
        return column


class Vectorizer:
    r"""Turn texts into a documents × terms matrix.

    The options have scikit-learn's names and meaning: the counts are those of its `CountVectorizer`, the
    weights those of its `TfidfVectorizer`. Nothing of the texts is kept but the vocabulary.

    Parameters
    ----------
    token_pattern : str, default=r"(?u)\b[^\W\d_]\w+\b"
        Regular expression of a token: two or more word characters, the first of them a letter. If it has
        a group, the group is the token.
    lowercase : bool, default=True
        Whether texts are lower-cased first.
    ngram_range : (int, int), default=(1, 1)
        Lengths of the shortest and the longest sequence of tokens that is a term.
    min_df, max_df : int or float, default=2 and 0.5
        Terms that occur in fewer or in more documents are left out; a float is a part of all documents.
    max_features : int or None, default=None
        Keep only that many terms, the most frequent ones; of equally frequent ones, the first in the
        alphabet.
    stop_words : "english", list of str or None, default="english"
        Tokens that are left out.
    weighting : {"count", "binary", "tfidf"}, default="tfidf"
        "tfidf" is the count times ln((1 + n) / (1 + df)) + 1, with rows of length one; "count" and
        "binary" are not normalised.
    sublinear_tf : bool, default=False
        For "tfidf", take 1 + ln(count) in place of the count.

    Attributes
    ----------
    vocabulary : numpy.ndarray of str
        The terms in the order of the columns (sorted, if learnt by `fit_count`).
    idf : numpy.ndarray of float64, or None
        The weight of each term; None unless the weighting is "tfidf".

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
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 2,
        max_df: int | float = 0.5,
        max_features: int | None = None,
        stop_words: str | Iterable[str] | None = "english",
        weighting: Weighting = "tfidf",
        sublinear_tf: bool = False,
    ) -> None:
        self._settings = check_options(
            {
                "token_pattern": token_pattern,
                "lowercase": lowercase,
                "ngram_range": ngram_range,
                "min_df": min_df,
                "max_df": max_df,
                "max_features": max_features,
                "stop_words": stop_words,
                "weighting": weighting,
                "sublinear_tf": sublinear_tf,
            }
        )
        words = self._settings["stop_words"]
        self._stop_words = ENGLISH_STOP_WORDS if words == "english" else frozenset(words or ())
        self._find_tokens = re.compile(token_pattern).findall
        self._vocabulary: Strings | None = None
        self._columns: dict[str, int] = {}
        self._idf: NDArray[np.float64] | None = None

    @property
    def vocabulary(self) -> Strings:
        """The terms in the order of the columns."""
        if self._vocabulary is None:
            raise NotFittedError("this Vectorizer has no vocabulary yet; call fit_count(texts) first")
        return self._vocabulary

    @property
    def idf(self) -> NDArray[np.float64] | None:
        """The weight of each term, or None unless the weighting is "tfidf"."""
        return self._idf

    @property
    def weighting(self) -> str:
        """How counts become weights."""
        return str(self._settings["weighting"])

    def fit_count(self, texts: Iterable[str]) -> CSR:
        """Learn the vocabulary and the weights of its terms, and count.

        Parameters
        ----------
        texts : iterable of str
            Read once, so that it may be a stream.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            How often each term of the vocabulary occurs in each text. Texts without any are empty rows.

        Raises
        ------
        CorpusError
            If there are no texts, or no term is left.
        """
        columns = _GrowingColumns()
        data, indices, indptr = self._count(texts, columns)
        n_texts = len(indptr) - 1
        if n_texts == 0:
            raise CorpusError("there are no texts; at least one is needed")
        if not columns:
            raise CorpusError(
                f"no text of {n_texts} contains a term: all are empty, or made of stop words and of what "
                "token_pattern does not match; look at the texts, or change stop_words or token_pattern"
            )
        terms = np.array(list(columns), dtype=object)
        order = self._kept(terms, data, indices, n_texts)
        self._adopt(as_vocabulary(terms[order]))

        new_column = np.full(len(terms), -1, dtype=np.int32)
        new_column[order] = np.arange(len(order), dtype=np.int32)
        indices = new_column[indices]
        stays = indices >= 0
        n_before = np.concatenate([[0], np.cumsum(stays)])
        counts = csr(data[stays], indices[stays], n_before[indptr], len(order))
        self._idf = smooth_idf(counts) if self.weighting == "tfidf" else None
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
        return csr(*self._count(texts, self._columns), n_terms)

    def weigh(self, counts: ArrayLike | CSR) -> CSR:
        """Turn counts into weights.

        Parameters
        ----------
        counts : sparse array or array-like of shape (n_texts, n_terms)
            As from `count`; not changed.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            For the weighting "count" this may be `counts` itself.
        """
        n_terms = len(self.vocabulary)
        counts = as_counts(counts)
        if counts.shape[1] != n_terms:
            raise CorpusError(f"counts have {counts.shape[1]} columns; the vocabulary has {n_terms} terms")
        if self.weighting == "count":
            return counts
        X = counts.copy()
        if self._idf is None:
            X.data.fill(1)
            return X
        if self._settings["sublinear_tf"]:
            if X.nnz and X.data.min() < 1:
                raise CorpusError("sublinear_tf needs counts of 1 or more; there are smaller ones")
            np.log(X.data, out=X.data)
            X.data += 1
        X.data *= self._idf.astype(np.float32)[X.indices]
        # scikit-learn refuses to normalise a matrix without rows.
        return sparse.csr_array(normalize(X, norm="l2", copy=False)) if X.nnz else X

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
        """Give the settings, without vocabulary and idf, as values that JSON can hold.

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
        cls, settings: Mapping[str, Any], vocabulary: Iterable[str], idf: ArrayLike | None = None
    ) -> Self:
        """Make a vectoriser from saved settings; everything is checked.

        Parameters
        ----------
        settings : mapping
            As from `to_dict`; options that are not in it have their default.
        vocabulary : iterable of str
            In the order of the columns.
        idf : array-like of shape (n_terms,), or None
            Needed for the weighting "tfidf", and only there.

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
        vectorizer = cls(**check_options(settings))
        vectorizer._adopt(as_vocabulary(vocabulary))
        if vectorizer.weighting == "tfidf":
            vectorizer._idf = _checked_idf(idf, len(vectorizer.vocabulary))
        elif idf is not None:
            raise ValueError(f"idf must be None for the weighting {vectorizer.weighting!r}")
        return vectorizer

    def __repr__(self) -> str:
        default = _DEFAULTS
        shown = [f"{name}={value!r}" for name, value in self._settings.items() if value != default[name]]
        return f"Vectorizer({', '.join(shown)})"

    def _adopt(self, vocabulary: Strings) -> None:
        self._vocabulary = vocabulary
        self._columns = {term: column for column, term in enumerate(vocabulary)}

    def _terms(self, text: str) -> list[str]:
        tokens: list[str] = self._find_tokens(text.lower() if self._settings["lowercase"] else text)
        if self._stop_words:
            tokens = [token for token in tokens if token not in self._stop_words]
        shortest, longest = self._settings["ngram_range"]
        if longest == 1:
            return tokens
        return [
            " ".join(tokens[start : start + length])
            for length in range(shortest, min(longest, len(tokens)) + 1)
            for start in range(len(tokens) - length + 1)
        ]

    def _count(
        self, texts: Iterable[str], columns: dict[str, int]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
        """Count the terms that have a column into the arrays of a CSR matrix with unsorted rows."""
        if isinstance(texts, str | bytes):
            raise CorpusError(
                "texts must be a list or another iterable of strings, not one string: write [text]"
            )
        grows = isinstance(columns, _GrowingColumns)
        data, indices, indptr = array("f"), array("i"), array("q", [0])
        for position, text in enumerate(texts):
            if not isinstance(text, str):
                raise CorpusError(
                    f"text {position} is of type {type(text).__name__}; every text must be a string "
                    '("" for an empty document)'
                )
            counts: dict[str, int] = Counter(self._terms(text))
            if not grows:
                counts = {term: n for term, n in counts.items() if term in columns}
            indices.extend([columns[term] for term in counts])
            data.extend(counts.values())
            indptr.append(len(indices))
        return np.asarray(data), np.asarray(indices), np.asarray(indptr)

    def _kept(
        self, terms: Strings, data: NDArray[np.float32], indices: NDArray[np.int32], n_texts: int
    ) -> NDArray[np.intp]:
        """Choose the terms that stay, in alphabetical order."""
        min_df, max_df = self._settings["min_df"], self._settings["max_df"]
        least = min_df if isinstance(min_df, int) else min_df * n_texts
        most = max_df if isinstance(max_df, int) else max_df * n_texts
        df = np.bincount(indices, minlength=len(terms))
        kept = np.flatnonzero((df >= least) & (df <= most))
        if len(kept) == 0:
            raise CorpusError(
                f"none of {len(terms):,} terms is left: of {n_texts:,} texts, min_df={min_df!r} asks for "
                f"terms in at least {least:g} and max_df={max_df!r} for terms in at most {most:g}; "
                "lower min_df (such as min_df=1) or raise max_df (such as max_df=1.0)"
            )
        kept = kept[np.argsort(terms[kept])]
        limit = self._settings["max_features"]
        if limit is not None and len(kept) > limit:
            frequency = np.bincount(indices, weights=data, minlength=len(terms))
            kept = kept[np.sort(np.argsort(-frequency[kept], kind="stable")[:limit])]
        return kept


_DEFAULTS = Vectorizer().to_dict()


def smooth_idf(counts: CSR) -> NDArray[np.float64]:
    """Give ln((1 + n) / (1 + df)) + 1 for every term: the weight of rare terms is larger, and never 0.

    Parameters
    ----------
    counts : scipy.sparse.csr_array of shape (n_documents, n_terms)
        Canonical.

    Returns
    -------
    numpy.ndarray of float64, shape (n_terms,)
        At least 1.
    """
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1)


def _checked_idf(idf: ArrayLike | None, n_terms: int) -> NDArray[np.float64]:
    if idf is None:
        raise ValueError("the weighting 'tfidf' needs idf, one number for each term")
    try:
        weights = np.array(idf, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"idf must be numbers, one for each term: {error}") from error
    if weights.shape != (n_terms,):
        raise ValueError(f"idf has shape {weights.shape}; the vocabulary has {n_terms} terms")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("idf must be finite and positive")
    return weights
