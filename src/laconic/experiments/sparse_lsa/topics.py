"""Topics of NIPS papers, by non-negative Sparse LSA and by LDA: Tables 4 and 5 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic import datasets
from laconic.corpus import Corpus
from laconic.evaluate import coherence, diversity
from laconic.experiments.fitting import iterations_given, summary
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.sparse_lsa import paper
from laconic.experiments.sparse_lsa.claims import verdict
from laconic.experiments.sparse_lsa.projections import (
    LDA,
    LDA_MOST,
    LDA_ROUND,
    LDA_TOL,
    NONNEGATIVE,
    SPARSE_TOL,
    lda,
)
from laconic.experiments.writing import count, decimal, list_of, table
from laconic.models import SparseLSA

TOPICS, SHOWN, N_WORDS = 10, 7, 10
# From the largest on: the first that leaves every topic its ten words is taken.
STRENGTHS = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05)
# What topics are about if they are "closely related to neural network".
NEURAL = frozenset({"neural", "network", "networks"})

_TEXT = """
{n_documents:,} papers of the years 1987 to 1999, {n_terms:,} words; {topics} topics, of which the {shown}
strongest are shown, as in the paper (by the length of their weights; LDA's by their share of all words).
Non-negative Sparse LSA is on tf-idf with documents of length one, with the largest λ of {strengths} that
leaves every topic at least {words} words: {chosen} in the first start, and {lengths} words in its topics.
LDA is scikit-learn's on counts, until {round} more iterations lower the perplexity by less than {tol:g}%:
{iterations} iterations.

In the paper's Table 4, topics 5 to 7 end with the last two words of topics 1 to 3, which must be a mistake;
these are left out, so that three topics have eight words.

### Non-negative Sparse LSA

{sparse}

### LDA

{lda}

### How different the topics are

Means over {starts}, for the {words} first words of the {shown} topics; the paper's are counted in its
tables.

- *different words*: share of the words in the lists that are not there already
- *shared*: mean number of words that two topics have in common
- *neural*: topics with "neural", "network" or "networks" among their words, of {shown}
- *NPMI*: how often words of a topic occur together in papers, from -1 to 1, 0 for words that are independent
- *found again*: mean share of a topic's words of the paper's Table 4 that are in the one topic of ours that
  has most of them

{measures}

In short, {conclusion}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Fit both models, and compare the first words of their topics with each other and with the paper's."""
    data = datasets.load("nips12")
    starts, most, strengths = (1, 5, STRENGTHS[3::3]) if quick else (2, LDA_MOST, STRENGTHS)
    corpus = data.corpus(weighting="tfidf")
    X, counts = corpus.X, data.counts
    if quick:
        X, counts = X[:300], counts[:300]
    found: dict[str, list[Results]] = {NONNEGATIVE: [], LDA: []}
    for number in range(starts):
        place, seed = f"nips12, start {number + 1}", SEED + number
        sparse = desk.keep(
            f"{place}: {NONNEGATIVE}, {len(strengths)} λ", _by_sparse_lsa, X, strengths, seed, data.vocabulary
        )
        dense = desk.keep(
            f"{place}: LDA, until {LDA_TOL:g} or {most} iterations",
            _by_lda,
            counts,
            seed,
            most,
            data.vocabulary,
        )
        found[NONNEGATIVE].append(sparse)
        found[LDA].append(dense)
    theirs = {NONNEGATIVE: paper.TOPICS, LDA: paper.LDA_TOPICS}
    first = found[NONNEGATIVE][0]
    return {
        "topics": {method: runs[0]["topics"] for method, runs in found.items()},
        **{key: first[key] for key in ("chosen", "fewest", "most")},
        "n_documents": X.shape[0],
        "n_terms": X.shape[1],
        "starts": starts,
        "iterations": [run["iterations"] for run in found[LDA]],
        "strengths": strengths,
        "ours": {
            method: summary(
                [measures(run["topics"], corpus) | {"again": found_again(run["topics"])} for run in runs]
            )
            for method, runs in found.items()
        },
        "paper": {
            method: measures([topic.split() for topic in lists], corpus) for method, lists in theirs.items()
        },
    }


def _by_sparse_lsa(X: Any, strengths: Sequence[float], seed: int, vocabulary: NDArray[Any]) -> Results:
    model = sparsest(X, strengths, seed)
    weights = model.components_.toarray()
    strongest = np.argsort(-np.linalg.norm(weights, axis=1), kind="stable")[:SHOWN]
    lengths = np.diff(model.components_.indptr)
    return {
        "topics": first_words(weights[strongest], vocabulary),
        "chosen": model.alpha_topics_,
        "fewest": int(lengths.min()),
        "most": int(lengths.max()),
    }


def _by_lda(counts: Any, seed: int, most: int, vocabulary: NDArray[Any]) -> Results:
    found = lda(counts, TOPICS, seed, most)
    strongest = np.argsort(-found.topics.sum(axis=1), kind="stable")[:SHOWN]
    return {"topics": first_words(found.topics[strongest], vocabulary), **found.notes}


def sparsest(X: Any, strengths: Sequence[float], seed: int) -> SparseLSA:
    """The model with the largest strength that leaves every topic enough words, or with the smallest."""
    for strength in strengths:
        model = SparseLSA(TOPICS, alpha_topics=strength, nonnegative=True, tol=SPARSE_TOL, random_state=seed)
        with iterations_given():
            model.fit(X)
        if np.diff(model.components_.indptr).min() >= N_WORDS:
            break
    return model


def first_words(weights: NDArray[Any], vocabulary: NDArray[Any]) -> list[list[str]]:
    """The heaviest words of every topic; only words that it has.

    Examples
    --------
    >>> first_words(np.array([[0.0, 2.0, 3.0]]), np.array(["a", "b", "c"], dtype=object))
    [['c', 'b']]
    """
    order = np.argsort(-weights, axis=1, kind="stable")[:, :N_WORDS]
    return [
        [str(vocabulary[term]) for term in terms if row[term] > 0]
        for row, terms in zip(weights, order, strict=True)
    ]


def measures(lists: Sequence[Sequence[str]], corpus: Corpus) -> Results:
    """How much the words of topics differ, and how well they go together.

    Examples
    --------
    >>> from laconic import Corpus
    >>> corpus = Corpus.from_texts(["neural nets", "neural nets", "apes"], min_df=1, max_df=1.0)
    >>> found = measures([["neural", "nets"], ["nets", "apes"]], corpus)
    >>> found["different"], found["shared"], found["neural"], abs(round(found["npmi"], 6))
    (0.75, 1.0, 1, 0.0)
    """
    common = [len(set(one) & set(other)) for one, other in combinations(lists, 2)]
    return {
        "different": diversity(lists, N_WORDS),
        "shared": float(np.mean(common)),
        "neural": sum(not NEURAL.isdisjoint(topic) for topic in lists),
        "npmi": coherence(lists, corpus, n_terms=N_WORDS).mean,
    }


def found_again(lists: Sequence[Sequence[str]]) -> float:
    """How much of the paper's topics is in the best of these, as a mean share of words."""
    shares = []
    for topic in paper.TOPICS:
        theirs = set(topic.split())
        shares.append(max(len(theirs.intersection(words)) for words in lists) / len(theirs))
    return float(np.mean(shares))


def render(results: Results) -> Section:
    """The section of the page."""
    text = _TEXT.format(
        n_documents=results["n_documents"],
        n_terms=results["n_terms"],
        topics=TOPICS,
        shown=SHOWN,
        words=N_WORDS,
        strengths=", ".join(f"{strength:g}" for strength in results["strengths"]),
        chosen=f"{results['chosen']:g}",
        lengths=f"{results['fewest']:,} to {results['most']:,}",
        round=LDA_ROUND,
        tol=100 * LDA_TOL,
        iterations=list_of(map(str, results["iterations"])),
        starts=count(results["starts"], "random start"),
        sparse=_words(results["topics"][NONNEGATIVE], paper.TOPICS, "Table 4"),
        lda=_words(results["topics"][LDA], paper.LDA_TOPICS, "Table 5"),
        measures=_measures(results),
        conclusion=_conclusion(results),
    )
    return Section("Topics of NIPS papers (Tables 4 and 5)", text, [f"**NIPS**: {_conclusion(results)}"])


def _words(ours: Sequence[Sequence[str]], theirs: Sequence[str], where: str) -> str:
    rows = [
        [str(number), ", ".join(words), ", ".join(topic.split())]
        for number, (words, topic) in enumerate(zip(ours, theirs, strict=True), start=1)
    ]
    return table(["", "ours", f"paper ({where})"], rows, "rll")


def _measures(results: Results) -> str:
    rows = []
    for method in results["ours"]:
        ours, theirs = results["ours"][method], results["paper"][method]
        rows += [
            [method, "ours", *_cells(ours), f"{100 * ours['again']:.0f}"],
            [method, "paper", *_cells(theirs), ""],
        ]
    headings = ["method", "", "different words (%)", "shared", "neural", "NPMI", "found again (%)"]
    return table(headings, rows, "llrrrrr")


def _cells(measured: Results) -> list[str]:
    return [
        f"{100 * measured['different']:.0f}",
        decimal(measured["shared"], 1),
        f"{measured['neural']:.1f}",
        decimal(measured["npmi"]),
    ]


def _conclusion(results: Results) -> str:
    ours, printed = (
        {m: values[m] for m in (NONNEGATIVE, LDA)} for values in (results["ours"], results["paper"])
    )
    sparse, dense = ours[NONNEGATIVE], ours[LDA]
    different, theirs = ([100 * run["different"] for run in runs.values()] for runs in (ours, printed))
    holds = [different[0] > different[1] + 5, sparse["neural"] < dense["neural"]]
    return (
        f"{different[0]:.0f} % of the leading words are different with non-negative Sparse LSA, and "
        f"{different[1]:.0f} % with LDA (paper: {theirs[0]:.0f} and {theirs[1]:.0f} %). Of {SHOWN} topics, "
        f"{sparse['neural']:.1f} and {dense['neural']:.1f} have words about neural networks (paper: "
        f"{printed[NONNEGATIVE]['neural']} and {printed[LDA]['neural']}). NPMI is {decimal(sparse['npmi'])} "
        f"and {decimal(dense['npmi'])}. LDA's topics differ less from each other: {verdict(holds)}"
    )
