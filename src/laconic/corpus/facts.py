"""What was counted, in a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from laconic.corpus.corpus import Corpus


class Facts(NamedTuple):
    """The numbers of a corpus."""

    n_documents: int
    n_labels: int | None
    """None without labels."""
    n_tokens: int
    n_terms: int
    n_found: int | None
    """Different terms before some were left out; None where that is not known, as of counts."""
    n_empty: int
    """Documents without any term."""


def facts_of(corpus: Corpus) -> Facts:
    """Count what a corpus has.

    >>> from laconic import Corpus
    >>> facts_of(Corpus.from_texts(["red fish", "blue fish", "red bird", "one"], labels=[*"aabb"]))
    Facts(n_documents=4, n_labels=2, n_tokens=6, n_terms=2, n_found=4, n_empty=1)
    >>> facts_of(Corpus.from_counts([[2, 0], [0, 1]], ["red", "fish"]))
    Facts(n_documents=2, n_labels=None, n_tokens=3, n_terms=2, n_found=None, n_empty=0)
    """
    tally = corpus.vectorizer.tally
    total = float(corpus.counts.data.sum(dtype=float)) if tally is None else tally.n_tokens
    return Facts(
        n_documents=corpus.shape[0],
        n_labels=None if corpus.labels is None else len(set(corpus.labels)),
        n_tokens=round(total),
        n_terms=corpus.shape[1],
        n_found=None if tally is None else tally.n_terms_found,
        n_empty=corpus.n_empty,
    )
