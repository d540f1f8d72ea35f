"""A few mutants of every kind of stored directory; ``make attack`` makes many more."""

import sys

import pytest
from attack import ends_of
from uses import KINDS

RANKERS = [kind for kind in KINDS if kind.startswith("ranker")]
OTHERS = [kind for kind in KINDS if kind not in RANKERS]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited as on Linux")
@pytest.mark.parametrize(
    ("kinds", "n_mutants"),
    [
        # Their files ended the process before they were checked.
        pytest.param(RANKERS, 100, id="rankers"),
        pytest.param(OTHERS[::2], 25, id="some"),
        pytest.param(OTHERS[1::2], 25, id="others"),
    ],
)
def test_mutants_with_checksums_are_refused_or_used(kinds, n_mutants):
    ends, faults = ends_of(kinds, "suite", n_mutants)
    assert faults == []
    for kind in kinds:
        assert ends[kind]["refused"] + ends[kind]["used"] == n_mutants, kind
        # Otherwise the mutants were no longer of a directory that can be read, and nothing was tested.
        assert ends[kind]["refused"] > n_mutants / 4, kind
    assert sum(ends[kind]["used"] for kind in kinds)
