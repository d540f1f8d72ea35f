"""Documents in a bundle: kept once, saved with the model, read when they are used."""

from pathlib import Path

import numpy as np
import pytest

import laconic
from laconic import BundleError, Corpus, Documents
from laconic.bundle import documents as module
from laconic.corpus.texts import TextKeeper, Texts
from stored_files import contents, edit

TEXTS = [
    "the sun and the moon",
    "moon and stars",
    "stars, sun, sun",
    "salt and pepper",
    "pepper, chilli",
    "chilli & salt <b>",
]
LABELS = ["sky"] * 3 + ["food"] * 3
DATES = ["2026-11-16", "2025", None, "2024-02", "2024-02-29T12:30", "2020-01-01"]


def fitted(**options):
    return laconic.fit(TEXTS, 2, labels=LABELS, dates=DATES, ids=list("abcdef"), **options)


@pytest.fixture
def bundle():
    return fitted()


@pytest.fixture
def saved(bundle, tmp_path):
    bundle.save(tmp_path / "model")
    return tmp_path / "model"


def equal(one, other):
    assert one.ids.tolist() == other.ids.tolist()
    assert one.labels.tolist() == other.labels.tolist()
    np.testing.assert_array_equal(one.dates, other.dates)
    assert list(one.texts) == list(other.texts)
    assert one.counts.toarray().tobytes() == other.counts.toarray().tobytes()
    assert one.weights.toarray().tobytes() == other.weights.toarray().tobytes()


def test_what_is_saved_comes_back(bundle, saved):
    loaded = laconic.load(saved)
    equal(loaded.documents, bundle.documents)
    assert loaded.search("moon") == bundle.search("moon")
    assert loaded.documents.dates[0] == np.datetime64("2026-11-16", "s")
    assert np.isnat(loaded.documents.dates[2])
    for verify in (True, False):
        equal(laconic.load(saved, verify=verify).documents, bundle.documents)


def test_the_weights_are_those_of_the_model(bundle):
    corpus = bundle.documents.corpus()
    found = bundle.model.transform(corpus.X).toarray()
    np.testing.assert_array_equal(bundle.documents.weights.toarray(), found)


def test_documents_are_read_when_they_are_used(saved, monkeypatch):
    monkeypatch.setattr(module, "restore_documents", None)
    loaded = laconic.load(saved)
    assert len(loaded.topic_words()) == 2
    with pytest.raises(TypeError):
        _ = loaded.documents


def test_a_loaded_bundle_outlives_its_directory(bundle, saved):
    loaded = laconic.load(saved)
    for path in saved.iterdir():
        path.unlink()
    equal(loaded.documents, bundle.documents)


def test_a_loaded_bundle_can_be_saved_over_itself(bundle, saved):
    before = contents(saved)
    laconic.load(saved).save(saved)
    assert contents(saved) == before
    loaded = laconic.load(saved)
    fitted(n_jobs=1, words=1).save(saved)
    equal(loaded.documents, bundle.documents)


def test_files_are_mapped_and_read_only(saved):
    found = laconic.load(saved).documents
    for array in (found.counts.data, found.weights.data, found.texts.content, found.dates):
        assert not array.flags.writeable


def test_every_damaged_file_is_named(saved):
    for name, content in contents(saved).items():
        if not name.startswith("documents."):
            continue
        (saved / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        loaded = laconic.load(saved)
        with pytest.raises(BundleError, match=name):
            _ = loaded.documents
        (saved / name).write_bytes(content[:-1])
        with pytest.raises(BundleError, match=name):
            laconic.load(saved)
        (saved / name).write_bytes(content)
    assert laconic.load(saved).documents is not None


def one(document):
    return document["documents"]["modalities"][""]


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(documents=[]),
        lambda document: document.update(documents={"modalities": {}}),
        lambda document: document["documents"]["modalities"].update(de=one(document)),
        lambda document: one(document).pop("weights"),
        lambda document: one(document).update(weights=None),
        lambda document: one(document).update(weights={"array": one(document)["dates"]}),
        lambda document: one(document).update(dates=one(document)["texts"]["starts"]),
        lambda document: one(document).update(dates=one(document)["ids"]),
        lambda document: one(document).update(texts=one(document)["ids"]),
        lambda document: one(document)["texts"].update(starts=one(document)["dates"]),
        lambda document: one(document)["texts"].update(content=one(document)["texts"]["starts"]),
        lambda document: one(document).update(labels=one(document)["dates"]),
        lambda document: one(document).pop("counts"),
        lambda document: one(document).update(numbers=None),
    ],
)
def test_forged_documents_are_refused(saved, change):
    edit(saved, change)
    with pytest.raises(BundleError):
        _ = laconic.load(saved).documents


def test_what_is_not_wanted_is_not_kept(tmp_path):
    assert fitted(keep_documents=False).documents is None
    bare = fitted(keep_texts=False)
    assert bare.documents.texts is None
    assert bare.search("moon")[0].snippet is None
    bare.save(tmp_path)
    assert laconic.load(tmp_path).documents.texts is None
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("documents.texts")]
    with pytest.raises(ValueError, match="this bundle has no documents"):
        fitted(keep_documents=False).documents_of(0)


def test_links_are_kept_once(tmp_path):
    bundle = laconic.fit(TEXTS, 2, model="graph-plsa", graph=[[0, 3]], min_df=1)
    assert bundle.documents.weights is bundle.model.weights_
    bundle.save(tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("documents.weights")]
    loaded = laconic.load(tmp_path)
    np.testing.assert_array_equal(loaded.documents.weights, bundle.model.weights_)


def test_classes_are_those_of_the_labels(tmp_path):
    bundle = laconic.fit(TEXTS, model="group-rlsi", labels=LABELS, n_shared=1, n_per_class=1)
    corpus = bundle.documents.corpus()
    expected = bundle.model.transform(corpus.X, LABELS)
    np.testing.assert_array_equal(bundle.documents.weights.toarray(), expected.toarray())
    bundle.save(tmp_path)
    assert laconic.load(tmp_path).search("moon") == bundle.search("moon")


def test_modalities_are_kept(tmp_path):
    german = ["Sonne und Mond", "Mond und Sterne", "Sterne, Sonne", "Salz, Pfeffer", "Pfeffer, Chili", ""]
    bundle = laconic.fit(
        {"en": TEXTS, "de": german}, 2, model="multimodal-plsa", min_df=1, stop_words=["und", "and", "the"]
    )
    bundle.save(tmp_path)
    loaded = laconic.load(tmp_path)
    assert list(loaded.documents.corpora) == ["en", "de"]
    assert loaded.documents.corpus("de").texts[0] == german[0]
    np.testing.assert_array_equal(loaded.documents.weights, bundle.documents.weights)
    with pytest.raises(ValueError, match="modalities 'en', 'de': say which one"):
        loaded.documents.corpus()
    index = laconic.SearchIndex(loaded, modality="de")
    assert index.search("mond")[0].snippet.text == german[0]
    index.save(tmp_path)
    again = laconic.load(tmp_path)
    assert list(again.documents.corpora) == ["en", "de"]
    assert again.search("mond") == index.search("mond")


def test_documents_that_do_not_fit_are_refused(bundle):
    other = Corpus.from_texts(["red fish", "blue fish"], min_df=1, max_df=1.0)
    documents = Documents({"": other}, {"": np.zeros((2, 2), np.float32)})
    with pytest.raises(ValueError, match="give documents with the vocabulary of the model"):
        laconic.Bundle(bundle.model, bundle.vectorizer, documents=documents)
    with pytest.raises(ValueError, match="one row for each document"):
        Documents({"": other}, {"": np.zeros((3, 2), np.float32)})
    with pytest.raises(ValueError, match="for each of their modalities"):
        Documents({"": other}, {})


def test_kept_texts_of_any_size(monkeypatch):
    texts = ["", "a" * 1000, "Füße", "\ud800 half", *map(str, range(100)), ""]
    whole = Texts.of(texts)
    monkeypatch.setattr("laconic.corpus.spool.SPOOLED_BYTES", 100)
    monkeypatch.setattr("laconic.corpus.texts.BLOCK", 50)
    keeper = TextKeeper()
    for text in texts:
        keeper.add(text)
    spilled = keeper.kept()
    assert list(spilled) == list(whole) == [text.replace("\ud800", "?") for text in texts]
    assert spilled[-2] == "99"
    assert spilled[1:3] == ["a" * 1000, "Füße"]
    with pytest.raises(IndexError):
        _ = spilled[len(texts)]


def test_a_directory_written_by_the_third_format_is_still_read():
    bundle = laconic.load(Path(__file__).with_name("format-3"))
    assert [sorted(term for term, _ in topic) for topic in bundle.topic_words()] == [
        ["chilli", "pepper", "salt"],
        ["moon", "stars", "sun"],
    ]
    documents = bundle.documents
    assert documents.ids.tolist() == list("abcdefg")
    assert documents.labels.tolist() == [*LABELS, "unknown"]
    assert list(documents.texts) == [*TEXTS, "moon, moon"]
    assert documents.dates[:2].astype(str).tolist() == ["2026-11-16T00:00:00", "2025-01-01T00:00:00"]
    assert np.isnat(documents.dates[[2, 6]]).all()
    assert bundle.index.blend == 0.5
    found = bundle.search("moon")
    assert found.ids == ["g", "a", "b", "c"]
    assert found.scores == pytest.approx([1.0, 0.8667, 0.8667, 0.5], abs=1e-3)


def test_models_of_the_second_format_are_still_read():
    loaded = laconic.load(Path(__file__).with_name("format-2-plsa"))
    assert loaded.model.prior == laconic.priors.Pareto(0.5)
    found = {frozenset(term for term, _ in topic) for topic in loaded.topic_words(3)}
    assert found == {frozenset({"chilli", "pepper", "salt"}), frozenset({"moon", "stars", "sun"})}
    assert loaded.documents is None
    assert loaded.transform(["moon and stars"]).argmax() == loaded.transform(["sun"]).argmax()
