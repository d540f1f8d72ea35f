"""Learning to rank: LambdaRank over scores of terms and topics (to learn takes the package lightgbm)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from laconic.checks import check_choice, check_number
from laconic.errors import SearchError
from laconic.search.arguments import checked_queries
from laconic.search.features import FEATURES, TOPICS, Candidates, Qrels, features
from laconic.search.index import SearchIndex
from laconic.search.terms import BM25
from laconic.search.trees import Trees
from laconic.storage.manifest import Json, Kind
from laconic.storage.reading import StoredDirectory, read_directory
from laconic.storage.values import decode, encode
from laconic.storage.writing import replacing

__all__ = ["FEATURES", "Candidates", "Ranker", "cross_validated", "features"]

# Format 1 had the trees as LightGBM's text.
RANKER = Kind(noun="ranker", manifest="ranker.json", format="laconic-ranker", version=2, error=SearchError)

HIGHEST_GRADE = 30
"""A document counts 2 to the power of its grade, so that higher ones drown everything else."""


@dataclass
class Ranker:
    """A ranking learnt from judged queries: LightGBM's LambdaRank over `FEATURES`.

    The index finds documents, and the best of them are reordered.

    Parameters
    ----------
    index : SearchIndex
        Finds documents.
    topics : bool, default=True
        Whether to use topics; otherwise documents are found and ranked by their terms alone.
    depth : int, default=200
        How many documents of each query are reordered; others are not ranked.
    n_trees : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        How much each tree counts.
    n_leaves : int, default=15
        Leaves of a tree.
    min_rows : int, default=50
        Smallest number of documents in a leaf.
    random_state : int, default=0
        The same seed gives the same ranking.

    Examples
    --------
    >>> from laconic import RLSI, Corpus
    >>> texts = ["sun moon", "moon stars", "sun stars", "salt"]
    >>> corpus = Corpus.from_texts(texts, ids=list("abcd"), min_df=1)
    >>> index = SearchIndex(corpus, RLSI(2, random_state=0).fit(corpus.X))
    >>> ranker = Ranker(index, n_trees=5, min_rows=1).fit({"q": "moon"}, {"q": {"b": 1}})
    >>> sorted(ranker.rank({"q": "moon"})["q"])
    ['a', 'b', 'c']
    """

    index: SearchIndex
    topics: bool = True
    depth: int = 200
    n_trees: int = 200
    learning_rate: float = 0.05
    n_leaves: int = 15
    min_rows: int = 50
    random_state: int = 0

    def __post_init__(self) -> None:
        check_choice("topics", self.topics, (True, False))
        for name, least in (
            ("depth", 1),
            ("n_trees", 1),
            ("n_leaves", 2),
            ("min_rows", 1),
            ("random_state", 0),
        ):
            check_number(name, getattr(self, name), Integral, least)
        check_number("learning_rate", self.learning_rate, Real, 0)
        self._trees: Trees | None = None

    def fit(self, queries: Mapping[str, str], qrels: Qrels) -> Self:
        """Learn from judged queries.

        Parameters
        ----------
        queries : mapping of str to str
            The text of each query by its id.
        qrels : mapping of str to mapping of str to int
            For each query, the grades of judged documents (up to 30); others count as 0.

        Returns
        -------
        self
            Ready to `rank`.
        """
        lightgbm = _lightgbm()
        judged = {name: text for name, text in checked_queries(queries).items() if qrels.get(name)}
        found = features(self.index, judged, depth=self.depth, topics=self.topics)
        grades = found.grades(self.index, qrels)
        if not grades.any():
            raise ValueError(
                "none of the documents found for the queries is relevant: check that qrels use the ids of "
                "the queries and of the documents, or raise depth"
            )
        highest = int(grades.max())
        if highest > HIGHEST_GRADE:
            raise ValueError(
                f"a document has the grade {highest}, but grades go up to {HIGHEST_GRADE}, because a "
                "document counts 2 to the power of its grade: give grades such as 0, 1, 2, 3"
            )
        data = lightgbm.Dataset(
            found.values, grades, group=found.sizes[found.sizes > 0], feature_name=list(found.names)
        )
        booster = lightgbm.train(self._parameters(highest), data, self.n_trees)
        self._trees = Trees.from_text(booster.model_to_string())
        return self

    def _parameters(self, highest: int) -> dict[str, Any]:
        return {
            "objective": "lambdarank",
            "label_gain": [2**grade - 1 for grade in range(highest + 1)],
            "learning_rate": self.learning_rate,
            "num_leaves": self.n_leaves,
            "min_data_in_leaf": self.min_rows,
            "seed": self.random_state,
            # The same trees whatever the machine has of cores.
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }

    def rank(self, queries: Mapping[str, str], k: int = 1000) -> dict[str, dict[str, float]]:
        """Rank documents for queries.

        Parameters
        ----------
        queries : mapping of str to str
            The text of each query by its id.
        k : int, default=1000
            At most this many documents for a query, and never more than `depth`.

        Returns
        -------
        dict of str to dict of str to float
            For each query the ids of documents with their scores, best first.
        """
        check_number("k", k, Integral, 1)
        trees = self._fitted()
        found = features(self.index, queries, depth=self.depth, topics=self.topics)
        scores = trees.predict(found.values)
        ends = np.cumsum(found.sizes)
        run = {}
        for name, start, stop in zip(found.queries, ends - found.sizes, ends, strict=True):
            # Where trees see no difference, the order of the index stays.
            order = start + np.argsort(-scores[start:stop], kind="stable")[:k]
            ids = self.index.ids[found.documents[order]].tolist()
            run[name] = dict(zip(ids, scores[order].tolist(), strict=True))
        return run

    @property
    def importance(self) -> dict[str, float]:
        """The gain of each feature, as a share of the total."""
        trees = self._fitted()
        shares = trees.gains / max(trees.gains.sum(), 1e-300)
        return dict(zip(trees.names, shares.tolist(), strict=True))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save what was learnt as a directory; the index is not saved.

        Parameters
        ----------
        path : str or path
            A new or empty directory, or that of a saved ranker, which is replaced.
        """
        from laconic.search.saving import fingerprint

        trees = self._fitted()
        options = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "index"}
        with replacing(path, RANKER) as writer:
            writer.commit(
                {
                    "options": options,
                    "model": fingerprint(self.index.model, self.index.vectorizer),
                    "index": _settings(self.index, topics=self.topics),
                    "features": list(trees.names),
                    "trees": {k: encode(v, f"trees.{k}", writer) for k, v in trees.arrays().items()},
                }
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str], index: SearchIndex) -> Self:
        """Load what was learnt; everything is checked, and LightGBM is not needed.

        Parameters
        ----------
        path : str or path
            As given to `save`.
        index : SearchIndex
            An index of the same model, made and tuned the same way: it finds the documents and scores their
            terms.

        Returns
        -------
        Ranker
            Ranks like the saved one.

        Raises
        ------
        SearchError
            If it is damaged, or belongs to another model or index.
        """
        from laconic.search.saving import fingerprint

        stored = read_directory(path, RANKER)
        if stored.document.get("model") != fingerprint(index.model, index.vectorizer):
            raise SearchError(f"{stored.path}: was learnt with another model; learn it again with this one")
        options: Any = stored.object("options")
        try:
            ranker = cls(index, **options)
            ranker._trees = trees = _read_trees(stored)
        except SearchError:
            raise
        except (ValueError, TypeError) as error:
            # Whatever options or trees that are not a ranker's make go wrong, the file is at fault.
            raise stored.misdescribed("ranker", error) from error
        if trees.names != tuple(f for f in FEATURES if ranker.topics or f != TOPICS):
            raise stored.error("has trees over other features")
        learnt, given = stored.object("index"), _settings(index, topics=ranker.topics)
        for name in given:
            if learnt.get(name) != given[name]:
                raise SearchError(
                    f"{stored.path}: was learnt with an index of {name}={learnt.get(name)!r}, but this has "
                    f"{given[name]!r}; learn it again, or make the index the same way"
                )
        return ranker

    def _fitted(self) -> Trees:
        if self._trees is None:
            raise ValueError("this Ranker has learnt nothing yet: call fit(queries, qrels) first")
        return self._trees


def cross_validated(
    index: SearchIndex,
    queries: Mapping[str, str],
    qrels: Qrels,
    *,
    folds: int = 5,
    seed: int = 0,
    **options: Any,
) -> dict[str, dict[str, float]]:
    """Rank every query with a model learnt from other queries.

    Parameters
    ----------
    index : SearchIndex
        Finds documents.
    queries, qrels
        As for `Ranker.fit`.
    folds : int, default=5
        The queries are divided into this many folds; each is ranked by what was learnt from the others.
    seed : int, default=0
        Seed of the folds.
    **options
        Those of `Ranker`.

    Returns
    -------
    dict of str to dict of str to float
        A run of all queries that were judged.
    """
    check_number("folds", folds, Integral, 2)
    names = [name for name in checked_queries(queries) if qrels.get(name)]
    if len(names) < folds:
        raise ValueError(f"{len(names)} judged queries cannot be divided into {folds} folds: use fewer")
    dealt = np.random.default_rng(seed).permutation(len(names)) % folds
    run: dict[str, dict[str, float]] = {}
    for fold in range(folds):
        mine = [name for name, part in zip(names, dealt, strict=True) if part == fold]
        others = {name: queries[name] for name in names if name not in set(mine)}
        ranker = Ranker(index, **options).fit(others, qrels)
        run |= ranker.rank({name: queries[name] for name in mine})
    return {name: run[name] for name in names}


def _settings(index: SearchIndex, *, topics: bool) -> dict[str, Json]:
    """What of an index decides which documents are found and how they are scored."""
    matcher = index.matcher
    terms = matcher.terms
    parameters: dict[str, Json] = (
        {"terms": "bm25", "k1": float(terms.k1), "b": float(terms.b)}
        if isinstance(terms, BM25)
        else {"terms": "vsm"}
    )
    if not topics:
        return parameters
    return {
        **parameters,
        "similarity": matcher.topics.similarity,
        "scaling": matcher.scaling,
        "blend": index.blend,
    }


def _read_trees(stored: StoredDirectory) -> Trees:
    """The trees of a saved ranker, checked; ValueError if they are none."""
    described: Any = stored.document.get("trees")
    if stored.document.get("format_version") == 1:
        return Trees.from_text(str(stored.take(described), "utf-8"))
    names: Any = stored.document.get("features")
    if not isinstance(described, dict) or not isinstance(names, list):
        raise stored.error("has no valid 'trees'")
    arrays = {name: decode(value, f"trees.{name}", stored) for name, value in described.items()}
    return Trees(tuple(map(str, names)), **arrays)


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError(
            "learning to rank needs the package lightgbm: pip install 'laconic[ltr]'"
        ) from error
    return lightgbm
