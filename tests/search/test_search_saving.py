"""Indexes on disk: bundles with documents, and the directories that came before them."""

import random
import re
import shutil
from pathlib import Path

import pytest

import laconic
from laconic import BundleError, Corpus, GroupRLSI, MultimodalPLSA
from laconic.search import SearchError, SearchIndex
from laconic.search.saving import FOLDER
from stored_files import contents, edit

OLD = Path(__file__).with_name("index-format-1")

QUERIES = {"q1": "moon comet", "q2": "butter", "q3": "whale and salt"}


@pytest.fixture
def saved(index, tmp_path):
    index.save(tmp_path / "model")
    return tmp_path / "model"


def same(one, other):
    for blend in (None, 0, 1, 0.7):
        assert one.run(QUERIES, blend=blend) == other.run(QUERIES, blend=blend)
    assert one.search("moon") == other.search("moon")
    assert one.explain("moon", one.ids[0]) == other.explain("moon", one.ids[0])


@pytest.mark.parametrize("verify", [True, False])
def test_a_loaded_index_gives_the_same_bits(index, saved, verify):
    loaded = SearchIndex.load(saved, verify=verify)
    same(index, loaded)
    assert repr(loaded) == repr(index)
    assert loaded.nbytes == index.nbytes


@pytest.mark.parametrize(
    "arguments", [{"terms": "vsm"}, {"similarity": "cosine"}, {"scaling": "raw", "blend": 0.9}]
)
def test_every_choice_is_kept(corpus, model, tmp_path, arguments):
    index = SearchIndex(corpus, model, **arguments)
    index.save(tmp_path)
    same(index, SearchIndex.load(tmp_path))


def test_groups_and_modalities_are_kept(corpus, tmp_path):
    groups = GroupRLSI(1, 1, random_state=0, max_iter=500).fit(corpus.X, corpus.labels)
    index = SearchIndex(corpus, groups)
    index.save(tmp_path / "groups")
    same(index, SearchIndex.load(tmp_path / "groups"))
    media = MultimodalPLSA(2, random_state=0).fit({"a": corpus.counts, "b": corpus.counts})
    index = SearchIndex(corpus, media, modality="b")
    index.save(tmp_path / "media")
    same(index, SearchIndex.load(tmp_path / "media"))


def test_what_was_added_and_tuned_is_kept(index, saved):
    loaded = SearchIndex.load(saved)
    loaded.add({"new": "moon moon moon"})
    loaded.tune({"q": "moon"}, {"q": {"new": 1}})
    loaded.save(saved)
    again = SearchIndex.load(saved)
    same(loaded, again)
    assert again.search("moon")[0].id == "new"


def test_an_index_is_a_bundle_with_documents(saved, model, corpus, texts):
    bundle = laconic.load(saved)
    assert bundle.model.components_.toarray().tobytes() == model.components_.toarray().tobytes()
    assert bundle.documents.ids.tolist() == corpus.ids.tolist()
    assert bundle.documents.labels.tolist() == corpus.labels.tolist()
    assert list(bundle.documents.texts) == texts
    same(bundle.index, SearchIndex.load(saved))


def test_another_model_takes_its_documents_along(saved, corpus):
    other = laconic.fit(corpus, 2)
    other.save(saved)
    same(SearchIndex.load(saved), SearchIndex(other))


def test_a_model_without_documents_says_so(corpus, model, tmp_path):
    laconic.Bundle(model, corpus.vectorizer).save(tmp_path)
    with pytest.raises(ValueError, match="has no documents to search"):
        SearchIndex.load(tmp_path)
    with pytest.raises(BundleError, match="does not exist"):
        SearchIndex.load(tmp_path / "nothing")


def test_saving_twice_gives_the_same_bytes(index, saved):
    before = contents(saved)
    index.save(saved)
    assert contents(saved) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda search: search.update(blend=2),
        lambda search: search.update(blend=None),
        lambda search: search.update(scaling="min"),
        lambda search: search.update(similarity="dot"),
        lambda search: search.update(modality="de"),
        lambda search: search.pop("terms"),
        lambda search: search.update(terms=3),
        lambda search: search["terms"].update(kind="pickle"),
        lambda search: search["terms"].update(k1="large"),
        lambda search: search["terms"].update(b=3),
        lambda search: search["terms"].update(idf=None),
        lambda search: search["terms"].pop("mean_length"),
    ],
)
def test_forged_settings_are_refused(saved, change):
    def forge(document):
        search = unpaired(document["search"])
        search["terms"] = unpaired(search["terms"])
        change(search)
        if isinstance(search.get("terms"), dict):
            search["terms"] = paired(search["terms"])
        document["search"] = paired(search)

    edit(saved, forge)
    with pytest.raises(SearchError, match="settings of the search are not valid"):
        SearchIndex.load(saved)
    assert laconic.load(saved).documents is not None


def unpaired(mapping):
    return dict(mapping["mapping"])


def paired(values):
    return {"mapping": [[key, value] for key, value in values.items()]}


@pytest.fixture
def old(tmp_path):
    """A model with an index beside it, as laconic wrote them until format 3 of bundles."""
    return shutil.copytree(OLD, tmp_path / "old")


def test_an_old_index_is_still_read(old):
    index = SearchIndex.load(old)
    found = index.search("moon", k=3)
    assert found.ids == ["a", "b", "c"]
    assert found.scores == pytest.approx([1.0, 1.0, 0.3])
    assert index.blend == 0.3
    assert str(found[0].snippet) == "sun and moon"
    bundle = laconic.load(old)
    assert bundle.documents.ids.tolist() == list("abcdef")
    assert bundle.documents.texts[5] == "chilli <b>"
    assert bundle.documents.weights.shape == (6, 2)


def test_an_old_index_becomes_documents_when_it_is_saved(old):
    before = SearchIndex.load(old)
    before.save(old)
    assert not (old / FOLDER).exists()
    again = SearchIndex.load(old)
    assert again.search("moon salt") == before.search("moon salt")


def test_files_beside_an_old_index_stay(old):
    (old / FOLDER / "mine.txt").write_text("mine")
    SearchIndex.load(old).save(old)
    assert [path.name for path in (old / FOLDER).iterdir()] == ["mine.txt"]


def test_an_old_index_of_another_model_is_left_aside(old):
    edit(old / FOLDER, lambda document: document.update(model="0" * 64))
    bundle = laconic.load(old)
    assert bundle.documents is None
    assert len(bundle.topics()) == 2
    with pytest.raises(ValueError, match="has no documents to search"):
        SearchIndex.load(old)
    bundle.save(old)
    assert not (old / FOLDER).exists()


def test_an_old_index_of_classes_keeps_them(tmp_path):
    """Two of its documents have other labels than would be predicted."""
    path = shutil.copytree(OLD.with_name("index-format-1-groups"), tmp_path / "groups")
    expected = {"d1": 1.0, "d6": 1.0, "d7": 1.0, "d2": 0.7, "d8": 0.7, "d0": 0.3}
    for _ in range(2):
        index = SearchIndex.load(path)
        assert (index.blend, index.matcher.terms.k1) == (0.7, 2.0)
        assert index.run({"q": "moon"})["q"] == pytest.approx(expected, abs=1e-6)
        assert index.documents.labels.tolist()[:4] == ["food", "sky", "sky", "sky"]
        # not by the index: what is said of the search comes along
        laconic.load(path).save(path)
    assert not (path / FOLDER).exists()


def test_an_old_index_of_a_modality_keeps_it(tmp_path):
    path = shutil.copytree(OLD.with_name("index-format-1-modalities"), tmp_path / "modalities")
    for _ in range(2):
        bundle = laconic.load(path)
        assert bundle.search("mond", 3).ids == ["d0", "d1", "d6"]
        assert bundle.index.modality == "de"
        bundle.save(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.clear(),
        lambda parts: parts.pop(),
        lambda parts: parts[0].update(documents="all"),
        lambda parts: parts[0].update(documents=parts[0]["vectors"]),
        lambda parts: parts.append(3),
    ],
)
def test_forged_classes_of_an_old_index_are_refused(tmp_path, change):
    path = shutil.copytree(OLD.with_name("index-format-1-groups"), tmp_path / "groups")
    edit(path / FOLDER, lambda document: change(document["topics"]["parts"]))
    with pytest.raises(SearchError):
        SearchIndex.load(path)


def test_what_was_changed_is_saved_with_the_bundle(corpus, tmp_path):
    bundle = laconic.fit(corpus, 4)
    bundle.save(tmp_path / "plain")
    plain = contents(tmp_path / "plain")
    bundle.search("moon")
    bundle.save(tmp_path / "plain")
    assert contents(tmp_path / "plain") == plain
    bundle.index.tune({"q": "moon"}, {"q": {"d0": 1}}, k1=[0.5], b=[0.1])
    bundle.index.add({"new": "moon moon moon"})
    bundle.index.blend = 0.35
    bundle.save(tmp_path / "changed")
    again = laconic.load(tmp_path / "changed")
    assert (again.index.matcher.terms.k1, again.index.blend) == (0.5, 0.35)
    assert again.search("moon")[0].id == "new"
    same(again.index, bundle.index)
    # an index of its own does not change the bundle
    SearchIndex(again, blend=0.9).blend = 0.8
    assert again.index.blend == 0.35


def test_truncated_and_tampered_old_files_are_refused(old):
    rng = random.Random(0)
    folder = old / FOLDER
    whole = contents(folder)
    for name, content in whole.items():
        for damaged in (
            content[: rng.randrange(len(content))],
            content + b"x",
            content[:-1] + bytes([content[-1] ^ 1]),
        ):
            (folder / name).write_bytes(damaged)
            with pytest.raises(SearchError, match=re.escape(name)):
                SearchIndex.load(old)
        (folder / name).unlink()
        if name != "index.json":
            with pytest.raises(SearchError):
                SearchIndex.load(old)
        (folder / name).write_bytes(content)
    SearchIndex.load(old)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(blend=2),
        lambda document: document.update(blend=None),
        lambda document: document.update(scaling="min"),
        lambda document: document.update(ids=document["terms"]["idf"]["array"]),
        lambda document: document.update(ids=7),
        lambda document: document.update(texts=document["terms"]["counts"]["data"]),
        lambda document: document.pop("terms"),
        lambda document: document["terms"].update(kind="pickle"),
        lambda document: document["terms"].update(k1="large"),
        lambda document: document["terms"].update(b=3),
        lambda document: document["terms"].update(idf=None),
        lambda document: document["terms"].update(idf={"array": document["terms"]["counts"]["data"]}),
        lambda document: document["terms"].update(counts=[]),
        lambda document: document["terms"]["counts"].update(shape=[25, 91]),
        lambda document: document["topics"].update(similarity="dot"),
        lambda document: document["topics"].update(modality=3),
        lambda document: document["topics"].update(modality="de"),
    ],
)  # fmt: skip
def test_a_forged_old_document_is_refused(old, change):
    edit(old / FOLDER, change)
    with pytest.raises(SearchError):
        SearchIndex.load(old)


def test_documents_of_a_mapped_corpus(corpus, model, texts, tmp_path):
    corpus.save(tmp_path / "corpus")
    index = SearchIndex(Corpus.load(tmp_path / "corpus"), model, texts=texts)
    same(index, SearchIndex(corpus, model, texts=texts))


def test_vocabularies_of_other_modalities_are_kept(corpus, tmp_path):
    media = MultimodalPLSA(2, random_state=0).fit({"a": corpus.counts, "b": corpus.counts})
    both = {"a": corpus.vectorizer, "b": corpus.vectorizer}
    laconic.Bundle(media, vectorizers=both).save(tmp_path)
    SearchIndex(corpus, media, modality="b").save(tmp_path)
    assert list(laconic.load(tmp_path).vectorizers) == ["a", "b"]
    assert SearchIndex.load(tmp_path).modality == "b"
    # Those of another model are not this one's.
    other = MultimodalPLSA(3, random_state=0).fit({"a": corpus.counts, "b": corpus.counts})
    SearchIndex(corpus, other, modality="b").save(tmp_path)
    assert list(laconic.load(tmp_path).vectorizers) == ["b"]


def test_added_numbers_as_ids_can_be_loaded(index, saved):
    index.add({1: "moon", 2: "star"}).save(saved)
    assert SearchIndex.load(saved).ids[-2:].tolist() == ["1", "2"]
