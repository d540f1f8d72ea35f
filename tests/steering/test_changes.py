import numpy as np
import pytest
from explore_toys import KINDS
from scipy.sparse import issparse

import laconic
from laconic.bundle import load
from laconic.bundle.versions import StaleError, edits, save_version, undo, version_of
from laconic.errors import BundleError, InputError
from laconic.steering.changes import Change, changed


def topics(bundle):
    found = bundle.model.components_
    return np.asarray(found.toarray() if issparse(found) else found)


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


@pytest.fixture
def saved(tmp_path):
    KINDS["flat"]().save(tmp_path / "model")
    return tmp_path / "model"


def words(bundle, topic):
    return {word for word, _ in bundle.topic_words(None)[topic]}


@pytest.mark.parametrize("kind", ["flat", "dense", "signed"])
def test_merged_topics_are_one_and_the_others_stay(kind):
    before = KINDS[kind]()
    after = changed(before, Change("merge", (0, 2)))
    old, new = topics(before), topics(after)
    assert new.shape == old.shape
    assert not new[2].any()
    assert cosine(new[1], old[1]) > 0.95
    if kind == "flat":
        assert words(after, 0) <= words(before, 0) | words(before, 2)
        assert words(after, 0) & words(before, 2)
    assert not np.asarray(after.documents.weights[:, [2]].sum()).any()


def test_a_split_topic_is_two():
    before = KINDS["flat"]()
    after = changed(before.rename(2, None), Change("split", (2,)))
    assert topics(after).shape[0] == 5
    assert words(after, 2)
    assert words(after, 4)
    assert cosine(topics(after)[2], topics(after)[4]) < 0.7
    for topic in (0, 1):
        assert cosine(topics(after)[topic], topics(before)[topic]) > 0.95


def test_a_seeded_topic_has_its_words_and_name():
    after = changed(KINDS["flat"](), Change("seed", (), ("sun", "Moon"), "sky"))
    assert after.names == [None, None, None, None, "sky"]
    assert {"sun", "moon"} <= words(after, 4)


def test_a_dropped_topic_has_no_words_and_its_number_stays():
    after = changed(KINDS["flat"](), Change("drop", (1,)))
    assert after.model.topic_sizes_[1] == 0
    assert after.model.n_alive_ == 3


def test_forbidden_words_stay_so_after_other_changes():
    once = changed(KINDS["flat"](), Change("forbid", (), ("butter",)))
    assert not any("butter" in words(once, topic) for topic in range(4))
    twice = changed(once, Change("merge", (0, 1)))
    assert not any("butter" in words(twice, topic) for topic in range(4))
    alone = changed(KINDS["flat"](), Change("forbid", (3,), ("butter",)))
    assert "butter" not in words(alone, 3)


def test_a_frozen_topic_stays_to_the_bit():
    before = changed(KINDS["flat"](), Change("freeze", (1,)))
    after = changed(before, Change("drop", (3,)))
    np.testing.assert_allclose(topics(after)[1], topics(before)[1], rtol=1e-6)


@pytest.mark.parametrize("change", [Change("freeze", (1,)), Change("forbid", (), ("butter",))])
def test_topics_of_classes_keep_their_owners(change):
    before = KINDS["group"]()
    after = changed(before, change)
    assert after.model.topic_owners == before.model.topic_owners
    if change.kind == "forbid":
        assert not any("butter" in words(after, topic) for topic in range(8))


def test_a_changed_model_can_be_saved_and_changed_again(saved):
    bundle = load(saved)
    for change in (Change("merge", (0, 1)), Change("split", (2,)), Change("rename", (2,), (), "Reef")):
        save_version(changed(bundle, change), saved, str(change), parent=version_of(saved))
        bundle = load(saved)
    assert bundle.model.components_.shape[0] == 5
    assert bundle.names[2] == "Reef"
    assert [edit.what for edit in edits(saved)] == [
        "topics 0 and 1 merged",
        "topic 2 split",
        "topic 2 is called 'Reef'",
    ]


def test_every_change_can_be_taken_back(saved):
    versions = [version_of(saved)]
    for change in (Change("rename", (0,), (), "Luna"), Change("drop", (3,))):
        found = changed(load(saved), change)
        versions.append(save_version(found, saved, str(change), parent=versions[-1]))
    first = topics(load(saved / "versions" / versions[0]))
    while len(versions) > 1:
        undo(saved, parent=versions.pop())
        assert version_of(saved) == versions[-1]
    assert edits(saved) == []
    np.testing.assert_array_equal(topics(load(saved)), first)
    with pytest.raises(BundleError, match="no change to take back"):
        undo(saved, parent=versions[0])


def test_who_is_out_of_date_is_told(saved):
    old = version_of(saved)
    save_version(load(saved).rename(0, "Luna"), saved, "a", parent=old)
    with pytest.raises(StaleError, match="changed by somebody else"):
        save_version(load(saved).rename(0, "Sol"), saved, "b", parent=old)
    with pytest.raises(StaleError):
        undo(saved, parent=old)
    assert load(saved).names[0] == "Luna"


@pytest.mark.parametrize("when", ["kept", "saved"])
def test_a_crash_leaves_the_model_before_or_after(saved, monkeypatch, when):
    from laconic.bundle import versions

    def fail(*args, **kwargs):
        raise OSError("no space left")

    before = version_of(saved)
    if when == "kept":
        monkeypatch.setattr(versions.os, "link", fail)
        monkeypatch.setattr(versions.shutil, "copy2", fail)
    else:
        monkeypatch.setattr(laconic.Bundle, "save", fail)
    with pytest.raises(OSError, match="no space"):
        save_version(load(saved).rename(0, "Luna"), saved, "a", parent=before)
    monkeypatch.undo()
    assert version_of(saved) == before
    assert load(saved).names[0] is None
    save_version(load(saved).rename(0, "Luna"), saved, "a", parent=before)
    assert load(saved).names[0] == "Luna"


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("flat", Change("merge", (1, 1)), "name 2 topics"),
        ("flat", Change("merge", (1, 9)), "there is no topic 9"),
        ("flat", Change("seed", (), ("zeppelin",)), "'zeppelin' is not in the vocabulary"),
        ("flat", Change("seed"), "name some words"),
        ("flat", Change("melt"), "there is no change 'melt'"),
        ("no_documents", Change("drop", (0,)), "needs its documents"),
        ("multimodal", Change("drop", (0,)), "several modalities"),
        ("graph", Change("freeze", (0,)), "of links"),
        ("group", Change("merge", (0, 1)), "not yet merge"),
    ],
)
def test_what_cannot_be_done_is_said(kind, change, message):
    with pytest.raises(InputError, match=message):
        changed(KINDS[kind](), change)


@pytest.mark.parametrize("kind", ["no_documents", "multimodal", "graph", "group"])
def test_every_model_can_have_names(kind):
    before = KINDS[kind]()
    after = changed(before, Change("rename", (1,), (), "Luna"))
    assert after.names[1] == "Luna"
    assert before.names[1] is None
