"""Models and bundles: how they were made, and the heaviest words of their topics."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from laconic.display.markup import (
    TIMES,
    Column,
    bar,
    code,
    escaped,
    folded,
    frame,
    heading,
    name,
    paragraph,
    quiet,
    table,
    words,
)
from laconic.words import figure, plural

N_TOPICS = 20
N_WORDS = 10

Words = list[tuple[str, float]]


@dataclass(frozen=True)
class TopicRow:
    """What is shown of a topic.

    Parameters
    ----------
    number : int
        Its row of ``components_``.
    size : int
        How many words it has.
    words : list of list of (str, float)
        The heaviest of every column (one, or one for each modality).
    owner : str or None
        The class it belongs to, in models with classes.
    share : float or None
        Its part of the documents, where that is known.
    name : str or None
        What it is called.
    returns : float or None
        In what share of refits it came back.
    """

    number: int
    size: int
    words: Sequence[Words]
    owner: str | None = None
    share: float | None = None
    name: str | None = None
    returns: float | None = None


def topics_table(rows: Sequence[TopicRow], titles: Sequence[str] = ("words",)) -> str:
    """The table of topics; `titles` stand above the columns of words."""
    shared, owned, named, measured = (
        any(getattr(row, part) is not None for row in rows) for part in ("share", "owner", "name", "returns")
    )
    most = max((row.share or 0.0 for row in rows), default=0.0)
    columns = [
        Column("topic", "number"),
        *([Column("name", "narrow")] if named else []),
        *([Column("class", "narrow")] if owned else []),
        Column("size", "number"),
        *([Column("returns", "number")] if measured else []),
        *([Column("share", "barred")] if shared else []),
        *(Column(title, "text") for title in titles),
    ]
    return table(
        columns,
        [
            [
                str(row.number),
                *([name(row.name or "", 32)] if named else []),
                *([name(row.owner or "", 24)] if owned else []),
                f"{row.size:,}",
                *(["" if row.returns is None else f"{row.returns:.0%}"] if measured else []),
                *([f"{row.share or 0:.1%}{bar(row.share or 0, most)}"] if shared else []),
                *(words(part) if part else quiet("no words") for part in row.words),
            ]
            for row in rows
        ],
    )


def model_html(model: Any) -> str:
    """A fitted model: what differs from its defaults, how the fit went, and its topics."""
    return frame(_head(model), _topics(model, {}, "model"))


def bundle_html(bundle: Any, documents: Any = None) -> str:
    """A model with the vectorisers that name its terms, and the documents where they are at hand."""
    named = [("", bundle.vectorizer), *bundle.vectorizers.items()]
    vocabularies = {modality: one.vocabulary for modality, one in named if one is not None}
    readers = [
        f"reads {f'{name(modality)} ' if modality else ''}texts: {plural(len(terms), 'term')}"
        for modality, terms in vocabularies.items()
    ]
    if documents is not None:
        readers.append(f"has {plural(len(documents), 'document')} to search")
    lines = paragraph(quiet(" · ".join(readers or ["has no vectoriser: reads matrices, not texts"])))
    if not bundle.model.fitted:
        return frame(_head(bundle.model, "Bundle of "), lines, paragraph(quiet("not fitted")))
    shares = None if documents is None else documents.shares()
    topics = _topics(bundle.model, vocabularies, "bundle", shares, bundle.notes)
    return frame(_head(bundle.model, "Bundle of "), lines, topics)


def _head(model: Any, before: str = "") -> str:
    given, default = _parameters(model)
    facts = _facts(model) if model.fitted else []
    changed = f"({', '.join(given)})" if given else "()"
    return (
        heading(quiet(before) + escaped(type(model).__name__), *facts)
        + paragraph(code(type(model).__name__ + changed))
        + (folded("parameters left at their defaults", code(", ".join(default))) if default else "")
    )


def _facts(model: Any) -> list[str]:
    sizes = model.topic_sizes_
    n_alive = int(np.count_nonzero(sizes))
    alive = (
        plural(len(sizes), "topic")
        if n_alive == len(sizes)
        else f"{n_alive:,} of {len(sizes):,} topics alive"
    )
    facts = [alive, plural(model.components_.shape[1], "term")]
    if 0 < model.density_ < 1:
        facts.append(f"density {model.density_:.2%}")
    history = vars(model).get("objective_history_", ())
    if len(history):
        facts += [plural(len(history), "iteration"), f"objective {figure(float(history[-1]))}"]
    return facts


def _parameters(model: Any) -> tuple[list[str], list[str]]:
    """Those that differ from their defaults, and the others, as one would type them."""
    given: list[str] = []
    default: list[str] = []
    values = model.get_params(deep=False)
    for key, parameter in inspect.signature(type(model)).parameters.items():
        if key in values:
            value, known = values[key], parameter.default
            shown = _typed(value)
            same = type(value) is type(known) and shown == _typed(known)
            (default if same else given).append(f"{key}={shown}")
    return given, default


def _typed(value: Any) -> str:
    """A value in a few letters."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<array of {f' {TIMES} '.join(f'{size:,}' for size in shape)}>"
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    short.maxdict = short.maxlist = short.maxtuple = short.maxset = 8
    return short.repr(value)


def _topics(
    model: Any,
    vocabularies: Mapping[str, Sequence[Any]],
    variable: str,
    shares: Sequence[float] | None = None,
    notes: Any = None,
) -> str:
    """The table, and how to see what it leaves out."""
    parts = _parts(model, vocabularies)
    sizes = model.topic_sizes_
    shown = range(min(N_TOPICS, len(sizes)))
    owners, shares = _owners(model), model.topic_shares if shares is None else shares
    rows = [
        TopicRow(
            number=k,
            size=int(sizes[k]),
            words=[heaviest(topics[[k]], terms) for _, topics, terms in parts],
            owner=None if owners is None else owners[k],
            share=None if shares is None else float(shares[k]),
            name=None if notes is None else notes.names[k],
            returns=None if notes is None or notes.returns is None else notes.returns.shares[k],
        )
        for k in shown
    ]
    hints = []
    if len(sizes) > N_TOPICS or sizes[: len(shown)].max(initial=0) > N_WORDS:
        which = f"The first {N_TOPICS} topics" if len(sizes) > N_TOPICS else "Topics"
        hints.append(
            f"{which} by their {N_WORDS} heaviest words; {code(f'{variable}.topics(n_terms=40)')} lists more."
        )
    if any(terms is None for _, _, terms in parts):
        how = (
            f": {code('model.topics(vocabulary)')} names them"
            if len(parts) == 1 and variable == "model"
            else ""
        )
        hints.append(f"Numbers stand for columns without a name{how}.")
    return topics_table(rows, [title for title, _, _ in parts]) + paragraph(quiet(" ".join(hints)))


def heaviest(row: Any, terms: Any, n_words: int = N_WORDS) -> Words:
    """The heaviest words of a topic, in the order of `TopicModel.topics`, without sorting all of them.

    >>> heaviest(np.array([[0.1, -0.5, 0.0, 0.1]]), ["a", "b", "c", "d"], 2)
    [('b', -0.5), ('a', 0.1)]
    """
    columns, weights = (row.indices, row.data) if issparse(row) else (np.arange(row.shape[1]), row[0])
    sizes = np.abs(weights)
    least = np.partition(sizes, -n_words)[-n_words] if len(sizes) > n_words else 0
    among = np.flatnonzero((sizes >= least) & (sizes > 0))
    order = among[np.argsort(-sizes[among], kind="stable")][:n_words]
    return [(str(columns[j] if terms is None else terms[columns[j]]), float(weights[j])) for j in order]


def _parts(
    model: Any, vocabularies: Mapping[str, Sequence[Any]]
) -> list[tuple[str, Any, Sequence[Any] | None]]:
    """The columns of words: title, topics × terms, and the names of the terms if there are any."""
    parts = []
    for modality in model.modalities or (None,):
        terms = vocabularies.get(modality or "")
        terms = model.term_names(modality) if terms is None else terms
        parts.append((modality or "words", model.components_of(modality), terms))
    return parts


def _owners(model: Any) -> list[str] | None:
    """The class of every topic, in models that have classes."""
    try:
        owners: list[str] = model.topic_owners
    except TypeError:
        # parameters that were changed after the fit, to what is none
        return None
    return owners if len(owners) == model.components_.shape[0] else None
