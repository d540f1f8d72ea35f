"""What ``laconic evaluate`` says of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.screen.console import emit, emit_json, say, waiting

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
    from laconic.evaluate import LabelScores


def evaluate_topics(bundle: Bundle, documents: Corpus | None, *, n_terms: int, seed: int, json: bool) -> None:
    """Tell what can be said of the topics of a model; by default with the documents it was saved with."""
    with waiting("measuring the topics") as status:
        from laconic.evaluate import summarise_topics

        def tell(message: str) -> None:
            status.update(Text(message))

        if documents is None and bundle.documents is not None:
            documents = bundle.documents.corpus()
        if documents is None:
            say("coherence needs documents: name them with --corpus")
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


def _by_labels(bundle: Bundle, corpus: Corpus, seed: int, tell: Any) -> LabelScores | None:
    """How well weights tell labels apart, unless the labels were used to find them."""
    from laconic.evaluate.labels import FEWEST, label_scores

    if bundle.model.traits.classes:
        say("the labels were used to fit this model, so they are not used to judge it")
        return None
    assert corpus.labels is not None
    own = bundle.documents
    if own is not None and corpus is own.corpus():
        weights = own.weights
    else:
        weights = bundle.model.weights_of(bundle.weigh(corpus.counts))
    found = label_scores(weights, corpus.labels, random_state=seed, say=tell)
    if found is None:
        say(f"too few documents per label: at least two labels with {FEWEST} documents each are needed")
    return found
