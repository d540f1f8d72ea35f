"""Sparse matrices whose arrays were written into: compiled code must never see them."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.base import clone
from test_contract import VARIANTS

from laconic import PLSA, RLSI, GraphPLSA, MultimodalPLSA
from laconic.corpus import Corpus
from laconic.errors import CorpusError
from laconic.kernels.rows import sound_rows

ROWS = np.random.default_rng(0).poisson(1, (12, 8)) + np.eye(12, 8)
BROKEN = r"damaged sparse matrix"


def outside(X):
    X.indices[3] = 10**6


def below(X):
    X.indices[3] = -5


def far(X):
    X.indptr[1] = 10**8


def back(X):
    X.indptr[1], X.indptr[2] = X.indptr[2], X.indptr[1]


def short(X):
    X.indices = X.indices[:-2]


def too_few(X):
    X.indptr = X.indptr[:-1]


BREAKS = [outside, below, far, back, short, too_few]


def broken(change, kind=csr_array, dtype=np.float32):
    X = kind(ROWS.astype(dtype))
    change(X)
    return X


@pytest.mark.parametrize("name", VARIANTS)
def test_no_model_is_fitted_to_a_broken_matrix(name):
    labels = ["a", "b"] * 6 if name.startswith("group") else None
    for change in BREAKS:
        model, X = clone(VARIANTS[name]), broken(change)
        with pytest.raises(CorpusError, match=BROKEN):
            model.fit(X, labels)


@pytest.mark.parametrize("model", [RLSI(2, random_state=0), PLSA(2, random_state=0)], ids=["rlsi", "plsa"])
def test_none_is_used_on_one(model):
    fitted = clone(model).fit(ROWS)
    for change in BREAKS:
        for kind in (csr_array, csc_array, csr_matrix):
            X = broken(change, kind)
            for use in (fitted.transform, fitted.score):
                with pytest.raises(CorpusError, match=BROKEN):
                    use(X)


@pytest.mark.parametrize("kind", [csr_matrix, csc_array])
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_other_kinds_of_matrices(kind, dtype):
    for change in BREAKS:
        X = broken(change, kind, dtype)
        with pytest.raises(CorpusError, match=BROKEN):
            RLSI(2).fit(X)


def test_coordinates():
    X = coo_array(ROWS)
    X.coords[1][0] = 99
    with pytest.raises(CorpusError, match="not all from 0 to 7"):
        RLSI(2).fit(X)


def test_matrices_that_say_they_are_in_order_and_are_not():
    X = csr_array(ROWS)
    X.has_canonical_format = X.has_sorted_indices = True
    mixed = csr_array((X.data.copy(), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    ends = slice(mixed.indptr[0], mixed.indptr[1])
    mixed.indices[ends], mixed.data[ends] = mixed.indices[ends][::-1].copy(), mixed.data[ends][::-1].copy()
    mixed.has_canonical_format = mixed.has_sorted_indices = True
    before = mixed.indices.copy()
    found = RLSI(2, random_state=0).fit(mixed).components_.toarray()
    assert np.array_equal(found, RLSI(2, random_state=0).fit(X).components_.toarray())
    assert np.array_equal(mixed.indices, before)


def test_the_callers_matrix_keeps_its_spare_room():
    X = csr_array(ROWS)
    X.data, X.indices = np.append(X.data, 7.0), np.append(X.indices, 0)
    RLSI(2, random_state=0).fit(X)
    assert len(X.data) == len(X.indices) == X.nnz + 1


def test_graphs_starts_modalities_and_counts():
    graph, init = csr_array(np.ones((12, 12))), csr_array(np.ones((2, 8)))
    outside(graph)
    outside(init)
    with pytest.raises(CorpusError, match="the graph is a damaged"):
        GraphPLSA(2).fit(ROWS, graph=graph)
    with pytest.raises(CorpusError, match="init is a damaged"):
        RLSI(2, init=init).fit(ROWS)
    modalities, counts = {"a": ROWS, "b": broken(far)}, broken(far)
    with pytest.raises(ValueError, match=f"modality 'b': X is a {BROKEN}"):
        MultimodalPLSA(2).fit(modalities)
    with pytest.raises(CorpusError, match="the matrix of counts is a damaged"):
        Corpus.from_counts(counts, [f"t{i}" for i in range(8)])


def test_the_quick_look_at_a_few_rows_stays_within_them():
    X = csr_array(ROWS)
    assert sound_rows(X.indptr, X.indices, X.data, 8, 0.0)
    for change in BREAKS[:4]:
        other = broken(change, dtype=np.float64)
        assert not sound_rows(other.indptr, other.indices, other.data, 8, 0.0)
