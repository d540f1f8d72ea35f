"""Steps on a graph beside documents solved one by one; descent, limits, ties and degenerate cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import wrightomega

from laconic.engines import Block, Shards, Threads
from laconic.kernels.neighbours import FLOOR
from laconic.losses.divergence.linked import (
    colours,
    fit_on_graph,
    settle_on_graph,
    strengthened_fit,
    weaker_strengths,
)
from laconic.losses.divergence.mixtures import Mixture, Separate
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.loop import Patience, alternate

DIVERGENCES = ("l2", "skl", "l1")
N, M, K = 14, 20, 3


def counts(seed=0, n=N):
    random = np.random.default_rng(seed)
    mixtures = random.dirichlet(np.full(K, 0.3), n) @ random.dirichlet(np.full(M, 0.2), K)
    X = np.stack([random.multinomial(40, row) for row in mixtures]).astype(float)
    return X / X.sum(axis=1, keepdims=True)


def start(seed=1, n=N):
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(M), K).T.copy(), random.dirichlet(np.ones(K), n)


def linked(*pairs, n=N):
    graph = np.zeros((n, n))
    for a, b in pairs:
        graph[a, b] = graph[b, a] = 1
    return graph


def some_edges(seed=2):
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((N, N)) * (random.random((N, N)) < 0.3), 1)
    return upper + upper.T


GRAPHS = {
    "path": linked(*((i, i + 1) for i in range(N - 1))),
    "star": linked(*((0, i) for i in range(1, N))),
    "complete": 1 - np.eye(N),
    "random": some_edges(),
    "disconnected": linked((0, 1), (1, 2), (2, 0), (5, 6), (9, 10), (10, 11)),
    "two": linked((3, 8)),
}


def fit(X, graph, topics, weights, divergence, strength, max_iter=12, tol=0.0, threads=1, **more):
    """The fit, and the objective at every half step of it."""
    told = []
    with Threads(threads) as engine:
        arguments = csr_array(X), csr_array(graph), topics, weights, divergence, strength, engine
        patience = Patience(max_iter, tol, lambda progress: told.append(progress.objective))
        return fit_on_graph(*arguments, patience, **more), np.array(told)


def gap(a, b, divergence):
    if divergence == "l2":
        return ((a - b) ** 2).sum(axis=-1) / 2
    return (np.abs(a - b) if divergence == "l1" else (a - b) * np.log(a / b)).sum(axis=-1)


def objective(X, W, C, graph, divergence, strength):
    seen = X > 0
    first, second = np.nonzero(np.triu(graph))
    penalty = graph[first, second] @ gap(W[first], W[second], divergence)
    return np.sum(X[seen] * np.log(X[seen] / (W @ C)[seen])) + strength * penalty


def ratios(X, W, C):
    return np.divide(X, W @ C, out=np.zeros_like(X), where=X > 0)


def expected_counts(X, W, C):
    return W * (ratios(X, W, C) @ C.T)


def next_topics(X, W, C):
    P = C * (W.T @ ratios(X, W, C))
    return P / P.sum(axis=1, keepdims=True)


def bisect(at, low, high):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).sum() >= 1 else (low, middle)
    return at(low) / at(low).sum()


def naive_row(q, others, c, divergence):
    """By bisection over the multiplier."""
    total, coupling, pull = q.sum(), c.sum(), c @ others
    if coupling == 0:
        return q / total
    if divergence == "l2":
        return bisect(
            lambda eta: (np.sqrt((eta - pull) ** 2 + 4 * coupling * q) - eta + pull) / (2 * coupling),
            total - coupling,
            total + coupling,
        )
    if divergence == "skl":
        t, log_pull = (q + pull) / coupling, c @ np.log(others)
        return bisect(
            lambda eta: np.maximum(t / wrightomega(np.log(t) + (eta - log_pull) / coupling + 1).real, FLOOR),
            total + log_pull.min(),
            total + 1e-9,
        )

    def median(eta, count, levels):
        order = np.argsort(levels)
        slopes = np.concatenate([[0], np.cumsum(2 * c[order])]) - coupling + eta
        free = np.where(slopes > 0, count / np.where(slopes > 0, slopes, 1), np.inf)
        return min(1, np.sort(np.concatenate([levels, free]))[len(levels)])

    def absolute(eta):
        return np.array([median(eta, *each) for each in zip(q, others.T, strict=True)])

    return bisect(absolute, total - coupling, total + coupling)


def naive_fit(X, graph, topics, W, divergence, strength, n_iter):
    """Colour after colour, document after document."""
    W, C, halves = W.copy(), topics.T.copy(), []
    shades = colours(csr_array(graph))
    for _ in range(n_iter):
        Q = expected_counts(X, W, C)
        for n in np.argsort(shades, kind="stable"):
            near = np.flatnonzero(graph[n])
            W[n] = naive_row(Q[n], W[near], strength * graph[n, near], divergence)
        halves.append(objective(X, W, C, graph, divergence, strength))
        C = next_topics(X, W, C)
        halves.append(objective(X, W, C, graph, divergence, strength))
    return W, C, halves


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    ("divergence", "strength"),
    [("l2", 0.01), ("l2", 1), ("l2", 100), ("skl", 0.01), ("skl", 1), ("skl", 100), ("l1", 0.003)],
)
def test_equals_documents_solved_one_by_one(divergence, strength, graph):
    X, (topics, W) = counts(), start()
    found, told = fit(X, GRAPHS[graph], topics, W, divergence, strength, max_iter=5)
    weights, C, halves = naive_fit(X, GRAPHS[graph], topics, W, divergence, strength, 5)
    assert_allclose(told, halves, rtol=1e-9)
    assert_allclose(found.weights, weights, atol=1e-8)
    assert_allclose(found.topics.T, C, atol=1e-8)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("strength", [0.01, 1, 30, 1e4])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_every_half_step_descends_and_rows_stay_on_the_simplex(divergence, strength, graph):
    X, (topics, W) = counts(3), start(4)
    found, told = fit(X, GRAPHS[graph], topics, W, divergence, strength, max_iter=25)
    first = objective(X, W, topics.T, GRAPHS[graph], divergence, strength)
    assert (np.diff(np.concatenate([[first], told])) <= 1e-11 * first).all()
    assert len(told) >= 4
    assert_allclose(found.weights.sum(axis=1), 1, atol=1e-12)
    assert (found.weights >= 0).all()
    last = objective(X, found.weights, found.topics.T, GRAPHS[graph], divergence, strength)
    # the end is noticed when the weights have moved once more: these belong to the last objective
    assert found.trace.history[-1] == pytest.approx(last, rel=1e-10)
    assert found.trace.history[-1] <= told[-1] * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_every_order_of_documents_descends(divergence, seed):
    """The order decides colours, and so what is updated first; it may matter for the way, not for descent."""
    X, (topics, W), graph = counts(3), start(4), GRAPHS["random"]
    order = np.random.default_rng(seed).permutation(N)
    _, given = fit(X, graph, topics, W, divergence, 0.1, max_iter=300)
    _, told = fit(X[order], graph[np.ix_(order, order)], topics, W[order], divergence, 0.1, max_iter=300)
    assert (np.diff(told) <= 1e-11 * told[0]).all()
    # l1 has points where block descent rests
    assert told[-1] == pytest.approx(given[-1], rel=0.1 if divergence == "l1" else 1e-2)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_no_strength_or_no_edges_is_plsa_to_the_bit(divergence):
    X, (topics, W) = csr_array(counts()), start()
    with Threads(1) as engine:
        shards = Shards.whole(X)
        shards[0].weights = W.copy()
        plain = DivergenceSteps(shards, topics.copy(), Separate(Mixture(True)), engine)
        trace = alternate(plain, Patience(9, 0))
    for graph, strength in ((GRAPHS["random"], 0.0), (np.zeros((N, N)), 7.0)):
        found, _ = fit(X, graph, topics, W, divergence, strength, 9)
        assert_array_equal(found.weights, shards[0].weights)
        assert_array_equal(found.topics, plain.components)
        assert found.trace.history == trace.history


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_strong_links_make_components_equal(divergence):
    X, (topics, W) = counts(5), start(6)
    graph = GRAPHS["disconnected"]
    gaps = []
    for strength in (1.0, 100.0, 1e4):
        found, _ = fit(X, graph, topics, W, divergence, strength, 300)
        a, b = np.nonzero(graph)
        gaps.append(np.abs(found.weights[a] - found.weights[b]).max())
    assert gaps[2] < 1e-3
    assert gaps[2] <= gaps[1] <= gaps[0]
    assert divergence != "l1" or gaps[2] == 0
    # different components differ
    assert np.abs(found.weights[0] - found.weights[9]).max() > 0.01


def test_equal_rows_do_not_stall_under_l1():
    """Two documents that begin together want to go the same way: each alone would never move."""
    X, C = np.array([[0.9, 0.1], [0.9, 0.1]]), 0.98 * np.eye(2) + 0.01
    graph, W = np.array([[0.0, 1], [1, 0]]), np.full((2, 2), 0.5)
    assert objective(X, W, C, graph, "l1", 1.0) == pytest.approx(0.736, abs=1e-3)
    with Threads(1) as engine:
        found = settle_on_graph(
            csr_array(X), csr_array(graph), C.T.copy(), W, "l1", 1.0, engine, Patience(3000, 0)
        )
    assert objective(X, found, C, graph, "l1", 1.0) < 1e-9
    best = minimize_scalar(
        lambda t: objective(X, np.array([[t, 1 - t]] * 2), C, graph, "l1", 1.0), bounds=(0.1, 0.99)
    )
    assert_allclose(found[:, 0], best.x, atol=1e-4)


def test_tied_groups_that_are_linked_take_turns():
    """Two pairs of equal rows with an edge between them, and a free node: a tied step sees new rows."""
    X, (topics, _) = counts(7, n=5), start(8)
    graph = linked((0, 1), (2, 3), (1, 2), (3, 4), n=5)
    W = np.array([[0.5, 0.3, 0.2]] * 2 + [[0.2, 0.5, 0.3]] * 2 + [[0.1, 0.1, 0.8]])
    found, told = fit(X, graph, topics, W, "l1", 2.0, max_iter=60)
    first = objective(X, W, topics.T, graph, "l1", 2.0)
    assert (np.diff(np.concatenate([[first], told])) <= 1e-12 * first).all()
    assert_array_equal(found.weights[0], found.weights[1])
    assert np.abs(found.weights[0] - W[0]).max() > 0.05


@pytest.mark.parametrize("divergence", ["l2", "skl"])
def test_residuals_vanish_at_convergence(divergence):
    X, (topics, W), graph, strength = counts(9), start(10), GRAPHS["random"], 0.5
    found, _ = fit(X, graph, topics, W, divergence, strength, 6000)
    W, C = found.weights, found.topics.T
    a, b = W[:, None], W[None]
    slopes = a - b if divergence == "l2" else np.log(a / b) + 1 - b / a
    pull = ratios(X, W, C) @ C.T - strength * np.einsum("jl,jlk->jk", graph, slopes)
    assert np.abs(W * (pull - (W * pull).sum(axis=1, keepdims=True))).max() < 1e-4
    sums = W.T @ ratios(X, W, C)
    assert np.abs(C * (sums - (C * sums).sum(axis=1, keepdims=True))).max() < 1e-4


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_empty_documents_follow_their_neighbours(divergence):
    X, (topics, W), graph = counts(11), start(12), GRAPHS["path"].copy()
    X[[4, 9]] = 0
    graph[9] = graph[:, 9] = 0
    found, told = fit(X, graph, topics, W, divergence, 0.7, 30)
    assert (np.diff(told) <= 1e-12 * told[0]).all()
    assert_array_equal(found.weights[9], np.full(K, 1 / K))
    low, high = np.sort(found.weights[[3, 5]], axis=0)
    if divergence == "l2":
        assert_allclose(found.weights[4], (low + high) / 2, atol=1e-9)
    elif divergence == "l1":
        assert (found.weights[4] >= low - 1e-12).all()
        assert (found.weights[4] <= high + 1e-12).all()
    else:
        assert (found.weights[4] >= FLOOR * 0.99).all()


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_give_the_same_bits(divergence, dtype):
    random = np.random.default_rng(13)
    n = 1500
    X = csr_array(random.poisson(0.3, (n, 40)).astype(dtype))
    ends = random.integers(0, n, (2, 3 * n))
    ends = ends[:, ends[0] != ends[1]]
    graph = csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n))
    topics = random.dirichlet(np.ones(40), 4).T.astype(dtype)
    W = random.dirichlet(np.ones(4), n).astype(dtype)
    found = [
        fit(X, graph + graph.T, topics, W, divergence, 3.0, 4, threads=threads)[0] for threads in (1, 2, 4)
    ]
    assert len({each.weights.tobytes() + each.topics.tobytes() for each in found}) == 1
    assert len({tuple(each.trace.history) for each in found}) == 1
    assert found[0].weights.dtype == dtype
    assert (np.diff(found[0].trace.history) < 0).all()


def test_segments_have_topics_that_sum_to_one_each():
    X, (topics, W) = counts(14), start(15)
    segments = [Block(0, 8), Block(8, M)]
    for part in segments:
        topics[part.start : part.stop] /= topics[part.start : part.stop].sum(axis=0)
    found, told = fit(X, GRAPHS["path"], topics, W, "skl", 1.0, segments=segments)
    for part in segments:
        assert_allclose(found.topics[part.start : part.stop].sum(axis=0), 1, atol=1e-12)
    assert (np.diff(told) <= 0).all()


def test_what_is_given_is_left_alone():
    X, (topics, W), graph = counts(), start(), GRAPHS["random"]
    before = topics.copy(), W.copy(), graph.copy()
    fit(X, graph, topics, W, "skl", 1.0)
    for now, then in zip((topics, W, graph), before, strict=True):
        assert_array_equal(now, then)


def test_a_start_with_weak_links_is_not_in_the_history_and_can_be_interrupted():
    X, (topics, W) = counts(), start()
    phases = []
    with Threads(1) as engine:
        problem = csr_array(X), csr_array(GRAPHS["path"]), topics, W, "l1", 0.5, engine
        found = strengthened_fit(*problem, Patience(7, 0, lambda p: phases.append(p.phase)))
        stopped = strengthened_fit(*problem, Patience(7, 0, lambda p: True))
    assert phases == sorted(phases, reverse=True)
    assert phases.count("fit") == 2 * len(found.trace.history) <= 14
    assert phases.count("start") > 0
    assert stopped.trace.interrupted
    assert stopped.trace.history == []


def test_links_that_strengthen_tie_what_belongs_together():
    """Four groups of documents, each a complete graph, and a chain between them."""
    groups = np.repeat(np.arange(4), 5)
    graph = (groups[:, None] == groups).astype(float) - np.eye(20)
    graph += linked((4, 5), (9, 10), (14, 15), n=20)
    X = np.random.default_rng(16).poisson(np.where(np.arange(20) // 5 == groups[:, None], 3.0, 0.1)) + 0.0
    X /= X.sum(axis=1, keepdims=True)
    random = np.random.default_rng(17)
    topics, W = random.dirichlet(np.ones(20), 4).T.copy(), random.dirichlet(np.ones(4), 20)
    with Threads(1) as engine:
        problem = csr_array(X), csr_array(graph), topics, W, "l1", 0.4, engine
        found = strengthened_fit(*problem, Patience(500, 1e-8)).weights
    assert len(np.unique(found, axis=0)) == 4
    assert all(len(np.unique(found[groups == group], axis=0)) == 1 for group in range(4))


def test_strengths_of_the_stages():
    X, graph = csr_array(counts()), csr_array(GRAPHS["path"])
    stages = weaker_strengths(X, graph, 10.0)
    assert stages[0] == 0
    assert stages == sorted(stages)
    assert 10 / 4 < stages[-1] < 10
    assert weaker_strengths(X, graph, 0.0) == weaker_strengths(X, csr_array((N, N)), 1.0) == []
    assert weaker_strengths(X, graph, 1e-6) == [0]


def test_a_strength_beyond_numbers_is_refused():
    X, (topics, W) = counts(), start()
    with pytest.raises(ValueError, match="too large for float64: lower it"):
        fit(X, GRAPHS["path"] * 1e10, topics, W, "l2", 1e300)
    # one that is not felt is none
    found, _ = fit(X, GRAPHS["path"], topics, W, "skl", 1e-300)
    assert_array_equal(found.weights, fit(X, GRAPHS["path"], topics, W, "skl", 0.0)[0].weights)
