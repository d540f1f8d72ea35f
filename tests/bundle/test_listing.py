"""Topics that are listed without the model's class: the same, and checked the same."""

import random

import numpy as np
import pytest

from laconic import NMF, PLSA, RLSI, Bundle, BundleError, GraphPLSA, GroupRLSI, SparseLSA, load
from laconic.bundle.listing import PLAIN, Listing, read_listing
from laconic.models import MODELS
from stored_files import contents, edit, npy, swap

FITTED = [
    RLSI(2, topic_norm="l0", terms_per_topic=2, random_state=0),
    RLSI(3, random_state=0),
    NMF(2, random_state=0),
    PLSA(2, random_state=0, tol=1e-2),
    GraphPLSA(2, random_state=0, tol=1e-2, n_neighbors=2),
    SparseLSA(2, alpha_topics=0.1, random_state=0),
    GroupRLSI(1, 1, random_state=0),
]


@pytest.fixture(params=FITTED, ids=lambda model: type(model).__name__)
def stored(request, vectorizer, texts, tmp_path):
    model = request.param
    counts = vectorizer.fit_count(texts)
    labels = ["pets", "pets", "money", "money", "pets", "money"]
    X = counts if model.wants == "counts" else vectorizer.weigh(counts)
    model.fit(X, labels if model.traits.classes else None)
    Bundle(model, vectorizer).save(tmp_path / "model")
    return tmp_path / "model"


def same(one, other):
    assert one.sizes.tolist() == other.sizes.tolist()
    for name in ("model", "n_terms", "dtype", "named", "owners", "n_alive", "density"):
        assert getattr(one, name) == getattr(other, name), name
    for n_terms in (1, 3, None):
        assert one.words(n_terms) == other.words(n_terms)


def test_the_listing_of_a_saved_model_is_that_of_its_bundle(stored):
    same(read_listing(stored), Listing.of(load(stored)))


def test_distinct_words_are_the_same_in_both_and_in_one_topic_only(stored):
    one, bundle = read_listing(stored, distinct=True), load(stored)
    same(one, Listing.of(bundle, distinct=True))
    words = [word for topic in one.words(None)[""] for word, _ in topic]
    assert len(words) == len(set(words))
    assert set(words) == {word for topic in bundle.topic_words(None) for word, _ in topic}
    assert one.words(None)[""] == bundle.topic_words(None, distinct=True)
    shown = bundle.topics(3, distinct=True, modality=None)["words"]
    assert [row.replace("-", "") for row in shown] == [
        ", ".join(word for word, _ in topic[:3]) for topic in one.words(None)[""]
    ]


def test_without_a_vocabulary_words_are_numbers_or_the_names_of_the_fit(stored, tmp_path):
    model = load(stored).model
    Bundle(model).save(tmp_path / "alone")
    same(read_listing(tmp_path / "alone"), Listing.of(load(tmp_path / "alone")))
    assert not read_listing(tmp_path / "alone").named
    model.feature_names_in_ = np.array([f"column {m}" for m in range(model.n_features_in_)], object)
    Bundle(model).save(tmp_path / "named")
    same(read_listing(tmp_path / "named"), Listing.of(load(tmp_path / "named")))
    assert read_listing(tmp_path / "named").named


def test_models_without_classes_and_modalities_are_known():
    traits = {name: MODELS[name]().traits for name in MODELS if name not in ("Toy", "MediaToy")}
    assert {name for name, one in traits.items() if not one.classes and not one.modalities} == PLAIN


def test_every_truncation_and_bit_flip_is_detected(stored):
    rng = random.Random(0)
    whole = contents(stored)
    for name, content in whole.items():
        for _ in range(5):
            flipped = bytearray(content)
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
            for damaged in (content[: rng.randrange(len(content))], flipped):
                (stored / name).write_bytes(damaged)
                with pytest.raises(BundleError):
                    read_listing(stored)
        (stored / name).write_bytes(content)
    read_listing(stored)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update({"class": "Unknown"}),
        lambda document: document["state"].pop("components"),
        lambda document: document["state"].update(components=[1, 2]),
        lambda document: document["state"].update(components={"array": document["vectorizer"]["vocabulary"]}),
        lambda document: document["state"].update(n_features_in=3),
        lambda document: document["state"].update(n_features_in=True),
        lambda document: document["state"].update(feature_names_in=["one"]),
        lambda document: document["parameters"].update(n_components=7),
        lambda document: document["parameters"].update(n_components="2"),
        lambda document: document.update(vectorizer={"vocabulary": "x"}),
        lambda document: document.pop("vectorizer"),
        lambda document: document.pop("state"),
    ],
)
def test_what_was_changed_by_somebody_who_repairs_checksums_is_refused(vectorizer, texts, tmp_path, change):
    model = RLSI(2, random_state=0).fit(vectorizer.weigh(vectorizer.fit_count(texts)))
    Bundle(model, vectorizer).save(tmp_path / "model")
    edit(tmp_path / "model", change)
    for read in (load, read_listing):
        with pytest.raises(BundleError, match="model"):
            read(tmp_path / "model")


def test_indices_and_words_are_checked(vectorizer, texts, tmp_path):
    model = RLSI(2, random_state=0).fit(vectorizer.weigh(vectorizer.fit_count(texts)))
    Bundle(model, vectorizer).save(tmp_path / "model")
    far = model.components_.indices.copy()
    far[-1] = 10_000
    swap(tmp_path / "model", "components.indices", npy(far))
    with pytest.raises(BundleError, match="column indices"):
        read_listing(tmp_path / "model")
    Bundle(model, vectorizer).save(tmp_path / "other")
    swap(tmp_path / "other", "vocabulary", "\n".join(["twice"] * model.n_features_in_).encode() + b"\n")
    with pytest.raises(BundleError, match="twice"):
        read_listing(tmp_path / "other")
