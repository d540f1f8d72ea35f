"""Cutting rows into blocks, by the data alone: the same blocks whatever the number of workers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Block(NamedTuple):
    """The rows `start` to `stop` (exclusive)."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.stop - self.start


def even_blocks(n_rows: int, size: int) -> list[Block]:
    """Blocks of `size` rows; the last may be smaller.

    >>> even_blocks(5, 2)
    [Block(start=0, stop=2), Block(start=2, stop=4), Block(start=4, stop=5)]
    """
    return [Block(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def weighted_blocks(indptr: NDArray[Any], max_rows: int, max_weight: int) -> list[Block]:
    """Blocks of consecutive rows with at most `max_rows` rows and `max_weight` non-zeros.

    A row heavier than `max_weight` is a block of its own. Words are Zipfian: blocks of equally many
    terms would leave one worker with all the frequent ones.

    >>> weighted_blocks(np.array([0, 9, 10, 11, 12]), 2, 4)
    [Block(start=0, stop=1), Block(start=1, stop=3), Block(start=3, stop=4)]
    """
    n_rows = indptr.size - 1
    blocks = []
    start = 0
    while start < n_rows:
        fit = int(np.searchsorted(indptr, int(indptr[start]) + max_weight, side="right")) - 1
        stop = min(max(fit, start + 1), start + max_rows, n_rows)
        blocks.append(Block(start, stop))
        start = stop
    return blocks
