"""What is measured: topics by their words, documents by their weights, runs by seconds and memory."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Words = Sequence[Sequence[str]]
"""The first words of each topic."""


@dataclass(frozen=True)
class Seconds:
    """Seconds on the clock, and of the processor."""

    wall: float = 0.0
    cpu: float = 0.0

    @classmethod
    def now(cls) -> Seconds:
        """Since some moment of the past."""
        return cls(time.perf_counter(), time.process_time())

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)

    def __mul__(self, factor: float) -> Seconds:
        return Seconds(self.wall * factor, self.cpu * factor)


def peak_memory() -> int:
    """The largest resident memory that this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def topic_diversity(topics: Words, n_words: int = 10) -> float:
    """Share of distinct words among the first words of all topics, as OCTIS counts it."""
    words = [word for topic in topics for word in topic[:n_words]]
    return len(set(words)) / len(words) if words else 0.0


def gensim_npmi(runs: Sequence[Words], tokens: Sequence[Sequence[str]], n_words: int = 10) -> list[float]:
    """OCTIS' coherence of several sets of topics: the mean of gensim's ``c_npmi`` over the topics of each.

    The texts are gone through once for all sets. Topics of fewer than two words have no coherence; how many
    topics there are is told beside it.
    """
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    judged = [[list(topic[:n_words]) for topic in topics if len(topic) > 1] for topics in runs]
    flat = [topic for topics in judged for topic in topics]
    if not flat:
        return [float("nan")] * len(runs)
    model = CoherenceModel(
        topics=flat,
        texts=tokens,
        dictionary=Dictionary(tokens),
        coherence="c_npmi",
        topn=n_words,
        processes=1,
    )
    values = iter(model.get_coherence_per_topic())
    return [float(np.mean([next(values) for _ in topics])) if topics else float("nan") for topics in judged]


def held_out_npmi(topics: Words, texts: Sequence[str], n_words: int = 10) -> float:
    """NPMI of topics, by the documents of other texts: a word that none of them has goes with no other."""
    from laconic import Corpus
    from laconic.evaluate import coherence

    corpus = Corpus.from_texts(texts, min_df=1, max_df=1.0, stop_words=None)
    return coherence(topics, corpus, n_terms=n_words).mean


def stability(topics: Words, others: Words) -> float:
    """How much of topics comes back in others, on average; topics without a partner do not."""
    from laconic.evaluate import topic_overlap

    fewer, more = sorted((topics, others), key=len)
    return float(topic_overlap(more, fewer).mean()) if more else 0.0


def accuracy_from(weights: NDArray[Any], labels: Sequence[str], seed: int) -> float:
    """Share of held-out documents, a third, whose label logistic regression finds from their weights."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    parts = train_test_split(weights, labels, test_size=1 / 3, stratify=labels, random_state=seed)
    known, held_out, known_labels, held_out_labels = parts
    # Weights of one model are thousandths, those of another are hundreds: the penalty shall not mind.
    machine = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return float(machine.fit(known, known_labels).score(held_out, held_out_labels))


def purity_from(weights: NDArray[Any], labels: Sequence[str]) -> float:
    """Share of documents that are of the most frequent label among those with the same strongest topic."""
    from laconic.evaluate import purity

    return purity(labels, np.asarray(weights).argmax(axis=1))


@dataclass(frozen=True)
class Mean:
    """A mean, and half the width of its 95 % interval: None where nothing was repeated."""

    value: float
    margin: float | None = None


def mean_of(runs: Iterable[Mapping[str, Any]], what: str, stratum: str = "n_topics") -> Mean:
    """The mean over strata (numbers of topics) and seeds.

    Numbers of topics are chosen, and seeds drawn: the interval tells how other seeds would move the mean over
    the same numbers of topics, so only what differs between seeds widens it.
    """
    strata: dict[Any, list[float]] = {}
    for run in runs:
        strata.setdefault(run.get(stratum), []).append(float(run[what]))
    value = float(np.mean([np.mean(values) for values in strata.values()]))
    repeated = [values for values in strata.values() if len(values) > 1]
    freedom = sum(len(values) - 1 for values in repeated)
    if not freedom or len(repeated) < len(strata):
        return Mean(value)
    variance = sum(np.var(values, ddof=1) / len(values) for values in repeated) / len(strata) ** 2
    return Mean(value, float(student.ppf(0.975, freedom) * np.sqrt(variance)))
