"""What commands import before they answer: nobody waits for what is not used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

import laconic

HEAVY = ("numba", "sklearn", "scipy.sparse", "pandas", "pyarrow")

RUN = """
import sys
from laconic.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(*[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""


def imported(*arguments, among=HEAVY):
    """Which of the heavy packages a command has imported when it is done."""
    run = subprocess.run(
        [sys.executable, "-c", RUN.format(heavy=among), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(laconic.__file__).parents[1])},
    )
    return run.stderr.split()


@pytest.mark.parametrize("arguments", [("--help",), ("fit", "--help"), ("search", "--help")])
def test_help_imports_nothing_heavy(arguments):
    assert imported(*arguments) == []


@pytest.mark.parametrize(
    "how", [(), ("--json",), ("--csv",), ("--terms", "40", "--no-weights"), ("--distinct",)]
)
def test_topics_are_listed_without_anything_heavy(saved, how):
    assert imported("topics", saved, *how) == []


# What of those packages a fit or a search would have to wait for, and does not use.
UNUSED = (
    "pandas.core",
    "scipy.stats._stats_py",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.neighbors",
)


imports_little = pytest.mark.skipif(
    sklearn.__version__.startswith(("1.6.", "1.7.", "1.8.")),
    reason="this scikit-learn imports more by itself",
)


@imports_little
def test_searching_imports_what_it_needs(saved):
    unused = (*UNUSED, "scipy.optimize", "sklearn.feature_extraction", "pyarrow")
    assert imported("search", saved, "apple", among=unused) == []


@imports_little
def test_fitting_imports_what_it_needs(jsonl, tmp_path):
    arguments = ("fit", jsonl, "--text", "body", "-k", 3, "-o", tmp_path / "model")
    assert not set(UNUSED) & set(imported(*arguments, among=UNUSED))


def test_what_is_postponed_is_there_when_it_is_used():
    code = (
        "import sys; from laconic.postponing import postpone; postpone(); postpone(); import scipy.stats; "
        "before = 'scipy.stats._stats_py' in sys.modules; "
        "print(before, scipy.stats.mode([1, 2, 2]).mode, len([f for f in sys.meta_path "
        "if type(f).__module__ == 'laconic.postponing']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "2", "1"]
