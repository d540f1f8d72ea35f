"""What the paper on concave priors claims, and how our results judge it."""

from __future__ import annotations

from laconic.experiments.parts import Claim, Results, Verdict, judged, untested
from laconic.experiments.priors.classes import FEWER, ML_NMF, PARETO, TITLES, UNMOVED, sparser
from laconic.experiments.priors.readings import ML, which_are_sparser
from laconic.experiments.writing import decimal, list_of

# The share of leading words that may be new where topics shift subtly.
SUBTLE = 0.25


def _sparse(*data: Results) -> Verdict:
    pairs = [[results["scores"][key] for key in results["shown"]] for results in data]
    names = [TITLES[results["dataset"]] for results in data]
    return judged(
        [sparser(before, after) for before, after in pairs],
        "Read as a prior on the topics of a document, as in the paper's figure, it leaves documents fewer "
        f"topics: {list_of(f'{_change(*pair)} on {name}' for pair, name in zip(pairs, names, strict=True))}.",
    )


def _change(before: Results, after: Results) -> str:
    """How many topics documents have without the prior and with it."""
    return f"{decimal(before['effective'], 2)} → {decimal(after['effective'], 2)}"


def _literal(results: Results) -> Verdict:
    found = {name: less for name, less in which_are_sparser(results).items() if name.startswith("documents")}
    scores = results["scores"]
    changes = list_of(
        f"{decimal(scores[name]['effective'], 2)} with {name.removeprefix('documents of a topic, ')}"
        for name in found
    )
    return judged(
        list(found.values()),
        "Read as a prior on the documents of a topic, as in the paper's text, it changes topics per document "
        f"from {decimal(scores[ML]['effective'], 2)} to {changes}; up to {FEWER:.0%} count as no change.",
    )


def _toothless(*data: Results) -> Verdict:
    moved = [results["exponential_differs"] / results["largest_topic_weight"] for results in data]
    return judged(
        [value < UNMOVED for value in moved],
        f"With the exponential prior, no weight of a topic moves by more than {max(moved):.1%} of the "
        "largest. Even for NMF, where topics sum to one, it only divides documents' weights by a constant.",
    )


def _pareto(*data: Results) -> Verdict:
    pairs = [[results["scores"][key] for key in (ML_NMF, PARETO)] for results in data]
    return judged(
        [sparser(*pair) for pair in pairs],
        f"Topics per document go {list_of(_change(*pair) for pair in pairs)}.",
    )


def _shifted(results: Results) -> Verdict:
    before, after = results["words"].values()
    changed = [len(set(new) - set(old)) for old, new in zip(before, after, strict=True)]
    total = sum(map(len, before))
    return judged(
        [0 < sum(changed) <= SUBTLE * total],
        f"With the prior, {sum(changed)} of {total} leading words are new, in "
        f"{sum(n > 0 for n in changed)} of {len(changed)} topics; maximum likelihood had as many iterations. "
        f"Some, and at most {SUBTLE:.0%}, count as subtle. The paper does not say that they are better.",
    )


_COLLECTIONS = ("bbc_news", "20newsgroups")
CLAIMS = (
    Claim(
        "The bounded pseudo-Dirichlet prior leaves documents fewer topics", "Figure 2", _sparse, _COLLECTIONS
    ),
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
    "**Fewer topics** was a change of more than 2 % at first. Now it is one of more than 5 %, since the "
    "exponential prior, which should change nothing, had been seen to change 3 %.",
    "Whether other settings were changed before the first results were stored was not recorded.",
)
FUTURE = (
    "*eps by cross-validation*: above, under *How large should eps be?*, by the likelihood of held-out "
    "words. The prior and its eps can be chosen in any fit ([PLSA](../plsa.md)).",
)
