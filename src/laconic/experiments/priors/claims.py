"""What the paper on concave priors claims, and how our results judge it."""

from __future__ import annotations

from laconic.experiments.parts import Claim, Results, Verdict, judged, untested
from laconic.experiments.priors.readings import ML, sparser
from laconic.experiments.writing import decimal, list_of


def _sparse(*data: Results) -> Verdict:
    pairs = []
    for results in data:
        before, after = (results["scores"][key] for key in results["shown"])
        pairs.append((results["dataset"], before["effective"], after["effective"]))
    shown = list_of(f"{decimal(a, 2)} → {decimal(b, 2)} on {name}" for name, a, b in pairs)
    return judged(
        [b < 0.98 * a for _, a, b in pairs],
        "Read as a prior on the topics of a document, as in the paper's figure: topics per document go "
        f"{shown}.",
    )


def _literal(results: Results) -> Verdict:
    found = {name: less for name, less in sparser(results).items() if name.startswith("documents")}
    scores = results["scores"]
    shown = list_of(f"{decimal(scores[name]['effective'], 2)} ({name})" for name in found)
    return judged(
        list(found.values()),
        f"Read as a prior on the documents of a topic, as in the paper's text: topics per document go from "
        f"{decimal(scores[ML]['effective'], 2)} to {shown}.",
    )


def _toothless(*data: Results) -> Verdict:
    moved = [results["exponential_differs"] / results["largest_topic_weight"] for results in data]
    return judged(
        [value < 0.01 for value in moved],
        f"With the exponential prior, no weight of a topic moves by more than {max(moved):.1%} of the "
        "largest: all weights are only divided by a constant, for NMF as for PLSA.",
    )


def _pareto(*data: Results) -> Verdict:
    pairs = [
        (results["scores"]["NMF"]["effective"], results["scores"]["NMF, Pareto 1"]["effective"])
        for results in data
    ]
    shown = list_of(f"{decimal(a, 2)} → {decimal(b, 2)}" for a, b in pairs)
    return judged([b < 0.98 * a for a, b in pairs], f"NMF, topics per document: {shown}.")


def _shifted(results: Results) -> Verdict:
    before, after = results["words"].values()
    changed = [len(set(new) - set(old)) for old, new in zip(before, after, strict=True)]
    return judged(
        [sum(changed) > 0],
        f"With the prior, {sum(changed)} of {sum(map(len, before))} leading words are new, in "
        f"{sum(n > 0 for n in changed)} of {len(changed)} topics; whether these are better is not said.",
    )


_COLLECTIONS = ("bbc_news", "20newsgroups")
CLAIMS = (
    Claim("The bounded pseudo-Dirichlet prior makes topics sparse", "Figure 2", _sparse, _COLLECTIONS),
    Claim("The same, by the letter of the text", "Section 3.4", _literal, ("readings",)),
    Claim("l1 is toothless where weights sum to one", "Section 5", _toothless, _COLLECTIONS),
    Claim("The Pareto prior makes NMF sparse", "Section 3.2", _pareto, _COLLECTIONS),
    Claim("Topics shift subtly", "Section 4", _shifted, ("readings",)),
    Claim(
        "The average topics of ten categories of blogs",
        "Figure 2",
        untested("The blogs are not at hand, and the figure has no numbers."),
    ),
)
CHANGED = (
    "**Readings.** The prior over the documents of a topic, and the choice of eps, were added after the "
    "results of the other reading had been seen.",
    "Whether other settings were changed before the first results were stored was not recorded.",
)
FUTURE = (
    "*eps by cross-validation*: above, under *How large should eps be?*, by the likelihood of held-out "
    "words.",
)
