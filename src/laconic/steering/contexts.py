"""What a seed stands for: not its words alone, but also those that documents have beside them.

A topic that is held at the one word "business" is pulled towards that word, and reaches the few documents
that have it. Held at the words around it, too, it reaches documents that are about business in other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

N_BESIDE = 100
"""How many words that stand beside those of a seed belong to its target."""
OWN_LENGTH = 0.5
"""How long the part of a target is that are its own words, beside the others, whose length is one."""


def context_target(
    X: Any,
    columns: Sequence[int],
    *,
    members: Any = None,
    scale: float = 1.0,
    segments: Sequence[slice] = (slice(None),),
) -> csr_array | None:
    """The target of a topic that is wanted by some words.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_terms)
        Weights of terms, best with rows of length one.
    columns : sequence of int
        The words of the seed.
    members : array of bool, optional
        Which documents count; by default all.
    scale : float, default=1.0
        The length of the target.
    segments : sequence of slice
        The columns of each modality: each has as many words beside those of the seed.

    Returns
    -------
    csr_array of shape (1, n_terms), or None
        The words of the seed, all alike, and those that weigh most in documents that have them, by how much
        more they weigh there than in all. None, if no document has a word of the seed.
    """
    n_documents, n_terms = X.shape
    own = np.zeros(n_terms, X.dtype)
    own[list(columns)] = 1
    having = np.asarray(X @ own, np.float64)
    counting = np.ones(n_documents) if members is None else np.asarray(members, np.float64)
    having *= counting
    if not having.sum() > 0:
        return None
    beside = having @ X / having.sum() - counting @ X / counting.sum()
    beside[list(columns)] = 0
    places = np.arange(n_terms)
    best = [places[part][np.argsort(-beside[part], kind="stable")[:N_BESIDE]] for part in segments]
    chosen = np.sort(np.concatenate(best))
    chosen = chosen[beside[chosen] > 0]
    target = np.zeros(n_terms)
    length = np.sqrt(np.square(beside[chosen]).sum())
    target[chosen] = beside[chosen] / (length if length > 0 else 1)
    target[list(columns)] = OWN_LENGTH / np.sqrt(len(columns))
    target *= scale / np.sqrt(np.square(target).sum())
    return csr_array(target[None, :], dtype=X.dtype)
