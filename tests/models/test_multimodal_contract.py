"""What every model promises, for the one whose input is a mapping."""

import io

import numpy as np
import pytest
from modality_toys import planted_modalities
from rich.console import Console
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import laconic
from laconic import MultimodalPLSA

VARIANTS = {
    "skl": MultimodalPLSA(3, random_state=0),
    "l2": MultimodalPLSA(3, divergence="l2", random_state=0),
    "l1": MultimodalPLSA(3, divergence="l1", random_state=0),
    "tied": MultimodalPLSA(3, divergence="tied", random_state=0),
    "counts": MultimodalPLSA(3, row_normalize=False, random_state=0),
}


@pytest.fixture(params=VARIANTS, scope="module")
def model(request):
    return clone(VARIANTS[request.param])


@pytest.fixture(scope="module")
def media():
    return planted_modalities()


def quiet(model):
    return clone(model).set_params(max_iter=3000)


def bits(model):
    weights = (part.tobytes() for part in model.modality_weights_.values())
    return (model.components_.tobytes(), model.objective_history_.tobytes(), *weights)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(model, dtype):
    # more documents and terms than one block holds
    media = planted_modalities(1500, {"de": 700, "en": 600}, dtype=dtype)
    fitted = [clone(model).set_params(n_jobs=n, max_iter=3, tol=0).fit(media) for n in (1, 2, 4)]
    assert len({bits(each) for each in fitted}) == 1
    assert len({each.transform(media).tobytes() for each in fitted}) == 1
    pair = media["de"], media["en"]
    assert len({each.similarity(*pair, "de", "en").tobytes() for each in fitted}) == 1
    assert len({str(each.translate(pair[0], "de", "en")) for each in fitted}) == 1


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(model, media):
    first = bits(quiet(model).fit(media))
    assert bits(quiet(model).fit(media)) == first
    assert bits(quiet(model).set_params(random_state=1).fit(media)) != first


def test_fit_then_transform_is_fit_transform(model, media):
    np.testing.assert_array_equal(quiet(model).fit_transform(media), quiet(model).fit(media).transform(media))


def test_float32_agrees_with_float64(model, media):
    single = {name: X.astype(np.float32) for name, X in media.items()}
    exact, fitted = quiet(model).fit(media), quiet(model).fit(single)
    assert fitted.components_.dtype == fitted.modality_weights_["de"].dtype == np.float32
    assert fitted.transform(single).dtype == np.float32
    assert fitted.objective_history_[-1] == pytest.approx(exact.objective_history_[-1], rel=5e-3)
    mixed = clone(model).fit({"de": single["de"], "en": media["en"]}, callback=lambda p: True)
    assert mixed.components_.dtype == np.float64


def test_dense_sparse_and_unsorted_input_agree(model, media):
    expected = quiet(model).fit(media)
    from_dense = quiet(model).fit({name: X.toarray() for name, X in media.items()})
    np.testing.assert_allclose(from_dense.components_, expected.components_, atol=1e-12)
    reverse = media["de"].tocoo()
    messy = csr_array(media["de"].shape)
    messy.indptr = media["de"].indptr
    messy.indices = np.concatenate([media["de"].indices[a:b][::-1] for a, b in _rows(media["de"])])
    messy.data = np.concatenate([media["de"].data[a:b][::-1] for a, b in _rows(media["de"])])
    before = messy.indices.copy()
    fitted = quiet(model).fit({"de": messy, "en": media["en"]})
    np.testing.assert_allclose(fitted.components_, expected.components_, atol=1e-9)
    np.testing.assert_array_equal(messy.indices, before)
    assert reverse.nnz == messy.nnz


def _rows(X):
    return zip(X.indptr[:-1], X.indptr[1:], strict=True)


def test_stored_zeros_are_no_words(model, media):
    padded = media["de"].copy()
    padded.data[:3] = 0
    without = padded.copy()
    without.eliminate_zeros()
    assert bits(quiet(model).fit({"de": padded, "en": media["en"]})) == bits(
        quiet(model).fit({"de": without, "en": media["en"]})
    )


def test_saved_and_loaded_models_agree_to_the_bit(model, media, tmp_path):
    fitted = quiet(model).fit(media)
    fitted.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert type(loaded) is MultimodalPLSA
    assert bits(loaded) == bits(fitted)
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.modalities_, loaded.n_terms_) == (fitted.modalities_, fitted.n_terms_)
    assert loaded.data_hash_ == fitted.data_hash_
    np.testing.assert_array_equal(loaded.transform(media), fitted.transform(media))
    public = {name for name in vars(fitted) if name.endswith("_")}
    assert public == {name for name in vars(loaded) if name.endswith("_")}


def test_names_of_columns_are_saved(media, tmp_path):
    pandas = pytest.importorskip("pandas")
    words = [f"word{j}" for j in range(media["en"].shape[1])]
    frame = pandas.DataFrame(media["en"].toarray(), columns=words)
    fitted = quiet(VARIANTS["skl"]).fit({"de": media["de"], "en": frame})
    fitted.save(tmp_path / "model")
    assert laconic.load(tmp_path / "model").model.topics() == fitted.topics()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("modalities", ["de", "de"]),
        ("modalities", ["de"]),
        ("modalities", []),
        ("modalities", ["de", 3]),
        ("n_terms", [60, 46]),
        ("n_terms", [105]),
        ("n_terms", [0, 105]),
        ("weights", [np.ones((80, 3)) / 3]),
        ("weights", [np.ones((80, 3)) / 3, np.ones((79, 3)) / 3]),
        ("weights", [np.ones((80, 3)) / 3, np.ones((80, 2)) / 3]),
        ("weights", [np.ones((80, 3)) / 3, np.full((80, 3), -1.0)]),
        ("weights", [np.ones((80, 3)) / 3, np.full((80, 3), np.nan)]),
        ("weights", [np.ones((80, 3)) / 3, np.ones((80, 3), np.float32) / 3]),
        ("term_names", {"en": ["a", "b"]}),
        ("term_names", {"fr": ["a", "b"]}),
        ("components", np.ones((2, 105))),
    ],
)
def test_states_that_do_not_fit_are_refused(media, part, value):
    fitted = quiet(VARIANTS["skl"]).fit(media)
    state = fitted._fitted_state() | {part: value}
    with pytest.raises(ValueError):
        clone(fitted)._restore(state)


def test_topics_sum_to_one_over_every_modality(media):
    fitted = quiet(VARIANTS["skl"]).fit(media)
    topics = fitted.components_.copy()
    german = fitted.n_terms_["de"]
    # of two over all words, as two modalities should be
    topics[0, :german] *= 1.5
    topics[0, german:] *= 0.5
    with pytest.raises(ValueError, match=r"n_terms.*sum to one"):
        clone(fitted)._restore(fitted._fitted_state() | {"components": topics})


def test_max_iter_warns_and_the_model_is_usable(model, media):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        fitted = clone(model).set_params(max_iter=2, tol=0).fit(media)
    assert fitted.n_iter_ == len(fitted.objective_history_) == 2
    assert fitted.transform(media).shape == (80, 3)


def test_a_callback_can_stop_the_fit(model, media):
    phases = []

    def watch(progress):
        phases.append(progress.phase)
        return progress.phase == "fit" and progress.iteration == 3

    fitted = clone(model).set_params(tol=0).fit(media, callback=watch)
    assert fitted.n_iter_ == 3
    assert ("start" in phases) == (model.divergence != "tied")
    stopped = clone(model).fit(media, callback=lambda p: True)
    assert stopped.n_iter_ == len(stopped.objective_history_) <= 1
    assert stopped.transform(media).shape == (80, 3)
    for name in media:
        np.testing.assert_allclose(stopped.modality_topics(name).sum(axis=1), 1)


def test_a_refit_that_fails_leaves_no_model(media):
    def fail(progress):
        raise RuntimeError("stop")

    fitted = quiet(VARIANTS["skl"]).fit(media)
    with pytest.raises(RuntimeError, match="stop"):
        fitted.fit({"a": media["de"]}, callback=fail)
    with pytest.raises(NotFittedError):
        fitted.transform(media)


def test_a_refit_keeps_nothing_of_the_first(model, media):
    fitted = quiet(model).fit({"fr": media["en"], "de": media["de"]})
    assert bits(fitted.fit(media)) == bits(quiet(model).fit(media))
    assert fitted.modalities_ == ("de", "en")


def test_parameters_are_left_alone(model, media):
    before = model.get_params()
    assert clone(model).fit(media, callback=lambda p: True).get_params() == before


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_components", [1, 2, 50])
def test_any_number_of_topics(model, n_components):
    """50 is more than there are documents and more than there are terms."""
    media = planted_modalities(30, {"de": 20, "en": 15})
    fitted = clone(model).set_params(n_components=n_components, max_iter=100).fit(media)
    assert fitted.components_.shape == (n_components, 35)
    assert np.isfinite(fitted.components_).all()
    assert np.isfinite(fitted.transform(media)).all()
    assert len(fitted.topics(modality="en")) == n_components


def test_one_document(model):
    fitted = quiet(model).fit({"de": [[1.0, 2.0, 0.0]], "en": [[3.0]]})
    assert np.isfinite(fitted.transform({"de": [[1.0, 0.0, 0.0]]})).all()


def test_new_documents_without_known_words(model, media):
    fitted = quiet(model).fit(media)
    strange = np.zeros((2, 60))
    # the last term occurs in no document of the fit
    strange[1, -1] = 3
    assert (fitted.transform(strange, "de") == 1 / 3).all()
    assert (fitted.transform({"de": strange}) == 1 / 3).all()
    assert fitted.translate(strange, "de", "en") == [[], []]
    assert not fitted.similarity(strange, media["en"], "de", "en").any()
    assert fitted.translate(media["de"][:1], "de", "en", n_terms=0) == [[]]
    assert len(fitted.translate(media["de"][1:2], "de", "en", n_terms=1000)[0]) <= 45


def test_progress_is_shown(media, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr("laconic.progress.Console", lambda **_: Console(file=out, force_terminal=True))
    quiet(VARIANTS["skl"]).set_params(verbose=1).fit(media)
    assert "iteration" in out.getvalue()


def test_not_fitted(media, tmp_path):
    model = MultimodalPLSA()
    for use in (
        lambda: model.transform(media),
        lambda: model.transform(media["de"], "de"),
        lambda: model.topics(),
        lambda: model.topics(modality="de"),
        lambda: model.modality_topics("de"),
        lambda: model.modality_model("de"),
        lambda: model.similarity(media["de"], media["en"], "de", "en"),
        lambda: model.translate(media["de"], "de", "en"),
        lambda: model.score(media),
        lambda: model.perplexity(media["de"], "de"),
        lambda: model.save(tmp_path / "m"),
    ):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"divergence": "cosine"}, "divergence='cosine' is not known"),
        ({"strength": -1}, "strength must be a number of at least 0"),
        ({"strength": np.nan}, "strength must be"),
        ({"row_normalize": "yes"}, "row_normalize='yes'"),
        ({"n_components": 0}, "n_components must be"),
        ({"init": "magic"}, "init='magic'"),
        ({"init": np.ones((3, 60))}, "init has shape"),
    ],
)
def test_parameters_that_make_no_sense(media, parameters, message):
    with pytest.raises(ValueError, match=message):
        clone(VARIANTS["skl"]).set_params(**parameters).fit(media)


def broken(X, value):
    X = X.copy()
    X.data[3] = value
    return X


def test_input_that_makes_no_sense(media):
    german, english = media["de"], media["en"]

    def refuse(X, message, error=ValueError, **arguments):
        with pytest.raises(error, match=message):
            clone(VARIANTS["skl"]).fit(X, **arguments)

    refuse(german, "mapping from the names of modalities", TypeError)
    refuse([german, english], "mapping from the names", TypeError)
    refuse({}, "empty")
    refuse({"de": german, 3: english}, "must be a non-empty string", TypeError)
    refuse({"": german}, "must be a non-empty string", TypeError)
    refuse({"de": german, "en": english[:-1]}, "'de' has 80 rows and 'en' has 79")
    refuse({"de": german, "en": csr_array(english.shape)}, "modality 'en': X has no words")
    refuse({"de": german, "en": broken(english, np.nan)}, r"modality 'en': .*NaN")
    refuse({"de": german, "en": broken(english, np.inf)}, r"modality 'en': .*infinity")
    refuse({"de": german, "en": broken(english, -1.0)}, r"modality 'en': Negative")
    refuse({"de": german, "en": english[:, 0]}, "modality 'en'")
    refuse({"de": german, "en": np.full((80, 4), 1e18, np.float32)}, "modality 'en': .*too large for float32")
    corpus = laconic.Corpus.from_texts(["salt pepper", "salt pepper", "sun moon", "sun moon"])
    refuse({"de": german, "en": corpus}, r"modality 'en': .*corpus\.counts", TypeError)
    refuse(media, "graph", graph=np.ones((3, 3, 3)))
    half, other = german.toarray(), english.toarray()
    half[40:], other[:40] = 0, 0
    refuse({"de": half, "en": other}, "no document ties 'de' to 'en'")
    with pytest.raises(ValueError, match=r"'tied'.*graph"):
        clone(VARIANTS["tied"]).fit(media, graph=[[0, 1]])


def test_new_input_that_makes_no_sense(media):
    fitted = quiet(VARIANTS["skl"]).fit(media)

    def refuse(use, message, error=ValueError):
        with pytest.raises(error, match=message):
            use()

    refuse(lambda: fitted.transform(media["de"]), "which modality is X.*'de', 'en'")
    refuse(
        lambda: fitted.transform(media["de"], "fr"), "modality='fr' is not known; choose one of 'de', 'en'"
    )
    refuse(lambda: fitted.transform(media, "de"), "leave out modality=")
    refuse(lambda: fitted.transform({"fr": media["de"]}), "modality='fr' is not known")
    refuse(lambda: fitted.transform({}), "empty")
    refuse(lambda: fitted.transform({"de": media["en"]}), "modality 'de': .*features")
    refuse(lambda: fitted.transform(media["en"], "de"), "features")
    refuse(lambda: fitted.transform({"de": media["de"], "en": media["en"][1:]}), "80 rows .* 79")
    refuse(lambda: fitted.transform(broken(media["de"], np.nan), "de"), "NaN")
    refuse(lambda: fitted.transform(broken(media["de"], -1.0), "de"), "Negative")
    refuse(lambda: fitted.modality_topics("fr"), "not known")
    refuse(lambda: fitted.modality_topics(0), "not known")
    refuse(lambda: fitted.translate(media["de"], "de", "fr"), "not known")
    refuse(lambda: fitted.translate(media["de"], "de", "en", vocabulary=["a"]), "vocabulary has 1")
    refuse(lambda: fitted.translate(media["de"], "de", "en", n_terms=-1), "n_terms")
    refuse(lambda: fitted.perplexity(media["de"]), "which modality")
    refuse(lambda: fitted.score(media["de"]), "which modality")
