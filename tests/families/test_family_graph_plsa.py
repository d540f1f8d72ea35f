"""Two-colour GraphPLSA (l2) through the loop, beside whole matrices solved document by document."""

import threading

import numpy as np
import pytest
from family_toys import (
    N_FIRST,
    STRENGTH,
    K,
    M,
    N,
    assert_never_rises,
    bipartite_graph,
    counts,
    graph_plsa,
    plsa,
    run,
    simplex_rows,
)
from naive_plsa import GraphPLSASteps, root_l2, solve_documents
from numpy.testing import assert_allclose


def objective(X, W, C, graph, strength):
    fitted = np.where(X > 0, W @ C, 1)
    loss = np.sum(X * np.log(np.where(X > 0, X, 1) / fitted))
    gaps = ((W[:, None] - W[None]) ** 2).sum(axis=2)
    # each edge stands twice in the matrix, and the divergence has a half
    return loss + strength * np.sum(graph * gaps) / 4


def bisect(Q, V, kappa):
    """The textbook root of the quadratic, halving until the bracket is a float wide."""

    def at(eta):
        return (np.sqrt((eta - V) ** 2 + 4 * kappa * Q) - (eta - V)) / (2 * kappa)

    if kappa == 0:
        return Q / Q.sum()
    low, high = Q.sum() - kappa, Q.sum() + V.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).sum() > 1 else (low, middle)
    return at(low)


def straight(X, W, C, graph, strength, n_iter, *, fresh=True):
    """One document after another; `fresh` says whether it sees the new rows of those before it."""
    halves = []
    for _ in range(n_iter):
        Q = W * ((X / (W @ C)) @ C.T)
        old, W = W, W.copy()
        for n in range(len(X)):
            neighbours = W if fresh else old
            W[n] = bisect(Q[n], strength * graph[n] @ neighbours, strength * graph[n].sum())
        halves.append(objective(X, W, C, graph, strength))
        P = C * (W.T @ (X / (W @ C)))
        C = P / P.sum(axis=1, keepdims=True)
        halves.append(objective(X, W, C, graph, strength))
    return W, C, halves


def start():
    return counts(), simplex_rows(N, K, 1), simplex_rows(K, M, 2)


@pytest.mark.parametrize("strength", [0.01, STRENGTH, 30.0])
def test_equals_whole_matrices(strength):
    graph = bipartite_graph()
    steps = GraphPLSASteps(*start(), graph, N_FIRST, strength)
    trace, told = run(steps, threads=3)
    W, C, halves = straight(*start(), graph, strength, 12)
    assert_allclose([p.objective for p in told], halves, rtol=1e-10)
    assert_allclose(trace.history, halves[1::2], rtol=1e-10)
    assert_allclose(steps.W, W, atol=1e-10)
    assert_allclose(steps.C, C, atol=1e-10)
    assert_allclose(steps.W.sum(axis=1), 1, atol=1e-12)


def test_the_second_colour_sees_the_new_rows_of_the_first():
    run(steps := graph_plsa(), threads=3, max_iter=1)
    fresh, _, _ = straight(*start(), bipartite_graph(), STRENGTH, 1)
    stale, _, _ = straight(*start(), bipartite_graph(), STRENGTH, 1, fresh=False)
    assert_allclose(steps.W, fresh, atol=1e-12)
    assert np.abs(steps.W[N_FIRST:] - stale[N_FIRST:]).max() > 1e-3


def test_a_stage_waits_for_the_one_before():
    """One block of the first colour waits for the others: idle threads could start the second colour."""
    steps = GraphPLSASteps(*start(), bipartite_graph(), N_FIRST, STRENGTH, block=2)
    first, done, others = steps.colours[0], [], threading.Event()

    def slow(shard, rows, message):
        if rows.start >= N_FIRST:
            assert sorted(done) == first
            return solve_documents(shard, rows, message)
        if rows.start == 0:
            assert others.wait(60)
        share = solve_documents(shard, rows, message)
        done.append(rows)
        if len(done) == len(first) - 1:
            others.set()
        return share

    steps.solve = slow
    run(steps, threads=3, max_iter=1)
    assert len(done) == 6


@pytest.mark.parametrize("strength", [0.1, STRENGTH, 100.0])
def test_every_half_step_descends(strength):
    graph = bipartite_graph()
    steps = GraphPLSASteps(*start(), graph, N_FIRST, strength)
    first = objective(*start(), graph, strength)
    _, told = run(steps, max_iter=40)
    assert_never_rises([first, *(p.objective for p in told)], first)
    assert told[-1].objective < 0.9 * first


def test_simultaneous_steps_descend_over_whole_iterations():
    graph = bipartite_graph()
    steps = GraphPLSASteps(*start(), graph, N_FIRST, STRENGTH, simultaneous=True)
    first = objective(*start(), graph, STRENGTH)
    trace, _ = run(steps, max_iter=40)
    assert_never_rises([first, *trace.history], first)


def test_no_strength_or_no_edges_is_plsa():
    run(plain := plsa())
    for graph, strength in [(bipartite_graph(), 0.0), (np.zeros((N, N)), STRENGTH)]:
        run(steps := GraphPLSASteps(*start(), graph, N_FIRST, strength))
        assert np.abs(steps.W - plain.W).max() < 1e-13
        assert np.abs(steps.C - plain.C).max() < 1e-13


def test_worked_example_e6():
    u, eta = root_l2(np.array([[27, 5]]) / 32, np.array([[0.5, 0.5]]), np.ones(1))
    assert_allclose(u, [[0.75, 0.25]], rtol=1e-14)
    assert_allclose(eta, [7 / 8], rtol=1e-14)


def test_worked_example_e6_through_the_loop():
    """One term per topic makes Q the document itself; its neighbour, of the other colour, comes later."""
    X = np.array([[27, 5], [16, 16]]) / 32
    steps = GraphPLSASteps(X, np.full((2, 2), 0.5), np.eye(2), np.array([[0.0, 1], [1, 0]]), 1, 1.0, block=1)
    run(steps, max_iter=1)
    assert_allclose(steps.W[0], [0.75, 0.25], rtol=1e-14)
    # the second stage pulled its document towards the first's new row
    assert_allclose(steps.W[1], root_l2(X[1:], steps.W[:1], np.ones(1))[0][0], rtol=1e-14)
    assert 0.5 < steps.W[1, 0] < 0.75


def test_root_stays_in_its_bracket_and_satisfies_its_identity():
    rng = np.random.default_rng(0)
    Q, v = rng.gamma(0.3, 5.0, (50, K)), simplex_rows(50, K, 5)
    kappa = rng.gamma(0.5, 10.0, 50)
    V = kappa[:, None] * v
    u, eta = root_l2(Q, V, kappa)
    assert_allclose(u.sum(axis=1), 1, atol=1e-12)
    identity = Q.sum(axis=1) - kappa * (u**2).sum(axis=1) + (V * u).sum(axis=1)
    assert_allclose(eta, identity, atol=1e-12 * (Q.sum() + kappa.max()))
    assert np.all(eta >= Q.sum(axis=1) - kappa)
    assert np.all(eta <= Q.sum(axis=1) + V.max(axis=1))
    assert_allclose(u, [bisect(*row) for row in zip(Q, V, kappa, strict=True)], atol=1e-10)


def test_an_empty_document_is_the_mean_of_its_neighbours():
    X, W, C = start()
    graph = bipartite_graph()
    X[-1] = 0
    steps = GraphPLSASteps(X, W, C, graph, N_FIRST, STRENGTH)
    _, told = run(steps)
    assert graph[-1].any()
    assert_allclose(steps.W[-1], graph[-1] @ steps.W / graph[-1].sum(), atol=1e-14)
    assert_never_rises([p.objective for p in told], told[0].objective)
