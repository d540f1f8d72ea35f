import json
import time

import pytest
from asking import ask, door
from explore_toys import KINDS
from test_report import Page

from laconic.bundle import load
from laconic.explore import views
from laconic.explore.server.app import make_app


@pytest.fixture
def saved(tmp_path):
    KINDS["flat"]().save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def app(saved):
    return make_app(saved, door())


def post(app, path, **content):
    return ask(app, path, "POST", json.dumps(content).encode())


def version(app):
    return ask(app, "/api/edits").json["version"]


def waited(app):
    """The refit, when it is over."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        job = ask(app, "/api/refit").json
        if job["state"] != "running":
            return job
        time.sleep(0.02)
    raise AssertionError("the refit did not end")


def test_a_name_is_changed_at_once_and_taken_back(app, saved):
    before = version(app)
    answer = post(app, "/api/edits", kind="rename", topics=[1], name="Luna & <b>", version=before)
    assert answer.status == 200
    assert load(saved).names[1] == "Luna & <b>"
    page = Page(ask(app, "/topics/1").text)
    assert "Luna & <b>" in "".join(page.text)
    assert not page.all("b") or "Luna" not in str(page.all("b"))
    assert post(app, "/api/undo", version=version(app)).status == 200
    assert version(app) == before
    assert load(saved).names[1] is None


def test_pages_that_were_kept_follow_a_change(app):
    kept = ["/", "/classes", "/time", "/near"]
    for _ in range(2):
        assert all("Luna" not in ask(app, path).text for path in kept)
    post(app, "/api/edits", kind="rename", topics=[1], name="Luna", version=version(app))
    assert all("Luna" in ask(app, path).text for path in kept)


def test_a_stale_tab_is_told_and_changes_nothing(app, saved):
    old = version(app)
    post(app, "/api/edits", kind="rename", topics=[1], name="Luna", version=old)
    for path, content in (
        ("/api/edits", {"kind": "rename", "topics": [1], "name": "Sol"}),
        ("/api/edits", {"kind": "drop", "topics": [1]}),
        ("/api/undo", {}),
    ):
        answer = post(app, path, version=old, **content)
        assert answer.status == 409
        assert "reload" in answer.json["detail"]
    assert load(saved).names[1] == "Luna"


def test_a_refit_is_seen_before_it_is_accepted(app, saved):
    before = version(app)
    assert ask(app, "/api/refit").json["state"] == "none"
    assert post(app, "/api/edits", kind="merge", topics=[0, 1], version=before).json == {"version": before}
    job = waited(app)
    assert job["state"] == "ready", job
    assert {one["id"] for one in job["difference"]["topics"]} >= {0, 1}
    assert load(saved).version == before
    assert post(app, "/api/edits", kind="drop", topics=[2], version=before).status == 409
    text = "".join(Page(ask(app, "/edits").text).text)
    assert "Before and after" in text
    assert "without words" in text
    assert post(app, "/api/refit/accept").status == 200
    assert load(saved).model.topic_sizes_[1] == 0
    assert "Merge 0 1" in ask(app, "/edits").text
    assert post(app, "/api/refit/accept").status == 409
    assert ask(app, "/topics/1").status == 200
    assert post(app, "/api/undo", version=version(app)).status == 200
    assert load(saved).version == before


def test_names_that_a_merge_would_lose_are_told_before_it_is_accepted(app):
    for topic, name in ((0, "Sol & Co"), (1, "Luna"), (2, "Terra")):
        post(app, "/api/edits", kind="rename", topics=[topic], name=name, version=version(app))
    post(app, "/api/edits", kind="merge", topics=[0, 1, 2], version=version(app))
    assert waited(app)["difference"]["lost_names"] == ["Luna", "Terra"]
    text = "".join(Page(ask(app, "/edits").text).text)
    assert "No topic will be called “Luna” or “Terra” any more" in text


def test_a_refit_can_be_discarded(app, saved):
    before = version(app)
    post(app, "/api/edits", kind="split", topics=[0], version=before)
    assert post(app, "/api/refit/discard").json["state"] == "none"
    post(app, "/api/edits", kind="split", topics=[0], version=before)
    waited(app)
    assert post(app, "/api/refit/discard").json["state"] == "none"
    assert load(saved).version == before


def test_a_refit_of_a_model_that_changed_meanwhile_is_not_accepted(app, saved):
    post(app, "/api/edits", kind="seed", words=["sun", "moon"], name="sky", version=version(app))
    waited(app)
    load(saved).rename(0, "Luna").save(saved)
    assert post(app, "/api/refit/accept").status == 409
    assert load(saved).names[0] == "Luna"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ({"kind": "rename", "topics": [9], "name": "x"}, 400),
        ({"kind": "rename", "topics": [], "name": "x"}, 400),
        ({"kind": "rename", "topics": [0], "name": "12"}, 400),
        ({"kind": "melt", "topics": [0]}, 422),
        ({"kind": "forbid", "words": ["x" * 500]}, 422),
        ({"kind": "merge", "topics": list(range(200))}, 422),
    ],
)
def test_what_cannot_be_done_is_said(app, content, status):
    answer = post(app, "/api/edits", version=version(app), **content)
    assert answer.status == status
    assert isinstance(answer.json["detail"], str)


def test_a_refit_that_fails_says_why(app):
    post(app, "/api/edits", kind="seed", words=["zeppelin"], version=version(app))
    job = waited(app)
    assert job["state"] == "failed"
    assert "'zeppelin' is not in the vocabulary" in job["message"]
    assert "is not in the vocabulary" in ask(app, "/edits").text
    post(app, "/api/edits", kind="drop", topics=[0], version=version(app))
    assert waited(app)["state"] == "ready"


def test_a_topic_is_frozen_and_thawed_at_once(app, saved):
    for kind, frozen in (("freeze", {1}), ("thaw", set())):
        assert post(app, "/api/edits", kind=kind, topics=[1], version=version(app)).status == 200
        assert load(saved).notes.frozen == frozen


def test_edits_of_the_command_line_are_in_the_same_log(app, saved):
    bundle = load(saved)
    bundle.edit().rename(0, "Luna").apply().save(saved, parent=bundle.version)
    assert [edit["what"] for edit in ask(app, "/api/edits").json["edits"]] == ["rename 0 Luna"]
    assert post(app, "/api/undo", version=version(app)).status == 200
    assert load(saved).version == bundle.version
    assert post(app, "/api/undo", version=version(app)).status == 400


@pytest.mark.parametrize("kind", ["no_documents", "multimodal", "graph", "group"])
def test_every_model_can_be_renamed(tmp_path, kind):
    KINDS[kind]().save(tmp_path / "model")
    app = make_app(tmp_path / "model", door())
    before = load(tmp_path / "model")
    assert post(app, "/api/edits", kind="rename", topics=[1], name="Luna", version=version(app)).status == 200
    after = load(tmp_path / "model")
    assert after.names[1] == "Luna"
    assert after.modalities == before.modalities
    assert (after.documents is None) == (before.documents is None)


@pytest.mark.parametrize("kind", ["no_documents", "multimodal", "graph", "group"])
def test_every_model_can_be_changed_as_far_as_its_page_offers(tmp_path, kind):
    KINDS[kind]().save(tmp_path / "model")
    app = make_app(tmp_path / "model", door())
    offered = {
        form["data-kind"] for form in Page(ask(app, "/topics/0").text).all("form") if "data-kind" in form
    }
    offered |= {
        form["data-kind"] for form in Page(ask(app, "/edits").text).all("form") if "data-kind" in form
    }
    anew = {"split", "seed"} if kind != "no_documents" else set()
    assert offered == {"rename", "merge", "forbid", "freeze", "drop", *anew}
    for change in (
        {"kind": "split", "topics": [0]},
        {"kind": "seed", "words": ["moon"], "name": "night"},
        {"kind": "forbid", "words": ["moon"]},
        {"kind": "drop", "topics": [2]},
        {"kind": "merge", "topics": [0, 1]},
    ):
        before = version(app)
        post(app, "/api/edits", version=before, **change)
        job = waited(app)
        if change["kind"] not in offered:
            assert "saved without its documents" in job["message"]
        else:
            assert job["state"] == "ready", job
            assert post(app, "/api/refit/accept").status == 200
            post(app, "/api/undo", version=version(app))
        assert version(app) == before


def test_read_only_has_nothing_to_act_with(saved):
    app = make_app(saved, door(), read_only=True)
    page = ask(app, "/topics/0").text
    assert "act.js" not in page
    assert "Change this topic" not in page
    assert ask(app, "/edits").status == 404
    assert ask(app, "/api/edits").status == 404
    now = load(saved).version
    assert post(app, "/api/edits", kind="rename", topics=[0], name="x", version=now).status == 403
    assert load(saved).names[0] is None


def test_the_difference_of_a_model_and_itself_is_nothing():
    found = views.difference(KINDS["flat"](), KINDS["flat"]())
    assert (found.topics, found.n_same, found.lost_names) == ([], 4, [])
