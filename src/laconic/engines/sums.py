"""Sums whose order is fixed: along one binary tree, whoever computes the parts and whenever they are done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


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


class Branch(NamedTuple):
    """The sum of ``2**height`` shares of the tree, from the one with number `first` on."""

    first: int
    height: int
    total: Any


def grown(branches: Iterable[Branch]) -> list[Branch]:
    """Add up branches that follow each other, as far as the tree has them in common.

    >>> grown([Branch(1, 0, 10), Branch(2, 0, 20), Branch(3, 0, 30)])
    [Branch(first=1, height=0, total=10), Branch(first=2, height=1, total=50)]
    """
    waiting: list[Branch] = []
    for first, height, total in branches:
        while waiting and waiting[-1].height == height and (first >> height) % 2:
            assert waiting[-1].first + (1 << height) == first
            first, height, total = waiting[-1].first, height + 1, add(waiting.pop().total, total)
        waiting.append(Branch(first, height, total))
    return waiting


def whole_tree(branches: list[Branch]) -> Any:
    """The sum of all shares, of the branches that are left when they have grown together."""
    total = None
    for branch in reversed(branches):
        total = add(branch.total, total)
    return total


def tree_sum(shares: Iterable[Any]) -> Any:
    """Add up shares as they come: each pair, then each pair of pairs, and so on.

    The tree depends on the number of shares alone, so that the sum has the same bits wherever its parts are
    added up; and only a few partial sums are kept at a time. Without shares, there is nothing.

    >>> tree_sum([1, 2, 3, 4, 5])
    15
    """
    return whole_tree(grown(Branch(number, 0, share) for number, share in enumerate(shares)))
