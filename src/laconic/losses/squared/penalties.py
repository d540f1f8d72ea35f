"""Weights of penalties: from where on nothing is left, and what to take if nobody says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Engine, Shards
from laconic.losses.factor import Floats
from laconic.losses.singular import largest_singular_values
from laconic.losses.squared.topics import BudgetTopics
from laconic.losses.totals import norms

# alpha_topics as a share of alpha_max, by (topic_norm, doc_norm): measured on tf-idf of news, papers and
# documentation to give weights of some dozens of non-zeros, and topics nearly all alive.
SHARE = {("l1", "l1"): 1 / 20_000, ("l2", "l2"): 1 / 50, ("l2", "l1"): 1 / 10_000, ("l1", "l2"): 1 / 400}
# The penalty at which topics keep the words of the start would also shrink them, so that half of them go
# on to lose most; at a sixth of it, on the same collections, topics end with some dozens of words.
LENIENCE = 1 / 6
# A median needs no more topics than this of a class.
MEASURED = 100


def alpha_max(shards: Shards, engine: Engine, topic_norm: str, doc_norm: str, alpha_docs: float) -> float:
    """The `alpha_topics` from which on there are no topics: bounds on what a factor can reach.

    The weights of each class are found apart, so that the bounds add up over classes.

    Ridge weights obey |W|_2 <= s / (2 sqrt(alpha_docs)), s the largest singular value of X, so no product
    w_k'x_m exceeds that times the norm of the column x_m, and lasso topics are zero from twice that value on.
    For l1 weights, alpha_docs |w_n|_1 <= |x_n|^2 bounds the columns of W instead. With l2 topics and l1
    weights the same holds with the sides exchanged, and with l2 on both sides the optimum shrinks all
    singular values by sqrt(alpha_topics alpha_docs).
    """
    by_document, by_term = norms(shards, engine)
    largest_column = float(np.sqrt(by_term.max(initial=0)))
    if topic_norm == "l1" and doc_norm == "l1":
        return 2 * largest_column * float(np.sqrt(np.sum(by_document**2))) / alpha_docs
    spectral = float(np.sqrt(sum(largest_singular_values(shards, engine) ** 2)))
    if topic_norm == "l1":
        return spectral * largest_column / float(np.sqrt(alpha_docs))
    if doc_norm == "l1":
        return (spectral * float(np.sqrt(by_document.max(initial=0))) / alpha_docs) ** 2
    return spectral**2 / alpha_docs


class Lasting:
    """An l1 penalty on topics, for ridge weights, that suits the topics of a word budget.

    A topic of unit length keeps the entries of b = r_k - sum s_kl c_l beyond alpha/2. To keep its own words,
    alpha/2 is the largest entry left out, theta; but scaled to where the penalties are in balance this
    becomes alpha = 2 sqrt(theta^3 |c_k|_1 / (alpha_docs |w_k|^2)). Of that the median over topics, because
    many a collection has a topic of boilerplate that outweighs all others, times `LENIENCE`.

    To be called by every step that has chosen its topics, while the products of its candidates are there.
    """

    def __init__(self, alpha_docs: float, nonnegative: bool) -> None:
        self.alpha_docs = alpha_docs
        self.nonnegative = nonnegative

    def __call__(
        self, gram: Floats, products: Floats, components: csr_array, step: BudgetTopics
    ) -> list[float]:
        """The penalties of some topics (topics × candidates), evenly chosen, for which S and R are given."""
        assert step.bars is not None
        spare = min(step.budget, step.n_terms // 2)
        found: list[float] = []
        for k in range(0, len(gram), -(-len(gram) // MEASURED)):
            coupling = gram[k].copy()
            coupling[k] = 0
            b = products[k] - components.T @ coupling
            size = b if self.nonnegative else np.abs(b)
            # words that are no candidates are below the bar
            theta = max(0.0, float(step.bars[k]))
            if size.size > spare:
                theta = max(theta, float(np.partition(size, size.size - spare - 1)[size.size - spare - 1]))
            length = float(np.abs(components[[k]].data).sum(dtype=np.float64))
            if theta > 0 and gram[k, k] > 0:
                found.append(float(2 * np.sqrt(theta / gram[k, k] * length / self.alpha_docs) * theta))
        return found

    @staticmethod
    def alpha(steps: Sequence[BudgetTopics]) -> float | None:
        """The penalty that suits the topics of all steps; None if no topic has words to spare."""
        found = [alpha for step in steps for alpha in step.watched]
        return LENIENCE * float(np.median(found)) if found else None
