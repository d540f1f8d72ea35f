"""Who takes part, and how each is fitted: from texts to topics, with the settings its own manual starts with.

A contender is a function of a `Task` that gives `Fitted`. Packages are imported within, so that one that is
not installed is missed only when its turn comes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from benchmarks.peers.encoders import StoredEncoder

N_WORDS = 20
"""Words of a topic that are kept: the most that any measure looks at."""
PLAIN_TEXT: Mapping[str, Any] = {
    "token_pattern": r"(?u)\b[^\W\d_]\w+\b",
    "lowercase": True,
    "stop_words": "english",
    "min_df": 2,
    "max_df": 0.5,
}
"""What is a word, for peers: what laconic takes for one unless told otherwise."""
GIBBS_ITERATIONS = 500
LACONIC, CONTROL = "laconic", "control"
"""Families that are no peers: laconic's rows, and those that show what is due to what."""


@dataclass(frozen=True)
class Task:
    """Texts whose topics are wanted.

    Attributes
    ----------
    texts : sequence of str
        The documents.
    n_topics, seed : int
        How many topics, and from which seed.
    tokens : mapping or None
        Options of a vectoriser, where the collection demands some; None for plain text.
    encoder : StoredEncoder or None
        For contenders that need vectors of sentences.
    """

    texts: Sequence[str]
    n_topics: int
    seed: int
    tokens: Mapping[str, Any] | None = None
    encoder: StoredEncoder | None = None

    @property
    def words(self) -> dict[str, Any]:
        """Options of scikit-learn's vectorisers."""
        return {**PLAIN_TEXT, **(self.tokens or {})}


@dataclass(frozen=True)
class Fitted:
    """What a contender found.

    Attributes
    ----------
    topics : list of list of str
        The first words of each topic, the heaviest first.
    weights : callable
        Gives the weights of the documents, documents × topics.
    save : callable
        Writes the model with its vocabulary, without the documents, into a folder.
    """

    topics: list[list[str]]
    weights: Callable[[], NDArray[Any]]
    save: Callable[[Path], Any]


@dataclass(frozen=True)
class Contender:
    """One who takes part.

    Attributes
    ----------
    name : str
        In tables.
    family : str
        The package, which `--only` chooses by; or `CONTROL`, of a row that is neither laconic's nor a peer.
    fit : callable
        From a `Task` to `Fitted`.
    needs : tuple of str
        Packages to be imported.
    encodes : bool
        Whether it needs vectors of sentences.
    """

    name: str
    family: str
    fit: Callable[[Task], Fitted]
    needs: tuple[str, ...] = ()
    encodes: bool = False

    @property
    def key(self) -> str:
        """The name, as that of a file."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.name.lower()).split())

    def missing(self) -> list[str]:
        """The packages it needs that are not installed."""
        return [package for package in self.needs if find_spec(package) is None]


def heaviest(components: Any, vocabulary: Sequence[str]) -> list[list[str]]:
    """The words of largest weight of each topic, without those of no or negative weight."""
    topics = []
    for row in np.asarray(components):
        order = np.argsort(-row, kind="stable")[:N_WORDS]
        topics.append([str(vocabulary[place]) for place in order if row[place] > 0])
    return topics


def only_where_strongest(components: NDArray[Any]) -> NDArray[Any]:
    """Topics whose words are zero but in the topic where they are strongest, by laconic's measure."""
    from laconic.models.listing import strongest_only

    kept = np.zeros_like(components)
    rows = [(np.flatnonzero(row), row[row != 0]) for row in components]
    for row, (terms, weights) in zip(kept, strongest_only(rows), strict=True):
        row[terms] = weights
    return kept


def pickled(*things: Any) -> Callable[[Path], Any]:
    """Save as people save scikit-learn's models."""
    return lambda folder: (folder / "model.pickle").write_bytes(pickle.dumps(things))


def fit_laconic(task: Task, model: str = "rlsi", *, distinct: bool = False, **options: Any) -> Fitted:
    import laconic
    from laconic.bundle import Bundle

    bundle = laconic.fit(
        list(task.texts),
        n_topics=task.n_topics,
        model=model,
        random_state=task.seed,
        n_jobs=1,
        **(task.tokens or {}),
        **options,
    )
    listed = bundle.topic_words(N_WORDS, distinct=distinct)
    topics = [[word for word, weight in topic if weight > 0] for topic in listed]
    weights = bundle.documents.weights
    return Fitted(
        topics,
        lambda: weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights),
        lambda folder: Bundle(bundle.model, bundle.vectorizer_of()).save(folder / "model"),
    )


def fit_scikit_learn(
    task: Task, vectorizer: str, model: str, *, distinct: bool = False, **parameters: Any
) -> Fitted:
    from sklearn import decomposition
    from sklearn.feature_extraction import text

    counter = getattr(text, vectorizer)(**task.words)
    X = counter.fit_transform(task.texts)
    fitted = getattr(decomposition, model)(task.n_topics, random_state=task.seed, **parameters)
    weights = fitted.fit_transform(X)
    components = only_where_strongest(fitted.components_) if distinct else fitted.components_
    topics = heaviest(components, counter.get_feature_names_out())
    return Fitted(topics, lambda: weights, pickled(counter, fitted))


def tokens_of(task: Task) -> list[list[str]]:
    """The words of each document that are neither too rare nor too frequent, in their order."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(**task.words).fit(task.texts)
    analyse = counter.build_analyzer()
    return [[word for word in analyse(text) if word in counter.vocabulary_] for text in task.texts]


def fit_tomotopy(task: Task) -> Fitted:
    import tomotopy

    documents = tokens_of(task)
    model = tomotopy.LDAModel(k=task.n_topics, seed=task.seed)
    # It takes no documents without words.
    places = [place for place, words in enumerate(documents) if words]
    for place in places:
        model.add_doc(documents[place])
    # With more workers, the same seed gives other topics each time.
    model.train(GIBBS_ITERATIONS, workers=1)
    topics = [[word for word, _ in model.get_topic_words(k, top_n=N_WORDS)] for k in range(model.k)]

    def weights() -> NDArray[Any]:
        rows = np.full((len(documents), model.k), 1 / model.k)
        for place, document in zip(places, model.docs, strict=True):
            rows[place] = document.get_topic_dist()
        return rows

    return Fitted(topics, weights, lambda folder: model.save(str(folder / "model.bin"), full=False))


def fit_gensim(task: Task, model: str, *, tfidf: bool = False, **parameters: Any) -> Fitted:
    from gensim import models
    from gensim.corpora import Dictionary
    from gensim.matutils import corpus2dense

    documents = tokens_of(task)
    dictionary = Dictionary(documents)
    bags: Any = [dictionary.doc2bow(words) for words in documents]
    if tfidf:
        bags = models.TfidfModel(bags)[bags]
    seed = {"random_seed" if model == "LsiModel" else "random_state": task.seed}
    fitted = getattr(models, model)(bags, num_topics=task.n_topics, id2word=dictionary, **seed, **parameters)
    components = fitted.get_topics()
    # The signs of singular vectors are arbitrary: topics show the side of their heaviest word.
    sides = np.where(components.max(axis=1) >= -components.min(axis=1), 1.0, -1.0)
    vocabulary = [dictionary[place] for place in range(len(dictionary))]

    def weights() -> NDArray[Any]:
        return corpus2dense(fitted[bags], task.n_topics, len(documents)).T * sides

    return Fitted(
        heaviest(components * sides[:, None], vocabulary),
        weights,
        lambda folder: fitted.save(str(folder / "model")),
    )


SKLEARN_NMF = {"vectorizer": "TfidfVectorizer", "model": "NMF", "init": "nndsvda"}


def weightings() -> list[str]:
    """The weightings of laconic that are named in rows of their own, where they exist."""
    from laconic.corpus.options import WEIGHTINGS

    return [name for name in ("tfidf", "log-entropy", "bm25") if name in WEIGHTINGS]


def contenders() -> list[Contender]:
    """All who take part, in the order of the tables."""
    from benchmarks.peers import encoders

    laconic = partial(Contender, family=LACONIC)
    gensim = partial(Contender, family="gensim", needs=("gensim",))
    sklearn = partial(Contender, family="scikit-learn")
    turftopic = partial(Contender, family="turftopic", needs=("turftopic", encoders.PACKAGE), encodes=True)
    return [
        laconic("laconic.fit", fit=fit_laconic),
        laconic("laconic.fit (distinct)", fit=partial(fit_laconic, distinct=True)),
        *(
            laconic(f"laconic RLSI ({name})", fit=partial(fit_laconic, weighting=name))
            for name in weightings()
        ),
        laconic("laconic NMF", fit=partial(fit_laconic, model="nmf")),
        laconic("laconic NMF (distinct)", fit=partial(fit_laconic, model="nmf", distinct=True)),
        laconic("laconic PLSA", fit=partial(fit_laconic, model="plsa")),
        Contender(
            "scikit-learn NMF, listed by laconic (distinct)",
            CONTROL,
            partial(fit_scikit_learn, **SKLEARN_NMF, distinct=True),
        ),
        sklearn("scikit-learn NMF", fit=partial(fit_scikit_learn, **SKLEARN_NMF)),
        sklearn(
            "scikit-learn LDA",
            fit=partial(fit_scikit_learn, vectorizer="CountVectorizer", model="LatentDirichletAllocation"),
        ),
        Contender("tomotopy LDA", "tomotopy", fit_tomotopy, ("tomotopy",)),
        gensim("gensim LSI", fit=partial(fit_gensim, model="LsiModel", tfidf=True)),
        gensim("gensim NMF", fit=partial(fit_gensim, model="Nmf")),
        gensim("gensim LDA", fit=partial(fit_gensim, model="LdaModel")),
        Contender("BERTopic", "BERTopic", encoders.fit_bertopic, ("bertopic", encoders.PACKAGE), True),
        *(
            turftopic(f"turftopic {name}", fit=partial(encoders.fit_turftopic, model=model))
            for name, model in (
                ("KeyNMF", "KeyNMF"),
                ("S3", "SemanticSignalSeparation"),
                ("FASTopic", "FASTopic"),
            )
        ),
    ]
