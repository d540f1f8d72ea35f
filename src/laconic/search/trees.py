"""Trees that rank: plain arrays, checked before a kernel walks them.

LightGBM learns them and is not needed to use them. Its reader of text trusts what it reads, so no file is
ever given to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from laconic.kernels.trees import add_trees

_MAX_TREES = 1_000_000
_NUMERICAL = {0, 2, 8, 10}
"""LightGBM's `decision_type` of a split by a number in which 0 is a value like any other; the bits tell where
a missing value goes, and features of documents are never missing."""


@dataclass(frozen=True)
class Trees:
    """Decision trees whose leaves are added up.

    Parameters
    ----------
    names : tuple of str
        What each column of the rows is called.
    roots : array of int32
        For each tree its first node, or the leaf that it consists of.
    features : array of int32
        For each node the column that it looks at.
    thresholds : array of float64
        A row goes left if its value is at most that.
    left, right : array of int32
        The node to go to, whose number is larger; below 0, the leaf ``-1 - child``.
    leaves : array of float64
        What each leaf adds.
    gains : array of float64
        What each column gained in training.

    Raises
    ------
    ValueError
        If that is not a set of trees; then nothing was computed with it.
    """

    names: tuple[str, ...]
    roots: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaves: NDArray[np.float64]
    gains: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, dtype in _ARRAYS.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"the {name} of trees are no list of {np.dtype(dtype)}")
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"the {name} of trees are not all finite")
        nodes, n_leaves = len(self.features), len(self.leaves)
        if not len(self.thresholds) == len(self.left) == len(self.right) == nodes:
            raise ValueError("the nodes of trees are incomplete")
        if not len(self.roots) or len(self.roots) + nodes != n_leaves:
            raise ValueError("nodes and leaves do not make up the trees")
        if nodes and not 0 <= self.features.min() <= self.features.max() < len(self.names):
            raise ValueError("trees look at features that there are not")
        if len(self.gains) != len(self.names) or self.gains.min(initial=0) < 0:
            raise ValueError("the gains of trees are not those of its features")
        numbers = np.arange(nodes)
        children = np.concatenate([self.left, self.right])
        if ((self.left >= 0) & (self.left <= numbers)).any() or (
            (self.right >= 0) & (self.right <= numbers)
        ).any():
            raise ValueError("trees lead back to a node")
        # Everything is reached exactly once: so trees share nothing, and every walk ends.
        reached = np.sort(np.concatenate([self.roots, children]))
        if not np.array_equal(reached, np.arange(-n_leaves, nodes)):
            raise ValueError("trees do not lead to each node and leaf once")
        with np.errstate(over="ignore"):
            total = np.abs(self.leaves).sum()
        if not np.isfinite(total):
            raise ValueError("the leaves of trees are too large to be added up")

    def predict(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sum of the leaves that each row reaches.

        Parameters
        ----------
        rows : array of float32, shape (n_rows, n_features)
            Finite.

        Returns
        -------
        array of float64, shape (n_rows,)
            To the bit what LightGBM predicts.
        """
        if rows.shape[1] != len(self.names):
            raise ValueError(f"rows have {rows.shape[1]} features, and trees {len(self.names)}")
        scores = np.zeros(len(rows))
        add_trees(
            self.roots,
            self.features,
            self.thresholds,
            self.left,
            self.right,
            self.leaves,
            np.ascontiguousarray(rows, np.float32),
            scores,
        )
        return scores

    def arrays(self) -> dict[str, Any]:
        """The arrays by their names."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Take trees over from the text that LightGBM makes of a model; any text is safe to give.

        Parameters
        ----------
        text : str
            What ``Booster.model_to_string`` returns.

        Returns
        -------
        Trees
            Checked.
        """
        head, *parts = re.split(r"^Tree=[0-9]+$", text, maxsplit=_MAX_TREES + 1, flags=re.MULTILINE)
        if len(parts) > _MAX_TREES:
            raise ValueError(f"there are more than {_MAX_TREES:,} trees")
        names = _fields(head).get("feature_names", "").split()
        whole = _Whole(len(names))
        for part in parts:
            whole.add(_fields(part.split("end of trees", 1)[0]))
        return cls(tuple(names), **whole.arrays())


_ARRAYS = {
    field.name: np.int32 if "int32" in str(field.type) else np.float64
    for field in fields(Trees)
    if field.name != "names"
}


class _Whole:
    """Trees that are added one after the other, with nodes and leaves numbered through."""

    def __init__(self, n_features: int) -> None:
        self._columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _ARRAYS if name != "gains"}
        self._gains = np.zeros(n_features)
        self._nodes = self._leaves = 0

    def add(self, tree: dict[str, str]) -> None:
        if tree.get("num_cat", "0") != "0" or tree.get("is_linear", "0") != "0":
            raise ValueError("trees split by categories or are linear")
        leaves = _numbers(tree, "leaf_value", np.float64)
        parts = {
            "features": _numbers(tree, "split_feature", np.int32),
            "thresholds": _numbers(tree, "threshold", np.float64),
            "left": _numbers(tree, "left_child", np.int32),
            "right": _numbers(tree, "right_child", np.int32),
        }
        decisions = _numbers(tree, "decision_type", np.int32)
        gains = _numbers(tree, "split_gain", np.float64)
        nodes = len(leaves) - 1
        if nodes < 0 or any(len(part) != nodes for part in (*parts.values(), decisions, gains)):
            raise ValueError("a tree's nodes and leaves do not fit")
        if not _NUMERICAL.issuperset(decisions.tolist()):
            raise ValueError("trees split by more than the size of a number")
        features = parts["features"]
        if nodes and not 0 <= features.min() <= features.max() < len(self._gains):
            raise ValueError("trees look at features that there are not")
        np.add.at(self._gains, features, np.maximum(gains, 0))
        for side in ("left", "right"):
            if nodes and not -nodes - 1 <= parts[side].min() <= parts[side].max() < nodes:
                raise ValueError("a tree leads out of itself")
            parts[side] = np.where(parts[side] < 0, parts[side] - self._leaves, parts[side] + self._nodes)
        root = self._nodes if nodes else -1 - self._leaves
        for name, part in {"roots": [root], **parts, "leaves": leaves}.items():
            self._columns[name].append(np.asarray(part, _ARRAYS[name]))
        self._nodes += nodes
        self._leaves += len(leaves)

    def arrays(self) -> dict[str, Any]:
        columns = {
            name: np.concatenate([*found, np.empty(0, _ARRAYS[name])]).astype(_ARRAYS[name])
            for name, found in self._columns.items()
        }
        return {**columns, "gains": self._gains}


def _fields(block: str) -> dict[str, str]:
    """The lines ``name=value`` of a block."""
    pairs: Any = (line.split("=", 1) for line in block.splitlines() if "=" in line)
    return dict(pairs)


def _numbers(tree: dict[str, str], name: str, dtype: Any) -> NDArray[Any]:
    words = tree.get(name, "").split()
    try:
        return np.array([float(word) if dtype is np.float64 else int(word) for word in words], dtype)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} of a tree is no list of numbers") from error
