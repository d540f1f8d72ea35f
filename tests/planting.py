"""A small corpus with known topics."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array


def planted(n_documents=120, n_terms=80, n_topics=4, seed=0, dtype=np.float64) -> csr_array:
    """Documents of planted topics plus noise, rows of length one; some documents and terms are empty."""
    random = np.random.default_rng(seed)
    topics = np.zeros((n_topics, n_terms))
    for topic in topics:
        topic[random.choice(n_terms - 2, 12, replace=False)] = random.uniform(0.5, 1.5, 12)
    weights = random.dirichlet(np.full(n_topics, 0.2), n_documents)
    X = random.poisson(3 * weights @ topics) + random.poisson(0.05, (n_documents, n_terms))
    X[::40] = 0
    X[:, -2:] = 0
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return csr_array((X / np.where(norms > 0, norms, 1)).astype(dtype))
