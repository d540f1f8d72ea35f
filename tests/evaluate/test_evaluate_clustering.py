from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from laconic.evaluate import clustering_accuracy, clustering_nmi, purity


def drawn(seed, n_classes, n_clusters, n=40):
    rng = np.random.default_rng(seed)
    return rng.integers(n_classes, size=n), rng.integers(n_clusters, size=n)


def best_matching(labels, clusters):
    """Every way to name clusters by classes, tried."""
    classes, names = list(np.unique(labels)), list(np.unique(clusters))
    wide = classes + [None] * max(0, len(names) - len(classes))
    return max(
        np.mean([named.get(cluster) == label for label, cluster in zip(labels, clusters, strict=True)])
        for chosen in permutations(wide, len(names))
        for named in [dict(zip(names, chosen, strict=True))]
    )


@pytest.mark.parametrize(("n_classes", "n_clusters"), [(3, 3), (4, 2), (2, 4), (1, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_accuracy_is_that_of_the_best_matching(seed, n_classes, n_clusters):
    labels, clusters = drawn(seed, n_classes, n_clusters)
    assert clustering_accuracy(labels, clusters) == pytest.approx(best_matching(labels, clusters))


def test_names_do_not_matter():
    labels, clusters = drawn(0, 4, 4)
    renamed = np.array(["d", "b", "c", "a"])[clusters]
    for measure in (clustering_accuracy, clustering_nmi, purity):
        assert measure(labels, renamed) == pytest.approx(measure(labels, clusters))
        assert measure(labels, labels) == pytest.approx(1)


def test_nmi_is_divided_by_the_larger_entropy():
    labels, clusters = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    assert mutual_info_score(labels, clusters) == pytest.approx(np.log(2))
    assert clustering_nmi(labels, clusters) == pytest.approx(np.log(2) / np.log(4))


def test_purity_counts_the_most_frequent_class_of_each_cluster():
    assert purity(["a", "a", "b", "b", "b"], [0, 0, 0, 1, 1]) == pytest.approx(4 / 5)


@pytest.mark.parametrize("measure", [clustering_accuracy, purity])
@pytest.mark.parametrize("clusters", [[0], []])
def test_lengths_must_agree(measure, clusters):
    with pytest.raises(ValueError, match="give one of each for every document"):
        measure(["a", "b"][: 2 * len(clusters)], clusters)
