"""EIO and ENOSPC at every write, rename and sync of a save; and kills, beside readers."""

import errno
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import uses

import laconic
from laconic import Corpus
from laconic.reading.rankings import write_run
from laconic.search.ltr import Ranker
from stored_files import contents, stop_at

ERRORS = [OSError(errno.EIO, "Input/output error"), OSError(errno.ENOSPC, "No space left on device")]


def corpora():
    texts = [f"{text} again" for text in uses.DOCUMENTS]
    options = {"min_df": 1, "max_df": 1.0, "keep_texts": True}
    options |= {"labels": uses.LABELS, "dates": uses.DATES}
    return [Corpus.from_texts(part, **options) for part in (uses.DOCUMENTS, texts)]


def bundles():
    options = {"min_df": 1, "max_df": 1.0, "stop_words": None, "labels": uses.LABELS, "random_state": 0}
    return [laconic.fit(uses.DOCUMENTS, n_topics=k, **options) for k in (2, 3)]


def rankers():
    old = Ranker.load(uses.HERE / "search/ranker-format-1", uses.index())
    new = Ranker(old.index, depth=7)
    new._trees = old._trees
    return [old, new]


def of_kind(kind):
    """Two bundles of a kind of model."""
    options = uses.FITS[kind]
    return [uses.fitted(**options), uses.fitted([f"{text} again" for text in uses.DOCUMENTS], **options)]


MADE = [bundles, corpora, rankers]
# ``make attack`` has every kind of model.
if os.environ.get("LACONIC_ATTACK") == "long":
    MADE += [pytest.param(partial(of_kind, kind), id=kind) for kind in uses.FITS]


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("error", ERRORS, ids=["EIO", "ENOSPC"])
def test_whatever_fails_leaves_the_old_or_the_new(make, error, tmp_path):
    old, new = make()
    old.save(tmp_path / "old")
    new.save(tmp_path / "new")
    before, after = contents(tmp_path / "old"), contents(tmp_path / "new")
    assert before != after
    path, step, seen = tmp_path / "there", 0, set()
    while True:
        step += 1
        shutil.rmtree(path, ignore_errors=True)
        old.save(path)
        with pytest.MonkeyPatch.context() as patch:
            calls = stop_at(patch, step, error)
            try:
                new.save(path)
            except OSError:
                # Nothing that was half written stays.
                assert contents(path) in (before, after), step
                seen.add(contents(path) == after)
                continue
        # All steps have failed once.
        assert calls[0] < step
        break
    assert contents(path) == after
    assert seen == {False, True}
    assert step > 20


@pytest.mark.parametrize("error", ERRORS, ids=["EIO", "ENOSPC"])
def test_single_files_are_the_old_or_the_new(error, tmp_path):
    target = tmp_path / "run.txt"
    write_run({"q": {"a": 1.0}}, target)
    before = target.read_bytes()
    for step in (1, 2):
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, step, error)
            with pytest.raises(OSError, match=error.strerror) as caught:
                write_run({"q": {"b": 2.0}}, target)
        assert "run" in str(caught.value)
        assert contents(tmp_path) == {"run.txt": before}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_an_index_saved_over_that_of_another_model_is_one_commit(tmp_path):
    """Model, documents and settings of the search belong together, whenever the process is killed."""
    script = Path(__file__).with_name("kills.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), str(tmp_path / "model"), "8"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == 8
    assert set(report["beside"]) | set(report["after"]) == {"2 topics, blend 0.25", "3 topics, blend 0.75"}
