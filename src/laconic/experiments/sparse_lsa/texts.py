"""Classes of projected texts: Tables 1 to 3, Figures 2 and 3 of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from laconic.experiments.fitting import summary
from laconic.experiments.parts import SEED, Desk, Results
from laconic.experiments.sparse_lsa import paper
from laconic.experiments.sparse_lsa.classifying import PAPERS_SEARCH, Search, dense, svm_scores
from laconic.experiments.sparse_lsa.projections import (
    CODING,
    CODING_ITERATIONS,
    LDA,
    LDA_MOST,
    LDA_TOL,
    LSA,
    NONNEGATIVE,
    SCALED,
    SPARSE,
    SPARSE_ITERATIONS,
    Projection,
    cost,
    dense_milliseconds,
    lda,
    lsa,
    singular_vectors,
    sparse_coding,
    sparse_lsa,
)
from laconic.experiments.sparse_lsa.texts_data import Division, Sides, divisions, sides


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
        Those of Figure 3, for Sparse LSA.
    coding_strengths : tuple of float
        Those among which sparse coding's is chosen, at every dimension.
    whole_strengths : tuple of float
        The same for topics of all documents; none to leave sparse coding out there.
    splits : int or None
        Into training and test documents, at random; None for the split that the collection brings.
    whole : int
        The dimension where topics are fitted on all documents, as in the paper's Table 3.
    whole_splits : int or None
        Splits of these documents: more of them cost little, as topics are fitted once.
    search : Search
        How the classifier's penalty is chosen.
    """

    dimensions: tuple[int, ...]
    swept: int
    coding: tuple[int, ...]
    lda: tuple[int, ...]
    strengths: tuple[float, ...]
    coding_strengths: tuple[float, ...]
    whole_strengths: tuple[float, ...]
    splits: int | None
    whole: int
    whole_splits: int | None
    search: Search = PAPERS_SEARCH


def run_texts(name: str, standard: str, load: Callable[[], Any], plan: Plan, desk: Desk) -> Results:
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
    desk : Desk
        Keeps every measurement.
    """
    desk(f"{name}: counting words")
    data = load()
    corpus = data.corpus(weighting="tfidf")
    divided = divisions(data, plan.splits)
    runs: list[Results] = []
    for number, division in enumerate(divided, start=1):
        halves = sides(data, division, plan.search)
        runs.append(_one_split(halves, plan, f"{name}, split {number} of {len(divided)}", desk))
    n_test = len(divided[0].test)
    return {
        "name": name,
        "standard": standard,
        "n_documents": corpus.shape[0],
        "n_terms": corpus.shape[1],
        "n_classes": len(set(data.labels)),
        "n_train": halves.train.shape[0],
        "n_train_terms": halves.train.shape[1],
        "n_test": n_test,
        "splits": plan.splits,
        "search": str(plan.search),
        "strength": paper.STRENGTH,
        "coding": [run["coding"] for run in runs],
        "words": _spread([run["words"] for run in runs], n_test),
        "dimensions": _joined([run["dimensions"] for run in runs], n_test),
        "strengths": _joined([run["strengths"] for run in runs], n_test),
        "largest": plan.dimensions[-1],
        "swept": plan.swept,
        "whole": _whole(corpus, plan, divisions(data, plan.whole_splits), name, desk),
        "paper": {
            "sizes": paper.SIZES[standard],
            "densities": paper.DENSITIES[standard],
            "efficiency": paper.EFFICIENCY[standard],
        },
    }


def _one_split(halves: Sides, plan: Plan, place: str, desk: Desk) -> Results:
    X, seed = halves.train, halves.seed
    singular = cache(lambda: singular_vectors(X, max(plan.dimensions)))

    def measured(what: str, make: Callable[[], Projection]) -> Results:
        found: Results = desk.keep(f"{place}: {what}; {plan.search}", halves.measure, make)
        return found

    def by_lsa(n: int) -> Results:
        return measured(f"{LSA}, {n} dimensions", lambda: lsa(singular(), n))

    def sparse(method: str, n: int, strength: float) -> Results:
        return measured(
            f"{method}, {n} dimensions, λ = {strength:g}, {SPARSE_ITERATIONS} iterations",
            partial(sparse_lsa, X, n, strength, method == NONNEGATIVE, seed),
        )

    def coding(n: int, strength: float) -> Results:
        return measured(
            f"{CODING}, {n} dimensions, penalty {strength:g}, {CODING_ITERATIONS} iterations",
            partial(sparse_coding, X, n, strength, seed),
        )

    def by_lda(n: int) -> Results:
        return measured(
            f"{LDA}, {n} dimensions, until {LDA_TOL:g} or {LDA_MOST} iterations",
            partial(lda, halves.train_counts, n, seed),
        )

    words = desk.keep(f"{place}: words; {plan.search}", halves.words)
    dimensions: Results = {LSA: {n: by_lsa(n) for n in plan.dimensions}}
    for method in (SPARSE, NONNEGATIVE):
        dimensions[method] = {n: sparse(method, n, paper.STRENGTH) for n in plan.dimensions}
    swept = (paper.STRENGTH, *plan.strengths)
    strengths = {SPARSE: {strength: sparse(SPARSE, plan.swept, strength) for strength in swept}}
    tried = {n: {strength: coding(n, strength) for strength in plan.coding_strengths} for n in plan.coding}
    choices = {n: _choice(found) for n, found in tried.items()}
    dimensions[CODING] = {n: tried[n][choice["chosen"]] for n, choice in choices.items()}
    dimensions[LDA] = {n: by_lda(n) for n in plan.lda}
    return {"words": words, "dimensions": dimensions, "strengths": strengths, "coding": choices}


def _choice(tried: dict[float, Results]) -> Results:
    """Which penalty does best on the training documents; the larger one where two do."""
    chosen = max(tried, key=lambda strength: (tried[strength]["validation"], strength))
    return {"chosen": chosen, "tried": {f"{key:g}": found["validation"] for key, found in tried.items()}}


def _spread(runs: list[Results], n_test: int) -> Results:
    """Means over splits, and how far they are to be trusted.

    By the standard deviation over splits; for one split by the standard error of a share of its test
    documents, which is what drawing them again with replacement would give.
    """
    found = summary(runs)
    if len(runs) == 1:
        accuracy = found["accuracy"]
        found["accuracy_sd"] = round(float(np.sqrt(accuracy * (1 - accuracy) / n_test)), 6)
    return found


def _joined(runs: list[Results], n_test: int) -> Results:
    """Means over splits, for every method and dimension or strength."""
    return {
        method: {f"{key:g}": _spread([run[method][key] for run in runs], n_test) for key in sorted(measured)}
        for method, measured in runs[0].items()
    }


def _whole(corpus: Any, plan: Plan, divided: list[Division], name: str, desk: Desk) -> Results:
    """Table 3: topics of all documents, as in the paper, which are split afterwards."""
    X, labels, n = corpus.X, np.asarray(corpus.labels), plan.whole
    singular = cache(lambda: singular_vectors(X, n))
    drawn = np.random.default_rng(SEED).permutation(X.shape[0])[:1000]

    def measured(make: Callable[[], Projection]) -> Results:
        projection = make()
        described = dense(projection.project(X))
        scores = [
            svm_scores(
                described[each.train],
                labels[each.train],
                described[each.test],
                labels[each.test],
                each.seed,
                plan.search,
            )
            for each in divided
        ]
        return {
            "accuracies": [each.test for each in scores],
            "validations": [each.validation for each in scores],
            "density": projection.density,
            **cost(projection, X[drawn]),
        }

    def kept(what: str, make: Callable[[], Projection]) -> Results:
        place = f"{name}, all documents in {len(divided)} splits"
        found: Results = desk.keep(f"{place}: {what}, {n} dimensions; {plan.search}", measured, make)
        return found

    rows = {
        method: kept(
            f"{method}, λ = {paper.STRENGTH:g}, {SPARSE_ITERATIONS} iterations",
            partial(sparse_lsa, X, n, paper.STRENGTH, method == NONNEGATIVE, SEED),
        )
        for method in (SPARSE, NONNEGATIVE)
    }
    rows[LSA] = kept(LSA, lambda: lsa(singular(), n))
    rows[SCALED] = kept(SCALED, lambda: lsa(singular(), n, scaled=True))
    tried = {
        strength: kept(
            f"{CODING}, penalty {strength:g}, {CODING_ITERATIONS} iterations",
            partial(sparse_coding, X, n, strength, SEED),
        )
        for strength in plan.whole_strengths
    }
    choices = [
        _choice({key: {"validation": found["validations"][number]} for key, found in tried.items()})
        for number in range(len(divided) if tried else 0)
    ]
    if choices:
        # Times and densities are those of the first split's choice.
        accuracies = [tried[each["chosen"]]["accuracies"][number] for number, each in enumerate(choices)]
        rows[CODING] = tried[choices[0]["chosen"]] | {"accuracies": accuracies}
    product = desk.keep(
        f"{name}: dense product, {n} dimensions", lambda: dense_milliseconds(singular().vectors, X[drawn])
    )
    n_test = len(divided[0].test)
    return {
        "dimension": n,
        "n_projected": len(drawn),
        "rows": {
            method: row | _spread([{"accuracy": value} for value in row["accuracies"]], n_test)
            for method, row in rows.items()
        },
        "coding": choices,
        "splits": plan.whole_splits,
        "dense_product": product,
    }
