"""The articles whose topics are shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from laconic import datasets
from laconic.experiments.parts import SEED, Say

DATASET = "bbc_news"


def news(quick: bool, say: Say) -> tuple[Any, Any]:
    """BBC news, and their words as a corpus; some hundred articles for a quick run."""
    data: Any = datasets.load(DATASET)
    if quick:
        data = data.where(np.random.default_rng(SEED).permutation(len(data))[:300])
    say(f"{DATASET}: counting words")
    return data, data.corpus(min_df=2, max_df=0.5, weighting="tfidf")
