"""The corpus: documents as counts and weights, with their vocabulary, labels and ids."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from laconic.corpus.bags import count_bags, is_vectorizer, vectorizer_settings
from laconic.corpus.options import LONGEST_NGRAM, VectorizerOptions, Weighting
from laconic.corpus.stdlib import standard_library
from laconic.corpus.texts import TextKeeper, Texts
from laconic.corpus.vectorizer import Vectorizer, check_texts
from laconic.corpus.weighting import term_weights, usual_length
from laconic.display import corpus_html
from laconic.errors import CorpusError, Parameter, listed
from laconic.matrices import as_counts, as_wanted, by_columns
from laconic.reading import (
    Document,
    OnError,
    Paths,
    Progress,
    Reading,
    Terms,
    holds_counts,
    read_counts,
    read_documents,
    read_table,
)
from laconic.reading.dates import Dates, as_dates
from laconic.reading.strings import UNKNOWN, Strings, as_names, as_vocabulary, check_unique
from laconic.words import plural

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

    from laconic.corpus.stored import StoredCounts
    from laconic.engines import Block, Room, Shards
    from laconic.engines.shards import Columns
    from laconic.matrices import CSC, CSR


class Given(NamedTuple):
    """What is known of documents besides their texts, and whether these are kept."""

    labels: bool
    dates: bool
    texts: bool


class Part(NamedTuple):
    """Some rows of a corpus, by columns."""

    rows: Block
    columns: Columns


class Corpus:
    """A collection of documents, one row each.

    Make one with `read`, `from_texts`, `from_table`, `from_counts`, `from_bow` or `standard_library`.
    Documents without any term of the vocabulary stay, as empty rows, so that row i is always document i.

    Parameters
    ----------
    counts : sparse array or array-like of shape (n_documents, n_terms)
        Finite and non-negative.
    vectorizer : Vectorizer
        With a vocabulary of n_terms.
    labels, ids : iterable of str, optional
        One for each document. Numbers become strings. Ids must differ; they are "0", "1", ... by default.
    dates : iterable, optional
        One for each document, or None where it has none: dates and times of Python, numpy or pandas, years,
        or texts such as 2026-11-16 (ISO 8601).
    texts : iterable of str, optional
        The documents themselves, where they are to be kept.

    Attributes
    ----------
    counts : scipy.sparse.csr_array of float32, shape (n_documents, n_terms)
        How often each term occurs in each document.
    counts_csc : scipy.sparse.csc_array of float32, shape (n_documents, n_terms)
        The same by columns; computed when first used.
    X : scipy.sparse.csr_array of float32, shape (n_documents, n_terms)
        The counts as weighted by the vectoriser; computed when first used.
    vocabulary : numpy.ndarray of str
        The terms, in the order of the columns.
    labels : numpy.ndarray of str, or None
        The label of each document.
    ids : numpy.ndarray of str
        The id of each document.
    dates : numpy.ndarray of datetime64[s], or None
        The date of each document, NaT where it has none.
    texts : sequence of str, or None
        The texts, if they were kept.
    vectorizer : Vectorizer
        What turns texts into rows of `X`.
    reading : Reading or None
        What was read, and which rows were skipped; None unless the corpus comes from `read`.
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

    reading: Reading | None = None
    parts: list[Part] | None = None
    """The counts by columns, shard by shard, of a large corpus that was saved."""
    stored: StoredCounts | None = None
    """Where other processes find the counts of a corpus that was loaded."""

    def __init__(
        self,
        counts: ArrayLike | CSR,
        vectorizer: Vectorizer,
        *,
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
        dates: Iterable[object] | None = None,
        texts: Iterable[str] | None = None,
    ) -> None:
        self.counts = as_counts(counts)
        self.vectorizer = vectorizer
        n_documents, n_terms = self.counts.shape
        if n_documents == 0:
            raise CorpusError("there are no documents; give at least one")
        if n_terms != len(vectorizer.vocabulary):
            raise CorpusError(
                f"counts have {n_terms} columns, but the vocabulary has {len(vectorizer.vocabulary)} terms"
            )
        self.labels = None if labels is None else as_names(labels, "label")
        self.ids = as_names(range(n_documents) if ids is None else ids, "id")
        self.dates = None if dates is None else as_dates(dates)
        self.texts = None if texts is None else Texts.of(texts)
        for name in ("labels", "ids", "dates", "texts"):
            _check_length(getattr(self, name), name, n_documents)
        check_unique(self.ids)

    @classmethod
    def _restored(
        cls,
        counts: CSR,
        by_columns: CSC | list[Part],
        vectorizer: Vectorizer,
        *,
        labels: Strings | None,
        ids: Strings,
        dates: Dates | None,
        texts: Texts | None,
    ) -> Self:
        """Make a corpus of what was saved and is checked, without reading or copying it again."""
        corpus = cls.__new__(cls)
        corpus.counts, corpus.vectorizer = counts, vectorizer
        if isinstance(by_columns, list):
            corpus.parts = by_columns
        else:
            corpus.counts_csc = by_columns
        corpus.labels, corpus.ids, corpus.dates, corpus.texts = labels, ids, dates, texts
        return corpus

    @classmethod
    def read(
        cls,
        path: Paths,
        *,
        text: str | Sequence[str] = "text",
        label: str | None = None,
        id: str | None = None,
        date: str | None = None,
        encoding: str = "utf-8",
        delimiter: str | None = None,
        vocabulary: Terms | None = None,
        on_error: OnError = "raise",
        max_documents: int | None = None,
        keep_texts: bool = False,
        progress: Progress | None = None,
        **options: Unpack[VectorizerOptions],
    ) -> Self:
        r"""Read texts or counts from files.

        Texts are read one at a time, and kept only with `keep_texts`.

        Parameters
        ----------
        path : str or path, or a list of them
            Texts: ``.jsonl``, ``.ndjson``, ``.json`` (an array), ``.csv``, ``.tsv``, ``.parquet``,
            ``.xlsx``, ``.txt`` (one document per line), or a folder of ``.txt`` files (one document each);
            a list of files, or a pattern such as ``"news/*.csv"``. Counts: SVMlight (``.svm``,
            ``.svmlight``, ``.libsvm``), Matrix Market (``.mtx``, ``.mm``), or ``docword.NAME.txt`` of the
            UCI repository. All but Parquet and Excel may be compressed (``.gz``, ``.xz``, ``.bz2``,
            ``.zst``).
        text : str or list of str, default="text"
            The text column, or several, which are joined; ``"meta.body"`` is the key ``body`` inside
            ``meta``.
        label : str or None, default=None
            The label column. For a folder, ``"folder"`` means the name of the sub-folder; for SVMlight,
            ``"label"`` means the first field of each line.
        id : str or None, default=None
            The id column; by default, documents are numbered from "0".
        date : str or None, default=None
            The date column: 2026-11-16 (ISO 8601), a year, or a date as in mail; it may be empty.
        encoding : str, default="utf-8"
            The encoding of the file or files.
        delimiter : str or None, default=None
            The character between the fields of CSV and TSV files, if not a comma or a tab.
        vocabulary : path, list of str or mapping, optional
            For counts only: the terms of the columns; a file has one per line. By default
            ``vocab.NAME.txt`` next to a ``docword.NAME.txt``, and otherwise the term numbers in the file.
        on_error : {"raise", "skip"}, default="raise"
            Whether a row that cannot be used raises an error, or is skipped and noted in `reading`.
            Problems of a whole file, such as a missing column, always raise; in a folder, each file is a
            row.
        max_documents : int or None, default=None
            Stop after this many documents, to try something out.
        keep_texts : bool, default=False
            Whether to keep the texts, too (in a temporary file, if they are large).
        progress : callable or None, default=None
            Called now and then with the bytes read so far, the bytes of all files, and the number of
            documents.
        **options
            Those of `Vectorizer`; for counts only `weighting` and `sublinear_tf`.

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
        ...     _ = path.write_text('text,colour\n"fish, fish",red\na bird,blue\nred\n')
        ...     corpus = Corpus.read(path, label="colour", min_df=1, on_error="skip")
        >>> corpus
        Corpus(2 documents x 2 terms, 2 non-zeros, 2 labels)
        >>> corpus.reading.n_rows, corpus.reading.n_skipped
        (3, 1)
        """
        if holds_counts(path):
            _check_for_counts(path, options, text=text, id=id, date=date, delimiter=delimiter)
            counted = read_counts(
                path,  # type: ignore[arg-type]
                vocabulary=vocabulary,
                label=label,
                encoding=encoding,
                on_error=on_error,
                max_documents=max_documents,
                progress=progress,
            )
            corpus = cls.from_counts(counted.counts, counted.vocabulary, labels=counted.labels, **options)  # type: ignore[misc]
            corpus.reading = counted.reading
            return corpus
        if vocabulary is not None:
            raise CorpusError(
                Parameter("vocabulary"),
                " is for files of counts; for texts, the vocabulary is found in them: leave it out",
            )
        documents = read_documents(
            path,
            text=text,
            label=label,
            id=id,
            date=date,
            encoding=encoding,
            delimiter=delimiter,
            on_error=on_error,
            max_documents=max_documents,
            progress=progress,
        )
        vectorizer = Vectorizer(**options)
        given = Given(label is not None, date is not None, keep_texts)
        corpus = cls.of_documents(documents, given, vectorizer, vectorizer.fit_count)
        corpus.reading = documents.reading
        return corpus

    @classmethod
    def of_documents(
        cls,
        documents: Iterable[Document],
        given: Given,
        vectorizer: Vectorizer,
        count: Callable[[Iterable[str]], CSR],
    ) -> Self:
        """Count documents one at a time: by the vocabulary of a vectoriser, or to find it.

        Parameters
        ----------
        documents : iterable of Document
            As readers give them.
        given : Given
            What is known of them.
        vectorizer : Vectorizer
            Of the corpus.
        count : callable
            Its `fit_count`, or its `count`.
        """
        labels: list[str | None] = []
        ids: list[str] = []
        dates: list[np.datetime64 | None] = []
        keeper = TextKeeper() if given.texts else None

        def texts() -> Iterator[str]:
            for document in documents:
                if given.labels:
                    labels.append(document.label)
                ids.append(document.id)
                if given.dates:
                    dates.append(document.date)
                if keeper is not None:
                    keeper.add(document.text)
                yield document.text

        counts = count(texts())
        return cls(
            counts,
            vectorizer,
            labels=labels if given.labels else None,
            ids=ids,
            dates=np.array(dates, "datetime64[s]") if given.dates else None,
            texts=None if keeper is None else keeper.kept(),
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        text: str | Sequence[str] = "text",
        label: str | None = None,
        id: str | None = None,
        *,
        date: str | None = None,
        keep_texts: bool = False,
        **options: Unpack[VectorizerOptions],
    ) -> Self:
        """Count the terms of a column of a table in memory.

        Parameters
        ----------
        table : pandas or polars DataFrame, pyarrow Table or RecordBatchReader
            Or anything else with the Arrow interface (``__arrow_c_stream__``).
        text : str or list of str, default="text"
            The column of the text, or several, whose texts are joined. A text that is null is an empty
            document.
        label, id, date : str or None, default=None
            The columns of label, id and date.
        keep_texts : bool, default=False
            Whether the corpus has the texts, too.
        **options
            Those of `Vectorizer`.

        Returns
        -------
        Corpus
            One row for every row of the table.

        Raises
        ------
        CorpusError
            If the table cannot be used; the message names the row, counted from 0, and what to do.

        Examples
        --------
        >>> import pyarrow
        >>> table = pyarrow.table({"body": ["red fish", None, "fish"], "year": [1960, 1961, 1961]})
        >>> Corpus.from_table(table, text="body", label="year", min_df=1, max_df=1.0)
        Corpus(3 documents x 2 terms, 3 non-zeros, 2 labels, 1 empty document)
        """
        documents = read_table(table, text=text, label=label, id=id, date=date)
        vectorizer = Vectorizer(**options)
        given = Given(label is not None, date is not None, keep_texts)
        return cls.of_documents(documents, given, vectorizer, vectorizer.fit_count)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
        *,
        dates: Iterable[object] | None = None,
        keep_texts: bool = False,
        **options: Unpack[VectorizerOptions],
    ) -> Self:
        """Count the terms of texts.

        Parameters
        ----------
        texts : iterable of str
            Read once and, unless `keep_texts` asks for it, not kept.
        labels, ids, dates : iterable, optional
            One for each text, as in `Corpus`.
        keep_texts : bool, default=False
            Whether the corpus has the texts, too.
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
        if hasattr(texts, "columns"):
            # To go through a data frame is to go through the names of its columns.
            raise CorpusError("this is a table, not a list of texts; Corpus.from_table takes tables")
        if isinstance(texts, Corpus):
            raise CorpusError("this is a corpus, not a list of texts: its documents are already counted")
        check_texts(texts)
        vectorizer = Vectorizer(**options)
        labels = None if labels is None else as_names(labels, "label")
        ids = None if ids is None else as_names(ids, "id")
        dates = None if dates is None else as_dates(dates)
        if isinstance(texts, Sized) and not isinstance(texts, str | bytes):
            # Better now than after an hour of counting.
            for name, values in (("labels", labels), ("ids", ids), ("dates", dates)):
                _check_length(values, name, len(texts))
        keeper = TextKeeper() if keep_texts else None
        counts = vectorizer.fit_count(texts if keeper is None else _keeping(texts, keeper))
        kept = None if keeper is None else keeper.kept()
        return cls(counts, vectorizer, labels=labels, ids=ids, dates=dates, texts=kept)

    @classmethod
    def from_counts(
        cls,
        X: ArrayLike | CSR,
        vocabulary: Iterable[str] | Mapping[str, int] | Mapping[int, str] | CountVectorizer,
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
        weighting: Weighting = "log-entropy",
        sublinear_tf: bool = False,
    ) -> Self:
        """Make a corpus from counts.

        New texts are tokenised as by a default `Vectorizer`, except where the vocabulary implies otherwise:
        no stop words are removed, case is kept if a term has upper-case letters, and terms with spaces are
        n-grams. With a vectoriser of scikit-learn, they are counted as it would.

        Parameters
        ----------
        X : sparse array or array-like of shape (n_documents, n_terms)
            Finite and non-negative. Not changed, and not copied if it is canonical CSR of float32.
        vocabulary : iterable of str, mapping, or fitted CountVectorizer
            The terms, in the order of the columns. A mapping is from terms to columns or from columns to
            terms. A vectoriser (including `TfidfVectorizer`) also provides token_pattern, lowercase,
            ngram_range and stop_words; it is refused if it has its own analyzer, tokenizer, preprocessor or
            strip_accents.
        labels, ids : iterable of str, optional
            One for each row.
        weighting : {"count", "binary", "tfidf", "log-entropy", "bm25"}, default="log-entropy"
            How counts become weights.
        sublinear_tf : bool, default=False
            For "tfidf", use 1 + ln(count) instead of the count.

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
        if is_vectorizer(vocabulary):
            terms = as_vocabulary(vocabulary.get_feature_names_out())
            settings = vectorizer_settings(vocabulary, counts, weighting)
        else:
            terms = as_vocabulary(vocabulary)
            settings = {
                "stop_words": None,
                "lowercase": all(term == term.lower() for term in terms),
                # What is longer is no term of texts, but stays the name of its column.
                "ngram_range": (1, min(LONGEST_NGRAM, max(len(term.split(" ")) for term in terms))),
            }
        if counts.shape[1] != len(terms):
            raise CorpusError(f"X has {counts.shape[1]} columns, but the vocabulary has {len(terms)} terms")
        settings |= {"weighting": weighting, "sublinear_tf": sublinear_tf}
        vectorizer = Vectorizer.from_dict(
            settings, terms, term_weights(counts, weighting), usual_length(counts, weighting)
        )
        return cls(counts, vectorizer, labels=labels, ids=ids)

    @classmethod
    def from_bow(
        cls,
        stream: Iterable[Iterable[tuple[int, float]]],
        vocabulary: Iterable[str] | Mapping[int, str] | Mapping[str, int],
        labels: Iterable[object] | None = None,
        ids: Iterable[object] | None = None,
        weighting: Weighting = "log-entropy",
        sublinear_tf: bool = False,
    ) -> Self:
        """Make a corpus from bags of words, as in gensim.

        Parameters
        ----------
        stream : iterable of lists of (int, float)
            For each document, the numbers of terms and their counts; read once.
        vocabulary : gensim Dictionary, another mapping, or list of str
            The terms by number, or the numbers by term.
        labels, ids, weighting, sublinear_tf
            As in `from_counts`.

        Returns
        -------
        Corpus
            One row for every bag, also for empty ones; the columns in the order of the numbers.

        Examples
        --------
        >>> corpus = Corpus.from_bow([[(0, 2), (1, 1)], [], [(1, 1)]], {0: "red", 1: "fish"})
        >>> corpus
        Corpus(3 documents x 2 terms, 3 non-zeros, 1 empty document)
        """
        counts, terms = count_bags(stream, vocabulary)
        return cls.from_counts(counts, terms, labels, ids, weighting, sublinear_tf)

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
    def counts_csc(self) -> CSC:
        """The counts by columns; computed when first used, or mapped from the disk as `counts` are."""
        return sparse.csc_array(self.counts) if self.parts is None else by_columns(self.counts)

    @cached_property
    def X(self) -> CSR:  # noqa: N802
        """The counts as weighted by the vectoriser."""
        return self.vectorizer.weigh(self.counts)

    def shards(
        self,
        wants: str = "weights",
        room: Room | None = None,
        *,
        whole: bool = False,
        entries: int | None = None,
        by_path: bool = False,
    ) -> Shards:
        """The documents as input for a fit, by rows and by columns; large collections become several shards.

        For a saved corpus, the columns are used as they are on disk; only weights are put in their order.

        Parameters
        ----------
        wants : {"weights", "counts"}, default="weights"
            `X` or `counts`: a model's ``wants``.
        room : Room, optional
            Where the weights of terms and documents, and other large arrays of the fit, are kept:
            ``Room(FOLDER)`` keeps them in files there, for a collection larger than memory. Weights are
            then computed shard by shard.
        whole : bool, default=False
            Whether to keep all documents in one shard, however many: a model's ``whole``.
        entries : int, optional
            How many entries a shard has at most: fewer make more shards, for more workers; by default as many
            as the parts of a saved corpus, 33 million. Other shards round sums in another order.
        by_path : bool, default=False
            Whether the shards only know where their documents are, so that the workers of a cluster load
            them, and this process does not. For a corpus that was loaded from a directory that all workers
            see.

        Returns
        -------
        Shards
            What a model's ``fit`` takes instead of a matrix.

        Examples
        --------
        >>> from laconic import PLSA
        >>> corpus = Corpus.from_texts(["sun moon", "moon sun", "salt pepper", "pepper salt"])
        >>> PLSA(2, random_state=0).fit(corpus.shards("counts")).n_alive_
        2
        """
        from laconic.engines.blocks import Block
        from laconic.engines.room import MEMORY
        from laconic.engines.shards import Columns, Shard, Shards, row_range, shard_rows

        if by_path:
            cut = [Block(0, self.shape[0])] if whole else shard_rows(self.counts.indptr, entries)
            return self._stored_shards(wants, cut)
        room = MEMORY if room is None else room
        mapped = self.counts_csc if self.parts is None and "counts_csc" in vars(self) else None
        known = {} if whole or entries is not None else {part.rows: part.columns for part in self.parts or ()}
        cut = list(known) or shard_rows(self.counts.indptr, entries)
        if whole:
            cut = [Block(0, self.shape[0])]
        if mapped is not None and len(cut) == 1:
            known = {cut[0]: Columns(None, mapped.indptr, mapped.indices, mapped.data)}

        def shard(rows: Block) -> Shard:
            counts = self.counts if len(cut) == 1 else row_range(self.counts, rows)
            if room.mapped:
                X = room.matrix(as_wanted(wants, counts, self.vectorizer.weigh))
            else:
                X = as_wanted(wants, self.counts, lambda _: self.X)
                X = X if len(cut) == 1 else row_range(X, rows)
            columns: Any = known.get(rows)
            if columns is not None and wants != "counts":
                # terms of weight zero are left out of the weights
                columns = partial(columns.weighed, X, room) if X.nnz == counts.nnz else None
            return Shard(X, np.arange(rows.start, rows.stop), columns=columns, room=room)

        return Shards([shard(rows) for rows in cut])

    def _stored_shards(self, wants: str, cut: Iterable[Block]) -> Shards:
        """Shards of consecutive documents that are not loaded."""
        from laconic.engines.shards import Shards
        from laconic.engines.stored import StoredShard

        if self.stored is None:
            raise CorpusError(
                "the corpus was not loaded from a directory, so other processes cannot find its documents: "
                "save it, and pass the shards of Corpus.load(path)"
            )
        stored = self.stored
        if wants != "counts":
            stored = stored.transformed(self.vectorizer.weigher())
        ends = self.counts.indptr
        return Shards(
            [
                StoredShard(stored, np.arange(rows.start, rows.stop), int(ends[rows.stop] - ends[rows.start]))
                for rows in cut
            ]
        )

    @contextmanager
    def placed(self, folder: str | os.PathLike[str] | None) -> Iterator[Self]:
        """The same documents with counts that other processes find in a folder, until the block ends.

        Parameters
        ----------
        folder : path-like or None
            Seen by all these processes; None stands for that of temporary files. A corpus that was loaded
            stays where it is.
        """
        from laconic.corpus.stored import StoredCounts

        if self.stored is not None:
            yield self
            return
        with TemporaryDirectory(prefix="laconic-", dir=folder) as directory:
            found = copy.copy(self)
            found.stored = StoredCounts.written(self.counts, Path(directory))
            yield found

    def with_texts(self, texts: Iterable[str] | None) -> Self:
        """The same documents with their texts, or (None) without.

        Parameters
        ----------
        texts : iterable of str, or None
            One for each document.
        """
        other = copy.copy(self)
        other.texts = None if texts is None else Texts.of(texts)
        _check_length(other.texts, "texts", self.shape[0])
        return other

    def extended(self, others: Corpus) -> Self:
        """The same with other documents after these; texts stay only where both have them.

        Where only some of the documents have labels or dates, the others are labelled "unknown" and have no
        date (NaT).

        Parameters
        ----------
        others : Corpus
            With the same vocabulary and other ids.

        Returns
        -------
        Corpus
            With the vectoriser of this one.
        """
        counts = sparse.csr_array(sparse.vstack([self.counts, others.counts], "csr"))
        missing_date = np.datetime64("NaT", "s")
        return type(self)(
            counts,
            self.vectorizer,
            labels=_joined((self.labels, self.shape[0]), (others.labels, others.shape[0]), UNKNOWN),
            ids=np.concatenate([self.ids, others.ids]),
            dates=_joined((self.dates, self.shape[0]), (others.dates, others.shape[0]), missing_date),
            texts=None if self.texts is None or others.texts is None else self.texts.extended(others.texts),
        )

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the corpus as a directory that `load` maps into memory.

        Parameters
        ----------
        path : str or path
            A new or empty directory, or that of a saved corpus, which is replaced as a whole or not at all.

        Raises
        ------
        CorpusError
            If the directory holds something else.
        """
        from laconic.corpus.saving import save_corpus

        save_corpus(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: bool = True,
        mmap: bool = True,
        trust_patterns: bool = False,
    ) -> Corpus:
        """Load a saved corpus; its matrix stays on disk and is mapped into memory.

        Parameters
        ----------
        path : str or path
            As given to `save`.
        verify : bool, default=True
            Whether all bytes are read and checked. False checks only names, sizes and headers: for large
            corpora that you trust.
        mmap : bool, default=True
            Whether the matrix stays on disk. If someone truncates a mapped file, the process ends (SIGBUS).
            False reads everything into memory at once.
        trust_patterns : bool, default=False
            As in `laconic.load`.

        Returns
        -------
        Corpus
            The same as was saved, to the bit.

        Raises
        ------
        CorpusError
            If it is damaged, or not a corpus; the message names the file.
        """
        from laconic.corpus.saving import load_corpus

        return load_corpus(path, verify=verify, mmap=mmap, trust_patterns=trust_patterns)

    def __repr__(self) -> str:
        n_documents, n_terms = self.shape
        parts = [
            f"{plural(n_documents, 'document')} x {plural(n_terms, 'term')}",
            plural(self.counts.nnz, "non-zero"),
        ]
        if self.labels is not None:
            parts.append(plural(len(set(self.labels)), "label"))
        if self.n_empty:
            parts.append(plural(self.n_empty, "empty document"))
        return f"Corpus({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return corpus_html(self)


def _check_for_counts(path: object, options: Mapping[str, object], **given: object) -> None:
    """Refuse what says how texts are read."""
    names = [name for name, value in given.items() if value is not None and (name, value) != ("text", "text")]
    names += [name for name in options if name not in ("weighting", "sublinear_tf")]
    if names:
        raise CorpusError(f"{path} holds counts, not texts: leave ", *listed(names), " out")


def _keeping(texts: Iterable[str], keeper: TextKeeper) -> Iterator[str]:
    for text in texts:
        if isinstance(text, str):
            keeper.add(text)
        elif isinstance(text, list | tuple):
            keeper.add(" ".join(map(str, text)))
        # What is no text is refused where it is counted.
        yield text


def _joined(one: tuple[Any, int], other: tuple[Any, int], missing: object) -> Any:
    """What some documents and others have, each with their number; None if neither have anything."""
    known = [values for values, _ in (one, other) if values is not None]
    if not known:
        return None
    kind = known[0].dtype
    return np.concatenate(
        [np.full(n, missing, kind) if values is None else values for values, n in (one, other)]
    )


def _check_length(values: Sized | None, what: str, n_documents: int) -> None:
    if values is not None and len(values) != n_documents:
        raise CorpusError(f"there are {len(values)} {what} for {n_documents} documents; give one for each")
