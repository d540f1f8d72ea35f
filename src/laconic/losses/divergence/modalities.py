"""Documents in several modalities: their data side by side, and as a graph with a node for each modality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, eye_array, hstack, vstack
from scipy.sparse.csgraph import connected_components

from laconic.engines import Block
from laconic.losses.factor import Floats


def check_mapping(X: Any) -> Mapping[str, Any]:
    """Refuse what is not a mapping from names of modalities to matrices.

    >>> check_mapping({"text": [[1, 2]], 3: [[0, 1]]})
    Traceback (most recent call last):
    TypeError: the name of a modality must be a non-empty string, not 3
    """
    if not isinstance(X, Mapping):
        raise TypeError(
            "give the documents as a mapping from the names of modalities to matrices, such as "
            f'{{"image": X1, "text": X2}}, not as {type(X).__name__}'
        )
    if not X:
        raise ValueError("the mapping of modalities is empty: give at least one matrix")
    for name in X:
        if not isinstance(name, str) or not name:
            raise TypeError(f"the name of a modality must be a non-empty string, not {name!r}")
    return X


def check_rows(modalities: Mapping[str, csr_array]) -> int:
    """The number of documents, which all modalities have in common.

    >>> check_rows({"text": csr_array([[1, 2]]), "image": csr_array([[1], [2]])})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: row n of every modality is document n, but 'text' has 1 rows and 'image' has 2: ...
    """
    first, *others = modalities
    for name in others:
        ours, theirs = modalities[first].shape[0], modalities[name].shape[0]
        if ours != theirs:
            raise ValueError(
                f"row n of every modality is document n, but {first!r} has {ours} rows and {name!r} has "
                f"{theirs}: give an empty row where a document lacks a modality"
            )
    return int(modalities[first].shape[0])


def check_tied(modalities: Mapping[str, csr_array]) -> None:
    """Refuse modalities that no document ties to the others: their topics would not correspond."""
    present = np.stack([np.diff(X.indptr) > 0 for X in modalities.values()]).astype(np.int64)
    n_parts, part = connected_components(csr_array(present @ present.T), directed=False)
    if n_parts > 1:
        names = list(modalities)
        other = names[int(np.flatnonzero(part != part[0])[0])]
        raise ValueError(
            f"no document ties {names[0]!r} to {other!r}, so their topics would have nothing to do with each "
            "other: some documents must have both (or be tied by a third modality)"
        )


def columns_of(sizes: Sequence[int]) -> list[Block]:
    """The columns of every modality, when modalities with so many terms stand side by side.

    >>> columns_of([3, 2])
    [Block(start=0, stop=3), Block(start=3, stop=5)]
    """
    ends = [0, *accumulate(int(size) for size in sizes)]
    return [Block(start, stop) for start, stop in pairwise(ends)]


def side_by_side(matrices: Sequence[csr_array]) -> csr_array:
    """Documents with the terms of all modalities."""
    return csr_array(hstack(matrices, format="csr"))


class Nodes:
    """What documents have: one node for each modality of a document, those of the first modality first.

    Parameters
    ----------
    matrices : sequence of csr_array of shape (n_documents, n_terms of the modality)
        Without stored zeros. A document whose row is empty has no node.
    """

    def __init__(self, matrices: Sequence[csr_array]) -> None:
        self.n_documents = int(matrices[0].shape[0])
        self.present = [np.flatnonzero(np.diff(X.indptr)) for X in matrices]
        self.documents: NDArray[np.int64] = np.concatenate(self.present)
        """The document of every node."""
        self._matrices = matrices

    @cached_property
    def counts(self) -> csr_array:
        """Nodes × all terms; a node has terms of its own modality only."""
        parts = [X[rows] for X, rows in zip(self._matrices, self.present, strict=True)]
        return csr_array(block_diag(parts, format="csr"))

    def graph(self, documents: csr_array | None) -> csr_array:
        """Edges between the nodes of a document and, in every modality, between documents that are linked."""
        picks = [csr_array(eye_array(self.n_documents, format="csr")[rows]) for rows in self.present]
        picked = csr_array(vstack(picks, format="csr"))
        edges = csr_array(picked @ picked.T - eye_array(self.documents.size))
        if documents is not None:
            edges = csr_array(edges + block_diag([pick @ documents @ pick.T for pick in picks], format="csr"))
        edges.eliminate_zeros()
        return edges

    def by_modality(self, weights: Floats) -> list[Floats]:
        """Weights of nodes as one array of documents × topics for each modality; zero where it is absent."""
        ends = np.cumsum([rows.size for rows in self.present])[:-1]
        spread = []
        for rows, part in zip(self.present, np.split(weights, ends), strict=True):
            whole = np.zeros((self.n_documents, weights.shape[1]), weights.dtype)
            whole[rows] = part
            spread.append(whole)
        return spread
