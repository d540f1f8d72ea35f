"""What experiments do with models: a fixed number of iterations, several runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from laconic.experiments.parts import Results


@contextmanager
def iterations_given() -> Iterator[None]:
    """Fits end when their iterations are used up: that is the protocol here, and nothing to warn about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def finite(compute: Callable[[], Any]) -> Any:
    """What a function gives, all of it finite; flags that it raises on the way do not count.

    Products inside scikit-learn's LDA were once reported as invalid in one of several equal runs: so the
    result is looked at, and not the flag.

    >>> finite(lambda: np.array([1.0, 2.0]))
    array([1., 2.])
    """
    with np.errstate(invalid="ignore"):
        found = compute()
    values = found.data if issparse(found) else np.asarray(found)
    if not np.isfinite(values).all():
        raise FloatingPointError("a model of another library gave values that are not finite")
    return found


def summary(runs: Sequence[Results]) -> Results:
    """Means and standard deviations of what several runs measured.

    Examples
    --------
    >>> summary([{"accuracy": 0.5}, {"accuracy": 0.7}])
    {'accuracy': 0.6, 'accuracy_sd': 0.1, 'runs': 2}
    """
    measured: Results = {}
    for key in runs[0]:
        values = [run[key] for run in runs]
        measured |= {key: round(float(np.mean(values)), 6), f"{key}_sd": round(float(np.std(values)), 6)}
    return measured | {"runs": len(runs)}
