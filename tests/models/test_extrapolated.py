"""Topics ahead of the last ones, for the squared loss: beside a naive version, and sooner than without."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array, random_array

from laconic import NMF, RLSI, GroupNMF, GroupRLSI
from laconic.kernels.rows import rows_ahead
from laconic.losses.squared.problems import NonNegative, Regularised
from laconic.losses.squared.sooner import _extrapolate

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(5)
X = csr_array(RANDOM.poisson(RANDOM.gamma(0.3, 1, (60, 4)) @ RANDOM.gamma(0.2, 1, (4, 40)))).astype(float)
START = RANDOM.uniform(0.1, 1, (4, 40))


def hals(gram, targets, rows):
    """One exact update of every column in turn."""
    rows = rows.copy()
    for k in range(len(gram)):
        left = targets[:, k] - rows @ gram[:, k] + rows[:, k] * gram[k, k]
        rows[:, k] = np.maximum(left / gram[k, k], 0)
    return rows


def naive(A, C, n_iter):
    """Objectives of NMF with extrapolated topics, and how often it went back."""
    W = np.array([nnls(C.T, row)[0] for row in A])
    before, pace, last, history, returns = None, 1.0, np.inf, [], 0
    for _ in range(n_iter):
        following = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        share, pace = (pace - 1) / following, following
        ahead = C if before is None else np.maximum(C + share * (C - before), 0)
        for tried in (ahead, C):
            V = hals(tried @ tried.T, A @ tried.T, W)
            D = hals(V.T @ V, A.T @ V, tried.T).T
            objective = ((A - V @ D) ** 2).sum()
            if objective <= last:
                break
            returns, pace = returns + 1, 1.0
        before, C, W, last = C, D, V, objective
        history.append(objective)
    return history, returns


def test_beside_a_naive_version():
    n_iter = 40
    expected, returns = naive(X.toarray(), START, n_iter)
    assert returns > 0
    model = NMF(4, init=START, max_iter=n_iter, tol=0).fit(X)
    np.testing.assert_allclose(model.objective_history_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (NMF(4, random_state=0), NonNegative),
        (GroupNMF(2, 1, random_state=0), NonNegative),
        (RLSI(4, random_state=0), Regularised),
        (RLSI(4, topic_norm="l2", random_state=0), Regularised),
        (GroupRLSI(2, 1, random_state=0), Regularised),
    ],
    ids=["nmf", "group-nmf", "rlsi", "rlsi-l2", "group-rlsi"],
)
def test_no_worse_than_plain_steps_of_the_same_number(model, problem, monkeypatch):
    labels = np.arange(60) % 3 if isinstance(model, GroupNMF | GroupRLSI) else None
    model.set_params(max_iter=40, tol=0)
    ahead = np.array(model.fit(X, labels).objective_history_)
    assert (np.diff(ahead) <= 1e-12 * ahead[0]).all()
    monkeypatch.setattr(problem, "_paced", lambda self, steps: steps)
    plain = np.array(model.fit(X, labels).objective_history_)
    assert ahead[0] == plain[0]
    assert not np.array_equal(ahead, plain)
    assert ahead[-1] <= plain[-1] * (1 + 1e-3)


def test_a_word_budget_is_not_extrapolated():
    assert RLSI(4, topic_norm="l0")._loss()._paced(None) is None


@pytest.mark.parametrize("nonnegative", [False, True])
def test_sparse_topics_are_moved_as_dense_ones(nonnegative):
    random = np.random.default_rng(0)
    before, now = (
        csr_array(random_array((30, 7), density=0.4, rng=random, data_sampler=random.standard_normal))
        for _ in range(2)
    )
    if nonnegative:
        before, now = abs(before), abs(now)
    expected = np.empty((30, 7))
    whole = before.toarray(), now.toarray()
    _extrapolate(*whole, 0.7, nonnegative, expected, (0, 30))
    moved = now.copy()
    parts = before.indptr, before.indices, before.data, moved.indptr, moved.indices, moved.data
    rows_ahead(*parts, 0.7, nonnegative)
    np.testing.assert_allclose(moved.toarray(), expected, rtol=1e-12)
    naive_ahead = np.where(whole[1] != 0, whole[1] + 0.7 * (whole[1] - whole[0]), 0)
    np.testing.assert_allclose(expected, np.maximum(naive_ahead, 0) if nonnegative else naive_ahead)
