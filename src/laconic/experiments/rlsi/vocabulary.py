"""The end of the paper's Section 6.4: what becomes of ranking when topics see fewer terms."""

from __future__ import annotations

from dataclasses import replace

from laconic.evaluate.retrieval import retrieval_scores
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, fitted_entry
from laconic.experiments.retrieval.contests import contest, describe
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import interval
from laconic.experiments.rlsi.ranking import SHARE, word_budget
from laconic.experiments.writing import decimal, list_of, table

NAMES = ("cranfield", "cacm", "scifact", "time")
# Terms of fewer documents are left out. (The paper leaves out terms that occur less than 100 times in 1.6
# million documents, 97 % of them all.)
LEAST = (1, 2, 5, 20)
N_TOPICS = 100

_TEXT = """ "Reducing the vocabulary size will sacrifice learning accuracy of RLSI and consequently hurt the
retrieval performance", says the paper, of terms that occur less than 100 times. Here topics ({n_topics} of
them, each with as many words as {share:.0%} of the whole vocabulary) see only terms that occur in at least
this many documents, while BM25 keeps all terms. In the last column, BM25 loses them as well. Mean average
precision of queries whose blend was chosen on other queries; the ratio is that to topics of all terms, with
the bootstrap's 95 % interval over queries (one random start of each model: what another start changes is
not in it).

{table}

{conclusions}
"""


def run(quick: bool, say: Say) -> Results:
    """Rank with topics of all terms, and of fewer and fewer."""
    found: Results = {}
    least = LEAST[:2] if quick else LEAST
    for name in ("adi",) if quick else NAMES:
        whole = read_collection(name)
        budget = max(2, int(SHARE * whole.n_terms))
        methods: dict[str, list[Entry]] = {}
        sizes, alone = {}, {}
        for frequency in least:
            say(f"{name}: terms of at least {frequency} documents")
            reduced = read_collection(name, min_df=frequency)
            sizes[str(frequency)] = reduced.n_terms
            alone[str(frequency)] = _terms_alone(reduced)
            model = word_budget(
                min(N_TOPICS, whole.n_documents // 2),
                reduced.n_terms,
                min(1.0, budget / reduced.n_terms),
                tol=TOL,
                random_state=SEED,
            )
            # The topics are of fewer terms, the scores that they are blended with of all.
            methods[str(frequency)] = [
                fitted_entry(replace(reduced, terms=whole.terms), model, {"min_df": frequency})
            ]
        pairs = {str(frequency): str(least[0]) for frequency in least[1:]}
        compared = contest(whole, methods, "BM25", pairs)
        del compared["average_precisions"]
        found[name] = describe(whole) | compared | {"sizes": sizes, "alone": alone}
    return {"collections": found, "least": least, "n_topics": N_TOPICS, "share": SHARE}


def _terms_alone(collection: Collection) -> float:
    """Mean average precision of BM25 with the terms that are left."""
    run = collection.run(collection.terms["BM25"])
    return retrieval_scores(collection.qrels, run, ["AP"]).mean["AP"]


def render(results: Results) -> Section:
    """The section about the vocabulary."""
    rows = []
    for name, each in results["collections"].items():
        for frequency, size in each["sizes"].items():
            pair = each["pairs"].get(frequency)
            rows.append(
                [
                    TITLES[name],
                    frequency,
                    f"{size:,}",
                    decimal(each["held_out"][frequency]["AP"]),
                    decimal(pair["ratio"]) if pair else "",
                    interval(pair["interval"]) if pair else "",
                    decimal(each["alone"][frequency]),
                ]
            )
    headings = ["collection", "documents", "terms", "blend", "ratio", "interval", "BM25 of these terms"]
    text = _TEXT.format(
        n_topics=results["n_topics"],
        share=results["share"],
        table=table(headings, rows, "lrrrrrr"),
        conclusions=_conclusions(results),
    )
    return Section("Fewer terms (Figure 9)", text, [f"**Fewer terms**: {_finding(results)}"])


def _worst(results: Results) -> dict[str, Results]:
    """Of each collection, the comparison of the fewest terms with all."""
    return {name: list(each["pairs"].values())[-1] for name, each in results["collections"].items()}


def _finding(results: Results) -> str:
    worst = _worst(results)
    hurt = [TITLES[name] for name, pair in worst.items() if pair["ratio"] < 1 and pair["p_value"] < 0.05]
    ratios = list_of(f"{decimal(pair['ratio'])} ({TITLES[name]})" for name, pair in worst.items())
    verdict = "confirmed" if len(hurt) == len(worst) else "confirmed in part" if hurt else "not confirmed"
    return (
        f"if topics may only use terms in at least {results['least'][-1]} documents, mean average precision "
        f"is multiplied by {ratios}. The claim that fewer terms hurt is {verdict} for the topics"
        f"{' (the loss is significant on ' + list_of(hurt) + ')' if hurt else ''}."
    )


def _conclusions(results: Results) -> str:
    first, last = (str(results["least"][place]) for place in (0, -1))
    left = {name: each["alone"][last] / each["alone"][first] for name, each in results["collections"].items()}
    topics = {name: pair["ratio"] for name, pair in _worst(results).items()}
    more = [TITLES[name] for name in left if left[name] < topics[name]]
    lost = list_of(f"{decimal(share)} ({TITLES[name]})" for name, share in left.items())
    return (
        f"When BM25 itself loses these terms, it keeps {lost} of its mean average precision: term matching "
        f"suffers more than topics do on {len(more)} of {len(left)} collections. For search, keep all terms "
        "(`min_df=1`)."
    )
