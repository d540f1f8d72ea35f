"""What can be said of the topics of a model: in itself, in a corpus, and by labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from laconic.evaluate.coherence import N_DIVERSE, N_TERMS, Coherence, Measure, coherence, diversity

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus

_NAMES: dict[Measure, str] = {"npmi": "NPMI", "umass": "UMass", "c_v": "C_v"}


@dataclass(frozen=True, eq=False)
class TopicSummary:
    """What `summarise_topics` found.

    Attributes
    ----------
    n_topics, n_alive : int
        How many topics there are, and how many of them have words.
    words : (int, float, int)
        The least, the median and the largest number of words of the topics that have words.
    density : float
        Share of non-zero weights in topics × terms: the mean, over topics, of the share of terms that each
        has (called average compactness, AvgComp, in the literature).
    diversity : float
        Share of distinct words among the first words of all topics.
    n_terms, n_diverse : int
        How many words of each topic count for coherence, and for diversity.
    coherence : dict of str to Coherence
        By the names of measures; empty without a corpus.
    """

    n_topics: int
    n_alive: int
    words: tuple[int, float, int]
    density: float
    diversity: float
    n_terms: int
    n_diverse: int
    coherence: dict[Measure, Coherence]

    def rows(self) -> list[list[str]]:
        """The rows of a table: a measure, its value, and what it is."""
        least, median, largest = self.words
        rows = [
            ["topics", f"{self.n_topics:,}", f"{self.n_alive:,} with words"],
            ["words per topic", f"{median:g}", f"median; from {least:,} to {largest:,}"],
            ["density", f"{self.density:.2%}", "share of the terms that a topic has (AvgComp)"],
            [
                "diversity",
                f"{self.diversity:.2%}",
                f"distinct among the first {self.n_diverse} words of each",
            ],
        ]
        for name, found in self.coherence.items():
            short = f"; {found.n_short:,} topics without two words left out" if found.n_short else ""
            facts = f"first {self.n_terms} words, in whole documents{short}"
            rows.append([f"coherence {_NAMES[name]}", f"{found.mean:.4f}", facts])
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Everything, as values that JSON can hold."""
        described = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "coherence"}
        coherences = {
            name: {
                "mean": found.mean,
                "n_short": found.n_short,
                "per_topic": found.per_topic.tolist(),
            }
            for name, found in self.coherence.items()
        }
        return {**described, "words": list(self.words), "coherence": coherences}


def summarise_topics(
    bundle: Bundle,
    corpus: Corpus | None = None,
    *,
    n_terms: int = N_TERMS,
    n_diverse: int = N_DIVERSE,
    say: Callable[[str], Any] = str,
) -> TopicSummary:
    """Measure the topics of a model.

    Parameters
    ----------
    bundle : Bundle
        A model with its vocabulary.
    corpus : Corpus, optional
        Where words occur together, for coherence; by whole documents.
    n_terms, n_diverse : int, default=10 and 25
        How many words of each topic count for coherence, and for diversity.
    say : callable, optional
        Called with a description of the next step.

    Returns
    -------
    TopicSummary
        All of the numbers.

    Examples
    --------
    >>> from laconic import RLSI, Bundle, Corpus
    >>> corpus = Corpus.from_texts(["sun and moon", "moon, sun", "salt and pepper", "pepper, salt"])
    >>> model = RLSI(2, topic_norm="l0", terms_per_topic=2, random_state=0).fit(corpus.X)
    >>> found = summarise_topics(Bundle(model, corpus.vectorizer), corpus)
    >>> found.density, found.diversity, found.coherence["npmi"].mean
    (0.5, 1.0, 1.0)
    """
    model: Any = bundle.model
    sizes = model.topic_sizes_
    alive = sizes[sizes > 0]
    words = (int(alive.min()), float(np.median(alive)), int(alive.max())) if alive.size else (0, 0.0, 0)
    say("listing the topics")
    topics = bundle.topic_words(
        model.n_features_in_ if _signed(model.components_) else max(n_terms, n_diverse)
    )
    found: dict[Measure, Coherence] = {}
    if corpus is not None:
        for measure, name in _NAMES.items():
            say(f"coherence {name}")
            found[measure] = coherence(topics, corpus, measure=measure, n_terms=n_terms)
    return TopicSummary(
        n_topics=len(sizes),
        n_alive=int(model.n_alive_),
        words=words,
        density=float(model.density_),
        diversity=diversity(topics, n_diverse),
        n_terms=n_terms,
        n_diverse=n_diverse,
        coherence=found,
    )


def _signed(components: Any) -> bool:
    """Whether words of one sign, which are those that count, may be far down the list."""
    weights = components.data if issparse(components) else components
    return bool(weights.min(initial=0) < 0)
