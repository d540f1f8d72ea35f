"""Documents in several media with known topics."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

SIZES = {"de": 60, "en": 45}


def planted_modalities(n_documents=80, sizes=None, n_topics=4, n_words=40, seed=0, dtype=np.float64):
    """Counts by medium. All media of a document have the same weights; each has its own topics.

    The last term of every medium never occurs. Every medium lacks some documents, and document 5 has none.
    """
    random = np.random.default_rng(seed)
    sizes = SIZES if sizes is None else sizes
    weights = random.dirichlet(np.full(n_topics, 0.2), n_documents)
    media = {}
    for number, (name, n_terms) in enumerate(sizes.items()):
        topics = random.dirichlet(np.full(n_terms - 1, 0.1), n_topics)
        X = np.zeros((n_documents, n_terms))
        X[:, :-1] = [random.multinomial(n_words, row / row.sum()) for row in weights @ topics]
        X[number::11] = 0
        X[5] = 0
        media[name] = csr_array(X.astype(dtype))
    return media


def complete(media):
    """The documents that have every medium."""
    kept = np.all([np.diff(X.indptr) > 0 for X in media.values()], axis=0)
    return {name: X[np.flatnonzero(kept)] for name, X in media.items()}


def distance(a, b, divergence):
    """The divergence of two rows of weights."""
    if divergence == "l2":
        return np.sum((a - b) ** 2) / 2
    if divergence == "l1":
        return np.abs(a - b).sum()
    return np.sum((a - b) * np.log(a / b))


def naive_objective(model, media, graph=None):
    """The formula of the class, entry by entry."""
    total = 0.0
    present = {}
    for name, X in media.items():
        X = X.toarray().astype(np.float64)
        present[name] = X.any(axis=1)
        if model.row_normalize:
            X = X / np.where(present[name], X.sum(axis=1), 1)[:, None]
        fitted = model.modality_weights_[name] @ model.modality_topics(name)
        total += np.sum(X[X > 0] * np.log(X[X > 0] / fitted[X > 0]))
    if model.divergence == "tied":
        return total
    names = list(media)
    for i, a in enumerate(names):
        for b in names[:i]:
            for n in np.flatnonzero(present[a] & present[b]):
                total += model.strength * distance(
                    model.modality_weights_[a][n], model.modality_weights_[b][n], model.divergence
                )
        for j, other, weight in [] if graph is None else graph:
            if present[a][j] and present[a][other]:
                gap = distance(
                    model.modality_weights_[a][j], model.modality_weights_[a][other], model.divergence
                )
                total += model.strength * weight * gap
    return total
