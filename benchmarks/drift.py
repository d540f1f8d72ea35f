"""How strongly topics should be held while they are followed through time.

    python benchmarks/drift.py reuters21578 --by month
    python benchmarks/drift.py nips12 --by year
    python benchmarks/drift.py 20newsgroups --random 6

nips12 has no years: its papers come volume by volume, and equal parts stand for the thirteen volumes. With
`--random`, documents get dates by chance, in so many years: nothing should move there. Told are, for each
strength: the share of topics, over all periods, that are nearer to their own topic of the whole model than to
any other; the median of how far topics have moved; how many of its forty words a topic gains in a period; and
the topic that has moved most.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import laconic
from laconic import Corpus, datasets
from laconic.bundle.fitting import fit_bundle
from laconic.models.making import make_model
from laconic.steering.drift import Drift

N_VOLUMES = 13
STRENGTHS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.3)


def dated(name: str, n_random: int | None) -> Corpus:
    """The documents of a data set with their dates, or with dates by chance."""
    if name == "nips12":
        # its papers come volume by volume, without years: equal parts stand for the volumes
        corpus = datasets.load(name).corpus()
        years = 1987 + N_VOLUMES * np.arange(corpus.shape[0]) // corpus.shape[0]
        return Corpus(corpus.counts, corpus.vectorizer, ids=corpus.ids, dates=[str(year) for year in years])
    texts: Any = datasets.load(name)
    if n_random is not None:
        years = 2000 + np.random.default_rng(0).integers(0, n_random, len(texts.texts))
        return Corpus.from_texts(texts.texts, dates=[str(year) for year in years])
    if name != "reuters21578":
        raise SystemExit(f"{name} has no dates: give --random")
    written = [datetime.strptime(day.split()[0], "%d-%b-%Y") for day in texts.extra["date"]]
    return Corpus.from_texts(texts.texts, dates=[f"{day:%Y-%m-%d}" for day in written])


def near_themselves(bundle: laconic.Bundle, found: Drift) -> float:
    """Which share of topics, over all periods, is nearest to its own topic of the whole model."""
    places = {term: m for m, term in enumerate(bundle.vocabulary)}
    whole = csr_array(bundle.model.components_).toarray()
    whole /= np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1e-30)
    right = []
    for course in found.topics:
        for moment in course.moments:
            row = np.zeros(whole.shape[1])
            for word, weight in moment.words:
                row[places[word]] = weight
            right.append(int((whole @ row).argmax()) == course.topic)
    return float(np.mean(right))


def told(bundle: laconic.Bundle, found: Drift, strength: float, seconds: float) -> str:
    moved = [course.moved for course in found.topics]
    later: Sequence[Any] = [moment for course in found.topics for moment in course.moments[1:]]
    gained = np.mean([len(moment.gained) for moment in later])
    most = found.most_moved(1)[0]
    words = [
        ", ".join(word for word, _ in moment.words[:5]) for moment in (most.moments[0], most.moments[-1])
    ]
    return (
        f"| {strength:g} | {near_themselves(bundle, found):.0%} | {np.median(moved):.2f} | {gained:.1f} | "
        f"{most.topic}: {words[0]} → {words[1]} | {seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection")
    parser.add_argument("--by", default="year")
    parser.add_argument("--random", type=int, metavar="YEARS")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--strengths", nargs="+", type=float, default=list(STRENGTHS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = dated(given.collection, given.random)
    bundle = fit_bundle(make_model("rlsi", given.topics, random_state=0), {"": corpus})
    print("| strength | nearest to itself | moved, median | words gained | moved most | CPU seconds |")
    print("|---|---|---|---|---|---|")
    for strength in given.strengths:
        began = time.process_time()
        found = bundle.drift(given.by, strength=strength, n_terms=40)
        print(told(bundle, found, strength, time.process_time() - began), flush=True)


if __name__ == "__main__":
    main()
