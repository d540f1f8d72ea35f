"""A matrix by columns, beside scipy's."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from laconic.kernels.columns import count_columns, same_by_columns, take_columns


def matrix(seed, shape, density, index=np.int32):
    X = sparse.random_array(shape, density=density, format="csr", dtype=np.float32, rng=seed)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    X.sort_indices()
    return X


def compare(X, columns):
    place, ends = columns.indptr[:-1].astype(np.int64), columns.indptr[1:]
    return same_by_columns(X.indptr, X.indices, X.data, columns.indices, columns.data, place, ends)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_columns_are_counted(index):
    X = matrix(0, (30, 12), 0.3, index)
    sizes = np.ones(12, np.int64)
    count_columns(X.indices, sizes)
    np.testing.assert_array_equal(sizes, 1 + np.diff(X.tocsc().indptr))


@settings(max_examples=40, derandomize=True)
@given(
    st.integers(0, 99),
    st.integers(1, 20),
    st.integers(1, 20),
    st.floats(0, 1),
    st.lists(st.integers(1, 19), max_size=5),
)
def test_blocks_of_columns_join_to_the_matrix_by_columns(seed, rows, columns, density, cuts):
    X = matrix(seed, (rows, columns), density)
    expected = X.tocsc()
    cuts = sorted({0, columns, *(cut for cut in cuts if cut < columns)})
    for data, array in ((X.data, expected.data), (None, expected.indices)):
        done, parts = X.indptr[:-1].astype(np.int64), []
        for start, stop in pairwise(cuts):
            place = (expected.indptr[start:stop] - expected.indptr[start]).astype(np.int64)
            out = np.full(expected.indptr[stop] - expected.indptr[start], -1, array.dtype)
            take_columns(X.indptr, X.indices, data, start, stop, done, place, out)
            np.testing.assert_array_equal(
                place, expected.indptr[start + 1 : stop + 1] - expected.indptr[start]
            )
            parts.append(out)
        np.testing.assert_array_equal(np.concatenate(parts), array)
        np.testing.assert_array_equal(done, X.indptr[1:])
    assert compare(X, expected)


def test_any_difference_between_rows_and_columns_is_found():
    X = matrix(3, (9, 7), 0.4)
    columns = X.tocsc()
    for name in ("data", "indices", "indptr"):
        array = getattr(columns, name)
        for i in range(array.size) if name != "indptr" else range(1, array.size - 1):
            before = array[i]
            array[i] += 1
            if name != "indptr" or array[i] <= array[i + 1]:
                assert not compare(X, columns), (name, i)
            array[i] = before
    assert compare(X, columns)
