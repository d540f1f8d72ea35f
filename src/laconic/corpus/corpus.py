"""The corpus: documents as counts and weights, with their vocabulary, labels and ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sized
from functools import cached_property
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from laconic.corpus.errors import CorpusError
from laconic.corpus.matrices import as_counts
from laconic.corpus.options import VectorizerOptions, Weighting
from laconic.corpus.readers import read_documents
from laconic.corpus.stdlib import standard_library
from laconic.corpus.strings import Strings, as_names, as_vocabulary, check_unique
from laconic.corpus.vectorizer import Vectorizer, smooth_idf

if TYPE_CHECKING:
    from laconic.corpus.matrices import CSR


class Corpus:
    """A collection of documents, one row each.

    Make one with `read`, `from_texts`, `from_counts` or `standard_library`. Documents without any term of
    the vocabulary stay, as empty rows, so that row i is always document i.

    Parameters
    ----------
    counts : sparse array or array-like of shape (n_documents, n_terms)
        Finite and non-negative.
    vectorizer : Vectorizer
        With a vocabulary of n_terms.
    labels, ids : iterable of str, optional
        One for each document. Numbers become strings. Ids must differ; they are "0", "1", ... by default.

    Attributes
    ----------
    counts : scipy.sparse.csr_array of float32, shape (n_documents, n_terms)
        How often each term occurs in each document.
    X : scipy.sparse.csr_array of float32, shape (n_documents, n_terms)
        The counts as weighted by the vectoriser; computed when first used.
    vocabulary : numpy.ndarray of str
        The terms, in the order of the columns.
    labels : numpy.ndarray of str, or None
        The label of each document.
    ids : numpy.ndarray of str
        The id of each document.
    vectorizer : Vectorizer
        What turns texts into rows of `X`.
    n_empty : int
        How many documents have no term of the vocabulary.
    shape : (int, int)
        Numbers of documents and terms.

    Examples
    --------
    >>> from laconic.corpus import Corpus
    >>> texts = ["red fish blue fish", "one fish", "", "red bird"]
    >>> corpus = Corpus.from_texts(texts, labels=["a", "a", "b", "b"])
    >>> corpus
    Corpus(4 documents x 2 terms, 4 non-zeros, 2 labels, 1 empty document)
    >>> corpus.vocabulary
    array(['fish', 'red'], dtype=object)
    >>> corpus.vectorize(["a red apple"]).toarray()
    array([[0., 1.]], dtype=float32)
    """

    def __init__(
        self,
        counts: ArrayLike | CSR,
        vectorizer: Vectorizer,
        *,
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
    ) -> None:
        self.counts = as_counts(counts)
        self.vectorizer = vectorizer
        n_documents, n_terms = self.counts.shape
        if n_documents == 0:
            raise CorpusError("there are no documents; at least one is needed")
        if n_terms != len(vectorizer.vocabulary):
            raise CorpusError(
                f"counts have {n_terms} columns, but the vocabulary has {len(vectorizer.vocabulary)} terms"
            )
        self.labels = None if labels is None else as_names(labels, "label")
        self.ids = as_names(range(n_documents) if ids is None else ids, "id")
        _check_length(self.labels, "labels", n_documents)
        _check_length(self.ids, "ids", n_documents)
        check_unique(self.ids)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        text: str = "text",
        label: str | None = None,
        id: str | None = None,
        encoding: str = "utf-8",
        **options: Unpack[VectorizerOptions],
    ) -> Self:
        r"""Read a file of JSON lines, a CSV file, or a folder of text files.

        The texts are read one at a time and not kept.

        Parameters
        ----------
        path : str or path
            ``.jsonl``, ``.ndjson`` or ``.csv``, or a folder of ``.txt`` files.
        text : str, default="text"
            The column of the text.
        label : str or None, default=None
            The column of the label; for a folder, ``"folder"`` takes the name of the sub-folder.
        id : str or None, default=None
            The column of the id; documents are numbered from "0" by default.
        encoding : str, default="utf-8"
            The encoding of the file or files.
        **options
            Those of `Vectorizer`.

        Returns
        -------
        Corpus
            Rows in the order of the file.

        Raises
        ------
        CorpusError
            If the file cannot be used; the message names the line and what to do.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "fish.csv")
        ...     _ = path.write_text('text,colour\n"fish, fish",red\na bird,blue\n')
        ...     Corpus.read(path, label="colour", min_df=1)
        Corpus(2 documents x 2 terms, 2 non-zeros, 2 labels)
        """
        vectorizer = Vectorizer(**options)
        documents = read_documents(path, text=text, label=label, id=id, encoding=encoding)
        labels: list[str | None] = []
        ids: list[str] = []

        def texts() -> Iterator[str]:
            for document in documents:
                labels.append(document.label)
                ids.append(document.id)
                yield document.text

        counts = vectorizer.fit_count(texts())
        return cls(counts, vectorizer, labels=None if label is None else labels, ids=ids)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
        **options: Unpack[VectorizerOptions],
    ) -> Self:
        """Count the terms of texts.

        Parameters
        ----------
        texts : iterable of str
            Read once and not kept.
        labels, ids : iterable of str, optional
            One for each text.
        **options
            Those of `Vectorizer`.

        Returns
        -------
        Corpus
            One row for every text, also for empty ones.

        Examples
        --------
        >>> Corpus.from_texts(["red fish", "blue fish", "bird"], min_df=1, max_df=1.0).shape
        (3, 4)
        """
        vectorizer = Vectorizer(**options)
        labels = None if labels is None else as_names(labels, "label")
        ids = None if ids is None else as_names(ids, "id")
        if isinstance(texts, Sized) and not isinstance(texts, str | bytes):
            # Better now than after an hour of counting.
            _check_length(labels, "labels", len(texts))
            _check_length(ids, "ids", len(texts))
        return cls(vectorizer.fit_count(texts), vectorizer, labels=labels, ids=ids)

    @classmethod
    def from_counts(
        cls,
        X: ArrayLike | CSR,
        vocabulary: Iterable[str],
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
        weighting: Weighting = "tfidf",
        sublinear_tf: bool = False,
    ) -> Self:
        """Take counts that were made elsewhere.

        New texts are tokenised as by a default `Vectorizer`, as far as the vocabulary does not tell
        otherwise: no stop words are left out, letters keep their case if a term has upper-case ones, and
        terms with spaces are n-grams.

        Parameters
        ----------
        X : sparse array or array-like of shape (n_documents, n_terms)
            Finite and non-negative. Not changed, and not copied if it is canonical CSR of float32.
        vocabulary : iterable of str
            The terms, in the order of the columns; kept in that order.
        labels, ids : iterable of str, optional
            One for each row.
        weighting : {"count", "binary", "tfidf"}, default="tfidf"
            How counts become weights.
        sublinear_tf : bool, default=False
            For "tfidf", take 1 + ln(count) in place of the count.

        Returns
        -------
        Corpus
            With all columns, also those of terms in no document.

        Examples
        --------
        >>> corpus = Corpus.from_counts([[2, 0], [0, 1]], ["red", "fish"])
        >>> corpus.vectorize(["Fish!"]).toarray()
        array([[0., 1.]], dtype=float32)
        """
        counts = as_counts(X)
        terms = as_vocabulary(vocabulary)
        if counts.shape[1] != len(terms):
            raise CorpusError(f"X has {counts.shape[1]} columns, but the vocabulary has {len(terms)} terms")
        settings: VectorizerOptions = {
            "weighting": weighting,
            "sublinear_tf": sublinear_tf,
            "stop_words": None,
            "lowercase": all(term == term.lower() for term in terms),
            "ngram_range": (1, max(len(term.split(" ")) for term in terms)),
        }
        idf = smooth_idf(counts) if weighting == "tfidf" else None
        return cls(counts, Vectorizer.from_dict(settings, terms, idf), labels=labels, ids=ids)

    @classmethod
    def standard_library(cls, **options: Unpack[VectorizerOptions]) -> Self:
        """Make a corpus of the docstrings of Python's standard library: real text without a download.

        Parameters
        ----------
        **options
            Those of `Vectorizer`.

        Returns
        -------
        Corpus
            A few thousand documents; the labels are modules, the ids dotted names.
        """
        texts, labels, ids = standard_library()
        return cls.from_texts(texts, labels=labels, ids=ids, **options)

    @property
    def vocabulary(self) -> Strings:
        """The terms, in the order of the columns."""
        return self.vectorizer.vocabulary

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and terms."""
        return self.counts.shape

    @property
    def n_empty(self) -> int:
        """How many documents have no term of the vocabulary."""
        return int(np.count_nonzero(np.diff(self.counts.indptr) == 0))

    @cached_property
    def X(self) -> CSR:  # noqa: N802
        """The counts as weighted by the vectoriser."""
        return self.vectorizer.weigh(self.counts)

    def vectorize(self, texts: Iterable[str]) -> CSR:
        """Turn new texts into rows like those of `X`.

        Parameters
        ----------
        texts : iterable of str
            May be empty.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text, also for those without any term of the vocabulary.
        """
        return self.vectorizer.transform(texts)

    def __repr__(self) -> str:
        n_documents, n_terms = self.shape
        parts = [
            f"{_plural(n_documents, 'document')} x {_plural(n_terms, 'term')}",
            _plural(self.counts.nnz, "non-zero"),
        ]
        if self.labels is not None:
            parts.append(_plural(len(set(self.labels)), "label"))
        if self.n_empty:
            parts.append(_plural(self.n_empty, "empty document"))
        return f"Corpus({', '.join(parts)})"


def _check_length(names: Strings | None, what: str, n_documents: int) -> None:
    if names is not None and len(names) != n_documents:
        raise CorpusError(f"there are {len(names)} {what} for {n_documents} documents; give one for each")


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
