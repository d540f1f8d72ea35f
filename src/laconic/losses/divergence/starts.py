"""Where expectation-maximisation begins: topics with some of every word, and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from laconic.engines import Block, Engine, Shard, Shards
from laconic.engines.shards import writes
from laconic.losses.anchoring import Anchoring
from laconic.losses.divergence.pseudocounts import hold, seed
from laconic.losses.factor import Floats, transposed
from laconic.losses.starts import Start, document_topics, given_topics, with_words
from laconic.losses.totals import term_sums

# The share of the collection's own words in every topic at the start. Expectation-maximisation never leaves
# zero, so every topic has to begin with a little of every word.
COMMON_SHARE = 0.2
RANDOM = "random"
"""The name of a start from random topics and random weights of documents."""


def first_topics(
    shards: Shards,
    engine: Engine,
    n_topics: int,
    start: Start,
    segments: Sequence[Block] | None = None,
    anchors: Anchoring | None = None,
    *,
    spread: bool = False,
) -> Floats:
    """Topics (terms × topics) to start from, with some of every word of the collection in each.

    Given topics are taken as they are, except for words that none of them has; or `spread`, with some of
    every word like those that are drawn, so that they can take up words they lack. Random ones have all words
    of the collection. Anchored ones have words of their targets, frozen ones are their targets, and forbidden
    words are zero, which they remain.
    """
    n_terms, dtype = shards.n_terms, shards.dtype
    parts = [Block(0, n_terms)] if segments is None else segments
    common = term_sums(shards, engine)
    if start.drawn and start.init == RANDOM:
        topics = start.random().random_sample((n_topics, n_terms)).T * (common > 0)[:, None]
        seed(topics, shards, engine, anchors)
        lacking = np.zeros(n_terms, bool)
    elif start.drawn:
        usable = with_words(shards, engine)
        drawn = document_topics(shards, engine, n_topics, start.random(), usable)
        topics = transposed(drawn).toarray().astype(np.float64)
        seed(topics, shards, engine, anchors)
        lacking = np.full(n_terms, fill_value=True)
    else:
        given = given_topics(start.init, n_topics, n_terms, dtype, nonnegative=True)
        topics = transposed(given).toarray().astype(np.float64)
        lacking = ~topics.any(axis=1) | spread
    for segment in parts:
        part, words = topics[segment.start : segment.stop], common[segment.start : segment.stop]
        # a topic without words begins as the collection
        part += words[:, None] * (part.sum(axis=0) == 0)
        part /= np.maximum(part.sum(axis=0), np.finfo(np.float64).tiny)
        words = np.where(lacking[segment.start : segment.stop], words, 0) * (
            COMMON_SHARE / max(1e-300, words.sum())
        )
        part *= 1 - COMMON_SHARE * (words.sum() > 0)
        part += words[:, None]
        part /= np.maximum(part.sum(axis=0), np.finfo(np.float64).tiny)
    # a chance so small that its products vanish is lost for good
    least = np.sqrt(np.finfo(dtype).tiny)
    topics[(topics > 0) & (topics < least)] = least
    hold(topics, anchors, parts, dtype)
    return np.ascontiguousarray(topics, dtype)


@writes("weights")
def even_weights(shard: Shard, message: tuple[int, bool]) -> None:
    """All topics equally in every document: their sum is one, or the document's length."""
    n_topics, simplex = message
    shard.allot(n_topics, 1 / n_topics)
    if not simplex:
        shard.weights *= lengths(shard)[:, None].astype(shard.X.dtype)


def random_weights(n_documents: int, n_topics: int, start: Start, dtype: Any) -> Floats:
    """Weights of documents, each a random mixture of all topics."""
    # not the numbers that the topics have
    chances = np.random.RandomState(start.random().randint(2**31 - 1))
    weights = 1 - chances.random_sample((n_documents, n_topics))
    return np.ascontiguousarray(weights / weights.sum(axis=1, keepdims=True), dtype)


@writes("weights")
def weigh_by_length(shard: Shard, _: None) -> None:
    """Multiply the weights of every document by its length."""
    shard.weights *= lengths(shard)[:, None].astype(shard.X.dtype)


@writes("weights")
def lift_weights(shard: Shard, least: float) -> None:
    """Let every topic have at least this share of a document, before the weights are scaled to sum to one."""
    np.maximum(shard.weights, least, out=shard.weights)
    shard.weights /= shard.weights.sum(axis=1, keepdims=True)


def lengths(shard: Shard) -> Floats:
    """The sum of the counts of every document."""
    return np.asarray(shard.X.sum(axis=1, dtype=np.float64))
