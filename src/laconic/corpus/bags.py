"""Counts of other libraries: gensim's bags of words, and what scikit-learn's vectorisers do with texts."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from laconic.corpus.options import VectorizerOptions
from laconic.errors import CorpusError, Parameter
from laconic.matrices import as_counts, csr
from laconic.reading.strings import Strings, as_vocabulary, terms_by_number

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

    from laconic.matrices import CSR

_VECTORIZERS = "sklearn.feature_extraction.text"


def count_bags(
    stream: Iterable[Iterable[tuple[int, float]]], vocabulary: Iterable[str] | Mapping[Any, Any]
) -> tuple[CSR, Strings]:
    """Turn bags of words into a matrix.

    Parameters
    ----------
    stream : iterable of lists of (int, float)
        For each document, the numbers of terms and their counts.
    vocabulary : list of str or mapping
        The terms by number; numbers may have gaps, which become no columns.

    Returns
    -------
    counts : scipy.sparse.csr_array of float32, shape (n_documents, n_terms)
        One row for every bag, also for empty ones.
    terms : numpy.ndarray of str
        In the order of the columns, which is that of the numbers.

    Examples
    --------
    >>> counts, terms = count_bags([[(7, 2)], []], {2: "fish", 7: "red"})
    >>> counts.toarray(), terms.tolist()
    (array([[0., 2.],
           [0., 0.]], dtype=float32), ['fish', 'red'])
    """
    if isinstance(vocabulary, Mapping):
        by_number = terms_by_number(vocabulary)
        terms = as_vocabulary(by_number.values())
        columns = {number: column for column, number in enumerate(by_number)}
    else:
        terms = as_vocabulary(vocabulary)
        columns = {column: column for column in range(len(terms))}
    data, indices, ends = array("d"), array("i"), array("q", [0])
    for position, bag in enumerate(stream):
        try:
            pairs = list(bag)
            data.extend([count for _, count in pairs])
            indices.extend([columns[number] for number, _ in pairs])
        except KeyError as error:
            raise CorpusError(
                f"document {position}: the term {error} is not in the vocabulary; "
                "pass the vocabulary that the bags were made with"
            ) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise CorpusError(
                f"document {position}: not a list of (number, count) pairs, such as [(0, 2), (7, 1)]: {error}"
            ) from error
        ends.append(len(indices))
    with np.errstate(over="ignore"):
        counts = np.asarray(data).astype(np.float32)
    return as_counts(csr(counts, np.asarray(indices), np.asarray(ends), len(terms))), terms


def is_vectorizer(given: object) -> TypeGuard[CountVectorizer]:
    """Whether this is a vectoriser of scikit-learn, whose module takes long to import: those have done it."""
    module = sys.modules.get(_VECTORIZERS)
    return module is not None and isinstance(given, module.CountVectorizer)


def vectorizer_settings(vectorizer: CountVectorizer, counts: CSR, weighting: str) -> VectorizerOptions:
    """Give the options that count new texts as a fitted vectoriser of scikit-learn does.

    Parameters
    ----------
    vectorizer : sklearn.feature_extraction.text.CountVectorizer
        Or a `TfidfVectorizer`, which counts in the same way.
    counts : scipy.sparse.csr_array
        What it counted.
    weighting : str
        How counts are going to be weighted.

    Returns
    -------
    dict
        Options of `Vectorizer`.

    Raises
    ------
    CorpusError
        If there are no such options.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["red fish", "a fish"]
    >>> vectorizer = CountVectorizer(stop_words=["red"])
    >>> counts = as_counts(vectorizer.fit_transform(texts))
    >>> vectorizer_settings(vectorizer, counts, "tfidf")["stop_words"]
    ['red']
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    otherwise = (
        "so new texts could not be counted as it does: pass get_feature_names_out() instead of the "
        "vectoriser, to count them in laconic's own way"
    )
    for name, plain in _PLAIN.items():
        value = getattr(vectorizer, name)
        if value != plain:
            raise CorpusError(f"laconic has no equivalent of {name}={value!r:.60}, {otherwise}")
    if vectorizer.binary and weighting != "binary":
        raise CorpusError(
            f"the vectoriser has binary=True, {otherwise}, or use ", Parameter("weighting", "binary")
        )
    if isinstance(vectorizer, TfidfVectorizer) and (counts.data % 1).any():
        raise CorpusError(
            "X holds the weights of a TfidfVectorizer, not its counts: pass "
            "CountVectorizer.transform(vectorizer, texts), whose counts laconic weighs itself"
        )
    words = vectorizer.get_stop_words()
    first, last = vectorizer.ngram_range
    return {
        "token_pattern": vectorizer.token_pattern,
        "lowercase": bool(vectorizer.lowercase),
        "ngram_range": (int(first), int(last)),
        "stop_words": None if words is None else sorted(words),
    }


_PLAIN = {"analyzer": "word", "tokenizer": None, "preprocessor": None, "strip_accents": None}
