"""How well topics foretell the rest of a document: half of its words are shown, the other half is guessed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from laconic.corpus import Corpus
from laconic.models.base import TopicModel

# A prediction is spread a little over all words: topics have exact zeros, and one surprise is not all.
BACKGROUND = 0.05


def halves_of_words(corpus: Corpus, documents: Any, random: np.random.RandomState) -> tuple[Any, Any]:
    """Two halves of the words of some documents, drawn at random: counts, or weights of these.

    Parameters
    ----------
    corpus : Corpus
        With counts.
    documents : ndarray of int
        Which ones.
    random : numpy.random.RandomState
        Who draws.

    Returns
    -------
    (csr_array, csr_array)
        Counts of the words that are shown, and of those that are not.
    """
    counts = corpus.counts[documents]
    shown = random.binomial(counts.data.astype(np.int64), 0.5).astype(counts.dtype)
    parts = []
    for data in (shown, counts.data - shown):
        part = csr_array((data, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
        part.eliminate_zeros()
        parts.append(part)
    return parts[0], parts[1]


def completion(model: TopicModel, corpus: Corpus, shown: Any, hidden: Any) -> float:
    r"""The share of the hidden halves of documents that topics foretell from the halves shown.

    With P = WC for the weights W of the shown halves, and Y the hidden halves as the model takes documents:
    the part of :math:`\|Y\|^2` that P explains, in the scale that fits best,
    :math:`\langle Y, P\rangle^2 / (\|P\|^2 \|Y\|^2)`; for models of counts, the part of the surprise (the
    logarithm of the likelihood) of the words alone that P takes away.

    Parameters
    ----------
    model : TopicModel
        Fitted to other documents.
    corpus : Corpus
        Whose vectoriser weighs counts, and whose words say how frequent each is.
    shown, hidden : csr_array
        As in `halves_of_words`.

    Returns
    -------
    float
        At most 1; less than 0 for models of counts that foretell less than the frequencies of words do.
    """
    rows, others = (model.rows(part, corpus.vectorizer.weigh) for part in (shown, hidden))
    weights, topics = model.transform(rows), model.components_
    if model.wants == "counts":
        return _surprise_taken(weights, topics, others, corpus)
    products = topics @ others.T
    inner = float(np.sum(_dense(products) * _dense(weights).T, dtype=np.float64))
    gram = _dense(topics @ topics.T)
    size = float(np.sum((_dense(weights).T @ _dense(weights)) * gram))
    whole = float((others.data.astype(np.float64) ** 2).sum())
    return inner * inner / (size * whole) if size > 0 and whole > 0 and inner > 0 else 0.0


def _surprise_taken(weights: Any, topics: Any, others: Any, corpus: Corpus) -> float:
    totals = np.asarray(corpus.counts.sum(axis=0), np.float64).ravel()
    frequencies = totals / max(totals.sum(), 1.0)
    topics = _dense(topics).astype(np.float64)
    # W C with rows that sum to one, wherever the model puts the scale
    mass = topics.sum(axis=1)
    shares = _dense(weights).astype(np.float64) * mass
    shares /= np.where(shares.sum(axis=1) > 0, shares.sum(axis=1), 1)[:, None]
    rows = np.repeat(np.arange(others.shape[0]), np.diff(others.indptr))
    foretold = np.zeros(len(rows))
    topics /= np.where(mass > 0, mass, 1)[:, None]
    for share, topic in zip(shares.T, topics, strict=True):
        foretold += share[rows] * topic[others.indices]
    alone = frequencies[others.indices]
    foretold = (1 - BACKGROUND) * foretold + BACKGROUND * alone
    whole = -float(np.sum(others.data * np.log(alone)))
    return 1 + float(np.sum(others.data * np.log(foretold))) / whole if whole > 0 else 0.0


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)
