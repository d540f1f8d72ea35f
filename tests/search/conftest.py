"""A small collection with known topics, as texts."""

from __future__ import annotations

import numpy as np
import pytest

from laconic import RLSI, Corpus
from laconic.search import SearchIndex

FIELDS = {
    "sky": ["sun", "moon", "star", "planet", "comet", "orbit", "galaxy", "telescope"],
    "food": ["salt", "pepper", "chilli", "garlic", "onion", "butter", "flour", "oven"],
    "sea": ["ship", "sail", "anchor", "harbour", "wave", "tide", "whale", "captain"],
}
WORDS = [word for words in FIELDS.values() for word in words]


def written(n_documents=90, seed=0):
    """Texts about one field each, with some words of the others and one that all have; two are empty."""
    random = np.random.default_rng(seed)
    names = list(FIELDS)
    texts, labels = [], []
    for number in range(n_documents):
        field = names[number % len(names)]
        words = random.choice(FIELDS[field], random.integers(3, 12)).tolist()
        words += random.choice(WORDS, random.integers(0, 3)).tolist()
        texts.append("" if number in (10, 50) else f"Thing {' '.join(words)}.")
        labels.append(field)
    return texts, labels


@pytest.fixture(scope="session")
def texts():
    return written()[0]


@pytest.fixture(scope="session")
def corpus():
    texts, labels = written()
    return Corpus.from_texts(texts, labels=labels, ids=[f"d{n}" for n in range(len(texts))], max_df=1.0)


@pytest.fixture(scope="session")
def model(corpus):
    return RLSI(4, alpha_topics=0.1, alpha_docs=0.1, random_state=0, max_iter=500).fit(corpus.X)


@pytest.fixture
def index(corpus, model, texts):
    return SearchIndex(corpus, model, texts=texts, n_jobs=1)
