"""What experiments do with models: a fixed number of iterations, several runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from laconic.experiments.parts import Results


@contextmanager
def iterations_given() -> Iterator[None]:
    """Fits end when their iterations are used up: that is the protocol here, and nothing to warn about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@contextmanager
def spurious_flags() -> Iterator[None]:
    """Products of small vectors sometimes raise the flag of an invalid value where all of them are finite.

    Seen in scikit-learn's LDA, in one of several equal runs. Values that are not finite would not go
    unnoticed: what classifies them refuses them.
    """
    with np.errstate(invalid="ignore"):
        yield


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
