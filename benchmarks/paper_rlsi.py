"""The topic step of RLSI as the paper writes it: R whole, coordinate descent from zero over all topics."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numba import njit

from laconic.engines import Block, even_blocks
from laconic.losses.squared.shares import class_products
from laconic.losses.squared.steps import SquaredSteps


def _paper_rows(gram, targets, rows, threshold, precision, max_sweeps):
    """Each row from zero; every coordinate of every sweep costs a product over all topics."""
    width = gram.shape[0]
    for i in range(rows.shape[0]):
        target, row = targets[i], rows[i]
        row[:] = 0
        tolerance = precision * np.abs(target).max()
        for _ in range(max_sweeps):
            largest = np.float32(0)
            for k in range(width):
                if gram[k, k] == 0:
                    continue
                direction = gram[k]
                total = np.float32(0)
                for j in range(width):
                    total += direction[j] * row[j]
                b = target[k] - total + direction[k] * row[k]
                new = np.float32(0)
                if b > threshold:
                    new = (b - threshold) / direction[k]
                elif b < -threshold:
                    new = (b + threshold) / direction[k]
                largest = max(largest, abs(new - row[k]) * direction[k])
                row[k] = new
            if largest <= tolerance:
                break


# As a compiler takes the loops: sums in the order that is written, which cannot be vectorised.
paper_rows = njit(nogil=True)(_paper_rows)
# The same with leave to reorder sums, so that the inner product over topics uses the whole vector unit.
paper_rows_simd = njit(nogil=True, fastmath={"reassoc", "contract"})(_paper_rows)


def paper_topic_step(steps: SquaredSteps, rows_kernel: Any, alpha: float, precision: float) -> Any:
    """R, then all terms; on the same threads as ours. Returns dense topics (terms × topics) and <R, C>.

    Terms are in the order of our blocks, so that those of a block are rows in a row; terms that do not occur
    come last.
    """
    shard, n_terms = steps.shards[0], steps.n_terms
    message = steps.term_message()
    products = np.zeros((n_terms, shard.weights.shape[1]), np.float32)
    topics = np.empty_like(products)
    gram = steps.document_grams[0].astype(np.float32)

    ends = accumulate(terms.size for terms in steps.blocks)
    places = [Block(end - terms.size, end) for terms, end in zip(steps.blocks, ends, strict=True)]

    def form(task):
        terms, rows = task
        products[rows.start : rows.stop] = class_products(shard, terms, message).rows

    def solve(block):
        rows, targets = topics[block.start : block.stop], products[block.start : block.stop]
        rows_kernel(gram, targets, rows, np.float32(alpha / 2), np.float32(precision), 200)

    list(steps.engine.map(form, list(zip(steps.blocks, places, strict=True))))
    list(steps.engine.map(solve, even_blocks(n_terms, 64)))
    cross = sum(
        float(np.vdot(topics[b.start : b.stop].astype(float), products[b.start : b.stop].astype(float)))
        for b in even_blocks(n_terms, 4096)
    )
    return topics, cross
