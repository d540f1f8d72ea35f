"""Topics on which several starts agree, as the start of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, diags_array
from sklearn.base import clone

from laconic.checks import check_number
from laconic.corpus import Corpus
from laconic.errors import Parameter, ParameterError
from laconic.models.base import TopicModel
from laconic.steering.refits import SEED_STEP, Task, Tell, run_side_by_side

ALIKE = 0.5
"""From this cosine on, topics of two fits are the same topic."""
# What every topic has of all words at the start, where steps never leave zero.
_COMMON = 0.1


def check_consensus(model: TopicModel, n_starts: Any) -> None:
    """Refuse a model that has no starts to agree on, and a number that makes no sense."""
    check_number("consensus", n_starts, Integral, 2)
    traits, kind = model.traits, type(model).__name__
    if traits.classes or traits.modalities or traits.links:
        raise ParameterError(
            Parameter("consensus"),
            f" does not go with {kind}, whose topics have classes, modalities or links: leave it out",
        )
    init = model.get_params(deep=False)["init"]
    if init is not None and not isinstance(init, str):
        raise ParameterError(
            Parameter("consensus"), " looks for a start, and ", Parameter("init"), " gives one: choose"
        )


def consensus_start(
    model: TopicModel, corpus: Corpus, n_starts: int, *, n_jobs: int | None = None, tell: Tell | None = None
) -> csr_array:
    """Fit a model from several starts, and find the topics on which these fits agree.

    The fit that agrees best with all others names the topics. To each of them, the topics of the other fits
    are added that are like it; so what many starts find weighs more than what one has found by chance.

    Parameters
    ----------
    model : TopicModel
        Not fitted yet; not changed.
    corpus : Corpus
        The documents.
    n_starts : int
        How many fits, each from documents drawn with a seed of its own.
    n_jobs : int, optional
        How many fits run at a time; by default one per core.
    tell : callable, optional
        Called with the fraction of the work that is done, from 0 to 1.

    Returns
    -------
    csr_array of shape (n_topics, n_terms)
        What to give as `init`.
    """
    check_consensus(model, n_starts)
    seed = model.get_params(deep=False)["random_state"]
    first = int(seed) if isinstance(seed, Integral) else 0
    tasks = [
        Task(
            clone(model).set_params(
                init="documents", random_state=first + SEED_STEP + run, n_jobs=1, verbose=0
            ),
            None,
            1.0,
        )
        for run in range(n_starts)
    ]
    found = run_side_by_side(tasks, corpus, lambda task, fitted: fitted.components_, n_jobs=n_jobs, tell=tell)
    start = agreed(found)
    if model.wants == "counts":
        words = np.asarray(corpus.counts.sum(axis=0), np.float64).ravel()
        sums = np.asarray(start.sum(axis=1), np.float64).ravel()
        shares = start.toarray() / np.where(sums > 0, sums, 1)[:, None]
        start = csr_array((1 - _COMMON) * shares + _COMMON * words / max(words.sum(), 1))
    return start.astype(corpus.X.dtype)


def agreed(runs: Sequence[Any]) -> csr_array:
    """The topics of the run that agrees best with all others, with those of the others that are like them.

    Parameters
    ----------
    runs : sequence of array or csr_array of shape (n_topics, n_terms)
        Two or more.

    Returns
    -------
    csr_array of shape (n_topics, n_terms)
        As long as the topics of that run.

    Examples
    --------
    >>> agreed([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 2.0], [0.8, 0.6]]]).toarray().round(2).tolist()
    [[0.95, 0.32], [0.0, 1.0]]
    """
    lengths, units = zip(*(_scaled(csr_array(run, dtype=np.float64)) for run in runs), strict=True)
    pairs = {}
    agreement = np.zeros(len(runs))
    for a, b in combinations(range(len(runs)), 2):
        cosines = np.asarray((units[a] @ units[b].T).toarray())
        rows, columns = linear_sum_assignment(-np.abs(cosines))
        found = cosines[rows, columns]
        back = np.argsort(columns)
        pairs[a, b], pairs[b, a] = (columns, found), (back, found[back])
        agreement[[a, b]] += np.abs(found).mean()
    best = int(agreement.argmax())
    total = units[best]
    for other in range(len(runs)):
        if other != best:
            columns, cosines = pairs[best, other]
            # a topic that may have any sign may have come with the other one
            signs = np.where(np.abs(cosines) >= ALIKE, np.sign(cosines), 0)
            total = csr_array(total + diags_array(signs) @ units[other][columns])
    return csr_array(diags_array(lengths[best]) @ _scaled(total)[1])


def _scaled(rows: csr_array) -> tuple[NDArray[np.float64], csr_array]:
    """The lengths of rows, and the rows with length one."""
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), np.float64)).ravel()
    return lengths, csr_array(diags_array(1 / np.where(lengths > 0, lengths, 1)) @ rows)
