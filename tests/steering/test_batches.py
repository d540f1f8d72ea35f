"""Batches: models that go on with more documents, by the sums over those before."""

import numpy as np
import pytest
from planting import planted
from scipy.sparse import csr_array
from sklearn.base import clone

import laconic
from laconic import NMF, PLSA, RLSI, GroupNMF, GroupRLSI
from laconic.errors import ParameterError
from laconic.losses.divergence import pools
from laconic.steering import Anchors

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X looks like tf-idf weights"),
]

MODELS = {
    "l1": RLSI(4, alpha_topics=0.3),
    "l1-default": RLSI(4),
    "l2": RLSI(4, topic_norm="l2", alpha_topics=0.3),
    "l0": RLSI(4, topic_norm="l0", terms_per_topic=15),
    "both": RLSI(4, nonnegative="both", doc_norm="l1", alpha_topics=0.3),
    "nmf": NMF(4),
    "kl": NMF(4, loss="kl"),
    "plsa": PLSA(4),
    "plsa-em": PLSA(4, solver="em"),
    "plsa-cd": PLSA(4, solver="cd"),
    "group-nmf": GroupNMF(2, 1),
    "group-l1": GroupRLSI(2, 1, alpha_topics=0.3),
    "group-l0": GroupRLSI(2, 1, topic_norm="l0", terms_per_topic=15),
    "only-shared": GroupRLSI(3, 0, alpha_topics=0.3),
}


@pytest.fixture(scope="module")
def data():
    X = planted(240, 80, n_topics=4, seed=2)
    y = np.where(np.arange(240) % 3 == 0, "sea", "sky")
    return X, y, np.array_split(np.random.default_rng(0).permutation(240), 4)


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param]).set_params(random_state=0, tol=1e-6)


def dense(model):
    found = model.components_
    return found if isinstance(found, np.ndarray) else found.toarray()


def batched(model, data, **options):
    X, y, parts = data
    for part in parts:
        model.partial_fit(X[part], y[part], **options)
    return model


def test_the_objective_never_rises_within_a_batch_and_topics_are_nearly_those_of_all(model, data):
    X, y, parts = data
    batches = clone(model)
    for part in parts:
        seen = []
        batches.partial_fit(
            X[part], y[part], callback=lambda p, s=seen: s.append(p.objective) if p.phase == "fit" else None
        )
        assert (np.diff(seen) <= 1e-9 * np.abs(seen[:-1])).all()
    assert batches.n_documents_seen_ == 240
    settled = {}
    if getattr(model, "topic_norm", "l0") != "l0":
        settled = {"alpha_topics": batches.alpha_topics_}
    whole = clone(model).set_params(**settled).fit(X, y)
    assert 1 - batches.score(X, y) <= 1.05 * (1 - whole.score(X, y))


@pytest.mark.parametrize("name", ["l1", "l2", "l0", "nmf", "both"])
def test_what_is_kept_are_the_sums_over_all_documents(name, data):
    """After one batch, S and R are W'W and W'X with the weights that the topics give."""
    X, _y, _ = data
    model = clone(MODELS[name]).set_params(random_state=0, tol=1e-9).partial_fit(X)
    W = model.transform(X)
    W = W if isinstance(W, np.ndarray) else W.toarray()
    close = {"atol": 2e-4 * np.abs(W).max() ** 2 * len(W), "rtol": 2e-2}
    np.testing.assert_allclose(model.seen_.grams[0], W.T @ W, **close)
    np.testing.assert_allclose(model.seen_.products[0], X.T @ W, **close)
    assert model.seen_.energy == pytest.approx((X.data**2).sum())


@pytest.mark.parametrize("name", ["l2", "nmf", "l0"])
def test_a_batch_of_the_same_documents_is_the_topic_step_of_all(name, data):
    """Documents that come twice count twice: topics of a model that rests stay where they are."""
    X, _y, _ = data
    model = clone(MODELS[name]).set_params(random_state=0, tol=1e-10, max_iter=3000)
    if name == "l2":
        # as of twice the documents
        model.set_params(alpha_topics=0.0, alpha_docs=0.0)
    once = model.partial_fit(X)
    before, objective = dense(once).copy(), once.objective_history_[-1]
    twice = once.partial_fit(X)
    assert twice.objective_history_[-1] == pytest.approx(2 * objective, rel=1e-5)
    # a factorisation knows topics up to their scale, and without penalties the space that they span
    unit, again = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (before, dense(twice)))
    if name == "l2":
        again = again @ np.linalg.pinv(unit) @ unit - again + unit
    np.testing.assert_allclose(again, unit, atol=1e-2)


def test_forgetting(data):
    X, _y, parts = data
    first = NMF(4, random_state=0).partial_fit(X[parts[0]])
    energy = first.seen_.energy
    own = float((X[parts[1]].data ** 2).sum())
    first.partial_fit(X[parts[1]], decay=0.25)
    assert first.seen_.energy == pytest.approx(0.25 * energy + own)
    nothing = first.partial_fit(X[parts[2]], decay=0.0)
    assert nothing.seen_.energy == pytest.approx(float((X[parts[2]].data ** 2).sum()))
    counts = PLSA(4, random_state=0).partial_fit(X[parts[0]])
    assert counts.seen_.sum() == pytest.approx(X[parts[0]].sum())
    counts.partial_fit(X[parts[1]], decay=0.5)
    assert counts.seen_.sum() == pytest.approx(0.5 * X[parts[0]].sum() + X[parts[1]].sum())
    counts.partial_fit(X[parts[2]], decay=0)
    assert counts.seen_.sum() == pytest.approx(X[parts[2]].sum())


@pytest.mark.filterwarnings("ignore:the model was saved without a vocabulary")
def test_saved_models_go_on_to_the_bit(model, data, tmp_path):
    X, y, parts = data
    half = clone(model)
    for part in parts[:2]:
        half.partial_fit(X[part], y[part])
    half.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert loaded.n_documents_seen_ == 120
    for each in (half, loaded):
        for part in parts[2:]:
            each.partial_fit(X[part], y[part])
    assert dense(half).tobytes() == dense(loaded).tobytes()
    assert half.objective_history_.tobytes() == loaded.objective_history_.tobytes()
    assert half.data_hash_ == loaded.data_hash_


@pytest.mark.parametrize("name", ["l1", "group-l0", "plsa"])
def test_threads_and_types_of_numbers(name, data):
    X, y, parts = data
    model = clone(MODELS[name]).set_params(random_state=0, max_iter=5)
    one, four = (batched(clone(model).set_params(n_jobs=n), data) for n in (1, 4))
    assert dense(one).tobytes() == dense(four).tobytes()
    mixed = clone(model).partial_fit(X[parts[0]].astype(np.float32), y[parts[0]])
    assert mixed.partial_fit(X[parts[1]], y[parts[1]]).components_.dtype == np.float32


@pytest.mark.parametrize("name", ["l1", "l0", "nmf", "plsa", "group-nmf"])
def test_topics_have_words_that_only_later_batches_have(name, data):
    X, y, parts = data
    early = X[parts[0]].copy()
    early.data[early.indices < 20] = 0
    early.eliminate_zeros()
    model = clone(MODELS[name]).set_params(random_state=0).partial_fit(early, y[parts[0]])
    assert not dense(model)[:, :20].any()
    model.partial_fit(X[parts[1]], y[parts[1]])
    assert dense(model)[:, :20].any()
    # and keep those that only the first had
    late = X[parts[2]].copy()
    late.data[late.indices >= 60] = 0
    late.eliminate_zeros()
    model.partial_fit(late, y[parts[2]])
    assert dense(model)[:, 60:].any()


@pytest.mark.parametrize("name", ["l0", "nmf", "plsa"])
def test_anchors_hold_topics_in_every_batch(name, data):
    anchors = Anchors({1: [5]}, strength=5.0, forbidden={None: [7]})
    model = batched(clone(MODELS[name]).set_params(random_state=0, anchors=anchors), data)
    assert dense(model)[1].argmax() == 5
    assert not dense(model)[:, 7].any()


def test_what_batches_cannot_be(data):
    X, y, _parts = data
    with pytest.raises(ParameterError, match="partial_fit needs solver='cd'"):
        NMF(4, solver="mu").partial_fit(X)
    over = laconic.priors.PseudoDirichlet(0.1, over="documents")
    with pytest.raises(ParameterError, match="cannot use prior over documents"):
        PLSA(4, prior=over).partial_fit(X)
    with pytest.raises(ParameterError, match="scale_by_class_size=True"):
        GroupRLSI(2, 1, scale_by_class_size=True).partial_fit(X, y)
    with pytest.raises(ValueError, match="decay"):
        NMF(4).partial_fit(X, decay=2)
    model = NMF(4, random_state=0).partial_fit(X)
    with pytest.raises(ParameterError, match="n_components has changed since the last batch"):
        model.set_params(n_components=5).partial_fit(X)
    groups = GroupNMF(2, 1, random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="the class 'land' is new"):
        groups.partial_fit(X[:3], ["sea", "land", "sky"])
    assert groups.classes_.tolist() == ["sea", "sky"]
    groups.partial_fit(X[:3], ["sea"] * 3)
    with pytest.raises(ValueError, match="requires y"):
        groups.partial_fit(X[:3])


def test_after_a_fit_batches_start_from_its_topics(data):
    X, _y, parts = data
    model = NMF(4, random_state=0).fit(X)
    before = dense(model).copy()
    model.partial_fit(X[parts[0]])
    alike = [np.corrcoef(a, b)[0, 1] for a, b in zip(before, dense(model), strict=True)]
    assert min(alike) > 0.7
    assert model.n_documents_seen_ == len(parts[0])


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("grams", [np.eye(3)], "seen: it is no array of shape .4, 4."),
        ("products", [], "seen: products are not one for each class"),
        ("energy", -1.0, "seen:.*0"),
        ("norms", [np.full(4, np.nan)], "seen: numbers are not finite"),
        ("more", 1, "seen: parts are missing, or strange"),
    ],
)
def test_stored_sums_are_checked(part, value, message, data):
    X, _, _ = data
    model = NMF(4, random_state=0).partial_fit(X)
    state = model._fitted_state()
    state["seen"] = state["seen"] | {part: value}
    with pytest.raises(ValueError, match=message):
        NMF(4)._restore(state)


def test_pools_are_of_documents_that_mix_topics_alike():
    random = np.random.default_rng(0)
    kinds = random.dirichlet(np.ones(4), 7)
    own = random.integers(7, size=200)
    sizes = random.integers(1, 50, 200).astype(float)
    sizes[:3] = 0
    groups = pools.alike(kinds[own] * sizes[:, None], sizes, 100)
    assert (groups[:3] == -1).all()
    assert len({(group, kind) for group, kind in zip(groups[3:], own[3:], strict=True)}) == 7
    few = pools.alike(kinds[own] * sizes[:, None], sizes, 3)
    assert set(few) == {-1, 0, 1, 2}
    assert (pools.alike(kinds, np.zeros(7), 3) == -1).all()


@pytest.mark.parametrize("name", ["kl", "plsa"])
def test_pools_of_documents_have_all_their_words(name, data, monkeypatch):
    X, _y, parts = data
    monkeypatch.setattr(pools, "POOLS", 12)
    monkeypatch.setattr(pools, "POOLS_PER_TOPIC", 1)
    model = clone(MODELS[name]).set_params(random_state=0)
    for n, part in enumerate(parts):
        model.partial_fit(X[part])
        assert model.seen_.shape == (12, X.shape[1])
        words = X[np.concatenate(parts[: n + 1])].sum(axis=0)
        np.testing.assert_allclose(model.seen_.sum(axis=0), words)


def test_topics_take_up_words_they_lacked_in_the_first_batch():
    """A word that the first batch had in one topic alone is learnt by another."""
    first = np.repeat([[9, 9, 5, 0, 0, 0], [0, 0, 0, 9, 9, 0]], 20, axis=0)
    later = np.repeat([[9, 9, 0, 0, 0, 1], [0, 0, 9, 9, 9, 0]], 200, axis=0)
    model = PLSA(2, random_state=0).partial_fit(first)
    other = int(model.components_[:, 3].argmax())
    assert model.components_[other, 2] < 1e-6
    model.partial_fit(later)
    assert model.components_[other, 2] > 0.2


def test_counts_that_an_earlier_version_stored_are_pools(data):
    X, _y, parts = data
    model = PLSA(4, random_state=0).partial_fit(X[parts[0]])
    state = model._fitted_state()
    counts = np.random.default_rng(0).random((80, 4))
    old = PLSA(4, random_state=0)._restore(state | {"seen": {"counts": counts}})
    np.testing.assert_array_equal(old.seen_.toarray(), counts.T)
    assert old.partial_fit(X[parts[1]]).seen_.sum() == pytest.approx(counts.sum() + X[parts[1]].sum())
    for wrong, message in [
        ({"counts": -counts}, "negative"),
        ({"counts": counts[:3]}, "it is no array"),
        ({"pools": counts}, "pools are no sparse matrix"),
        ({"pools": csr_array(counts.T * np.nan)}, "not finite"),
        ({"pools": csr_array(counts)}, "with 80 columns"),
        ({}, "no pools"),
    ]:
        with pytest.raises(ValueError, match=message):
            PLSA(4)._restore(state | {"seen": wrong})
