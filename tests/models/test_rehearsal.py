"""A fit that another process rehearses: its kernels are on disk when they are needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import laconic
from laconic.models import rehearsal
from laconic.models.making import RECIPES
from laconic.models.rehearsal import Rehearsal, mark_of, rehearse

FIT = """
import numpy as np
from numba.core import event
from laconic import Corpus
from laconic.bundle.fitting import fit_bundle
from laconic.models.making import make_model

counts = np.random.default_rng(1).poisson(0.3, (300, 90))
corpus = Corpus.from_counts(counts, [f"word{m}" for m in range(90)])
with event.install_recorder("numba:compile") as recorder:
    bundle = fit_bundle(make_model("rlsi", 5, random_state=0), {"": corpus})
print(*{seen.data["dispatcher"].__name__ for _, seen in recorder.buffer})
"""


def test_a_fit_that_was_rehearsed_compiles_nothing(tmp_path):
    source = str(Path(laconic.__file__).parents[1])
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": source}
    command = [sys.executable, "-P", "-m", "laconic.models.rehearsal", "rlsi", "{}"]
    subprocess.run(command, check=True, env=env)
    assert [path.name.split("-")[:2] for path in tmp_path.rglob("rehearsed-*")] == [["rehearsed", "rlsi"]]
    done = subprocess.run([sys.executable, "-c", FIT], check=True, env=env, capture_output=True, text=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", RECIPES)
def test_every_model_can_be_rehearsed(name):
    rehearse(name, {})


SHARED = """
import numpy as np
from laconic import Corpus
from laconic.kernels.budget import budget_sweep
from laconic.kernels.columns import take_columns
from laconic.models.making import make_model
from laconic.models.rehearsal import Rehearsal, rehearse

Rehearsal.goes_on = True
Rehearsal("rlsi").share(make_model("rlsi"))
shared = {kernel: kernel.signatures for kernel in (budget_sweep, take_columns)}
rehearse("rlsi", {})
Corpus.from_counts(np.ones((3, 2), int), ["a", "b"]).save("corpus")
print(*(shared[kernel] == kernel.signatures for kernel in shared), *map(len, shared.values()))
"""


def test_the_share_of_this_process_is_what_a_fit_and_saving_need(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SHARED], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", "True", "1", "2"]


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The commands that were started: they sleep, whatever they are."""
    commands = []
    start = subprocess.Popen

    def sleep(command, **options):
        commands.append(command)
        return start([sys.executable, "-c", "import time; time.sleep(600)"], **options)

    monkeypatch.setattr(rehearsal, "mark_of", lambda name: tmp_path / name)
    monkeypatch.setattr(rehearsal, "available_cores", lambda: 2)
    monkeypatch.setattr(rehearsal.subprocess, "Popen", sleep)
    return commands


def test_what_nobody_waits_for_is_ended(started):
    with Rehearsal("rlsi", {"doc_norm": "l1", "n_topics": 7, "seeds": [1]}) as running:
        assert running.goes_on
    assert not running.goes_on
    assert started == [[sys.executable, "-P", "-m", "laconic.models.rehearsal", "rlsi", '{"doc_norm": "l1"}']]


@pytest.mark.parametrize("why", ["rehearsed before", "nothing is kept", "one core", "no interpreter"])
def test_nothing_is_started_where_it_is_of_no_use(started, monkeypatch, tmp_path, why):
    if why == "rehearsed before":
        (tmp_path / "rlsi").touch()
    elif why == "nothing is kept":
        monkeypatch.setattr(rehearsal, "mark_of", lambda name: None)
    elif why == "one core":
        monkeypatch.setattr(rehearsal, "available_cores", lambda: 1)
    else:
        monkeypatch.setattr(sys, "executable", "")
    with Rehearsal("rlsi") as running:
        assert not running.goes_on
        running.wait()
    assert started == []


def test_marks_are_of_a_model_and_of_kernels_as_they_are(monkeypatch):
    assert mark_of("rlsi") != mark_of("nmf")
    before = mark_of("rlsi")
    monkeypatch.setattr(rehearsal.numba, "__version__", "0.0")
    assert mark_of("rlsi") != before
    monkeypatch.setattr(rehearsal, "folder_of", lambda kernel: None)
    assert mark_of("rlsi") is None
