"""Figure 9 again: LambdaRank with and without topics, cross-validated over all queries of six collections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_array

from laconic.evaluate.comparison import compare, holm, paired_test
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL
from laconic.experiments.retrieval.contests import MEASURES
from laconic.experiments.rlsi.ranking import NAMES, usable, word_budget
from laconic.experiments.writing import decimal, list_of, table
from laconic.search.topics import TopicMatcher

N_TOPICS = 100
POOL = 200
N_FOLDS = 5
PLAIN, TOPICS = "LambdaRank", "LambdaRank + RLSI"
# Of smoothing by Dirichlet's prior (words), and of Jelinek and Mercer's (share of the collection).
DIRICHLET, MERCER = 1000.0, 0.5
LEVEL, POWER = 0.05, 0.8

_TEXT = """
Every query is ranked by what LambdaRank (LightGBM: {trees} trees of 15 leaves) learns from those of other
folds ({folds} folds). The pool is the same with and without topics: the best {pool} documents of BM25, so
that topics can only change their order. Features of terms: {features}. With topics there are two more: the
cosine of weights, and that in the metric of the Gram matrix ({topics} topics of RLSI with a word budget).
The paper had 16 features, PageRank among them, and 6,000 queries to learn from.

{table}

*p* is of the paired t-test over queries; *corrected* for the number of collections by Holm's method.
*Detectable* is the difference in mean average
precision that such a test finds in four of five cases, given how much queries differ. Smaller differences
cannot be told from chance here.

{conclusion}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Learn and rank, fold by fold, on every collection."""
    names = ("adi",) if quick else NAMES
    found = {name: desk.keep(f"{name}: LambdaRank over folds", _compared, name, quick) for name in names}
    return {
        "collections": found,
        "features": list(next(iter(found.values()))["features"]),
        "topics": N_TOPICS,
        "pool": POOL,
        "folds": N_FOLDS,
        "trees": 200,
    }


def term_features(collection: Collection) -> dict[str, NDArray[np.float32]]:
    """What terms say of every document for every query, by name: queries × documents."""
    counts, queries = collection.corpus.counts, collection.counts
    lengths = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
    frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
    background = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
    idf = np.log(len(lengths) / np.maximum(frequencies, 1))
    asked = csr_array(queries > 0, dtype=np.float64)
    words = np.maximum(np.asarray(queries.sum(axis=1)), 1).reshape(-1, 1)

    def summed(values: NDArray[Any], rows: csr_array = queries) -> NDArray[Any]:
        """The sum over a query's terms of what each is worth in each document."""
        worth = csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
        return np.asarray((rows @ worth.T).toarray())

    tf, terms = counts.data, counts.indices
    share = tf / np.repeat(lengths, np.diff(counts.indptr))
    present = np.ones_like(tf, dtype=np.float64)
    chance = np.maximum(background[terms], 1e-300)
    total = np.maximum(asked @ idf, 1e-12).reshape(-1, 1)
    distinct = np.maximum(np.asarray(asked.sum(axis=1)), 1).reshape(-1, 1)
    smooth = summed(np.log1p(tf / (DIRICHLET * chance)))
    found = {
        "BM25": collection.terms["BM25"],
        "VSM": collection.terms["VSM"],
        "share of the query's terms": summed(present, asked) / distinct,
        "the same by idf": summed(idf[terms], asked) / total,
        "query likelihood (Dirichlet)": smooth + words * np.log(DIRICHLET / (lengths + DIRICHLET)),
        "query likelihood (Jelinek-Mercer)": summed(np.log1p((1 - MERCER) * share / (MERCER * chance))),
        "sum of term frequencies": summed(np.log1p(tf)),
        "sum of shares": summed(share),
        "sum of tf-idf": summed(tf * idf[terms]),
        "length": np.broadcast_to(np.log1p(lengths), (len(collection.queries), len(lengths))),
        "length of the query": np.broadcast_to(words, (len(collection.queries), len(lengths))),
    }
    return {name: np.asarray(values, np.float32) for name, values in found.items()}


def topic_features(collection: Collection, quick: bool) -> dict[str, NDArray[np.float32]]:
    """What topics say, compared in two ways."""
    (size,) = usable(collection, [N_TOPICS])
    iterations = 10 if quick else 200
    model = word_budget(size, collection.n_terms, tol=TOL, random_state=SEED, max_iter=iterations)
    with iterations_given():
        model.fit(collection.corpus.X)
    return {
        f"topics, {similarity}": TopicMatcher(model, collection.corpus.X, similarity=similarity).scores(
            collection.rows
        )
        for similarity in ("cosine", "gram")
    }


def pooled(collection: Collection) -> NDArray[np.int64]:
    """The documents of every query's pool, best first."""
    size = min(POOL, collection.n_documents)
    return np.argsort(-collection.terms["BM25"], axis=1, kind="stable")[:, :size]


def ranked(collection: Collection, features: dict[str, Any], pool: NDArray[np.int64]) -> Any:
    """A run in which every query is ranked by what others teach."""
    import lightgbm

    values = np.stack([np.take_along_axis(each, pool, axis=1) for each in features.values()], axis=2)
    grades = np.zeros(pool.shape, np.int64)
    for own, documents, places in zip(grades, pool, collection.relevant, strict=True):
        own[:] = np.isin(documents, places)
    scores = np.empty(pool.shape)
    for fold in range(N_FOLDS):
        mine = collection.folds % N_FOLDS == fold
        others = ~mine & grades.any(axis=1)
        rows = values[others].reshape(-1, values.shape[2])
        groups = [pool.shape[1]] * int(others.sum())
        data = lightgbm.Dataset(rows, grades[others].ravel(), group=groups)
        booster = lightgbm.train(_PARAMETERS, data, 200)
        said = np.asarray(booster.predict(values[mine].reshape(-1, values.shape[2]), num_threads=1))
        # Where trees see no difference, the order of BM25 stays.
        scores[mine] = said.reshape(-1, pool.shape[1]) - 1e-9 * np.arange(pool.shape[1])
    ids = np.asarray(collection.corpus.ids)
    return {
        query: dict(zip(ids[places].tolist(), own.tolist(), strict=True))
        for query, places, own in zip(collection.queries, pool, scores, strict=True)
    }


_PARAMETERS: dict[str, Any] = {
    "objective": "lambdarank",
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 50,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}


def detectable(differences: NDArray[Any]) -> float:
    """The mean difference that a paired t-test finds with the power that is asked for (normal approximation).

    >>> round(detectable(np.array([-1.0, 1.0] * 50)), 2)
    0.28
    """
    quantiles = stats.norm.ppf(1 - LEVEL / 2) + stats.norm.ppf(POWER)
    return float(quantiles * np.std(differences, ddof=1) / np.sqrt(len(differences)))


def _compared(name: str, quick: bool) -> Results:
    collection = read_collection(name, n_queries=10 if quick else None)
    pool, terms = pooled(collection), term_features(collection)
    runs = {
        "BM25": collection.run(collection.terms["BM25"]),
        PLAIN: ranked(collection, terms, pool),
        TOPICS: ranked(collection, terms | topic_features(collection, quick), pool),
    }
    compared = compare(collection.qrels, runs, baseline=PLAIN, measures=MEASURES, n_resamples=1)
    ours, base = (np.array(list(compared.scores[run].per_query["AP"].values())) for run in (TOPICS, PLAIN))
    test = paired_test(ours.tolist(), base.tolist())
    return {
        "n_queries": len(collection.queries),
        "features": list(terms),
        "scores": {run: scores.mean for run, scores in compared.scores.items()},
        "difference": test.difference,
        "interval": test.difference_interval,
        "p_value": test.p_value,
        "detectable": detectable(ours - base),
        "differences": (ours - base).tolist(),
    }


def together(results: Results) -> Results:
    """All queries of all collections as one sample."""
    differences = np.concatenate([each["differences"] for each in results["collections"].values()])
    test = paired_test(differences.tolist(), [0.0] * len(differences))
    return {
        "n_queries": len(differences),
        "difference": test.difference,
        "p_value": test.p_value,
        "detectable": detectable(differences),
    }


def render(results: Results) -> Section:
    """The section of the page."""
    rows = []
    for (name, each), p_value in zip(results["collections"].items(), corrected(results), strict=True):
        ours = [decimal(each["scores"][run]["AP"]) for run in ("BM25", PLAIN, TOPICS)]
        rows.append([TITLES[name], f"{each['n_queries']:,}", *ours, *_cells(each, p_value)])
    every = together(results)
    rows.append(["all queries", f"{every['n_queries']:,}", "", "", "", *_cells(every)])
    headings = ["", "queries", "BM25", PLAIN, TOPICS, "difference", "p", "corrected", "detectable"]
    text = _TEXT.format(
        **{key: results[key] for key in ("trees", "folds", "pool", "topics")},
        features=", ".join(results["features"]),
        table=table(headings, rows, "lrrrrrrrr"),
        conclusion=_conclusion(results),
    )
    findings = [
        f"**LambdaRank**, cross-validated over {every['n_queries']:,} queries: topics change mean average "
        f"precision by {every['difference']:+.4f} (p = {every['p_value']:.2g}; a difference of "
        f"{every['detectable']:.4f} would be found in four of five cases)."
    ]
    return Section("Learning to rank, cross-validated (Figure 9)", text, findings)


def _cells(found: Results, corrected: float | None = None) -> list[str]:
    p_values = [f"{found['p_value']:.2g}", "" if corrected is None else f"{corrected:.2g}"]
    return [f"{found['difference']:+.4f}", *p_values, f"{found['detectable']:.4f}"]


def better(results: Results) -> list[str]:
    """Collections on which topics improve LambdaRank significantly."""
    return _significant(results, 1)


def worse(results: Results) -> list[str]:
    """Collections on which topics make LambdaRank significantly worse."""
    return _significant(results, -1)


def _significant(results: Results, sign: int) -> list[str]:
    found = results["collections"]
    return [
        TITLES[name]
        for (name, each), p_value in zip(found.items(), corrected(results), strict=True)
        if sign * each["difference"] > 0 and p_value < LEVEL
    ]


def corrected(results: Results) -> list[float]:
    """The p-values of the collections, corrected for their number."""
    return holm([each["p_value"] for each in results["collections"].values()])


def below_terms(results: Results, learnt: str) -> list[str]:
    """Collections on which BM25 alone ranks better than what was learnt."""
    return [
        TITLES[name]
        for name, each in results["collections"].items()
        if each["scores"][learnt]["AP"] < each["scores"]["BM25"]["AP"]
    ]


def _conclusion(results: Results) -> str:
    return (
        f"Topics improve LambdaRank significantly on {list_of(better(results)) or 'none'} of the "
        f"collections, and make it significantly worse on {list_of(worse(results)) or 'none'} (p < "
        f"{LEVEL:g}, corrected)."
    )
