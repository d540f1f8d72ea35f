"""What every model promises, whatever its mathematics."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from planting import planted
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import laconic
from laconic import NMF, PLSA, RLSI, GraphPLSA, GroupNMF, GroupRLSI, SparseLSA, priors
from laconic.engines import Shards
from laconic.errors import InputWarning
from laconic.models import MODELS
from laconic.steering import Anchors

# of the first words, so that they fit any number of terms; topic 0 is there with any number of topics
ANCHORS = Anchors({0: {0: 1.0, 1: 0.5}}, strength=0.2, forbidden={0: [2]})

VARIANTS = {
    "rlsi-l1-l2": RLSI(3),
    "rlsi-l1-l2-nonnegative": RLSI(3, nonnegative=True),
    "rlsi-l1-l1": RLSI(3, doc_norm="l1"),
    "rlsi-l2-l2": RLSI(3, topic_norm="l2"),
    "rlsi-l2-l2-nonnegative": RLSI(3, topic_norm="l2", nonnegative=True),
    "rlsi-l2-l1": RLSI(3, topic_norm="l2", doc_norm="l1"),
    "rlsi-l0": RLSI(3, topic_norm="l0", terms_per_topic=10),
    "rlsi-l0-nonnegative": RLSI(3, topic_norm="l0", terms_per_topic=10, nonnegative=True),
    "rlsi-l0-l1": RLSI(3, topic_norm="l0", terms_per_topic=10, doc_norm="l1"),
    "rlsi-l0-both": RLSI(3, topic_norm="l0", terms_per_topic=10, nonnegative="both", init="svd"),
    "rlsi-l1-both": RLSI(3, nonnegative="both", doc_norm="l1", init="svd"),
    "nmf-cd": NMF(3),
    "nmf-cd-documents": NMF(3, init="documents"),
    "nmf-mu": NMF(3, solver="mu"),
    "nmf-kl": NMF(3, loss="kl"),
    "nmf-kl-pareto": NMF(3, loss="kl", prior=priors.Pareto(0.5)),
    "nmf-kl-cd": NMF(3, loss="kl", solver="cd"),
    "plsa": PLSA(3),
    "plsa-em": PLSA(3, solver="em"),
    "plsa-cd": PLSA(3, solver="cd"),
    "plsa-pseudo-dirichlet": PLSA(3, prior=priors.PseudoDirichlet(0.05, weight=0.1)),
    "plsa-over-documents": PLSA(3, prior=priors.PseudoDirichlet(0.01, weight=0.1, over="documents")),
    "graph-plsa-skl": GraphPLSA(3),
    "graph-plsa-l2": GraphPLSA(3, divergence="l2"),
    "graph-plsa-l1": GraphPLSA(3, divergence="l1"),
    "graph-plsa-random": GraphPLSA(3, divergence="l2", init="random"),
    "sparse-lsa": SparseLSA(3),
    "sparse-lsa-nonnegative": SparseLSA(3, nonnegative=True),
    "group-rlsi-l1": GroupRLSI(1, 1),
    "group-rlsi-l1-nonnegative": GroupRLSI(1, 1, nonnegative=True),
    "group-rlsi-l2": GroupRLSI(1, 1, topic_norm="l2"),
    "group-rlsi-l0": GroupRLSI(1, 1, topic_norm="l0", terms_per_topic=10),
    "group-rlsi-l0-both": GroupRLSI(1, 1, topic_norm="l0", terms_per_topic=10, nonnegative="both"),
    "group-nmf-cd": GroupNMF(1, 1),
    "group-nmf-mu": GroupNMF(1, 1, solver="mu"),
    "rlsi-l1-anchored": RLSI(3, anchors=ANCHORS),
    "rlsi-l0-anchored": RLSI(3, topic_norm="l0", terms_per_topic=10, anchors=ANCHORS),
    "nmf-cd-anchored": NMF(3, anchors=ANCHORS),
    "plsa-anchored": PLSA(3, anchors=ANCHORS),
    "group-rlsi-l0-anchored": GroupRLSI(1, 1, topic_norm="l0", terms_per_topic=10, anchors=ANCHORS),
}


@pytest.fixture(params=VARIANTS, scope="module")
def model(request):
    return clone(VARIANTS[request.param]).set_params(random_state=0)


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


def bits(model):
    return dense(model.components_).tobytes(), model.objective_history_.tobytes()


def grouped(model):
    return isinstance(model, GroupRLSI | GroupNMF)


def on_counts(model):
    """Whether the loss is the divergence: then there have to be words."""
    return model.wants == "counts"


def mixture(model):
    """Whether the weights of a document sum to one: then one without words has all topics."""
    return on_counts(model) and not isinstance(model, NMF)


def sized(model, n_topics):
    """The number of topics, as parameters; group models see two classes."""
    if not grouped(model):
        return {"n_components": n_topics}
    n_own = 0 if n_topics == 1 else 1
    return {"n_shared": n_topics - 2 * n_own, "n_per_class": n_own}


def labels(X):
    """Two classes, in no order: every third document is a sea."""
    return np.where(np.arange(X.shape[0]) % 3 == 0, "sea", "sky")


def fit(model, X, **arguments):
    return model.fit(X, labels(X), **arguments)


def anchored(model):
    return getattr(model, "anchors", None) is not None


def quiet(model):
    return clone(model).set_params(max_iter=2000, tol=1e-6)


def test_every_model_is_in_the_contract():
    # MultimodalPLSA takes a mapping of matrices: test_multimodal_contract.py makes it keep these promises
    alone = {"MultimodalPLSA"}
    expected = {kind for name, kind in MODELS.items() if name not in alone}
    assert {type(model) for model in VARIANTS.values()} == expected


def expected_failures(model):
    """Checks of scikit-learn that a model cannot pass, and why."""
    if isinstance(model, GraphPLSA):
        reason = "fit_transform gives the weights under the links; transform knows none"
        return dict.fromkeys(("check_transformer_general", "check_transformer_data_not_an_array"), reason)
    over_documents = getattr(getattr(model, "prior", None), "over", None) == "documents"
    if getattr(model, "solver", None) == "mu" or over_documents:
        reason = "partial_fit refuses multiplicative updates, and priors over documents"
        return dict.fromkeys(("check_fit_score_takes_y", "check_n_features_in_after_fitting"), reason)
    return {}


# scikit-learn asks about the class: its first variant, and the one that shares least code with that
UNLIKE_THE_FIRST = (
    "rlsi-l0-both",
    "nmf-kl-pareto",
    "plsa-over-documents",
    "graph-plsa-l1",
    "sparse-lsa-nonnegative",
    "group-rlsi-l0",
    "group-nmf-mu",
)
CHECKED = [
    *{type(model): model for model in reversed(VARIANTS.values())}.values(),
    *(VARIANTS[name] for name in UNLIKE_THE_FIRST),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_objective_never_rises_at_any_half_step(model, X):
    seen = []
    fit(quiet(model), X, callback=lambda p: seen.append(p.objective) if p.phase == "fit" else None)
    seen = np.array(seen)
    assert len(seen) > 4
    assert (np.diff(seen) <= 1e-10 * seen[:-1]).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(model, dtype):
    # more documents and terms than one block holds
    X = planted(2500, 1200, seed=3, dtype=dtype)
    fitted = [fit(clone(model).set_params(n_jobs=n, max_iter=5, tol=0), X) for n in (1, 2, 4)]
    assert len({bits(each) for each in fitted}) == 1
    assert len({dense(each.transform(X)).tobytes() for each in fitted}) == 1


def sharded(X, n_shards=5):
    return Shards.cut(X.copy(), n_shards)


def whole(model):
    """Whether documents depend on each other, so that shards are refused."""
    return model._loss().whole


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_five_shards_give_the_same_bits_for_any_number_of_threads(model):
    X = planted(2500, 1200, seed=3, dtype=np.float32)
    if whole(model):
        with pytest.raises(ValueError, match=f"{type(model).__name__} couples documents.*5 shards"):
            model.fit(sharded(X), labels(X))
        return
    fits = [clone(model).set_params(n_jobs=n, max_iter=5, tol=0).fit(sharded(X), labels(X)) for n in (1, 4)]
    assert len({bits(each) for each in fits}) == 1
    assert fits[0].data_hash_ == fit(clone(model).set_params(max_iter=1, tol=0), X).data_hash_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_five_shards_agree_with_one(model):
    """From the same start: only the order of sums differs."""
    X = planted(2500, 1200, seed=3, dtype=np.float32)
    if whole(model):
        pytest.skip("couples documents: refused on shards")
    start = fit(clone(model).set_params(max_iter=3, tol=0), X).components_
    settings = {"alpha_topics": 0.5} if getattr(model, "topic_norm", "l0") != "l0" else {}

    def run(X, max_iter):
        return fit(clone(model).set_params(init=start, max_iter=max_iter, tol=0, **settings), X)

    one, five = dense(run(X, 1).components_), dense(run(sharded(X), 1).components_)
    np.testing.assert_allclose(five, one, atol=1e-5 * np.abs(one).max())
    # a fit that has come to rest may stop before the tenth iteration
    last = [run(data, 10).objective_history_[-1] for data in (X, sharded(X))]
    assert last[1] == pytest.approx(last[0], rel=1e-4)


def test_drawn_starts_do_not_depend_on_shards(model):
    if whole(model):
        pytest.skip("couples documents: refused on shards")
    X = planted(400, 120, seed=5)
    one, five = fit(quiet(model), X), fit(quiet(model), sharded(X))
    assert five.objective_history_[0] == pytest.approx(one.objective_history_[0], rel=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_side_by_side_give_the_same_bits(model):
    """Large enough for a threaded BLAS to show, if the other fit's end gave it its threads back."""
    X = planted(3000, 1200, n_topics=20, dtype=np.float32)
    large = clone(model).set_params(**sized(model, 150), max_iter=2, tol=0)
    alone = bits(fit(clone(large), X))
    others = [clone(model).set_params(max_iter=3, tol=0) for _ in range(6)]
    small = planted(300, 100, dtype=np.float32)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fit, clone(large), X)
        list(pool.map(lambda other: fit(other, small), others))
        assert bits(first.result()) == alone


def test_the_same_seed_gives_the_same_bits(model, X):
    assert bits(fit(quiet(model), X)) == bits(fit(quiet(model), X))


def test_fit_then_transform_is_fit_transform(model, X):
    if isinstance(model, GraphPLSA):
        pytest.skip("fit_transform gives the weights under the links; transform knows none")
    np.testing.assert_array_equal(
        dense(quiet(model).fit_transform(X, labels(X))), dense(fit(quiet(model), X).transform(X))
    )


def test_float32_agrees_with_float64(model, X):
    exact = fit(quiet(model), X)
    single = fit(quiet(model), X.astype(np.float32))
    assert single.components_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.objective_history_[-1] == pytest.approx(exact.objective_history_[-1], rel=1e-3)
    # not a question of other local minima: the same topics give the same weights
    single.components_ = exact.components_.astype(np.float32)
    np.testing.assert_allclose(
        dense(single.transform(X.astype(np.float32))), dense(exact.transform(X)), atol=2e-4
    )


def test_dense_and_sparse_input_agree(model, X):
    sparse, from_dense = fit(quiet(model), X), fit(quiet(model), X.toarray())
    np.testing.assert_allclose(dense(sparse.components_), dense(from_dense.components_), atol=1e-12)


def test_unsorted_and_duplicate_entries_are_summed_and_the_input_is_left_alone(model, X):
    doubled = X.tocoo()
    rows = np.concatenate([doubled.row, doubled.row])[::-1]
    columns = np.concatenate([doubled.col, doubled.col])[::-1]
    halves = np.concatenate([doubled.data, doubled.data])[::-1] / 2
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    messy = csr_array((halves[order], columns[order], indptr), shape=X.shape)
    before = messy.data.copy(), messy.indices.copy()
    fitted = fit(quiet(model), messy)
    np.testing.assert_allclose(dense(fitted.components_), dense(fit(quiet(model), X).components_), atol=1e-9)
    np.testing.assert_array_equal(messy.data, before[0])
    np.testing.assert_array_equal(messy.indices, before[1])


def test_empty_documents_and_terms(model, X):
    fitted = fit(quiet(model), X)
    assert not dense(fitted.components_)[:, -2:].any()
    W = dense(fitted.transform(X))
    assert W.shape == (X.shape[0], 3)
    assert (W[::40] == (1 / 3 if mixture(model) else 0)).all()
    assert np.isfinite(W).all()


def test_an_all_zero_matrix_gives_no_topics(model):
    if on_counts(model):
        with pytest.raises(ValueError, match="no words"):
            fit(clone(model), csr_array((6, 5)))
        return
    if anchored(model) and model.word_budget is not None:
        # topics of length one stay where they are held
        assert not dense(fit(clone(model), csr_array((6, 5))).transform(csr_array((2, 5)))).any()
        return
    with pytest.warns(InputWarning, match="no topic has a word"):
        fitted = fit(clone(model), csr_array((6, 5)))
    assert fitted.n_alive_ == 0
    assert fitted.objective_history_[-1] == 0
    assert fitted.score(csr_array((6, 5))) == 0
    assert not dense(fitted.transform(csr_array((2, 5)))).any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_components", [1, 2, 3, 40])
def test_any_number_of_topics(model, n_components):
    """40 is more than there are documents and more than there are terms."""
    X = planted(30, 25, seed=1)
    if isinstance(model, SparseLSA) and n_components > 30:
        with pytest.raises(ValueError, match="n_components=40"):
            fit(clone(model).set_params(n_components=40), X)
        return
    fitted = fit(quiet(model).set_params(**sized(model, n_components), max_iter=200), X)
    assert fitted.components_.shape == (n_components, 25)
    assert np.isfinite(dense(fitted.components_)).all()
    assert np.isfinite(dense(fitted.transform(X))).all()
    assert len(fitted.topics()) == n_components


def test_one_document_or_one_term(model):
    if anchored(model):
        model = clone(model).set_params(anchors=Anchors({0: [0]}))
    for X in (np.array([[1.0, 2.0, 0.0]]), np.array([[1.0], [2.0], [0.0]])):
        n_topics = 1 if isinstance(model, SparseLSA) else 3
        fitted = fit(quiet(model).set_params(**sized(model, n_topics)), X)
        assert np.isfinite(dense(fitted.transform(X))).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(model, X, bad):
    broken = X.copy()
    broken.data[3] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(clone(model), broken)
    fitted = fit(quiet(model), X)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.transform(broken)


def test_overflow_is_an_error_not_a_nan(model):
    huge = np.full((5, 4), 1e18, np.float32)
    with pytest.raises(ValueError, match=r"too large for float32.*float64"):
        fit(clone(model), huge)
    with pytest.raises(ValueError, match="too large for float32"):
        fit(clone(model), np.eye(5, 4, dtype=np.float32)).transform(huge)
    with pytest.raises(ValueError, match="too large for float64"):
        fit(clone(model), np.full((5, 4), 1e160))
    with pytest.raises(ValueError, match=r"too small for float32.*float64"):
        fit(clone(model), np.full((5, 4), 1e-25, np.float32))


def test_a_matrix_with_other_columns_is_refused(model, X):
    with pytest.raises(ValueError, match="features"):
        fit(quiet(model), X).transform(X[:, :10])


def test_not_fitted(model, X, tmp_path):
    for use in (
        lambda m: m.transform(X),
        lambda m: m.topics(),
        lambda m: m.inverse_transform([[0, 0, 0]]),
        lambda m: m.score(X),
        lambda m: m.save(tmp_path / "m"),
        lambda m: m.n_alive_,
    ):
        with pytest.raises(NotFittedError):
            use(clone(model))


def test_saved_and_loaded_models_agree_to_the_bit(model, X, tmp_path):
    fitted = fit(quiet(model), X)
    fitted.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert type(loaded) is type(fitted)
    assert bits(loaded) == bits(fitted)
    assert loaded.get_params() == fitted.get_params()
    np.testing.assert_array_equal(dense(loaded.transform(X)), dense(fitted.transform(X)))
    public = {name for name in vars(fitted) if name.endswith("_")}
    assert public == {name for name in vars(loaded) if name.endswith("_")}


def test_topics_are_listed_by_weight_and_keep_their_numbers(model, X):
    fitted = fit(quiet(model), X)
    vocabulary = [f"word{m}" for m in range(X.shape[1])]
    for k, topic in enumerate(fitted.topics(vocabulary, n_terms=7)):
        weights = [abs(weight) for _, weight in topic]
        assert weights == sorted(weights, reverse=True)
        assert 0 not in weights
        for term, weight in topic:
            assert dense(fitted.components_)[k, int(term[4:])] == weight
    with pytest.raises(ValueError, match="vocabulary"):
        fitted.topics(vocabulary[:-1])
    assert fitted.topics(n_terms=0) == [[], [], []]
    assert [len(topic) for topic in fitted.topics(n_terms=None)] == list(fitted.topic_sizes_)


def test_distinct_words_are_listed_where_they_are_strongest(model, X):
    fitted = fit(quiet(model), X)
    C = dense(fitted.components_)
    shares = C / np.where(C.any(1, keepdims=True), np.linalg.norm(C, axis=1, keepdims=True), 1)
    strengths = np.where(C > 0, 1 + shares, -shares)
    listed = fitted.topics([str(m) for m in range(X.shape[1])], None, distinct=True)
    owners = {int(term): k for k, topic in enumerate(listed) for term, _ in topic}
    assert sum(map(len, listed)) == len(owners) == np.count_nonzero(C.any(axis=0))
    for term, k in owners.items():
        assert strengths[k, term] == pytest.approx(strengths[:, term].max(), rel=1e-6)
    whole = fitted.topics([str(m) for m in range(X.shape[1])], None)
    for k, topic in enumerate(listed):
        assert topic == [(term, weight) for term, weight in whole[k] if owners[int(term)] == k]


def test_large_weights_are_positive(model, X):
    C = dense(fit(quiet(model), X).components_)
    assert (np.einsum("km,km->k", C, np.abs(C)) >= 0).all()


def test_measures_of_topics(model, X):
    fitted = fit(quiet(model), X)
    C = dense(fitted.components_)
    np.testing.assert_array_equal(fitted.topic_sizes_, np.count_nonzero(C, axis=1))
    assert fitted.n_alive_ == np.count_nonzero(C.any(axis=1))
    assert fitted.density_ == pytest.approx(np.count_nonzero(C) / C.size)
    assert fitted.distinct_terms_ == pytest.approx(C.any(axis=0).sum() / np.count_nonzero(C))
    unit = C / np.where(C.any(1, keepdims=True), np.linalg.norm(C, axis=1, keepdims=True), 1)
    cosines = np.abs(unit @ unit.T) - np.eye(3) * 2
    assert fitted.max_cosine_ == pytest.approx(cosines.max(), abs=1e-9)


def explained(model, X, back):
    """The score, from whole matrices."""
    if not on_counts(model):
        return 1 - ((X - back) ** 2).sum() / (X**2).sum()
    if mixture(model):
        back = X.sum(axis=1, keepdims=True) * back
    seen = X > 0

    def divergence(fitted):
        return np.sum(X[seen] * np.log(X[seen] / fitted[seen])) - X.sum() + fitted.sum()

    return 1 - divergence(back) / divergence(np.outer(X.sum(1), X.sum(0)) / X.sum())


def test_inverse_transform_and_score(model, X):
    fitted = fit(quiet(model), X)
    # projections are not weights
    W = fitted.transform(X, mode="lsq") if isinstance(model, SparseLSA) else fitted.transform(X)
    back = dense(fitted.inverse_transform(W))
    np.testing.assert_allclose(back, dense(W) @ dense(fitted.components_), atol=1e-12)
    share = explained(model, X.toarray(), back)
    assert fitted.score(X) == pytest.approx(share, abs=1e-10)
    assert 0.05 < share <= 1
    with pytest.raises(ValueError, match="3 topics"):
        fitted.inverse_transform(np.ones((2, 4)))


def test_pipeline_grid_search_and_data_frames(model, X):
    search = GridSearchCV(
        make_pipeline(MaxAbsScaler(), quiet(model)),
        [
            {f"{type(model).__name__.lower()}__{name}": [value] for name, value in sized(model, n).items()}
            for n in (1, 3)
        ],
        cv=2,
    )
    search.fit(X, labels(X))
    assert search.best_estimator_[-1].components_.shape[0] == 3
    frame = fit(quiet(model).set_output(transform="pandas"), X).transform(X)
    names = [f"{type(model).__name__.lower()}{k}" for k in range(3)]
    assert list(frame.columns) == (["shared0", "sea0", "sky0"] if grouped(model) else names)
    assert frame.shape == (X.shape[0], 3)


def test_max_iter_warns_and_the_model_is_usable(model, X):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        fitted = fit(clone(model).set_params(max_iter=2, tol=0), X)
    assert fitted.n_iter_ == len(fitted.objective_history_) == 2
    assert fitted.transform(X).shape == (X.shape[0], 3)


def test_a_callback_can_stop_the_fit(model, X):
    fitted = fit(clone(model).set_params(tol=0), X, callback=lambda p: p.phase == "fit" and p.iteration == 3)
    assert fitted.n_iter_ == 3
    stopped = fit(clone(model).set_params(tol=0), X, callback=lambda p: True)
    assert stopped.transform(X).shape == (X.shape[0], 3)
    assert stopped.n_iter_ == len(stopped.objective_history_) <= 1
    if model.get_params().get("terms_per_topic"):
        assert stopped.topic_sizes_.max() <= model.terms_per_topic


def test_a_refit_that_fails_leaves_no_model(model, X):
    def fail(progress):
        raise RuntimeError("stop")

    fitted = fit(quiet(model), X)
    wider = planted(50, 200)
    with pytest.raises(RuntimeError, match="stop"):
        fit(fitted, wider, callback=fail)
    with pytest.raises(NotFittedError):
        fitted.transform(wider)
    # and a model whose parts do not belong together never reaches a kernel
    patched = fit(quiet(model), X)
    patched.n_features_in_ = 200
    with pytest.raises(ValueError, match="topics have 80"):
        patched.transform(wider)


def test_a_refit_keeps_nothing_of_the_first(model, X):
    fitted = fit(quiet(model), X)
    fitted.alpha_max_ = -1.0
    fit(fitted, X)
    assert getattr(fitted, "alpha_max_", 0) >= 0


def test_a_corpus_is_not_its_matrix(model):
    corpus = laconic.Corpus.from_texts(["salt pepper", "salt pepper", "sun moon", "sun moon"])
    with pytest.raises(TypeError, match=r"corpus\.X"):
        fit(clone(model), corpus)


def test_given_topics_as_a_start(model, X):
    found = fit(quiet(model), X)
    # a default penalty depends on where the fit begins
    penalties = {"alpha_topics": found.alpha_topics_} if hasattr(found, "alpha_topics_") else {}
    again = fit(quiet(model).set_params(init=found.components_, **penalties), X)
    # multiplicative updates begin a little away from the zeros they could not leave; those with a prior from
    # maximum likelihood; linked documents from weights that move slowly; topics of counts with some of their
    # anchors
    floored = getattr(model, "solver", None) == "mu" or getattr(model, "prior", None) is not None
    floored = floored or isinstance(model, GraphPLSA) or (anchored(model) and on_counts(model))
    assert again.objective_history_[0] <= found.objective_history_[-1] * (1 + (1e-2 if floored else 1e-10))
    assert floored or again.n_iter_ <= 10
    with pytest.raises(ValueError, match="shape"):
        fit(quiet(model).set_params(init=np.ones((2, 2))), X)
    with pytest.raises(ValueError, match="init"):
        fit(quiet(model).set_params(init="magic"), X)
