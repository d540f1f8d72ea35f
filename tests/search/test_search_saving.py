import random
import re

import numpy as np
import pytest

import laconic
from laconic import RLSI, BundleError, Corpus, GroupRLSI, MultimodalPLSA
from laconic.search import SearchError, SearchIndex
from laconic.search.saving import FOLDER, has_index
from stored_files import contents, edit

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


def test_the_model_is_a_model(saved, model):
    bundle = laconic.load(saved)
    assert bundle.model.components_.toarray().tobytes() == model.components_.toarray().tobytes()
    assert has_index(saved)


def test_an_index_of_another_model_is_refused(saved, corpus):
    laconic.Bundle(RLSI(2, random_state=0, max_iter=500).fit(corpus.X), corpus.vectorizer).save(saved)
    with pytest.raises(SearchError, match="is the index of another model"):
        SearchIndex.load(saved)


def test_a_model_without_an_index_says_so(corpus, model, tmp_path):
    laconic.Bundle(model, corpus.vectorizer).save(tmp_path)
    with pytest.raises(SearchError, match="has no search index; make one"):
        SearchIndex.load(tmp_path)
    with pytest.raises(BundleError, match="does not exist"):
        SearchIndex.load(tmp_path / "nothing")


def test_saving_twice_gives_the_same_bytes(index, saved):
    before = contents(saved / FOLDER)
    index.save(saved)
    assert contents(saved / FOLDER) == before


def test_truncated_and_tampered_files_are_refused(saved):
    rng = random.Random(0)
    folder = saved / FOLDER
    whole = contents(folder)
    for name, content in whole.items():
        for damaged in (
            content[: rng.randrange(len(content))],
            content + b"x",
            content[:-1] + bytes([content[-1] ^ 1]),
        ):
            (folder / name).write_bytes(damaged)
            with pytest.raises(SearchError, match=re.escape(name)):
                SearchIndex.load(saved)
        (folder / name).unlink()
        with pytest.raises(SearchError):
            SearchIndex.load(saved)
        (folder / name).write_bytes(content)
    SearchIndex.load(saved)


def change_part(name, value):
    def change(document):
        document["topics"]["parts"][0][name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(blend=2),
        lambda document: document.update(blend=None),
        lambda document: document.update(scaling="min"),
        lambda document: document.update(ids=document["texts"]),
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
        lambda document: document["topics"].update(parts=[]),
        lambda document: document["topics"].update(parts=document["topics"]["parts"] * 2),
        lambda document: document["topics"]["parts"][0].pop("gram"),
        change_part("gram", None),
        change_part("topics", None),
        change_part("vectors", 1.5),
        change_part("documents", "all"),
    ],
)  # fmt: skip
def test_a_forged_document_is_refused(saved, change):
    edit(saved / FOLDER, change)
    with pytest.raises(SearchError):
        SearchIndex.load(saved)


def test_parts_that_do_not_fit_are_refused(saved, corpus, model):
    whole = SearchIndex.load(saved)
    vectors = whole.matcher.topics.parts[0]
    for part in (
        vectors._replace(topics=vectors.topics + 1),
        vectors._replace(documents=vectors.documents[::-1] // 2),
        vectors._replace(vectors=vectors.vectors[:, :2]),
        vectors._replace(vectors=np.asfortranarray(vectors.vectors)),
    ):
        whole.matcher.topics.parts[0] = part
        whole.save(saved)
        with pytest.raises(SearchError):
            SearchIndex.load(saved)


def test_anything_else_in_the_way_is_left_alone(saved, index):
    other = saved.parent / "other"
    (other / FOLDER).mkdir(parents=True)
    (other / FOLDER / "mine.txt").write_text("mine")
    laconic.Bundle(index.model, index.vectorizer)
    with pytest.raises((SearchError, BundleError), match="is not empty"):
        index.save(other)
    assert (other / FOLDER / "mine.txt").read_text() == "mine"


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
