"""Topics edited by hand: numbers stay, the rest stays, versions come back."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array

import laconic
from laconic import Bundle, BundleError, load
from laconic.bundle.documents import Documents
from laconic.bundle.history import prune, undo
from laconic.errors import ParameterError
from stored_files import Stopped, contents, edit, stop_at

WORDS = [[f"w{k}x{j}" for j in range(12)] for k in range(4)]


def texts():
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS[n % 4], 25)) + " common" for n in range(80)]


@pytest.fixture(scope="module")
def _fitted():
    return laconic.fit(texts(), n_topics=4, words=10, max_df=1.0)


@pytest.fixture
def bundle(_fitted):
    return Bundle(_fitted.model, documents=_fitted.documents)


def rows(bundle):
    return csr_array(bundle.model.components_).toarray()


def owner(bundle, topic):
    """Whose words a topic has."""
    return {word.split("x")[0] for word, _ in bundle.topic_words(8)[topic] if word != "common"}


def test_merge_keeps_the_others_to_the_bit(bundle):
    before = rows(bundle)
    edited = bundle.rename(1, "one").edit().merge(1, 3).apply()
    np.testing.assert_array_equal(rows(edited)[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(rows(edited)[3], 0)
    assert edited.names == [None, "one", None, None]
    assert edited.notes.retired == {3: "merged into 1"}
    # documents of both have the topic now
    both = np.isin(bundle.documents.weights.argmax(axis=1), (1, 3)).ravel()
    np.testing.assert_array_equal(np.asarray(edited.documents.weights.argmax(axis=1)).ravel()[both], 1)
    assert list(edited.topics()["topic"]) == [0, 1, 2]
    np.testing.assert_array_equal(rows(bundle), before)
    with pytest.raises(ParameterError, match="merged into 1"):
        edited.rename(3, "again")
    with pytest.raises(ParameterError, match="merged into 1"):
        edited.edit().drop(3)


def uneven(bundle):
    """The same with twice as much of topic 0, and a tenth of topic 1."""
    documents = bundle.documents
    weights = csr_array(documents.weights @ diags_array([2.0, 0.1, 1.0, 1.0]))
    return Bundle(bundle.model, documents=Documents(documents.corpora, {"": weights}))


@pytest.mark.parametrize(
    ("names", "merged", "found", "lost"),
    [
        ({0: "big", 1: "small"}, (1, 0), "small", "'big' is gone: topic 0 was merged into 1"),
        ({1: "small"}, (0, 1), None, "'small' is gone: topic 1 was merged into 0"),
        ({0: "big"}, (1, 0), "big", ""),
        ({}, (1, 0), None, ""),
    ],
)
def test_a_small_topic_does_not_name_what_it_is_merged_into(bundle, caplog, names, merged, found, lost):
    bundle = uneven(bundle)
    for topic, name in names.items():
        bundle = bundle.rename(topic, name)
    edited = bundle.edit().merge(*merged).apply()
    assert edited.names[merged[0]] == found
    assert [name for name in edited.names if name is not None] == [found] * (found is not None)
    assert [record.getMessage() for record in caplog.records] == [f"the name {lost}"] * bool(lost)


def test_reduced_topics_have_the_names_of_the_heaviest(bundle, caplog):
    bundle = uneven(bundle)
    assert bundle.rename(1, "small").edit().reduce(1).apply().names == [None] * 4
    assert "'small' is gone" in caplog.text
    assert bundle.rename(0, "big").edit().reduce(1).apply().names[0] == "big"
    caplog.clear()
    bundle.edit().rename(1, "just now").reduce(1).apply()
    assert "'just now' is gone" in caplog.text
    # a name that was given again is not lost
    caplog.clear()
    bundle.rename(1, "small").edit().merge(0, 1).rename(0, "small").apply()
    assert not caplog.records


def test_split_gives_the_parts_back(bundle):
    merged = bundle.edit().merge(1, 3).apply()
    assert len(owner(merged, 1)) == 2
    parted = merged.edit().split(1).apply()
    assert parted.model.components_.shape[0] == 5
    assert {frozenset(owner(parted, k)) for k in (1, 4)} == {frozenset(owner(bundle, k)) for k in (1, 3)}
    np.testing.assert_array_equal(rows(parted)[[0, 2]], rows(bundle)[[0, 2]])
    assert parted.notes.living == [0, 1, 2, 4]
    assert [entry.did for entry in parted.history.log] == [("merge 1 3",), ("split 1",)]


def test_drop_forbid_seed_freeze_and_rename(bundle):
    before = rows(bundle)
    edited = bundle.edit().drop(2).rename(0, "first").freeze("first").apply()
    np.testing.assert_array_equal(rows(edited)[[0, 1, 3]], before[[0, 1, 3]])
    assert not np.asarray(csr_array(edited.documents.weights).toarray()[:, 2]).any()
    with pytest.raises(ParameterError, match="frozen: thaw"):
        edited.edit().merge(1, 0)
    word = edited.topic_words(1)[1][0][0]
    without = edited.edit().forbid([word], 1).apply()
    assert word not in dict(without.topic_words(None)[1])
    again = without.edit().split(1).apply()
    assert word not in dict(again.topic_words(None)[1])
    gone = next(iter(owner(bundle, 2)))
    seeded = edited.edit().seed([f"{gone}x1", f"{gone}x2"], name="back").apply()
    assert seeded.names[4] == "back"
    assert owner(seeded, 4) == {gone}
    np.testing.assert_array_equal(rows(seeded)[[0, 1, 3]], before[[0, 1, 3]])


@pytest.mark.parametrize("kind", ["nmf", "plsa", "nmf-kl"])
def test_other_models(kind, tmp_path):
    made = laconic.fit(texts(), n_topics=4, model=kind, max_df=1.0, max_iter=30, tol=1e-3)
    before = rows(made)
    edited = made.edit().merge(0, 1).forbid("common").apply()
    assert edited.model.topic_sizes_.tolist()[1] == 0
    made.save(tmp_path)
    made.edit().drop(1).apply().save(tmp_path, parent=made.version)
    found = load(tmp_path)
    np.testing.assert_array_equal(rows(found)[[0, 2, 3]], before[[0, 2, 3]])
    assert found.transform([" ".join(WORDS[0])]).shape == (1, 4)


def test_anchored_topics_may_follow(bundle):
    edited = bundle.edit().merge(1, 3).apply(keep="anchored")
    for topic in (0, 2):
        cosine = rows(edited)[topic] @ rows(bundle)[topic]
        assert 0.9 < cosine <= 1 + 1e-6
    with pytest.raises(ParameterError, match="keep"):
        bundle.edit().drop(1).apply(keep="somehow")


def test_without_documents_rows_are_merged_as_they_are(bundle):
    alone = Bundle(bundle.model, bundle.vectorizer)
    edited = alone.edit().merge(0, 1).apply()
    assert edited.documents is None
    assert len(owner(edited, 0)) == 2
    for step in (lambda e: e.split(0), lambda e: e.seed(["common"])):
        with pytest.raises(ParameterError, match="without its documents"):
            step(alone.edit())


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (lambda e: e.merge(1), "two topics or more"),
        (lambda e: e.merge(1, 1), "two topics or more"),
        (lambda e: e.merge(1, 9), "no topic 9"),
        (lambda e: e.drop(), "name a topic"),
        (lambda e: e.drop(0, 1, 2, 3), "at least one topic must stay"),
        (lambda e: e.split(0, 1), "two or more"),
        (lambda e: e.split(0, 60), "too few"),
        (lambda e: e.split(True), "no topic True"),
        (lambda e: e.forbid(["nowhere"]), "not in the vocabulary"),
        (lambda e: e.forbid([]), "name words"),
        (lambda e: e.forbid([w for row in WORDS for w in row] + ["common"], 0), "no words left"),
        (lambda e: e.seed([]), "name words"),
        (lambda e: e.freeze(), "name a topic"),
        (lambda e: e.rename("nobody", "x"), "no topic 'nobody'"),
    ],
)
def test_what_makes_no_sense_is_refused(bundle, step, why):
    with pytest.raises(ParameterError, match=why):
        step(bundle.edit())


def test_a_model_that_is_turned_as_a_whole_is_not_edited():
    bundle = laconic.fit(texts(), n_topics=2, model="sparse-lsa", max_df=1.0)
    for step in (
        lambda editing: editing.merge(0, 1),
        lambda editing: editing.split(0),
        lambda editing: editing.drop(0),
        lambda editing: editing.forbid(["sun"]),
        lambda editing: editing.seed(["sun"]),
        lambda editing: editing.freeze(0),
    ):
        with pytest.raises(ParameterError, match=r"orthonormal basis.*can be renamed, but not edited"):
            step(bundle.edit())
    assert bundle.edit().rename(0, "Luna").apply().names[0] == "Luna"


def test_words_may_be_written_as_in_a_text(bundle):
    word = str(bundle.vocabulary[0])
    edited = bundle.edit().forbid([word.upper()]).apply()
    assert edited.notes.forbidden == ((None, word),)


# --- versions ------------------------------------------------------------------------------


def test_undo_is_exact_and_goes_all_the_way_back(bundle, tmp_path):
    bundle.save(tmp_path)
    stages = [contents(tmp_path)]
    for step in (lambda e: e.merge(1, 3), lambda e: e.drop(0), lambda e: e.rename(2, "two")):
        now = load(tmp_path)
        step(now.edit()).apply().save(tmp_path, parent=now.version)
        stages.append(contents(tmp_path))
    done = [entry.did for entry in load(tmp_path).history.log]
    assert done == [("merge 1 3",), ("drop 0",), ("rename 2 two",)]
    assert len(load(tmp_path).history.kept) == 3
    for stage in reversed(stages[:-1]):
        undo(tmp_path)
        assert contents(tmp_path) == stage
    with pytest.raises(BundleError, match="nothing to undo"):
        undo(tmp_path)


def test_a_stale_writer_is_refused_by_name(bundle, tmp_path):
    bundle.save(tmp_path)
    mine, yours = load(tmp_path), load(tmp_path)
    yours.edit().drop(0).apply().save(tmp_path, parent=yours.version)
    before = contents(tmp_path)
    with pytest.raises(BundleError, match=f"based on version {mine.version}"):
        mine.edit().drop(1).apply().save(tmp_path, parent=mine.version)
    with pytest.raises(BundleError, match=f"not {mine.version}"):
        undo(tmp_path, parent=mine.version)
    assert contents(tmp_path) == before


def test_prune_removes_all_but_what_is_needed(bundle, tmp_path):
    bundle.save(tmp_path)
    edited = bundle.edit().merge(1, 3).apply()
    edited.save(tmp_path, parent=bundle.version)
    assert prune(tmp_path) == 1
    found = load(tmp_path)
    assert found.history.kept == ()
    assert found.history.log == edited.history.log
    listed = json.loads((tmp_path / "model.json").read_text())["files"]
    assert {path.name for path in tmp_path.iterdir()} == {"model.json", *listed}
    np.testing.assert_array_equal(rows(found), rows(edited))
    assert prune(tmp_path) == 0


def test_notes_that_are_saved_leave_versions_alone_and_another_model_takes_them_away(bundle, tmp_path):
    bundle.save(tmp_path)
    bundle.edit().drop(0).apply().save(tmp_path, parent=bundle.version)
    now = load(tmp_path)
    now.rename(1, "one").save(tmp_path, parent=now.version)
    assert len(load(tmp_path).history.kept) == 1
    undo(tmp_path)
    assert load(tmp_path).notes.retired == {}
    now = load(tmp_path)
    now.edit().drop(0).apply().save(tmp_path, parent=now.version)
    bundle.save(tmp_path)
    listed = json.loads((tmp_path / "model.json").read_text())["files"]
    assert {path.name for path in tmp_path.iterdir()} == {"model.json", *listed}


def test_a_crash_at_any_step_leaves_a_version_that_can_be_undone(bundle, tmp_path, monkeypatch):
    bundle.save(tmp_path)
    one = load(tmp_path)
    edited = one.edit().drop(0).apply()
    edited.save(tmp_path, parent=one.version)
    two = load(tmp_path)
    again = two.edit().drop(1).apply()
    version, finished = two.version, False
    for step in range(1, 200):
        with monkeypatch.context() as patch:
            stop_at(patch, step, Stopped())
            try:
                again.save(tmp_path, parent=version)
                finished = True
            except Stopped:
                pass
        found = load(tmp_path)
        assert found.history.log in (two.history.log, again.history.log)
        if found.version != version:
            break
    assert finished or found.version != version
    assert undo(tmp_path) == version
    undo(tmp_path)
    np.testing.assert_array_equal(rows(load(tmp_path)), rows(bundle))


@pytest.mark.parametrize(
    "history",
    [
        [],
        {"log": [], "kept": 3},
        {"log": [{"did": "x", "parent": ""}], "kept": []},
        {"log": [{"did": [1], "parent": ""}], "kept": []},
        {"log": [], "kept": [{"version": "1", "file": "components.data-0.npy"}]},
    ],
)
def test_a_history_that_is_none_is_refused(bundle, tmp_path, history):
    bundle.save(tmp_path)
    edit(tmp_path, lambda document: document.update(history=history))
    with pytest.raises(BundleError, match="history"):
        load(tmp_path)


@pytest.mark.parametrize(
    "topics",
    [
        {"retired": {"9": "dropped"}},
        {"retired": {"0": 1}},
        {"frozen": [9]},
        {"frozen": ["0"]},
        {"forbidden": [["x", "y"]]},
        {"forbidden": [[0]]},
    ],
)
def test_notes_of_edits_are_checked(bundle, tmp_path, topics):
    bundle.save(tmp_path)
    edit(tmp_path, lambda document: document.update(topics=topics))
    with pytest.raises(BundleError, match="edited topics"):
        load(tmp_path)
