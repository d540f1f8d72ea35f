from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from laconic.engines import Threads, even_blocks, weighted_blocks


@given(st.integers(0, 200), st.integers(1, 50))
def test_even_blocks_cover_every_row_once(n_rows, size):
    rows = [i for block in even_blocks(n_rows, size) for i in range(*block)]
    assert rows == list(range(n_rows))


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 8), st.integers(1, 40))
def test_weighted_blocks_keep_to_their_limits(sizes, max_rows, max_weight):
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    blocks = weighted_blocks(indptr, max_rows, max_weight)
    assert [i for block in blocks for i in range(*block)] == list(range(len(sizes)))
    for block in blocks:
        assert block.size <= max_rows
        assert block.size == 1 or indptr[block.stop] - indptr[block.start] <= max_weight


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order(n_jobs):
    with Threads(n_jobs) as engine:
        assert list(engine.map(lambda x: x * x, range(50))) == [x * x for x in range(50)]


def test_blocks_run_side_by_side():
    barrier = threading.Barrier(2, timeout=120)
    with Threads(2) as engine:
        # with fewer than two threads at work, the barrier would break
        list(engine.map(lambda _: barrier.wait(), range(2)))


def test_blas_is_held_to_one_thread_inside_and_released_after():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    with Threads(2):
        inside = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    after = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    assert before
    assert set(inside) == {1}
    assert after == before


def test_overlapping_engines_share_the_limit():
    def limits():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    np.ones((2, 2)) @ np.ones((2, 2))
    before = limits()
    first, second = Threads(1), Threads(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(limits()) == {1}
    second.__exit__(None, None, None)
    assert limits() == before


def test_blocks_near_the_limit_of_int32():
    near = np.array([0, 2**31 - 1000, *range(2**31 - 999, 2**31 - 980)], np.int32)
    assert len(weighted_blocks(near, 512, 5000)) == 2


def test_an_error_in_a_block_reaches_the_caller():
    def fail(block):
        raise RuntimeError(f"block {block}")

    with pytest.raises(RuntimeError, match="block 0"), Threads(2) as engine:
        list(engine.map(fail, range(3)))


def test_n_jobs():
    assert Threads(None).n_workers == Threads(-1).n_workers >= 1
    assert Threads(-1000).n_workers == 1
    with pytest.raises(ValueError, match="n_jobs=0"):
        Threads(0)


def test_one_block_needs_no_pool():
    with Threads(2) as engine:
        assert list(engine.map(str, [1])) == ["1"]
        assert engine._pool is None
        assert list(engine.map(str, [1, 2])) == ["1", "2"]
        assert engine._pool is not None
    assert engine._pool is None
    assert list(engine.map(str, [1, 2])) == ["1", "2"]


def test_limits_may_be_taken_back_by_another_thread():
    def limits():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    np.ones((2, 2)) @ np.ones((2, 2))
    before = limits()
    engine = Threads(1)
    for leave in (engine.__enter__, lambda: engine.__exit__(None, None, None)):
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert set(limits()) == {1} or leave is not engine.__enter__
    assert limits() == before
