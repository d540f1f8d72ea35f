"""Classes of projected texts: Tables 1 to 3, Figures 2 and 3 of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic import datasets
from laconic.corpus.options import VectorizerOptions
from laconic.experiments.fitting import summary
from laconic.experiments.parts import SEED, Results, Say
from laconic.experiments.sparse_lsa import paper
from laconic.experiments.sparse_lsa.classifying import split, svm_accuracy
from laconic.experiments.sparse_lsa.projections import (
    CODING,
    LDA,
    LSA,
    NONNEGATIVE,
    SCALED,
    SPARSE,
    Projection,
    all_singular,
    cost,
    dense_milliseconds,
    lda,
    lsa,
    sparse_coding,
    sparse_lsa,
)

GROUPS = ("alt.atheism", "talk.religion.misc")
# Of Reuters: classes with fewer documents are too small to split, and of larger ones only so many are taken.
SMALLEST_CLASS, LARGEST_CLASS = 15, 200


@dataclass(frozen=True)
class Plan:
    """How much of the experiment is run.

    Attributes
    ----------
    dimensions : tuple of int
        Those of LSA and Sparse LSA.
    swept : int
        One of them, at which the strength varies, as in Figure 3.
    coding, lda : tuple of int
        Those of sparse coding and of LDA, which are slow.
    strengths : tuple of float
        Those of Figure 3.
    coding_strengths : tuple of float
        Those among which sparse coding's is chosen.
    splits : int
        Into training and test documents.
    whole : int
        The dimension where topics are fitted on all documents, as in the paper's Table 3.
    """

    dimensions: tuple[int, ...]
    swept: int
    coding: tuple[int, ...]
    lda: tuple[int, ...]
    strengths: tuple[float, ...]
    coding_strengths: tuple[float, ...]
    splits: int
    whole: int


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

    def accuracy(self, projection: Projection | None, *, counts: bool = False) -> float:
        """Of the classifier, on projected documents or on their words."""
        train, test = (self.train_counts, self.test_counts) if counts else (self.train, self.test)
        if projection is not None:
            train, test = projection.project(train), projection.project(test)
        return svm_accuracy(train, self.train_labels, test, self.test_labels, self.seed, n_jobs=2)


def load_newsgroups(bare: bool, quick: bool) -> Any:
    """The messages of two groups, as they were or without headers, quotations and signatures."""
    data: Any = datasets.load("20newsgroups") if bare else datasets.load("20newsgroups", strip=())
    options: VectorizerOptions = {"min_df": 1, "max_df": 1.0, "stop_words": None}
    pair = replace(data.where(np.isin(data.labels.astype(str), GROUPS)), options=options)
    return pair.where(drawn_evenly(pair.labels, 1, 80)) if quick else pair


def load_reuters(quick: bool) -> Any:
    """Articles with one topic, at most so many of each."""
    data: Any = datasets.load("reuters21578").single_label()
    limits = (100, 30) if quick else (SMALLEST_CLASS, LARGEST_CLASS)
    options: VectorizerOptions = {"min_df": 5, "max_df": 1.0}
    return replace(data.where(drawn_evenly(data.labels, *limits)), options=options)


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


def sides(data: Any, seed: int) -> Sides:
    """Split documents; vocabulary and weights are those of the training documents only."""
    labels = np.asarray(data.labels)
    train, test = split(labels, seed)
    corpus = data.where(train).corpus(weighting="tfidf")
    texts = data.where(test).texts
    return Sides(
        corpus.X,
        corpus.vectorize(texts),
        corpus.counts,
        corpus.vectorizer.count(texts),
        labels[train],
        labels[test],
        seed,
    )


def run_texts(name: str, standard: str, load: Callable[[], Any], plan: Plan, say: Say) -> Results:
    """Measure all methods on one collection.

    Parameters
    ----------
    name : str
        What the page calls the collection.
    standard : {"20newsgroups", "rcv1"}
        Which of the paper's it is compared with.
    load : callable
        Gives the texts, with labels.
    plan : Plan
        How much to do.
    say : callable
        Told what is being done.
    """
    say(f"{name}: counting words")
    data = load()
    corpus = data.corpus(weighting="tfidf")
    strength = _coding_strength(sides(data, SEED), plan, name, say)
    runs: list[Results] = []
    for number in range(plan.splits):
        halves = sides(data, SEED + number)
        place = f"{name}, split {number + 1} of {plan.splits}"
        runs.append(_one_split(halves, plan, strength["chosen"], _told(say, place)))
    return {
        "name": name,
        "standard": standard,
        "n_documents": corpus.shape[0],
        "n_terms": corpus.shape[1],
        "n_classes": len(set(data.labels)),
        "class_sizes": {"smallest": SMALLEST_CLASS, "largest": LARGEST_CLASS},
        "n_train": halves.train.shape[0],
        "n_train_terms": halves.train.shape[1],
        "splits": plan.splits,
        "strength": paper.STRENGTH,
        "coding": strength,
        "words": summary([run["words"] for run in runs]),
        "dimensions": _joined([run["dimensions"] for run in runs]),
        "strengths": _joined([run["strengths"] for run in runs]),
        "largest": plan.dimensions[-1],
        "swept": plan.swept,
        "whole": _whole(corpus, plan, strength["chosen"], name, say),
        "paper": {
            "sizes": paper.SIZES[standard],
            "densities": paper.DENSITIES[standard],
            "efficiency": paper.EFFICIENCY[standard],
        },
    }


def _told(say: Say, place: str) -> Say:
    return lambda what: say(f"{place}: {what}")


def _coding_strength(halves: Sides, plan: Plan, name: str, say: Say) -> Results:
    """Choose the penalty of sparse coding on the training documents of the first split, split once more."""
    inner, outer = split(halves.train_labels, SEED)
    labels = halves.train_labels
    found = {}
    for strength in plan.coding_strengths:
        say(f"{name}: sparse coding, penalty {strength:g}")
        projection = sparse_coding(halves.train[inner], plan.coding[0], strength, SEED)
        train, test = projection.project(halves.train[inner]), projection.project(halves.train[outer])
        found[strength] = svm_accuracy(train, labels[inner], test, labels[outer], SEED, n_jobs=2)
    return {
        "chosen": max(found, key=lambda key: found[key]),
        "dimension": plan.coding[0],
        "accuracy": {f"{key:g}": value for key, value in found.items()},
    }


def _one_split(halves: Sides, plan: Plan, coding: float, say: Say) -> Results:
    X, seed = halves.train, halves.seed
    found: Results = {"words": {"accuracy": halves.accuracy(None)}, "dimensions": {}, "strengths": {}}

    def measure(kind: str, method: str, key: float, projection: Projection, counts: bool = False) -> None:
        found[kind].setdefault(method, {})[key] = {
            "accuracy": halves.accuracy(projection, counts=counts),
            "density": projection.density,
            "effective": projection.effective_dimension,
        }

    singular = all_singular(X)
    for n in plan.dimensions:
        say(f"LSA, {n} dimensions")
        measure("dimensions", LSA, n, lsa(singular, n))
    for method, nonnegative in ((SPARSE, False), (NONNEGATIVE, True)):
        for n in plan.dimensions:
            say(f"{method}, {n} dimensions")
            measure("dimensions", method, n, sparse_lsa(X, n, paper.STRENGTH, nonnegative, seed))
        found["strengths"][method] = {paper.STRENGTH: found["dimensions"][method][plan.swept]}
        for strength in plan.strengths:
            say(f"{method}, {plan.swept} dimensions, λ = {strength:g}")
            projection = sparse_lsa(X, plan.swept, strength, nonnegative, seed)
            measure("strengths", method, strength, projection)
    for n in plan.coding:
        say(f"sparse coding, {n} dimensions")
        measure("dimensions", CODING, n, sparse_coding(X, n, coding, seed))
    for n in plan.lda:
        say(f"LDA, {n} dimensions")
        measure("dimensions", LDA, n, lda(halves.train_counts, n, seed), counts=True)
    return found


def _joined(runs: list[Results]) -> Results:
    """Means and standard deviations over splits, for every method and dimension or strength."""
    return {
        method: {f"{key:g}": summary([run[method][key] for run in runs]) for key in sorted(measured)}
        for method, measured in runs[0].items()
    }


def _whole(corpus: Any, plan: Plan, coding: float, name: str, say: Say) -> Results:
    """Table 3: topics of all documents, as in the paper, which are split afterwards."""
    X, labels, n = corpus.X, np.asarray(corpus.labels), plan.whole
    singular = all_singular(X)
    drawn = np.random.default_rng(SEED).permutation(X.shape[0])[:1000]
    makers: dict[str, Callable[[], Projection]] = {
        SPARSE: lambda: sparse_lsa(X, n, paper.STRENGTH, False, SEED),
        NONNEGATIVE: lambda: sparse_lsa(X, n, paper.STRENGTH, True, SEED),
        LSA: lambda: lsa(singular, n),
        SCALED: lambda: lsa(singular, n, scaled=True),
        CODING: lambda: sparse_coding(X, n, coding, SEED),
    }
    rows = {}
    for method, make in makers.items():
        say(f"{name}: {method} of all documents, {n} dimensions")
        projection = make()
        described = projection.project(X)
        accuracies = []
        for number in range(plan.splits):
            train, test = split(labels, SEED + number)
            accuracy = svm_accuracy(
                described[train], labels[train], described[test], labels[test], SEED + number, n_jobs=2
            )
            accuracies.append({"accuracy": accuracy})
        rows[method] = summary(accuracies) | cost(projection, X[drawn]) | {"density": projection.density}
    dense = dense_milliseconds(singular.vectors[:n], X[drawn])
    return {"dimension": n, "n_projected": len(drawn), "rows": rows, "dense_product": dense}
