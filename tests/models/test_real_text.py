"""Real collections: topics live, keep to their budget, and hang together."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from laconic import RLSI, Corpus


@pytest.fixture(scope="module")
def cranfield(data_dir):
    with gzip.open(data_dir / "cranfield" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    return Corpus.from_texts([f"{d['title']} {d['text']}" for d in documents])


@pytest.mark.parametrize("nonnegative", [False, True])
def test_word_budget(cranfield, nonnegative):
    model = RLSI(30, topic_norm="l0", terms_per_topic=20, nonnegative=nonnegative, random_state=0)
    model.fit(cranfield.X)
    assert (model.topic_sizes_ == 20).all()
    assert model.max_cosine_ < 0.8
    assert model.distinct_terms_ > 0.4
    if nonnegative:
        assert model.components_.data.min() > 0


@pytest.mark.parametrize(("init", "most"), [("documents", 0.05), ("svd", 0.07)])
def test_default_penalty_gives_short_living_topics(cranfield, init, most):
    model = RLSI(30, init=init, random_state=0).fit(cranfield.X)
    assert model.n_alive_ == 30
    assert model.n_short_ <= 3
    assert 0.001 < model.density_ < most
    assert (np.diff(model.objective_history_) <= 1e-6 * model.objective_history_[:-1]).all()


def test_words_of_a_topic_occur_together(cranfield):
    """The first two words of a topic share more documents than independent words would, by far."""
    model = RLSI(20, topic_norm="l0", nonnegative=True, random_state=0).fit(cranfield.X)
    present = (cranfield.counts > 0).astype(float).tocsc()
    column = {term: m for m, term in enumerate(cranfield.vocabulary)}
    lifts = []
    for (first, _), (second, _) in model.topics(cranfield.vocabulary, 2):
        a, b = present[:, [column[first]]].toarray(), present[:, [column[second]]].toarray()
        lifts.append((a * b).mean() / (a.mean() * b.mean()))
    assert np.median(lifts) > 3


def test_topics_find_related_documents(cranfield):
    """Documents near each other in topics share words more often than documents at random."""
    weights = RLSI(50, topic_norm="l0", nonnegative=True, random_state=0).fit_transform(cranfield.X)
    unit = weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -1)
    nearest = cosines.argmax(axis=1)
    near = cranfield.X.multiply(cranfield.X[nearest]).sum(axis=1).mean()
    shifted = cranfield.X.multiply(cranfield.X[np.roll(np.arange(len(nearest)), 700)]).sum(axis=1).mean()
    assert near > 4 * shifted
