"""Where a fit begins: documents that are drawn, or topics that are given."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.utils import check_array, check_random_state

from laconic.engines import Engine, Shards
from laconic.errors import Parameter, ParameterError
from laconic.losses.totals import norms_of_documents
from laconic.matrices import check_indices


class Start(NamedTuple):
    """Where to begin: at what a word says, or at given topics."""

    init: Any
    random_state: Any

    @property
    def drawn(self) -> bool:
        """Whether the start is named, not given."""
        return isinstance(self.init, str)

    def random(self) -> np.random.RandomState:
        """The generator of the start's chances."""
        return check_random_state(self.random_state)


SMALLEST_SAMPLE = 1000
SAMPLE_PER_TOPIC = 8
# 1 - cos^2 of two documents that are the same but for rounding
SAME_DOCUMENT = 1e-5


def with_words(shards: Shards, engine: Engine) -> NDArray[np.int64]:
    """The documents that are not empty."""
    return np.flatnonzero(norms_of_documents(shards, engine) > 0)


def document_topics(
    shards: Shards,
    engine: Engine,
    n_topics: int,
    random: np.random.RandomState,
    usable: NDArray[np.int64],
) -> csr_array:
    """Topics × terms: documents that have little in common, each scaled to length one.

    Documents are drawn one after the other, the more likely the less they resemble those drawn before
    (as k-means++ draws its centres), from a random sample of the `usable` ones, those with words. A
    document is a sparse topic whose words occur together: so the first iteration is as cheap as the later
    ones, topics start apart, and no part of the collection is left without a topic near it. If there are too
    few different documents, random halves of documents follow; without any words, topics are zero.
    """
    if usable.size == 0:
        return csr_array((n_topics, shards.n_terms), dtype=shards.dtype)
    sample = random.permutation(usable)[: max(SMALLEST_SAMPLE, SAMPLE_PER_TOPIC * n_topics)]
    documents = unit_budget(engine.sample(shards, sample), shards.n_terms, nonnegative=False)
    topics = documents[_far_apart(documents, n_topics, random)]
    missing = n_topics - topics.shape[0]
    if missing:
        halves = engine.sample(shards, random.choice(usable, missing)).copy()
        kept = random.random_sample(halves.nnz) < 0.5
        kept[halves.indptr[:-1]] = True  # so that no half is empty
        halves.data[~kept] = 0
        halves.eliminate_zeros()
        halves = unit_budget(halves, shards.n_terms, nonnegative=False)
        topics = vstack([topics, halves], format="csr")
    return csr_array(topics)


def _far_apart(documents: csr_array, n_topics: int, random: np.random.RandomState) -> list[int]:
    """Rows drawn in proportion to (1 - cos^2)^8 with the nearest of those drawn before; none twice."""
    apart = np.ones(documents.shape[0])
    chosen: list[int] = []
    while len(chosen) < n_topics and apart.any():
        likely = apart**8  # sharp: of clearly separate groups, hardly one is left out
        pick = int(random.choice(apart.size, p=likely / likely.sum()))
        chosen.append(pick)
        cosines = documents @ documents[[pick]].toarray().ravel()
        apart = np.minimum(apart, 1 - cosines.astype(np.float64) ** 2)
        apart[apart < SAME_DOCUMENT] = 0
        apart[pick] = 0
    return chosen


def given_topics(init: Any, n_topics: int, n_terms: int, dtype: Any, nonnegative: bool) -> csr_array:
    """Topics that a caller starts from, checked."""
    check_indices(init, "init")
    topics = csr_array(check_array(init, accept_sparse="csr", dtype=dtype, copy=True))
    if topics.shape != (n_topics, n_terms):
        raise ParameterError(
            Parameter("init"),
            f" has shape {topics.shape}, but {n_topics} topics over {n_terms} terms "
            f"need {(n_topics, n_terms)}",
        )
    if nonnegative and topics.nnz and topics.data.min() < 0:
        raise ParameterError(Parameter("init"), " has negative words, but these topics must be non-negative")
    topics.sum_duplicates()
    topics.eliminate_zeros()
    return topics


def unit_budget(topics: csr_array, budget: int, nonnegative: bool) -> csr_array:
    """Each topic cut to its `budget` largest words and scaled to length one (zero topics stay zero)."""
    indices, data, ends = [topics.indices[:0]], [topics.data[:0]], [0]
    # topic by topic: all together, ranks and owners of wide topics would take several times their memory
    for begin, end in pairwise(topics.indptr.tolist()):
        entries = topics.data[begin:end]
        size = np.maximum(entries, 0) if nonnegative else np.abs(entries)
        keep = size > 0
        if np.count_nonzero(keep) > budget:
            least = np.partition(size, size.size - budget)[size.size - budget]
            keep = size > least
            # of equal words the first stay
            keep[np.flatnonzero(size == least)[: budget - np.count_nonzero(keep)]] = True
        kept = entries[keep]
        length = np.sqrt(np.square(kept, dtype=np.float64).sum())
        data.append((kept / length).astype(topics.dtype))
        indices.append(topics.indices[begin:end][keep])
        ends.append(ends[-1] + kept.size)
    return csr_array((np.concatenate(data), np.concatenate(indices), np.array(ends)), shape=topics.shape)
