"""Fits that begin with the topics on which several starts agree, beside fits as they are.

    python benchmarks/consensus.py bbc_news octis_m10 reuters21578 20newsgroups

Each model is fitted to the same four random halves of the documents, each from a seed of its own; "continued"
is a fit that begins with the topics of the same fit, as one from a consensus does. Told are means over the
halves: coherence (NPMI of ten words, in all documents), stability (how many of the twenty
heaviest words of a topic come back in the fit to another half), and the share of all documents that topics
explain.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone

from laconic import Corpus, datasets
from laconic.bundle.fitting import beginning_at_consensus
from laconic.evaluate import coherence
from laconic.evaluate.stability import halves, topic_overlap
from laconic.models.making import make_model

N_TOPICS, N_HALVES = 20, 4


def fitted(model: Any, n_starts: int | None, corpus: Corpus) -> Any:
    """A model, from a consensus of so many starts, or as it is."""
    with beginning_at_consensus(model, corpus, n_starts):
        return model.fit(corpus.counts if model.wants == "counts" else corpus.X)


def rows(name: str, kind: str, starts: Sequence[int], whole: Corpus, parts: Sequence[Corpus]) -> None:
    model = make_model(kind, N_TOPICS)
    variants: dict[str, Callable[[Any, Corpus], Any]] = {
        "as it is": lambda made, part: fitted(made, None, part),
    }
    variants["continued"] = lambda made, part: fitted(
        clone(made).set_params(init=fitted(made, None, part).components_), None, part
    )
    if model.get_params()["init"] != "documents":
        variants["from documents"] = lambda made, part: fitted(made.set_params(init="documents"), None, part)
    for n in starts:
        variants[f"consensus of {n}"] = lambda made, part, n=n: fitted(made, n, part)
    for label, fit in variants.items():
        began = time.process_time()
        found = [fit(clone(model).set_params(random_state=1000 * n), part) for n, part in enumerate(parts)]
        seconds = (time.process_time() - began) / len(parts)
        npmi = np.mean([coherence(each.topics(whole.vocabulary, 10), whole).mean for each in found])
        pairs = combinations([each.components_ for each in found], 2)
        stable = np.mean([topic_overlap(a, b).mean() for a, b in pairs])
        X = whole.counts if model.wants == "counts" else whole.X
        explained = np.mean([each.score(X) for each in found])
        figures = f"{npmi:.3f} | {stable:.3f} | {explained:.4f} | {seconds:.1f}"
        print(f"| {name} | {kind} | {label} | {figures} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--models", nargs="+", default=["rlsi", "nmf"])
    parser.add_argument("--starts", nargs="+", type=int, default=[5])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| collection | model | start | coherence | stability | explained | CPU seconds for a fit |")
    print("|---|---|---|---|---|---|---|")
    for name in given.collections:
        whole = Corpus.from_texts(datasets.load(name).texts)
        chosen = halves(whole.shape[0], N_HALVES, np.random.RandomState(0))
        parts = [Corpus(whole.counts[half], whole.vectorizer) for half in chosen]
        for kind in given.models:
            rows(name, kind, given.starts, whole, parts)


if __name__ == "__main__":
    main()
