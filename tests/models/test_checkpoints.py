"""Fits that are written down and continued: the same bits, whatever happened in between."""

import errno
import json
import os
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from planting import planted
from sklearn.base import clone
from test_contract import VARIANTS, bits, dense, fit, labels

from laconic import PLSA, RLSI, GraphPLSA, GroupRLSI, MultimodalPLSA
from laconic.engines import Shards, checkpoints
from laconic.engines.checkpoints import Checkpoint, check_saved
from laconic.errors import CheckpointError
from laconic.losses.squared import starts
from stored_files import edit, npy, stop_at, swap

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # what is planted may look like weights
    pytest.mark.filterwarnings("ignore::laconic.errors.InputWarning"),
]


@pytest.fixture(autouse=True)
def unsynced(monkeypatch):
    """A kill loses nothing that was written; to be safe from power failures takes long."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class Killed(BaseException):
    """What a process does not survive."""


class Watcher:
    """A callback that counts half steps, and at one of them kills the process or stops the fit."""

    def __init__(self, kill_at=None, stop_at=None):
        self.kill_at, self.stop_at, self.seen = kill_at, stop_at, 0

    def __call__(self, progress):
        self.seen += 1
        if self.seen == self.kill_at:
            raise Killed
        return self.stop_at is not None and self.seen >= self.stop_at


def continued(model, X, folder, kills, how=fit):
    """The model that is fitted in spite of some kills, and the number of half steps of the last attempt."""
    for kill in kills:
        with pytest.raises(Killed):
            how(clone(model), X, callback=Watcher(kill), checkpoint=Checkpoint(folder, every=0))
    watcher = Watcher()
    found = how(clone(model), X, callback=watcher, checkpoint=Checkpoint(folder, every=0))
    return found, watcher.seen


@pytest.mark.parametrize("name", VARIANTS)
def test_a_fit_that_is_killed_goes_on_and_ends_with_the_same_bits(name, tmp_path):
    X = planted(200, 80, seed=4, dtype=np.float32)
    model = clone(VARIANTS[name]).set_params(random_state=0, max_iter=13, tol=0)
    watcher = Watcher()
    whole = fit(clone(model), X, callback=watcher)
    # in the start, and well after it
    found, last = continued(model, X, tmp_path / "c", (4, watcher.seen // 2))
    assert bits(found) == bits(whole)
    assert last < watcher.seen / 2 + 2
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", ["rlsi-l0-l1", "rlsi-l1-both", "nmf-kl", "group-nmf-cd"])
def test_in_shards_too(name, tmp_path):
    X = planted(200, 80, seed=4, dtype=np.float32)
    model = clone(VARIANTS[name]).set_params(random_state=0, max_iter=5, tol=0)

    def in_shards(model, X, **arguments):
        return model.fit(Shards.cut(X, 4), labels(X), **arguments)

    whole = in_shards(clone(model), X)
    found, _ = continued(model, X, tmp_path / "c", (7,), in_shards)
    assert bits(found) == bits(whole)


@pytest.mark.parametrize("name", ["rlsi-l0", "rlsi-l1-l2", "rlsi-l0-both", "group-rlsi-l1"])
def test_a_start_from_a_sample(name, tmp_path, monkeypatch):
    monkeypatch.setattr(starts, "SAMPLE", 60)
    monkeypatch.setattr(starts, "SAMPLE_PER_TOPIC", 10)
    X = planted(200, 80, seed=4, dtype=np.float32)
    model = clone(VARIANTS[name]).set_params(random_state=0, max_iter=12, tol=0)
    whole = fit(clone(model), X)
    found, _ = continued(model, X, tmp_path / "c", (5, 5, 9))
    assert bits(found) == bits(whole)


@pytest.mark.parametrize("divergence", ["tied", "skl"])
def test_several_modalities(divergence, tmp_path):
    X = {"a": planted(80, 40, seed=1), "b": planted(80, 30, seed=2)}
    model = MultimodalPLSA(3, divergence=divergence, random_state=0, max_iter=6, tol=0)

    def alone(model, X, **arguments):
        return model.fit(X, **arguments)

    whole = alone(clone(model), X)
    found, _ = continued(model, X, tmp_path / "c", (5,), alone)
    assert bits(found) == bits(whole)
    for name, weights in whole.modality_weights_.items():
        assert found.modality_weights_[name].tobytes() == weights.tobytes()


@pytest.mark.parametrize("name", ["rlsi-l0", "rlsi-l1-l2", "plsa", "plsa-pseudo-dirichlet", "sparse-lsa"])
@pytest.mark.parametrize("at", [3, 24, 25, 40])
def test_a_fit_that_was_stopped_can_be_continued(name, at, tmp_path):
    X = planted(200, 80, seed=4, dtype=np.float32)
    model = clone(VARIANTS[name]).set_params(random_state=0, max_iter=60, tol=1e-3)
    whole = fit(clone(model), X)
    checkpoint = Checkpoint(tmp_path / "c")
    part = fit(clone(model), X, callback=Watcher(stop_at=at), checkpoint=checkpoint)
    assert part.components_.shape == whole.components_.shape
    watcher = Watcher()
    found = fit(clone(model), X, callback=watcher, checkpoint=checkpoint)
    assert bits(found) == bits(whole)
    assert not checkpoint.exists


def test_a_seed_that_nobody_gave_is_kept(tmp_path):
    X = planted(200, 80, seed=4, dtype=np.float32)
    model = RLSI(3, init="documents", max_iter=9, tol=0)
    first = []

    def begin(model, X, **arguments):
        return model.fit(X, **arguments)

    with pytest.raises(Killed):
        begin(clone(model), X, callback=Watcher(30), checkpoint=Checkpoint(tmp_path, every=0))
    copy = tmp_path.with_name("copy")
    os.system(f"cp -r {tmp_path} {copy}")
    for folder in (tmp_path, copy):
        first.append(begin(clone(model), X, checkpoint=folder))
    assert bits(first[0]) == bits(first[1])


@pytest.fixture
def interrupted(tmp_path):
    """A checkpoint of a fit of classes."""
    X = planted(60, 40, seed=4)
    with pytest.raises(Killed):
        fit(
            GroupRLSI(1, 2, random_state=0),
            X,
            callback=Watcher(20),
            checkpoint=Checkpoint(tmp_path / "c", every=0),
        )
    return X, tmp_path / "c"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_shared": 2}, "n_shared was 1, and is 2"),
        ({"random_state": 1}, "random_state was 0, and is 1"),
        ({"topic_norm": "l2"}, "topic_norm was 'l1', and is 'l2'"),
    ],
)
def test_other_parameters_are_refused_by_name(interrupted, parameters, message):
    X, path = interrupted
    model = GroupRLSI(1, 2, random_state=0).set_params(**parameters)
    with pytest.raises(CheckpointError, match=message):
        fit(model, X, checkpoint=path)
    # and what was there can still be continued
    fit(GroupRLSI(1, 2, random_state=0, n_jobs=1), X, checkpoint=path)


def test_other_data_labels_models_and_versions_are_refused_by_name(interrupted, monkeypatch):
    X, path = interrupted
    model = GroupRLSI(1, 2, random_state=0)
    with pytest.raises(CheckpointError, match="of other data"):
        fit(clone(model), planted(60, 40, seed=5), checkpoint=path)
    with pytest.raises(CheckpointError, match="of other y"):
        clone(model).fit(X, np.roll(labels(X), 1), checkpoint=path)
    with pytest.raises(CheckpointError, match="of another model, GroupRLSI"):
        PLSA(3).fit(X, checkpoint=path)
    with pytest.raises(CheckpointError, match="shards was"):
        clone(model).fit(Shards.cut(X, 2), labels(X), checkpoint=path)
    monkeypatch.setattr(checkpoints, "versions", lambda: {"laconic": "99"})
    with pytest.raises(CheckpointError, match=r"with laconic .*, but this is 99"):
        fit(clone(model), X, checkpoint=path)


def test_other_links_are_refused(tmp_path):
    X = planted(60, 40, seed=4)
    links = [[0, 1], [1, 2], [5, 9]]
    model = GraphPLSA(3, random_state=0)
    with pytest.raises(Killed):
        model.fit(X, graph=links, callback=Watcher(9), checkpoint=Checkpoint(tmp_path / "c", every=0))
    with pytest.raises(CheckpointError, match="of other graph"):
        model.fit(X, graph=links[:2], checkpoint=tmp_path / "c")


def test_a_damaged_file_is_named_and_the_checkpoint_before_serves(tmp_path):
    X = planted(100, 60, seed=4)
    model = RLSI(3, doc_norm="l1", init="documents", random_state=0, max_iter=6, tol=0)
    whole = clone(model).fit(X)
    with pytest.raises(Killed):
        clone(model).fit(X, callback=Watcher(30), checkpoint=Checkpoint(tmp_path / "c", every=0))
    document = json.loads((tmp_path / "c" / "checkpoint.json").read_text())
    assert len(document["states"]) == 2
    last, before = (set(state["files"]) for state in document["states"])
    weights = next(name for name in last - before if name.startswith("weights.shard0."))
    assert f"iteration{document['states'][0]['iteration']}" in weights
    damage(tmp_path / "c" / weights)
    with pytest.warns(UserWarning, match=f"{weights}: is damaged.*continuing from the checkpoint before"):
        found = clone(model).fit(X, callback=Watcher(), checkpoint=Checkpoint(tmp_path / "c", keep=True))
    assert bits(found) == bits(whole)
    for name in before:
        damage(tmp_path / "c" / name)
    with (
        pytest.warns(UserWarning, match="before it"),
        pytest.raises(CheckpointError, match="is damaged"),
    ):
        clone(model).fit(X, checkpoint=tmp_path / "c")


def damage(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_fails_is_told_and_the_fit_goes_on(code, tmp_path, monkeypatch):
    X = planted(100, 60, seed=4)
    model = RLSI(3, doc_norm="l1", init="documents", random_state=0, max_iter=6, tol=0)
    whole, write = clone(model).fit(X), checkpoints.write_file
    left = 1

    def full(*arguments):
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(code, os.strerror(code))
        return write(*arguments)

    monkeypatch.setattr(checkpoints, "write_file", full)
    with pytest.warns(UserWarning, match=os.strerror(code)), pytest.raises(Killed):
        clone(model).fit(X, callback=Watcher(30), checkpoint=Checkpoint(tmp_path / "c", every=0))
    monkeypatch.undo()
    found = clone(model).fit(X, checkpoint=tmp_path / "c")
    assert bits(found) == bits(whole)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_whatever_fails_of_a_checkpoint_the_fit_ends_and_the_last_whole_one_stays(code, tmp_path):
    X = planted(60, 40, seed=4)
    model = RLSI(3, doc_norm="l1", random_state=0, max_iter=3, tol=0)
    whole, step = clone(model).fit(X), 0
    while True:
        step += 1
        folder = tmp_path / str(step)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            calls = stop_at(patch, step, OSError(code, os.strerror(code)))
            found = clone(model).fit(X, checkpoint=Checkpoint(folder, every=0, keep=True))
        assert bits(found) == bits(whole)
        if calls[0] < step:
            break
        assert [os.strerror(code) in str(each.message) for each in told].count(True) == 1, step
        assert check_saved(folder).model == "RLSI"
        assert not list(folder.glob("*.tmp"))
        # not at every one of them: the first and the last, and some between
        step += step // 2
    assert step > 100


def test_a_read_only_disk_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "c").mkdir()
    flags = os.statvfs(tmp_path)
    read_only = SimpleNamespace(f_flag=flags.f_flag | os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda path: read_only if Path(path) == tmp_path / "c" else flags)
    with pytest.raises(OSError, match="Read-only file system") as caught:
        RLSI(3).fit(planted(60, 40), checkpoint=tmp_path / "c")
    assert caught.value.filename == str(tmp_path / "c")


def test_a_folder_that_is_something_else_is_refused_before_the_work(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(CheckpointError, match=r"letter\.txt"):
        RLSI(3).fit(planted(60, 40), checkpoint=tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("doc_norm", ["l1", "l2"])
def test_weights_in_closed_form_are_kept_neither_in_files_nor_aside(doc_norm, tmp_path):
    """Ridge weights follow from the topics alone; lasso weights begin from the last ones."""
    shards = Shards.cut(planted(100, 60, seed=4), 2)
    with pytest.raises(Killed):
        RLSI(3, doc_norm=doc_norm, init="documents", random_state=0, max_iter=9, tol=0).fit(
            shards, callback=Watcher(36), checkpoint=Checkpoint(tmp_path, every=0)
        )
    kept = doc_norm == "l1"
    assert bool(list(tmp_path.glob("weights.*"))) == kept
    assert all((shard.kept is not None) == kept for shard in shards)


def test_only_the_last_two_iterations_are_kept(tmp_path):
    X = planted(100, 60, seed=4)
    with pytest.raises(Killed):
        PLSA(3, random_state=0).fit(X, callback=Watcher(20), checkpoint=Checkpoint(tmp_path, every=0))
    names = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("weights."))
    assert [name.split("-")[0] for name in names] == [
        "weights.shard0.run0.iteration10.topics",
        "weights.shard0.run0.iteration9.topics",
    ]


def test_steps_without_a_state_say_so(tmp_path, monkeypatch):
    from laconic.losses.squared.steps import SquaredSteps

    monkeypatch.delattr(SquaredSteps, "state")
    with pytest.raises(TypeError, match="SquaredSteps has no checkpoints"):
        RLSI(3, init="documents").fit(planted(60, 40), checkpoint=Checkpoint(tmp_path / "c", every=0))
    assert dense(RLSI(3, random_state=0).fit(planted(60, 40)).components_).any()


def forged(state):
    """Changes to a state that no fit could have written, and what is said of each."""
    steps = dict(state["steps"]["mapping"])
    yield {"iteration": 0}, "iteration: is 0 and no whole number from 1"
    yield {"iteration": 10**9}, "iteration 1000000000 has"
    yield {"half": "both"}, "half: is none of"
    yield {"history": ["x"] * len(state["history"])}, "history: 0: is 'x' and no number"
    yield {"falls": []}, "objectives have 0 differences"
    yield {"run": 10**6}, "run 1000000 has"
    yield {"run": 1, "traces": [{"mapping": [["history", []]]}]}, "0: has the parts \\['history'\\]"
    yield {"held": {"shard0": 3}}, "held: shard0: is no mapping"
    yield {"notes": {"mapping": [["seed", 2**40]]}}, "seed is 1099511627776"
    yield {"steps": {"mapping": list(steps.items())[1:]}}, "steps: has the parts"
    yield {"steps": {"mapping": list((steps | {"pace": 1e300}).items())}}, "pace: is 1e\\+300"
    yield {"steps": {"mapping": list((steps | {"components": None}).items())}}, "components: is no array"


@pytest.mark.filterwarnings("ignore:.*continuing from the checkpoint before it")
def test_forged_states_are_refused(tmp_path):
    """Whoever knows the format and repairs every checksum is told what does not fit this fit."""
    X, path = planted(60, 40, seed=4), tmp_path / "c"
    model = PLSA(3, max_iter=20, tol=0)
    with pytest.raises(Killed):
        clone(model).fit(X, callback=Watcher(29), checkpoint=Checkpoint(path, every=0))
    whole = path.with_name("whole")
    shutil.copytree(path, whole)
    for change, message in forged(json.loads((path / "checkpoint.json").read_text())["states"][0]):
        shutil.rmtree(path)
        shutil.copytree(whole, path)
        edit(path, lambda document, change=change: [each.update(change) for each in document["states"]])
        with pytest.raises(CheckpointError, match=message):
            clone(model).fit(X, checkpoint=path)
    clone(model).fit(X, checkpoint=whole)


def test_weights_of_other_documents_are_refused(tmp_path):
    X, path = planted(60, 40, seed=4), tmp_path / "c"
    with pytest.raises(Killed):
        PLSA(3, random_state=0).fit(X, callback=Watcher(9), checkpoint=Checkpoint(path, every=0))
    (weights,) = json.loads((path / "checkpoint.json").read_text())["states"][0]["held"]["shard0"].values()
    swap(path, weights.rpartition("-")[0], npy(np.ones((60, 4))))
    with pytest.raises(CheckpointError, match=r"weights of these documents \(it has the shape \(60, 4\)"):
        PLSA(3, random_state=0).fit(X, checkpoint=path)
