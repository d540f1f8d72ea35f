"""What sentence vectors add to words and topics in a search, and what each of them costs.

    LACONIC_DATA=... python -m benchmarks.vectors --page docs/performance-vectors.md     (some minutes)

Collections with judged queries; English stop words, stems. Topics are RLSI's, of 5 % of the words. Vectors
are those of all-MiniLM-L6-v2 (extra ``encoders``). The part of vectors that is the default is that which two
collections prefer; two others show what it is worth.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.encoders import PACKAGE
from benchmarks.report import Report
from numpy.typing import NDArray

from laconic import RLSI, datasets
from laconic.search import SearchIndex
from laconic.search.index import BLEND, VECTOR_BLEND
from laconic.search.tuning import VECTOR_BLENDS, Tuning

CHOOSING, CONFIRMING = ("time", "npl"), ("cranfield", "cacm")
# As the page says.
N_TOPICS, SHARE_OF_WORDS = 200, 0.05
PAGE = """# Words, topics and vectors in search

Measured by `make bench-vectors` in one run: {headline}. The numbers are mean average precision
(MAP) over all judged queries.

- BM25 has its default parameters.
- Topics are those of `RLSI`: 200, or a quarter of the number of documents if that is less, each with 5 % of
  the words.
- Vectors are those of all-MiniLM-L6-v2, a sentence encoder, which reads the first 256 tokens of a text.
- "Best blend" is the best one for each collection: topics in steps of 0.05, vectors in steps of 0.1.
- CPU seconds are those of fitting the topics and of encoding all documents, on two cores.
- The default part of vectors is the best one on time and npl. The end of this page tells what it is worth on
  cranfield and cacm; all four had been seen before it was settled which of them choose and which confirm.
"""


def encoder() -> Any:
    """The sentence encoder, from its package: nothing is downloaded."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(import_module(PACKAGE).get_model_path()), device="cpu")
    # The first call prepares things, which no text is charged for.
    model.encode(["first"], show_progress_bar=False)
    return model


def timed(function: Any) -> tuple[Any, float]:
    """What a function gives, and the CPU seconds of all threads that it took."""
    began = time.process_time()
    found = function()
    return found, time.process_time() - began


class Collection:
    """A collection, its index with vectors, and what topics and vectors cost."""

    def __init__(self, name: str, model: Any) -> None:
        data: Any = datasets.load(name)
        self.name, self.qrels = name, data.qrels
        self.queries = {
            key: text for key, text in data.queries.items() if any(data.qrels.get(key, {}).values())
        }
        corpus = data.corpus(min_df=1, stemmer="english", keep_texts=True)
        n_documents, n_terms = corpus.shape
        n_topics = min(N_TOPICS, n_documents // 4)
        words = round(SHARE_OF_WORDS * n_terms)
        rlsi = RLSI(n_topics, topic_norm="l0", terms_per_topic=words, random_state=0)
        # compiled before it is timed
        RLSI(2, topic_norm="l0", terms_per_topic=4, random_state=0).fit(corpus.X[:20])
        topics, self.topic_seconds = timed(lambda: rlsi.fit(corpus.X))
        texts = list(corpus.texts)
        vectors, self.vector_seconds = timed(lambda: np.asarray(model.encode(texts), np.float32))
        self.asked: NDArray[np.float32] = np.asarray(model.encode(list(self.queries.values())), np.float32)
        self.index = SearchIndex(corpus, topics, vectors=vectors)
        self.size = f"{n_documents:,}"

    def tuned(self, **grids: Any) -> Tuning:
        """The best of some blends, with the default parameters of BM25."""
        return self.index.tune(self.queries, self.qrels, vectors=self.asked, k1=[1.2], b=[0.75], **grids)

    def row(self) -> dict[str, Any]:
        """What is found by words, with topics, with vectors, and with both."""
        words = self.tuned(blends=[0.0], vector_blends=[0.0])
        topics = self.tuned(vector_blends=[0.0])
        vectors = self.tuned(blends=[0.0])
        both = self.tuned()
        # by default
        defaults = self.tuned(blends=[BLEND]).vector_blends
        return {
            "name": self.name,
            "size": self.size,
            "words": words.score,
            "topics": topics.score,
            "vectors": vectors.score,
            "both": both.score,
            "blends": f"{both.blend:g}, {both.vector_blend:g}",
            "topic seconds": self.topic_seconds,
            "vector seconds": self.vector_seconds,
            "by default": defaults,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", nargs="*", default=[*CONFIRMING, *CHOOSING])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    model = encoder()
    rows = [Collection(name, model).row() for name in options.collections]
    report = Report(PAGE, f"{len(rows)} collections")
    precise, seconds = "{:.3f}".format, "{:.1f} s".format
    report.add(
        "MAP of the best blend",
        rows,
        {
            "name": ("what", str),
            "size": ("documents", str),
            "words": ("BM25", precise),
            "topics": ("BM25 + topics", precise),
            "vectors": ("BM25 + MiniLM", precise),
            "both": ("all three", precise),
            "blends": ("its blends (topics, vectors)", str),
            "topic seconds": ("CPU, topics", seconds),
            "vector seconds": ("CPU, vectors", seconds),
        },
    )
    for row in rows:
        row |= {f"{part:g}": value for part, value in row["by default"].items()}
    report.add(
        f"MAP by the part of vectors, with {BLEND:g} for topics (the default part is {VECTOR_BLEND:g})",
        rows,
        {"name": ("what", str), **{f"{part:g}": (f"{part:g}", precise) for part in VECTOR_BLENDS}},
    )
    report.page.append(verdict({row["name"]: row["by default"] for row in rows}))
    report.write(options.json, options.page)


def verdict(precision: dict[str, dict[float, float]]) -> str:
    """What the default part of vectors is worth: where it was chosen, and where it was not."""
    lines = []
    for names, role in ((CHOOSING, "chosen on"), (CONFIRMING, "confirmed on")):
        known = [precision[name] for name in names if name in precision]
        if known:
            means = {part: float(np.mean([each[part] for each in known])) for part in VECTOR_BLENDS}
            best = max(means, key=lambda part: means[part])
            lines.append(
                f"- **{role.capitalize()} {', '.join(names)}**: the mean is {means[VECTOR_BLEND]:.4f} with "
                f"the default part, {VECTOR_BLEND:g}. It is {means[0.0]:.4f} without vectors, and at best "
                f"{means[best]:.4f}, with {best:g}."
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
