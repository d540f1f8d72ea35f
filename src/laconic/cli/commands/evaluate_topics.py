"""What ``laconic evaluate`` says of topics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.screen.console import emit, emit_json, say, waiting

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
    from laconic.evaluate import LabelScores


def evaluate_topics(
    bundle: Bundle, documents: Corpus | None, path: Path, *, n_terms: int, seed: int, json: bool
) -> None:
    """Tell what can be said of the topics of a model that was loaded from a path."""
    with waiting("measuring the topics") as status:
        from laconic.evaluate import summarise_topics

        def tell(message: str) -> None:
            status.update(Text(message))

        if documents is None:
            documents = _indexed(bundle, path)
        if documents is None:
            say("without documents there is no coherence: name them with --corpus")
        found = summarise_topics(bundle, documents, n_terms=n_terms, say=tell)
        labelled = None
        if documents is not None and documents.labels is not None:
            labelled = _by_labels(bundle, documents, seed, tell)
    if json:
        emit_json({**found.to_dict(), **({} if labelled is None else labelled.to_dict())})
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("measure", style="cyan")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it is")
    for row in [*found.rows(), *([] if labelled is None else labelled.rows())]:
        table.add_row(*map(Text, row))
    emit(table)


def _indexed(bundle: Bundle, path: Path) -> Corpus | None:
    """The documents of the index that is saved with the model, if there is one."""
    from laconic.search.saving import has_index, load_index

    if not has_index(path):
        return None
    from laconic.corpus import Corpus

    index = load_index(bundle, path)
    return Corpus(index.matcher.terms.columns.tocsr(), index.vectorizer, ids=index.ids)


def _by_labels(bundle: Bundle, corpus: Corpus, seed: int, tell: Any) -> LabelScores | None:
    """How well weights tell labels apart, unless the labels were used to find them."""
    from laconic.evaluate.labels import FEWEST, label_scores

    if hasattr(bundle.model, "topic_class_"):
        say("the labels were used to fit this model, so they are not used to judge it")
        return None
    assert corpus.labels is not None
    found = label_scores(_weights(bundle, corpus), corpus.labels, random_state=seed, say=tell)
    if found is None:
        say(f"too few documents of each label to judge by: {FEWEST} of two labels are needed")
    return found


def _weights(bundle: Bundle, corpus: Corpus) -> Any:
    """The documents' weights; those that a model of linked documents was fitted on keep theirs."""
    from laconic.engines import Shards

    model: Any = bundle.model
    X = bundle.weigh(corpus.counts)
    if hasattr(model, "weights_") and model.data_hash_ == Shards.whole(X).hash():
        return model.weights_
    return model.transform(X)
