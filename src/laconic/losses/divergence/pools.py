"""What is kept of documents of earlier batches, for the divergence: pools of documents with similar weights.

Documents that mix the topics in the same proportions are as likely, for all topics, as one document with all
their words. So a few hundred pools stand for any number of documents, and unlike the counts that topics were
expected to have of them, pools get new weights when topics change.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from laconic.engines import Engine, Shard, Shards, even_blocks
from laconic.engines.shards import ROWS_PER_BLOCK
from laconic.losses.divergence.starts import lengths
from laconic.losses.factor import Floats

POOLS, POOLS_PER_TOPIC = 1000, 2
"""How many there are at most, by measurement; more if there are many topics."""
# Of k-means; more of them hardly make better pools.
ROUNDS = 5


def joined(pools: csr_array, shards: Shards) -> Shards:
    """Pools of documents before, then the documents of a batch."""
    batch = shards[0].X
    both = csr_array(vstack([pools.astype(batch.dtype), batch], format="csr"))
    # what is forgotten altogether is not there
    both.eliminate_zeros()
    return Shards.whole(both)


def pooled(shards: Shards, engine: Engine) -> csr_array:
    """Documents in pools (pools × terms), by the weights that they have."""
    (weights,), (sizes,) = (engine.each(shards, function, None) for function in (_weights, _lengths))
    groups = alike(np.asarray(weights, np.float64), sizes, max(POOLS, POOLS_PER_TOPIC * weights.shape[1]))
    documents = np.flatnonzero(groups >= 0)
    places = groups[documents], documents
    shape = int(groups.max(initial=-1)) + 1, len(groups)
    members = csr_array((np.ones(len(documents)), places), shape=shape)
    pools = csr_array(members @ shards[0].X.astype(np.float64))
    pools.sort_indices()
    return pools


def alike(weights: Floats, sizes: Floats, n_groups: int) -> NDArray[np.int64]:
    """The groups of documents (or none, -1, of empty ones) that mix topics alike.

    Beginning with one group, the one that varies most, counted by words, is cut in two at its mean, along the
    topic in which it varies most. Then documents join the group whose mean is nearest, a few times over.
    Distances are those between roots of shares.
    """
    groups = np.full(len(weights), -1)
    filled = np.flatnonzero(sizes > 0)
    sums = weights[filled].sum(axis=1, keepdims=True)
    shares = weights[filled] / np.maximum(sums, np.finfo(np.float64).tiny)
    roots, sizes = np.sqrt(shares), sizes[filled]
    heap = [_cut(np.arange(len(filled)), roots, sizes)] if len(filled) else []
    while len(heap) < n_groups and heap and heap[0].variation < 0:
        most = heapq.heappop(heap)
        for part in (most.members[most.low], most.members[~most.low]):
            heapq.heappush(heap, _cut(part, roots, sizes))
    found = np.zeros(len(filled), np.int64)
    for group, cut in enumerate(heap):
        found[cut.members] = group
    groups[filled] = _settled(found, roots, sizes) if len(heap) == n_groups else found
    return groups


def _settled(groups: NDArray[np.int64], roots: Floats, sizes: Floats) -> NDArray[np.int64]:
    """The groups after some rounds of k-means, numbered without gaps."""
    for _ in range(ROUNDS):
        members = csr_array((sizes, (groups, np.arange(len(groups)))))
        means = (members @ roots) / members.sum(axis=1)[:, None]
        lengths = np.square(means).sum(axis=1) / 2
        nearest = [
            (lengths - roots[rows.start : rows.stop] @ means.T).argmin(axis=1)
            for rows in even_blocks(len(roots), ROWS_PER_BLOCK)
        ]
        groups = np.unique(np.concatenate(nearest), return_inverse=True)[1]
    return groups


class _Cut(NamedTuple):
    """A group, and where it would be cut; the first of a heap is that which varies most."""

    variation: float
    """Times -1; zero if the group cannot be cut."""
    first: int
    """A document of it, so that no two of a heap compare equal."""
    members: NDArray[np.int64]
    low: NDArray[np.bool_]


def _cut(members: NDArray[np.int64], roots: Floats, sizes: Floats) -> _Cut:
    own, weights = roots[members], sizes[members, None]
    means = (weights * own).sum(axis=0) / weights.sum()
    variations = (weights * np.square(own - means)).sum(axis=0)
    topic = int(variations.argmax())
    low = own[:, topic] <= means[topic]
    variation = 0.0 if low.all() or not low.any() else -float(variations[topic])
    return _Cut(variation, int(members[0]), members, low)


def _weights(shard: Shard, _: None) -> Floats:
    return shard.weights


def _lengths(shard: Shard, _: None) -> Floats:
    return lengths(shard)
