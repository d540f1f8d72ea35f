"""What views find once of a bundle and then only look up: so a page takes milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from laconic.corpus.periods import cut
from laconic.display.topics import heaviest
from laconic.explore.layout import Layout, laid_out, normalised, product

if TYPE_CHECKING:
    from laconic.bundle import Bundle, Documents
    from laconic.corpus import Vectorizer

WORDS_OF_NAME = 3
"""How many words stand for a topic that nobody has named."""

SAMPLED = 2_000
"""How many documents it takes to tell how much topics explain."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """The topics over the terms of one modality; "" is the name of the only one."""

    modality: str
    topics: Any
    terms: Sequence[Any] | NDArray[Any] | None

    @cached_property
    def by_term(self) -> Any:
        """The topics by columns: which topics have a term."""
        return csc_array(self.topics) if issparse(self.topics) else self.topics

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of every term."""
        terms = range(self.topics.shape[1]) if self.terms is None else self.terms
        return {str(term): column for column, term in enumerate(terms)}

    def term(self, column: int) -> str:
        """The name of a column."""
        return str(column if self.terms is None else self.terms[column])

    def words(self, topic: int, n_words: int) -> list[tuple[str, float]]:
        """The heaviest words of a topic."""
        return heaviest(self.topics[[topic]], self.terms, n_words)


@dataclass(frozen=True)
class OverTime:
    """Topics over time: periods × topics, rows that sum to one."""

    unit: str
    periods: list[str]
    documents: list[int]
    undated: int
    shares: Floats


class Facts:
    """What is derived from a bundle; each part when it is first asked for.

    Parameters
    ----------
    bundle : Bundle
        It must not change while it is looked at.
    """

    def __init__(self, bundle: Bundle) -> None:
        # not the bundle itself, or neither would ever be let go of
        self._bundle = ref(bundle)
        self.model = bundle.model
        self._seen = self.model.components_
        self._named: tuple[Any, tuple[str | None, ...], list[str]] | None = None
        # places on maps of so many topics, and the nearest pairs: kept here, found by their views
        self.placed: dict[int, Floats] = {}
        self.pairs: list[Any] | None = None
        self._summaries: dict[int, list[dict[str, list[tuple[str, float]]]]] = {}

    @property
    def bundle(self) -> Bundle:
        """What is looked at."""
        found = self._bundle()
        assert found is not None, "facts outlived their bundle"
        return found

    @property
    def stale(self) -> bool:
        """Whether the bundle has other topics or documents by now."""
        documents = vars(self).get("documents")
        return self._seen is not self.bundle.model.components_ or (
            documents is not None and documents is not self.bundle.documents
        )

    @property
    def n_topics(self) -> int:
        """How many topics there are, with and without words."""
        return int(self.model.components_.shape[0])

    @cached_property
    def sizes(self) -> list[int]:
        """How many words each topic has."""
        return [int(size) for size in self.model.topic_sizes_]

    @cached_property
    def owners(self) -> list[str]:
        """The class of every topic, or "shared"; empty without classes."""
        return list(self.model.topic_owners)

    @cached_property
    def parts(self) -> list[Part]:
        """The topics over the terms of each modality."""
        bundle, model = self.bundle, self.model
        if not bundle.modalities:
            terms = bundle.vocabulary
            return [Part("", model.components_, model.term_names() if terms is None else terms)]
        found = []
        for modality in bundle.modalities:
            vectorizer = bundle.vectorizers.get(modality)
            terms = model.term_names(modality) if vectorizer is None else vectorizer.vocabulary
            topics = model.components_of(modality)
            found.append(Part(modality, csr_array(topics) if issparse(topics) else topics, terms))
        return found

    def part(self, modality: str | None) -> Part:
        """The part of a modality, or the first."""
        return next((part for part in self.parts if part.modality == modality), self.parts[0])

    @cached_property
    def signed(self) -> bool:
        """Whether words may count against a topic."""
        topics = self.model.components_
        values = topics.data if issparse(topics) else topics
        return bool(values.size and values.min() < 0)

    def summaries(self, n_words: int) -> list[dict[str, list[tuple[str, float]]]]:
        """The heaviest words of every topic, by modality."""
        if n_words not in self._summaries:
            self._summaries[n_words] = [
                {part.modality: part.words(topic, n_words) for part in self.parts}
                for topic in range(self.n_topics)
            ]
        return self._summaries[n_words]

    @cached_property
    def _by_words(self) -> list[str]:
        """Every topic by its heaviest words."""
        return [_in_words(words) for words in self.summaries(WORDS_OF_NAME)]

    @property
    def given_names(self) -> list[str | None]:
        """What people call topics; None where nobody has named one."""
        return list(self._notes()[1])

    @property
    def names(self) -> list[str]:
        """What every topic is called: by its heaviest words, unless somebody has named it."""
        return self._notes()[2]

    def _notes(self) -> tuple[Any, tuple[str | None, ...], list[str]]:
        notes = self.bundle.notes
        if self._named is None or self._named[0] is not notes:
            both = zip(notes.names, self._by_words, strict=True)
            self._named = notes, notes.names, [name or words for name, words in both]
        return self._named

    def stability(self, topic: int) -> float | None:
        """How surely a topic comes back, where that was measured."""
        returns = self.bundle.notes.returns
        return None if returns is None else returns.shares[topic]

    # what the documents say

    @cached_property
    def documents(self) -> Documents | None:
        """The documents of the bundle, if it has any."""
        return self.bundle.documents

    @cached_property
    def weights(self) -> Any:
        """The weights of documents for topics."""
        return None if self.documents is None else self.documents.weights

    @cached_property
    def weights_by_topic(self) -> Any:
        """The same by columns."""
        return csc_array(self.weights) if issparse(self.weights) else np.asfortranarray(self.weights)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of every document, by its id; of equal ids the first."""
        ids = [] if self.documents is None else self.documents.ids.tolist()
        return {id: row for row, id in reversed(list(enumerate(ids)))}

    @cached_property
    def totals(self) -> Floats:
        """The positive weights of all documents, by topic."""
        return self._summed(np.zeros(len(self.documents or ()), np.int64), 1)[0]

    @cached_property
    def shares(self) -> Floats | None:
        """The part of each topic in all documents' weights, where they are known."""
        if self.documents is None:
            kept = self.model.topic_shares
            return None if kept is None else np.asarray(kept, np.float64)
        return self.totals / (self.totals.sum() or 1.0)

    @cached_property
    def largest(self) -> NDArray[np.int64]:
        """The topic of which each document has most; -1 if it has none."""
        weights = self.weights
        if not issparse(weights):
            best = np.asarray(weights).argmax(axis=1)
            return np.where(np.asarray(weights).max(axis=1, initial=0) > 0, best, -1)
        best = np.full(weights.shape[0], -1)
        # of each row, the last in the order of rising weights
        owner = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        order = np.lexsort((-weights.indices, weights.data, owner))
        order = order[weights.data[order] > 0]
        best[owner[order]] = weights.indices[order]
        return best

    @cached_property
    def main_counts(self) -> list[int] | None:
        """Of how many documents each topic is the largest."""
        if self.documents is None:
            return None
        largest = self.largest
        return [int(n) for n in np.bincount(largest[largest >= 0], minlength=self.n_topics)]

    def _summed(self, group: NDArray[Any], n_groups: int) -> Floats:
        """Sums of positive weights over groups of documents; -1 is none."""
        chosen = np.flatnonzero(group >= 0)
        members = csr_array(
            (np.ones(len(chosen)), (group[chosen], chosen)), shape=(n_groups, self.weights.shape[0])
        )
        if issparse(self.weights):
            positive = self.weights.copy()
            positive.data = np.maximum(positive.data, 0)
            return product(members, positive)
        sums = np.zeros((n_groups, self.n_topics))
        # block by block: the weights are not copied as a whole
        for start in range(0, self.weights.shape[0], 8192):
            block = np.maximum(self.weights[start : start + 8192], 0)
            sums += members[:, start : start + 8192] @ block
        return sums

    # classes and times

    @cached_property
    def label_names(self) -> list[str]:
        """The labels of documents, in the order of the alphabet."""
        labels = None if self.documents is None else self.documents.labels
        return [] if labels is None else [str(name) for name in np.unique(labels)]

    @cached_property
    def label_of(self) -> NDArray[np.int64]:
        """The number of each document's label."""
        assert self.documents is not None
        assert self.documents.labels is not None
        return np.unique(self.documents.labels, return_inverse=True)[1]

    @cached_property
    def label_sizes(self) -> NDArray[np.int64]:
        """How many documents have each label."""
        return np.bincount(self.label_of, minlength=len(self.label_names))

    @cached_property
    def by_label(self) -> Floats:
        """The part of each topic in the documents of each label: rows sum to one."""
        return _parts_of_one(self._summed(self.label_of, len(self.label_names)))

    @cached_property
    def over_time(self) -> OverTime | None:
        """The part of each topic in the documents of each period, where these have dates."""
        dates = None if self.documents is None else self.documents.dates
        if dates is None or np.isnat(dates).all():
            return None
        known = dates[~np.isnat(dates)]
        cut_up = cut(dates, _unit(known))
        n_periods = int(cut_up.numbers.max()) + 1
        return OverTime(
            unit=cut_up.by,
            periods=[cut_up.name(number) for number in range(n_periods)],
            documents=[int(n) for n in np.bincount(cut_up.numbers[cut_up.numbers >= 0], minlength=n_periods)],
            undated=int(np.count_nonzero(np.isnat(dates))),
            shares=_parts_of_one(self._summed(cut_up.numbers, n_periods)),
        )

    # similarity

    @cached_property
    def directions(self) -> Any:
        """Topics of length one."""
        return normalised(self.model.components_)

    def cosines(self, topic: int) -> Floats:
        """The cosine of a topic and every other."""
        return product(self.directions, self.directions[[topic]].T).ravel()

    @cached_property
    def layout(self) -> Layout:
        """Topics as points of a plane."""
        alive = np.flatnonzero(self.sizes)
        found = laid_out(self.directions[alive], self.map_weights[alive])
        points = np.full((self.n_topics, 2), np.nan)
        points[alive] = found.points
        return Layout(points, found.shown)

    @cached_property
    def map_weights(self) -> Floats:
        """How large topics are: by their part of the documents, else by how many words they have."""
        return np.array(self.sizes, np.float64) if self.shares is None else self.shares

    # how good it is

    @cached_property
    def explained(self) -> tuple[float, int] | None:
        """The share of the loss that the topics take away, and on how many documents this was measured."""
        if self.documents is None or not len(self.documents):
            return None
        n = len(self.documents)
        rows = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(np.int64))
        found = {
            name: self.model.rows(corpus.counts[rows], corpus.vectorizer.weigh)
            for name, corpus in self.documents.corpora.items()
        }
        X = found if self.model.traits.modalities else next(iter(found.values()))
        labels = self.documents.labels
        y = None
        if self.model.traits.classes:
            y = self.model.classes_of(X, None if labels is None else labels[rows])
        return float(self.model.score(X, y)), len(rows)

    def vectorizer(self, modality: str) -> Vectorizer:
        """What counts the words of a modality."""
        return self.bundle.vectorizer_of(modality or None)


def _in_words(words: dict[str, list[tuple[str, float]]]) -> str:
    first = next(iter(words.values()))
    return ", ".join(f"\N{MINUS SIGN}{term}" if weight < 0 else term for term, weight in first) or "no words"


def _unit(dates: NDArray[Any]) -> str:
    """Years, months or days: at most some dozens of periods, if that can be had."""
    days = float((dates.max() - dates.min()) / np.timedelta64(1, "D"))
    return "year" if days > 5 * 365 else "month" if days > 62 else "day"


def _parts_of_one(sums: Floats) -> Floats:
    totals = sums.sum(axis=1, keepdims=True)
    return np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)


_KNOWN: WeakKeyDictionary[Bundle, Facts] = WeakKeyDictionary()


def facts_of(bundle: Bundle) -> Facts:
    """The facts of a bundle, the same as long as it has the same topics and documents.

    Parameters
    ----------
    bundle : Bundle
        With a fitted model.
    """
    found = _KNOWN.get(bundle)
    if found is None or found.stale:
        found = _KNOWN[bundle] = Facts(bundle)
    return found
