"""What ``laconic evaluate`` says of topics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.console import emit, emit_json, say, waiting
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus

# A classifier of more documents takes minutes, and so do larger values of C.
MOST_LABELLED = 5_000
N_SPLITS = 3
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)


def evaluate_topics(
    bundle: Bundle, documents: Corpus | None, path: Path, *, n_terms: int, seed: int, json: bool
) -> None:
    """Tell what can be said of the topics of a model that was loaded from a path."""
    with waiting("measuring the topics") as status:
        from laconic.evaluate import summarise_topics

        if documents is None:
            documents = _indexed(bundle, path)
        if documents is None:
            say("without documents there is no coherence: name them with --corpus")
        found = summarise_topics(
            bundle, documents, n_terms=n_terms, say=lambda message: status.update(Text(message))
        )
        labelled: dict[str, Any] = {}
        if documents is not None and documents.labels is not None:
            labelled = _by_labels(bundle, documents, seed, status)
    if json:
        emit_json({**found.to_dict(), **labelled})
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("measure", style="cyan")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it is")
    for row in [*found.rows(), *_label_rows(labelled)]:
        table.add_row(*map(Text, row))
    emit(table)


def _indexed(bundle: Bundle, path: Path) -> Corpus | None:
    """The documents of the index that is saved with the model, if there is one."""
    return None if bundle.documents is None else bundle.documents.corpus()


def _by_labels(bundle: Bundle, corpus: Corpus, seed: int, status: Any) -> dict[str, Any]:
    """How well weights tell labels apart: clusters, and a classifier."""
    import numpy as np
    from sklearn.preprocessing import normalize

    from laconic.evaluate import classification_accuracy, kmeans_scores

    if hasattr(bundle.model, "topic_class_"):
        say("the labels were used to fit this model, so they are not used to judge it")
        return {}
    labels = np.asarray(corpus.labels, str)
    names, sizes = np.unique(labels, return_counts=True)
    # Each split has to have documents of each class in both parts and in the folds.
    kept = np.flatnonzero(np.isin(labels, names[sizes >= 2 * N_SPLITS]))
    if len(names[sizes >= 2 * N_SPLITS]) < 2:
        say(f"too few documents of each label to judge by: {2 * N_SPLITS} of two labels are needed")
        return {}
    if len(kept) > MOST_LABELLED:
        kept = np.sort(np.random.default_rng(seed).choice(kept, MOST_LABELLED, replace=False))
    status.update(Text("clusters of the documents"))
    weights = _weights(bundle, corpus)[kept]
    # By their length alone, documents of many topics and of few words would be far apart.
    clusters = kmeans_scores(normalize(weights), labels[kept], random_state=seed)
    status.update(Text("classifying the documents"))
    classified = classification_accuracy(weights, labels[kept], N_SPLITS, costs=COSTS, random_state=seed)
    return {
        "labels": len(set(labels[kept])),
        "labelled_documents": len(kept),
        "clustering_accuracy": clusters["accuracy"],
        "clustering_nmi": clusters["nmi"],
        "svm_accuracy": classified.mean,
        "svm_accuracy_std": classified.std,
    }


def _weights(bundle: Bundle, corpus: Corpus) -> Any:
    """The documents' weights; those that a model of linked documents was fitted on keep theirs."""
    from laconic.engines import Shards

    model: Any = bundle.model
    X = bundle.weigh(corpus.counts)
    if hasattr(model, "weights_") and model.data_hash_ == Shards.whole(X).hash():
        return model.weights_
    return model.transform(X)


def _label_rows(found: Mapping[str, Any]) -> list[list[str]]:
    if not found:
        return []
    documents = plural(found["labelled_documents"], "document")
    clusters = f"k-means of unit rows, {found['labels']} clusters of {documents}"
    machine = f"linear SVM, {N_SPLITS} random splits 2:1, sd {found['svm_accuracy_std']:.2%}"
    return [
        ["clustering accuracy", f"{found['clustering_accuracy']:.2%}", clusters],
        ["clustering NMI", f"{found['clustering_nmi']:.4f}", "divided by the larger entropy"],
        ["classification accuracy", f"{found['svm_accuracy']:.2%}", machine],
    ]
