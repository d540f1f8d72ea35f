"""Topics that come back: measured by refits, kept in the bundle, shown."""

import numpy as np
import pytest
from sklearn.base import clone

import laconic
from laconic import Bundle, BundleError, load
from laconic.bundle.listing import read_listing
from laconic.errors import ParameterError
from laconic.evaluate import topic_overlap
from laconic.steering.refits import half_tasks
from stored_files import edit


@pytest.fixture(scope="module")
def texts():
    random = np.random.default_rng(0)
    words = [[f"w{k}x{j}" for j in range(20)] for k in range(3)]
    return [" ".join(random.choice(words[n % 3], 30)) for n in range(90)]


@pytest.fixture(scope="module")
def bundle(texts):
    made = laconic.fit(texts, n_topics=3, words=20)
    made.measure_returns(3)
    return made


def test_planted_topics_come_back_every_time(bundle):
    assert bundle.notes.returns.shares == (1, 1, 1)
    assert bundle.notes.returns.n_refits == 3
    assert list(bundle.topics()["returns"]) == [1, 1, 1]
    assert "returns" in bundle._repr_html_()


def test_shares_are_those_of_the_refits_by_hand(texts):
    # more topics than there are: some cannot come back
    made = laconic.fit(texts, n_topics=6, words=10)
    told = []
    shares = made.measure_returns(4, random_state=5, n_jobs=1, progress=told.append)
    corpus = made.documents.corpus()
    fits = [
        clone(task.model).fit(corpus.X[task.documents])
        for task in half_tasks(made.model, 4, corpus.shape[0], 4, 5, 5)
    ]
    back = [topic_overlap(made.model.components_, fit.components_) >= 0.5 for fit in fits]
    assert shares == np.mean(back, axis=0).tolist()
    assert min(shares) < 1
    assert told[-1] == pytest.approx(1)
    assert made.measure_returns(4, random_state=5, n_jobs=2) == shares


def test_they_are_saved_and_checked(bundle, tmp_path):
    bundle.save(tmp_path)
    for notes in (load(tmp_path).notes, read_listing(tmp_path).notes):
        assert notes == bundle.notes
    for wrong in (
        [],
        {"refits": 0, "shares": [1, 1, 1]},
        {"refits": 3, "shares": [1, 1]},
        {"refits": 3, "shares": [1, 1, 2]},
        {"refits": 3, "shares": [1, 1, "x"]},
        {"refits": True, "shares": [1, 1, 1]},
        {"refits": 3, "shares": [1, 1, True]},
    ):
        edit(tmp_path, lambda document, wrong=wrong: document.update(topics={"returns": wrong}))
        for read in (load, read_listing):
            with pytest.raises(BundleError, match="return"):
                read(tmp_path)
    right = {"refits": 3, "shares": [1, None, 0.5]}
    edit(tmp_path, lambda document: document.update(topics={"returns": right}))
    assert load(tmp_path).notes.returns.shares == (1, None, 0.5)


def test_a_model_of_classes_is_fitted_with_its_labels(texts):
    made = laconic.fit(
        texts, model="group-rlsi", labels=["ab"[n % 2] for n in range(90)], n_shared=3, n_per_class=1
    )
    assert len(made.measure_returns(2)) == 5


def test_what_cannot_be_refitted_is_refused(bundle, texts):
    with pytest.raises(BundleError, match="without its documents"):
        Bundle(bundle.model, bundle.vectorizer).measure_returns(2)
    with pytest.raises(ParameterError, match="n_refits"):
        bundle.measure_returns(0)
    with pytest.raises(ParameterError, match="links"):
        laconic.fit(texts[:30], n_topics=2, model="graph-plsa", max_iter=2, tol=1).measure_returns(2)
