"""Labels of group models: what is accepted, what they decide, how topics are named, and that all is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse

import laconic
from laconic import GroupNMF, GroupRLSI

SOME = {"random_state": 0, "max_iter": 2000}


@pytest.fixture(params=[GroupRLSI, GroupNMF])
def kind(request):
    return request.param


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


@pytest.fixture(scope="module")
def numbers(X):
    """Three classes, in turns."""
    return np.arange(X.shape[0]) % 3


@pytest.fixture(scope="module")
def y(numbers):
    return np.array(["air", "sea", "sky"])[numbers]


LABELS = {
    "text": ["air", "sea", "sky"],
    "object": np.array(["air", "sea", "sky"], object),
    "integers": [-5, 0, 7],
    "integer objects": np.array([-5, 0, 7], object),
    "floats": [0.5, 1.0, 2.5],
    "bools": [False, True],
    "bool objects": np.array([False, True], object),
    "unicode": ["Ärger", "été", "海"],
}


class TestKindsOfLabels:
    @pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
    def test_are_learnt_predicted_and_saved(self, kind, X, labels, tmp_path):
        y = np.asarray(labels)[np.arange(X.shape[0]) % len(labels)]
        sizes = dict(zip(np.asarray(labels).tolist(), (2, 1, 0), strict=False))
        for n_per_class in (1, sizes):
            model = kind(1, n_per_class, **SOME).fit(X, y)
            assert model.classes_.tolist() == list(labels)
            assert model.topic_class_[0] == "shared"
            assert set(model.predict(X).tolist()) <= set(labels)
            model.save(tmp_path / "model")
            loaded = laconic.load(tmp_path / "model").model
            assert loaded.classes_.tolist() == model.classes_.tolist()
            assert loaded.classes_.dtype.kind == model.classes_.dtype.kind
            assert loaded.get_params() == model.get_params()
            assert list(map(type, loaded.topic_class_)) == list(map(type, model.topic_class_))
            np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
            np.testing.assert_array_equal(dense(loaded.transform(X, y)), dense(model.transform(X, y)))
            assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())

    def test_the_container_makes_no_difference(self, kind, X, y, numbers):
        expected = kind(1, 1, **SOME).fit(X, y)
        for same in (
            y.tolist(),
            y.astype(object),
            pd.Series(y),
            pd.Series(y, dtype="category"),
            pd.Series(y, dtype="string"),
            pd.Categorical(y),
        ):
            model = kind(1, 1, **SOME).fit(X, same)
            assert model.classes_.tolist() == ["air", "sea", "sky"]
            assert dense(model.components_).tobytes() == dense(expected.components_).tobytes()
            np.testing.assert_array_equal(dense(model.transform(X, same)), dense(expected.transform(X, y)))
        for same in (
            numbers.tolist(),
            pd.Series(numbers),
            pd.Series(numbers, dtype="Int64"),
            numbers.astype("u1"),
        ):
            model = kind(1, 1, **SOME).fit(X, same)
            assert model.classes_.tolist() == [0, 1, 2]
            assert dense(model.components_).tobytes() == dense(expected.components_).tobytes()

    @pytest.mark.parametrize(
        "label", [None, np.nan, 7, b"sea", ("sea",), pd.NA, np.datetime64("2020-01-01")], ids=repr
    )
    def test_missing_and_mixed_ones_are_refused(self, kind, X, y, label):
        broken = [*y[:-1].tolist(), label]
        for labels in (broken, pd.Series(broken)):
            with pytest.raises(ValueError, match=r"all strings or all numbers; some are missing"):
                kind(1, 1).fit(X, labels)
        model = kind(1, 1, **SOME).fit(X, y)
        with pytest.raises(ValueError, match="all strings or all numbers"):
            model.transform(X, broken)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_nan_is_no_class(self, kind, X, numbers, bad):
        broken = numbers.astype(float)
        broken[4] = bad
        with pytest.raises(ValueError, match="NaN"):
            kind(1, 1).fit(X, broken)

    def test_there_must_be_one_for_each_document(self, kind, X, y):
        with pytest.raises(ValueError, match="target y is None: give the class of every document"):
            kind(1, 1).fit(X)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            kind(1, 1).fit(X, y[:-1])
        with pytest.raises(ValueError, match="1d array"):
            kind(1, 1).fit(X, np.stack([y, y], axis=1))
        model = kind(1, 1, **SOME).fit(X, y)
        for labels in (y[:-1], [], y[:1]):
            with pytest.raises(ValueError, match="inconsistent numbers of samples"):
                model.transform(X, labels)


class TestNumbersOfTopics:
    def test_by_class(self, kind, X, y):
        model = kind(2, {"sky": 3, "air": 0, "sea": 1}, **SOME).fit(X, y)
        assert model.topic_class_.tolist() == ["shared", "shared", "sea", "sky", "sky", "sky"]
        assert list(model.get_feature_names_out()) == ["shared0", "shared1", "sea0", "sky0", "sky1", "sky2"]
        W = dense(model.transform(X, y))
        assert not W[y == "air", 2:].any()
        assert W[y == "sea", 2].any()
        assert not W[y == "sea", 3:].any()
        assert not W[y == "sky", 2].any()
        assert W[y == "sky", 3:].any()

    @pytest.mark.parametrize(
        ("n_per_class", "message"),
        [
            ({"air": 1, "sea": 1}, r"n_per_class has no class 'sky'; give a number for every class"),
            ({"air": 1, "sea": 1, "sky": 1, "mud": 1}, r"n_per_class has 'mud', which no document has"),
            ({"air": 1, "sea": -1, "sky": 1}, r"n_per_class\['sea'\] must be a whole number of at least 0"),
            ({"air": 1, "sea": 1.5, "sky": 1}, r"n_per_class\['sea'\] must be a whole number"),
            ({"air": 1, "sea": True, "sky": 1}, r"n_per_class\['sea'\] must be a whole number"),
            ({"air": 1, "sea": "2", "sky": 1}, r"n_per_class\['sea'\] must be a whole number"),
            ({}, "n_per_class has no class 'air'"),
            (-1, "n_per_class must be a whole number of at least 0"),
            (1.0, "n_per_class must be a whole number"),
            ([1, 1, 1], "n_per_class must be a whole number"),
        ],
        ids=str,
    )
    def test_that_make_no_sense_are_named(self, kind, X, y, n_per_class, message):
        with pytest.raises(ValueError, match=message):
            kind(1, n_per_class).fit(X, y)

    def test_no_document_is_left_without_topics(self, kind, X, y):
        for n_per_class, label in ((0, "air"), ({"air": 1, "sea": 0, "sky": 1}, "sea")):
            with pytest.raises(ValueError, match=f"documents of class '{label}' have no topics: n_shared or"):
                kind(0, n_per_class).fit(X, y)
        with pytest.raises(ValueError, match="n_shared must be a whole number of at least 0"):
            kind(-1, 1).fit(X, y)

    def test_a_class_of_one_document_and_one_of_empty_documents(self, kind, X, y):
        y = y.astype(object)
        y[7] = "lone"
        y[[0, 40, 80]] = "void"
        assert not X[[0, 40, 80]].toarray().any()
        parameters = [{}] if kind is GroupNMF else [{}, {"topic_norm": "l2"}, {"topic_norm": "l0"}]
        for given in parameters:
            model = kind(1, 2, tol=1e-4, **SOME, **given).fit(X, y)
            assert not dense(model.components_)[model.topic_class_ == "void"].any()
            assert dense(model.components_)[model.topic_class_ == "lone"].any()
            assert np.isfinite(dense(model.components_)).all()
            W = dense(model.transform(X, y))
            assert np.isfinite(W).all()
            assert not W[[0, 40, 80]].any()
            # documents without words are equally well explained by all classes
            assert set(model.predict(X[[0, 40, 80]])) == {"air"}
            back = dense(model.inverse_transform(W[[7]]))
            assert ((X[[7]].toarray() - back) ** 2).sum() < 0.8


class TestNames:
    @pytest.mark.parametrize(
        ("classes", "names"),
        [
            (["air", "sea"], ["shared0", "air0", "air1", "sea0", "sea1"]),
            (["a", "a1"], ["shared0", "a_0", "a_1", "a1_0", "a1_1"]),
            (["shared", "sea"], ["shared0", "sea_0", "sea_1", "shared_0", "shared_1"]),
            ([1, 11], ["shared0", "1_0", "1_1", "11_0", "11_1"]),
            (["a", "a_1"], ["shared0", "a_0", "a_1", "a_1_0", "a_1_1"]),
            (["", "_"], ["shared0", "0", "1", "_0", "_1"]),
        ],
        ids=str,
    )
    def test_of_topics_differ(self, kind, X, classes, names):
        y = np.array(classes)[np.arange(X.shape[0]) % 2]
        model = kind(1, 2, **SOME).fit(X, y)
        assert list(model.get_feature_names_out()) == names
        assert len(set(names)) == len(names)
        frame = model.set_output(transform="pandas").transform(X, y)
        assert list(frame.columns) == names


@pytest.fixture(scope="module")
def fitted(X, y):
    return {kind: kind(2, 2, **SOME).fit(X, y) for kind in (GroupRLSI, GroupNMF)}


class TestTransform:
    def test_labels_do_not_leak(self, kind, fitted, X, y):
        model = fitted[kind]
        W = kind(2, 2, **SOME).fit_transform(X, y)
        np.testing.assert_array_equal(dense(W), dense(model.transform(X)))
        predicted = model.predict(X)
        np.testing.assert_array_equal(dense(W), dense(model.transform(X, predicted)))
        wrong = (predicted != y) & (X.sum(axis=1) > 0)
        assert wrong.any()
        assert (predicted == y).any()
        known = dense(model.transform(X, y))
        np.testing.assert_allclose(known[predicted == y], dense(W)[predicted == y], atol=1e-10)
        assert (np.abs(known - dense(W))[wrong].max(axis=1) > 1e-6).mean() > 0.9

    def test_rows_keep_their_order(self, kind, fitted, X, y):
        model = fitted[kind]
        whole = dense(model.transform(X, y))
        for n in range(0, X.shape[0], 7):
            np.testing.assert_allclose(dense(model.transform(X[[n]], y[[n]])), whole[[n]], atol=1e-10)
        order = np.random.default_rng(0).permutation(X.shape[0])
        np.testing.assert_allclose(dense(model.transform(X[order], y[order])), whole[order], atol=1e-10)
        assert model.predict(X[order]).tolist() == model.predict(X)[order].tolist()

    def test_topics_of_other_classes_are_not_used(self, kind, fitted, X, y):
        model = fitted[kind]
        W = model.transform(X, y)
        assert isinstance(W, csr_array)
        others = (model.topic_class_ != "shared") & (model.topic_class_ != y[:, None])
        assert not dense(W)[others].any()
        assert dense(W)[~others].any()

    def test_an_unknown_label_is_named(self, kind, fitted, X, y):
        strange = y.astype(object)
        strange[[3, 8]] = "mud"
        with pytest.raises(
            ValueError, match=r"does not know the class 'mud' \(document 3, and 2 in all\).*unknown='auto'"
        ):
            fitted[kind].transform(X, strange)
        with pytest.raises(ValueError, match="does not know the class 5"):
            fitted[kind].transform(X[:1], [5])
        with pytest.raises(ValueError, match="unknown='guess' is not known"):
            fitted[kind].transform(X, y, unknown="guess")
        with pytest.raises(ValueError, match="does not know the class 'mud'"):
            fitted[kind].score(X, strange)

    def test_an_unknown_label_can_be_predicted(self, kind, fitted, X, y):
        model, strange = fitted[kind], y.astype(object)
        strange[1::4] = "mud"
        W = dense(model.transform(X, strange, unknown="auto"))
        np.testing.assert_allclose(W[1::4], dense(model.transform(X))[1::4], atol=1e-10)
        known = strange != "mud"
        np.testing.assert_allclose(W[known], dense(model.transform(X, y))[known], atol=1e-10)
        all_strange = model.transform(X, np.full(y.size, "mud"), unknown="auto")
        np.testing.assert_array_equal(dense(all_strange), dense(model.transform(X)))

    def test_an_unknown_label_can_mean_shared_topics_only(self, kind, fitted, X, y):
        model, strange = fitted[kind], y.astype(object)
        strange[1::4] = "mud"
        W = dense(model.transform(X, strange, unknown="shared"))
        assert not W[1::4, 2:].any()
        assert W[1::4, :2].any()
        C = dense(model.components_)[:2]
        if kind is GroupRLSI:
            expected = X[1::4] @ C.T @ np.linalg.inv(C @ C.T + model.alpha_docs_ * np.eye(2))
            np.testing.assert_allclose(W[1::4, :2], expected, atol=1e-10)
        else:
            gradient = 2 * (W[1::4, :2] @ C @ C.T - X[1::4] @ C.T)
            assert np.abs(np.minimum(W[1::4, :2], gradient)).max() < 1e-3
        np.testing.assert_allclose(W[::4], dense(model.transform(X, y))[::4], atol=1e-10)
        alone = kind(0, 1, **SOME).fit(X, y)
        with pytest.raises(ValueError, match="unknown='shared' needs shared topics"):
            alone.transform(X, strange, unknown="shared")


class TestStoredClasses:
    @pytest.mark.parametrize(
        "classes",
        [
            [],
            ["air", "sea"],
            ["air", "sky", "sea"],
            ["air", "air", "sky"],
            ["air", 1, None],
            "air",
            None,
            [["air", "sea"]],
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("n_per_class", [1, {"air": 1, "sea": 1, "sky": 1}], ids=["number", "mapping"])
    def test_that_do_not_fit_are_refused(self, kind, X, y, classes, n_per_class):
        model = kind(1, n_per_class, **SOME).fit(X, y)
        state = model._fitted_state()
        assert kind(1, n_per_class)._restore(state).predict(X).tolist() == model.predict(X).tolist()
        with pytest.raises((ValueError, TypeError)):
            kind(1, n_per_class)._restore({**state, "classes": classes})

    def test_that_are_none_are_refused_even_if_all_topics_are_shared(self, kind, X, y):
        model = kind(2, 0, **SOME).fit(X, y)
        with pytest.raises(ValueError, match="classes are none"):
            kind(2, 0)._restore({**model._fitted_state(), "classes": []})

    def test_other_numbers_of_topics_are_refused(self, kind, X, y):
        state = kind(1, 1, **SOME).fit(X, y)._fitted_state()
        for wrong in (kind(2, 1), kind(1, 2), kind(1, {"air": 1, "sea": 2, "sky": 1})):
            with pytest.raises(ValueError, match="components have 4 rows, not"):
                wrong._restore(state)
