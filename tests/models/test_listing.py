"""The words of topics, as they are listed."""

import numpy as np
import pytest

from laconic.models.listing import strongest_only


def listed(*topics, dtype=float):
    """The words of topics given as mappings, each where it is strongest."""
    rows = [(np.array(list(topic), int), np.array(list(topic.values()), dtype)) for topic in topics]
    return [
        dict(zip(terms.tolist(), weights.tolist(), strict=True)) for terms, weights in strongest_only(rows)
    ]


def test_a_word_that_speaks_for_a_topic_is_not_listed_against_another():
    against, for_it = {0: -0.6, 1: 0.1, 2: 0.5}, {0: 0.6, 1: 0.6}
    assert listed(against, for_it) == [{2: 0.5}, for_it]
    assert listed(for_it, against) == [for_it, {2: 0.5}]


def test_a_word_against_all_topics_is_listed_where_it_counts_most():
    assert listed({0: -1.0, 1: 1.0}, {0: -3.0, 2: 1.0}) == [{1: 1.0}, {0: -3.0, 2: 1.0}]


@pytest.mark.parametrize("scale", [1e25, 1e-25, 1e-42])
def test_weights_of_any_size(scale):
    """Their squares may be more or less than their type can hold."""
    large, other = {0: 1 * scale, 1: 2 * scale}, {1: 0.9, 2: 0.1}
    first, second = listed(large, other, dtype=np.float32)
    assert list(first) == [0]
    assert list(second) == [1, 2]


def test_topics_without_words():
    assert listed({}, {3: 1.0}, {}) == [{}, {3: 1.0}, {}]
    assert listed() == []
