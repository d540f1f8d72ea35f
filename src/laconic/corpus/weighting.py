"""From counts to weights: what a term weighs in all documents, and in one."""

from __future__ import annotations

from numbers import Real
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

# BM25's usual constants: how soon more occurrences of a term count no more, and how far length does.
SATURATION, BY_LENGTH = 1.2, 0.75


def term_weights(counts: CSR, weighting: str) -> NDArray[np.float64] | None:
    """Weigh each term by how it spreads over the documents.

    Parameters
    ----------
    counts : scipy.sparse.csr_array of shape (n_documents, n_terms)
        Canonical.
    weighting : {"count", "binary", "tfidf", "log-entropy", "bm25"}
        As in `Vectorizer`.

    Returns
    -------
    numpy.ndarray of float64, shape (n_terms,), or None
        At least 1 for "tfidf", from 0 to 1 for "log-entropy", positive for "bm25", None for the others.
    """
    if weighting == "tfidf":
        return np.asarray(np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1)
    if weighting == "bm25":
        return rarity(counts.shape[0], document_frequency(counts))
    return _entropy_weights(counts) if weighting == "log-entropy" else None


def rarity(n_documents: int, frequencies: NDArray[Any]) -> NDArray[np.float64]:
    """BM25's idf: never negative, not even for a term of more than half of the documents.

    >>> rarity(9, np.array([1, 9])).round(3)
    array([1.897, 0.051])
    """
    return np.asarray(np.log1p((n_documents - frequencies + 0.5) / (frequencies + 0.5)), np.float64)


def usual_length(counts: CSR, weighting: str) -> float | None:
    """The mean length of documents with any words, which "bm25" measures others against; else None."""
    if weighting != "bm25":
        return None
    n_worded = int(np.count_nonzero(np.diff(counts.indptr)))
    return float(counts.data.sum(dtype=np.float64)) / n_worded if n_worded else 1.0


def checked_length(length: Any, weighting: str) -> float | None:
    """Check that a length could have come from `usual_length`."""
    if weighting != "bm25":
        if length is not None:
            raise ValueError(f"mean_length must be None for the weighting {weighting!r}")
        return None
    if isinstance(length, bool) or not isinstance(length, Real) or not 0 < float(length) < np.inf:
        raise ValueError(f"the weighting 'bm25' needs mean_length, a positive number, not {length!r}")
    return float(length)


LARGEST_WEIGHT = 1e6
"""Of a term: logarithms are far below, and products with it stay within what floats hold."""

LARGEST_COUNT = 1e30
"""That is weighed as it is: with such a weight, it still is a float32."""


def checked_weights(weights: ArrayLike | None, weighting: str, n_terms: int) -> NDArray[np.float64] | None:
    """Check that weights could have come from `term_weights`."""
    if weighting not in ("tfidf", "log-entropy", "bm25"):
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
    never_zero = weighting != "log-entropy"
    if not np.isfinite(numbers).all() or (numbers < 0).any() or (never_zero and not numbers.all()):
        least = "positive" if never_zero else "not negative"
        raise ValueError(f"idf must be finite and {least}")
    if numbers.max(initial=0) > LARGEST_WEIGHT:
        raise ValueError(f"idf must be at most {LARGEST_WEIGHT:g}, which no collection exceeds")
    return numbers


def weighed(
    counts: CSR,
    weighting: str,
    weights: NDArray[np.float64] | None,
    mean_length: float | None = None,
    *,
    sublinear_tf: bool = False,
) -> CSR:
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
    largest = counts.data.max(initial=0)
    if largest > LARGEST_COUNT and weighting != "log-entropy":
        raise CorpusError(f"a count of {largest:.3g} is too large to be weighed: scale the counts down")
    # All of them are many for a text or two, which have just a few.
    factors = weights if counts.nnz < weights.size else weights.astype(np.float32)
    if weighting == "bm25":
        assert mean_length is not None
        lengths = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel() / mean_length
        saturation = (SATURATION * (1 - BY_LENGTH + BY_LENGTH * lengths)).astype(np.float32)
    for block in _blocks(counts.nnz):
        part = data[block]
        if weighting == "bm25":
            np.add(counts.data[block], saturation[_documents(counts.indptr, block)], out=part)
            np.divide(counts.data[block], part, out=part)
        elif weighting == "log-entropy":
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


def _documents(indptr: NDArray[Any], block: slice) -> NDArray[Any]:
    """The document of every entry of a block."""
    first = int(np.searchsorted(indptr, block.start, side="right")) - 1
    last = int(np.searchsorted(indptr, block.stop, side="left"))
    ends = np.clip(indptr[first : last + 1], block.start, min(block.stop, int(indptr[-1])))
    return np.repeat(np.arange(first, first + ends.size - 1), np.diff(ends))


def _blocks(size: int) -> list[Any]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]
