"""From documents to a model that knows them: what `laconic.fit` and the command ``laconic fit`` do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from laconic.bundle.bundle import Bundle
from laconic.bundle.documents import Documents
from laconic.bundle.given import Names, corpora_of, links_of, sorted_options
from laconic.bundle.planning import CountedDocuments, Plan, bytes_of, plan_fit
from laconic.corpus.corpus import Corpus
from laconic.corpus.sizes import Sizes, found_terms
from laconic.corpus.spool import within
from laconic.engines.room import is_mapped
from laconic.engines.shards import shard_entries
from laconic.errors import CorpusError, InputError, Parameter, ParameterError
from laconic.models.making import N_TOPICS, WORDS, make_model, parameters_of
from laconic.steering.seeds import Seeds, sow

if TYPE_CHECKING:
    from laconic.engines import Engine, Room
    from laconic.engines.checkpoints import CheckpointLike
    from laconic.losses.loop import Callback
    from laconic.models.base import TopicModel

CALLED_HERE = {
    "label": "labels",
    "date": "dates",
    "id": "ids",
    "n_components": "n_topics",
    "terms_per_topic": "words",
}
"""What readers and models call otherwise."""


def fit(
    data: Any,
    n_topics: int = N_TOPICS,
    words: int | None = WORDS,
    model: str = "rlsi",
    *,
    labels: str | Iterable[object] | None = None,
    dates: str | Iterable[object] | None = None,
    ids: str | Iterable[object] | None = None,
    text: str | Sequence[str] | Mapping[str, str] = "text",
    graph: Any = None,
    seeds: Any = None,
    seed_strength: float | None = None,
    consensus: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    keep_documents: bool = True,
    keep_texts: bool = True,
    verbose: int = 0,
    callback: Callback | None = None,
    checkpoint: CheckpointLike | None = None,
    memory: int | str | None = None,
    engine: Engine | None = None,
    **options: Any,
) -> Bundle:
    """Find the topics of documents: read, count, weight and fit in one line.

    The same as ``laconic fit`` on the command line, with the same defaults.

    Parameters
    ----------
    data : list of str, path, table, Corpus or mapping
        Texts; a file, a folder or a pattern (a string or a path, or a list of files; see `Corpus.read`); a
        data frame of pandas or polars, or another table with the Arrow interface; a corpus. For
        ``model="multimodal-plsa"`` also a mapping from the names of modalities to lists of texts or corpora.
    n_topics : int, default=20
        Number of topics. Group models use `n_shared` (10) and `n_per_class` (5) instead and ignore the
        default.
    words : int or None, default=40
        The word budget: at most this many words per topic. None uses a penalty instead, `alpha_topics`. For
        the models "rlsi" and "group-rlsi"; others ignore the default.
    model : str, default="rlsi"
        One of "rlsi", "nmf", "sparse-lsa", "plsa", "nmf-kl", "graph-plsa"; "group-rlsi" or "group-nmf", which
        need labels; "multimodal-plsa".
    labels, dates, ids : str or iterable, optional
        Names of columns, for files and tables; otherwise one value per document, as in `Corpus`.
    text : str, list of str or mapping of str to str, default="text"
        The text column, for files and tables, or several, which are joined; for "multimodal-plsa", a
        mapping from the names of modalities to columns.
    graph : optional
        Links between documents, for "graph-plsa" and "multimodal-plsa": as in `GraphPLSA.fit`, or the path of
        a file of links, or a list of pairs of ids.
    seeds : mapping or path, optional
        Topics you want, each given by a few words: ``{"tennis": ["tennis", "wimbledon"], ...}``. They come
        first, in this order, and keep these names. Instead of a list, a topic may be a mapping with
        "words", "avoid" (forbidden words), "strength" and, for group models, "class". A YAML or JSON file
        holds the same.
    seed_strength : float, optional
        How strongly they are held at their words, and at the words that stand beside these in documents: 0.2
        by default. The larger, the less a topic follows the other documents.
    consensus : int, optional
        Fit from so many starts first, and begin with the topics on which these agree: topics come back a
        little more surely, for as many times the work. See `laconic.steering.consensus`.
    random_state : int, RandomState instance or None, default=0
        The same seed gives the same topics, to the bit.
    n_jobs : int, optional
        Number of threads; by default all cores.
    keep_documents, keep_texts : bool, default=True
        Whether the bundle keeps the documents (counts, ids, labels, dates, weights), and their texts: for
        `Bundle.search`, `Bundle.documents_of` and everything shown about topics. They are saved with it.
    verbose : int, default=0
        Whether to show the progress of the fit.
    callback : callable, optional
        As in the model's ``fit``.
    checkpoint : path-like or Checkpoint, optional
        A directory where the progress of the fit is saved every minute. If the process dies, the same call
        continues from there and ends with the same topics, to the bit.
    memory : int or str, optional
        How much memory the fit may use, such as "4GB". If it would need more, documents and their weights
        are kept in temporary files (see `tempfile.gettempdir`). The topics are the same, but the bundle has
        no documents.
    engine : Engine, optional
        Who runs the fit, such as a `laconic.engines.dask.DaskEngine`; by default `n_jobs` threads.
    **options
        Options of `Vectorizer` (`min_df`, `stop_words`, `weighting`, ...; for several modalities also
        mappings, such as ``stop_words={"de": "german", "en": "english"}``), of files (`encoding`,
        `delimiter`, `on_error`, `vocabulary`), and parameters of the model (`alpha_docs`, `prior`,
        `strength`, ...).

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
    >>> sorted(sorted(word for word, weight in topic) for topic in bundle.topic_words())
    [['moon', 'sun'], ['pepper', 'salt']]
    >>> bundle.search("pepper").ids
    ['2', '3']
    """
    try:
        given = sorted_options(model, options)
        parameters = dict(given.parameters)
        if words is None and "terms_per_topic" in parameters_of(model):
            parameters.setdefault("topic_norm", "l1")
        made = make_model(
            model,
            None if n_topics == N_TOPICS else n_topics,
            None if words == WORDS and words is not False else words,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            **parameters,
        )
        check_counted(made, given.terms)
        if consensus is not None:
            from laconic.steering.consensus import check_consensus

            check_consensus(made, consensus)
        sown = None if seeds is None else Seeds.of(seeds, seed_strength)
        keep_texts = keep_documents and keep_texts
        limit = bytes_of(memory)
        with within(limit):
            corpora = corpora_of(data, text, Names(labels, dates, ids), given, keep_texts=keep_texts)
        check_modalities(made, corpora)
        plan = plan_of(made, corpora, limit)
        links = None if graph is None else links_of(graph, next(iter(corpora.values())))
        return fit_bundle(
            made,
            corpora,
            graph=links,
            seeds=sown,
            consensus=consensus,
            keep_documents=keep_documents and plan.folder is None,
            callback=callback,
            checkpoint=checkpoint,
            room=plan.room,
            engine=engine,
        )
    except InputError as error:
        raise error.renamed(CALLED_HERE) from error


def fit_bundle(
    model: TopicModel,
    corpora: Mapping[str, Corpus],
    *,
    graph: Any = None,
    seeds: Seeds | None = None,
    consensus: int | None = None,
    keep_documents: bool = True,
    callback: Callback | None = None,
    checkpoint: CheckpointLike | None = None,
    room: Room | None = None,
    engine: Engine | None = None,
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
    seeds : Seeds, optional
        Topics that are wanted: the first ones, which are given their names.
    consensus : int, optional
        From how many starts to fit first; see `laconic.fit`.
    keep_documents : bool, default=True
        Whether the bundle has the documents.
    callback, checkpoint : optional
        As in the model's ``fit``.
    room : Room, optional
        Where documents and their weights are; by default in memory.
    engine : Engine, optional
        Who runs the fit; by default threads of this process. For a cluster, documents are cut into more
        shards.

    Returns
    -------
    Bundle
        With the vectoriser or vectorisers and, if they are kept, the documents.
    """
    corpus = next(iter(corpora.values()))
    if corpus.labels is None and model.traits.classes:
        raise CorpusError(
            f"{type(model).__name__} needs the class of every document, but these have no labels: read them "
            "with ",
            Parameter("label"),
        )
    if graph is not None and not model.traits.links:
        raise ParameterError(
            Parameter("graph"), f" needs a model with links, which {type(model).__name__} is not"
        )
    names = {} if seeds is None else hold_seeds(model, corpora, seeds)
    given = {} if graph is None else {"graph": graph}
    if checkpoint is not None:
        given["checkpoint"] = checkpoint
    if engine is not None:
        given["engine"] = engine
    with _as_data(model, corpora, room, engine) as data, beginning_at_consensus(model, corpus, consensus):
        model.fit(data, corpus.labels, callback=callback, **given)
    return bundle_of(model, corpora, keep_documents=keep_documents, names=names, engine=engine)


@contextmanager
def _as_data(
    model: TopicModel, corpora: Mapping[str, Corpus], room: Room | None, engine: Engine | None
) -> Iterator[Any]:
    """What a fit takes: for a cluster, smaller shards, which workers load if they are worth it."""
    if "" not in corpora:
        yield {name: one.counts for name, one in corpora.items()}
        return
    corpus, n_entries = corpora[""], int(corpora[""].counts.nnz)
    if engine is None or not engine.remote:
        yield corpus.shards(model.wants, room, whole=model.whole)
    elif not engine.far(n_entries):
        yield corpus.shards(model.wants, room, whole=model.whole, entries=shard_entries(n_entries))
    else:
        with corpus.placed(engine.folder) as placed:
            yield placed.shards(
                model.wants, whole=model.whole, entries=shard_entries(n_entries), by_path=True
            )


@contextmanager
def beginning_at_consensus(
    model: TopicModel, corpus: Corpus, n_starts: int | None, tell: Callable[[float], object] | None = None
) -> Iterator[None]:
    """Let a fit begin with the topics on which several starts agree; then, `init` is what it was.

    Parameters
    ----------
    model : TopicModel
    corpus : Corpus
    n_starts : int or None
        None changes nothing.
    tell : callable, optional
        Told the part of the starts that is done, from 0 to 1.
    """
    if n_starts is None:
        yield
        return
    # What is evaluated by comes with it, which takes longer to import than all that a fit needs.
    from laconic.steering.consensus import consensus_start

    given = model.get_params(deep=False)
    start = consensus_start(model, corpus, n_starts, n_jobs=given["n_jobs"], tell=tell)
    model.set_params(init=start)
    try:
        yield
    finally:
        model.set_params(init=given["init"])


def hold_seeds(model: TopicModel, corpora: Mapping[str, Corpus], seeds: Seeds) -> dict[Any, str]:
    """Let a model that is not fitted yet hold topics at the words of seeds; returns their names.

    Parameters
    ----------
    model : TopicModel
        Its `anchors` are set.
    corpora : mapping of str to Corpus
        By modality; ``""`` if documents have just one.
    seeds : Seeds
    """
    sown = sow(seeds, model, corpora)
    model.set_params(anchors=sown.anchors)
    return sown.names


def plan_of(model: TopicModel, corpora: Mapping[str, Corpus], memory: int | None) -> Plan:
    """Where a fit to documents that are counted makes its arrays, if it may take so much memory.

    Parameters
    ----------
    model : TopicModel
        To be fitted.
    corpora : mapping of str to Corpus
        By modality.
    memory : int, optional
        In bytes; by default there is no limit.
    """
    corpus = next(iter(corpora.values()))
    sizes = Sizes(
        corpus.shape[0],
        sum(one.shape[1] for one in corpora.values()),
        sum(int(one.counts.nnz) for one in corpora.values()),
        "it is counted",
        sum(found_terms(one.vectorizer) for one in corpora.values()),
    )
    counted = CountedDocuments(
        sizes,
        weighted=model.wants == "weights" and corpus.vectorizer.weighting != "count",
        mapped=is_mapped(corpus.counts.data),
        labelled=corpus.labels is not None,
        n_classes=len(set(corpus.labels)) if model.traits.classes and corpus.labels is not None else 1,
        n_modalities=len(corpora),
    )
    return plan_fit(model, counted, memory)


def bundle_of(
    model: TopicModel,
    corpora: Mapping[str, Corpus],
    *,
    keep_documents: bool = True,
    names: Mapping[Any, str] | None = None,
    engine: Engine | None = None,
) -> Bundle:
    """A model with the corpora that it was just fitted to; the weights of documents are found now.

    Parameters
    ----------
    model : TopicModel
        Fitted to these documents.
    corpora : mapping of str to Corpus
        By modality; ``""`` if documents have just one.
    keep_documents : bool, default=True
        Whether the bundle has them.
    names : mapping of topic to str, optional
        What topics are called; a topic is what `hold_seeds` calls it.
    engine : Engine, optional
        Of the fit: a cluster finds the weights of documents, too.
    """
    documents = Documents.of(model, corpora, fitted=True, engine=engine) if keep_documents else None
    named = {model.topic_place(topic): name for topic, name in (names or {}).items()} or None
    if "" in corpora:
        return Bundle(model, corpora[""].vectorizer, documents=documents, names=named)
    vectorizers = {name: one.vectorizer for name, one in corpora.items()}
    return Bundle(model, vectorizers=vectorizers, documents=documents, names=named)


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
            f"the documents have several modalities, but {type(model).__name__} takes only one: choose ",
            Parameter("model", "multimodal-plsa"),
        )
    if not several and model.traits.modalities:
        raise ParameterError(
            Parameter("model", "multimodal-plsa"),
            " needs two or more modalities: pass a mapping from their names to ",
            Parameter("text"),
            " columns, or to lists of texts",
        )
