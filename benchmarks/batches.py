"""One pass over shuffled batches beside a fit of all documents at once: how much worse are the topics.

    python benchmarks/batches.py 20newsgroups --topics 20 --batches 10

Both are measured alike: all documents are folded in with the topics found, and the whole objective is told,
penalties included. The fit of all documents at once has the penalty that the batches have settled on.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from laconic import NMF, PLSA, RLSI, Corpus, GroupNMF, GroupRLSI, SparseLSA, datasets


def models(n_topics: int, n_classes: int) -> dict[str, Any]:
    """What is compared, by name."""
    own = max(1, n_topics // n_classes)
    return {
        "RLSI, 40 words": RLSI(n_topics, topic_norm="l0", terms_per_topic=40, nonnegative="both", init="svd"),
        "RLSI, l1": RLSI(n_topics),
        "NMF": NMF(n_topics),
        "NMF, divergence": NMF(n_topics, loss="kl"),
        "PLSA": PLSA(n_topics),
        "GroupRLSI, 40 words": GroupRLSI(n_topics, own, topic_norm="l0", terms_per_topic=40),
        "GroupNMF": GroupNMF(n_topics, own),
        "SparseLSA": SparseLSA(n_topics),
    }


def objective(model: Any, X: Any, y: Any) -> float:
    """The objective of all documents with the topics of a model."""
    if isinstance(model, SparseLSA):
        return float(clone(model).set_params(init=model.components_, max_iter=1).fit(X).objective_history_[0])
    weights, loss, _ = model._explained(X, y)
    total = loss
    if isinstance(model, RLSI | GroupRLSI):
        powers = [2 if getattr(model, "doc_norm", "l2") == "l2" else 1]
        total += model.alpha_docs_ * _sum(weights, powers[0])
        if model.topic_norm != "l0":
            total += model.alpha_topics_ * _sum(model.components_, 1 if model.topic_norm == "l1" else 2)
    return float(total)


def _sum(matrix: Any, power: int) -> float:
    values = matrix.data if issparse(matrix) else matrix
    return float((np.abs(values.astype(np.float64)) ** power).sum())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--models", nargs="+")
    given = parser.parse_args()
    data = datasets.load(given.collection)
    corpus = Corpus.from_texts(data.texts)
    labels = np.asarray(data.labels)
    order = np.random.default_rng(0).permutation(corpus.shape[0])
    print("| model | worse by | CPU seconds, batches | at once |\n|---|---|---|---|")
    for name, model in models(given.topics, len(set(labels.tolist()))).items():
        if given.models and name not in given.models:
            continue
        X = corpus.counts if model.wants == "counts" else corpus.X
        model.set_params(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.process_time()
            batched = clone(model)
            for rows in np.array_split(order, given.batches):
                known = {"y": labels[rows]} if batched.traits.classes else {}
                batched.partial_fit(X[rows], **known)
            between = time.process_time()
            if "alpha_topics" in model.get_params() and getattr(batched, "topic_norm", "") != "l0":
                model.set_params(alpha_topics=batched.alpha_topics_)
            whole = clone(model).fit(X, labels)
            ended = time.process_time()
            ratio = objective(batched, X, labels) / objective(whole, X, labels)
        seconds = f"{between - began:.0f} | {ended - between:.0f}"
        print(f"| {name} | {100 * (ratio - 1):+.2f} % | {seconds} |", flush=True)


if __name__ == "__main__":
    main()
