"""Sums whose order is fixed: along one binary tree, whoever computes the parts and whenever they are done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def add(one: Any, other: Any) -> Any:
    """The sum of two shares: numbers, arrays, tuples of shares (entry by entry), or nothing.

    >>> add((1, 2.5), (3, 4.5))
    (4, 7.0)
    """
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, tuple):
        parts = (add(a, b) for a, b in zip(one, other, strict=True))
        return type(one)(*parts) if hasattr(one, "_fields") else tuple(parts)
    return one + other


def tree_sum(shares: Iterable[Any]) -> Any:
    """Add up shares as they come: each pair, then each pair of pairs, and so on.

    The tree depends on the number of shares alone, so that the sum has the same bits wherever its parts are
    added up; and only a few partial sums are kept at a time. Without shares, there is nothing.

    >>> tree_sum([1, 2, 3, 4, 5])
    15
    """
    waiting: list[tuple[int, Any]] = []
    for total in shares:
        height = 0
        while waiting and waiting[-1][0] == height:
            total = add(waiting.pop()[1], total)
            height += 1
        waiting.append((height, total))
    total = None
    while waiting:
        total = add(waiting.pop()[1], total)
    return total
