"""The topics of a bundle as columns, a row each: `Bundle.topics`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from laconic.errors import Parameter, ParameterError

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle

Columns = dict[str, list[Any]]


def topic_columns(
    bundle: Bundle, n_terms: int, *, modality: str | None, distinct: bool, coherence: bool
) -> Columns:
    """What `Bundle.topics` lists, of the topics that have not been retired."""
    model, notes = bundle.model, bundle.notes
    columns: Columns = {"topic": list(range(len(model.topic_sizes_)))}
    if notes.named:
        columns["name"] = [name or "" for name in notes.names]
    if model.topic_owners:
        columns["class"] = model.topic_owners
    for name in (modality,) if modality is not None else (*bundle.modalities,) or (None,):
        listed = bundle.shown_words(n_terms, modality=name, distinct=distinct)
        columns["words" if name is None else f"words_{name}"] = [
            ", ".join(("-" if weight < 0 else "") + term for term, weight in words) for words in listed
        ]
    columns["size"] = model.topic_sizes_.tolist()
    if notes.returns is not None:
        columns["returns"] = list(notes.returns.shares)
    if bundle.documents is not None:
        columns |= bundle.documents.by_topic()
    if coherence:
        columns["coherence"] = _coherence(bundle, modality)
    if notes.retired:
        columns = {key: [values[k] for k in notes.living] for key, values in columns.items()}
    return columns


def in_order(columns: Mapping[str, list[Any]], by: str) -> Columns:
    """Rows in the order of a column: numbers the largest first (not those of topics), words by alphabet."""
    if by not in columns:
        raise ParameterError(Parameter("sort"), f" is one of {', '.join(columns)}, not {by!r}")
    values = columns[by]
    falling = by != "topic" and all(isinstance(value, int | float) for value in values)
    order = sorted(range(len(values)), key=values.__getitem__, reverse=falling)
    return {name: [column[row] for row in order] for name, column in columns.items()}


def _coherence(bundle: Bundle, modality: str | None) -> list[float]:
    from laconic.evaluate import coherence

    corpus = bundle._kept("documents to measure coherence in").corpus(modality)
    words = bundle.topic_words(modality=modality)
    measured: list[float] = coherence(words, corpus).per_topic.tolist()
    return measured
