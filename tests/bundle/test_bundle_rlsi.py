"""The real model with the real vectoriser."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from laconic.bundle import Bundle, BundleError, load
from laconic.models import RLSI
from stored_files import contents, edit, swap


def dense(W):
    return W.toarray() if sparse.issparse(W) else W


@pytest.fixture(name="X")
def matrix(vectorizer, texts):
    return vectorizer.transform(texts)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"topic_norm": "l2"},
        {"doc_norm": "l1"},
        {"topic_norm": "l0", "terms_per_topic": 4},
        {"nonnegative": True},
    ],
    ids=str,
)
def test_rlsi_comes_back_bit_for_bit(parameters, dtype, X, vectorizer, texts, tmp_path):
    model = RLSI(n_components=3, random_state=0, max_iter=20, **parameters).fit(X.astype(dtype))
    bundle = Bundle(model, vectorizer)
    bundle.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.model.get_params() == model.get_params()
    assert type(loaded.model.components_) is type(model.components_)
    assert loaded.model.components_.dtype == model.components_.dtype
    assert dense(loaded.model.components_).tobytes() == dense(model.components_).tobytes()
    assert loaded.model.objective_history_.tobytes() == model.objective_history_.tobytes()
    assert loaded.model.n_iter_ == model.n_iter_
    new = [*texts, "", "a cat and a bond"]
    assert dense(loaded.transform(new)).tobytes() == dense(bundle.transform(new)).tobytes()
    assert loaded.topic_words(5) == bundle.topic_words(5) == model.topics(vectorizer.vocabulary, 5)
    loaded.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "model")
    assert not any(b"confidentialname" in content for content in contents(tmp_path / "model").values())


@pytest.fixture
def rlsi(X, tmp_path):
    model = RLSI(n_components=3, random_state=0, topic_norm="l0", terms_per_topic=4, max_iter=5, tol=0.5).fit(
        X
    )
    model.save(tmp_path / "rlsi")
    return model, tmp_path / "rlsi"


def test_the_model_saves_itself(rlsi):
    model, path = rlsi
    loaded = load(path)
    assert loaded.vectorizer is None
    assert loaded.topic_words() == model.topics()
    assert all(term.isdigit() for topic in loaded.topic_words() for term, _ in topic)


def test_a_saved_model_can_start_another(rlsi, X, tmp_path):
    topics = load(rlsi[1]).model.components_.toarray()
    parameters = {"topic_norm": "l0", "terms_per_topic": 4, "max_iter": 5, "tol": 0.5}
    model = RLSI(n_components=3, init=topics, **parameters).fit(X)
    model.save(tmp_path / "warm")
    loaded = load(tmp_path / "warm").model
    np.testing.assert_array_equal(loaded.init, topics)
    np.testing.assert_array_equal(loaded.fit(X).components_.toarray(), model.components_.toarray())


@pytest.mark.parametrize(
    "change",
    [
        {"n_features_in": 5},
        {"n_features_in": None},
        {"n_features_in": "6"},
        {"n_iter": -1},
        {"n_iter": []},
        {"components": 3},
        {"components": [[1.0]]},
        {"objective_history": None},
        {"objective_history": [1.0]},
        {"feature_names_in": ["too", "few"]},
        {"feature_names_in": 3},
    ],
    ids=str,
)
def test_a_state_that_does_not_fit_is_refused(change, rlsi):
    edit(rlsi[1], lambda document: document["state"].update(change))
    with pytest.raises(BundleError, match="does not describe a RLSI"):
        load(rlsi[1])


def test_components_of_integers_are_refused(rlsi):
    path = rlsi[1]
    (file,) = path.glob("components.data-*.npy")
    data = np.load(file).astype(np.int64)
    np.save(path / "data.npy", data)
    content = (path / "data.npy").read_bytes()
    (path / "data.npy").unlink()
    swap(path, "components.data", content)
    with pytest.raises(BundleError, match="int64"):
        load(path)


def test_a_model_without_words_says_how_to_keep_them(X, tmp_path):
    model = RLSI(2, random_state=0, max_iter=500).fit(X)
    with pytest.warns(UserWarning, match=r"save Bundle\(model, corpus.vectorizer\)"):
        model.save(tmp_path / "numbers")
    named = pd.DataFrame(X.toarray(), columns=[f"word{column}" for column in range(X.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RLSI(2, random_state=0, max_iter=500).fit(named).save(tmp_path / "words")
    loaded = load(tmp_path / "words")
    assert loaded.topic_words(1)[0][0][0].startswith("word")
    assert loaded.topics().words[0].startswith("word")
