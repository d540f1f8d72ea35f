import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from laconic.explore import layout
from laconic.explore.layout import apart, laid_out, normalised


def distances(points):
    return np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))


def topics(n, n_terms=30, seed=0):
    rng = np.random.default_rng(seed)
    return normalised(rng.random((n, n_terms)) * (rng.random((n, n_terms)) < 0.3))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_up_to_three_topics_have_their_distances(n):
    directions = topics(n)
    wanted = np.sqrt(np.maximum(2 - 2 * directions @ directions.T, 0))
    np.testing.assert_allclose(distances(laid_out(directions, np.ones(n)).points), wanted, atol=1e-6)


def test_points_are_those_of_classical_scaling():
    directions = topics(40)
    squared = np.maximum(2 - 2 * directions @ directions.T, 0)
    centring = np.eye(40) - 1 / 40
    values, vectors = np.linalg.eigh(-0.5 * centring @ squared @ centring)
    naive = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    found = laid_out(directions, np.ones(40))
    np.testing.assert_allclose(distances(found.points), distances(naive), atol=1e-9)
    assert found.shown == pytest.approx(values[-2:].sum() / values.sum())


def test_sparse_topics_lie_where_dense_ones_do():
    directions = topics(25)
    np.testing.assert_allclose(
        laid_out(csr_array(directions), np.ones(25)).points,
        laid_out(directions, np.ones(25)).points,
        atol=1e-9,
    )


@given(st.randoms(use_true_random=False))
def test_the_order_of_topics_does_not_turn_the_map(random):
    directions = topics(12, seed=random.randrange(5))
    order = list(range(12))
    random.shuffle(order)
    np.testing.assert_allclose(
        laid_out(directions[order], np.ones(12)).points,
        laid_out(directions, np.ones(12)).points[order],
        atol=1e-7,
    )


def test_many_topics_lie_beside_landmarks(monkeypatch):
    directions, weights = topics(60), np.arange(60.0)
    monkeypatch.setattr(layout, "LANDMARKS", 20)
    some = laid_out(directions, weights).points
    alone = laid_out(directions[40:], weights[40:]).points
    np.testing.assert_allclose(some[40:], alone, atol=1e-9)
    # a topic that equals a landmark lies on it
    twin = directions.copy()
    twin[0] = directions[50]
    beside = laid_out(twin, weights).points
    np.testing.assert_allclose(beside[0], beside[50], atol=1e-9)


def test_equal_topics_and_empty_ones_do_no_harm():
    same = np.tile([[0.6, 0.8]], (5, 1))
    assert not laid_out(same, np.ones(5)).points.any()
    assert np.isfinite(laid_out(np.zeros((3, 4)), np.ones(3)).points).all()


def test_circles_that_cover_each_other_part():
    points = np.zeros((8, 2))
    radii = np.full(8, 0.1)
    moved = apart(points, radii)
    far = distances(moved) + np.eye(8)
    assert far.min() > 0.19
    np.testing.assert_array_equal(moved, apart(points, radii))
    clear = np.array([[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(apart(clear, np.full(2, 0.1)), clear, atol=1e-6)
