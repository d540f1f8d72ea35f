"""A fitted model, and the vectoriser that feeds it, in memory and on disk."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.bundle.checking import check_bundle, check_documents
from laconic.bundle.chosen import Chosen
from laconic.bundle.documents import Documents
from laconic.bundle.history import History
from laconic.bundle.notes import Notes
from laconic.bundle.overview import in_order, topic_columns
from laconic.bundle.saving import save_bundle
from laconic.bundle.tables import as_table
from laconic.checks import check_number
from laconic.display import bundle_html
from laconic.errors import BundleError, InputError, InputWarning, Parameter, ParameterError
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.corpus import Vectorizer
    from laconic.matrices import CSR
    from laconic.models.base import TopicModel
    from laconic.reading.strings import Strings
    from laconic.search import Results, SearchIndex
    from laconic.steering.drift import Drift
    from laconic.steering.editing import Editing
    from laconic.steering.tree import Branch


class Bundle:
    """A fitted model, the vectoriser that turns texts into its input, and the documents it is used with.

    `laconic.fit` makes one, and `laconic.load` reads one that was saved.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    vectorizer : Vectorizer or None, default=None
        Whose vocabulary names the model's terms.
    vectorizers : mapping of str to Vectorizer, optional
        For a model of several modalities, in place of `vectorizer`: those of its modalities that are texts.
    documents : Documents or callable, optional
        Documents with their weights: those of the fit, or others made by `Documents.of`. A callable takes
        the bundle and returns the documents when they are first used.
    search_settings : mapping, optional
        Settings of the search, if not the defaults: what ``SearchIndex.settings`` returns.
    names : sequence of str or None, or mapping of int to str, optional
        The names of topics: one for each (or None), or a mapping from numbers. See `rename`.

    Attributes
    ----------
    names : list of str or None
        The name of each topic, or None.
    documents : Documents or None
        Read and checked when first used.
    index : SearchIndex
        The search index; built from the documents when first used.
    chosen : Chosen or None
        What spoke for which number of topics, where `laconic.choose` was asked: ``choice.record()``.
    vocabulary : numpy.ndarray of str, or None
        The terms in the order of the model's columns.

    Raises
    ------
    ValueError
        If the vocabulary does not fit the model, or the documents do not.

    See Also
    --------
    laconic.fit : From texts to a bundle in one line.
    load : Read a bundle that was saved.

    Examples
    --------
    >>> import tempfile
    >>> from laconic import RLSI, Bundle, load
    >>> from laconic.corpus import Vectorizer
    >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
    >>> vectorizer = Vectorizer()
    >>> X = vectorizer.weigh(vectorizer.fit_count(texts))
    >>> model = RLSI(n_components=2, topic_norm="l0", terms_per_topic=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as path:
    ...     Bundle(model, vectorizer).save(path)
    ...     loaded = load(path)
    >>> sorted(sorted(term for term, weight in topic) for topic in loaded.topic_words())
    [['moon', 'sun'], ['pepper', 'salt']]
    >>> loaded.transform(["the sun", "salted"]).shape
    (2, 2)
    """

    def __init__(
        self,
        model: TopicModel,
        vectorizer: Vectorizer | None = None,
        *,
        vectorizers: Mapping[str, Vectorizer] | None = None,
        documents: Documents | Callable[[Bundle], Documents | None] | None = None,
        search_settings: Mapping[str, Any] | None = None,
        names: Sequence[str | None] | Mapping[int, str | None] | None = None,
    ) -> None:
        if documents is not None and not isinstance(documents, Documents) and not callable(documents):
            raise ValueError(
                "documents must be Documents, such as Documents.of(model, corpus), not "
                f"{type(documents).__name__}"
            )
        self.model, self.vectorizer = model, vectorizer
        self.vectorizers = dict(vectorizers or {})
        if isinstance(documents, Documents):
            # They cannot be read back without the words of their columns.
            own = {name: corpus.vectorizer for name, corpus in documents.corpora.items()}
            only = own.pop("", None)
            self.vectorizer = only if vectorizer is None else vectorizer
            self.vectorizers = {**own, **self.vectorizers}
        self.search_settings = None if search_settings is None else dict(search_settings)
        self._given = documents
        self._notes = Notes.of(self._n_topics, names) if names is not None else None
        self.chosen: Chosen | None = None
        self.history = History()
        self._version: str | None = None
        check_bundle(self)
        self.vectorizers = {
            name: self.vectorizers[name] for name in self.modalities if name in self.vectorizers
        }
        if isinstance(documents, Documents):
            check_documents(self, documents)

    def __repr__(self) -> str:
        parts = [
            f"vectoriser of {len(vectorizer.vocabulary):,} terms{f' for {name}' if name else ''}"
            for name, vectorizer in [("", self.vectorizer), *self.vectorizers.items()]
            if vectorizer is not None
        ]
        at_hand = self._at_hand()
        if at_hand is not None:
            parts.append(plural(len(at_hand), "document"))
        return f"<Bundle: {self.model!r}, {', '.join(parts) or 'no vectoriser'}>"

    @cached_property
    def documents(self) -> Documents | None:
        """The documents that the bundle has, if it has any; read and checked when first used."""
        if not callable(self._given):
            return self._given
        found = self._given(self)
        if found is not None:
            check_documents(self, found)
        return found

    @cached_property
    def index(self) -> SearchIndex:
        """The search index; built from `documents` when first used."""
        from laconic.search.index import index_of

        return index_of(self)

    def _repr_html_(self) -> str:
        return bundle_html(self, self._at_hand())

    def _at_hand(self) -> Documents | None:
        """The documents, unless they would have to be read: what is large is not read to be shown."""
        found: Documents | None = vars(self).get("documents")
        return self._given if isinstance(self._given, Documents) and found is None else found

    def __getstate__(self) -> dict[str, Any]:
        """For copies in other processes: what is mapped comes along as it is in memory."""
        state = {
            name: value
            for name, value in vars(self).items()
            if name not in ("documents", "index", "_indexes")
        }
        return state | {"_given": self.documents}

    @property
    def modalities(self) -> list[str]:
        """The names of the model's modalities; empty if there is only one."""
        return list(self.model.modalities)

    @property
    def vocabulary(self) -> Strings | None:
        """The terms in the order of the model's columns, or None without a vectoriser for all of them."""
        if self.vectorizers and len(self.vectorizers) == len(self.modalities):
            return np.concatenate([vectorizer.vocabulary for vectorizer in self.vectorizers.values()])
        return None if self.vectorizer is None else self.vectorizer.vocabulary

    @property
    def _n_topics(self) -> int:
        """How many topics there are; none before the fit."""
        return int(self.model.components_.shape[0]) if self.model.fitted else 0

    @property
    def notes(self) -> Notes:
        """What is known about the topics besides their words; it is saved with them."""
        if self._notes is None or len(self._notes.names) != self._n_topics:
            # what was said of other topics does not hold of those of another fit
            self._notes = Notes.of(self._n_topics)
        return self._notes

    @notes.setter
    def notes(self, notes: Notes) -> None:
        if len(notes.names) != self._n_topics:
            raise ValueError(f"notes of {len(notes.names)} topics do not fit a model of {self._n_topics}")
        self._notes = notes

    @property
    def names(self) -> list[str | None]:
        """The name of each topic, or None."""
        return list(self.notes.names)

    def rename(self, topic: int | str, name: str | None) -> Self:
        """Name a topic; the name is shown next to its number wherever topics are listed.

        Parameters
        ----------
        topic : int or str
            Its number, or the name that it has.
        name : str or None
            At most 100 characters, not a number, and not the name of another topic; None removes the name.

        Returns
        -------
        self
            The topic keeps its number. `save` keeps the name.

        Examples
        --------
        >>> import laconic
        >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
        >>> bundle = laconic.fit(texts, n_topics=2).rename(0, "kitchen")
        >>> bundle.names, bundle.topic_number("kitchen")
        (['kitchen', None], 0)
        """
        self._notes = self.notes.renamed(self.topic_number(topic), name)
        return self

    def measure_returns(
        self,
        n_refits: int = 10,
        *,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> list[float]:
        """Measure which topics come back when the model is fitted again to halves of the documents.

        Parameters are those of `laconic.steering.returning.measure_returns`; `progress` is told the part of
        the work that is done. The shares are noted in the bundle, saved with it, and shown by `topics`.
        """
        from laconic.steering.returning import measure_returns

        found = measure_returns(self, n_refits, random_state=random_state, n_jobs=n_jobs, tell=progress)
        return [share or 0.0 for share in found.shares]

    def drift(
        self,
        by: str = "year",
        *,
        strength: float = 0.05,
        n_terms: int = 8,
        progress: Callable[[float], object] | None = None,
    ) -> Drift:
        """Follow the topics through time: the model is fitted to one period after another.

        Parameters are those of `laconic.steering.drift.drift`; `progress` is told the part of the work that
        is done.
        """
        from laconic.steering.drift import drift

        return drift(self, by=by, strength=strength, n_terms=n_terms, tell=progress)

    def topic_number(self, topic: int | str) -> int:
        """The number of a topic, which is its row of ``components_``.

        Parameters
        ----------
        topic : int or str
            A number, or the name of a topic.

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            If there is no such topic.
        """
        if not isinstance(topic, str):
            check_number("topic", topic, Integral, 0, self._n_topics - 1)
            number = int(topic)
        else:
            number = self.notes.number(topic)
        self.notes.check_living(number)
        return number

    def topics(
        self,
        n_terms: int = 10,
        *,
        modality: str | None = None,
        distinct: bool = False,
        sort: str | None = None,
        coherence: bool = False,
    ) -> Any:
        """List the topics, one row each.

        Parameters
        ----------
        n_terms : int, default=10
            At most this many words per topic.
        modality : str, optional
            Only words of this one; by default a column for each.
        distinct : bool, default=False
            Whether to list each word only in the topic where it is strongest, so that topics do not repeat
            each other. The other columns are those of the whole topic.
        sort : str, optional
            The column to sort by, such as "share", largest first. By default, sorted by number.
        coherence : bool, default=False
            Whether to add how well the words of each topic go together in the documents (NPMI, from -1 to 1;
            see `laconic.evaluate.coherence`).

        Returns
        -------
        data frame, or Table
            The columns: topic (its number, which never changes), name (if one has a name), class (for group
            models), words (of several modalities, a column for each), size (how many words it has), returns
            (if measured: the share of refits in which it came back) and, if there are documents, share (its
            share of all weights), documents (how many have it as their largest topic) and, if these have
            labels, labels (those where it is strongest, with their share of its weight). A pandas or polars
            data frame, if one of them is installed.
        """
        check_number("n_terms", n_terms, Integral, 1)
        columns = topic_columns(self, n_terms, modality=modality, distinct=distinct, coherence=coherence)
        return as_table(columns if sort is None else in_order(columns, sort))

    def shown_words(
        self, n_terms: int | None = 10, *, modality: str | None = None, distinct: bool = False
    ) -> list[list[tuple[str, float]]]:
        """Like `topic_words`, with stems as their most common form: for people rather than for measures.

        Parameters
        ----------
        n_terms, modality, distinct
            As in `topic_words`.
        """
        found = self.topic_words(n_terms, modality=modality, distinct=distinct)
        own = {"": self.vectorizer} if modality is None else {modality: self.vectorizers.get(modality)}
        if modality is None and self.vectorizers:
            own = dict(self.vectorizers)
        forms: dict[str, str] = {}
        for one in own.values():
            if one is not None and one.forms is not None:
                forms |= dict(zip(one.vocabulary.tolist(), one.forms, strict=True))
        if not forms:
            return found
        return [[(forms.get(term, term), weight) for term, weight in topic] for topic in found]

    def topic_words(
        self, n_terms: int | None = 10, *, modality: str | None = None, distinct: bool = False
    ) -> list[list[tuple[str, float]]]:
        """List the heaviest terms of every topic.

        Parameters
        ----------
        n_terms : int or None, default=10
            At most this many terms per topic, or None for all.
        modality : str, optional
            Only terms of this one.
        distinct : bool, default=False
            Whether to list each term only in the topic where it is strongest, so that topics do not repeat
            each other.

        Returns
        -------
        list of list of (str, float)
            Terms and weights, topic by topic. Without a vocabulary, terms are the feature names seen in the
            fit, or column numbers.
        """
        if modality is None:
            listed: list[list[tuple[str, float]]] = self.model.topics(
                self.vocabulary, n_terms, distinct=distinct
            )
            return listed
        vectorizer = self.vectorizers.get(self._known(modality))
        vocabulary = None if vectorizer is None else vectorizer.vocabulary
        return self.model.topics(  # type: ignore[call-arg]
            vocabulary, n_terms, distinct=distinct, modality=modality
        )

    def documents_of(self, topic: int | str, n: int = 5) -> Any:
        """Find the documents that have most of a topic.

        Parameters
        ----------
        topic : int or str
            Its number, or its name.
        n : int, default=5
            At most this many.

        Returns
        -------
        data frame, or Table
            One row each, the largest weight first: id, weight and, if known, label, date and text.
            Documents without any of the topic are left out.
        """
        number = self.topic_number(topic)
        check_number("n", n, Integral, 1)
        return as_table(self._kept("documents of a topic").most_of(number, int(n)))

    def search(
        self, query: str, k: int = 10, *, blend: float | None = None, modality: str | None = None
    ) -> Results:
        """Find the best documents for a query, by its words and by its topics.

        Parameters
        ----------
        query : str
            Words; those that are not in the vocabulary are ignored.
        k : int, default=10
            At most this many documents.
        blend : float, optional
            How much topics count in the score, from 0 (words only) to 1 (topics only).
        modality : str, optional
            The modality to search, for a model with several.

        Returns
        -------
        Results
            Best first. For more (explanations, many queries, tuning), see `index`.
        """
        return self.index_of(modality).search(query, k, blend=blend)

    def index_of(self, modality: str | None = None) -> SearchIndex:
        """The search index of one modality; built when first used.

        Parameters
        ----------
        modality : str, optional
            The modality, for a model with several; by default `index`.
        """
        if modality is None:
            return self.index
        if modality not in self._indexes:
            from laconic.search import SearchIndex

            self._indexes[modality] = SearchIndex(self, modality=modality)
        return self._indexes[modality]

    @cached_property
    def _indexes(self) -> dict[str, SearchIndex]:
        return {}

    def report(self, path: str | os.PathLike[str], *, documents: int = 0, title: str | None = None) -> Path:
        """Write a report: one HTML file that you can mail, open anywhere and print.

        Parameters
        ----------
        path : path-like
            The file to write; an existing one is replaced.
        documents : int, default=0
            How many typical documents of each topic to quote. None by default, because reports are made to
            be shared.
        title : str, optional
            The title; by default the number of topics.

        Returns
        -------
        Path
            The file. It fetches nothing from the network.
        """
        from laconic.explore.report import write_report

        return write_report(self, path, documents=documents, title=title)

    def _kept(self, what: str) -> Documents:
        """The documents; without any, an error that says there are none of `what`."""
        if self.documents is None:
            raise ValueError(
                f"there are no {what}: this bundle has no documents; keep them when you fit, or give "
                "documents=Documents.of(model, {'': corpus})"
            )
        return self.documents

    def vectorize(self, texts: Iterable[str], *, modality: str | None = None) -> CSR:
        """Turn texts into rows for the model: counts for models of counts, otherwise weights.

        Parameters
        ----------
        texts : iterable of str
            New documents.
        modality : str, optional
            The modality of the texts, for a model with several.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text.
        """
        return self.weigh(self.vectorizer_of(modality).count(texts), modality=modality)

    def weigh(self, counts: CSR, *, modality: str | None = None) -> CSR:
        """Turn counts into rows for the model: the counts themselves, or weights.

        Parameters
        ----------
        counts : sparse array of shape (n_texts, n_terms)
            How often each term of the vocabulary occurs in each text.
        modality : str, optional
            The modality of the texts, for a model with several.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text.
        """
        # not every bundle has a vectoriser, and not every model needs one here
        rows: CSR = self.model.rows(counts, lambda counts: self.vectorizer_of(modality).weigh(counts))
        return rows

    def transform(
        self,
        texts: Iterable[str] | Mapping[str, Iterable[str]],
        *,
        modality: str | None = None,
        normalize: bool = False,
    ) -> NDArray[Any] | csr_array:
        """Compute the topic weights of texts.

        Parameters
        ----------
        texts : iterable of str, or mapping of str to iterable of str
            New documents; for a model with several modalities, also a mapping from modalities to texts.
        modality : str, optional
            The modality of the texts, for a model with several.
        normalize : bool, default=False
            Whether to scale the weights of a text to sum to one, so that they are shares; for models with
            non-negative weights.

        Returns
        -------
        array of shape (n_texts, n_topics)
            What the model's ``transform`` returns, one row for every text.
        """
        weights = self._transform(texts, modality)
        return self.model.shares(weights) if normalize else weights

    def predict(self, texts: Iterable[str]) -> Any:
        """Predict the classes of texts with a group model.

        Parameters
        ----------
        texts : iterable of str
            New documents.

        Returns
        -------
        ndarray of shape (n_texts,)
            For each text, the class whose topics explain it best.

        Raises
        ------
        ParameterError
            If the model has no classes.
        """
        if not self.model.traits.classes:
            raise ParameterError(
                f"{type(self.model).__name__} has no classes: fit ",
                Parameter("model", "group-rlsi"),
                " with ",
                Parameter("labels"),
            )
        return self.model.predict(self.vectorize(texts))

    def _transform(self, texts: Iterable[str] | Mapping[str, Iterable[str]], modality: str | None) -> Any:
        if isinstance(texts, Mapping):
            return self.model.transform({n: self.vectorize(part, modality=n) for n, part in texts.items()})
        X = self.vectorize(texts, modality=modality)
        if X.shape[0] and not X.nnz:
            warnings.warn(InputWarning(_strangers(X.shape[0])), stacklevel=3)
        if not X.shape[0]:
            return np.zeros((0, self.model.components_.shape[0]), X.dtype)
        if modality is None:
            return self.model.transform(X)
        return self.model.transform(X, modality=modality)  # type: ignore[call-arg]

    def vectorizer_of(self, modality: str | None = None) -> Vectorizer:
        """The vectoriser of a modality, or of a model with only one.

        Parameters
        ----------
        modality : str, optional
            Needed if the model has several.

        Returns
        -------
        Vectorizer
            With a vocabulary.

        Raises
        ------
        ValueError
            If there is none.
        """
        if modality is None and self.modalities:
            names = ", ".join(map(repr, self.modalities))
            raise BundleError(f"this model has several modalities: say which of {names} the texts belong to")
        found = self.vectorizer if modality is None else self.vectorizers.get(self._known(modality))
        if found is None:
            raise BundleError(
                "this bundle has no vectoriser, so it cannot read texts; pass a matrix to "
                "bundle.model.transform, or create the bundle with a vectoriser"
            )
        return found

    def _known(self, modality: str) -> str:
        """The name of a modality, if the model has it; if not, an error that names those it has."""
        if modality not in self.modalities:
            names = ", ".join(map(repr, self.modalities)) or "none"
            raise BundleError(f"the model has no modality {modality!r}; there are: {names}")
        return modality

    def tree(self) -> Branch | None:
        """The topics as a tree: those that share most words are joined first.

        Returns
        -------
        Branch or None
            The root; ``tree.cut(10)`` gives ten groups of topics. None, if no topic has words.

        Examples
        --------
        >>> import laconic
        >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
        >>> laconic.fit(texts, n_topics=2).tree().cut(2)
        [[0], [1]]
        """
        from laconic.explore.views import tree

        return tree(self, most=self._n_topics)

    def over_time(self) -> Any:
        """How much of each topic the documents of each period have.

        Returns
        -------
        data frame, or Table
            One row for each year, month or day, depending on the dates: period, documents (how many), and
            for every topic its share of the weights.

        Raises
        ------
        ValueError
            If there are no documents, or these have no dates.
        """
        from laconic.explore.facts import facts_of

        self._kept("documents of a period")
        found = facts_of(self).over_time
        if found is None:
            raise ValueError("the documents have no dates: read them with date='COLUMN', or dates=")
        shares = {
            self.notes.shown(topic, "topic"): found.shares[:, topic].tolist() for topic in self.notes.living
        }
        return as_table({"period": found.periods, "documents": found.documents, **shares})

    def edit(self) -> Editing:
        """Edit topics by hand: merge, split, drop, seed, forbid words, freeze, rename.

        Returns
        -------
        Editing
            Collects steps; its ``apply`` returns a new bundle, in which all other topics keep their numbers
            and their words. This bundle does not change.

        Examples
        --------
        >>> import laconic
        >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"] * 3
        >>> bundle = laconic.fit(texts, n_topics=2)
        >>> edited = bundle.edit().rename(0, "night").drop(1).apply()
        >>> list(edited.topics()["topic"]), edited.notes.retired
        ([0], {1: 'dropped'})
        """
        from laconic.steering.editing import Editing

        return Editing(self)

    def update(
        self,
        data: Any,
        new_topics: int = 0,
        *,
        strength: float = 1.0,
        freeze: bool = False,
        text: str | Sequence[str] = "text",
        labels: Any = None,
        dates: Any = None,
        ids: Any = None,
        callback: Any = None,
        **reading: Any,
    ) -> Bundle:
        """Extend the model with new documents: old topics stay, and new ones can be added.

        Parameters are those of `laconic.bundle.updating.updated`; `labels`, `dates` and `ids` are as of
        `laconic.fit`, and `reading` are options of files. This bundle stays as it is.

        Examples
        --------
        >>> import laconic
        >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
        >>> bundle = laconic.fit(texts, n_topics=2).rename(1, "kitchen")
        >>> newer = bundle.update(["ship and harbour", "harbour and ship", "salt and pepper"], new_topics=1)
        >>> newer.names, sorted(word for word, weight in newer.topic_words()[2])
        ([None, 'kitchen', None], ['harbour', 'ship'])
        """
        from laconic.bundle.given import Names
        from laconic.bundle.updating import updated

        return updated(
            self,
            data,
            new_topics,
            strength=strength,
            freeze=freeze,
            text=text,
            names=Names(labels, dates, ids),
            reading=reading,
            callback=callback,
        )

    def _follow(self, old: Bundle, did: tuple[str, ...]) -> Self:
        """Take up the history of the bundle that this was made of; `did` is what was done to it."""
        self.history, self._version = old.history.extended(did, old.version), old.version
        self.chosen = old.chosen
        return self

    @property
    def version(self) -> str | None:
        """The version of the saved model, if it was loaded from a directory or saved to one."""
        return self._version

    def save(self, path: str | os.PathLike[str], *, parent: str | None = None) -> None:
        """Save as a directory; a crash at any time leaves either the old model or the new one.

        Parameters
        ----------
        path : path-like
            A new or empty directory, or that of a saved model, which is replaced. Files that are not part
            of a model are left alone. Earlier versions of an edited model are kept there.
        parent : str, optional
            The `version` that this bundle is based on: if the directory holds another one by now, nothing
            is saved.

        Raises
        ------
        BundleError
            If the directory holds something else, or another version, or a value cannot be saved.
        OSError
            If the disk is full, for example; the old model is then still valid.

        Notes
        -----
        Saving twice gives the same bytes. A parameter that is a random generator is saved as None.
        """
        check_bundle(self)
        self.history, self._version = save_bundle(self, path, parent)


def _strangers(n_documents: int) -> InputError:
    """What to say of documents that have no word in common with a model."""
    which = f"of {n_documents:,} documents none has" if n_documents > 1 else "the document does not have"
    return InputError(
        f"{which} a word that the model knows, so the weights are meaningless: are these texts in the same "
        "language as those of the fit?"
    )
