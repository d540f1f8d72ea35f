"""Topics of two models in pairs, beside all pairings there are; and fits on halves of the documents."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import decomposition

from laconic import NMF, PLSA, RLSI
from laconic.corpus import Corpus
from laconic.evaluate import stability, topic_overlap

WORDS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=4, unique=True), min_size=1, max_size=4)


def naive_total(topics, others):
    """The most that any pairing has in common."""
    wide = max(len(topics), len(others))
    padded = others + [[]] * (wide - len(others))

    def share(a, b):
        return len(set(a) & set(b)) / max(1, len(a), len(b))

    return max(
        sum(share(a, padded[k]) for a, k in zip(topics, order, strict=False))
        for order in permutations(range(wide))
    )


@given(WORDS, WORDS)
def test_pairs_have_the_most_in_common(topics, others):
    found = topic_overlap(topics, others)
    assert len(found) == len(topics)
    assert found.sum() == pytest.approx(naive_total(topics, others))


def test_only_the_heaviest_words_count_whatever_their_sign():
    topics = np.array([[3.0, -2, 1, 0], [0, 0, 1, 5]])
    others = np.array([[0, 0, 0, 7.0], [2, 2, 0, 0]])
    assert topic_overlap(topics, others, n_terms=2).tolist() == [1, 0.5]
    assert topic_overlap(csr_array(topics), others, n_terms=1).tolist() == [1, 1]


def test_a_topic_without_words_comes_back_nowhere():
    assert topic_overlap(np.zeros((2, 3)), np.ones((2, 3))).tolist() == [0, 0]


# scikit-learn 1.6 takes the root of what rounding leaves of a loss
@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt:RuntimeWarning")
@pytest.mark.parametrize("kind", [NMF, PLSA, RLSI, decomposition.NMF])
def test_topics_that_are_there_come_back(kind):
    X = np.kron(np.eye(3), np.ones((30, 4)))
    model = kind(3, random_state=0).fit(X)
    found = stability(model, csr_array(X), n_samples=3)
    assert found.mean == 1
    assert found.per_topic.tolist() == [1, 1, 1]
    assert found.pairs.shape == (3,)


def test_topics_of_noise_do_not_come_back():
    X = np.random.RandomState(0).poisson(0.2, (200, 300))
    assert stability(NMF(5, random_state=0), X, n_samples=3).mean < 0.6


def test_a_corpus_gives_models_what_they_want():
    corpus = Corpus.from_counts(np.kron(np.eye(2), np.ones((10, 3))), list("abcdef"))
    told = []
    found = stability(
        PLSA(2, random_state=0), corpus, n_samples=2, n_terms=3, progress=lambda *n: told.append(n)
    )
    assert found.mean == 1
    assert found.per_topic is None
    assert told == [(1, 2), (2, 2)]


def test_one_sample_has_nothing_to_compare():
    with pytest.raises(ValueError, match="n_samples"):
        stability(NMF(2), np.eye(3), n_samples=1)
