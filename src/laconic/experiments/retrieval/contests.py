"""Methods on one collection: the best of their grids, the choice of other queries, and chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.evaluate.comparison import RESAMPLES, compare, paired_test, resampled_means
from laconic.evaluate.retrieval import retrieval_scores
from laconic.experiments.parts import SEED, Results
from laconic.experiments.retrieval.collections import Collection
from laconic.experiments.retrieval.grids import Choice, Entry, best, cross_validated

MEASURES = ("AP", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10")


def describe(collection: Collection) -> Results:
    """What a page says about a collection."""
    return {
        "n_documents": collection.n_documents,
        "n_terms": collection.n_terms,
        "n_queries": len(collection.queries),
    }


def contest(
    collection: Collection, methods: Mapping[str, Sequence[Entry]], terms: str, pairs: Mapping[str, str]
) -> Results:
    """Compare methods with term matching, and some of them with each other.

    Parameters
    ----------
    collection : Collection
    methods : mapping of str to sequence of Entry
        From names to the entries of their grids.
    terms : str
        The term scores that they are blended with, and compared with.
    pairs : mapping of str to str
        From the names of methods to those that they are also compared with.

    Returns
    -------
    dict
        "grid" and "held_out": from names to measures, of the best on the grid and of the choice by
        cross-validation; "significant": of the latter, from names to measures to "+", "-" or nothing;
        "pairs": from names to the ratio of mean average precision, its interval, and the p-value of the
        difference; "chosen": from names to what was chosen; "average_precisions" of the held-out queries.
    """
    on_grid = {name: best(entries, terms) for name, entries in methods.items()}
    held_out = {name: cross_validated(collection, entries, terms) for name, entries in methods.items()}
    alone = collection.run(collection.terms[terms])
    runs = {name: collection.run(choice.scores(collection)) for name, choice in on_grid.items()}
    grid = {name: retrieval_scores(collection.qrels, run, MEASURES) for name, run in runs.items()}
    runs = {name: collection.run(scores) for name, (scores, _) in held_out.items()}
    # Of this only t-tests are used, no resamples.
    honest = compare(collection.qrels, {terms: alone} | runs, measures=MEASURES, n_resamples=1)
    precisions = {name: list(scores.per_query["AP"].values()) for name, scores in honest.scores.items()}
    return {
        "grid": {terms: honest.scores[terms].mean} | {name: scores.mean for name, scores in grid.items()},
        "held_out": {name: scores.mean for name, scores in honest.scores.items()},
        "significant": {
            name: {measure: honest.mark(measure, name) for measure in MEASURES} for name in honest.scores
        },
        "pairs": {name: ratio(precisions[name], precisions[other]) for name, other in pairs.items()},
        "chosen": {name: _chosen(on_grid[name], choices) for name, (_, choices) in held_out.items()},
        "average_precisions": precisions,
    }


def ratio(values: Sequence[float], others: Sequence[float]) -> Results:
    """How mean average precision compares, with the bootstrap's interval."""
    found = paired_test(values, others)
    return {"ratio": found.ratio, "interval": found.ratio_interval, "p_value": found.p_value}


def pooled(contests: Mapping[str, Results], name: str, other: str) -> Results:
    """The ratio over all collections: of the means of their MAPs, and of all queries together.

    The interval of the first is that of a bootstrap within each collection.
    """
    mine, theirs = (
        [np.asarray(found["average_precisions"][method]) for found in contests.values()]
        for method in (name, other)
    )
    drawn = _ratios_of_means(mine, theirs)
    return {
        "ratio": float(sum(a.mean() for a in mine) / sum(a.mean() for a in theirs)),
        "interval": [float(end) for end in np.quantile(drawn, [0.025, 0.975])],
        "all_queries": ratio(np.concatenate(mine).tolist(), np.concatenate(theirs).tolist()),
    }


def _ratios_of_means(mine: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    drawn = [resampled_means(pair, RESAMPLES, rng) for pair in zip(mine, theirs, strict=True)]
    above, below = np.sum(drawn, axis=0)
    return np.asarray(above / below)


def _chosen(on_grid: Choice, choices: Sequence[Choice]) -> Results:
    """What the grid's best is, which blends the folds chose, and how dense their topics are at most."""
    densities = [choice.entry.density for choice in choices]
    known = [density for density in densities if density is not None]
    return {
        "settings": on_grid.entry.settings,
        "blend": on_grid.blend,
        "density": on_grid.entry.density,
        "held_out_density": max(known) if known else None,
        "blends": [choice.blend for choice in choices],
    }
