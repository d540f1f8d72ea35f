"""Collections with classes: how many topics documents have with a prior and without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.evaluate import purity
from laconic.experiments.figures import HeatMaps
from laconic.experiments.fitting import iterations_given, summary
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.writing import count, decimal, percent, table
from laconic.models import NMF, PLSA
from laconic.priors import Exponential, Pareto, Prior, PseudoDirichlet

N_TERMS = 5000  # as in the paper
EPS = 0.02  # as in the paper
# Small, so that fits with and without a prior have both come to rest when they are compared.
TOL = 1e-7
# A topic counts as used by a document from this share on.
USED = 0.01
# Documents have fewer topics if they are fewer by more than this share: more than starts differ.
# The ways to find weights, with a prior and without, differ by three per cent themselves.
FEWER = 0.05
# Topics whose weights move by less than this share of the largest are as they were.
UNMOVED = 0.01

ML_PLSA, BPD, BPD_STRONG = "PLSA", f"PLSA, pseudo-Dirichlet {EPS}", f"PLSA, pseudo-Dirichlet {EPS}, weight 10"
ML_NMF, EXPONENTIAL, PARETO, BPD_NMF = (
    "NMF",
    "NMF, exponential 1",
    "NMF, Pareto 1",
    f"NMF, pseudo-Dirichlet {EPS}",
)


@dataclass(frozen=True)
class Variant:
    """A model with a prior, and the same without."""

    model: type[Any]
    prior: Prior | None
    without: str


VARIANTS = {
    ML_PLSA: Variant(PLSA, None, ML_PLSA),
    "PLSA, Pareto 1": Variant(PLSA, Pareto(1.0), ML_PLSA),
    BPD: Variant(PLSA, PseudoDirichlet(EPS), ML_PLSA),
    BPD_STRONG: Variant(PLSA, PseudoDirichlet(EPS, weight=10.0), ML_PLSA),
    ML_NMF: Variant(NMF, None, ML_NMF),
    EXPONENTIAL: Variant(NMF, Exponential(1.0), ML_NMF),
    PARETO: Variant(NMF, Pareto(1.0), ML_NMF),
    "NMF, Pareto 10": Variant(NMF, Pareto(10.0), ML_NMF),
    BPD_NMF: Variant(NMF, PseudoDirichlet(EPS), ML_NMF),
}

TITLES = {"bbc_news": "BBC news", "20newsgroups": "20 Newsgroups"}
_TEXT = """
{n_documents:,} documents of {n_classes} classes, counts of the {n_terms:,} most frequent words (without
English stop words), on average {length:.0f} in a document; {topics} topics; {starts}. Models with a
prior start from maximum likelihood, as in the paper: up to {iterations} iterations without the prior, and as
many with it. Models without a prior have up to twice as many, so that all converge.

- *non-zeros*: share of the documents' weights that are not exactly zero; without a prior weights are zero
  where that is likeliest, with one where it is a stationary value
- *used*: share of the weights that are at least {used:.0%} of the document
- *topics per document*: exp of the entropy of a document's topics, mean over documents; "fewer" means fewer
  by more than {fewer:.0%}
- *purity*: share of documents that are of the most frequent class of their strongest topic
- *explained*: share of the divergence from independence of documents and words that the topics explain; a
  prior pays for sparsity with it

{table}

As in the paper's Figure 2, the average topics of the documents of each class (darker is more). Topics are
in the same order on both sides: that of the classes in which they are strongest without the prior.

![Average topics of the classes, with and without the prior](figure:{figure})

{conclusions}
"""


def run(name: str, quick: bool, desk: Desk) -> Results:
    """Fit all variants, and measure how sparse documents are and whether topics follow the classes."""
    data: Any = datasets.load(name)
    n_starts, iterations = (1, 15) if quick else (3, 200)
    if quick:
        data = data.where(np.random.default_rng(SEED).permutation(len(data))[:600])
    desk(f"{name}: counting words")
    corpus = data.corpus(max_features=N_TERMS, min_df=2, max_df=0.5, weighting="count")
    # A document without words has no topics to measure.
    kept = np.flatnonzero(np.diff(corpus.counts.indptr))
    X, labels = corpus.counts[kept], np.asarray(data.labels)[kept]
    classes = sorted(set(labels))
    topics = max(10, len(classes))
    starts = [
        desk.keep(
            f"{name}, start {number + 1}, {topics} topics, {iterations} iterations",
            _one_start,
            X,
            labels,
            topics,
            iterations,
            SEED + number,
        )
        for number in range(n_starts)
    ]
    return {
        "dataset": name,
        "n_documents": X.shape[0],
        "n_terms": X.shape[1],
        "length": float(X.sum() / X.shape[0]),
        "n_classes": len(classes),
        "topics": topics,
        "starts": n_starts,
        "iterations": iterations,
        "used": USED,
        "scores": {key: summary([start["scores"][key] for start in starts]) for key in VARIANTS},
        "without": {key: variant.without for key, variant in VARIANTS.items()},
        "shown": [ML_PLSA, BPD],
        "exponential": EXPONENTIAL,
        "exponential_differs": max(start["exponential_differs"] for start in starts),
        "largest_topic_weight": starts[-1]["largest_topic_weight"],
        "classes": classes,
        "averages": starts[0]["averages"],
    }


def _one_start(X: csr_array, labels: NDArray[Any], topics: int, iterations: int, seed: int) -> Results:
    classes = sorted(set(labels))
    scores, fitted, averages = {}, {}, {}
    for key, variant in VARIANTS.items():
        given = {"loss": "kl", "solver": "em"} if variant.model is NMF else {"solver": "em"}
        # With a prior there are as many iterations before it sets in as after.
        rounds = iterations if variant.prior else 2 * iterations
        model = variant.model(
            topics, prior=variant.prior, max_iter=rounds, tol=TOL, random_state=seed, **given
        )
        with iterations_given():
            weights = dense(model.fit_transform(X))
        fitted[key] = dense(model.components_)
        scores[key] = _measures(weights, labels) | {"explained": model.score(X)}
        if key in (ML_PLSA, BPD):
            averages[key] = _averages(weights, labels, classes)
    return {
        "scores": scores,
        "averages": averages,
        "exponential_differs": float(np.abs(fitted[EXPONENTIAL] - fitted[ML_NMF]).max()),
        "largest_topic_weight": float(fitted[ML_NMF].max()),
    }


def dense(X: Any) -> NDArray[np.float64]:
    """An array, whatever a model gave."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)


def _measures(weights: NDArray[np.float64], labels: NDArray[Any]) -> Results:
    shares = normalize(weights, norm="l1")
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    return {
        "nonzeros": float((weights > 0).mean()),
        "used": float((shares >= USED).mean()),
        "effective": float(np.exp(-(shares * logs).sum(axis=1)).mean()),
        "purity": purity(labels, weights.argmax(axis=1)),
    }


def _averages(weights: NDArray[np.float64], labels: NDArray[Any], classes: list[str]) -> list[Any]:
    shares = normalize(weights, norm="l1")
    return [shares[labels == name].mean(axis=0).tolist() for name in classes]


def render(results: Results) -> Section:
    """The section of one data set."""
    figure = f"{results['dataset'].split('_')[0]}-topics"
    text = _TEXT.format(
        **{
            key: results[key]
            for key in ("n_documents", "n_classes", "n_terms", "length", "topics", "used", "iterations")
        },
        starts=count(results["starts"], "random start"),
        fewer=FEWER,
        table=_table(results),
        figure=figure,
        conclusions=_conclusions(results),
    )
    title = TITLES[results["dataset"]]
    return Section(title, text, _findings(results), {figure: _figure(results)})


def _table(results: Results) -> str:
    rows = [
        [
            key,
            percent(run["nonzeros"]),
            percent(run["used"]),
            decimal(run["effective"], 2),
            percent(run["purity"], run["purity_sd"]),
            percent(run["explained"]),
        ]
        for key, run in results["scores"].items()
    ]
    headings = ["model", "non-zeros (%)", "used (%)", "topics per document", "purity (%)", "explained (%)"]
    return table(headings, rows, "lrrrrr")


def _figure(results: Results) -> HeatMaps:
    averages = {key: np.array(results["averages"][key]) for key in results["shown"]}
    first = averages[results["shown"][0]]
    # Topics side by side with the classes they are about, for a diagonal.
    order = np.lexsort((-first.max(axis=0), first.argmax(axis=0)))
    maps = {key: values[:, order].tolist() for key, values in averages.items()}
    return HeatMaps(maps, results["classes"], "topic", "mean share (%)")


def _change(results: Results, key: str) -> tuple[Results, Results]:
    return results["scores"][results["without"][key]], results["scores"][key]


def sparser(before: Results, after: Results) -> bool:
    """Whether documents have fewer topics, by more than starts differ."""
    return bool(after["effective"] < (1 - FEWER) * before["effective"])


def _conclusions(results: Results) -> str:
    lines = []
    for key in results["scores"]:
        if key == results["without"][key] or key == results["exponential"]:
            continue
        before, after = _change(results, key)
        lines.append(
            f"- {key}: documents have {'fewer' if sparser(before, after) else 'about as many'} topics "
            f"({decimal(before['effective'], 2)} → {decimal(after['effective'], 2)}), purity "
            f"{100 * (after['purity'] - before['purity']):+.1f} points, explained "
            f"{100 * (after['explained'] - before['explained']):+.1f} points."
        )
    return "\n".join([*lines, _exponential(results)])


def _exponential(results: Results) -> str:
    """Whether the exponential prior does anything; in theory it does not."""
    key = results["exponential"]
    before, after = _change(results, key)
    moved = results["exponential_differs"] / results["largest_topic_weight"]
    same = not sparser(before, after) and not sparser(after, before)
    verdict = "confirmed: the l1 penalty moves no topic" if moved < UNMOVED else "not confirmed here"
    numerics = (
        ""
        if same
        else " Documents have another number of topics since their weights are found by coordinate descent "
        "without a prior and by expectation-maximisation with one. So for the other priors, too, differences "
        "of this size say nothing."
    )
    return (
        f"- {key}: documents have {'about as many' if same else 'a different number of'} topics "
        f"({decimal(before['effective'], 2)} → {decimal(after['effective'], 2)}), and no weight of a topic "
        f"differs from that of maximum likelihood by more than {moved:.1%} of the largest weight. In theory, "
        "where topics sum to one, this prior only divides all weights by a constant (which is why less is "
        f"explained). This is {verdict}.{numerics}"
    )


def _findings(results: Results) -> list[str]:
    key = results["shown"][1]
    before, after = _change(results, key)
    return [
        f"**{TITLES[results['dataset']]}**: with the paper's prior ({key}), documents use "
        f"{percent(after['used'])} % of the topics instead of {percent(before['used'])} %, and purity goes "
        f"from {percent(before['purity'])} to {percent(after['purity'])} %. The claim that the prior leads "
        f"to fewer topics per document is {'confirmed' if sparser(before, after) else 'not confirmed'}."
    ]
