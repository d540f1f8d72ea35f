"""Documents as a model takes them: checked once, at the boundary."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_non_negative, validate_data

from laconic.kernels.rows import sound_rows
from laconic.matrices import check_indices


def checked_matrix(model: Any, X: Any, *, reset: bool) -> csr_array:
    """Finite, two-dimensional, float32 or float64, canonical CSR; the caller's X is never changed."""
    if not reset and _sound(model, X):
        return X
    if isinstance(getattr(X, "X", None), csr_array):
        raise TypeError("This is a corpus; pass its matrix: corpus.X, or corpus.counts.")
    check_indices(X)
    X = validate_data(
        model,
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        reset=reset,
        accept_large_sparse=True,
    )
    # Made anew: what a matrix says of its own order need not be true any more.
    X = csr_array((X.data, X.indices, X.indptr), shape=X.shape) if issparse(X) else csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if model.traits.nonnegative:
        check_non_negative(X, type(model).__name__)
    return X


def _sound(model: Any, X: Any) -> bool:
    """Whether all that is checked otherwise holds for X as it is.

    The checks are the same; scikit-learn's take ten times as long for a document or two. Where one fails, its
    own then say what is wrong.
    """
    if type(X) is not csr_array or X.ndim != 2 or X.dtype not in (np.float32, np.float64):
        return False
    fitted = vars(model)
    if X.shape[0] < 1 or X.shape[1] != fitted.get("n_features_in_") or "feature_names_in_" in fitted:
        return False
    least = X.dtype.type(0 if model.traits.nonnegative else -np.inf)
    return bool(sound_rows(X.indptr, X.indices, X.data, X.shape[1], least))
