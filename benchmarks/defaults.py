"""What the defaults are chosen by: weights of words and starts, on collections that were not all looked at.

    python -m benchmarks.defaults [--json FILE] [--page FILE]
    python -m benchmarks.defaults --only-priors      the last table alone

Needs data sets: `laconic datasets` says where they are looked for. Results are kept in the JSON file as they
come, so that a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.report import Columns, Report
from scipy.sparse import issparse
from sklearn import decomposition
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from laconic import NMF, PLSA, RLSI, Corpus, datasets
from laconic.evaluate import coherence, diversity, topic_overlap
from laconic.priors import Pareto, PseudoDirichlet

K = 20
CHOSEN_ON = ("20newsgroups", "ohsumed23", "reuters21578")
CONFIRMED_ON = ("bbc_news", "octis_m10", "dblp4")
WEIGHTINGS: Mapping[str, Mapping[str, Any]] = {
    "tf-idf": {"weighting": "tfidf"},
    "sublinear tf-idf": {"weighting": "tfidf", "sublinear_tf": True},
    "log-entropy": {"weighting": "log-entropy"},
    "bm25": {"weighting": "bm25"},
}
COUNTS = "counts"
FEWEST_OF_LABEL = 50
JUNK = 0.1
"""A topic with less NPMI than this on documents that it was not fitted on is called junk."""

PAGE = """# Weights and starts: how the defaults were chosen

{headline}

Written by `python -m benchmarks.defaults`. Each fit finds K = 20 topics in a random half of the documents,
on one thread.

- *NPMI* is counted on the other half, from the ten heaviest words of each topic.
- *Junk* is the share of topics with an NPMI below 0.1.
- *Diversity* is the share of distinct words among the ten words of all topics.
- *Stability* is the share of the 20 heaviest words that the topics of two halves have in common, with
  topics paired so that they have as much in common as possible.
- *Accuracy* is that of logistic regression on the weights, trained on the half that was fitted and tested
  on the other.
- *Seconds* are CPU time.

Choices were made on 20newsgroups, ohsumed23 and reuters21578 (documents with exactly one topic, among
topics with at least 50 documents). They were then confirmed on bbc_news, octis_m10 and dblp4. The tables of
weights for these were not looked at before; the starts for bbc_news had been.

- **Weights: log-entropy.** BM25 was the first choice, with the best NPMI, diversity and junk on the
  collections used to choose. It was not confirmed: on the other three its topics come back least often,
  and for NMF their NPMI is the lowest. Log-entropy weights have higher NPMI, diversity and accuracy than
  tf-idf on both sets of collections. Topics of tf-idf come back more often on the three to confirm (by
  .015, of NMF by .004), but not on the three to choose.
- **Start: singular vectors**, for the word budget and for NMF, turned until each has few large words
  (varimax). Starts were chosen on the first three collections and confirmed on the others. In the mean
  over either three, as many words come back as with scikit-learn's NMF; the table before the last has
  each collection, with errors of the jackknife over halves. More halves were looked at after the first
  ten: over 24 of 20newsgroups the word budget has .674 (its ten have .666).

  Other things that were tried: singular vectors have to be exact (over 20newsgroups .607 with three plain
  rounds of subspace iteration, .653 with seven, .678 with fourteen; eight Chebyshev rounds, .672, cost
  what eleven plain ones do). Settling turned vectors by NMF (.675), all terms in place of 16,000 (.681), a
  budget that narrows over six iterations (.672) and nndsvda's filling (.630) bring nothing. Four Chebyshev
  rounds over 48 vectors do as well as eight over 30, with nine passes over the documents in place of
  seventeen; three rounds over 64 vectors are worse on 20newsgroups (.666 against .697, with the starts of
  that time).
- **Rare terms are left out of the start.** It looks at the 12,000 most frequent terms, and at no more than
  there are documents, but at least 4,000. Before, it was 16,000 for all, and vectors were turned by the loads
  of 2,000 terms in place of 500. What fewer terms change, over ten halves:

  | | stability, 16,000 terms | 8,000 | 4,000 | NPMI, 16,000 terms | 8,000 | 4,000 |
  | --- | --- | --- | --- | --- | --- | --- |
  | ohsumed23 | .566 | .576 | .579 | .274 | .279 | .279 |
  | reuters21578 | .787 | .785 | .788 | .304 | .304 | .303 |
  | bbc_news | .560 | .562 | .562 | .372 | .376 | .394 |
  | dblp4 | .457 | .457 | .458 | .145 | .145 | .142 |

  So few terms do for few documents. 20newsgroups, the largest, wants more: over 24 halves, 16,000 terms have
  .680, 12,000 .673, 9,400 (as many as documents) .674 and 8,000 .658, with an NPMI of .353 to .356. The rule
  was chosen on the first three; bbc_news and dblp4 confirm it. octis_m10 has fewer terms.
- **What the start costs**, in iterations of the fit, by CPU time on one thread, checks and columns of the
  matrix included (`python -m benchmarks.starts`; of three runs, the one with the median ratio):

  | | start, ms | an iteration, ms | start in iterations | before rare terms were left out |
  | --- | --- | --- | --- | --- |
  | 20newsgroups | 125 | 45 | 2.8 | 3.2 |
  | ohsumed23 | 64 | 23 | 2.8 | 4.8 |
  | reuters21578 | 57 | 22 | 2.6 | 3.1 |
  | bbc_news | 30 | 11 | 2.9 | 4.9 |
  | octis_m10 | 19 | 9 | 2.2 | 2.6 |
  | dblp4 | 24 | 11 | 2.1 | 3.3 |

  At scale it is 1.0 for 100,000 generated documents with 100,000 terms and 100 topics (the whole fit, 3
  iterations, took 4.2 s; from documents 10.8 s, to a higher objective). For `GroupRLSI`, started from
  documents, it is 2.2 on 280,000 documents with 200,000 terms, 25 classes and 1,100 topics. With half as
  many documents and terms it is 6.6 of its shorter iterations: topics narrow on a sample, which does not
  shrink with them. `--only scale groups half-groups` measures these.

  A start from documents, the only one of group models, narrows its topics over twelve iterations. On
  collections of ordinary size that is 10 to 19 iterations, .4 to 1.8 s.
  Narrowing in six or three iterations, and on a half or a quarter of the documents, was tried on bbc_news
  and 20newsgroups (RLSI under a word budget and with l1, `GroupRLSI`; five halves). Whole fits take up to
  a quarter less time, but l1 topics come back less often (.51 and .57 with twelve iterations, .48 and .53
  with six, .44 and .52 with three). So it stays.
  Group models from singular vectors (of all documents for shared topics, of what these leave of a class
  for its own) were tried on bbc_news, with 10 shared topics and 4 for each class: NPMI is .26 instead of
  .29 (l1) and .29 instead of .33 (word budget), and classes of 83 to 84 instead of 89 % of new documents are
  predicted.
- **All norms of `RLSI` start from singular vectors.** l1 topics come back more often on all six
  collections, by .016 to .095, and accuracy is higher on all. NPMI is higher on five, and .002 lower on
  reuters21578. Fits take 18 to 42 % less time. The first three collections were looked at first; the others
  confirm it. With l2 topics or l1 weights, .06 to .21 more words come back (four halves of ohsumed23 and
  bbc_news). The penalty is found by narrowing the vectors' topics twice: twelve times or three gave as
  stable topics on reuters21578 and ohsumed23 (within .014). The start of an l1 fit takes 6 to 13 of its
  iterations, which are short: .02 to .16 s (`python -m benchmarks.starts --l1`).
- **The word budget is not extrapolated.** Extrapolated fits need 29 to 42 % fewer iterations and 14 to 25 %
  less time to the objective at which plain ones end (28 of 30 fits, halves of the six collections, reach
  it), and end .001 to .01 % lower. But on 20newsgroups fewer words come back (-.011 ± .002
  over 24 halves; +.004 to -.005 on the five others, 10 halves), and the weights of the
  documents would be kept twice.
- **PLSA has no background topic.** One that all documents share with a fixed weight of .6 was tried:
  diversity rises by .1 and NPMI by .02 to .04 on bbc_news and 20newsgroups, nothing changes on octis_m10,
  and accuracy falls by up to .01. With a free weight, it fades to nothing.
- **PLSA has no prior by default.** The pseudo-Dirichlet prior makes topics that come back more often (.49
  instead of .46, with weight 10 .54), but that share more words and classify worse; NPMI rises on
  octis_m10, falls on the long texts of 20newsgroups and hardly moves elsewhere. The Pareto prior of
  weight 1 changes next to nothing. The last table has the numbers. (Objectives include the prior, so they
  cannot be compared.)
- **Non-negative weights of documents**: as accurate, more diverse, less stable by .01. NPMI is lower on
  short texts, where signed weights repeat the same good words in several topics. They were chosen because
  they are easier to interpret.
"""


class Half(NamedTuple):
    """A random half of the documents to fit, and the other to judge by."""

    X: Any
    labels: Any
    other: Any
    other_labels: Any
    judge: Corpus


MODELS: Mapping[str, Callable[[int], Any]] = {
    "word budget, from documents": lambda seed: RLSI(
        K, topic_norm="l0", nonnegative=True, init="documents", random_state=seed, n_jobs=1
    ),
    "word budget, from singular vectors": lambda seed: RLSI(
        K, topic_norm="l0", nonnegative=True, random_state=seed, n_jobs=1
    ),
    "the same, weights not negative": lambda seed: RLSI(
        K, topic_norm="l0", nonnegative="both", random_state=seed, n_jobs=1
    ),
    "l1, from documents": lambda seed: RLSI(K, init="documents", random_state=seed, n_jobs=1),
    "l1, from singular vectors": lambda seed: RLSI(K, random_state=seed, n_jobs=1),
    "NMF, from documents": lambda seed: NMF(K, init="documents", random_state=seed, n_jobs=1),
    "NMF, from singular vectors": lambda seed: NMF(K, random_state=seed, n_jobs=1),
    "scikit-learn's NMF (nndsvda)": lambda seed: decomposition.NMF(K, init="nndsvda", random_state=seed),
}
PRIORS: Mapping[str, Any] = {
    "PLSA": None,
    "PLSA, Pareto 1": Pareto(1.0),
    "PLSA, pseudo-Dirichlet .02": PseudoDirichlet(0.02),
    "PLSA, pseudo-Dirichlet .02, weight 10": PseudoDirichlet(0.02, weight=10.0),
}
HEADLINE, PEER = "the same, weights not negative", "scikit-learn's NMF (nndsvda)"
CHOICE_OF_WEIGHTS = ("the same, weights not negative", "NMF, from singular vectors")


@cache
def collection(name: str) -> tuple[Any, Any]:
    """Texts with one label each, and the labels."""
    found: Any = datasets.load(name)
    texts, labels = found.texts, found.labels
    if labels is None:
        only = [
            (text, next(iter(own)))
            for text, own in zip(texts, found.label_sets, strict=True)
            if len(own) == 1
        ]
        kinds, counts = np.unique([label for _, label in only], return_counts=True)
        kept = set(kinds[counts >= FEWEST_OF_LABEL])
        texts, labels = zip(*[(text, label) for text, label in only if label in kept], strict=True)
    return list(texts), np.asarray(labels).astype(str)


@cache
def corpus_of(name: str, weighting: str) -> Corpus:
    """A collection with weights of a kind."""
    options = dict(getattr(datasets.load(name), "options", None) or {})
    weights = {} if weighting == COUNTS else WEIGHTINGS[weighting]
    return Corpus.from_texts(collection(name)[0], **{**options, **weights})


def halved(name: str, weighting: str, seed: int) -> Half:
    corpus, labels = corpus_of(name, weighting), collection(name)[1]
    order = np.random.RandomState(seed).permutation(len(labels))
    own, other = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    judge = Corpus.from_counts(corpus.counts[other], corpus.vocabulary)
    X = corpus.counts if weighting == COUNTS else corpus.X
    return Half(X[own], labels[own], X[other], labels[other], judge)


def made(model: str, seed: int) -> Any:
    if model in PRIORS:
        return PLSA(K, prior=PRIORS[model], random_state=seed, n_jobs=1)
    return MODELS[model](seed)


def measured(name: str, weighting: str, model: str, seed: int) -> dict[str, Any]:
    """One fit, and what it is worth; the top words serve to compare it with those of other halves."""
    half = halved(name, weighting, seed)
    began = time.process_time()
    fitted = made(model, seed).fit(half.X)
    seconds = time.process_time() - began
    components = fitted.components_.toarray() if issparse(fitted.components_) else fitted.components_
    tops = [[int(t) for t in np.argsort(-row, kind="stable")[:20] if row[t] > 0] for row in components]
    words = [[str(half.judge.vocabulary[t]) for t in top] for top in tops]
    npmi = coherence(words, half.judge, n_terms=10).per_topic
    rows = [normalize(fitted.transform(X)) for X in (half.X, half.other)]
    classifier = LogisticRegression(C=10, max_iter=1000).fit(rows[0], half.labels)
    return {
        "npmi": float(npmi.mean()),
        "junk": float((npmi < JUNK).mean()),
        "diversity": diversity(words, n_terms=10),
        "accuracy": float(classifier.score(rows[1], half.other_labels)),
        "seconds": seconds,
        "objective": float(getattr(fitted, "objective_history_", [np.nan])[-1]),
        "tops": tops,
    }


class Results:
    """What was measured, kept in a file as it comes."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text()) if path and path.exists() else {}

    def of(self, name: str, weighting: str, model: str, seeds: int) -> dict[str, Any]:
        """The means over the seeds, and the stability over their halves."""
        runs = []
        for seed in range(seeds):
            key = " / ".join((name, weighting, model, str(seed)))
            if key not in self.known:
                self.known[key] = measured(name, weighting, model, seed)
                if self.path:
                    self.path.write_text(json.dumps(self.known))
            runs.append(self.known[key])
        means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0] if key != "tops"}
        pairs = [topic_overlap(a["tops"], b["tops"]).mean() for a, b in combinations(runs, 2)]
        return {**means, "stability": float(np.mean(pairs))}

    def lead(self, name: str, weighting: str, models: tuple[str, str], halves: int) -> dict[str, Any]:
        """How much more stable one model is than another over the same halves, and the jackknife's error."""

        def overlaps(model: str) -> Any:
            tops = [
                self.known[" / ".join((name, weighting, model, str(seed)))]["tops"] for seed in range(halves)
            ]
            found = np.zeros((halves, halves))
            for one, other in combinations(range(halves), 2):
                found[one, other] = topic_overlap(tops[one], tops[other]).mean()
            return found

        less = overlaps(models[0]) - overlaps(models[1])
        pairs = halves * (halves - 1) / 2
        without = (less.sum() - less.sum(0) - less.sum(1)) / (pairs - halves + 1)
        error = np.sqrt((halves - 1) / halves * np.sum((without - without.mean()) ** 2))
        return {"collection": name, "lead": f"{less.sum() / pairs:+.3f} ± {error:.3f}"}


COLUMNS: Columns = {
    "collection": ("collection", str),
    "what": ("what", str),
    "npmi": ("NPMI", "{:.3f}".format),
    "junk": ("junk", "{:.0%}".format),
    "diversity": ("diversity", "{:.2f}".format),
    "stability": ("stability", "{:.3f}".format),
    "accuracy": ("accuracy", "{:.3f}".format),
    "objective": ("objective", "{:,.1f}".format),
    "seconds": ("CPU s", "{:.2f}".format),
}


LEADS: Columns = {"collection": ("collection", str), "lead": ("stability, difference", str)}


def with_means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rows, and the mean of each kind over the collections."""
    means = []
    for what in dict.fromkeys(row["what"] for row in rows):
        own = [row for row in rows if row["what"] == what]
        numbers = {
            key: float(np.mean([row[key] for row in own]))
            for key in COLUMNS
            if key not in ("collection", "what")
        }
        means.append({"collection": "mean", "what": what, **numbers})
    return rows + means


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where results are kept")
    parser.add_argument("--page", type=Path, help="where the page is written")
    parser.add_argument("--weights", default="log-entropy", help="the weights with which starts are compared")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--halves", type=int, default=10, help="seeds of the comparison of starts")
    parser.add_argument("--only-priors", action="store_true", help="only the table of priors for PLSA")
    options = parser.parse_args()
    if options.halves < 3:
        parser.error("--halves: errors need at least 3")
    results = Results(options.json)
    means = f"means over {options.seeds} seeds, those of starts over {options.halves}"
    report = Report(PAGE, f"Tables of weights and priors are {means}.")
    if not options.only_priors:
        add_weights_and_starts(report, results, options)
    with threadpool_limits(1):
        rows = [
            {"collection": name, "what": model, **results.of(name, COUNTS, model, options.seeds)}
            for name in (*CHOSEN_ON, *CONFIRMED_ON)
            for model in PRIORS
        ]
    report.add("Priors for PLSA", with_means(rows), COLUMNS)
    report.write(None, options.page)


def add_weights_and_starts(report: Report, results: Results, options: argparse.Namespace) -> None:
    with threadpool_limits(1):
        for title, names in (("chosen on", CHOSEN_ON), ("confirmed on", CONFIRMED_ON)):
            for model in CHOICE_OF_WEIGHTS:
                rows = [
                    {
                        "collection": name,
                        "what": weighting,
                        **results.of(name, weighting, model, options.seeds),
                    }
                    for name in names
                    for weighting in WEIGHTINGS
                ]
                kind = "NMF" if model.startswith("NMF") else "word budget"
                report.add(f"Term weights, {kind}: {title}", with_means(rows), COLUMNS)
            rows = [
                {
                    "collection": name,
                    "what": model,
                    **results.of(name, options.weights, model, options.halves),
                }
                for name in names
                for model in MODELS
            ]
            report.add(f"Starts, {options.weights} weights: {title}", with_means(rows), COLUMNS)
    leads = [
        results.lead(name, options.weights, (HEADLINE, PEER), options.halves)
        for name in (*CHOSEN_ON, *CONFIRMED_ON)
    ]
    report.add("Stability of the word budget less that of scikit-learn's NMF", leads, LEADS)


if __name__ == "__main__":
    main()
