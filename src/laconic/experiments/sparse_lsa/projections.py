"""The methods that the paper compares: each projects documents on a number of dimensions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from laconic.experiments.fitting import finite, iterations_given
from laconic.experiments.parts import SEED, Results
from laconic.models import RLSI, SparseLSA

LSA, SCALED, SPARSE, NONNEGATIVE, CODING, LDA = (
    "LSA",
    "LSA, scaled",
    "Sparse LSA",
    "non-negative Sparse LSA",
    "sparse coding",
    "LDA",
)
# LDA ends when so many iterations lower the perplexity of its documents by less than this share of it.
LDA_ROUND, LDA_TOL, LDA_MOST = 5, 1e-3, 500
CODING_ITERATIONS = 20
# Not until rest, for time: on 20 Newsgroups with 900 dimensions the objective was then 0.4 % above that of a
# longer fit, and the accuracy the same but for a document.
SPARSE_ITERATIONS = 15
SPARSE_TOL = 1e-4
# Singular vectors of more documents than these are approximated, in so many rounds.
FEW_DOCUMENTS, SINGULAR_ROUNDS = 2000, 7


@dataclass(frozen=True)
class Projection:
    """Topics, and how documents are described by them.

    Attributes
    ----------
    topics : ndarray or csr_array of shape (n_dimensions, n_terms)
        The paper's A.
    project : callable
        From documents to their descriptions, with one thread.
    of_counts : bool
        Whether it takes counts of words instead of their weights.
    notes : dict
        What else is to be known about how the topics were found.
    """

    topics: Any
    project: Callable[[Any], Any]
    of_counts: bool = False
    notes: Results = field(default_factory=dict)

    @property
    def nonzeros(self) -> int:
        """How many weights of the topics are not zero."""
        return int(self.topics.nnz if hasattr(self.topics, "nnz") else np.count_nonzero(self.topics))

    @property
    def density(self) -> float:
        """The share of weights that are not zero."""
        return self.nonzeros / (self.topics.shape[0] * self.topics.shape[1])

    @property
    def effective_dimension(self) -> float:
        """The paper's: non-zero weights for each term."""
        return self.nonzeros / self.topics.shape[1]

    @property
    def megabytes(self) -> float:
        """What the topics take in memory: numbers of four bytes, and their places where topics are sparse."""
        if not hasattr(self.topics, "indptr"):
            return float(self.topics.nbytes) / 2**20
        parts = (self.topics.data, self.topics.indices, self.topics.indptr)
        return float(sum(part.nbytes for part in parts)) / 2**20


@dataclass(frozen=True)
class Singular:
    """Singular values, the largest first, and their right vectors as rows."""

    values: NDArray[np.float32]
    vectors: NDArray[np.float32]


def singular_vectors(X: csr_array, n_vectors: int) -> Singular:
    """The first singular values and vectors, fewer where there are not so many.

    Those of many documents are approximate: a wide basis is improved by products with the documents.

    Examples
    --------
    >>> singular_vectors(csr_array([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), 2).values.tolist()
    [2.0, 1.0]
    """
    if X.shape[0] > FEW_DOCUMENTS:
        _, values, vectors = randomized_svd(
            X, n_vectors, n_iter=SINGULAR_ROUNDS, power_iteration_normalizer="QR", random_state=SEED
        )
        return Singular(values.astype(np.float32), np.ascontiguousarray(vectors, np.float32))
    squares, left = np.linalg.eigh((X @ X.T).toarray().astype(np.float64))
    order = np.flatnonzero(squares > squares[-1] * 1e-10)[::-1][:n_vectors]
    values = np.sqrt(squares[order])
    vectors = np.ascontiguousarray((X.T @ (left[:, order] / values)).T, np.float32)
    return Singular(values.astype(np.float32), vectors)


def lsa(singular: Singular, n_dimensions: int, *, scaled: bool = False) -> Projection:
    """LSA: products with the first singular vectors, perhaps divided by the singular values."""
    topics = singular.vectors[:n_dimensions]
    if scaled:
        topics = topics / singular.values[:n_dimensions, None]
    # By rows of terms, of which the product with a sparse document reads only those it needs.
    by_term = np.ascontiguousarray(topics.T)
    return Projection(topics, lambda X: np.asarray(X @ by_term))


def sparse_lsa(X: csr_array, n_dimensions: int, strength: float, nonnegative: bool, seed: int) -> Projection:
    """Sparse LSA of the documents, with or without negative weights."""
    model = SparseLSA(
        n_dimensions,
        alpha_topics=strength,
        nonnegative=nonnegative,
        max_iter=SPARSE_ITERATIONS,
        tol=SPARSE_TOL,
        random_state=seed,
    )
    with iterations_given():
        model.fit(X)
    # What `transform` does, without its checks, which would take longer than the product for one document.
    by_term = csr_array(model.components_.T)
    return Projection(model.components_, lambda X: csr_array(X @ by_term))


def sparse_coding(X: csr_array, n_dimensions: int, strength: float, seed: int) -> Projection:
    """Dense topics under an l2 penalty; documents are described by the weights of a lasso.

    Only the product of the first penalty and the square of the second matters, since topics could be longer
    and weights smaller; so one of them is fixed.
    """
    model = RLSI(
        n_dimensions,
        topic_norm="l2",
        doc_norm="l1",
        alpha_topics=1.0,
        alpha_docs=strength,
        init="documents",
        max_iter=CODING_ITERATIONS,
        tol=1e-3,
        random_state=seed,
    )
    with iterations_given():
        model.fit(X)
    model.set_params(n_jobs=1)
    return Projection(model.components_, model.transform)


def lda(counts: csr_array, n_dimensions: int, seed: int, most: int = LDA_MOST) -> Projection:
    """scikit-learn's LDA, by variational inference on all documents at once, until it comes to rest.

    Its own batch mode cannot say how far it is. So all documents are given to its online mode as one batch
    again and again, whose old topics then count for nothing: that is the same iteration.
    """
    n_documents = counts.shape[0]
    model = LatentDirichletAllocation(
        n_dimensions,
        learning_method="online",
        learning_decay=0.0,
        batch_size=n_documents,
        total_samples=n_documents,
        random_state=seed,
    )
    before, iterations = np.inf, 0
    while iterations < most:
        for _ in range(min(LDA_ROUND, most - iterations)):
            finite(lambda: model.partial_fit(counts).components_)
            iterations += 1
        perplexity = finite(lambda: model.perplexity(counts))
        if perplexity > before * (1 - LDA_TOL):
            break
        before = perplexity
    return Projection(
        model.components_.astype(np.float32),
        lambda X: finite(lambda: model.transform(X)),
        of_counts=True,
        notes={"iterations": iterations, "perplexity": float(perplexity)},
    )


def cost(projection: Projection, X: csr_array) -> Results:
    """What the projection of documents costs: time for each document, memory, and how sparse they become.

    Returns
    -------
    dict
        "one" and "many": milliseconds of processor time for a document, projected alone and together with
        the others; "megabytes" of the topics; "described": the mean share of dimensions that are not zero.
    """
    # Alone only some, and fewer of them where it is slow.
    alone = [X[[row]] for row in range(min(X.shape[0], 200))]
    with threadpool_limits(1):
        projection.project(alone[0])
        first = _milliseconds(lambda: projection.project(alone[0]), repeats=1)
        few = alone[: max(3, int(1000 / max(first, 1.0)))]
        one = _milliseconds(lambda: [projection.project(row) for row in few]) / len(few)
        many = _milliseconds(lambda: projection.project(X)) / X.shape[0]
    described = projection.project(X)
    filled = described.nnz if hasattr(described, "nnz") else np.count_nonzero(described)
    return {
        "one": one,
        "many": many,
        "megabytes": projection.megabytes,
        "described": filled / (described.shape[0] * described.shape[1]),
    }


def dense_milliseconds(topics: NDArray[np.float32], X: csr_array) -> float:
    """The time for a document that is a dense vector, with all of the topics: as the paper seems to do it."""
    vectors = X[:20].toarray()
    with threadpool_limits(1):
        return _milliseconds(lambda: [topics @ vector for vector in vectors]) / len(vectors)


def _milliseconds(call: Callable[[], object], repeats: int = 3) -> float:
    """The processor's time, as in the paper; the least of several, since others use the machine, too."""
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return 1000 * min(taken)
