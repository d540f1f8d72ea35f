"""What is kept of documents of earlier batches, for the divergence: the counts that topics had of each term.

The log-likelihood of those documents is not known any more for other topics than those they were seen with,
but it lies between two functions that are. Let n_km be the counts that topic k was expected to have of term
m, n_m their sum, and c'_km the chances at that time.

- If every occurrence of a term stays with its topic, it is  sum n_km log c_km. That is less than the truth
  (expectation-maximisation's own bound): topics cling to where they were.
- If all occurrences of a term are one pool, it is  sum n_m log sum_k (n_km / c'_km) c_km. By Jensen's
  inequality that is more than the truth, as long as documents keep their weights: topics move too easily.

Both have the value and the gradient of the truth where the topics are those of that time. The objective of a
batch has half of each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import xlogy

from laconic.engines import Block
from laconic.losses.factor import Floats

FIXED = 0.5
"""The share of counts that stay with their topics, by measurement; the others are shared out anew."""
TERMS_PER_BLOCK = 4096


class Remembered:
    """Counts of documents that are gone, of which topics share some out anew.

    Parameters
    ----------
    counts : ndarray of shape (n_terms, n_topics)
        What topics were expected to have.
    topics : array of shape (n_terms, n_topics)
        The chances at that time, each topic a distribution.
    """

    def __init__(self, counts: Floats, topics: Floats) -> None:
        self.counts = counts
        self._of_terms = counts.sum(axis=1)
        self._of_topics = counts.sum(axis=0)
        self._ratios = np.zeros_like(counts)
        np.divide(counts, topics, out=self._ratios, where=topics > 0)

    def expected(self, terms: Block, topics: Floats) -> Floats:
        """The counts of some terms (terms × topics), if topics are these."""
        own = slice(terms.start, terms.stop)
        shared = self._ratios[own] * topics[own]
        sums = shared.sum(axis=1)
        sizes = np.divide(self._of_terms[own], sums, out=np.zeros_like(sums), where=sums > 0)
        shared *= ((1 - FIXED) * sizes)[:, None]
        shared += FIXED * self.counts[own]
        return np.asarray(shared)

    def divergence(self, topics: Floats) -> float:
        """How far topics are from where these counts would have them."""
        least = np.finfo(topics.dtype).tiny
        total = 0.0
        for own in self._blocks():
            counts, chances = self.counts[own], np.maximum(topics[own], least, dtype=np.float64)
            fixed = xlogy(counts, counts) - xlogy(counts, chances * self._of_topics)
            pooled = np.maximum((self._ratios[own] * chances).sum(axis=1), least)
            sizes = self._of_terms[own]
            total += FIXED * float(fixed.sum())
            total += (1 - FIXED) * float((xlogy(sizes, sizes) - xlogy(sizes, pooled)).sum())
        return total

    def _blocks(self) -> Iterator[slice]:
        n_terms = len(self.counts)
        for first in range(0, n_terms, TERMS_PER_BLOCK):
            yield slice(first, min(first + TERMS_PER_BLOCK, n_terms))

    def shared_out(self, topics: Floats) -> Floats:
        """All counts (terms × topics), if topics are these."""
        return self.expected(Block(0, len(self.counts)), topics)
