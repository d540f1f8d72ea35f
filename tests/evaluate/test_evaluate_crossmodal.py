import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from laconic.evaluate import mate_ranks, mean_average_precision


def naive_map(scores, query_labels, item_labels, n_relevant=None, depth=None):
    averages = []
    for row, label in zip(scores, query_labels, strict=True):
        order = sorted(range(len(row)), key=lambda item: (-row[item], item))[:depth]
        precisions = []
        for rank, item in enumerate(order, start=1):
            if item_labels[item] == label:
                precisions.append((len(precisions) + 1) / rank)
        kept = precisions[:n_relevant]
        averages.append(sum(kept) / len(kept) if kept else 0.0)
    return sum(averages) / len(averages)


@pytest.mark.parametrize("limits", [{}, {"n_relevant": 10}, {"depth": 10}, {"n_relevant": 3, "depth": 7}])
def test_map_against_loops(limits):
    rng = np.random.default_rng(0)
    scores = rng.integers(6, size=(12, 40)).astype(float)  # with ties
    asked, items = rng.integers(4, size=12), rng.integers(5, size=40)
    found = mean_average_precision(scores, asked, items, **limits)
    assert found == pytest.approx(naive_map(scores, asked, items, **limits))


def test_map_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    scores, items = rng.random((1, 30)), rng.integers(2, size=30)
    expected = average_precision_score(items == 1, scores[0])
    assert mean_average_precision(scores, [1], items) == pytest.approx(expected)


def test_queries_without_relevant_items_count_as_zero():
    assert mean_average_precision([[1.0, 0.0], [1.0, 0.0]], ["a", "c"], ["a", "b"]) == 0.5


def test_mates():
    scores = np.array([[3.0, 2.0, 1.0], [5.0, 1.0, 0.0], [0.0, 0.0, 9.0]])
    assert mate_ranks(scores).tolist() == [1, 2, 1]


def test_equal_scores_gain_nothing():
    assert mate_ranks(np.zeros((3, 5))).tolist() == [5, 5, 5]


def test_wrong_shapes_and_nan():
    with pytest.raises(ValueError, match="a row for each query"):
        mean_average_precision([[1.0, 0.0]], ["a"], ["a"])
    with pytest.raises(ValueError, match="each query needs its mate"):
        mate_ranks([[1.0], [2.0]])
    with pytest.raises(ValueError, match="NaN"):
        mate_ranks([[np.nan]])
    with pytest.raises(ValueError, match="queries x items"):
        mate_ranks([1.0])
