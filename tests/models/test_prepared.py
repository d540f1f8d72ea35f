"""What is prepared of a fitted model is never out of date, and leaves the model as it was."""

import gc
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from threading import Barrier

import numpy as np
import pytest
from modality_toys import planted_modalities
from planting import planted
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import clone
from test_contract import VARIANTS, dense, grouped, labels

from laconic import NMF, PLSA, RLSI, GroupRLSI, MultimodalPLSA, SparseLSA
from laconic.models import prepared

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=VARIANTS, scope="module")
def model(request, X):
    few = clone(VARIANTS[request.param]).set_params(random_state=0, max_iter=5)
    return few.fit(X, labels(X))


def used(model, X):
    """All that is found of new documents."""
    found = [model.transform(X), model.score(X)]
    if grouped(model):
        found += [
            model.transform(X, labels(X)),
            model.class_errors(X),
            model.predict(X),
            model.score(X, labels(X)),
        ]
    if isinstance(model, SparseLSA):
        found += [model.transform(X, mode=mode) for mode in ("lsq", "orthogonal")]
    if isinstance(model, PLSA):
        found.append(model.perplexity(X))
    return found


def bits(found):
    return [dense(each).tobytes() for each in found]


def unprepared(model):
    """A copy, of which nothing has been prepared."""
    return deepcopy(model)


def test_whether_it_is_made_now_or_was_before_the_bits_are_the_same(model, X):
    first = bits(used(model, X))
    assert bits(used(model, X)) == first
    assert bits(used(unprepared(model), X)) == first
    one = bits(used(unprepared(model), X[[7]]))
    assert bits(used(model, X[[7]])) == one


def test_threads_that_come_at_once(model, X):
    expected = bits(used(model, X[:9]))
    fresh, together = unprepared(model), Barrier(8, timeout=120)

    def use(_):
        together.wait()
        return bits(used(fresh, X[:9]))

    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(use, range(8)))


def test_other_parameters_topics_types_and_fits(model, X):
    changed = unprepared(model)
    used(changed, X)
    # the tolerance says how exactly rows are solved
    for change in ({"tol": 0.5}, {"tol": 1e-9}, {"n_jobs": 1}):
        changed.set_params(**change)
        assert bits(used(changed, X)) == bits(used(unprepared(changed), X))
    single = X.astype(np.float32)
    assert bits(used(changed, single)) == bits(used(unprepared(changed), single))
    assert bits(used(changed, X)) == bits(used(unprepared(changed), X))
    before = bits(used(changed, X))
    changed.components_ = changed.components_[::-1].copy()
    if not issparse(changed.components_):
        changed.components_ = np.ascontiguousarray(changed.components_)
    after = bits(used(changed, X))
    assert after != before
    assert after == bits(used(unprepared(changed), X))
    other = planted(150, 40, seed=8)
    changed.fit(other, labels(other))
    assert bits(used(changed, other)) == bits(used(unprepared(changed), other))


def test_a_penalty_that_is_changed_after_the_fit(X):
    model = NMF(3, random_state=0).fit(X)
    before = dense(model.transform(X))
    model.set_params(tol=1e-9)
    assert np.abs(dense(model.transform(X)) - before).max() > 0
    model.set_params(tol=1e-5)
    np.testing.assert_array_equal(dense(model.transform(X)), before)
    lasso = RLSI(3, random_state=0, alpha_docs=0.1, alpha_topics=0.1).fit(X)
    ridge = lasso.transform(X)
    lasso.alpha_docs_ = 5.0
    assert np.abs(lasso.transform(X)).sum() < np.abs(ridge).sum()
    lasso.set_params(doc_norm="l1")
    assert issparse(lasso.transform(X))


def test_a_model_that_was_used_is_as_it_was(model, X):
    fresh = unprepared(model)
    before, state = pickle.dumps(fresh), list(vars(fresh))
    used(fresh, X)
    assert list(vars(fresh)) == state
    assert pickle.dumps(fresh) == before
    assert fresh in prepared._made
    fresh._forget()
    assert fresh not in prepared._made


def test_nothing_outlives_its_model(X):
    model = GroupRLSI(1, 1, random_state=0).fit(X, labels(X))
    model.transform(X)
    gc.collect()
    count = len(prepared._made)
    del model
    gc.collect()
    assert len(prepared._made) == count - 1


def test_topics_are_transposed_once(X, monkeypatch):
    model = RLSI(3, random_state=0).fit(X)
    made = []
    fold_in = type(model._loss()).fold_in

    def counted(self, *arguments):
        made.append(self)
        return fold_in(self, *arguments)

    monkeypatch.setattr(type(model._loss()), "fold_in", counted)
    for _ in range(3):
        model.transform(X)
        model.score(X)
    assert len(made) == 1


def test_of_many_classes_not_all_are_kept(X, monkeypatch):
    from laconic.losses.squared import folding

    expected = GroupRLSI(1, 1, random_state=0).fit(X, np.arange(X.shape[0]) % 7)
    wanted = bits([expected.transform(X), expected.class_errors(X)])
    monkeypatch.setattr(folding, "CLASSES_KEPT", 2)
    few = unprepared(expected)
    for _ in range(2):
        assert bits([few.transform(X), few.class_errors(X)]) == wanted
    with few._engine() as engine:
        assert len(few._prepared(X.dtype, engine)._judges._things) == 2


def test_modalities():
    media = planted_modalities()
    model = MultimodalPLSA(3, random_state=0, max_iter=5).fit(media)

    def everything(model):
        found = [model.transform(media), model.score(media)]
        for name, part in media.items():
            found += [
                model.transform(part, name),
                model.score(part, modality=name),
                model.perplexity(part, name),
            ]
        return bits(found)

    first = everything(model)
    assert everything(model) == everything(deepcopy(model)) == first
    model.set_params(tol=1e-9)
    assert everything(model) == everything(deepcopy(model)) != first
    model.components_ = np.roll(model.components_, 1, axis=0)
    assert everything(model) == everything(deepcopy(model))
    fresh, expected = deepcopy(model), everything(model)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: everything(fresh), range(8)))


def broken(X):
    """Matrices that no model takes, or that have to be mended."""

    def changed(**parts):
        whole = {"data": X.data.copy(), "indices": X.indices.copy(), "indptr": X.indptr.copy()} | parts
        return csr_array((whole["data"], whole["indices"], whole["indptr"]), shape=X.shape)

    for value in (np.nan, np.inf, -np.inf, -1.0):
        data = X.data.copy()
        data[2] = value
        yield changed(data=data)
    yield X[:, :-1].tocsr()
    yield X[:0]
    yield changed(data=X.data.astype(np.int64))
    yield changed(data=X.data.astype(np.float16))
    unsorted = X.indices.copy()
    unsorted[X.indptr[1] : X.indptr[2]] = unsorted[X.indptr[1] : X.indptr[2]][::-1]
    yield changed(indices=unsorted)
    twice = X.indices.copy()
    twice[X.indptr[1] + 1] = twice[X.indptr[1]]
    yield changed(indices=twice)


@pytest.mark.parametrize("kind", [RLSI, NMF, PLSA, SparseLSA])
def test_the_short_way_of_checking_finds_what_the_long_one_does(kind, X):
    model = kind(3, random_state=0, max_iter=5).fit(X)

    def outcome(matrix):
        try:
            return dense(model.transform(matrix)).tobytes()
        except ValueError as error:
            return str(error)

    for matrix in broken(X[1:9]):
        # scikit-learn's checks are asked about all that is no csr_array
        assert outcome(matrix) == outcome(csr_matrix(matrix))
    with pytest.raises(ValueError, match="Expected 2D input"):
        model.transform(csr_array(X[[1]].toarray().ravel()))


def test_names_that_are_missing_are_still_missed(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X.toarray(), columns=[f"word{m}" for m in range(X.shape[1])])
    model = RLSI(3, random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(frame)
