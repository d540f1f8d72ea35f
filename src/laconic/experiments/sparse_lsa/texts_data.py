"""The collections of texts whose classes are told, and how they are split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic import datasets
from laconic.corpus.options import VectorizerOptions
from laconic.experiments.parts import SEED, Results
from laconic.experiments.sparse_lsa.classifying import Search, dense, split, svm_scores
from laconic.experiments.sparse_lsa.projections import Projection

GROUPS = ("alt.atheism", "talk.religion.misc")


@dataclass(frozen=True)
class Sides:
    """Documents to train on and to test with, in the words, weights and topics of the former."""

    train: csr_array
    test: csr_array
    train_counts: csr_array
    test_counts: csr_array
    train_labels: NDArray[Any]
    test_labels: NDArray[Any]
    seed: int
    search: Search

    def words(self) -> Results:
        """How well classes are told by words, without any projection."""
        return self._scores(self.train, self.test)

    def measure(self, make: Callable[[], Projection]) -> Results:
        """How well classes are told by documents as projected, and how sparse the topics are."""
        projection = make()
        train, test = self.train, self.test
        if projection.of_counts:
            train, test = self.train_counts, self.test_counts
        return {
            **self._scores(dense(projection.project(train)), dense(projection.project(test))),
            "density": projection.density,
            "effective": projection.effective_dimension,
            **projection.notes,
        }

    def _scores(self, train: Any, test: Any) -> Results:
        found = svm_scores(train, self.train_labels, test, self.test_labels, self.seed, self.search)
        return {"accuracy": found.test, "validation": found.validation}


def load_newsgroups(bare: bool, quick: bool) -> Any:
    """The messages of two groups, as they were or without headers, quotations and signatures."""
    data: Any = datasets.load("20newsgroups") if bare else datasets.load("20newsgroups", strip=())
    options: VectorizerOptions = {"min_df": 1, "max_df": 1.0, "stop_words": None}
    pair = replace(data.where(np.isin(data.labels.astype(str), GROUPS)), options=options)
    return pair.where(drawn_evenly(pair.labels, 1, 80)) if quick else pair


def load_reuters(quick: bool) -> Any:
    """The articles of ModApte's split with one topic, of topics that both of its sides have."""
    data: Any = datasets.load("reuters21578").single_label()
    train, test = (set(data.split(side).labels) for side in ("train", "test"))
    kept = np.isin(data.splits.astype(str), ["train", "test"]) & np.isin(
        data.labels.astype(str), sorted(train & test)
    )
    options: VectorizerOptions = {"min_df": 5, "max_df": 1.0}
    articles = replace(data.where(kept), options=options)
    return articles.where(drawn_evenly(articles.labels, 100, 40)) if quick else articles


def drawn_evenly(labels: NDArray[Any], smallest: int, largest: int) -> NDArray[np.int64]:
    """Documents drawn at random: none of smaller classes, and at most so many of larger ones.

    Examples
    --------
    >>> labels = np.array(["a", "b", "b", "b", "b"])
    >>> labels[drawn_evenly(labels, 2, 3)].tolist()
    ['b', 'b', 'b']
    """
    drawn = np.random.default_rng(SEED).permutation(len(labels))
    classes = np.unique(labels[drawn].astype(str), return_inverse=True)[1]
    members = [drawn[classes == number] for number in range(classes.max() + 1)]
    return np.sort(np.concatenate([rows[:largest] for rows in members if len(rows) >= smallest]))


@dataclass(frozen=True)
class Division:
    """The numbers of documents to train on and to test with, and the seed that goes with them."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


def divisions(data: Any, n_splits: int | None) -> list[Division]:
    """So many random splits of the documents, or the one that the collection brings."""
    if n_splits is None:
        sides = data.splits.astype(str)
        return [Division(np.flatnonzero(sides == "train"), np.flatnonzero(sides == "test"), SEED)]
    seeds = range(SEED, SEED + n_splits)
    return [Division(*split(np.asarray(data.labels), seed), seed) for seed in seeds]


def sides(data: Any, division: Division, search: Search) -> Sides:
    """Split documents; vocabulary and weights are those of the training documents only."""
    labels = np.asarray(data.labels)
    corpus = data.where(division.train).corpus(weighting="tfidf")
    texts = data.where(division.test).texts
    return Sides(
        corpus.X,
        corpus.vectorize(texts),
        corpus.counts,
        corpus.vectorizer.count(texts),
        labels[division.train],
        labels[division.test],
        division.seed,
        search,
    )
