"""Weights of penalties: from where on nothing is left, and what to take if nobody says."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, svds

from laconic.models.factor import Floats, squared_norms

# alpha_topics as a share of alpha_max, by (topic_norm, doc_norm): measured on tf-idf of news, papers and
# documentation to give weights of some dozens of non-zeros, and topics nearly all alive.
SHARE = {("l1", "l1"): 1 / 20_000, ("l2", "l2"): 1 / 50, ("l2", "l1"): 1 / 10_000, ("l1", "l2"): 1 / 400}
# The penalty at which topics keep the words of the start would also shrink them, so that half of them go
# on to lose most; at a sixth of it, on the same collections, topics end with some dozens of words.
LENIENCE = 1 / 6
# A median needs no more topics than this of a group.
MEASURED = 100


def alpha_max(
    X: csr_array, parts: Iterable[csr_array], topic_norm: str, doc_norm: str, alpha_docs: float
) -> float:
    """The `alpha_topics` from which on there are no topics: bounds on what a factor can reach.

    `parts` are the documents of each group: their weights are found apart, so that the bounds add up.

    Ridge weights obey |W|_2 <= s / (2 sqrt(alpha_docs)), s the largest singular value of X, so no product
    w_k'x_m exceeds that times the norm of the column x_m, and lasso topics are zero from twice that value on.
    For l1 weights, alpha_docs |w_n|_1 <= |x_n|^2 bounds the columns of W instead. With l2 topics and l1
    weights the same holds with the sides exchanged, and with l2 on both sides the optimum shrinks all
    singular values by sqrt(alpha_topics alpha_docs).
    """
    by_document, by_term = squared_norms(X)
    largest_column = float(np.sqrt(by_term.max(initial=0)))
    if topic_norm == "l1" and doc_norm == "l1":
        return 2 * largest_column * float(np.sqrt(np.sum(by_document**2))) / alpha_docs
    spectral = float(np.sqrt(sum(largest_singular_value(part) ** 2 for part in parts)))
    if topic_norm == "l1":
        return spectral * largest_column / float(np.sqrt(alpha_docs))
    if doc_norm == "l1":
        return (spectral * float(np.sqrt(by_document.max(initial=0))) / alpha_docs) ** 2
    return spectral**2 / alpha_docs


def largest_singular_value(X: csr_array) -> float:
    """The spectral norm, from a fixed start so that it is always the same number."""
    largest = float(np.abs(X.data).max(initial=0))
    if largest == 0:
        return 0.0
    if min(X.shape) <= 2:
        return largest * float(np.linalg.norm(X.toarray().astype(np.float64) / largest, 2))
    turned = X.T
    # scaled, so that squares stay in range
    operator = LinearOperator(
        X.shape, matvec=lambda v: X @ v / largest, rmatvec=lambda v: turned @ v / largest, dtype=np.float64
    )
    start = np.random.RandomState(0).standard_normal(min(X.shape))
    return largest * float(svds(operator, 1, v0=start, return_singular_vectors=False)[0])


class Lasting:
    """An l1 penalty on topics, for ridge weights, that suits the topics of a word budget.

    A topic of unit length keeps the entries of b = r_k - sum s_kl c_l beyond alpha/2. To keep its own words,
    alpha/2 is the largest entry left out, theta; but scaled to where the penalties are in balance this
    becomes alpha = 2 sqrt(theta^3 |c_k|_1 / (alpha_docs |w_k|^2)). Of that the median over topics, because
    many a collection has a topic of boilerplate that outweighs all others, times `LENIENCE`.

    To be called by every step that has chosen its topics, while R is still there.
    """

    def __init__(self, alpha_docs: float, nonnegative: bool) -> None:
        self.alpha_docs = alpha_docs
        self.nonnegative = nonnegative
        self.found: list[float] = []

    def forget(self) -> None:
        """Begin again."""
        self.found = []

    def __call__(self, gram: Floats, products: Floats, components: csr_array, budget: int) -> None:
        """Take note of some topics (topics × terms), evenly chosen, for which S and R are given."""
        for k in range(0, len(gram), -(-len(gram) // MEASURED)):
            coupling = gram[k].copy()
            coupling[k] = 0
            b = products[k] - components.T @ coupling
            size = b if self.nonnegative else np.abs(b)
            spare = min(budget, size.size // 2)
            theta = float(np.partition(size, size.size - spare - 1)[size.size - spare - 1])
            length = float(np.abs(components[[k]].data).sum(dtype=np.float64))
            if theta > 0 and gram[k, k] > 0:
                self.found.append(2 * np.sqrt(theta / gram[k, k] * length / self.alpha_docs) * theta)

    def alpha(self) -> float | None:
        """The penalty; None if no topic has words to spare."""
        return LENIENCE * float(np.median(self.found)) if self.found else None
