"""The page's section about rankings: tables, and what they say about the paper's claims."""

from __future__ import annotations

from laconic.experiments.parts import Results, Section
from laconic.experiments.retrieval.collections import TERMS, TITLES
from laconic.experiments.retrieval.contests import MEASURES
from laconic.experiments.retrieval.tables import interval, marked
from laconic.experiments.rlsi.ranking import BUDGET, LSI, PAPER, TRIED, TRIED_LSI
from laconic.experiments.writing import decimal, list_of, table

# What counts as good as LSI: so much of its mean average precision.
AS_GOOD = 0.99
LEVEL = 0.05

_TEXT = """ The paper's AP and WSJ are not free, and of OHSUMED only a part without queries is at
hand; we used {collections}.
English stop words are removed and words stemmed; all other terms are kept. Term scores are divided by the
best score of each query and blended with topic scores in steps of 0.05. Models with squared loss get
log-entropy weights, PLSA and LDA counts. Topics are compared in the metric of their Gram matrix (the cosine
of what the weights stand for), except for LDA.

Grids: {sizes} topics for LSI and for the word budget (topics of {share:.0%} of the terms, non-negative,
alpha_docs {alpha_docs:g}); {few}. The paper shows the best of its grid. "Held out" is more honest: the
parameters and the blend for every query were chosen on other queries, by mean average precision, in ten
folds. Numbers are trec_eval's, for the first 1,000 documents. A + or - marks results that are significantly
better or worse than {terms} alone (paired t-test, p < {level:g}, corrected by Holm's method).

The grids of LSI and of the word budget have the same size. Those of the other models, which take longer,
are smaller, so their numbers are probably too low (*The same grids for all*, below, corrects that). The
search before the grids was not equally long either. Non-negative topics and the size of
alpha_docs were chosen on {tuned} and checked on CACM and NPL, term weights on Cranfield, CACM and TIME, and
the numbers of topics after looking at nearly all collections. The number of settings of RLSI tried was
about {tried}; that of LSI was about {tried_lsi}. Holding out queries
protects against the choice within a grid, but not against this. *Other starts*, below, has the collections
where no such choice was made.

### Mean average precision, blended with BM25, held out

{held_out}

### Mean average precision, blended with VSM, held out

{vsm}

### Mean average precision, blended with BM25, best of the grid

{grid}

### Sparse topics against dense ones

Mean average precision (held out) of RLSI with a word budget compared with LSI, with a 95 % bootstrap
interval over queries, and the density of the chosen topics.

{ratios}

{pooled}

### All measures

{measures}

{conclusions}
"""


def render(results: Results) -> Section:
    """The section about rankings."""
    found = results["collections"]
    text = _TEXT.format(
        collections=list_of(
            f"{TITLES[name]} ({each['n_documents']:,} documents, {each['n_terms']:,} terms, "
            f"{each['n_queries']:,} queries)"
            for name, each in found.items()
        ),
        sizes=list_of(map(str, results["sizes"])),
        share=results["share"],
        alpha_docs=results["alpha_docs"],
        few="; ".join(
            f"{list_of(map(str, sizes))} for {method}" for method, sizes in results["few_sizes"].items()
        )
        + f", times penalties of {list_of(f'{alpha:g}' for alpha in results['alphas'])} on topics and 0.1 on "
        "documents",
        terms=" or ".join(TERMS),
        level=LEVEL,
        tuned=list_of(TITLES[name] for name in results["tuned"]),
        tried=list_of(f"{n} on {TITLES[name]}" for name, n in TRIED.items() if name in found),
        tried_lsi=list_of(f"{n} on {TITLES[name]}" for name, n in TRIED_LSI.items() if name in found),
        held_out=_across(results, "BM25", "held_out"),
        vsm=_across(results, "VSM", "held_out"),
        grid=_across(results, "BM25", "grid"),
        ratios=_ratios(results),
        pooled=_pooled(results),
        measures=_measures(results),
        conclusions=_conclusions(results),
    )
    return Section("Rankings (Figures 6 to 8)", text, _findings(results))


def _across(results: Results, terms: str, kind: str) -> str:
    found = results["collections"]
    rows = [
        [
            name if name == terms else f"{terms} + {name}",
            *(
                marked(each[terms], name, "AP")
                if kind == "held_out"
                else decimal(each[terms][kind][name]["AP"])
                for each in found.values()
            ),
        ]
        for name in (terms, *results["methods"])
    ]
    return table(["", *(TITLES[name] for name in found)], rows, "l" + "r" * len(found))


def _ratios(results: Results) -> str:
    rows = []
    for name, each in results["collections"].items():
        pair, chosen = each["BM25"]["pairs"][BUDGET], each["BM25"]["chosen"][BUDGET]
        rows.append(
            [
                TITLES[name],
                decimal(each["BM25"]["held_out"][LSI]["AP"]),
                decimal(each["BM25"]["held_out"][BUDGET]["AP"]),
                decimal(pair["ratio"]),
                interval(pair["interval"]),
                f"{100 * chosen['held_out_density']:.1f}",
                str(each["BM25"]["chosen"][LSI]["settings"]["K"]),
                str(chosen["settings"]["K"]),
            ]
        )
    headings = ["", "LSI", "RLSI", "ratio", "interval", "density (%)", "topics, LSI", "topics, RLSI"]
    return table(headings, rows, "lrrrrrrr")


def _pooled(results: Results) -> str:
    lines = []
    for method, pooled in results["pooled"].items():
        every = pooled["all_queries"]
        lines.append(
            f"- {method}: {decimal(pooled['ratio'])} of LSI's mean over the collections "
            f"({interval(pooled['interval'])}); over all queries together {decimal(every['ratio'])} "
            f"({interval(every['interval'])})."
        )
    elsewhere = results["pooled_elsewhere"]
    return (
        "Pooled over all collections, each method against LSI:\n\n"
        + "\n".join(lines)
        + f"\n\nWithout {list_of(TITLES[name] for name in results['tuned'])}, the word budget has "
        f"{decimal(elsewhere['ratio'])} of LSI's mean over the collections "
        f"({interval(elsewhere['interval'])})."
    )


def _measures(results: Results) -> str:
    rows = [
        [TITLES[name], method, *(marked(each["BM25"], method, measure) for measure in MEASURES)]
        for name, each in results["collections"].items()
        for method in ("BM25", *results["methods"])
    ]
    return table(["", "BM25 +", "MAP", *MEASURES[1:]], rows, "ll" + "r" * len(MEASURES))


def _significant(results: Results, method: str, terms: str = "BM25") -> list[str]:
    return [
        TITLES[name]
        for name, each in results["collections"].items()
        if each[terms]["significant"][method]["AP"] == "+"
    ]


def _conclusions(results: Results) -> str:
    found = results["collections"]
    total = len(found) * len(results["methods"])
    above = {terms: sum(len(_significant(results, m, terms)) for m in results["methods"]) for terms in TERMS}
    winners = [
        max((each["BM25"]["grid"][method]["AP"], method) for method in results["methods"])[1]
        for each in found.values()
    ]
    first = sum(winner == PAPER for winner in winners)
    worse = [
        TITLES[name]
        for name, each in found.items()
        if each["BM25"]["pairs"][BUDGET]["ratio"] < 1 and each["BM25"]["pairs"][BUDGET]["p_value"] < LEVEL
    ]
    with_lsi, with_rlsi = _significant(results, LSI), _significant(results, BUDGET)
    missed = [name for name in with_lsi if name not in with_rlsi]
    return "\n".join(
        [
            "- *Topic models improve on term matching, mostly significantly*: held out, "
            f"{above['BM25']} of {total} improve significantly on BM25 here, and {above['VSM']} of {total} "
            "on VSM.",
            f"- *RLSI is slightly better than the others*: the paper's RLSI ({PAPER}) is the best of all "
            f"grids on {first} of {len(found)} collections; the winners are {list_of(winners)}.",
            f"- RLSI with a word budget is significantly worse than LSI on {list_of(worse) or 'none'} of the "
            f"collections (paired t-test, not corrected). LSI is significantly above BM25 on "
            f"{list_of(with_lsi) or 'none'}, RLSI with a word budget on {list_of(with_rlsi) or 'none'}"
            + (f"; it misses {list_of(missed)}." if missed else "."),
        ]
    )


def _findings(results: Results) -> list[str]:
    pooled = results["pooled"][BUDGET]
    density = max(
        each["BM25"]["chosen"][BUDGET]["held_out_density"] for each in results["collections"].values()
    )
    if pooled["ratio"] < AS_GOOD:
        verdict = "is not as good"
    elif pooled["interval"][0] < AS_GOOD:
        verdict = "is as good, as far as this number of queries can tell"
    else:
        verdict = "is as good"
    paper, elsewhere = results["pooled"][PAPER], results["pooled_elsewhere"]
    return [
        f"**Sparse topics and dense ones**: RLSI with a word budget reaches {decimal(pooled['ratio'])} times "
        f"LSI's mean average precision over the collections ({interval(pooled['interval'])}), held out, with "
        f"at most {100 * density:.1f} % of the terms in a topic. Its settings were first chosen on "
        f"{list_of(TITLES[name] for name in results['tuned'])}; on the other collections, it is "
        f"{decimal(elsewhere['ratio'])} times ({interval(elsewhere['interval'])}). If {AS_GOOD:g} counts as "
        f"equal, it {verdict}. The paper's own RLSI reaches {decimal(paper['ratio'])} times LSI's "
        f"({interval(paper['interval'])}).",
        f"**Term matching**: LSI is significantly better than BM25 on "
        f"{list_of(_significant(results, LSI)) or 'none'} of the collections. RLSI with a word budget is on "
        f"{list_of(_significant(results, BUDGET)) or 'none'}.",
    ]
