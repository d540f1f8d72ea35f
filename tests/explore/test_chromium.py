"""Where `make test` gets a browser from, tried with commands that only note that they were called."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKE = shutil.which("make")
NOTE = '#!{sh}\necho "{name} $*" >> "{log}"\n{rest}\n'

pytestmark = pytest.mark.skipif(
    MAKE is None or not (ROOT / "Makefile").is_file(), reason="needs make and a clone of the repository"
)


class Machine:
    """A folder with the Makefile, and a PATH on which there is only what a test puts there."""

    def __init__(self, folder):
        self.folder, self.bin, self.log = folder, folder / "bin", folder / "called"
        self.bin.mkdir()
        (folder / ".venv" / "bin").mkdir(parents=True)
        shutil.copy(ROOT / "Makefile", folder)
        for name in ("pyproject.toml", ".venv/core", ".venv/dev"):
            (folder / name).touch()
        for needed in ("sh", "touch"):
            (self.bin / needed).symlink_to(shutil.which(needed))

    def has(self, name, rest="exit 0"):
        """Put a command there."""
        path = self.folder / ".venv" / "bin" / name if name == "playwright" else self.bin / name
        path.write_text(NOTE.format(sh=shutil.which("sh"), name=name, log=self.log, rest=rest))
        path.chmod(0o755)

    def make(self):
        """What is said, and which commands were called."""
        run = subprocess.run(
            [MAKE, "-s", "SHELL=" + shutil.which("sh"), ".venv/chromium"],
            cwd=self.folder,
            env={"PATH": str(self.bin)},
            capture_output=True,
            text=True,
        )
        assert (run.returncode, run.stderr) == (0, "")
        assert (self.folder / ".venv" / "chromium").exists()
        called = self.log.read_text().splitlines() if self.log.exists() else []
        return run.stdout, [line for line in called if not line.startswith("id ")]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


APT = ["apt-get update -qq", "apt-get install -y -qq chromium"]
OWN = ["playwright install chromium"]


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
def test_the_systems_own_is_taken(machine, name):
    machine.has("id", "echo 0")
    for each in (name, "apt-get", "playwright"):
        machine.has(each)
    assert machine.make() == ("", [])


@pytest.mark.parametrize(
    ("user", "apt", "called"),
    [
        (0, "exit 0", APT),
        # apt is for root alone
        (1000, "exit 0", OWN),
        # without a network, or without such a package
        (0, "exit 100", APT[:1] + OWN),
        (0, '[ "$1" = update ]', APT + OWN),
        # a system without apt
        (0, None, OWN),
    ],
)
def test_otherwise_apts_or_playwrights(machine, user, apt, called):
    machine.has("id", f"echo {user}")
    if apt is not None:
        machine.has("apt-get", apt)
    machine.has("playwright")
    assert machine.make() == ("", called)


def test_without_any_it_is_said(machine):
    machine.has("id", "echo 0")
    machine.has("apt-get", "exit 100")
    machine.has("playwright", "exit 1")
    said, called = machine.make()
    assert said == "no Chromium can be had here: the tests in a browser will be skipped\n"
    assert called == APT[:1] + OWN


def test_without_any_the_tests_are_skipped_by_one_reason(tmp_path):
    pytest.importorskip("playwright")
    # options of the run that this test is part of would change what is printed
    without = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rs",
            "-p",
            "no:cacheprovider",
            str(Path(__file__).with_name("test_browser.py")),
        ],
        cwd=ROOT,
        env={**without, "PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    # all tests are one skip, so that none was run
    assert run.returncode in (0, 5), run.stdout
    skipped = [line for line in run.stdout.splitlines() if line.startswith("SKIPPED")]
    assert len(skipped) == 1, run.stdout
    assert "no Chromium: install one, or run playwright install chromium" in skipped[0]
    assert re.search(r"^1 skipped in", run.stdout, re.MULTILINE)
