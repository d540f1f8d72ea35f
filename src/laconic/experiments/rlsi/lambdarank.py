"""Figure 9 of the paper: LambdaRank with and without the score of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.evaluate.comparison import compare
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.retrieval.contenders import TOL
from laconic.experiments.retrieval.contests import MEASURES
from laconic.experiments.rlsi.ranking import word_budget
from laconic.experiments.writing import decimal, table
from laconic.search.index import SearchIndex
from laconic.search.ltr import Ranker

DATASET = "scifact"
N_TOPICS = 100
LEAST = 20

PLAIN, TOPICS, REDUCED = "LambdaRank", "LambdaRank + RLSI", "LambdaRank + RLSI, fewer terms"

_TEXT = """ SciFact: {n_documents:,} abstracts, {n_train:,} claims to learn from and {n_test:,} to test.
LambdaRank (LightGBM) puts the best {depth} documents of each query in order, by scores of BM25 and VSM,
lengths, and how many of the query's terms a document has; with topics, also by their score ({n_topics}
topics of RLSI with a word budget, in the metric of the Gram matrix), which also helps to find documents.
"Fewer terms": topics of terms in at least {least} documents only ({n_left:,} of {n_terms:,}). The paper had
16 features, PageRank among them, and 6,000 queries of a web search engine to learn from.

{table}

{legend}

{conclusions}
"""


def run(quick: bool, say: Say) -> Results:
    """Learn from the training queries, and rank the others."""
    data: Any = datasets.load(DATASET)
    say(f"{DATASET}: counting words")
    corpus = data.corpus(min_df=1, stemmer="english", weighting="log-entropy")
    train, test = data.split("train"), data.split("test")
    learning = dict(list(train.queries.items())[: 50 if quick else None])
    topics, iterations = (10, 5) if quick else (N_TOPICS, 200)
    frequent = np.bincount(corpus.counts.indices, minlength=corpus.shape[1]) >= LEAST
    runs, importance = {}, {}
    for name, mask in ((TOPICS, None), (REDUCED, frequent)):
        say(f"{DATASET}: topics for {name}")
        X = corpus.X if mask is None else _kept(corpus.X, mask)
        model = word_budget(topics, corpus.shape[1], tol=TOL, random_state=SEED, max_iter=iterations)
        with iterations_given():
            index = SearchIndex(corpus, model.fit(X))
        if name == TOPICS:
            runs["BM25"] = index.run(test.queries, blend=0.0)
            runs["BM25 + RLSI"] = index.run(test.queries)
            say(f"{DATASET}: {PLAIN}")
            ranker = Ranker(index, topics=False, random_state=SEED).fit(learning, train.qrels)
            runs[PLAIN] = ranker.rank(test.queries)
        say(f"{DATASET}: {name}")
        ranker = Ranker(index, random_state=SEED).fit(learning, train.qrels)
        runs[name] = ranker.rank(test.queries)
        importance[name] = ranker.importance
    compared = compare(test.qrels, runs, baseline=PLAIN, measures=MEASURES)
    pair = compare(test.qrels, {name: runs[name] for name in (TOPICS, REDUCED)}, measures=["AP"])
    return {
        "n_documents": len(data),
        "n_terms": corpus.shape[1],
        "n_left": int(frequent.sum()),
        "n_train": len(learning),
        "n_test": len(test.queries),
        "n_topics": topics,
        "depth": ranker.depth,
        "least": LEAST,
        "names": list(runs),
        "scores": {name: scores.mean for name, scores in compared.scores.items()},
        "marks": {name: {m: compared.mark(m, name) for m in MEASURES} for name in runs},
        "p_value": compared.tests["AP"][TOPICS].p_value,
        "difference": compared.tests["AP"][TOPICS].difference,
        "reduced_p_value": pair.tests["AP"][REDUCED].p_value,
        "reduced_difference": pair.tests["AP"][REDUCED].difference,
        "importance": importance,
        "legend": compared.legend,
    }


def _kept(X: csr_array, mask: Any) -> csr_array:
    """Documents without some terms, of length one again."""
    kept = csr_array(X @ diags_array(mask.astype(X.dtype)))
    kept.eliminate_zeros()
    return csr_array(normalize(kept))


def render(results: Results) -> Section:
    """The section about learning to rank."""
    rows = [
        [name, *(f"{results['scores'][name][m]:.3f}{results['marks'][name][m]}" for m in MEASURES)]
        for name in results["names"]
    ]
    share = 100 * results["importance"][TOPICS]["topics"]
    text = _TEXT.format(
        **{
            key: results[key]
            for key in ("n_documents", "n_terms", "n_left", "n_train", "n_test", "n_topics", "depth", "least")
        },
        table=table(["", "MAP", *MEASURES[1:]], rows, "l" + "r" * len(MEASURES)),
        legend=results["legend"].replace(" + and - mark what", " A + or - marks what"),
        conclusions="\n".join(
            [
                f"- *The topics' score improves LambdaRank*: {_verdict(results, '', 1)}. Of all that the "
                f"trees gain, {share:.1f} % comes from that score.",
                f"- *Topics of fewer terms are worse*: {_verdict(results, 'reduced_', -1)}.",
            ]
        ),
    )
    findings = [
        f"**LambdaRank** on SciFact: mean average precision is {decimal(results['scores'][PLAIN]['AP'])} "
        f"without topics and {decimal(results['scores'][TOPICS]['AP'])} with them, over its "
        f"{results['n_test']:,} test claims alone ({results['difference']:+.4f}, p = "
        f"{results['p_value']:.2g}): no difference can be seen there."
        if results["p_value"] >= 0.05
        else f"**LambdaRank** on SciFact: {_verdict(results, '', 1)}."
    ]
    return Section("Learning to rank (Figure 9)", text, findings)


def _verdict(results: Results, prefix: str, sign: int) -> str:
    difference, p_value = results[f"{prefix}difference"], results[f"{prefix}p_value"]
    if difference * sign <= 0:
        word = "not confirmed"
    else:
        word = "confirmed" if p_value < 0.05 else "not confirmed (the difference may be chance)"
    return f"{word} ({difference:+.4f} MAP, p = {p_value:.2g})"
