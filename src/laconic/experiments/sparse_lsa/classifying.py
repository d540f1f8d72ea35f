"""How well a linear classifier tells the classes of projected documents: the paper's measure."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import parallel_config  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.svm import SVC

# As in the paper.
PENALTIES = tuple(10.0**exponent for exponent in range(-4, 5))
FOLDS = 5
TEST_SHARE = 1 / 3
# Where classes overlap, the largest penalties would take hours to come to rest, and are not chosen.
ITERATIONS = 100_000


def split(labels: NDArray[Any], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Documents to train on and to test with, two to one; every class is in both.

    Examples
    --------
    >>> train, test = split(np.array(["a", "b"] * 6), 0)
    >>> len(train), len(test), len(set(train) & set(test))
    (8, 4, 0)
    """
    numbers = np.arange(len(labels))
    train, test = train_test_split(numbers, test_size=TEST_SHARE, stratify=labels, random_state=seed)
    return np.sort(train), np.sort(test)


def svm_accuracy(
    train: Any, train_labels: NDArray[Any], test: Any, test_labels: NDArray[Any], seed: int, n_jobs: int
) -> float:
    """The accuracy of a linear SVM whose penalty is chosen by cross-validation on the training documents.

    Parameters
    ----------
    train, test : arrays or sparse arrays of shape (n_documents, n_features)
        The documents as projected.
    train_labels, test_labels : arrays of str
        Their classes.
    seed : int
        Of the folds.
    n_jobs : int
        How many fits at a time.

    Returns
    -------
    float
        The share of test documents whose class is found.

    Examples
    --------
    >>> X, y = np.repeat(np.eye(2), 6, axis=0), np.repeat(["a", "b"], 6)
    >>> svm_accuracy(X, y, X, y, 0, 1)
    1.0
    """
    # The classifier needs the documents' products only, which are fewer than their entries.
    products = _dense(train @ train.T)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    search = GridSearchCV(SVC(kernel="precomputed", max_iter=ITERATIONS), {"C": PENALTIES}, cv=folds)
    # Threads: the compiled fits run side by side, and processes would first have to be sent the products.
    with warnings.catch_warnings(), parallel_config("threading", n_jobs=n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(products, train_labels)
    return float(search.score(_dense(test @ train.T), test_labels))


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
