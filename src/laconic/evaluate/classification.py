"""Are topics good features? A linear support vector machine tells classes apart by documents' weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.svm import LinearSVC

from laconic.checks import check_number

Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

COSTS = tuple(10.0**power for power in range(-3, 4))
N_SPLITS = 5
N_FOLDS = 5
TEST_SHARE = 1 / 3


@dataclass(frozen=True)
class Classification:
    """What `classification_accuracy` found.

    Attributes
    ----------
    mean, std : float
        Of the accuracies of all splits; the standard deviation is that of the population.
    per_split : list of float
        The share of test documents whose class was told, for each split.
    costs : list of float
        The C that was chosen in each split.
    """

    mean: float
    std: float
    per_split: list[float]
    costs: list[float]


def classification_accuracy(
    W: Any,
    labels: ArrayLike,
    splits: int | Sequence[str] | Iterable[tuple[ArrayLike, ArrayLike]] = N_SPLITS,
    *,
    costs: Sequence[float] = COSTS,
    random_state: int = 0,
) -> Classification:
    """Accuracy of a linear support vector machine on documents' weights.

    In each split, C is chosen on the training documents alone, by the accuracy of a cross-validation in five
    parts (fewer, if a class has fewer documents); of equally good ones, the smallest. Then all training
    documents are used, and the test documents are classified.

    Parameters
    ----------
    W : array or sparse array of shape (n_documents, n_topics)
        As ``model.transform`` gives it.
    labels : array-like of shape (n_documents,)
        Classes, at least two.
    splits : int, sequence of str, or iterable of (train, test), default=5
        So many random splits, in which a third of each class is for testing; or "train" or "test" for each
        document; or the numbers of training and of test documents for each split.
    costs : sequence of float, default=(0.001, 0.01, ..., 1000)
        The values of C to choose from. They hold for weights whose rows have a mean square length of one: W
        is divided by one number, that of the training documents, so that its scale does not matter.
    random_state : int, default=0
        Of splits, folds and the solver.

    Returns
    -------
    Classification
        Mean, standard deviation and values of the splits.

    Notes
    -----
    Topics that were fitted on the test documents, too, have seen their words, though not their labels. For
    numbers that hold for new documents, fit on the training documents and give the split.

    Examples
    --------
    >>> W = [[0.9, 0.1], [0.8, 0.3], [0.7, 0.0], [0.1, 0.9], [0.2, 0.6], [0.0, 0.8]] * 3
    >>> classification_accuracy(W, ["a", "a", "a", "b", "b", "b"] * 3, splits=2).per_split
    [1.0, 1.0]
    """
    features = csr_array(W, dtype=np.float64) if issparse(W) else np.asarray(W, dtype=np.float64)
    classes = np.asarray(labels)
    if features.ndim != 2 or classes.shape != (features.shape[0],):
        raise ValueError(
            f"W has shape {features.shape} and labels have shape {classes.shape}; give a row of weights and "
            "a label for every document"
        )
    if not np.isfinite(features.data if issparse(features) else features).all():
        raise ValueError("W has weights that are NaN or infinite; give finite numbers")
    ordered = sorted(set(map(float, costs)))
    if not ordered or not ordered[0] > 0:
        raise ValueError(f"costs must be numbers above 0, not {costs!r}")
    accuracies, chosen = [], []
    for train, test in _as_splits(splits, classes, random_state):
        cost, accuracy = _classified(features, classes, train, test, ordered, random_state)
        accuracies.append(accuracy)
        chosen.append(cost)
    return Classification(float(np.mean(accuracies)), float(np.std(accuracies)), accuracies, chosen)


def _as_splits(splits: Any, classes: NDArray[Any], seed: int) -> list[Split]:
    """The numbers of training and test documents of every split, neither of them empty."""
    n_documents = len(classes)
    if isinstance(splits, Integral):
        check_number("splits", splits, Integral, 1)
        _, sizes = np.unique(classes, return_counts=True)
        if len(sizes) < 2 or sizes.min() < 3:
            raise ValueError(
                "random splits need two classes or more, and three documents of each; leave smaller classes "
                "out, or give splits"
            )
        random = StratifiedShuffleSplit(int(splits), test_size=TEST_SHARE, random_state=seed)
        return list(random.split(np.zeros(n_documents), classes))
    listed = list(splits)
    if listed and all(isinstance(part, str) for part in listed):
        named = np.array(listed)
        if len(named) != n_documents:
            raise ValueError(f"there are {len(named)} names of splits for {n_documents} documents")
        listed = [(np.flatnonzero(named == "train"), np.flatnonzero(named == "test"))]
    checked = []
    for train, test in listed:
        parts = np.arange(n_documents)[np.asarray(train)], np.arange(n_documents)[np.asarray(test)]
        if len(parts[0]) == 0 or len(parts[1]) == 0 or len(np.unique(classes[parts[0]])) < 2:
            raise ValueError(
                "every split needs test documents, and training documents of two classes or more"
            )
        checked.append(parts)
    if not checked:
        raise ValueError('there are no splits; give a number, "train" or "test" for each document, or pairs')
    return checked


def _classified(
    features: Any, classes: NDArray[Any], train: Any, test: Any, costs: Sequence[float], seed: int
) -> tuple[float, float]:
    """The cost that a cross-validation of the training documents chooses, and the accuracy with it."""
    X, y = features[train], classes[train]
    length = np.sqrt((X.multiply(X) if issparse(X) else X * X).sum() / X.shape[0])
    X = X / (length or 1.0)
    smallest = int(np.unique(y, return_counts=True)[1].min())
    with warnings.catch_warnings():
        # Large costs converge slowly, and are chosen only if they are better as they are.
        warnings.simplefilter("ignore", ConvergenceWarning)
        cost = costs[0]
        if len(costs) > 1:
            # A class of one document is in no training part of one fold; so be it.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            folds = StratifiedKFold(min(N_FOLDS, max(2, smallest)), shuffle=True, random_state=seed)
            means = [cross_val_score(_machine(one, seed), X, y, cv=folds).mean() for one in costs]
            cost = costs[int(np.argmax(means))]
        machine = _machine(cost, seed).fit(X, y)
    return cost, float(machine.score(features[test] / (length or 1.0), classes[test]))


def _machine(cost: float, seed: int) -> Any:
    return LinearSVC(C=cost, dual="auto", max_iter=5000, random_state=seed)
