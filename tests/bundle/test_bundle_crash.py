import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from bundle_toys import Toy, same

from laconic.bundle import Bundle, BundleError, load
from laconic.bundle.kind import MODEL
from laconic.storage.writing import DirectoryWriter
from stored_files import Stopped, contents, edit, listed, stop_at

MANIFEST = MODEL.manifest
OLD, NEW = Toy().fit(seed=1), Toy(3).fit(8, seed=2)


def steps(tmp_path):
    Bundle(OLD).save(tmp_path / "count")
    with pytest.MonkeyPatch.context() as patch:
        calls = stop_at(patch, -1, OSError())
        Bundle(NEW).save(tmp_path / "count")
    return calls[0]


@pytest.fixture
def path(tmp_path):
    Bundle(OLD).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_full_disk_at_any_step_leaves_the_old_model_and_nothing_else(path, tmp_path):
    before = contents(path)
    n_steps = steps(tmp_path)
    assert n_steps >= 20
    # The last step makes the swap durable; until then the old model is the model.
    for step in range(1, n_steps):
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, step, OSError(errno.ENOSPC, "No space left on device"))
            with pytest.raises(OSError, match="No space left"):
                Bundle(NEW).save(path)
        assert contents(path) == before, step
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, n_steps, OSError(errno.EIO, "Input/output error"))
        with pytest.raises(OSError, match="Input/output"):
            Bundle(NEW).save(path)
    assert same(load(path).model, NEW)
    assert set(contents(path)) == listed(path)


def test_a_crash_at_any_step_leaves_the_old_or_the_new_model(path, tmp_path):
    seen = set()
    for step in range(1, steps(tmp_path) + 1):
        Bundle(OLD).save(path)
        with pytest.MonkeyPatch.context() as patch:
            # A process that is killed tidies nothing up.
            patch.setattr(DirectoryWriter, "clean", lambda self: None)
            stop_at(patch, step, Stopped())
            with pytest.raises(Stopped):
                Bundle(NEW).save(path)
        model = load(path).model
        assert same(model, OLD) or same(model, NEW)
        seen.add(same(model, NEW))
    assert seen == {False, True}
    Bundle(OLD).save(path)
    assert set(contents(path)) == listed(path)


def test_a_first_save_that_crashed_can_be_repeated(tmp_path):
    path = tmp_path / "first"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DirectoryWriter, "clean", lambda self: None)
        stop_at(patch, 12, Stopped())
        with pytest.raises(Stopped):
            Bundle(NEW).save(path)
    assert len(contents(path)) > 1
    with pytest.raises(BundleError, match="is missing"):
        load(path)
    Bundle(NEW).save(path)
    assert same(load(path).model, NEW)
    assert set(contents(path)) == listed(path)


def test_an_interrupt_right_after_the_swap_keeps_the_new_model(path, monkeypatch):
    replace = Path.replace

    def interrupted(self, target):
        result = replace(self, target)
        if Path(target).name == MANIFEST:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Bundle(NEW).save(path)
    assert same(load(path).model, NEW)
    assert set(contents(path)) == listed(path)


def test_saving_onto_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BundleError, match="is a file"):
        Bundle(NEW).save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "text"), [("notes.txt", "mine"), (MANIFEST, '{"format": "other"}'), (MANIFEST, "")]
)
def test_saving_into_a_foreign_directory_is_refused(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(
        BundleError, match=r"not overwritten|is not empty and holds no laconic model.*notes\.txt"
    ):
        Bundle(NEW).save(tmp_path)
    assert contents(tmp_path) == {name: text.encode()}


def test_a_damaged_model_may_be_replaced(path):
    edit(path, lambda document: document.update({"class": "Unknown"}))
    scale = next(path.glob("scale-*"))
    scale.write_bytes(b"damaged")
    (path / MANIFEST).write_bytes((path / MANIFEST).read_bytes()[:-5])
    Bundle(OLD).save(path)
    assert same(load(path).model, OLD)


def test_a_damaged_file_is_repaired_by_saving_again(path):
    next(path.glob("scale-*")).write_bytes(b"damaged")
    Bundle(OLD).save(path)
    assert same(load(path).model, OLD)


@pytest.mark.skipif(sys.platform == "win32", reason="no directory locks here")
def test_saves_and_loads_at_the_same_time(path):
    problems = []

    def save(model):
        try:
            for _ in range(15):
                Bundle(model).save(path)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=save, args=(model,)) for model in (OLD, NEW)]
    for thread in threads:
        thread.start()
    n_loads = 0
    while any(thread.is_alive() for thread in threads) or n_loads < 10:
        model = load(path).model
        assert same(model, OLD) or same(model, NEW)
        n_loads += 1
    assert problems == []
    assert set(contents(path)) == listed(path)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_kill_9_during_save_leaves_the_old_or_the_new_model(tmp_path):
    script = Path(__file__).with_name("kill_saves.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "model"), "25", "5"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] >= 25
    # Otherwise the kills did not land inside saves, and nothing was tested.
    assert report["left_behind"] >= 5
    assert set(report["loaded"]) == {"a", "b"}
