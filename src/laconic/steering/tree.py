"""Topics as a tree, cut anywhere: those that share most words are joined first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.errors import Parameter, ParameterError


@dataclass(frozen=True)
class Branch:
    """A node of the tree of topics: a topic, or what was joined of two others at a distance.

    Attributes
    ----------
    topics : list of int
        Their numbers.
    name : str
        What the heaviest of them is called.
    height : float
        The mean distance (1 - cosine) of the topics that it joins; 0 of a topic.
    branches : list of Branch
        The two that it was joined of; none of a topic.
    """

    topics: list[int]
    name: str
    height: float
    branches: list[Branch] = field(default_factory=list)

    def cut(self, n: int) -> list[list[int]]:
        """The tree cut into groups of topics.

        Parameters
        ----------
        n : int
            How many; of fewer topics, each is a group of its own.

        Returns
        -------
        list of list of int
            Numbers of topics, the group of the least number first.
        """
        if type(n) is not int or n < 1:
            raise ParameterError(Parameter("n", repr(n)), " must be a whole number from 1 on")
        parts = [self]
        while len(parts) < n and any(part.branches for part in parts):
            tallest = max((part for part in parts if part.branches), key=lambda part: part.height)
            parts.remove(tallest)
            parts += tallest.branches
        return sorted(sorted(part.topics) for part in parts)


def tree_of(
    topics: Sequence[int], names: Sequence[str], weights: NDArray[Any], cosines: NDArray[Any]
) -> Branch | None:
    """Join topics by the mean of their distances (average linkage).

    Parameters
    ----------
    topics : sequence of int
        Their numbers.
    names : sequence of str
        One for each.
    weights : ndarray
        How heavy each is: what is joined has the name of the heaviest.
    cosines : ndarray of shape (n_topics, n_topics)
        Of every two of them.

    Returns
    -------
    Branch or None
        The root; None without topics.

    Examples
    --------
    >>> cosines = np.array([[1, 0.1, 0.9], [0.1, 1, 0.2], [0.9, 0.2, 1]])
    >>> root = tree_of([0, 1, 2], ["sun", "salt", "moon"], np.array([1, 1, 2]), cosines)
    >>> root.cut(2), root.branches[0].name
    ([[0, 2], [1]], 'moon')
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    weight = dict(zip(topics, np.asarray(weights, np.float64).tolist(), strict=True))
    called = dict(zip(topics, names, strict=True))
    nodes = [Branch([topic], called[topic], 0.0) for topic in topics]
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    distances = np.maximum(1 - np.asarray(cosines, np.float64), 0)
    np.fill_diagonal(distances, 0)
    for first, second, height, _ in linkage(squareform(distances, checks=False), "average"):
        pair = sorted((nodes[int(first)], nodes[int(second)]), key=lambda branch: branch.topics[0])
        joined = [*pair[0].topics, *pair[1].topics]
        nodes.append(Branch(joined, called[max(joined, key=weight.__getitem__)], float(height), pair))
    return nodes[-1]
