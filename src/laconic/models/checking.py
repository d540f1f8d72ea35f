"""Documents as a model takes them: checked once, at the boundary."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_non_negative, validate_data

from laconic.errors import InputError, InputWarning
from laconic.kernels.rows import sound_rows
from laconic.matrices import check_indices

_LOOKED_AT = 100
_FEWEST = 3


def checked_matrix(model: Any, X: Any, *, reset: bool) -> csr_array:
    """Finite, two-dimensional, float32 or float64, canonical CSR; the caller's X is never changed."""
    sound = _sound(model, X, reset=reset)
    if sound and not reset:
        return X
    X = _taken(model, X) if sound else _validated(model, X, reset=reset)
    if reset and model.wants == "counts" and _look_weighted(X):
        name = type(model).__name__
        warnings.warn(
            InputWarning(
                InputError(
                    f"X looks like tf-idf weights (rows of unit length), but {name} is a model of counts: it "
                    "finds better topics from counts, such as corpus.counts or the output of CountVectorizer"
                )
            ),
            stacklevel=5,
        )
    return X


def _taken(model: Any, X: csr_array) -> csr_array:
    """X as it is, of which the model knows how many terms it has."""
    model.n_features_in_ = X.shape[1]
    # Made anew: what a matrix says of its own order need not be true any more.
    return csr_array((X.data, X.indices, X.indptr), shape=X.shape)


def _validated(model: Any, X: Any, *, reset: bool) -> csr_array:
    """X of any kind as the model takes it, by scikit-learn's checks and with its errors."""
    refuse_texts(model, X)
    check_indices(X)
    X = validate_data(
        model,
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        reset=reset,
        accept_large_sparse=True,
    )
    X = csr_array((X.data, X.indices, X.indptr), shape=X.shape) if issparse(X) else csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if model.traits.nonnegative:
        check_non_negative(X, type(model).__name__)
    return X


def refuse_texts(model: Any, X: Any) -> None:
    """Answer the commonest mistakes: a matrix is wanted, and this is a corpus, a bundle, or texts.

    Raises
    ------
    TypeError
        Says what to pass.
    """
    if isinstance(getattr(X, "X", None), csr_array):
        raise TypeError("This is a corpus; pass its matrix: corpus.X, or corpus.counts.")
    if hasattr(X, "vectorizer_of"):
        raise TypeError("This is a bundle; pass a matrix, or call bundle.transform(texts).")
    remedy = (
        "laconic.fit(texts) counts and fits in one step; or pass Corpus.from_texts(texts)."
        f"{'counts' if model.wants == 'counts' else 'X'}, and new texts by corpus.vectorize(texts)."
    )
    wanted = f"{type(model).__name__} takes a matrix of documents and terms"
    if isinstance(X, str):
        raise TypeError(f"X is one text, and {wanted}: {remedy}")
    kinds = getattr(X, "dtypes", None)
    columns = getattr(X, "columns", None)
    if columns is not None and kinds is not None:
        of = [str(name) for name, kind in zip(columns, kinds, strict=True) if _holds_texts(X[name], kind)]
        if of:
            raise TypeError(
                f"X is a data frame with a column of texts, {of[0]!r}, and {wanted}: "
                f"laconic.fit(data_frame, text={of[0]!r}) counts and fits in one step."
            )
    elif not issparse(X) and getattr(X, "ndim", 1) == 1 and _begins_with_texts(X):
        raise TypeError(f"X are texts, and {wanted}: {remedy}")


def _holds_texts(column: Any, kind: Any) -> bool:
    return str(kind).lower() in ("object", "str", "string") and _begins_with_texts(column)


def _begins_with_texts(values: Any) -> bool:
    try:
        first = next(iter(values), None)
    except TypeError:
        return False
    return isinstance(first, str)


def _look_weighted(X: csr_array) -> bool:
    """Whether the first rows are of length one, as tf-idf has them, and no counts."""
    few = X[:_LOOKED_AT]
    if not few.nnz or not (few.data % 1).any():
        return False
    squares = few.multiply(few).sum(axis=1)
    return int(np.count_nonzero(squares)) >= _FEWEST and np.allclose(squares[squares > 0], 1, atol=1e-4)


def _sound(model: Any, X: Any, *, reset: bool) -> bool:
    """Whether all that is checked otherwise holds for X as it is.

    The checks are the same; scikit-learn's take ten times as long for a document or two, and import pandas to
    learn that X is no data frame. Where one fails, its own then say what is wrong.
    """
    if type(X) is not csr_array or X.ndim != 2 or X.dtype not in (np.float32, np.float64):
        return False
    fitted = vars(model)
    n_terms = X.shape[1] if reset else fitted.get("n_features_in_")
    if X.shape[0] < 1 or X.shape[1] < 1 or X.shape[1] != n_terms or "feature_names_in_" in fitted:
        return False
    least = X.dtype.type(0 if model.traits.nonnegative else -np.inf)
    return bool(sound_rows(X.indptr, X.indices, X.data, X.shape[1], least))
