"""What commands import before they answer: nobody waits for what is not used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import laconic

HEAVY = ("numba", "sklearn", "scipy.sparse", "pandas", "pyarrow")

RUN = """
import sys
from laconic.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(*[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""


def imported(*arguments):
    """Which of the heavy packages a command has imported when it is done."""
    run = subprocess.run(
        [sys.executable, "-c", RUN.format(heavy=HEAVY), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(laconic.__file__).parents[1])},
    )
    return run.stderr.split()


@pytest.mark.parametrize("arguments", [("--help",), ("fit", "--help"), ("search", "--help")])
def test_help_imports_nothing_heavy(arguments):
    assert imported(*arguments) == []


@pytest.mark.parametrize("how", [(), ("--json",), ("--csv",), ("--terms", "40", "--no-weights")])
def test_topics_are_listed_without_anything_heavy(saved, how):
    assert imported("topics", saved, *how) == []
