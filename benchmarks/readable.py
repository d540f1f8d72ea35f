"""Do the topics read well? Prints all topics of real collections, for several starts and penalties.

    python -m benchmarks.readable [--markdown]

Needs the data sets 20newsgroups and nips12: `laconic datasets` says where they are looked for.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from laconic import RLSI, Corpus, datasets
from laconic.evaluate import coherence

K = 20


def news() -> Corpus:
    """20newsgroups without headers, quotations and signatures.

    Words in more than a tenth of all messages ("just", "know", "like") are about nothing in particular.
    """
    return datasets.load("20newsgroups").corpus(min_df=5, max_df=0.1)


def papers() -> Corpus:
    """The NIPS papers of 1988 to 1999."""
    return datasets.load("nips12").corpus(min_df=5, max_df=0.5)


def report(name: str, corpus: Corpus, model: RLSI, seconds: float) -> None:
    sizes = model.topic_sizes_
    npmi = coherence(model.topics(corpus.vocabulary, None), corpus).mean
    print(
        f"\n{name}: {model.n_iter_} iterations, {seconds:.1f} s, {model.n_alive_} alive, "
        f"words a topic {sizes.min()} to {sizes.max()} (median {int(np.median(sizes))}), "
        f"density {model.density_:.2%}, largest cosine {model.max_cosine_:.2f}, "
        f"distinct words {model.distinct_terms_:.0%}, coherence (NPMI) {npmi:.3f}"
    )


def show(corpus: Corpus, model: RLSI, markdown: bool) -> None:
    for number, topic in enumerate(model.topics(corpus.vocabulary, 10)):
        words = " ".join(f"-{term}" if weight < 0 else term for term, weight in topic)
        print(f"| {number} | {words} |" if markdown else f"{number:4}  {words}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    variants: dict[str, dict[str, Any]] = {
        "as by default: word budget of 40, non-negative": {
            "topic_norm": "l0",
            "nonnegative": "both",
            "init": "svd",
        },
        "word budget of 40, signed": {"topic_norm": "l0"},
        "l1": {},
        "l1, non-negative": {"nonnegative": True},
    }
    for name, corpus in (("20newsgroups", news()), ("nips12", papers())):
        print(f"\n## {name}: {corpus!r}")
        for variant, parameters in variants.items():
            for seed in range(3):
                began = time.perf_counter()
                model = RLSI(K, random_state=seed, **parameters).fit(corpus.X)
                report(f"{variant}, seed {seed}", corpus, model, time.perf_counter() - began)
                if seed == 0:
                    show(corpus, model, options.markdown)


if __name__ == "__main__":
    main()
