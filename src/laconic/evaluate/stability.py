"""Do topics come back? Measured by fits on random halves of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_number
from laconic.corpus import Corpus
from laconic.models.base import TopicModel

N_SAMPLES = 10
N_TERMS = 20
COMES_BACK = 0.5
"""A topic has come back if a topic of the other fit has at least this share of its words."""


@dataclass(frozen=True, eq=False)
class Stability:
    """What `stability` found.

    Attributes
    ----------
    mean : float
        The overlap of the topics of two samples, averaged over all pairs of samples: 1 if the same words
        come back every time.
    pairs : numpy.ndarray of float64
        The overlap of each pair.
    per_topic : numpy.ndarray of float64, or None
        For a model that is already fitted: how much of each of its topics comes back, averaged over the
        samples.
    """

    mean: float
    pairs: NDArray[np.float64]
    per_topic: NDArray[np.float64] | None = None


def topic_overlap(topics: Any, others: Any, *, n_terms: int = N_TERMS) -> NDArray[np.float64]:
    """Pair the topics of two models, and measure how many words each pair has in common.

    Parameters
    ----------
    topics, others : array or sparse array of shape (n_topics, n_terms), or lists of words
        Topics over the same terms: ``components_`` of two models; or the words of every topic, the heaviest
        first. The numbers of topics may differ.
    n_terms : int, default=20
        How many words of each topic count: those with the largest absolute weights.

    Returns
    -------
    numpy.ndarray of float64
        For each of `topics`, the share of its words that its partner has, too. Topics are paired so that
        they have the most in common overall. A topic without words, or without a partner, has 0.

    Examples
    --------
    >>> topic_overlap([["red", "fish"], ["sun", "moon"]], [["sun", "star"], ["fish", "red"]])
    array([1. , 0.5])
    """
    check_number("n_terms", n_terms, Integral, 1)
    left, right = _top_terms(topics, n_terms), _top_terms(others, n_terms)
    names = {term: place for place, term in enumerate(dict.fromkeys(t for row in left + right for t in row))}
    shared = (_membership(left, names) @ _membership(right, names).T).toarray()
    sizes = [np.array([len(row) for row in rows], float) for rows in (left, right)]
    overlap = shared / np.maximum(1, np.maximum(sizes[0][:, None], sizes[1][None, :]))
    found = np.zeros(len(left))
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    found[rows] = overlap[rows, columns]
    return found


def stability(
    model: Any,
    documents: Corpus | Any,
    *,
    n_samples: int = N_SAMPLES,
    n_terms: int = N_TERMS,
    random_state: Any = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Stability:
    """Fit a model to random halves of the documents, and compare the topics found.

    The seed of the model does not change, so this measures how much topics depend on the sample of
    documents, and on chance only if the model has ``random_state=None``.

    Parameters
    ----------
    model : estimator
        With ``fit`` and ``components_``: one of laconic's, or of scikit-learn. It is cloned, not changed.
        Group models and models with several modalities are not supported.
    documents : Corpus, or array or sparse array of shape (n_documents, n_terms)
        From a corpus, a model gets what it wants: weights or counts.
    n_samples : int, default=10
        How many halves are drawn.
    n_terms : int, default=20
        How many words of each topic count.
    random_state : int, RandomState instance or None, default=0
        Seed of the halves.
    progress : callable, optional
        Called after every fit, with the number of fits so far and of all.

    Returns
    -------
    Stability
        See `topic_overlap` for how topics are paired.

    Examples
    --------
    >>> import numpy as np
    >>> from laconic import NMF
    >>> X = np.kron(np.eye(2), np.ones((20, 3)))
    >>> stability(NMF(2, random_state=0), X, n_samples=3).mean
    1.0
    """
    check_number("n_samples", n_samples, Integral, 2)
    X = _matrix(model, documents)
    random = check_random_state(random_state)
    found: list[Any] = []
    for done, half in enumerate(halves(X.shape[0], n_samples, random)):
        found.append(clone(model).fit(X[half]).components_)
        if progress is not None:
            progress(done + 1, n_samples)
    pairs = np.array([topic_overlap(a, b, n_terms=n_terms).mean() for a, b in combinations(found, 2)])
    per_topic = None
    if _is_fitted(model):
        overlaps = [topic_overlap(model.components_, each, n_terms=n_terms) for each in found]
        per_topic = np.mean(overlaps, axis=0)
    return Stability(float(pairs.mean()), pairs, per_topic)


def halves(n_documents: int, n_samples: int, random: np.random.RandomState) -> Iterator[NDArray[np.int64]]:
    """Random halves of documents: their numbers, in order.

    Parameters
    ----------
    n_documents : int
        Of how many.
    n_samples : int
        How many halves.
    random : numpy.random.RandomState
        Who draws them.

    Yields
    ------
    numpy.ndarray of int
        At least one document.
    """
    for _ in range(n_samples):
        yield np.sort(random.permutation(n_documents)[: max(1, n_documents // 2)])


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _matrix(model: Any, documents: Any) -> Any:
    if isinstance(documents, Corpus):
        counted = isinstance(model, TopicModel) and model.wants == "counts"
        return documents.counts if counted else documents.X
    return csr_array(documents) if issparse(documents) else np.asarray(documents)


def _top_terms(topics: Any, n_terms: int) -> list[list[Any]]:
    """The heaviest terms of every topic: words, or numbers of columns."""
    if not issparse(topics) and not isinstance(topics, np.ndarray):
        return [list(dict.fromkeys(words))[:n_terms] for words in topics]
    found = csr_array(topics, copy=True)
    found.eliminate_zeros()
    found.sort_indices()
    tops = []
    for start, stop in pairwise(found.indptr):
        order = start + np.argsort(-np.abs(found.data[start:stop]), kind="stable")[:n_terms]
        tops.append(found.indices[order].tolist())
    return tops


def _membership(rows: Sequence[Sequence[Any]], names: dict[Any, int]) -> csr_array:
    indices = [names[term] for row in rows for term in row]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return csr_array((np.ones(len(indices)), np.array(indices, np.int64), ends), (len(rows), len(names)))
