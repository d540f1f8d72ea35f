"""What `load` returns: one small record for each kind of data set.

All arrays and lists of a record have one entry for each document (paper, image, sample), in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.datasets.texts import Parallel, Record, Retrieval, Strings, Texts, check_split

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from laconic.corpus import Corpus
    from laconic.corpus.options import Weighting

__all__ = [
    "Counts",
    "Dataset",
    "Graph",
    "Groups",
    "Images",
    "Multimodal",
    "Parallel",
    "Retrieval",
    "Strings",
    "Texts",
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Counts(Record):
    """Documents that are only known as counts of terms.

    Attributes
    ----------
    name : str
        The name of the data set.
    counts : scipy.sparse.csr_array of float32, shape (n_documents, n_terms)
        How often each term occurs in each document.
    vocabulary : numpy.ndarray of str
        The terms, in the order of the columns.
    ids : numpy.ndarray of str
        All different.
    titles : list of str
        The titles of the documents.
    authors : list of tuple of str
        The authors of each document.
    """

    name: str
    counts: csr_array
    vocabulary: Strings
    ids: Strings
    titles: list[str]
    authors: list[tuple[str, ...]]

    def corpus(
        self,
        *,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        weighting: Weighting = "log-entropy",
        sublinear_tf: bool = False,
    ) -> Corpus:
        """Make a corpus of the counts.

        Parameters
        ----------
        min_df, max_df : int or float
            Keep the terms in at least and at most that many documents, or that part of all documents.
        weighting, sublinear_tf
            As in `Corpus.from_counts`.

        Returns
        -------
        Corpus
            The terms kept, in the order of the vocabulary.
        """
        from laconic.corpus import Corpus
        from laconic.corpus.options import check_options

        limits = check_options({"min_df": min_df, "max_df": max_df})
        n_documents, n_terms = self.counts.shape
        low, high = (x * n_documents if isinstance(x, float) else x for x in limits.values())
        frequency = np.bincount(self.counts.indices, minlength=n_terms)
        kept = (frequency >= low) & (frequency <= high)
        return Corpus.from_counts(
            self.counts[:, kept],
            self.vocabulary[kept],
            ids=self.ids,
            weighting=weighting,
            sublinear_tf=sublinear_tf,
        )

    def _facts(self) -> list[str]:
        n_documents, n_terms = self.counts.shape
        return [f"{n_documents:,} documents", f"{n_terms:,} terms"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Images(Record):
    """Grey square images with labels.

    Attributes
    ----------
    name : str
        The name of the data set.
    X : numpy.ndarray of float64, shape (n_images, n_pixels)
        From 0 (black) to 1.
    labels : numpy.ndarray of int
        Who or what is shown, from 1.
    scale : float
        `X` times this are the whole numbers of the file.
    """

    name: str
    X: NDArray[np.float64]
    labels: NDArray[np.int64]
    scale: float

    @property
    def images(self) -> NDArray[np.float64]:
        """The images to look at, as an array of shape (n_images, height, width)."""
        side = round(float(np.sqrt(self.X.shape[1])))
        # Rows of X hold one column of pixels after the other.
        return self.X.reshape(-1, side, side).transpose(0, 2, 1)

    def _facts(self) -> list[str]:
        return [f"{len(self.X):,} images", f"{len(set(self.labels.tolist()))} labels"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Graph(Record):
    """Documents that are joined by a graph.

    Attributes
    ----------
    name : str
        The name of the data set.
    features : scipy.sparse.csr_array of float32, shape (n_nodes, n_terms)
        Counts, tf-idf or zeros and ones: see the description of the data set.
    adjacency : scipy.sparse.csr_array of float32, shape (n_nodes, n_nodes)
        The graph as it comes, perhaps directed.
    labels : numpy.ndarray of str
        The class of each node.
    ids : numpy.ndarray of str
        All different.
    vocabulary : numpy.ndarray of str, or None
        The names of the terms, where they are known.
    texts : list of str or None
        The texts behind the features, where they are known.
    """

    name: str
    features: csr_array
    adjacency: csr_array
    labels: Strings
    ids: Strings
    vocabulary: Strings | None = None
    texts: list[str] | None = None

    def undirected(self) -> csr_array:
        """The graph without directions, weights and loops: a symmetric array of zeros and ones."""
        from scipy.sparse import csr_array

        joined = (self.adjacency + self.adjacency.T).tocoo()
        kept = (joined.row != joined.col) & (joined.data != 0)
        ends = (joined.row[kept], joined.col[kept])
        return csr_array((np.ones(int(kept.sum()), np.float32), ends), shape=joined.shape)

    def _facts(self) -> list[str]:
        return [
            f"{len(self.ids):,} nodes",
            f"{self.adjacency.nnz:,} links",
            f"{len(set(self.labels))} labels",
        ]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Multimodal(Record):
    """The same things seen in several ways.

    Attributes
    ----------
    name : str
        The name of the data set.
    modalities : dict of str to array
        From names ("image", "text", ...) to features, numpy.ndarray or scipy.sparse.csr_array.
    labels : numpy.ndarray of str
        The class of each pair.
    splits : numpy.ndarray of str
        "train" or "test".
    ids : numpy.ndarray of str
        All different.
    """

    name: str
    modalities: dict[str, Any]
    labels: Strings
    splits: Strings
    ids: Strings

    def split(self, name: str) -> Self:
        """Take the rows of one split, such as "train"."""
        rows = np.flatnonzero(self.splits == check_split(name, self.splits, self.name))
        return replace(
            self,
            modalities={name: X[rows] for name, X in self.modalities.items()},
            labels=self.labels[rows],
            splits=self.splits[rows],
            ids=self.ids[rows],
        )

    def _facts(self) -> list[str]:
        shapes = [f"{name} {'x'.join(map(str, X.shape))}" for name, X in self.modalities.items()]
        return [*shapes, f"{len(set(self.labels))} labels"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Groups(Record):
    """Samples whose features form groups, which may overlap.

    Attributes
    ----------
    name : str
        The name of the data set.
    X : numpy.ndarray of float32, shape (n_samples, n_features)
        Signed.
    features : numpy.ndarray of str
        The names of the columns.
    groups : dict of str to numpy.ndarray of int
        From the names of groups to the numbers of their columns. Features that a group names but that are no
        columns are left out.
    labels : numpy.ndarray of str
        The class of each sample.
    """

    name: str
    X: NDArray[np.float32]
    features: Strings
    groups: dict[str, NDArray[np.int64]]
    labels: Strings

    def _facts(self) -> list[str]:
        return [f"{self.X.shape[0]} x {self.X.shape[1]}", f"{len(self.groups)} groups"]


Dataset: TypeAlias = Texts | Retrieval | Counts | Images | Graph | Parallel | Multimodal | Groups
