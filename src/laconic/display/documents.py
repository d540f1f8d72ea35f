"""Corpora: how many documents, and what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.display.markup import TIMES, Column, bar, frame, heading, name, paragraph, quiet, table
from laconic.words import plural, rounded

if TYPE_CHECKING:
    from laconic.corpus import Corpus

N_TERMS = 12
N_LABELS = 12
N_SAMPLED = 20
# Counting more than this many non-zeros would keep a reader waiting.
_MOST_COUNTED = 50_000_000


@dataclass(frozen=True)
class CorpusView:
    """What is shown of a corpus.

    Parameters
    ----------
    n_documents, n_terms, n_nonzeros, n_empty, n_skipped : int
        Sizes; documents without a term, and rows that were skipped when reading.
    frequent : sequence of (str, int)
        Terms and in how many documents they are.
    n_counted : int
        Among the first how many documents these were counted.
    sample : sequence of str
        Some terms, from all over the vocabulary.
    labels : mapping of str to int, or None
        How many documents have each label, the most first.
    weighting : str
        How counts become weights.
    dates : (str, str) or None
        The first and the last date of a document.
    """

    n_documents: int
    n_terms: int
    n_nonzeros: int
    n_empty: int = 0
    n_skipped: int = 0
    frequent: Sequence[tuple[str, int]] = ()
    n_counted: int = 0
    sample: Sequence[str] = ()
    labels: Mapping[str, int] | None = field(default=None)
    weighting: str = ""
    dates: tuple[str, str] | None = None


def corpus_html(corpus: Corpus) -> str:
    """A corpus: sizes, labels, and some of its vocabulary."""
    return view_html(corpus_view(corpus))


def corpus_view(corpus: Corpus) -> CorpusView:
    """Look at a corpus; takes no longer for one that is larger than memory."""
    (n_documents, n_terms), vocabulary = corpus.shape, corpus.vocabulary
    frequencies, n_counted = _document_frequencies(corpus)
    most = np.argsort(-frequencies, kind="stable")[:N_TERMS]
    places = np.unique(np.linspace(0, n_terms - 1, min(N_SAMPLED, n_terms)).astype(int))
    return CorpusView(
        n_documents=n_documents,
        n_terms=n_terms,
        n_nonzeros=int(corpus.counts.nnz),
        n_empty=corpus.n_empty,
        n_skipped=0 if corpus.reading is None else corpus.reading.n_skipped,
        frequent=[(str(vocabulary[j]), int(frequencies[j])) for j in most if frequencies[j]],
        n_counted=n_counted,
        sample=[str(vocabulary[j]) for j in places],
        labels=None if corpus.labels is None else dict(Counter(corpus.labels).most_common()),
        dates=_period(corpus.dates),
        weighting=str(corpus.vectorizer.to_dict().get("weighting", "")),
    )


def _period(dates: Any) -> tuple[str, str] | None:
    """The days of the first and the last date, if there are any."""
    known = np.zeros(0, "datetime64[s]") if dates is None else dates[~np.isnat(dates)]
    return (str(known.min())[:10], str(known.max())[:10]) if known.size else None


def _document_frequencies(corpus: Corpus) -> tuple[Any, int]:
    """In how many documents each term is, and among how many this was counted."""
    (n_documents, n_terms), counts = corpus.shape, corpus.counts
    if "counts_csc" in vars(corpus):
        return np.diff(corpus.counts_csc.indptr), n_documents
    n_counted = n_documents
    if counts.nnz > _MOST_COUNTED:
        n_counted = max(1, int(np.searchsorted(counts.indptr, _MOST_COUNTED, side="right")) - 1)
    return np.bincount(counts.indices[: counts.indptr[n_counted]], minlength=n_terms), n_counted


def view_html(view: CorpusView) -> str:
    """What is shown of a corpus, as HTML."""
    facts = [
        f"{plural(view.n_documents, 'document')} {TIMES} {plural(view.n_terms, 'term')}",
        f"{rounded(view.n_nonzeros)} non-zeros",
        f"{view.n_nonzeros / max(1, view.n_documents):.1f} terms in a document on average",
        f"weighted by {name(view.weighting)}" if view.weighting else "",
        f"from {name(view.dates[0])} to {name(view.dates[1])}" if view.dates else "",
    ]
    empty = f"{plural(view.n_empty, 'document')} without any term of the vocabulary" if view.n_empty else ""
    skipped = f"{plural(view.n_skipped, 'row')} skipped when reading" if view.n_skipped else ""
    sample = "\u2002".join(map(name, view.sample))
    return frame(
        heading("Corpus", *facts),
        paragraph(" · ".join(note for note in (empty, skipped) if note)),
        _tables(view),
        paragraph(f"{quiet('a sample of the vocabulary:')} {sample}" if sample else ""),
    )


def _tables(view: CorpusView) -> str:
    """Labels, and the terms that most documents have."""
    made = []
    if view.labels:
        made.append(_counted("label", list(view.labels.items()), view.n_documents, N_LABELS))
    if view.frequent:
        title = "most frequent terms"
        if view.n_counted < view.n_documents:
            title += f" of the first {view.n_counted:,} documents"
        made.append(_counted(title, view.frequent, view.n_counted, N_TERMS))
    return f'<div class="laconic-beside">{"".join(made)}</div>' if made else ""


def _counted(title: str, counts: Sequence[tuple[str, int]], n_documents: int, most: int) -> str:
    """Names and in how many documents they are."""
    shown = counts[:most]
    largest = max((count for _, count in shown), default=0)
    rows = [
        [name(key), f"{count:,}", f"{count / max(1, n_documents):.1%}{bar(count, largest)}"]
        for key, count in shown
    ]
    if len(counts) > most:
        rest = sum(count for _, count in counts[most:])
        rows.append([quiet(f"{len(counts) - most:,} more"), f"{rest:,}", ""])
    return table([Column(title), Column("documents", "number"), Column("of all", "barred")], rows)
