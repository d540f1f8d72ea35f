"""Rows with neighbours: worked examples, and every solver beside a bisection or a general-purpose one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import wrightomega

from laconic.kernels import edges, neighbours

DIVERGENCES = ("l2", "skl", "l1")


def solve(divergence, counts, others, couplings, start=None, dtype=np.float64):
    """The row of a node with these neighbours, through the kernel of the divergence."""
    width = len(counts)
    start = np.full(width, 1 / width) if start is None else start
    weights = np.vstack([start, others]).astype(dtype)
    degree = len(others)
    graph = np.array([0, degree] + [degree] * degree), np.arange(1, degree + 1), np.asarray(couplings, float)
    row = np.zeros(1, np.int64), *graph, np.asarray([counts], dtype), weights
    if divergence == "l2":
        neighbours.quadratic_rows(*row)
    elif divergence == "skl":
        logs = np.log(weights)
        neighbours.logarithmic_rows(*row, logs)
        assert_allclose(logs[0], np.log(weights[0]), atol=1e-5 if dtype == np.float32 else 1e-12)
    else:
        neighbours.absolute_rows(*row, np.array([float(np.sum(counts))]))
    assert_array_equal(weights[1:], np.asarray(others, dtype))
    return weights[0]


def bisect(at, low, high):
    """The weights whose sum is one: between the limits from both sides where the sum jumps."""
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if at(middle).sum() >= 1 else (low, middle)
    first, last = at(low), at(high)
    above, below = first.sum() - 1, 1 - last.sum()
    return first if above + below == 0 else first + np.clip(above / (above + below), 0, 1) * (last - first)


def expected_row(divergence, q, others, couplings):
    """By bisection, with formulas as they stand."""
    total, coupling, pull = q.sum(), couplings.sum(), couplings @ others

    def quadratic(eta):
        return (np.sqrt((eta - pull) ** 2 + 4 * coupling * q) - (eta - pull)) / (2 * coupling)

    def logarithmic(eta):
        t = (q + pull) / coupling
        z = np.log(t) + (eta - couplings @ np.log(others)) / coupling + 1
        return np.maximum(t / wrightomega(z).real, neighbours.FLOOR)

    def absolute(eta):
        return np.array([median(eta, q[k], others[:, k]) for k in range(len(q))])

    def median(eta, count, levels):
        order = np.argsort(levels)
        slopes = np.concatenate([[0], np.cumsum(2 * couplings[order])]) - coupling + eta
        free = np.where(slopes > 0, count / np.where(slopes > 0, slopes, 1), np.inf)
        return min(1, np.sort(np.concatenate([levels, free]))[len(levels)])

    if divergence == "l2":
        row = bisect(quadratic, total - coupling, total + pull.max())
    elif divergence == "skl":
        row = bisect(logarithmic, total + (couplings @ np.log(others)).min(), total + 1e-6 * (1 + coupling))
    else:
        row = bisect(absolute, total - coupling, total + coupling)
    return row / row.sum()


def cases(n=150, seed=0):
    """Counts (some or all of them zero), neighbours and couplings over many orders of magnitude."""
    random = np.random.default_rng(seed)
    for i in range(n):
        width, degree = random.integers(1, 9), random.integers(1, 6)
        q = random.dirichlet(np.full(width, 0.3)) * 10 ** random.uniform(-3, 3)
        q[: i % 3] = 0
        others = random.dirichlet(np.ones(width), degree) + 1e-9
        others /= others.sum(axis=1, keepdims=True)
        couplings = (random.random(degree) + 0.1) * 10 ** random.uniform(-3, 3)
        start = random.dirichlet(np.ones(width)) + 1e-9
        yield q, others, couplings, start / start.sum()


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_equals_bisection(divergence):
    for q, others, couplings, start in cases():
        u = solve(divergence, q, others, couplings, start)
        assert_allclose(u, expected_row(divergence, q, others, couplings), atol=1e-9)
        assert abs(u.sum() - 1) < 1e-12


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_start_does_not_matter(divergence):
    for q, others, couplings, start in cases(60, seed=1):
        if divergence == "l1" and np.count_nonzero(q) == 0:
            continue  # without counts there may be many minima
        first, second = (solve(divergence, q, others, couplings, s) for s in (start, others[0]))
        assert_allclose(first, second, atol=1e-9)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_float32(divergence):
    for q, others, couplings, start in cases(60, seed=2):
        if divergence == "l1" and np.count_nonzero(q) == 0:
            continue
        single = solve(divergence, q, others, couplings, start, np.float32)
        assert_allclose(single, solve(divergence, q, others, couplings, start), atol=2e-4)


@pytest.mark.parametrize("scale", [1e-90, 1e-12, 1e12, 1e90])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_extreme_couplings(divergence, scale):
    q, others = np.array([0.7, 0.2, 0.1]), np.array([[0.2, 0.2, 0.6], [0.3, 0.5, 0.2]])
    u = solve(divergence, q, others, np.array([2.0, 1.0]) * scale)
    assert abs(u.sum() - 1) < 1e-12
    if scale < 1:
        assert_allclose(u, q, rtol=1e-8)
    else:
        assert_allclose(u, solve(divergence, np.zeros(3), others, np.array([2.0, 1.0])), atol=1e-8)


def test_worked_examples_e6():
    half = [[0.5, 0.5]]
    assert_allclose(solve("l2", [27 / 32, 5 / 32], half, [1]), [0.75, 0.25], rtol=1e-12)
    assert_allclose(solve("skl", [0.977994902063, 0.022005097937], half, [0.5]), [0.75, 0.25], rtol=1e-10)
    two = [[0.2, 0.8], [0.6, 0.4]]
    assert_allclose(solve("l1", [0.7, 0.3], two, [0.1, 0.1]), [0.60435608, 0.39564392], rtol=1e-7)
    assert_array_equal(solve("l1", [0.62, 0.38], two, [0.1, 0.1]), [0.6, 0.4])
    # the two neighbours' pulls cancel between them
    assert_allclose(solve("l1", [0.45, 0.55], two, [0.1, 0.1]), [0.45, 0.55], rtol=1e-12)


def test_multipliers_of_the_worked_examples():
    counts, pull = np.array([27.0, 5.0]) / 32, np.array([0.5, 0.5])
    assert neighbours.quadratic_row(counts, pull, 1.0, np.array([0.5, 0.5])) == pytest.approx(7 / 8)
    counts, pull = np.array([0.977994902063, 0.022005097937]), np.array([0.25, 0.25])
    logs, u = np.log([0.5, 0.5]), np.array([0.5, 0.5])
    eta = neighbours.logarithmic_row(counts, pull, 0.5 * logs, 0.5, u, logs)
    assert eta == pytest.approx(0.934593982029, abs=1e-10)


def test_l1_equals_a_general_convex_solver():
    """Gaps as variables of their own make the problem smooth."""
    random = np.random.default_rng(3)
    for _ in range(8):
        width, degree = 3, random.integers(2, 5)
        q, couplings = random.dirichlet(np.ones(width)) + 0.05, random.random(degree) + 0.1
        others = random.dirichlet(np.ones(width), degree)

        def value(u, q=q, others=others, couplings=couplings):
            return -q @ np.log(u) + couplings @ np.abs(u - others).sum(axis=1)

        def smooth(x, q=q, couplings=couplings, width=width):
            return -q @ np.log(x[:width]) + np.repeat(couplings, width) @ x[width:]

        def room(x, others=others, width=width):
            gaps, size = (x[:width] - others).ravel(), x[width:]
            return np.concatenate([size - gaps, size + gaps])

        first = np.concatenate([np.full(width, 1 / width), np.ones(width * degree)])
        found = minimize(
            smooth,
            first,
            method="SLSQP",
            bounds=[(1e-9, 1)] * width + [(0, 2)] * width * degree,
            constraints=[
                {"type": "eq", "fun": lambda x, width=width: x[:width].sum() - 1},
                {"type": "ineq", "fun": room},
            ],
            options={"maxiter": 500, "ftol": 1e-14},
        ).x[:width]
        u = solve("l1", q, others, couplings)
        assert value(u) <= value(found / found.sum()) + 1e-9
        assert_allclose(u, found, atol=1e-4)


def test_weights_that_rest_on_a_neighbour_are_its_to_the_bit():
    random = np.random.default_rng(4)
    others = random.dirichlet(np.ones(50), 3)
    for dtype in (np.float64, np.float32):
        u = solve("l1", random.dirichlet(np.ones(50)), others, [100.0, 1.0, 1.0], dtype=dtype)
        assert_array_equal(u, others[0].astype(dtype))
    # a hub's many neighbours are sorted another way
    many = random.dirichlet(np.ones(4), 101)
    u = solve("l1", np.full(4, 1e-9), many, np.ones(101))
    assert_allclose(u, expected_row("l1", np.full(4, 1e-9), many, np.ones(101)), atol=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_without_counts_the_neighbours_decide(divergence):
    others, couplings = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.1, 0.1, 0.8]]), np.array([0.5, 1, 0.5])
    u = solve(divergence, np.zeros(3), others, couplings)
    if divergence == "l2":
        assert_allclose(u, couplings @ others / 2, rtol=1e-12)
    penalties = {
        "l2": lambda u: couplings @ ((u - others) ** 2).sum(axis=1) / 2,
        "skl": lambda u: couplings @ ((u - others) * np.log(u / others)).sum(axis=1),
        "l1": lambda u: couplings @ np.abs(u - others).sum(axis=1),
    }
    random = np.random.default_rng(5)
    for _ in range(300):
        other = np.abs(u + random.normal(size=3) * 10 ** random.uniform(-5, -1))
        assert penalties[divergence](u) <= penalties[divergence](other / other.sum()) + 1e-14


def test_without_neighbours_counts_decide():
    alone = np.zeros(1, np.int64), np.array([0, 0]), np.zeros(0, np.int64), np.zeros(0)
    for counts, expected in ([3.0, 1.0], [0.75, 0.25]), ([0.0, 0.0], [0.5, 0.5]):
        for rows, more in (
            (neighbours.quadratic_rows, ()),
            (neighbours.logarithmic_rows, (np.zeros((1, 2)),)),
            (neighbours.absolute_rows, (np.zeros(1),)),
        ):
            weights = np.array([[0.1, 0.9]])
            rows(*alone, np.array([counts]), weights, *more)
            assert_array_equal(weights, [expected])


def test_log_omega():
    z = np.concatenate([np.linspace(-60, 700, 4001), [1e4, 1e8, 1e300]])
    for guess in (-700.0, 0.0, 5.0, 1e3):
        found = np.array([neighbours.log_omega(each, guess) for each in z])
        assert_allclose(found[:, 1], wrightomega(z).real, rtol=1e-12)
        assert_allclose(found[:, 0], np.log(wrightomega(z).real), rtol=1e-12, atol=1e-13)


def random_graph(n, density, seed):
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((n, n)) * (random.random((n, n)) < density), 1)
    return upper + upper.T


def csr(matrix):
    rows, columns = np.nonzero(matrix)
    return np.searchsorted(rows, np.arange(len(matrix) + 1)), columns, matrix[rows, columns]


def test_colours_differ_between_neighbours():
    for density in (0, 0.05, 0.3, 1):
        graph = random_graph(40, density, 6)
        indptr, indices, _ = csr(graph)
        colours = edges.greedy_colours(indptr, indices, np.arange(40))
        assert not (graph.astype(bool) & (colours[:, None] == colours)).any()
        assert colours.max() <= np.diff(indptr).max()
        assert (colours[np.diff(indptr) == 0] == 0).all()


def test_tied_nodes():
    #  0 - 1 - 2   3 - 4   5: equal rows without a path of equal rows between them are not tied
    graph = np.zeros((6, 6))
    for a, b in ((0, 1), (1, 2), (3, 4)):
        graph[a, b] = graph[b, a] = 1
    indptr, indices, _ = csr(graph)
    same, other = [0.5, 0.5], [0.4, 0.6]
    assert_array_equal(
        edges.tied_nodes(indptr, indices, np.array([same, same, same, same, same, same])), [0, 0, 0, 3, 3, 5]
    )
    assert_array_equal(
        edges.tied_nodes(indptr, indices, np.array([same, other, same, other, other, same])),
        [0, 1, 2, 3, 3, 5],
    )
    fading, faded, more = [1.0, 1e-30, 0.0], [1.0, 1e-200, 1e-15], [1.0, 1e-9, 0.0]
    rows = np.array([fading, faded, more, faded, fading, more])
    assert_array_equal(edges.tied_nodes(indptr, indices, rows), [0, 0, 2, 3, 3, 5])


def test_penalties_count_every_edge_once():
    graph, weights = random_graph(20, 0.3, 7), np.random.default_rng(8).dirichlet(np.ones(5), 20)
    first, second = np.nonzero(np.triu(graph))
    a, b, c = weights[first], weights[second], graph[first, second]
    assert_allclose(
        edges.quadratic_penalty(0, 20, *csr(graph), weights), c @ ((a - b) ** 2).sum(axis=1) / 2, rtol=1e-12
    )
    assert_allclose(
        edges.absolute_penalty(0, 20, *csr(graph), weights), c @ np.abs(a - b).sum(axis=1), rtol=1e-12
    )
    total = edges.logarithmic_penalty(0, 20, *csr(graph), weights, np.log(weights))
    assert_allclose(total, c @ ((a - b) * np.log(a / b)).sum(axis=1), rtol=1e-12)
    parts = [edges.quadratic_penalty(s, s + 5, *csr(graph), weights) for s in (0, 5, 10, 15)]
    assert sum(parts) == pytest.approx(edges.quadratic_penalty(0, 20, *csr(graph), weights))
