"""A refit that waits for a decision: servers may be killed, and files damaged, and nothing is lost."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from asking import ask, door
from explore_toys import KINDS
from test_acting import post, version, waited

from laconic.bundle import history, load
from laconic.bundle.pending import forget_pending, keep_asked, pending
from laconic.errors import BundleError
from laconic.explore.server.app import make_app
from laconic.wholeness import check_directory
from stored_files import contents


@pytest.fixture
def saved(tmp_path):
    KINDS["flat"]().save(tmp_path / "model")
    return tmp_path / "model"


class Server:
    """``laconic serve`` in a process of its own, to be killed."""

    def __init__(self, path):
        command = [str(Path(sys.executable).with_name("laconic")), "serve", str(path), "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said, found = "", None
        while found is None:
            line = self.process.stderr.readline()
            assert line, said
            said += line.strip()
            found = re.search(r"(http://\S+)/\?token=([\w-]{40,})", said)
        self.address, self.token = found.groups()

    def ask(self, path, **content):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        body = json.dumps(content).encode() if content else None
        with urlopen(Request(self.address + path, body, headers), timeout=60) as answer:
            return json.load(answer)

    def ended(self):
        """The refit, when it is over."""
        while (job := self.ask("/api/refit"))["state"] == "running":
            time.sleep(0.02)
        return job

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def accepted(saved, **change):
    """The bytes of the same model after the same change, which nothing has interrupted."""
    path = saved.with_name("uninterrupted")
    shutil.copytree(saved, path)
    app = make_app(path, door())
    post(app, "/api/edits", version=version(app), **change)
    job = waited(app)
    post(app, "/api/refit/accept")
    return contents(path), job["difference"]


def test_a_killed_server_loses_no_refit(saved):
    change = {"kind": "merge", "topics": [0, 1]}
    expected, difference = accepted(saved, **change)
    with Server(saved) as server:
        before = server.ask("/api/edits")["version"]
        server.ask("/api/edits", version=before, **change)
        # killed at once: most likely while it is fitting
    with Server(saved) as server:
        assert server.ended()["difference"] == difference
    # killed after that: what was found is found again
    with Server(saved) as server:
        job = server.ended()
        assert (job["state"], job["what"], job["difference"]) == ("ready", "merge 0 1", difference)
        assert load(saved).version == before
        server.ask("/api/refit/accept", version=before)
    assert contents(saved) == expected
    assert pending(saved) is None
    assert not (saved / "refit").exists()


def left_behind(saved, **change):
    """A server that has found a refit, and ends."""
    app = make_app(saved, door())
    post(app, "/api/edits", version=version(app), **change)
    return waited(app)


def test_it_is_not_fitted_again(saved, monkeypatch):
    job = left_behind(saved, kind="drop", topics=[2])
    monkeypatch.setattr("laconic.explore.server.acting.refitted", lambda *a, **k: pytest.fail("fitted again"))
    again = waited(make_app(saved, door()))
    assert (again["state"], again["difference"]) == ("ready", job["difference"])


def test_a_discarded_refit_is_gone(saved):
    before = contents(saved)
    left_behind(saved, kind="split", topics=[0])
    app = make_app(saved, door())
    waited(app)
    assert post(app, "/api/refit/discard").json["state"] == "none"
    assert contents(saved) == before
    assert ask(make_app(saved, door()), "/api/refit").json["state"] == "none"


def test_a_refit_that_failed_is_not_tried_again(saved):
    assert left_behind(saved, kind="seed", words=["zeppelin"])["state"] == "failed"
    assert pending(saved) is None


def test_a_refit_of_a_model_that_changed_meanwhile_can_only_be_discarded(saved):
    left_behind(saved, kind="drop", topics=[2])
    bundle = load(saved)
    bundle.edit().rename(0, "Luna").apply().save(saved, parent=bundle.version)
    app = make_app(saved, door())
    job = waited(app)
    assert (job["state"], job["what"]) == ("failed", "drop 2")
    assert "can only be discarded" in job["message"]
    # taken back, the model is again the one that it was asked of
    history.undo(saved)
    app = make_app(saved, door())
    assert waited(app)["state"] == "ready"
    assert post(app, "/api/refit/accept").status == 200


def test_a_crash_between_accepting_and_forgetting(saved, monkeypatch):
    left_behind(saved, kind="drop", topics=[2])
    app = make_app(saved, door())
    waited(app)
    monkeypatch.setattr("laconic.explore.server.acting.forget_pending", lambda path: None)
    post(app, "/api/refit/accept")
    assert pending(saved) is not None
    monkeypatch.undo()
    app = make_app(saved, door())
    assert ask(app, "/api/refit").json["state"] == "none"
    assert pending(saved) is None
    assert load(saved).notes.retired == {2: "dropped"}


def test_nothing_changes_under_a_refit(saved):
    app = make_app(saved, door())
    post(app, "/api/edits", kind="rename", topics=[0], name="Luna", version=version(app))
    assert "/api/undo" in ask(app, "/edits").text
    post(app, "/api/edits", kind="drop", topics=[2], version=version(app))
    waited(app)
    assert "/api/undo" not in ask(app, "/edits").text
    for path, content in (
        ("/api/edits", {"kind": "rename", "topics": [1], "name": "Sol"}),
        ("/api/undo", {}),
    ):
        answer = post(app, path, version=version(app), **content)
        assert answer.status == 409
        assert "accepted or discarded" in answer.json["detail"]


def test_a_read_only_server_leaves_it_alone(saved):
    left_behind(saved, kind="drop", topics=[2])
    before = contents(saved / "refit" / "found")
    assert ask(make_app(saved, door(), read_only=True), "/").status == 200
    assert contents(saved / "refit" / "found") == before
    assert pending(saved).what == "drop 2"


@pytest.mark.parametrize("file", ["refit.json", "found/model.json", "found/components.data*"])
def test_a_damaged_refit_is_named_and_does_no_harm(saved, file):
    left_behind(saved, kind="drop", topics=[2])
    assert "with a refit to accept or discard" in check_directory(saved).facts
    (damaged,) = (saved / "refit").glob(file)
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(BundleError, match=re.escape(damaged.name)):
        check_directory(saved)
    app = make_app(saved, door())
    job = waited(app)
    assert job["state"] == "failed"
    assert damaged.name in job["message"]
    assert damaged.name in ask(app, "/edits").text
    assert ask(app, "/topics/0").status == 200
    post(app, "/api/refit/discard")
    assert not (saved / "refit").exists()


def test_what_was_asked_is_checked(saved):
    now = load(saved).version
    for asked in (
        {},
        {"kind": "melt", "topics": [], "words": [], "name": ""},
        {"kind": "drop", "topics": "1"},
    ):
        keep_asked(saved, "?", asked, now)
        job = waited(make_app(saved, door()))
        assert job["state"] == "failed"
        assert "ask again" in job["message"]
        assert pending(saved) is None


def test_a_refit_of_another_model(saved, tmp_path):
    left_behind(saved, kind="drop", topics=[2])
    KINDS["dense"]().save(tmp_path / "other")
    keep_asked(tmp_path / "other", "drop 2", pending(saved).asked, load(tmp_path / "other").version)
    shutil.copytree(saved / "refit" / "found", tmp_path / "other" / "refit" / "found")
    job = waited(make_app(tmp_path / "other", door()))
    assert "one of another model" in job["message"]


def test_pruning_leaves_it_and_it_can_be_undone(saved):
    bundle = load(saved)
    bundle.edit().rename(0, "Luna").apply().save(saved, parent=bundle.version)
    left_behind(saved, kind="drop", topics=[2])
    assert history.prune(saved) == 1
    app = make_app(saved, door())
    assert waited(app)["state"] == "ready"
    before = version(app)
    assert post(app, "/api/refit/accept").status == 200
    assert [edit["kept"] for edit in ask(app, "/api/edits").json["edits"]] == [False, True]
    assert post(app, "/api/undo", version=version(app)).json == {"version": before}


def test_a_full_disk_is_said(saved, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("laconic.explore.server.acting.keep_found", full)
    job = left_behind(saved, kind="drop", topics=[2])
    assert job["state"] == "ready"
    assert "No space left on device" in job["message"]
    forget_pending(saved)
    monkeypatch.setattr("laconic.explore.server.acting.keep_asked", full)
    app = make_app(saved, door())
    answer = post(app, "/api/edits", version=version(app), kind="drop", topics=[2])
    assert (answer.status, answer.json["detail"]) == (507, "It could not be saved: No space left on device.")
    assert ask(app, "/api/refit").json["state"] == "none"
