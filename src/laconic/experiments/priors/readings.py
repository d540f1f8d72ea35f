"""Two readings of the paper's prior, how large eps should be, and what it does to the words of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.evaluate import purity
from laconic.experiments.figures import Chart, Line, Picture
from laconic.experiments.fitting import iterations_given, summary
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.priors.classes import EPS, N_TERMS, TOL, USED, dense, sparser
from laconic.experiments.writing import count, decimal, percent, table
from laconic.models import PLSA
from laconic.priors import PseudoDirichlet

DATASET = "bbc_news"
N_TOPICS, N_STARTS, N_FOLDS, N_WORDS = 10, 2, 3, 8
ML = "maximum likelihood"
# Of eps to choose from by held-out likelihood, topics of a document.
GRID = (0.0005, 0.002, 0.01, EPS, 0.05, 0.2, 1.0)
# Of all words, this share is drawn from the collection: no word that a topic lacks is impossible.
BACKGROUND = 0.01
# Of Figure 1.
SHAPES = (0.01, 0.1, 1.0)

_TEXT = """
The paper's prior can be read in two ways, which are different priors:

- *over the documents of a topic*, P(d|z), as the paper's text has it: these sum to one over documents. In the
  library it is `PseudoDirichlet(eps, over="documents")`.
- *over the topics of a document*, P(z|d), as the paper's figure shows them: these sum to one over topics.
  This is the library's default, `PseudoDirichlet(eps)`, and all numbers above are for it.

With {n_documents:,} documents the shares of P(d|z) are about {share:.1g} on average. The paper's eps of {eps}
is far above that, so that the penalty is nearly the same for every distribution. This is why eps is also
scaled here, to one over the number of documents.

BBC news, {n_topics} topics, {starts}, as above; *used* is the share of P(z|d) of at least {used:.0%};
*documents per topic* is exp of the entropy of P(d|z), mean over topics.

{table}

{conclusion}

### Topic words before and after

These are the {n_words} likeliest words of every topic in one start: by maximum likelihood, and with the prior
over the topics of a document (eps = {eps}), which begins there. Words that come or go are in bold. In the
paper's Figure 2 topics "have subtly shifted" as well.

{words}

### How large should eps be?

The paper would have preferred to choose eps by 5-fold cross-validation, and leaves it for the future. Here
it is, for the prior over the topics of a document, with {folds} folds. Topics are learnt on all folds but
one. Of each document of that fold, half of the words (drawn at random) give its topics, and the likelihood
of the other half is measured. So that no word is impossible, {background:.0%} of its chance is its share of
the collection. Smaller perplexity is better.

{perplexities}

{choice}

### The penalties (Figure 1)

The paper's Figure 1, from its formulas: penalties of one weight, shifted and scaled from 0 to 1, and the
density of the prior for two topics, over the share of the first, scaled to an area of one.

![Penalties of a weight](figure:penalties)

![Density of the prior for two topics](figure:density)
"""


def run(quick: bool, desk: Desk) -> Results:
    """Fit both readings, and choose eps on held-out documents."""
    data: Any = datasets.load(DATASET)
    n_starts, n_folds, iterations = (1, 2, 10) if quick else (N_STARTS, N_FOLDS, 200)
    if quick:
        data = data.where(np.random.default_rng(SEED).permutation(len(data))[:300])
    corpus = data.corpus(max_features=N_TERMS, min_df=2, max_df=0.5, weighting="count")
    kept = np.flatnonzero(np.diff(corpus.counts.indptr))
    X, labels = corpus.counts[kept], np.asarray(data.labels)[kept]
    variants = priors(X.shape[0])
    scores, words = {}, {}
    for name, prior in variants.items():
        runs = [
            desk.keep(f"{name}, start {n}, {iterations}", _fitted, X, labels, prior, iterations, n)
            for n in range(n_starts)
        ]
        scores[name] = summary([run["scores"] for run in runs])
        words[name] = [[str(corpus.vocabulary[term]) for term in topic] for topic in runs[0]["words"]]
    perplexities = {}
    for eps in (None, *GRID):
        folds = [
            desk.keep(
                f"eps {eps}, fold {fold} of {n_folds}, {iterations}",
                perplexity,
                X,
                eps,
                fold,
                n_folds,
                iterations,
            )
            for fold in range(n_folds)
        ]
        perplexities[ML if eps is None else f"{eps:g}"] = folds
    return {
        "n_documents": X.shape[0],
        "n_topics": N_TOPICS,
        "starts": n_starts,
        "folds": n_folds,
        "scores": scores,
        "words": {name: words[name] for name in (ML, _name("topics", EPS))},
        "perplexities": perplexities,
    }


def _name(over: str, eps: float, weight: float = 1.0) -> str:
    what = "topics of a document" if over == "topics" else "documents of a topic"
    return f"{what}, eps {eps:.2g}" + (f", weight {weight:g}" if weight != 1 else "")


def priors(n_documents: int) -> dict[str, PseudoDirichlet | None]:
    """The priors that are compared, by name."""
    scaled = 1 / n_documents
    found: dict[str, PseudoDirichlet | None] = {ML: None, _name("topics", EPS): PseudoDirichlet(EPS)}
    for eps, weight in ((EPS, 1.0), (scaled, 1.0), (scaled, 10.0)):
        found[_name("documents", eps, weight)] = PseudoDirichlet(eps, weight, over="documents")
    return found


def _model(prior: PseudoDirichlet | None, iterations: int, seed: int) -> PLSA:
    rounds = iterations if prior else 2 * iterations
    return PLSA(N_TOPICS, prior=prior, solver="em", max_iter=rounds, tol=TOL, random_state=seed)


def _fitted(X: csr_array, labels: Any, prior: PseudoDirichlet | None, iterations: int, seed: int) -> Results:
    model = _model(prior, iterations, SEED + seed)
    with iterations_given():
        weights = dense(model.fit_transform(X))
    shares = normalize(weights, norm="l1")
    # P(d|z): how the words of a topic are spread over documents.
    spread = normalize((shares * np.asarray(X.sum(axis=1)).reshape(-1, 1)).T, norm="l1")
    return {
        "scores": {
            "used": float((shares >= USED).mean()),
            "effective": float(_effective(shares).mean()),
            "documents": float(_effective(spread).mean()),
            "purity": purity(labels, weights.argmax(axis=1)),
            "explained": model.score(X),
        },
        "words": np.argsort(-model.components_, axis=1, kind="stable")[:, :N_WORDS].tolist(),
    }


def _effective(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many entries rows spread over: exp of their entropy.

    >>> _effective(np.array([[0.5, 0.5, 0.0]]))
    array([2.])
    """
    logs = np.log(rows, where=rows > 0, out=np.zeros_like(rows))
    found: NDArray[np.float64] = np.exp(-(rows * logs).sum(axis=1))
    return found


def halves(X: csr_array, seed: int) -> tuple[csr_array, csr_array]:
    """Every word of every document in one of two halves, at random."""
    first = X.copy()
    first.data = np.random.default_rng(seed).binomial(X.data.astype(np.int64), 0.5).astype(X.dtype)
    second = X.copy()
    second.data = X.data - first.data
    for half in (first, second):
        half.eliminate_zeros()
    return first, second


def perplexity(X: csr_array, eps: float | None, fold: int, n_folds: int, iterations: int) -> float:
    """Of half of the words of held-out documents, whose other half gives their topics."""
    dealt = np.random.default_rng(SEED).permutation(X.shape[0]) % n_folds
    train, test = X[np.flatnonzero(dealt != fold)], X[np.flatnonzero(dealt == fold)]
    model = _model(None if eps is None else PseudoDirichlet(eps), iterations, SEED)
    seen, hidden = halves(test, SEED + fold)
    with iterations_given():
        weights = dense(model.fit(train).transform(seen))
    common = np.asarray(train.sum(axis=0)).ravel() + 1
    chances = (1 - BACKGROUND) * weights @ model.components_ + BACKGROUND * common / common.sum()
    entries = hidden.tocoo()
    return float(np.exp(-(entries.data * np.log(chances[entries.row, entries.col])).sum() / hidden.sum()))


def render(results: Results) -> Section:
    """The section of the page."""
    means = {name: float(np.mean(folds)) for name, folds in results["perplexities"].items()}
    text = _TEXT.format(
        n_documents=results["n_documents"],
        share=1 / results["n_documents"],
        eps=EPS,
        n_topics=results["n_topics"],
        starts=count(results["starts"], "random start"),
        used=USED,
        n_words=N_WORDS,
        table=_table(results),
        conclusion=_conclusion(results),
        words=_words(results),
        folds=results["folds"],
        background=BACKGROUND,
        perplexities=table(
            ["eps", *means],
            [["perplexity", *(f"{value:.0f}" for value in means.values())]],
            "l" + "r" * len(means),
        ),
        choice=_choice(results),
    )
    return Section("Two readings of the prior, and eps", text, _findings(results), _figures())


def best_eps(results: Results) -> str:
    """The eps of the least held-out perplexity, or maximum likelihood."""
    means = {name: float(np.mean(folds)) for name, folds in results["perplexities"].items()}
    return min(means, key=lambda name: means[name])


def _choice(results: Results) -> str:
    means = {name: float(np.mean(folds)) for name, folds in results["perplexities"].items()}
    best = best_eps(results)
    paper = f"{EPS:g}"
    folds = np.array(results["perplexities"][paper]) - np.array(results["perplexities"][ML])
    return (
        f"By held-out likelihood {'eps = ' + best if best != ML else 'no prior at all'} is best on BBC news "
        f"(perplexity {means[best]:.0f}). The paper's eps of {paper} has {means[paper]:.0f}, against "
        f"{means[ML]:.0f} without a prior, and is the better of the two in {int((folds < 0).sum())} of "
        f"{len(folds)} folds."
    )


def _table(results: Results) -> str:
    rows = [
        [
            name,
            percent(run["used"]),
            decimal(run["effective"], 2),
            f"{run['documents']:.0f}",
            percent(run["purity"], run["purity_sd"]),
            percent(run["explained"]),
        ]
        for name, run in results["scores"].items()
    ]
    headings = [
        "prior over",
        "used (%)",
        "topics per document",
        "documents per topic",
        "purity (%)",
        "explained (%)",
    ]
    return table(headings, rows, "lrrrrr")


def which_are_sparser(results: Results) -> dict[str, bool]:
    """Which priors leave documents fewer topics than maximum likelihood."""
    scores = results["scores"]
    return {name: sparser(scores[ML], run) for name, run in scores.items() if name != ML}


def _conclusion(results: Results) -> str:
    found = which_are_sparser(results)
    lines = [
        f"- {name}: documents have {'fewer topics' if less else 'as many topics'} "
        f"({decimal(results['scores'][ML]['effective'], 2)} → "
        f"{decimal(results['scores'][name]['effective'], 2)}), topics "
        f"{results['scores'][ML]['documents']:.0f} → {results['scores'][name]['documents']:.0f} documents."
        for name, less in found.items()
    ]
    return "\n".join(lines)


def _words(results: Results) -> str:
    before, after = results["words"].values()
    rows = []
    for number, (old, new) in enumerate(zip(before, after, strict=True), start=1):
        rows.append([str(number), _marked(old, new), _marked(new, old)])
    return table(["", "maximum likelihood", "with the prior"], rows, "rll")


def _marked(words: list[str], others: list[str]) -> str:
    return " ".join(word if word in others else f"**{word}**" for word in words)


def _findings(results: Results) -> list[str]:
    scores = results["scores"]
    over_documents, over_topics = _name("documents", EPS), _name("topics", EPS)
    scaled = _name("documents", 1 / results["n_documents"])
    found = which_are_sparser(results)
    before = decimal(scores[ML]["effective"], 2)

    def told(name: str) -> str:
        change = f"{before} → {decimal(scores[name]['effective'], 2)}"
        return f"{'fewer topics' if found[name] else 'as many topics as before'} ({change})"

    return [
        f"**Two readings**: with the prior over the documents of a topic, as the paper's text has it, and "
        f"its eps of {EPS}, documents have {told(over_documents)}; with eps scaled to the number of "
        f"documents, {told(scaled)}. With the prior over the topics of a document, as the paper's figure has "
        f"it, they have {told(over_topics)}.",
        f"**eps**: {_choice(results)}",
    ]


def _figures() -> dict[str, Picture]:
    x = np.linspace(0, 1, 41)
    penalties = {"l1": x, "log(1 + x) (Pareto)": np.log1p(x) / np.log(2)}
    densities = {}
    fine = np.linspace(0, 1, 2001)
    for eps in SHAPES[:2]:
        penalties[f"log(x + {eps:g})"] = np.log1p(x / eps) / np.log1p(1 / eps)
    for eps in SHAPES:
        raw = 1 / ((fine + eps) * (1 - fine + eps))
        area = float(trapezoid(raw, fine))
        densities[f"eps = {eps:g}"] = Line([(a, 1 / ((a + eps) * (1 - a + eps)) / area) for a in x])
    return {
        "penalties": Chart(
            "Penalties of a weight",
            "weight",
            "penalty, scaled",
            {name: Line(list(zip(x.tolist(), y.tolist(), strict=True))) for name, y in penalties.items()},
            logarithmic=False,
        ),
        "density": Chart(
            "The prior for two topics", "share of the first topic", "density", densities, logarithmic=False
        ),
    }
