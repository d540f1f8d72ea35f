import json
from pathlib import Path

import numpy as np
import pytest
from bundle_toys import Toy, same
from sklearn.exceptions import NotFittedError

import laconic
from laconic.bundle import Bundle, BundleError, load
from laconic.corpus import Vectorizer
from laconic.storage.manifest import canonical_json
from stored_files import contents, edit


def test_loaded_equals_saved_bit_for_bit(bundle, saved, texts):
    loaded = load(saved)
    assert same(loaded.model, bundle.model)
    assert loaded.model.get_params() == bundle.model.get_params()
    assert list(loaded.vocabulary) == list(bundle.vocabulary)
    assert loaded.vectorizer.to_dict() == bundle.vectorizer.to_dict()
    assert loaded.vectorizer.idf.tobytes() == bundle.vectorizer.idf.tobytes()
    new = [*texts, "", "unknown words", "a cat and a bond"]
    assert loaded.transform(new).toarray().tobytes() == bundle.transform(new).toarray().tobytes()
    assert loaded.topic_words(4) == bundle.topic_words(4)


def test_loaded_arrays_are_writable_and_aligned(saved):
    model = load(saved).model
    for array in (model.scale_, model.components_.data, model.components_.indices):
        assert array.flags.writeable
        assert array.flags.aligned
    model.scale_ += 1


def test_saving_twice_gives_the_same_bytes(bundle, saved, tmp_path):
    first = contents(saved)
    bundle.save(saved)
    assert contents(saved) == first
    load(saved).save(tmp_path / "again")
    assert contents(tmp_path / "again") == first


def test_the_directory_is_readable(saved, bundle):
    document = json.loads((saved / "model.json").read_text(encoding="utf-8"))
    assert document["format"] == "laconic-bundle"
    assert document["format_version"] == 3
    assert document["class"] == "Toy"
    assert document["parameters"]["n_components"] == 3
    assert document["versions"]["laconic"] == laconic.__version__
    assert document["versions"]["numpy"] == np.__version__
    assert set(document["files"]) == {path.name for path in saved.iterdir()} - {"model.json"}
    assert (saved / "model.json").read_bytes() == canonical_json(document)
    terms = (saved / document["vectorizer"]["vocabulary"]).read_text(encoding="utf-8").split("\n")
    assert terms == [*bundle.vocabulary, ""]
    file = document["state"]["scale"]["array"]
    assert file.startswith("scale-")
    np.testing.assert_array_equal(np.load(saved / file), bundle.model.scale_)


def test_dropped_vocabulary_is_in_no_file(saved, vectorizer):
    assert "cat" in vectorizer.vocabulary
    assert "confidentialname" not in vectorizer.vocabulary
    assert any(b"cat" in content for content in contents(saved).values())
    assert not any(b"confidentialname" in content for content in contents(saved).values())


def test_replacing_a_model_leaves_nothing_of_the_old_one(bundle, saved):
    old = contents(saved)
    other = Bundle(Toy(2, alpha=0.5).fit(9, seed=4))
    other.save(saved)
    assert same(load(saved).model, other.model)
    assert load(saved).vectorizer is None
    assert not (contents(saved).keys() & old.keys()) - {"model.json"}


def test_without_a_vectoriser(tmp_path):
    bundle = Bundle(Toy().fit())
    bundle.save(tmp_path / "new" / "model")
    loaded = load(str(tmp_path / "new" / "model"))
    assert loaded.vocabulary is None
    assert loaded.vectorizer is None
    assert {term for topic in loaded.topic_words() for term, _ in topic} <= set("012345")
    with pytest.raises(ValueError, match="no vectoriser"):
        loaded.transform(["text"])
    assert repr(loaded) == "<Bundle: Toy(), no vectoriser>"


def test_repr_counts_terms(bundle):
    assert repr(bundle) == f"<Bundle: Toy(n_components=3), vectoriser of {len(bundle.vocabulary)} terms>"


def test_a_vocabulary_of_another_size_is_refused(vectorizer, bundle, tmp_path):
    with pytest.raises(ValueError, match=r"vocabulary has \d+ terms, but the model was fitted on 6"):
        Bundle(Toy().fit(6), vectorizer)
    bundle.model.fit(6)
    with pytest.raises(ValueError, match="fitted on 6"):
        bundle.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        Bundle(Toy()).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_class_that_could_not_be_loaded_is_not_saved(tmp_path):
    class Mine(Toy):
        pass

    with pytest.raises(BundleError, match=r"Mine could not be loaded.*own models are"):
        Bundle(Mine().fit()).save(tmp_path / "model")
    Mine.__name__ = "Toy"
    with pytest.raises(BundleError, match="could not be loaded"):
        Bundle(Mine().fit()).save(tmp_path / "model")


def test_parameters_of_every_kind(tmp_path):
    init = np.arange(12, dtype=np.float32).reshape(2, 6)
    sizes = {"news": 3, 7: (1, 2.5), True: [None, "x"]}
    Bundle(Toy(np.int64(2), alpha=np.float32(0.1), init=init, sizes=sizes, random_state=3).fit()).save(
        tmp_path / "a"
    )
    model = load(tmp_path / "a").model
    assert model.n_components == 2
    assert type(model.n_components) is int
    assert model.alpha == np.float32(0.1)
    assert model.init.dtype == np.float32
    np.testing.assert_array_equal(model.init, init)
    assert model.sizes == sizes
    assert list(map(type, model.sizes)) == [str, int, bool]
    assert model.random_state == 3
    assert any(path.name.startswith("parameters.init-") for path in (tmp_path / "a").iterdir())


@pytest.mark.parametrize("generator", [np.random.RandomState(0), np.random.default_rng(0)])
def test_a_random_generator_is_saved_as_none(generator, tmp_path):
    model = Toy(random_state=generator).fit()
    Bundle(model).save(tmp_path / "model")
    assert load(tmp_path / "model").model.random_state is None
    assert model.random_state is generator


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", print, 1j, np.datetime64("2020-01-01")])
def test_other_parameters_are_refused_by_name(value, tmp_path):
    with pytest.raises(BundleError, match=r"parameters\.init is .* of type .*cannot be saved"):
        Bundle(Toy(init=value).fit()).save(tmp_path / "model")
    assert list((tmp_path / "model").iterdir()) == []


def test_a_parameter_that_is_not_there_has_its_default(saved):
    edit(saved, lambda document: document["parameters"].pop("alpha"))
    assert load(saved).model.alpha == 0.1


def test_terms_of_any_script_survive(tmp_path):
    terms = ["naïve", "日本語", "😀 smile", "e\u0301", "a\u2028b", "-1e5", '"quoted"', "back\\slash"]
    try:
        vectorizer = Vectorizer.from_dict({"weighting": "count"}, terms)
    except ValueError:
        terms.remove("a\u2028b")
        vectorizer = Vectorizer.from_dict({"weighting": "count"}, terms)
    Bundle(Toy().fit(len(terms)), vectorizer).save(tmp_path / "model")
    assert list(load(tmp_path / "model").vocabulary) == terms


def test_a_term_with_a_line_break_is_refused(bundle, monkeypatch, tmp_path):
    terms = np.array(["a\nb", *list(bundle.vocabulary)[1:]], dtype=object)
    monkeypatch.setattr(type(bundle.vectorizer), "vocabulary", terms)
    with pytest.raises(BundleError, match="has a line break"):
        bundle.save(tmp_path / "model")


def test_a_directory_written_by_the_first_format_is_still_read():
    path = Path(__file__).parent / "format-1"
    model = load(path).model
    assert model.get_params() == {
        "n_components": 2,
        "alpha": 0.1,
        "init": "random",
        "sizes": {"news": 3, 7: (1, 2.5)},
        "random_state": 0,
    }
    np.testing.assert_array_equal(model.components_.toarray(), [[0, 1.5, 0, -2], [0.1, 0, 0, 0]])
    np.testing.assert_array_equal(model.scale_, np.array([1, 2, 3, 4], dtype=np.float32) / 3)
    assert model.history_ == [0.1, 1e-300, 3.0]
