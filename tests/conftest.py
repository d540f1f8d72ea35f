"""What several rooms' tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from planting import planted
from scipy.sparse import csr_array
from typer.testing import CliRunner

from laconic.cli.app import app

# Compiling a kernel inside the first example would count as a slow example.
settings.register_profile("laconic", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laconic")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets; tests that need it are skipped where it is not."""
    folder = os.environ.get("LACONIC_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs the real data sets: set LACONIC_DATA to their folder")
    return Path(folder)


@pytest.fixture(scope="session")
def X() -> csr_array:
    return planted()


@pytest.fixture
def laconic(monkeypatch):
    """Run a command; by default it has to succeed."""
    monkeypatch.delenv("LACONIC_DEBUG", raising=False)

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        assert "Traceback" not in result.stderr
        return result

    return run


@pytest.fixture
def heeds_ctrl_c():
    """Ctrl-C ends this process and those it starts, even if the suite was told to ignore it (nohup, say)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
