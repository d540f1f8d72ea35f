"""What is measured of a contender on a collection: OCTIS' protocol, and one for texts with labels."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.contenders import Contender, Fitted, Task
from benchmarks.peers.encoders import StoredEncoder
from benchmarks.peers.measures import (
    Seconds,
    accuracy_from,
    gensim_npmi,
    held_out_npmi,
    peak_memory,
    purity_from,
    stability,
    topic_diversity,
)

from laconic.datasets import Texts, available, load

SEEDS = (0, 1, 2)
N_FIRST, N_FIRST_TOPICS = 300, 5
Run = dict[str, Any]


@dataclass(frozen=True)
class Fitter:
    """Fits a contender again and again, and watches the clock."""

    contender: Contender
    tokens: Mapping[str, Any] | None
    encoder: StoredEncoder | None

    def __call__(self, texts: Sequence[str], n_topics: int, seed: int) -> tuple[Fitted, Seconds]:
        """What was found, and the seconds from texts to topics."""
        task = Task(texts, n_topics, seed, self.tokens, self.encoder)
        if self.encoder:
            self.encoder.charged = self.encoder.spent = Seconds()
        began = Seconds.now()
        fitted = self.contender.fit(task)
        took = Seconds.now() - began
        if self.encoder:
            took += self.encoder.charged - self.encoder.spent
        return fitted, took

    def warm_up(self, texts: Sequence[str]) -> None:
        """Import, compile and load what every fit needs, with a few texts."""
        self(texts[:N_FIRST], N_FIRST_TOPICS, 0)

    def peak(self) -> int:
        """The largest memory so far, that of encoding included, in bytes."""
        return max(peak_memory(), self.encoder.peak if self.encoder else 0)


def by_octis(texts: Texts, fit: Fitter, sizes: Sequence[int]) -> list[Run]:
    """Topics of all documents, judged by gensim's c_npmi on the same documents, and by their diversity.

    As OCTIS and the paper of BERTopic do: ten words a topic, windows of ten words.
    """
    runs, found = [], []
    for n_topics in sizes:
        for seed in SEEDS:
            fitted, took = fit(texts.texts, n_topics, seed)
            found.append(fitted.topics)
            runs.append(
                {
                    "n_topics": n_topics,
                    "seed": seed,
                    "found": sum(len(topic) > 1 for topic in fitted.topics),
                    "diversity": topic_diversity(fitted.topics),
                    **asdict(took),
                }
            )
    tokens = [text.split() for text in texts.texts]
    for run, npmi in zip(runs, gensim_npmi(found, tokens), strict=True):
        run["npmi"] = npmi
    return runs


def by_labels(texts: Texts, fit: Fitter, sizes: Sequence[int]) -> list[Run]:
    """Topics of random halves of the documents, judged by the other half, and weights of all, by labels."""
    runs = []
    labels = [str(label) for label in texts.labels]
    for n_topics in sizes:
        for seed in SEEDS:
            fitted, took = fit(texts.texts, n_topics, seed)
            # Before anything is measured, which takes memory, too.
            run = {"n_topics": n_topics, "seed": seed, "peak": fit.peak(), **asdict(took)}
            weights = fitted.weights()
            run |= {
                "bytes": saved_bytes(fitted),
                "found": sum(len(topic) > 1 for topic in fitted.topics),
                "purity": purity_from(weights, labels),
                "accuracy": accuracy_from(weights, labels, seed),
                "topics": [topic[:10] for topic in fitted.topics],
                **of_halves(texts.texts, fit, n_topics, seed),
            }
            runs.append(run)
    return runs


def of_halves(texts: Sequence[str], fit: Fitter, n_topics: int, seed: int) -> Run:
    """Measures of topics that two random halves of the documents have."""
    order = np.random.default_rng(seed).permutation(len(texts))
    halves = [[texts[place] for place in half] for half in np.array_split(order, 2)]
    one, other = (fit(half, n_topics, seed)[0].topics for half in halves)
    return {
        "npmi": (held_out_npmi(one, halves[1]) + held_out_npmi(other, halves[0])) / 2,
        "diversity": (topic_diversity(one) + topic_diversity(other)) / 2,
        "stability": stability(one, other),
    }


def saved_bytes(fitted: Fitted) -> int:
    """How large the model is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder))
        return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


@dataclass(frozen=True)
class Protocol:
    """How a contender is measured on a collection.

    Attributes
    ----------
    name : str
        That of its folder of results.
    measure : callable
        From texts, a fitter and numbers of topics to runs.
    sizes : tuple of int
        Numbers of topics.
    collections : tuple of str
        Names of data sets.
    """

    name: str
    measure: Callable[[Texts, Fitter, Sequence[int]], list[Run]]
    sizes: tuple[int, ...]
    collections: tuple[str, ...]


OCTIS = Protocol("octis", by_octis, (10, 20, 30, 40, 50), ("octis_bbc_news", "octis_m10"))
OCTIS_20 = replace(OCTIS, name="octis-20", sizes=(20,))
"""For those of whom all numbers of topics would take hours."""
LABELS = Protocol("labels", by_labels, (20,), ("bbc_news", "ag_news", "reuters21578", "20newsgroups"))
PROTOCOLS = {protocol.name: protocol for protocol in (OCTIS, OCTIS_20, LABELS)}


def measure(protocol: Protocol, contender: Contender, collection: str, vectors: Path) -> list[Run]:
    """All runs of a contender on a collection; `vectors` is where those of its texts are kept."""
    texts = load(collection).single_label()
    labelled = texts.labels is not None and protocol is LABELS
    if labelled:
        texts = frequent(texts)
    encoder = StoredEncoder(vectors) if contender.encodes else None
    fit = Fitter(contender, texts.options, encoder)
    fit.warm_up(texts.texts)
    return protocol.measure(texts, fit, protocol.sizes)


def is_at_hand(collection: str) -> bool:
    """Whether all files of a collection are there."""
    return any(info.name == collection and info.present for info in available())


def frequent(texts: Texts, fewest: int = 20) -> Texts:
    """The documents of labels that are frequent enough to be learnt and held out."""
    names, sizes = np.unique(np.asarray(texts.labels, str), return_counts=True)
    return texts.where(np.isin(np.asarray(texts.labels, str), names[sizes >= fewest]))
