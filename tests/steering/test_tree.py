"""The tree of topics, cut anywhere, and models reduced along it."""

import numpy as np
import pytest

import laconic
from laconic.errors import ParameterError
from laconic.steering.tree import tree_of

# four themes, two of which share half of their words
THEMES = [
    [f"a{j}" for j in range(10)],
    [f"a{j}" for j in range(5, 15)],
    [f"b{j}" for j in range(10)],
    [f"c{j}" for j in range(10)],
]


@pytest.fixture(scope="module")
def bundle():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(THEMES[n % 4], 30)) for n in range(120)]
    dates = [f"{2001 + n // 60}-03-0{1 + n % 9}" for n in range(120)]
    return laconic.fit(texts, n_topics=4, words=10, dates=dates, max_df=1.0)


def naive_heights(cosines):
    """Average linkage, written down: join the two groups whose topics are nearest on the mean."""
    groups, heights = [[k] for k in range(len(cosines))], []
    while len(groups) > 1:
        pairs = [(i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))]
        means = [np.mean([1 - cosines[a, b] for a in groups[i] for b in groups[j]]) for i, j in pairs]
        i, j = pairs[int(np.argmin(means))]
        heights.append(min(means))
        groups = [group for k, group in enumerate(groups) if k not in (i, j)] + [groups[i] + groups[j]]
    return heights


def heights(branch):
    return sorted([branch.height for branch in _all(branch) if branch.branches])


def _all(branch):
    yield branch
    for one in branch.branches:
        yield from _all(one)


def test_heights_are_those_of_average_linkage():
    rows = np.random.default_rng(1).random((7, 20))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    root = tree_of(range(7), list("abcdefg"), np.ones(7), rows @ rows.T)
    np.testing.assert_allclose(heights(root), sorted(naive_heights(rows @ rows.T)))
    for n in range(1, 9):
        groups = root.cut(n)
        assert len(groups) == min(n, 7)
        assert sorted(topic for group in groups for topic in group) == list(range(7))
    with pytest.raises(ParameterError, match="from 1 on"):
        root.cut(0)


def test_one_topic_and_none():
    assert tree_of([5], ["a"], np.ones(1), np.ones((1, 1))).cut(3) == [[5]]
    assert tree_of([], [], np.ones(0), np.ones((0, 0))) is None


def theme(bundle, topic):
    return {word[0] for word, _ in bundle.topic_words(8)[topic]}


def test_topics_that_share_words_are_joined_first(bundle):
    groups = bundle.tree().cut(3)
    (pair,) = [group for group in groups if len(group) > 1]
    assert [theme(bundle, topic) for topic in pair] == [{"a"}, {"a"}]


def test_a_model_is_reduced_along_the_tree(bundle):
    reduced = bundle.edit().reduce(3).apply()
    (pair,) = [group for group in bundle.tree().cut(3) if len(group) > 1]
    assert len(reduced.notes.living) == 3
    assert len(set(pair) & set(reduced.notes.living)) == 1
    others = sorted(set(range(4)) - set(pair))
    before, after = bundle.model.components_[others], reduced.model.components_[others]
    assert abs(before - after).nnz == 0
    assert reduced.history.log[-1].did == ("reduce 3",)
    # without the topic that is gone
    assert reduced.tree().cut(9) == [[topic] for topic in reduced.notes.living]
    with pytest.raises(ParameterError, match="between 1 and 4"):
        bundle.edit().reduce(5)
    assert bundle.edit().reduce(4).apply().notes.living == [0, 1, 2, 3]


def test_weights_over_time_are_shares(bundle):
    table = bundle.rename(1, "salt").over_time()
    periods = list(table["period"])
    assert (periods[0], periods[-1]) == ("2001-03", "2002-03")
    assert sum(table["documents"]) == 120
    first = np.asarray(bundle.documents.weights[:60].sum(axis=0)).ravel()
    np.testing.assert_allclose(table["topic1 salt"][0], first[1] / first.sum(), rtol=1e-5)


def test_without_dates_there_is_no_time():
    plain = laconic.fit(["sun and moon", "salt and pepper"] * 3, n_topics=2)
    with pytest.raises(ValueError, match="have no dates"):
        plain.over_time()
