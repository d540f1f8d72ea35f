"""From counts to weights: what a term weighs in all documents, and in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

from laconic.corpus.spool import roomy
from laconic.errors import CorpusError, Parameter
from laconic.matrices import canonical_csr, document_frequency

if TYPE_CHECKING:
    from laconic.matrices import CSR

# Entries that are worked on at a time: matrices may be larger than memory.
_BLOCK = 1 << 22

# What rounding leaves of a weight of zero.
_ZERO = 1e-9


def term_weights(counts: CSR, weighting: str) -> NDArray[np.float64] | None:
    """Weigh each term by how it spreads over the documents.

    Parameters
    ----------
    counts : scipy.sparse.csr_array of shape (n_documents, n_terms)
        Canonical.
    weighting : {"count", "binary", "tfidf", "log-entropy"}
        As of `Vectorizer`.

    Returns
    -------
    numpy.ndarray of float64, shape (n_terms,), or None
        At least 1 for "tfidf", from 0 to 1 for "log-entropy", None for the others.
    """
    if weighting == "tfidf":
        return np.asarray(np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1)
    return _entropy_weights(counts) if weighting == "log-entropy" else None


def checked_weights(weights: ArrayLike | None, weighting: str, n_terms: int) -> NDArray[np.float64] | None:
    """Check that weights could have come from `term_weights`."""
    if weighting not in ("tfidf", "log-entropy"):
        if weights is not None:
            raise ValueError(f"idf must be None for the weighting {weighting!r}")
        return None
    if weights is None:
        raise ValueError(f"the weighting {weighting!r} needs idf, one number for each term")
    try:
        numbers = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"idf must be numbers, one for each term: {error}") from error
    if numbers.shape != (n_terms,):
        raise ValueError(f"idf has shape {numbers.shape}; the vocabulary has {n_terms} terms")
    if not np.isfinite(numbers).all() or (numbers < 0).any() or (weighting == "tfidf" and not numbers.all()):
        least = "positive" if weighting == "tfidf" else "not negative"
        raise ValueError(f"idf must be finite and {least}")
    return numbers


def weighed(counts: CSR, weighting: str, weights: NDArray[np.float64] | None, *, sublinear_tf: bool) -> CSR:
    """Turn canonical counts into weights, as `Vectorizer.weigh` describes it.

    The indices are those of `counts`, not copied, unless terms of weight zero are left out.
    """
    if weighting == "count":
        return counts
    data = roomy(counts.nnz, np.float32)
    X = canonical_csr(data, counts.indices, counts.indptr, counts.shape[1])
    if weights is None:
        data.fill(1)
        return X
    if sublinear_tf and weighting == "tfidf" and counts.nnz and counts.data.min() < 1:
        raise CorpusError(Parameter("sublinear_tf"), " needs counts of 1 or more; there are smaller ones")
    # All of them are many for a text or two, which have just a few.
    factors = weights if counts.nnz < weights.size else weights.astype(np.float32)
    for block in _blocks(counts.nnz):
        part = data[block]
        if weighting == "log-entropy":
            np.log1p(counts.data[block], out=part)
        elif sublinear_tf:
            np.log(counts.data[block], out=part)
            part += 1
        else:
            part[:] = counts.data[block]
        part *= factors[counts.indices[block]].astype(np.float32, copy=False)
    if not data.all():
        X = X.copy()
        X.eliminate_zeros()
    # Not by `normalize`, whose checks take longer than a short text: X is sound.
    if X.nnz:
        inplace_csr_row_normalize_l2(X)
    return X


def _entropy_weights(counts: CSR) -> NDArray[np.float64]:
    """Give 1 + sum_d p ln p / ln n, with p the share of a term's occurrences that document d has."""
    n_documents, n_terms = counts.shape
    # With T occurrences, sum p ln p = (sum c ln c) / T - ln T: no term's shares need to be kept.
    total, entropy = np.zeros(n_terms), np.zeros(n_terms)
    for block in _blocks(counts.nnz):
        count = counts.data[block].astype(np.float64)
        total += np.bincount(counts.indices[block], count, n_terms)
        entropy += np.bincount(counts.indices[block], count * np.log(count), n_terms)
    occurs = total > 0
    entropy[occurs] = entropy[occurs] / total[occurs] - np.log(total[occurs])
    weights = 1 + entropy / np.log(max(n_documents, 2))
    weights[weights < _ZERO] = 0
    return np.asarray(np.minimum(weights, 1))


def _blocks(size: int) -> list[Any]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]
