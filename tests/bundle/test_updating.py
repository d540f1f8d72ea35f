"""New documents for a model that is there: old topics stay, new words join, new topics are free."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import laconic
from laconic.bundle.history import undo
from laconic.errors import BundleError, CorpusError, ParameterError

OLD = {"food": "salt pepper bread cheese wine olives", "sky": "sun moon star cloud rain wind"}
NEW = {"sea": "ship harbour sail anchor captain salt"}


def texts(subjects, n, seed):
    random = np.random.default_rng(seed)
    words = [each.split() for each in subjects.values()]
    return [" ".join(random.choice(words[i % len(words)], 6)) for i in range(n)]


@pytest.fixture(scope="module")
def old_texts():
    return texts(OLD, 60, 0)


@pytest.fixture(scope="module")
def new_texts():
    return texts({**OLD, **NEW}, 30, 1)


def fit(given, **options):
    return laconic.fit(given, n_topics=2, min_df=1, max_df=1.0, **options)


def tops(bundle, n_terms=4):
    return [{word for word, _ in topic} for topic in bundle.topic_words(n_terms=n_terms)]


@pytest.mark.parametrize("model", ["rlsi", "nmf", "plsa", "nmf-kl"])
@pytest.mark.parametrize("freeze", [False, True])
def test_old_topics_stay_and_new_ones_are_for_what_is_new(old_texts, new_texts, model, freeze):
    bundle = fit(old_texts, model=model).rename(1, "second")
    before = bundle.model.components_.copy()
    newer = bundle.update(new_texts, new_topics=1, freeze=freeze)
    assert newer.names == [None, "second", None]
    assert newer.model.n_components == 3
    assert tops(newer)[2] <= set(NEW["sea"].split())
    for k in range(2):
        assert any(tops(newer)[k] <= set(words.split()) for words in OLD.values())
        assert tops(bundle)[k] & tops(newer)[k]
    # words keep their columns
    n_old = len(bundle.vocabulary)
    assert list(newer.vocabulary[:n_old]) == list(bundle.vocabulary)
    assert set(newer.vocabulary[n_old:]) == set(NEW["sea"].split()) - {"salt"}
    if freeze:
        after = newer.model.components_[:2][:, :n_old]
        assert abs(after - before).max() == 0
    # what was there is as it was
    assert abs(bundle.model.components_ - before).max() == 0
    assert bundle.model.n_components == 2


def test_documents_are_both_and_no_id_is_lost(old_texts, new_texts):
    bundle = fit(old_texts, labels=["old"] * 60)
    newer = bundle.update(new_texts, new_topics=1, labels=["new"] * 30)
    assert len(newer.documents) == 90
    assert len(set(newer.documents.ids)) == 90
    assert newer.documents.ids[60] == "0~2"
    assert newer.documents.labels[0] == "old"
    assert newer.documents.labels[89] == "new"
    assert newer.documents.weights.shape == (90, 3)
    assert newer.search("harbour").ids
    again = newer.update(new_texts)
    assert len(set(again.documents.ids)) == 120
    assert again.model.n_components == 3


def test_labels_and_dates_are_kept_where_only_some_documents_have_them(old_texts, new_texts, caplog):
    days = [f"2025-0{1 + n % 9}-01" for n in range(60)]
    bundle = fit(old_texts, labels=["old"] * 60, dates=days)
    newer = bundle.update(new_texts)
    assert (newer.documents.dates[:60] == bundle.documents.dates).all()
    assert np.isnat(newer.documents.dates[60:]).all()
    assert list(newer.documents.labels) == ["old"] * 60 + ["unknown"] * 30
    told = " ".join(record.getMessage() for record in caplog.records)
    assert "no dates" in told
    assert "theirs is 'unknown'" in told
    # and the other way round
    caplog.clear()
    later = fit(old_texts).update(new_texts, labels=["new"] * 30, dates=["2026"] * 30)
    assert np.isnat(later.documents.dates[:60]).all()
    assert not np.isnat(later.documents.dates[60:]).any()
    assert set(later.documents.labels[:60]) == {"unknown"}
    plain = fit(old_texts).update(new_texts).documents
    assert plain.labels is plain.dates is None
    assert not caplog.records


def test_topics_of_an_updated_model_are_followed_through_time(old_texts, new_texts, tmp_path, laconic):
    fit(old_texts, dates=[f"{2024 + n % 2}" for n in range(60)]).save(tmp_path / "model")
    (tmp_path / "new.txt").write_text("\n".join(new_texts))
    assert "no dates" in " ".join(laconic("update", tmp_path / "model", tmp_path / "new.txt").stderr.split())
    assert "2025" in laconic("drift", tmp_path / "model").stdout


def test_a_model_without_documents_stays_without(old_texts, new_texts):
    newer = fit(old_texts, keep_documents=False).update(new_texts, new_topics=1)
    assert newer.documents is None
    assert newer.model.components_.shape[0] == 3


def test_updates_are_saved_and_seeds_survive(old_texts, new_texts, tmp_path):
    bundle = fit(old_texts, seeds={"kitchen": {"words": ["salt"], "avoid": ["rain"]}})
    newer = bundle.update(new_texts, new_topics=1)
    assert newer.model.anchors == bundle.model.anchors.grown(3, len(newer.vocabulary))
    assert "rain" not in dict(newer.topic_words(n_terms=None)[0])
    newer.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model")
    assert loaded.names == ["kitchen", None, None]
    np.testing.assert_array_equal(loaded.transform(["ship"]).toarray(), newer.transform(["ship"]).toarray())


def test_an_update_is_in_the_log_and_can_be_taken_back(old_texts, new_texts, tmp_path):
    fit(old_texts).save(tmp_path / "m")
    bundle = laconic.load(tmp_path / "m")
    bundle.update(new_texts, new_topics=1).save(tmp_path / "m", parent=bundle.version)
    newer = laconic.load(tmp_path / "m")
    assert newer.history.log[-1].did == ("update with 30 documents",)
    assert len(newer.documents) == 90
    assert undo(tmp_path / "m") == bundle.version
    again = laconic.load(tmp_path / "m")
    assert len(again.documents) == 60
    assert abs(again.model.components_ - bundle.model.components_).max() == 0
    # somebody else has updated it meanwhile
    with pytest.raises(BundleError, match="by now"):
        newer.save(tmp_path / "m", parent=newer.version)


def test_a_few_documents_without_a_new_word_will_do(old_texts):
    newer = fit(old_texts).update(["salt and pepper"])
    assert len(newer.documents) == 61
    assert newer.model.n_components == 2


def test_edits_last(old_texts, new_texts):
    bundle = fit(old_texts)
    edited = bundle.edit().forbid(["wind"]).freeze(1).apply()
    newer = edited.update(new_texts, new_topics=1)
    assert not any("wind" in dict(topic) for topic in newer.topic_words(n_terms=None))
    assert newer.notes.frozen == edited.notes.frozen
    n_old = len(edited.vocabulary)
    assert abs(newer.model.components_[[1]][:, :n_old] - edited.model.components_[[1]]).max() == 0


@pytest.mark.parametrize("model", ["rlsi", "plsa"])
def test_topics_that_were_dropped_stay_away_and_numbers_stay(old_texts, new_texts, model, tmp_path):
    edited = fit(old_texts, model=model).rename(1, "kept").edit().drop(0).freeze(1).apply()
    newer = edited.update(new_texts, new_topics=1)
    assert newer.model.components_.shape[0] == 3
    assert newer.notes.living == [1, 2]
    assert newer.names == [None, "kept", None]
    components = csr_array(newer.model.components_)
    assert components[[0]].nnz == 0
    assert abs(components[[1]][:, : len(edited.vocabulary)] - edited.model.components_[[1]]).max() == 0
    assert not csr_array(newer.documents.weights)[:, [0]].nnz
    assert csr_array(newer.documents.weights)[:, [2]].nnz
    newer.save(tmp_path / "model")
    assert laconic.load(tmp_path / "model").update(new_texts).notes.living == [1, 2]


def test_what_cannot_be_updated_says_so(old_texts, new_texts):
    with pytest.raises(ParameterError, match="SparseLSA cannot be updated"):
        fit(old_texts, model="sparse-lsa").update(new_texts)
    with pytest.raises(ParameterError, match="GraphPLSA cannot be updated"):
        fit(old_texts, model="graph-plsa").update(new_texts)
    groups = laconic.fit(
        old_texts, model="group-nmf", n_shared=1, n_per_class=1, labels=["a", "b"] * 30, min_df=1, max_df=1.0
    )
    with pytest.raises(ParameterError, match="GroupNMF is a group model"):
        groups.update(new_texts)
    with pytest.raises(ParameterError, match="without a vocabulary"):
        laconic.Bundle(laconic.NMF(2).fit(np.eye(4))).update(new_texts)
    with pytest.raises(ValueError, match="new_topics"):
        fit(old_texts).update(new_texts, new_topics=-1)
    with pytest.raises(CorpusError):
        fit(old_texts).update("nowhere.txt")


def test_the_command_line_replaces_the_model_or_writes_another(old_texts, new_texts, tmp_path, laconic):
    import laconic as library

    fit(old_texts).rename(0, "first").save(tmp_path / "model")
    (tmp_path / "new.txt").write_text("\n".join(new_texts))
    found = laconic(
        "update", tmp_path / "model", tmp_path / "new.txt", "--new-topics", 1, "-o", tmp_path / "other"
    )
    assert "5 new words, 1 new topic" in found.stderr
    assert library.load(tmp_path / "model").model.n_components == 2
    assert library.load(tmp_path / "other").names == ["first", None, None]
    laconic("update", tmp_path / "model", tmp_path / "new.txt", "--freeze")
    assert len(library.load(tmp_path / "model").documents) == 90
    assert "harbour" in set(library.load(tmp_path / "model").vocabulary)
