"""A corpus generator with Zipfian words and planted topics, for every benchmark.

A document draws a part of its tokens from one to three planted topics and the rest from a Zipfian
background, so that both the frequency profile (which decides speed) and the topics (which decide
whether a model found anything) are known. Documents depend on the seed and their own number only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array


class ZipfCorpus(NamedTuple):
    """Counts, the class of every document, and the planted topics with their owner (-1: shared)."""

    counts: csr_array
    labels: NDArray[np.int64]
    topics: csr_array
    owner: NDArray[np.int64]

    def tfidf(self) -> csr_array:
        """Smooth tf-idf with rows of unit length, float32, in place of the counts' own data."""
        n, m = self.counts.shape
        frequency = np.bincount(self.counts.indices, minlength=m)
        idf = (np.log((1 + n) / (1 + frequency)) + 1).astype(np.float32)
        data = self.counts.data * idf[self.counts.indices]
        norms = np.sqrt(np.add.reduceat(data * data, self.counts.indptr[:-1]))
        data /= np.repeat(norms, np.diff(self.counts.indptr))
        return csr_array((data, self.counts.indices, self.counts.indptr), shape=self.counts.shape)


@njit(nogil=True, cache=True)
def _uniform(state: Any) -> Any:
    """SplitMix64: one step of the state and a uniform number of it."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(nogil=True, cache=True)
def _draw(seed, labels, length, topic_share, background, words, word_cdf, choices, choices_ptr, out, indptr):
    """Fill `out` with the sorted distinct terms of each document, the count in the upper 32 bits."""
    state = np.empty(1, np.uint64)
    mixture = np.empty(3, np.int64)
    tokens = np.empty(1 << 16, np.int64)
    position = 0
    for n in range(labels.size):
        state[0] = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(n) * np.uint64(
            0x2545F4914F6CDD1D
        )
        _uniform(state)
        # lengths: log-normal around the mean, sigma 0.5
        gauss = np.sqrt(-2 * np.log(1 - _uniform(state))) * np.cos(2 * np.pi * _uniform(state))
        size = max(1, min(tokens.size, int(length * np.exp(0.5 * gauss - 0.125))))
        available = choices[choices_ptr[labels[n]] : choices_ptr[labels[n] + 1]]
        active = 1 + int(3 * _uniform(state))
        for j in range(active):
            mixture[j] = available[int(available.size * _uniform(state))]
        for i in range(size):
            if _uniform(state) < topic_share:
                k = mixture[int(active * _uniform(state))]
                tokens[i] = words[k, np.searchsorted(word_cdf, _uniform(state))]
            else:
                tokens[i] = np.searchsorted(background, _uniform(state))
        drawn = np.sort(tokens[:size])
        i = 0
        while i < size:
            j = i + 1
            while j < size and drawn[j] == drawn[i]:
                j += 1
            if position == out.size:
                return -1
            out[position] = (np.int64(j - i) << 32) | drawn[i]
            position += 1
            i = j
        indptr[n + 1] = position
    return position


def _topic_words(rng: np.random.Generator, n_topics: int, n_terms: int, size: int) -> NDArray[np.int64]:
    """Distinct words from the body of the vocabulary: neither its stop words nor its one-offs."""
    low, high = min(50, n_terms // 4), max(n_terms // 3, min(n_terms, 4 * size))
    if high - low < size:
        raise ValueError(f"a vocabulary of {n_terms} terms is too small for topics of {size}")
    words = np.empty((n_topics, size), np.int64)
    for row in words:
        drawn = low + (rng.random(8 * size) ** 2 * (high - low)).astype(np.int64)
        distinct = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        if distinct.size < size:
            distinct = rng.permutation(np.arange(low, high))
        row[:] = distinct[:size]
    return words


def zipf_corpus(
    n_documents: int,
    n_terms: int,
    *,
    length: float = 150.0,
    n_topics: int = 100,
    n_per_class: int = 0,
    class_sizes: NDArray[np.int64] | None = None,
    terms_per_topic: int = 40,
    topic_share: float = 0.4,
    seed: int = 0,
) -> ZipfCorpus:
    """Draw a corpus: `n_topics` shared topics, and `n_per_class` more for each of `class_sizes`."""
    rng = np.random.default_rng(seed)
    rank = np.arange(n_terms) + 2.7
    background = np.cumsum(rank**-1.07)
    background /= background[-1]
    sizes = np.array([n_documents]) if class_sizes is None else np.asarray(class_sizes)
    if sizes.sum() != n_documents:
        raise ValueError(f"class_sizes add up to {sizes.sum()}, not to n_documents={n_documents}")
    owner = np.concatenate([np.full(n_topics, -1), np.repeat(np.arange(sizes.size), n_per_class)])
    words = _topic_words(rng, owner.size, n_terms, terms_per_topic)
    weights = (np.arange(terms_per_topic) + 3.0) ** -0.7
    weights /= np.linalg.norm(weights)
    word_cdf = np.cumsum(weights / weights.sum())
    word_cdf[-1] = 1.0
    available = [np.flatnonzero((owner == -1) | (owner == p)) for p in range(sizes.size)]
    choices_ptr = np.concatenate([[0], np.cumsum([a.size for a in available])])
    labels = np.repeat(np.arange(sizes.size), sizes)
    out = np.empty(int(n_documents * length * 1.05) + 65536, np.int64)
    indptr = np.zeros(n_documents + 1, np.int64)
    used = _draw(
        seed, labels, length, topic_share, background, words, word_cdf,
        np.concatenate(available), choices_ptr, out, indptr,
    )  # fmt: skip
    if used < 0:
        raise RuntimeError("the corpus came out longer than planned")
    out = out[:used]
    small = used < np.iinfo(np.int32).max
    indices = (out & 0xFFFFFFFF).astype(np.int32)
    counts = csr_array(
        ((out >> 32).astype(np.float32), indices, indptr.astype(np.int32) if small else indptr),
        shape=(n_documents, n_terms),
    )
    topics = csr_array(
        (np.tile(weights, owner.size), words.ravel(), np.arange(owner.size + 1) * terms_per_topic),
        shape=(owner.size, n_terms),
    )
    return ZipfCorpus(counts, labels, topics, owner)
