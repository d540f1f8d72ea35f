import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from laconic.evaluate import classification_accuracy


def weights(seed=0, n=90, noise=0.5):
    rng = np.random.default_rng(seed)
    labels = np.array(["red", "green", "blue"])[rng.integers(3, size=n)]
    W = (labels[:, None] == ["red", "green", "blue"]) + rng.normal(0, noise, (n, 3))
    return W, labels


def test_is_what_a_grid_search_finds():
    W, labels = weights()
    train, test = np.arange(60), np.arange(60, 90)
    found = classification_accuracy(W, labels, [(train, test)])
    scaled = W / np.sqrt((W[train] ** 2).sum(axis=1).mean())
    grid = GridSearchCV(
        LinearSVC(dual="auto", max_iter=5000, random_state=0),
        {"C": [10.0**power for power in range(-3, 4)]},
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ).fit(scaled[train], labels[train])
    assert found.costs == [grid.best_params_["C"]]
    assert found.mean == pytest.approx(grid.score(scaled[test], labels[test]))


def test_neither_scale_nor_sparsity_matter():
    W, labels = weights()
    W[W < 0.3] = 0
    plain = classification_accuracy(W, labels, 2)
    assert classification_accuracy(W / 1024, labels, 2) == plain
    assert classification_accuracy(csr_array(W), labels, 2).mean == pytest.approx(plain.mean, abs=0.05)


def test_splits():
    W, labels = weights(noise=0.1)
    several = classification_accuracy(W, labels, 3)
    assert len(several.per_split) == len(several.costs) == 3
    assert several.mean == pytest.approx(np.mean(several.per_split)) == pytest.approx(1)
    assert several.std == pytest.approx(np.std(several.per_split))
    names = np.array(["train"] * 50 + ["test"] * 30 + ["unused"] * 10)
    named = classification_accuracy(W, labels, names)
    assert named == classification_accuracy(W, labels, [(names == "train", names == "test")])
    assert named == classification_accuracy(W, labels, [(range(50), range(50, 80))])


def test_topics_that_tell_nothing_and_tiny_classes():
    labels = ["a"] * 10 + ["b"] * 5
    assert classification_accuracy(np.zeros((15, 2)), labels, 2).mean == pytest.approx(3 / 5, abs=0.1)
    W, labels = weights(noise=0.1)
    labels = labels.astype(object)
    labels[0] = "alone"
    assert classification_accuracy(W, labels, [(range(60), range(60, 90))]).mean > 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["a", "b"]}, "a row of weights and a label for every document"),
        ({"W": np.full((90, 2), np.nan)}, "weights that are NaN or infinite"),
        ({"W": csr_array(np.full((90, 2), np.inf))}, "weights that are NaN or infinite"),
        ({"splits": 0}, "splits"),
        ({"splits": []}, "there are no splits"),
        ({"splits": ["train", "test"]}, "2 names of splits for 90 documents"),
        ({"splits": ["train"] * 90}, "every split needs test documents"),
        ({"labels": ["a"] * 90}, "two classes or more"),
        ({"labels": ["a"] * 88 + ["b"] * 2}, "three documents of each"),
        ({"costs": [0.0]}, "costs"),
        ({"costs": []}, "costs"),
    ],
)
def test_bad_input(change, message):
    W, labels = weights()
    with pytest.raises(ValueError, match=message):
        classification_accuracy(**{"W": W, "labels": labels, **change})
