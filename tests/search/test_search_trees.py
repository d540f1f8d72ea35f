import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import laconic
from laconic.errors import SearchError
from laconic.search.ltr import Ranker
from laconic.search.trees import Trees
from stored_files import edit, listed, swap

HERE = Path(__file__).parent
OLD = HERE / "ranker-format-1"


@pytest.fixture(scope="module")
def index():
    return laconic.load(HERE.parent / "bundle/format-3").index


def trees(**changes):
    """Two trees: one of two nodes and three leaves, and one that is a leaf."""
    parts = {
        "names": ("a", "b"),
        "roots": [0, -4],
        "features": [0, 1],
        "thresholds": [0.5, -1.0],
        "left": [1, -1],
        "right": [-2, -3],
        "leaves": [1.0, 2.0, 4.0, 8.0],
        "gains": [1.0, 0.0],
    } | changes
    whole = {"roots": np.int32, "features": np.int32, "left": np.int32, "right": np.int32}
    return Trees(
        **{k: v if k == "names" else np.array(v, whole.get(k, np.float64)) for k, v in parts.items()}
    )


def test_leaves_are_added_up():
    rows = np.array([[0, -2], [0.5, 0], [1, 0]], np.float32)
    assert trees().predict(rows).tolist() == [9, 12, 10]
    assert trees().predict(rows[:0]).tolist() == []
    with pytest.raises(ValueError, match="rows have 1 features, and trees 2"):
        trees().predict(rows[:, :1])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"left": [0, -1]}, "lead back"),
        ({"left": [1, 0]}, "lead back"),
        ({"left": [5, -1]}, "each node and leaf once"),
        ({"left": [1, -9]}, "each node and leaf once"),
        ({"right": [-2, -2]}, "each node and leaf once"),
        ({"roots": [0, 0]}, "each node and leaf once"),
        ({"roots": [0, 7]}, "each node and leaf once"),
        ({"roots": [1, -4]}, "each node and leaf once"),
        ({"roots": []}, "do not make up"),
        ({"features": [0, 2]}, "features that there are not"),
        ({"features": [-1, 0]}, "features that there are not"),
        ({"features": [0]}, "do not make up|incomplete"),
        ({"thresholds": [0.5]}, "incomplete"),
        ({"thresholds": [0.5, np.nan]}, "not all finite"),
        ({"leaves": [1.0, 2.0, 4.0]}, "do not make up"),
        ({"leaves": [1e308, 1e308, 4.0, 8.0]}, "too large"),
        ({"leaves": [[1.0, 2.0], [4.0, 8.0]]}, "no list"),
        ({"gains": [1.0]}, "gains"),
        ({"gains": [-1.0, 0.0]}, "gains"),
    ],
)
def test_what_is_no_tree_is_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        trees(**changes)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_lightgbm_to_the_bit(seed):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((600, 5)).astype(np.float32)
    rows[:, 3] = np.maximum(rows[:, 3], 0)
    grades = np.clip((rows[:, 0] + rows[:, 3] + rng.standard_normal(600)).astype(int), 0, 3)
    data = lightgbm.Dataset(rows, grades, group=[60] * 10)
    parameters = {"objective": "lambdarank", "num_leaves": 15, "min_data_in_leaf": 5, "verbosity": -1}
    booster = lightgbm.train(parameters, data, 40)
    found = Trees.from_text(booster.model_to_string())
    new = np.concatenate(
        [rows, 3 * rng.standard_normal((400, 5)).astype(np.float32), np.zeros((1, 5), np.float32)]
    )
    assert found.predict(new).tobytes() == booster.predict(new, num_threads=1).tobytes()
    np.testing.assert_allclose(found.gains, booster.feature_importance("gain"), rtol=1e-4)
    # trees that find nothing to split are leaves
    stump = lightgbm.train({**parameters, "min_data_in_leaf": 1000}, data, 2)
    assert Trees.from_text(stump.model_to_string()).predict(new).tobytes() == stump.predict(new).tobytes()


def test_rankers_of_format_1_rank_as_before_and_without_lightgbm(index, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    expected = json.loads((HERE / "ranker-format-1-run.json").read_text())
    old = Ranker.load(OLD, index)
    assert old.rank(expected["queries"]) == expected["run"]
    assert old.importance == pytest.approx(expected["importance"], rel=1e-4)
    old.save(tmp_path)
    again = Ranker.load(tmp_path, index)
    assert again.rank(expected["queries"]) == expected["run"]
    assert again.importance == old.importance


@pytest.mark.parametrize(
    ("wrong", "right", "problem"),
    [
        ("left_child=[^\n]*", "left_child=0 0 0 0", "lead back"),
        ("left_child=[^\n]*", "left_child=1 3 -3 -99", "out of itself"),
        ("num_leaves=5", "num_leaves=1000000000", ""),
        ("tree_sizes=[^\n]*", "tree_sizes=-1", ""),
        ("threshold=[^\n]*", "threshold=1 2 3 nan", "not all finite"),
        ("threshold=[^\n]*", "threshold=1 2 3 four", "no list of numbers"),
        ("split_feature=[^\n]*", "split_feature=4 0 0 300", "features that there are not"),
        ("split_feature=[^\n]*", "split_feature=4 0 0 99999999999999999999", "no list of numbers"),
        ("leaf_value=[^\n]*", "leaf_value=1 2", "do not fit"),
        ("decision_type=[^\n]*", "decision_type=1 1 1 1", "more than the size"),
        ("num_cat=0", "num_cat=1", "categories"),
        ("feature_names=[^\n]*", "feature_names=a b", "features that there are not"),
        ("Tree=0\n", "Tree=00\n\nTree=1\n", "do not fit"),
    ],
)
def test_texts_that_crashed_lightgbm_are_refused(wrong, right, problem, index, tmp_path):
    path = tmp_path / "ranker"
    shutil.copytree(OLD, path)
    text = next(path.glob("trees-*.txt")).read_text()
    changed = re.sub(wrong, right, text, count=1)
    assert changed != text
    swap(path, "trees", changed.encode())
    if not problem:
        # Trees are what their nodes and leaves are: such numbers are not used.
        assert Ranker.load(path, index).rank({"q": "sun"}) == Ranker.load(OLD, index).rank({"q": "sun"})
        return
    with pytest.raises(SearchError, match=problem):
        Ranker.load(path, index)


def test_files_are_arrays_that_are_checked(index, tmp_path):
    ranker = Ranker.load(OLD, index)
    ranker.save(tmp_path)
    assert {name.partition("-")[0] for name in listed(tmp_path)} >= {
        "trees.leaves",
        "trees.left",
        "trees.roots",
    }
    for change in (
        lambda document: document["trees"].pop("left"),
        lambda document: document["trees"].update(more=1),
        lambda document: document["trees"].update(left=[0, 0]),
        lambda document: document["trees"].update(left=document["trees"]["leaves"]),
        lambda document: document.update(trees=None),
        lambda document: document.update(features="abcdefgh"),
        lambda document: document["features"].reverse(),
    ):
        ranker.save(tmp_path)
        edit(tmp_path, change)
        with pytest.raises(SearchError):
            Ranker.load(tmp_path, index)
