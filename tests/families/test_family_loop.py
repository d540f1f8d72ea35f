"""What the loop promises every family: order, threads, stopping, and the flags of its trace."""

import numpy as np
import pytest
from family_toys import FAMILIES, K, M, N, counts, factors, plsa, run, simplex_rows, sparse_lsa
from naive_plsa import PLSASteps, solve_documents
from naive_sparse_lsa import SparseLSASteps

from laconic.engines import Threads
from laconic.losses.loop import Patience, alternate


@pytest.fixture(params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


def test_same_bits_for_any_number_of_threads(family):
    one, told_one = run(first := family(), threads=1)
    for threads in (2, 3):
        other, told = run(steps := family(), threads=threads)
        assert other == one
        assert [p[:-1] for p in told] == [p[:-1] for p in told_one]
        for name, value in factors(steps).items():
            assert np.array_equal(value, factors(first)[name]), name


def test_nothing_depends_on_being_watched(family):
    watched, _ = run(first := family())
    with Threads(2) as engine:
        second = family()
        second.engine = engine
        trace = alternate(second, Patience(12, -np.inf))
    assert trace == watched
    for name, value in factors(second).items():
        assert np.array_equal(value, factors(first)[name])


@pytest.mark.parametrize("max_iter", [0, 1, 4])
def test_max_iter_is_respected(family, max_iter):
    trace, told = run(family(), max_iter=max_iter)
    assert len(trace.history) == max_iter
    assert not trace.converged
    assert not trace.interrupted
    assert [(p.iteration, p.half) for p in told] == [
        (i, half) for i in range(1, max_iter + 1) for half in ("documents", "topics")
    ]
    assert {(p.phase, p.max_iter) for p in told} <= {("fit", max_iter)}


def test_converges_when_and_only_when_the_decrease_is_small(family):
    tol = 1e-3
    trace, told = run(family(), max_iter=200, tol=tol)
    assert trace.converged
    assert not trace.interrupted
    history = np.array(trace.history)
    decreases = -np.diff(history) / history[:-1]
    assert 2 < len(history) < 200
    assert np.all(decreases[:-1] > tol)
    assert decreases[-1] <= tol
    np.testing.assert_allclose([p.decrease for p in told[1::2]], [np.inf, *decreases], rtol=1e-12)

    # one iteration less is too few; as many are enough
    assert not run(family(), max_iter=len(history) - 1, tol=tol)[0].converged
    assert run(family(), max_iter=len(history), tol=tol)[0] == trace


def test_callback_stops_after_the_iteration(family):
    trace, told = run(family(), answer=lambda p: p.iteration == 3)
    assert len(trace.history) == 3
    assert trace.interrupted
    assert not trace.converged
    assert told[-1].half == "topics"
    assert trace.history == run(family(), max_iter=3)[0].history


def test_callback_that_always_stops_still_sees_a_whole_iteration(family):
    trace, told = run(steps := family(), answer=lambda _: True)
    assert [p.half for p in told] == ["documents", "topics"]
    assert len(trace.history) == 1
    whole = family()
    run(whole, max_iter=1)
    for name, value in factors(steps).items():
        assert np.array_equal(value, factors(whole)[name])


def test_callback_may_ask_for_the_stop_after_the_documents(family):
    trace, told = run(family(), answer=lambda p: p.iteration == 3 and p.half == "documents")
    assert len(trace.history) == 3
    assert trace.interrupted
    assert told[-1].half == "topics"


@pytest.mark.parametrize("family", [plsa, sparse_lsa])
def test_five_shards_agree_with_one_and_have_the_same_bits_for_any_threads(family):
    one, _ = run(whole := family())
    five, _ = run(first := family(n_shards=5), threads=1)
    again, _ = run(second := family(n_shards=5), threads=4)
    assert len(first.shards) == 5
    assert five == again
    np.testing.assert_allclose(five.history, one.history, rtol=1e-12)
    for name, value in factors(first).items():
        assert np.array_equal(value, factors(second)[name])
        np.testing.assert_allclose(value, factors(whole)[name], atol=1e-12)


@pytest.mark.parametrize("half", ["documents", "topics"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_non_finite_objective_is_an_error(family, half, value):
    steps = family()
    step = getattr(steps, half)

    def spoiled():
        step()
        return value

    setattr(steps, half, spoiled)
    with pytest.raises(ValueError, match="objective"):
        run(steps)


@pytest.mark.parametrize(("size", "start"), [(1e160, 1e-160), (1e100, 1e100)], ids=["energy", "gram"])
def test_overflow_of_x_is_an_error(size, start):
    # errstate is a thread's own: one thread, so that the blocks see it
    with np.errstate(over="ignore", invalid="ignore"):
        steps = SparseLSASteps(np.full((4, 3), size), np.eye(2, 3) * start, 1.0)
        # LAPACK may refuse the matrix before the objective is known: LinAlgError is a ValueError
        with pytest.raises(ValueError):
            run(steps, threads=1)


def test_a_word_that_no_topic_knows_is_an_error():
    X, W, C = counts(), simplex_rows(N, K, 1), simplex_rows(K, M, 2)
    C[:, 0] = 0
    with np.errstate(divide="ignore", invalid="ignore"), pytest.raises(ValueError, match="objective"):
        run(PLSASteps(X, W, C), threads=1)


def test_a_negative_objective_is_no_reason_to_stop():
    # rows that add up to less than one: Σ x log(x / (WC)) may be negative, and the topics do not change
    small = PLSASteps(counts() / 1000, plsa().W, plsa().C)
    trace, _ = run(small, max_iter=30, tol=1e-9)
    assert trace.history[0] < 0
    assert len(trace.history) == 30


def broken(shard, rows, message):
    if rows.start:
        raise RuntimeError("a block failed")
    return solve_documents(shard, rows, message)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_block_reaches_the_caller(threads):
    steps = plsa()
    steps.solve = broken
    with pytest.raises(RuntimeError, match="a block failed"):
        run(steps, threads=threads)


class Late:
    """Steps that tell the objective a half step late: F falls by one at each, from 9."""

    def __init__(self):
        self.done = 0

    def documents(self):
        self.done += 1
        return 10.0 - self.done

    topics = documents

    def objective(self):
        return 9.0 - self.done

    def summary(self):
        return 1, 1.0


def test_late_steps_end_with_the_objective_of_where_they_are():
    trace = alternate(steps := Late(), Patience(50, 0.5))
    assert trace.converged
    # noticed when the documents had moved once more
    assert steps.done == 2 * len(trace.history) + 1
    assert trace.history[-1] == steps.objective()
    trace = alternate(steps := Late(), Patience(2, 0.0))
    assert steps.done == 4
    assert trace.history == [7.0, 5.0]
