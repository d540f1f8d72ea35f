"""A model of several modalities with a vectoriser for each."""

import json
from pathlib import Path

import numpy as np
import pytest
from bundle_toys import MediaToy, Toy, same

from laconic import MultimodalPLSA
from laconic.bundle import Bundle, BundleError, load
from laconic.corpus import Vectorizer
from laconic.priors import Pareto
from stored_files import contents, edit, swap

TEXTS = {
    "german": ["Sonne und Mond", "Mond und Sonne", "Salz und Pfeffer", "Pfeffer und Salz"],
    "english": ["sun and moon", "moon and sun", "salt and pepper", ""],
}


def fitted(texts):
    vectorizer = Vectorizer(min_df=1, stop_words=["und", "and"])
    return vectorizer, vectorizer.fit_count(texts)


@pytest.fixture(scope="module")
def vectorizers():
    return {name: fitted(texts)[0] for name, texts in TEXTS.items()}


@pytest.fixture
def media(vectorizers):
    return Bundle(MediaToy(3, sizes=Pareto(2.0)).fit(4, 4), vectorizers=vectorizers)


@pytest.fixture
def saved(media, tmp_path):
    media.save(tmp_path / "model")
    return tmp_path / "model"


def test_loaded_equals_saved_bit_for_bit(media, saved, tmp_path):
    loaded = load(saved)
    assert same(loaded.model, media.model)
    assert list(loaded.vectorizers) == ["german", "english"]
    for name, vectorizer in loaded.vectorizers.items():
        assert list(vectorizer.vocabulary) == list(media.vectorizers[name].vocabulary)
        assert vectorizer.to_dict() == media.vectorizers[name].to_dict()
        assert loaded.topic_words(3, modality=name) == media.topic_words(3, modality=name)
        texts = TEXTS[name]
        assert (loaded.transform(texts, modality=name) != media.transform(texts, modality=name)).nnz == 0
    assert (loaded.transform(TEXTS) != media.transform(TEXTS)).nnz == 0
    assert loaded.vectorizer is None
    assert list(loaded.vocabulary) == ["mond", "pfeffer", "salz", "sonne", "moon", "pepper", "salt", "sun"]
    loaded.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(saved)


def test_the_directory_is_readable(saved):
    document = json.loads((saved / "model.json").read_text(encoding="utf-8"))
    assert "vectorizer" not in document
    assert list(document["vectorizers"]) == ["english", "german"]
    name = document["vectorizers"]["german"]["vocabulary"]
    assert name.startswith("vocabulary.german-")
    assert (saved / name).read_text(encoding="utf-8").split() == ["mond", "pfeffer", "salz", "sonne"]


def test_names_of_any_characters(media, vectorizers, tmp_path):
    names = ("Größe/../x", "\n" * 300)
    media.model.modalities_ = names
    bundle = Bundle(media.model, vectorizers=dict(zip(names, vectorizers.values(), strict=True)))
    bundle.save(tmp_path / "m")
    document = json.loads((tmp_path / "m" / "model.json").read_text(encoding="utf-8"))
    assert set(document["vectorizers"]) == set(names)
    assert document["vectorizers"][names[0]]["vocabulary"].startswith("vocabulary.Gr__e____x-")


def test_counts_for_a_model_of_counts(media):
    counts = media.vectorizers["english"].count(["sun sun"])
    assert np.array_equal(media.vectorize(["sun sun"], modality="english").toarray(), counts.toarray())
    assert counts.data.tolist() == [2]


def test_a_modality_that_is_no_text_has_no_vectoriser(media, vectorizers, tmp_path):
    bundle = Bundle(media.model, vectorizers={"english": vectorizers["english"]})
    bundle.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert list(loaded.vectorizers) == ["english"]
    assert loaded.vocabulary is None
    assert loaded.topic_words(1, modality="german")[0][0][0] in "0123"
    with pytest.raises(ValueError, match="no vectoriser"):
        loaded.transform(["Sonne"], modality="german")
    assert repr(loaded) == (
        "<Bundle: MediaToy(n_components=3, sizes=Pareto(shape=2.0)), vectoriser of 4 terms for english>"
    )


def test_wrong_vectorisers_are_refused(media, vectorizers):
    model, german = media.model, vectorizers["german"]
    with pytest.raises(ValueError, match=r"modalities \('german', 'english'\): give vectorizers, a mapping"):
        Bundle(model, german)
    with pytest.raises(ValueError, match="no modality 'french'; there are: 'german', 'english'"):
        Bundle(model, vectorizers={"french": german})
    with pytest.raises(ValueError, match="no modality 'german'; there are: none"):
        Bundle(Toy().fit(4), vectorizers={"german": german})
    with pytest.raises(ValueError, match="vocabulary of 'german' has 4 terms, but the model was fitted on 3"):
        Bundle(MediaToy().fit(3, 5), vectorizers=vectorizers)


def test_texts_need_the_name_of_their_modality(media):
    with pytest.raises(ValueError, match="several modalities: say which of 'german', 'english'"):
        media.transform(["sun"])
    with pytest.raises(ValueError, match="no modality 'french'"):
        media.transform(["soleil"], modality="french")
    with pytest.raises(ValueError, match="no modality 'french'"):
        media.topic_words(modality="french")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d["vectorizers"].update(french=d["vectorizers"]["german"]), "no modality 'french'"),
        (lambda d: d.update(vectorizers={}), "no valid 'vectorizers'"),
        (lambda d: d.update(vectorizers=None), "no valid 'vectorizers'"),
        (lambda d: d.update(vectorizers=["german"]), "no valid 'vectorizers'"),
        (lambda d: d["vectorizers"].update(german=None), "no valid 'vectorizer'"),
        (lambda d: d["vectorizers"]["german"].pop("idf"), "no valid 'vectorizer'"),
        (lambda d: d["vectorizers"]["german"].update(settings=3), "no valid settings"),
        (lambda d: d["vectorizers"]["german"].update(vocabulary="x"), "not among its files"),
        (lambda d: d.pop("vectorizers"), "no valid 'vectorizer'"),
        (lambda d: d.update({"class": "Toy"}), "does not describe|no modality"),
    ],
)
def test_what_does_not_fit_is_refused(change, reason, saved):
    edit(saved, change)
    with pytest.raises(BundleError, match=reason):
        load(saved)


def test_a_vocabulary_of_another_size_is_refused(saved):
    swap(saved, "vocabulary.english", b"moon\nsun\n")
    swap(saved, "vectorizer.idf.english", (next(saved.glob("vectorizer.idf.german-*"))).read_bytes())
    with pytest.raises(
        BundleError, match=r"does not describe a vectoriser|vocabulary of 'english' has 2 terms"
    ):
        load(saved)


def test_damage_is_found(saved):
    for name, content in contents(saved).items():
        (saved / name).write_bytes(content[:-1])
        with pytest.raises(BundleError, match=name.replace(".", r"\.")):
            load(saved)
        (saved / name).write_bytes(content)
    load(saved)


def test_the_real_model(tmp_path):
    parts = {name: fitted(texts) for name, texts in TEXTS.items()}
    model = MultimodalPLSA(2, random_state=0).fit({name: counts for name, (_, counts) in parts.items()})
    bundle = Bundle(model, vectorizers={name: vectorizer for name, (vectorizer, _) in parts.items()})
    bundle.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.model.get_params() == model.get_params()
    for name, texts in TEXTS.items():
        assert np.array_equal(loaded.transform(texts, modality=name), bundle.transform(texts, modality=name))
    assert np.array_equal(loaded.transform(TEXTS), bundle.transform(TEXTS))
    found = {frozenset(term for term, _ in topic[:2]) for topic in loaded.topic_words(2, modality="english")}
    assert found == {frozenset({"sun", "moon"}), frozenset({"salt", "pepper"})}


def test_a_directory_written_by_the_second_format_is_still_read():
    loaded = load(Path(__file__).parent / "format-2")
    assert loaded.model.get_params() == MediaToy(2, sizes=Pareto(2.5), random_state=7).get_params()
    assert {name: list(one.vocabulary) for name, one in loaded.vectorizers.items()} == {
        "german": ["mond", "pfeffer", "salz", "sonne"],
        "english": ["moon", "pepper", "salt", "sun"],
    }
    assert same(loaded.model, MediaToy(2).fit(4, 4))
    assert np.array_equal(loaded.vectorize(["Salz, Salz"], modality="german").toarray(), [[0, 0, 2, 0]])
