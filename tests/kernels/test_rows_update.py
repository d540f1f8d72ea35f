"""One update of every entry of a row, beside the formula written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.kernels.rows import ROWS_AT_ONCE, update_once


def naive_update(gram, targets, rows):
    """Coordinate after coordinate, the best value that is not negative."""
    found = rows.copy()
    for row, target in zip(found, targets, strict=True):
        for k in range(len(gram)):
            row[k] = 0
            if gram[k, k] > 0:
                row[k] = max(0.0, (target[k] - gram[k] @ row) / gram[k, k])
    return found


@pytest.mark.parametrize("n_rows", [0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
@given(width=st.integers(1, 9), seed=st.integers(0, 10))
def test_every_entry_is_updated_once(n_rows, width, seed):
    random = np.random.RandomState(seed)
    topics = random.uniform(-0.2, 1, (width, 12))
    topics[random.random_sample(width) < 0.2] = 0
    gram, targets = topics @ topics.T, random.standard_normal((n_rows, width))
    rows = np.maximum(random.standard_normal((n_rows, width)), 0)
    expected = naive_update(gram, targets, rows)
    update_once(gram, targets, rows)
    np.testing.assert_allclose(rows, expected, atol=1e-8)
