"""From documents to a model that knows them: what `laconic.fit` and the command ``laconic fit`` do."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.bundle.bundle import Bundle
from laconic.bundle.documents import Documents
from laconic.corpus.corpus import Corpus
from laconic.corpus.options import OPTIONS
from laconic.corpus.sources import Modality, Source, find_source
from laconic.errors import CorpusError, Parameter, ParameterError
from laconic.models.making import N_TOPICS, WORDS, make_model, parameters_of
from laconic.reading.arrow import is_table

if TYPE_CHECKING:
    from laconic.losses.loop import Callback
    from laconic.models.base import TopicModel

READING = ("encoding", "delimiter", "vocabulary", "on_error")
"""Options of files."""


def fit(
    data: Any,
    n_topics: int = N_TOPICS,
    words: int | None = WORDS,
    model: str = "rlsi",
    *,
    labels: str | Iterable[object] | None = None,
    dates: str | Iterable[object] | None = None,
    ids: str | Iterable[object] | None = None,
    text: str | Mapping[str, str] = "text",
    graph: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    keep_documents: bool = True,
    keep_texts: bool = True,
    verbose: int = 0,
    callback: Callback | None = None,
    **options: Any,
) -> Bundle:
    """Find the topics of documents: read, count, weigh and fit in one line.

    The same as ``laconic fit`` on the command line, with the same defaults.

    Parameters
    ----------
    data : list of str, path, table, Corpus or mapping
        Texts; a file, a folder or a pattern (a string or a path, or a list of paths; see `Corpus.read`); a
        data frame of pandas or polars, or another table with the Arrow interface; a corpus. For
        ``model="multimodal-plsa"`` also a mapping from the names of modalities to lists of texts or corpora.
    n_topics : int, default=20
        Number of topics. Group models have `n_shared` (10) and `n_per_class` (5) instead; 20 is not minded.
    words : int or None, default=40
        The word budget: at most that many words for each topic. None leaves it to a penalty, `alpha_topics`.
        For the models "rlsi" and "group-rlsi"; with others, 40 is not minded.
    model : str, default="rlsi"
        One of "rlsi", "nmf", "sparse-lsa", "plsa", "nmf-kl", "graph-plsa"; "group-rlsi" or "group-nmf", which
        need labels; "multimodal-plsa".
    labels, dates, ids : str or iterable, optional
        The names of columns, for files and tables; otherwise one for each document, as of `Corpus`.
    text : str or mapping of str to str, default="text"
        The column of the text, for files and tables; for "multimodal-plsa" from the names of modalities to
        columns.
    graph : optional
        Links between documents, for "graph-plsa" and "multimodal-plsa".
    random_state : int, RandomState instance or None, default=0
        The same seed gives the same topics, to the bit.
    n_jobs : int, optional
        Number of threads; by default all cores.
    keep_documents, keep_texts : bool, default=True
        Whether the bundle has the documents (counts, ids, labels, dates, weights), and their texts, too: for
        `Bundle.search`, `Bundle.documents_of` and all that is shown of topics. They are saved with it.
    verbose : int, default=0
        Whether to show the progress of the fit.
    callback : callable, optional
        As of the model's ``fit``.
    **options
        Options of `Vectorizer` (`min_df`, `stop_words`, `weighting`, ...), of files (`encoding`, `delimiter`,
        `on_error`, `vocabulary`), and parameters of the model (`alpha_docs`, `prior`, `strength`, ...).

    Returns
    -------
    Bundle
        ``bundle.topics()``, ``bundle.search("words")``, ``bundle.transform(texts)``, ``bundle.save(path)``.

    Raises
    ------
    CorpusError, ParameterError
        If documents or parameters cannot be used; the message says what to do.

    Examples
    --------
    >>> import laconic
    >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
    >>> bundle = laconic.fit(texts, n_topics=2)
    >>> [sorted(word for word, weight in topic) for topic in bundle.topic_words()]
    [['moon', 'sun'], ['pepper', 'salt']]
    >>> bundle.search("pepper").ids
    ['2', '3']
    """
    given = _sorted(model, options)
    parameters = dict(given.parameters)
    if words is None and "terms_per_topic" in parameters_of(model):
        parameters.setdefault("topic_norm", "l1")
    made = make_model(
        model,
        None if n_topics == N_TOPICS else n_topics,
        None if words == WORDS else words,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        **parameters,
    )
    check_counted(made, given.terms)
    corpora = _corpora(data, text, _Names(labels, dates, ids).listed(), given, keep_documents and keep_texts)
    check_modalities(made, corpora)
    return fit_bundle(made, corpora, graph=graph, keep_documents=keep_documents, callback=callback)


def fit_bundle(
    model: TopicModel,
    corpora: Mapping[str, Corpus],
    *,
    graph: Any = None,
    keep_documents: bool = True,
    callback: Callback | None = None,
) -> Bundle:
    """Fit a model to documents that are read and counted.

    Parameters
    ----------
    model : TopicModel
        To be fitted.
    corpora : mapping of str to Corpus
        By modality; ``""`` if documents have just one.
    graph : optional
        Links between documents, for a model that takes them.
    keep_documents : bool, default=True
        Whether the bundle has the documents.
    callback : callable, optional
        As of the model's ``fit``.

    Returns
    -------
    Bundle
        With the vectoriser or vectorisers and, if they are kept, the documents.
    """
    corpus = next(iter(corpora.values()))
    if corpus.labels is None and model.traits.classes:
        raise CorpusError(
            f"{type(model).__name__} needs the class of every document, and these have no labels: read "
            "them with ",
            Parameter("label"),
        )
    if graph is not None and not model.traits.links:
        raise ParameterError(
            Parameter("graph"), f" goes with models of links, and {type(model).__name__} has none"
        )
    linked = {} if graph is None else {"graph": graph}
    data = (
        corpora[""].shards(model.wants)
        if "" in corpora
        else {name: one.counts for name, one in corpora.items()}
    )
    model.fit(data, corpus.labels, callback=callback, **linked)
    documents = Documents.of(model, corpora, fitted=True) if keep_documents else None
    if "" in corpora:
        return Bundle(model, corpus.vectorizer, documents=documents)
    vectorizers = {name: one.vectorizer for name, one in corpora.items()}
    return Bundle(model, vectorizers=vectorizers, documents=documents)


def check_counted(model: TopicModel, terms: Mapping[str, Any]) -> None:
    """Refuse weights for a model that is fitted to counts.

    Parameters
    ----------
    model : TopicModel
        Not fitted yet.
    terms : mapping
        The options of a vectoriser that were given.
    """
    if model.wants != "counts":
        return
    for name, usual in (("weighting", "count"), ("sublinear_tf", False)):
        if terms.get(name, usual) != usual:
            raise ParameterError(
                f"{type(model).__name__} is fitted to the counts themselves: leave ", Parameter(name), " out"
            )


def check_modalities(model: TopicModel, names: Iterable[str]) -> None:
    """Refuse several modalities for a model of one, and one for a model of several."""
    known = set(names)
    several = "" not in known and len(known) > 1
    if several and not model.traits.modalities:
        raise ParameterError(
            f"the documents have several modalities, and {type(model).__name__} is a model of one: choose ",
            Parameter("model", "multimodal-plsa"),
        )
    if not several and model.traits.modalities:
        raise ParameterError(
            Parameter("model", "multimodal-plsa"),
            " needs two or more modalities of each document: give a mapping from their names to ",
            Parameter("text"),
            " columns, or to lists of texts",
        )


class _Names(NamedTuple):
    """Columns, or values for each document."""

    labels: Any
    dates: Any
    ids: Any

    def listed(self) -> _Names:
        """The same, with what can be gone through only once as lists: modalities each take all of it."""
        return _Names(*(list(one) if isinstance(one, Iterator) else one for one in self))

    def columns(self) -> dict[str, str]:
        """Those that are columns, as readers call them."""
        named = zip(("label", "date", "id"), self, strict=True)
        return {name: value for name, value in named if isinstance(value, str)}

    def values(self) -> dict[str, Any]:
        """Those that are values for each document."""
        named = zip(self._fields, self, strict=True)
        return {name: value for name, value in named if value is not None and not isinstance(value, str)}


class _Options(NamedTuple):
    """What was given, by what it is for."""

    reading: dict[str, Any]
    terms: Any
    parameters: dict[str, Any]


def _sorted(model: str, options: Mapping[str, Any]) -> _Options:
    known = parameters_of(model)
    found = _Options({}, {}, {})
    for name, value in options.items():
        if name in READING:
            found.reading[name] = value
        elif name in OPTIONS:
            found.terms[name] = value
        elif name in known or not difflib.get_close_matches(name, [*known, *OPTIONS, *READING], 1, 0.75):
            # What no model has is refused where the model is made.
            found.parameters[name] = value
        else:
            (near,) = difflib.get_close_matches(name, [*known, *OPTIONS, *READING], 1, 0.75)
            raise ParameterError(Parameter(name), " is not known; did you mean ", Parameter(near), "?")
    return found


def _corpora(
    data: Any, text: str | Mapping[str, str], names: _Names, given: _Options, keep: bool
) -> dict[str, Corpus]:
    """The documents, by modality."""
    if isinstance(data, Corpus) or (isinstance(data, Mapping) and _are_all(Corpus, data.values())):
        found = _counted({"": data} if isinstance(data, Corpus) else dict(data), text, names, given, keep)
    elif isinstance(data, str | os.PathLike) or (isinstance(data, list | tuple) and _are_all(Path, data)):
        found = _read(data, text, names, given, keep)
    elif is_table(data):
        columns = {"": text} if isinstance(text, str) else text
        found = {
            name: Corpus.from_table(data, column, keep_texts=keep, **{**names.columns(), **given.terms})
            for name, column in columns.items()
        }
    else:
        _refuse_columns(names, text, "a list of texts")
        parts = dict(data) if isinstance(data, Mapping) else {"": data}
        return {
            name: Corpus.from_texts(part, **names.values(), keep_texts=keep, **given.terms)
            for name, part in parts.items()
        }
    return {name: _named(one, names.values()) for name, one in found.items()}


def _counted(
    corpora: dict[str, Corpus], text: Any, names: _Names, given: _Options, keep: bool
) -> dict[str, Corpus]:
    """Corpora as they are."""
    _refuse_columns(names, text, "a corpus")
    strange = next(iter({**given.terms, **given.reading}), None)
    if strange is not None:
        raise ParameterError("a corpus is counted and weighted already: leave ", Parameter(strange), " out")
    return {name: one if keep else one.with_texts(None) for name, one in corpora.items()}


def _read(
    data: Any, text: str | Mapping[str, str], names: _Names, given: _Options, keep: bool
) -> dict[str, Corpus]:
    paths: list[Any] = [data] if isinstance(data, str | os.PathLike) else list(data)
    if isinstance(data, str) and "\n" in data:
        raise CorpusError("one string is the path of a file; texts are given as a list: write [text]")
    reading = {**given.reading, **names.columns()}
    if isinstance(text, str):
        modalities = [Modality("", None, given.terms)]
        if text != "text":
            reading["text"] = text
    else:
        modalities = [Modality(name, column, given.terms) for name, column in text.items()]
    source: Source = find_source(paths, [*reading, *given.terms])
    if not isinstance(text, str):
        source.check_columns()
    return source.corpora(reading, modalities, keep_texts=keep)


def _named(corpus: Corpus, values: Mapping[str, Any]) -> Corpus:
    """A corpus with labels, dates or ids that were given beside it."""
    if not values:
        return corpus
    own = {"labels": corpus.labels, "dates": corpus.dates, "ids": corpus.ids, "texts": corpus.texts}
    return Corpus(corpus.counts, corpus.vectorizer, **{**own, **values})


def _refuse_columns(names: _Names, text: Any, what: str) -> None:
    for name, value in names.columns().items():
        raise CorpusError(
            f"{value!r} is the name of a column, and {what} has none: give a {name} for every document, "
            "as a list"
        )
    if text != "text":
        raise CorpusError(f"{what} has no columns: leave ", Parameter("text"), " out")


def _are_all(kind: type, values: Iterable[Any]) -> bool:
    values = list(values)
    return bool(values) and all(isinstance(one, kind) for one in values)
