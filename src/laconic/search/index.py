"""The search index: documents that are found by their terms and by their topics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from laconic.bundle import Bundle, Documents, load
from laconic.bundle.notes import Notes
from laconic.checks import check_choice, check_number
from laconic.corpus import Corpus
from laconic.deprecation import accepts_former_names
from laconic.errors import SearchError
from laconic.search.arguments import check_columns, check_names, checked_blend, checked_queries, checked_texts
from laconic.search.blend import BlendedMatcher, Ranked
from laconic.search.changing import Changed, checked_update, with_more, without
from laconic.search.choosing import Condition, choose
from laconic.search.explaining import explanations
from laconic.search.results import Explanation, Results
from laconic.search.snippets import shown
from laconic.search.terms import BM25, VSM, TermMatcher, matcher_of
from laconic.search.topics import checked_modality, names_compared, topics_of
from laconic.search.vectors import VectorMatcher, query_vector, query_vectors

if TYPE_CHECKING:
    from laconic.engines import Engine
    from laconic.matrices import CSR
    from laconic.models.base import TopicModel
    from laconic.reading.strings import Strings
    from laconic.search.tuning import Tuning

BLEND = 0.2
VECTOR_BLEND = 0.6
SCALINGS = ("max", "raw")
_WRONG = (
    "SearchIndex takes a bundle with documents, or a corpus and a model, not {}: say "
    "SearchIndex(laconic.fit(texts)), or SearchIndex(corpus, model)"
)
WORDS_OF_TOPIC = 8
"""How many words of a topic an explanation names."""


@accepts_former_names
class SearchIndex:
    r"""Find documents by the words of a query and by their topics.

    A document has the score

    .. math:: \mathrm{blend} \cdot s_{\mathrm{topics}} + (1 - \mathrm{blend}) \cdot s_{\mathrm{terms}},

    where the topic score is a cosine (see `similarity`) and the term score BM25 or, with ``terms="vsm"``, the
    cosine of tf-idf weights. Documents that do not have a positive score are not found.

    Parameters
    ----------
    source : Bundle or Corpus
        A bundle with documents, as returned by `laconic.fit`; or a corpus of any documents with the
        vocabulary of the model, not only those of the fit.
    model : TopicModel
        A fitted model; for a corpus only. With a group model, the class of a document is its label in the
        corpus (predicted if there is none), and the query takes the class of each document it is compared
        with. Documents that a `GraphPLSA` was fitted to keep their weights, which take the links into
        account.
    terms : {"bm25", "vsm"}, default="bm25"
        How terms are matched.
    k1, b : float, default=1.2 and 0.75
        The parameters of BM25.
    similarity : {"gram", "cosine"}, default="gram"
        How topic weights are compared: "gram" takes into account that topics share words, and compares wC;
        "cosine" compares the weights w themselves.
    blend : float, default=0.2
        How much topics count, from 0 (terms only) to 1 (topics only). `tune` finds the best value.
    scaling : {"max", "raw"}, default="max"
        "max" divides the term scores of a query by the largest of them, so that both parts are at most 1;
        "raw" uses them as they are.
    modality : str, optional
        For `MultimodalPLSA`, the modality of documents and queries.
    texts : sequence of str, optional
        For a corpus without texts: the texts of the documents, for snippets.
    vectors : array of shape (n_documents, n_dimensions) or path, optional
        Vectors of your own, such as those of a sentence encoder, one for each document, in their order; a
        ``.npy`` file stays on disk. They are a third part of the score, exact and explained like the others,
        and are saved with the index, as float32. By default those that a bundle has of its documents.
    encoder : callable, optional
        A function from the text of a query to its vector. Without it, pass the vector to `search`. It is
        not saved.
    vector_blend : float, default=0.6
        How much vectors count in the score; the rest is for words and topics.
    n_jobs : int, optional
        Number of threads for several queries; by default all cores.
    engine : Engine, optional
        Who finds the topic weights of a corpus, such as a `laconic.engines.dask.DaskEngine`; its workers load
        the documents of a corpus that was loaded. By default threads of this process.

    Attributes
    ----------
    ids : numpy.ndarray of str
        The ids of the documents.
    notes : Notes
        Names and notes of the topics, from the bundle.
    n_documents : int
        Their number.
    nbytes : int
        About how much memory the index takes, without texts and model.

    Examples
    --------
    >>> from laconic import RLSI, Corpus
    >>> from laconic.search import SearchIndex
    >>> texts = ["sun and moon", "moon and stars", "stars, sun", "salt, pepper", "pepper, chilli", "chilli"]
    >>> corpus = Corpus.from_texts(texts, ids=list("abcdef"))
    >>> model = RLSI(2, random_state=0).fit(corpus.X)
    >>> index = SearchIndex(corpus, model, texts=texts)
    >>> index.search("moon", k=3).ids
    ['a', 'b', 'c']
    >>> print(index.explain("moon", "c"))  # found by its topic: it does not have the word
    c: 0.2000 = 0.2 x topics 1.0000 + 0.8 x terms 0.0000 / 0.4326
      topic 1: 1.0000 (100%): moon, stars, sun
    """

    vectors: VectorMatcher | None = None
    encoder: Callable[[str], Any] | None = None
    vector_blend: float = VECTOR_BLEND

    def __init__(
        self,
        source: Bundle | Corpus,
        model: TopicModel | None = None,
        *,
        terms: Literal["bm25", "vsm"] = "bm25",
        k1: float = 1.2,
        b: float = 0.75,
        similarity: Literal["gram", "cosine"] = "gram",
        blend: float = BLEND,
        scaling: Literal["max", "raw"] = "max",
        modality: str | None = None,
        texts: Iterable[str] | None = None,
        vectors: Any = None,
        encoder: Callable[[str], Any] | None = None,
        vector_blend: float = VECTOR_BLEND,
        n_jobs: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        check_choice("terms", terms, ("bm25", "vsm"))
        check_choice("scaling", scaling, SCALINGS)
        self._blend = checked_blend(blend)
        self.n_jobs = n_jobs
        if isinstance(source, Bundle):
            if model is not None or texts is not None:
                raise ValueError("a bundle already has a model and texts: leave out model and texts")
            self._take(source, modality)
        else:
            if not isinstance(source, Corpus):
                raise TypeError(_WRONG.format(type(source).__name__))
            if model is None:
                raise ValueError("a corpus needs a model: SearchIndex(corpus, model)")
            if isinstance(model, Bundle):
                model = model.model
            self._count(source, model, modality, texts, engine)
        corpus = self.documents.corpus()
        matcher: TermMatcher = (
            BM25(corpus.counts_csc, k1=k1, b=b) if terms == "bm25" else VSM(corpus.counts_csc)
        )
        topics = topics_of(self.model, self.documents, similarity, self.modality)
        self.matcher = BlendedMatcher(matcher, topics, scaling)
        self.vector_blend = checked_blend(vector_blend)
        self.use_vectors(self.documents.vectors if vectors is None else vectors)
        self.encoder = encoder

    def _take(self, bundle: Bundle, modality: str | None) -> None:
        """Search the documents of a bundle."""
        found = bundle.documents
        if found is None:
            raise ValueError(
                "this bundle has no documents to search: keep them when you fit, or give a corpus and a model"
            )
        self.bundle: Bundle | None = bundle
        self._notes = bundle.notes
        self.model = bundle.model
        self.modality = checked_modality(self.model, modality)
        name = self.modality or ""
        self.vectorizer = bundle.vectorizer_of(self.modality)
        weights = {name: found.modality_weights[name]}
        self.documents = Documents({name: found.corpus(name)}, weights, found.vectors)

    def _count(
        self,
        corpus: Corpus,
        model: TopicModel,
        modality: str | None,
        texts: Iterable[str] | None,
        engine: Engine | None,
    ) -> None:
        """Search the documents of a corpus."""
        check_is_fitted(model, "components_")
        self.bundle, self.model, self.vectorizer = None, model, corpus.vectorizer
        self._notes = Notes.of(model.components_.shape[0])
        self.modality = checked_modality(model, modality)
        if texts is not None:
            corpus = corpus.with_texts(checked_texts(texts, corpus.shape[0]))
        check_names(self.vectorizer.vocabulary, model, self.modality)
        check_columns(corpus.counts, model, self.modality)
        with names_compared():
            self.documents = Documents.of(model, {self.modality or "": corpus}, engine=engine)

    def use_vectors(self, vectors: Any) -> Self:
        """Make vectors of your own a part of the score, or do without them again.

        Parameters
        ----------
        vectors : array of shape (n_documents, n_dimensions), path, or None
            As for the index itself.

        Returns
        -------
        self
            The index.
        """
        matcher = None if vectors is None else VectorMatcher(vectors, self.n_documents)
        self.vectors = matcher
        self.documents = self.documents.with_vectors(None if matcher is None else matcher.vectors)
        self._changed_vectors()
        return self

    def _changed_vectors(self) -> None:
        """Let the bundle that has this for its own index have the vectors, too."""
        bundle = self.bundle
        if bundle is not None and vars(bundle).get("index") is self and bundle.documents is not None:
            bundle.documents = bundle.documents.with_vectors(self.documents.vectors)
            self._tell_bundle()

    @property
    def notes(self) -> Notes:
        """Names and notes of the topics, from the bundle."""
        return self._notes if self.bundle is None else self.bundle.notes

    @notes.setter
    def notes(self, notes: Notes) -> None:
        self._notes = notes

    @property
    def blend(self) -> float:
        """How much topics count in the score."""
        return self._blend

    @blend.setter
    def blend(self, value: float) -> None:
        self._blend = checked_blend(value)
        self._tell_bundle()

    def _tell_bundle(self) -> None:
        """Let a bundle that has this for its own index save what was changed."""
        if self.bundle is not None and vars(self.bundle).get("index") is self:
            self.bundle.search_settings = self.settings()

    @property
    def ids(self) -> Strings:
        """The ids of the documents."""
        return self.documents.ids

    @property
    def texts(self) -> Sequence[str] | None:
        """The texts of the documents, if they were kept."""
        return self.documents.texts

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """About how much memory the index takes, without texts and model."""
        columns = self.matcher.terms.columns
        arrays = (columns.data, columns.indices, columns.indptr, self.matcher.terms.impacts)
        return sum(array.nbytes for array in arrays) + self.matcher.topics.nbytes

    def __repr__(self) -> str:
        terms, topics = self.matcher.terms, self.matcher.topics
        return (
            f"SearchIndex({self.n_documents} documents, {type(terms).__name__} and "
            f"{type(self.model).__name__}, similarity={topics.similarity!r}, blend={self.blend:g}, "
            f"scaling={self.matcher.scaling!r})"
        )

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        blend: float | None = None,
        labels: Any = None,
        since: Any = None,
        until: Any = None,
        vector: Any = None,
    ) -> Results:
        """Find the best documents for a query.

        Parameters
        ----------
        query : str
            Words; those that are not in the vocabulary are ignored.
        k : int, default=10
            At most this many documents.
        blend : float, optional
            How much topics count, instead of the index's own blend.
        labels : str or iterable of str, optional
            Only documents with one of these labels.
        since, until : optional
            Only documents from this date, or up to this date, such as "2026-11-16" or 2026.
        vector : array-like of shape (n_dimensions,), optional
            The vector of the query, for an index with vectors and without an encoder. Without either, words
            and topics make the score alone, and a warning says so.

        Returns
        -------
        Results
            Best first; ties in the order of the index. Empty for a query without any known word.
        """
        if not isinstance(query, str):
            raise ValueError(f"a query is a text, not {type(query).__name__}")  # noqa: TRY004
        counts = self.vectorizer.count([query])
        condition = Condition(labels, since, until)
        meant = query_vector(self.vectors, self.encoder, query, vector)
        ranked, cosines = self._best(counts, k, blend, condition, meant)
        return shown(ranked, self.documents, self.vectorizer, counts.indices, cosines)

    def similar(self, id: str, k: int = 10, *, blend: float | None = None) -> Results:
        """Find the documents that are most like one of them, by its words, its topics and its vector.

        Parameters
        ----------
        id : str
            The document.
        k : int, default=10
            At most this many others.
        blend : float, optional
            How much topics count, instead of the index's own blend.

        Returns
        -------
        Results
            Best first, without the document itself.
        """
        check_number("k", k, Integral, 1)
        number = self._number(id)
        counts = self.documents.corpus().counts[[number]]
        own = None if self.vectors is None else self.vectors.query(self.vectors.vectors[number])
        ranked, cosines = self._best(counts, int(k) + 1, blend, Condition(), own)
        others = ranked.documents != number
        found = Ranked(*(part[others][:k] for part in ranked))
        cosines = None if cosines is None else cosines[others][:k]
        return shown(found, self.documents, self.vectorizer, counts.indices, cosines)

    def _best(
        self, counts: CSR, k: int, blend: float | None, condition: Condition, vector: Any
    ) -> tuple[Ranked, Any]:
        """The best documents of one query, and the cosines of their vectors, if these are compared."""
        if condition.empty and vector is None:
            (ranked,) = self.ranked(counts, k, blend)
            return ranked, None
        check_number("k", k, Integral, 1)
        part = self.blend if blend is None else checked_blend(blend)
        return choose(self, counts, int(k), part, condition, vector, self.vector_blend)

    def _number(self, id: str) -> int:
        """The number of a document."""
        places = np.flatnonzero(self.ids == str(id))
        if not places.size:
            raise SearchError(f"there is no document {id!r} in the index")
        return int(places[0])

    def query_vectors(self, queries: Mapping[str, str], vectors: Any = None) -> list[Any] | None:
        """The vectors of queries, checked: those that are given, or by the encoder; None if there are none.

        Parameters
        ----------
        queries : mapping of str to str
            The text of each query by its id.
        vectors : array of shape (n_queries, n_dimensions), optional
            One for each query, in their order.
        """
        return query_vectors(self.vectors, self.encoder, queries, vectors)

    def run(
        self,
        queries: Mapping[str, str],
        k: int = 1000,
        *,
        blend: float | None = None,
        vectors: Any = None,
    ) -> dict[str, dict[str, float]]:
        """Rank documents for many queries.

        Parameters
        ----------
        queries : mapping of str to str
            The text of each query by its id.
        k : int, default=1000
            At most this many documents for a query.
        blend : float, optional
            How much topics count, instead of the index's own blend.
        vectors : array of shape (n_queries, n_dimensions), optional
            Of the queries, in their order, for an index with vectors and without an encoder.

        Returns
        -------
        dict of str to dict of str to float
            For each query the ids of documents with their scores, best first; empty for a query without any
            known word.
        """
        counts = self.vectorizer.count(checked_queries(queries).values())
        meant, ids = self.query_vectors(queries, vectors), self.ids
        if meant is None:
            ranked = self.ranked(counts, k, blend)
        else:
            ranked = [
                self._best(counts[[row]], k, blend, Condition(), vector)[0]
                for row, vector in enumerate(meant)
            ]
        return {
            name: dict(zip(ids[found.documents].tolist(), found.scores.tolist(), strict=True))
            for name, found in zip(queries, ranked, strict=True)
        }

    def explain(
        self,
        query: str,
        id: str,
        *,
        blend: float | None = None,
        n_words: int = WORDS_OF_TOPIC,
        vector: Any = None,
    ) -> Explanation:
        """Explain why a document has its score for a query.

        Parameters
        ----------
        query : str
            As for `search`.
        id : str
            The document, found or not.
        blend : float, optional
            How much topics count, instead of the index's own blend.
        n_words : int
            How many words of each topic to name.
        vector : array-like of shape (n_dimensions,), optional
            As for `search`.

        Returns
        -------
        Explanation
            The words and the topics that match, with what each contributes.
        """
        part = self.blend if blend is None else checked_blend(blend)
        number = self._number(id)
        (found,) = explanations(self, query, [number], part, n_words)
        meant = query_vector(self.vectors, self.encoder, query, vector)
        if meant is None or self.vectors is None:
            return found
        cosine, weight = float(self.vectors.scores(meant)[number]), self.vector_blend
        score = weight * cosine + (1 - weight) * found.score
        return replace(found, score=score, vector_score=cosine, vector_blend=weight)

    def tune(
        self,
        queries: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, int]],
        *,
        vectors: Any = None,
        **grids: Any,
    ) -> Tuning:
        """Choose the parameters of BM25 and the blends by mean average precision, and keep them.

        Parameters
        ----------
        queries : mapping of str to str
            The text of each query by its id; use other queries for testing.
        qrels : mapping of str to mapping of str to int
            For each query, the grades of judged documents; 1 or more is relevant.
        vectors : array of shape (n_queries, n_dimensions), optional
            As in `run`.
        **grids
            What to choose from, in place of the defaults: `blends`, `vector_blends`, `k1` and `b`, sequences
            of numbers.

        Returns
        -------
        Tuning
            The chosen values, and the mean average precision of everything that was tried.
        """
        from laconic.search.tuning import tuned

        meant = self.query_vectors(checked_queries(queries), vectors)
        found, terms = tuned(self, queries, qrels, meant, **grids)
        self.matcher = BlendedMatcher(terms, self.matcher.topics, self.matcher.scaling)
        if found.vector_blend is not None:
            self.vector_blend = found.vector_blend
        self.blend = found.blend
        return found

    def add(
        self,
        documents: Mapping[str, str],
        labels: Mapping[str, str] | None = None,
        *,
        dates: Mapping[str, Any] | None = None,
        vectors: Any = None,
    ) -> Self:
        """Add documents without fitting the model again.

        Their weights are computed with the topics fixed. The idf of terms and the mean length that BM25
        uses do not change.

        Parameters
        ----------
        documents : mapping of str to str
            The text of each document by its id, which must be new.
        labels : mapping of str to str, optional
            For group models, the class of each document by its id; predicted if missing.
        dates : mapping of str to date, optional
            The date of each document by its id; those that are not named have none.
        vectors : array of shape (n_new_documents, n_dimensions), or path, optional
            Those of the new documents, in their order, for an index with vectors and without an encoder.

        Returns
        -------
        self
            With the new documents at the end. Either all of them are added, or none.

        Notes
        -----
        The index is rebuilt, which takes time in proportion to its size, so add many documents at once.
        """
        changed = with_more(self, documents, labels, dates, vectors)
        return self if changed is None else self._change(changed)

    def remove(self, ids: Iterable[str]) -> Self:
        """Remove documents from the index.

        The idf of terms and the mean length that BM25 uses do not change.

        Parameters
        ----------
        ids : iterable of str
            The ids of documents in the index; at least one other must stay.

        Returns
        -------
        self
            Without these documents. Either all of them are removed, or none.
        """
        gone = {self._number(id) for id in ([ids] if isinstance(ids, str) else ids)}
        if not gone:
            return self
        return self._change(without(self, gone))

    def update(
        self,
        documents: Mapping[str, str],
        labels: Mapping[str, str] | None = None,
        *,
        dates: Mapping[str, Any] | None = None,
        vectors: Any = None,
    ) -> Self:
        """Add documents, replacing those with the same id.

        Parameters
        ----------
        documents, labels : mapping of str to str
            As in `add`, but ids may already be in the index.
        dates : mapping of str to date, optional
            As in `add`.
        vectors : array of shape (n_new_documents, n_dimensions), or path, optional
            As in `add`.
        """
        known, own = checked_update(self, documents, dates, vectors)
        return self.remove(known).add(documents, labels, dates=dates, vectors=own)

    def _change(self, changed: Changed) -> Self:
        """Search other documents, and let the bundle that has this for its own index have them, too."""
        self.documents, self.matcher = changed
        vectors = self.documents.vectors
        self.vectors = None if vectors is None else VectorMatcher(vectors, self.n_documents)
        if self.bundle is not None and vars(self.bundle).get("index") is self and self.modality is None:
            self.bundle.documents = self.documents
            self._tell_bundle()
        else:
            # Other modalities of the bundle do not have the same documents.
            self._notes, self.bundle = self.notes, None
        return self

    def settings(self) -> dict[str, Any]:
        """The settings of the search, as plain values, which a bundle saves with its documents."""
        terms = self.matcher.terms
        return {
            "blend": self.blend,
            "scaling": self.matcher.scaling,
            "similarity": self.matcher.topics.similarity,
            "modality": self.modality,
            "terms": terms.settings(),
            **({} if self.vectors is None else {"vector_blend": self.vector_blend}),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the index: its model, its documents and its settings, as a bundle.

        Parameters
        ----------
        path : str or path
            A new or empty directory, or that of a saved model, which is replaced as a whole or not at all.

        Raises
        ------
        BundleError
            If the directory holds something else.
        """
        from laconic.search.saving import save_index

        save_index(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: bool = True,
        mmap: bool = True,
        trust_patterns: bool = False,
    ) -> SearchIndex:
        """Load the index of a saved bundle. Nothing in the directory is executed.

        Parameters
        ----------
        path : str or path
            The directory of the model.
        verify, mmap : bool, default=True
            As in `laconic.load`.
        trust_patterns : bool, default=False
            As in `laconic.load`.

        Returns
        -------
        SearchIndex
            Gives the same results as the saved one, to the bit.

        Raises
        ------
        BundleError, SearchError
            If there are no documents, or something is damaged; the message names the file.
        """
        return load(path, verify=verify, mmap=mmap, trust_patterns=trust_patterns).index

    @classmethod
    def _with_settings(cls, bundle: Bundle, settings: Mapping[str, Any]) -> SearchIndex:
        """The index of a bundle's documents with settings that were saved, which are checked."""
        index = cls.__new__(cls)
        index._take(bundle, settings["modality"])
        check_choice("scaling", settings["scaling"], SCALINGS)
        terms = matcher_of(index.documents.corpus().counts_csc, settings["terms"])
        topics = topics_of(index.model, index.documents, settings["similarity"], index.modality)
        index.matcher = BlendedMatcher(terms, topics, settings["scaling"])
        index._blend, index.n_jobs = checked_blend(settings["blend"]), None
        index.vector_blend = checked_blend(settings.get("vector_blend", VECTOR_BLEND))
        return index.use_vectors(index.documents.vectors)

    def ranked(self, counts: CSR, k: int = 10, blend: float | None = None) -> list[Ranked]:
        """The best documents for queries given as counts, by number; `run` gives them by id.

        Parameters
        ----------
        counts : sparse array of shape (n_queries, n_terms)
            As from ``vectorizer.count``.
        k, blend
            As for `search`.

        Returns
        -------
        list of Ranked
            The numbers of documents, their scores, and both parts of these, for each query.
        """
        check_number("k", k, Integral, 1)
        blend = self.blend if blend is None else checked_blend(blend)
        rows = self.rows(counts)
        return self.matcher.top(counts, rows, int(k), blend, self.n_jobs)

    def rows(self, counts: CSR) -> CSR:
        """Counts as input for the model: unchanged, or weighted.

        Parameters
        ----------
        counts : sparse array of shape (n_texts, n_terms)
            How often each term of the vocabulary occurs in each text.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            For ``model.transform``.
        """
        check_columns(counts, self.model, self.modality)
        rows: CSR = self.model.rows(counts, self.vectorizer.weigh)
        return rows


def index_of(bundle: Bundle) -> SearchIndex:
    """The index of a bundle's documents, with the settings that it was saved with, if it was."""
    from laconic.search.saving import with_settings

    # Reading documents that were kept in an index of their own tells how they were searched, too.
    if bundle.documents is None or bundle.search_settings is None:
        return SearchIndex(bundle)
    return with_settings(bundle, bundle.search_settings)
