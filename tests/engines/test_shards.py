from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from laconic.engines import Shards, Threads, even_rows
from laconic.engines.classes import by_class
from laconic.engines.sums import add, tree_sum


def matrix(n_rows=37, n_columns=23, seed=0):
    return csr_array(random_array((n_rows, n_columns), density=0.2, rng=np.random.default_rng(seed)))


@given(st.lists(st.integers(-100, 100), max_size=40))
def test_a_tree_sums(numbers):
    assert (tree_sum(numbers) or 0) == sum(numbers)


def test_the_tree_adds_pairs_then_pairs_of_pairs():
    class Named:
        def __init__(self, name):
            self.name = name

        def __add__(self, other):
            return Named(f"({self.name}{other.name})")

    names = [tree_sum(map(Named, "abcdefg"[:n])).name for n in range(1, 8)]
    expected = "a (ab) ((ab)c) ((ab)(cd)) (((ab)(cd))e) (((ab)(cd))(ef)) (((ab)(cd))((ef)g))"
    assert names == expected.split()


def test_shares_add_entry_by_entry():
    one, other = (1, np.ones(2), None), (2, np.ones(2), 3.0)
    total = add(one, other)
    assert total[0] == 3
    assert total[2] == 3.0
    np.testing.assert_array_equal(total[1], [2, 2])


@pytest.mark.parametrize("n_shards", [1, 2, 5, 37, 100])
def test_a_cut_collection_is_the_same_collection(n_shards):
    X = matrix()
    shards = Shards.cut(X, n_shards)
    assert shards.shape == X.shape
    assert shards.nnz == X.nnz
    assert shards.hash() == Shards.whole(X).hash()
    np.testing.assert_array_equal(shards.rows(range(37)).toarray(), X.toarray())
    np.testing.assert_array_equal(shards.rows([30, 2, 2, 17]).toarray(), X.toarray()[[30, 2, 2, 17]])
    whole = shards.in_order([shard.X.toarray() for shard in shards])
    np.testing.assert_array_equal(whole, X.toarray())


def test_other_data_have_another_hash():
    X = matrix()
    Y = X.copy()
    Y.data[3] += 1
    assert Shards.whole(X).hash() != Shards.whole(Y).hash()


@pytest.mark.parametrize("n_shards", [1, 4])
def test_shards_of_one_class_each(n_shards):
    X, members = matrix(), np.arange(37) % 3
    places = np.arange(23)[::-1]
    shards = by_class(Shards.cut(X, n_shards), Threads(1), members, 3, places)
    X = csr_array(X.toarray()[:, ::-1])
    assert [shard.klass for shard in shards] == sorted(shard.klass for shard in shards)
    for shard in shards:
        assert set(members[shard.documents]) == {shard.klass}
        np.testing.assert_array_equal(shard.X.toarray(), X.toarray()[shard.documents])
    np.testing.assert_array_equal(shards.rows(range(37)).toarray(), X.toarray())


def test_columns_of_a_shard():
    X = matrix(5, 200)
    columns = Shards.whole(X)[0].columns
    terms = np.array([0, 3, 50, 199])
    begins, ends = columns.find(terms)
    for term, begin, end in zip(terms, begins, ends, strict=True):
        dense = np.zeros(5)
        dense[columns.indices[begin:end]] = columns.data[begin:end]
        np.testing.assert_array_equal(dense, X.toarray()[:, term])
    nothing = Shards.whole(csr_array((3, 4)))[0].columns
    begins, ends = nothing.find(np.arange(4))
    np.testing.assert_array_equal(begins, ends)


def test_verbs_of_threads():
    X, members = matrix(3000, 40, seed=1), np.arange(3000) % 2
    shards = by_class(Shards.cut(X, 3), Threads(1), members, 2, np.arange(40))
    dense = X.toarray()
    for n_jobs in (1, 3):
        with Threads(n_jobs) as engine:
            sums = engine.documents(
                shards, lambda shard, rows, m: shard.X[slice(*rows)].sum() * m, 2, even_rows
            )
            np.testing.assert_allclose(sums, [2 * dense[members == p].sum() for p in (0, 1)])
            found = engine.terms(
                shards,
                [slice(0, 10), slice(10, 40)],
                lambda shard, terms, m: shard.X[:, terms].toarray().sum(0),
                lambda terms, parts, m: np.stack(list(parts)),
                None,
            )
            np.testing.assert_allclose(
                np.concatenate(list(found), axis=1), [dense[members == p].sum(0) for p in (0, 1)]
            )
            sizes = engine.totals(shards, lambda shard, m: shard.X.shape[0])
            assert sizes == [1500, 1500]
            np.testing.assert_array_equal(engine.sample(shards, [7, 1]).toarray(), dense[[7, 1]])


def test_shards_must_fit_each_other():
    with pytest.raises(ValueError, match="no shards"):
        Shards([])
    with pytest.raises(ValueError, match="the same terms"):
        Shards([*Shards.whole(matrix()), *Shards.whole(matrix(5, 4))])
