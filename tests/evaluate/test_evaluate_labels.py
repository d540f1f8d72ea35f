"""Labels and topics: strongest labels, and how well weights tell labels apart."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic.errors import CorpusError
from laconic.evaluate import check_judged, label_scores, labels, rankings_of, strongest_labels


def test_neither_large_nor_small_labels_are_always_the_strongest():
    weights = np.array([[0.3, 0.0]] * 50 + [[1.0, 0.1]] * 9 + [[1.2, 0.0]])
    names = ["large"] * 50 + ["middle"] * 9 + ["one"]
    # by sums the order would be large, middle, one; by means one, middle, large
    assert strongest_labels(names, weights) == [["middle", "large", "one"], ["middle"]]
    assert strongest_labels(names, csr_array(weights), 1) == [["middle"], ["middle"]]


def test_negative_weights_are_no_strength():
    assert strongest_labels(["a", "b"], [[-5.0, 0.0], [1.0, 0.0]]) == [["b"], []]


def test_labels_of_few_documents_are_left_out_and_many_documents_sampled(monkeypatch):
    rng = np.random.default_rng(0)
    names = ["a"] * 40 + ["b"] * 40 + ["rare"] * 3
    weights = np.vstack([rng.normal([1, 0], 0.1, (40, 2)), rng.normal([0, 1], 0.1, (40, 2)), np.ones((3, 2))])
    told = []
    found = label_scores(weights, names, say=told.append)
    assert (found.labels, found.labelled_documents) == (2, 80)
    assert found.clustering_accuracy == found.svm_accuracy == 1.0
    assert told == ["clusters of the documents", "classifying the documents"]
    assert found.to_dict()["svm_accuracy_std"] == 0.0
    assert [row[0] for row in found.rows()] == [
        "clustering accuracy",
        "clustering NMI",
        "classification accuracy",
    ]
    monkeypatch.setattr(labels, "MOST_LABELLED", 30)
    assert label_scores(csr_array(weights), names).labelled_documents == 30


class Index:
    """Notes what it was asked."""

    blend = 0.25

    def run(self, queries, k, blend):
        return {query: {f"k{k}": blend} for query in queries}


def test_three_rankings_of_one_index():
    assert rankings_of(Index(), {"q": "words"}, k=5) == {
        "terms": {"q": {"k5": 0.0}},
        "topics": {"q": {"k5": 1.0}},
        "blend 0.25": {"q": {"k5": 0.25}},
    }
    assert list(rankings_of(Index(), {}, blend=0.5))[-1] == "blend 0.5"


def test_judgements_of_other_documents():
    assert check_judged(["0", "1"], {"q": {"1": 1}}) == (1, 0, True)
    with pytest.raises(CorpusError, match="none in common; name the column of the ids with id") as refused:
        check_judged(["0", "1"], {"q": {"d7": 1}})
    assert refused.value.worded(lambda parameter: f"--{parameter.name}").endswith("with --id")
