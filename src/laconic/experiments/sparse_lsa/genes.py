"""Components of gene expression, with and without known pathways: Section 5.4 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import hypergeom
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.sparse_lsa import paper
from laconic.experiments.sparse_lsa.claims import verdict
from laconic.experiments.writing import decimal, percent, table
from laconic.models import SparseLSA

COMPONENTS = 5  # as in the paper
# From the largest on: the first that leaves every component groups is taken.
STRENGTHS = tuple(round(0.06 - 0.002 * step, 3) for step in range(21))
# Among these the plain model's strength is chosen, so that it has as many genes, or explains as much.
PLAIN_STRENGTHS = tuple(round(0.16 - 0.004 * step, 3) for step in range(40))
# Measured intensities below this are noise.
FLOOR = 20.0
# A pathway is found in a component if so many of its genes would hardly be there by chance, for all pathways.
CHANCE = 0.05
N_NAMES = 8
# From this area under the curve on, a component tells something about the mutation.
TELLING = 0.7

GROUPED, SAME_STRENGTH, SAME_GENES, SAME_SHARE = (
    "with pathways",
    "plain, the same λ",
    "plain, as many genes",
    "plain, explains as much",
)

_TEXT = """
The paper's {tumours} tumours with {their_genes:,} genes in {their_groups:,} disjoint groups of the gene
ontology are not available; these are {n_samples} cancer cell lines with {n_genes:,} genes in {n_groups}
pathways of {smallest} to {largest} genes, which overlap (a gene is in {memberships:.1f} of them on average).
So only the kind of result can be compared, not the genes. Values are logarithms (base 2, from {floor:g} on;
genes that are never above it are left out) less the gene's mean, and samples have length one; {components}
components, from singular vectors. λ is the largest, in steps of 0.002, at which all {components} components
have pathways: {strength:g} (paper: {their_strength:g}, on data of another scale).

Plain Sparse LSA is shown for the same λ, and for those at which it has about as many genes and at which it
explains about as much.

- *genes*: those with a weight, in each component
- *touched*: pathways with at least one of these genes, of {n_groups}
- *taken whole*: pathways all of whose genes are there
- *part*: of the genes of a pathway that is touched, the mean share that is there
- *found*: pathways with more genes in the component than chance explains (hypergeometric test, {chance:.0%}
  over all pathways)
- *explained*: share of the squared values that all components explain

{table}

### The pathways of the components

In the paper, {their_components} components have {their_total} groups, the second {their_second} of them.
Here {components} components have {total} of {n_groups} pathways:

{pathways}

### What agrees, and what does not

{conclusions}
"""


def run(quick: bool, say: Say) -> Results:
    """Fit the model with pathways, and plain ones that compare with it."""
    data = datasets.load("p53_pathways")
    names = sorted(data.groups)[:40] if quick else list(data.groups)
    X, groups = expression(data.X, {name: data.groups[name] for name in names})
    mutated = np.asarray(data.labels) == "mutated"
    say("p53_pathways: with pathways")
    grouped = _strongest(X, groups)
    say("p53_pathways: plain")
    path = [_fitted(X, strength) for strength in PLAIN_STRENGTHS]
    n_genes, explained = grouped.components_.nnz, grouped.score(X)
    models = {
        GROUPED: grouped,
        SAME_STRENGTH: _fitted(X, grouped.alpha_topics_),
        SAME_GENES: min(path, key=lambda model: abs(model.components_.nnz - n_genes)),
        SAME_SHARE: min(path, key=lambda model: abs(model.score(X) - explained)),
    }
    sizes = [len(members) for members in groups.values()]
    tables = [grouped.group_table(number) for number in range(COMPONENTS)]
    return {
        "n_samples": X.shape[0],
        "n_genes": X.shape[1],
        "n_groups": len(groups),
        "smallest": min(sizes),
        "largest": max(sizes),
        "memberships": sum(sizes) / X.shape[1],
        "models": {name: _facts(model, X, groups, mutated) for name, model in models.items()},
        "pathways": [[[name, size] for name, _, size in chosen[:N_NAMES]] for chosen in tables],
        "chosen": [len(chosen) for chosen in tables],
        "total": len({name for chosen in tables for name, _, _ in chosen}),
        "paper": paper.GENES,
    }


def expression(
    values: NDArray[Any], groups: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.int64]]]:
    """How far genes are above or below their mean, as logarithms, with samples of length one.

    Returns
    -------
    X : ndarray of shape (n_samples, n_genes)
        Only genes of the groups whose values differ: others can have no weight.
    groups : dict of str to ndarray
        The columns of X that are in each group.

    Examples
    --------
    >>> X, groups = expression(np.array([[1, 40, 2], [2, 80, 160]]), {"a": np.array([0, 2])})
    >>> X.tolist(), groups["a"].tolist()
    ([[-1.0], [1.0]], [0])
    """
    logs = np.log2(np.maximum(values.astype(np.float64), FLOOR))
    logs -= logs.mean(axis=0)
    members = np.zeros(logs.shape[1], bool)
    members[np.concatenate(list(groups.values()))] = True
    genes = np.flatnonzero(members & (np.ptp(values.clip(FLOOR), axis=0) > 0))
    kept = {name: np.flatnonzero(np.isin(genes, columns)) for name, columns in groups.items()}
    return np.asarray(normalize(logs[:, genes])), kept


def _fitted(X: NDArray[Any], strength: float, groups: Any = None) -> SparseLSA:
    model = SparseLSA(
        COMPONENTS, alpha_topics=strength, groups=groups, init="svd", tol=1e-4, random_state=SEED
    )
    with iterations_given():
        return model.fit(X)


def _strongest(X: NDArray[Any], groups: Mapping[str, NDArray[Any]]) -> SparseLSA:
    """The model of the largest strength at which all components have groups."""
    for strength in STRENGTHS:
        model = _fitted(X, strength, groups)
        if np.diff(model.components_.indptr).min() > 0:
            break
    return model


def _facts(
    model: SparseLSA, X: NDArray[Any], groups: Mapping[str, NDArray[Any]], mutated: NDArray[np.bool_]
) -> Results:
    rows = model.components_.toarray() != 0
    areas = [roc_auc_score(mutated, values) for values in csr_array(model.transform(X)).toarray().T]
    return {
        "strength": model.alpha_topics_,
        "explained": model.score(X),
        "components": [overlap(genes, groups) for genes in rows],
        # A component has no direction.
        "mutation": max(max(area, 1 - area) for area in areas),
    }


def overlap(genes: NDArray[np.bool_], groups: Mapping[str, NDArray[Any]]) -> Results:
    """What a set of genes has of pathways.

    Examples
    --------
    >>> pathways = {"a": np.array([0, 1]), "b": np.array([1, 2, 3, 4]), "c": np.array([5])}
    >>> found = overlap(np.array([True, True, False, False, False, False]), pathways)
    >>> found["genes"], found["touched"], found["whole"], found["part"]
    (2, 2, 1, 0.625)
    """
    sizes = np.array([len(members) for members in groups.values()])
    common = np.array([int(genes[members].sum()) for members in groups.values()])
    touched = common > 0
    # As likely as this, or less, if as many genes were drawn at random.
    chance = hypergeom.sf(common - 1, len(genes), sizes, int(genes.sum()))
    return {
        "genes": int(genes.sum()),
        "touched": int(touched.sum()),
        "whole": int((common == sizes).sum()),
        "part": float((common[touched] / sizes[touched]).mean()) if touched.any() else 0.0,
        "found": int((chance[touched] < CHANCE / len(sizes)).sum()),
    }


def render(results: Results) -> Section:
    """The section of the page."""
    theirs = results["paper"]
    text = _TEXT.format(
        **{
            key: results[key]
            for key in ("n_samples", "n_genes", "n_groups", "smallest", "largest", "memberships", "total")
        },
        tumours=theirs["n_samples"],
        their_genes=theirs["n_genes"],
        their_groups=theirs["n_groups"],
        their_strength=theirs["strength"],
        their_components=theirs["components"],
        their_total=theirs["groups_of_all"],
        their_second=theirs["groups_of_second"],
        floor=FLOOR,
        components=COMPONENTS,
        strength=results["models"][GROUPED]["strength"],
        chance=CHANCE,
        table=_table(results),
        pathways=_pathways(results),
        conclusions="\n".join(f"- {line}" for line in _conclusions(results)),
    )
    return Section("Gene expression and pathways (Section 5.4)", text, [_finding(results)])


def _table(results: Results) -> str:
    rows = [
        [
            name,
            f"{model['strength']:g}",
            *(_listed(model, key) for key in ("genes", "touched", "whole", "found")),
            ", ".join(f"{100 * component['part']:.0f}" for component in model["components"]),
            percent(model["explained"]),
        ]
        for name, model in results["models"].items()
    ]
    headings = ["model", "λ", "genes", "touched", "taken whole", "found", "part (%)", "explained (%)"]
    return table(headings, rows, "lrlllllr")


def _listed(model: Results, key: str) -> str:
    return ", ".join(f"{component[key]:,}" for component in model["components"])


def _pathways(results: Results) -> str:
    rows = [
        [str(number), str(chosen), ", ".join(f"{name} ({size})" for name, size in names)]
        for number, (chosen, names) in enumerate(
            zip(results["chosen"], results["pathways"], strict=True), start=1
        )
    ]
    return table(["component", "pathways", f"the {N_NAMES} heaviest (genes)"], rows, "rrl")


def mean_of(model: Results, key: str) -> float:
    """Of what was counted in every component."""
    return float(np.mean([component[key] for component in model["components"]]))


def _conclusions(results: Results) -> list[str]:
    models = results["models"]
    grouped, same, as_good = models[GROUPED], models[SAME_STRENGTH], models[SAME_SHARE]
    limit = results["paper"]["genes_of_plain"]
    large = [component["genes"] > limit for component in same["components"]]
    taken, plain = (sum_of(model, "whole") for model in (grouped, same))
    return [
        f"Plain components are large (in the paper, of more than {limit} genes): at the same λ, {sum(large)} "
        f"of {COMPONENTS} have more than {limit}, and they touch {mean_of(same, 'touched'):.0f} of "
        f"{results['n_groups']} pathways each. {verdict(large)}",
        f"They do not take pathways: they have {percent(mean_of(same, 'part'))} % of the genes of a pathway "
        f"they touch, and take {plain} pathways whole; with pathways, it is "
        f"{percent(mean_of(grouped, 'part'))} % and {taken} (those that overlap with the ones chosen count "
        f"as touched, too). {verdict([plain < taken, mean_of(same, 'part') < mean_of(grouped, 'part')])}",
        f"With groups, components are easier to read: they are {', '.join(map(str, results['chosen']))} "
        f"pathways, but of {mean_of(grouped, 'genes'):,.0f} genes on average, where plain ones of the same λ "
        f"have {mean_of(same, 'genes'):,.0f}. {verdict(easier(results))}",
        f"What the paper does not say: pathways cost genes. Components of {mean_of(grouped, 'genes'):,.0f} "
        f"genes in pathways explain {percent(grouped['explained'])} %; plain ones explain "
        f"{percent(as_good['explained'])} % with {mean_of(as_good, 'genes'):,.0f}, and "
        f"{percent(models[SAME_GENES]['explained'])} % with about as many.",
        _mutation(grouped["mutation"], same["mutation"]),
    ]


def _mutation(grouped: float, plain: float) -> str:
    told = "is told by none" if max(grouped, plain) < TELLING else "is told to a degree"
    return (
        f"Whether p53 is mutated {told}: the best component has an area under the curve of "
        f"{decimal(grouped, 2)} with pathways, and of {decimal(plain, 2)} without at the same λ (0.5 is "
        "chance, and the best of five is somewhat above it)."
    )


def sum_of(model: Results, key: str) -> int:
    """Of what was counted in every component."""
    return sum(component[key] for component in model["components"])


def easier(results: Results) -> list[bool]:
    """Whether components are fewer pathways than plain ones have genes, and have not more genes either."""
    grouped, same = results["models"][GROUPED], results["models"][SAME_STRENGTH]
    fewer = np.mean(results["chosen"]) < mean_of(same, "genes")
    return [bool(fewer), mean_of(grouped, "genes") <= mean_of(same, "genes")]


def _finding(results: Results) -> str:
    grouped, same = results["models"][GROUPED], results["models"][SAME_STRENGTH]
    return (
        f"**Genes**: {COMPONENTS} components choose {results['total']} of {results['n_groups']} pathways "
        f"(paper: {results['paper']['groups_of_all']} of {results['paper']['n_groups']:,} groups). A plain "
        f"component of the same λ touches {mean_of(same, 'touched'):.0f} pathways, with "
        f"{percent(mean_of(same, 'part'))} % of the genes of each, and takes none whole in "
        f"{sum(not c['whole'] for c in same['components'])} of {COMPONENTS} cases. Components of "
        f"pathways explain {percent(grouped['explained'])} % of the squared values, plain ones "
        f"{percent(same['explained'])} %. Groups make components easier to read: {verdict(easier(results))}"
    )
