"""Kernels with every index checked: what reads beyond an array says so, and does not read on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent
# Those that files reach most directly; ``make attack`` has all kernels' tests.
PARTS = ["kernels/test_columns.py", "kernels/test_rows_update.py", "search/test_search_trees.py"]


@pytest.mark.slow
def test_kernels_stay_within_their_arrays(tmp_path):
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    parts = [str(HERE / part) for part in PARTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *parts]
    done = subprocess.run(
        command, env=environment, cwd=HERE.parent, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    # Otherwise kernels were those of before, and nothing was checked.
    assert list(tmp_path.rglob("*.nbi"))
