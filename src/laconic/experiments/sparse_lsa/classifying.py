"""How well a linear classifier tells the classes of projected documents: the paper's measure."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

TEST_SHARE = 1 / 3
# Where classes overlap, the largest penalties would take hours to come to rest, and are not chosen.
ITERATIONS = 100_000


@dataclass(frozen=True)
class Search:
    """Which penalties of the classifier are tried, by cross-validation with how many folds.

    Attributes
    ----------
    exponents : (int, int)
        Of ten: those of the smallest penalty and of the largest.
    folds : int
        Of the training documents.
    """

    exponents: tuple[int, int] = (-4, 4)
    folds: int = 5

    @property
    def penalties(self) -> tuple[float, ...]:
        """All that are tried."""
        return tuple(10.0**exponent for exponent in range(self.exponents[0], self.exponents[1] + 1))

    def __str__(self) -> str:
        """What was tried, for pages and for the names of what is kept."""
        return f"C of {self.penalties[0]:g} to {self.penalties[-1]:g} by {self.folds}-fold cross-validation"


PAPERS_SEARCH = Search()


class Scores(NamedTuple):
    """Shares of documents whose class is found.

    Attributes
    ----------
    test : float
        Of the test documents.
    validation : float
        Of the training documents, by cross-validation with the best penalty.
    """

    test: float
    validation: float


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


def svm_scores(
    train: Any,
    train_labels: NDArray[Any],
    test: Any,
    test_labels: NDArray[Any],
    seed: int,
    search: Search = PAPERS_SEARCH,
) -> Scores:
    """How well a linear SVM does, whose penalty is chosen by cross-validation on the training documents.

    Parameters
    ----------
    train, test : arrays or sparse arrays of shape (n_documents, n_features)
        The documents as projected.
    train_labels, test_labels : arrays of str
        Their classes.
    seed : int
        Of the folds.
    search : Search
        Where the penalty is looked for; the paper's by default.

    Examples
    --------
    >>> X, y = np.repeat(np.eye(2), 6, axis=0), np.repeat(["a", "b"], 6)
    >>> svm_scores(X, y, X, y, 0)
    Scores(test=1.0, validation=1.0)
    """
    # The classifier needs the documents' products only, which are fewer than their entries.
    products = dense(train @ train.T)
    folds = StratifiedKFold(search.folds, shuffle=True, random_state=seed)
    found: dict[float, list[float]] = {penalty: [] for penalty in search.penalties}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Classes with fewer documents than folds are missed where they have none to train on: so be it.
        warnings.filterwarnings("ignore", message="The least populated class")
        # What scikit-learn's search does, which would copy the products of a fold for every penalty.
        for seen, held in folds.split(products, train_labels):
            inner, outer = products[np.ix_(seen, seen)], products[np.ix_(held, seen)]
            for penalty, scores in found.items():
                machine = _machine(penalty).fit(inner, train_labels[seen])
                scores.append(machine.score(outer, train_labels[held]))
        means = {penalty: float(np.mean(scores)) for penalty, scores in found.items()}
        best = max(means, key=lambda penalty: means[penalty])
        machine = _machine(best).fit(products, train_labels)
    return Scores(float(machine.score(dense(test @ train.T), test_labels)), means[best])


def _machine(penalty: float) -> SVC:
    return SVC(kernel="precomputed", C=penalty, max_iter=ITERATIONS)


def dense(X: Any) -> NDArray[np.float64]:
    """An array: of projected documents, products are then made in a fraction of the time."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
