"""Anchors: what they mean, by naive versions, limits and identities; what they refuse."""

import numpy as np
import pandas as pd
import pytest
from planting import planted
from scipy.sparse import csr_array
from sklearn.base import clone

import laconic
from laconic import NMF, PLSA, RLSI, GraphPLSA, GroupNMF, GroupRLSI, MultimodalPLSA, SparseLSA
from laconic.engines import Block, Shards, Threads
from laconic.losses.divergence.mixtures import Mixture, Separate
from laconic.losses.divergence.pseudocounts import pseudo_counts
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.steering import Anchors

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X looks like tf-idf weights"),
]

N, M, K = 40, 30, 4


@pytest.fixture(scope="module")
def X():
    return planted(N, M, n_topics=4, seed=3)


@pytest.fixture(scope="module")
def Z():
    random = np.random.default_rng(1)
    return random.random((K, M)) * (random.random((K, M)) < 0.3)


STRENGTHS = np.array([0.0, 0.2, 3.0, 0.0])
FORBIDDEN = {0: [1, 2], 2: [5], 3: [1]}


def taus(X, Z, strengths):
    return strengths * (X.data**2).sum() / (K * np.maximum((Z**2).sum(1), 1e-300))


def barred():
    mask = np.zeros((K, M), bool)
    for k, words in FORBIDDEN.items():
        mask[k, words] = True
    return mask


def naive_penalised(X, C, W, Z, tau, alpha, alpha_docs, topic_norm, nonnegative):
    """The objective after a topic step that is solved to the end, coordinate by coordinate."""
    S, R = W.T @ W + np.diag(tau), W.T @ X + tau[:, None] * Z
    for _ in range(2000):
        before = C.copy()
        for k in range(K):
            b = R[k] - S[k] @ C + S[k, k] * C[k]
            if topic_norm == "l1":
                c = np.sign(b) * np.maximum(np.abs(b) - alpha / 2, 0) / S[k, k]
            else:
                c = b / (S[k, k] + alpha)
            C[k] = np.where(barred()[k], 0, np.maximum(c, 0) if nonnegative else c)
        if np.abs(C - before).max() < 1e-13:
            break
    penalty = np.abs(C).sum() if topic_norm == "l1" else (C**2).sum()
    anchors = (tau[:, None] * (C - Z) ** 2).sum()
    loss = ((X - W @ C) ** 2).sum() + alpha * penalty + alpha_docs * (W**2).sum() + anchors
    return C, loss


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("topic_norm", ["l1", "l2"])
def test_a_penalised_topic_step_is_the_naive_one(X, Z, topic_norm, nonnegative):
    alpha, alpha_docs = 0.02, 0.1
    start = np.where(barred(), 0, np.abs(np.random.default_rng(0).normal(size=(K, M))))
    Z = np.where(barred(), 0, Z)
    anchors = Anchors(Z, strength=STRENGTHS.tolist(), forbidden=FORBIDDEN)
    model = RLSI(
        K,
        topic_norm=topic_norm,
        alpha_topics=alpha,
        alpha_docs=alpha_docs,
        nonnegative=nonnegative,
        init=start,
        max_iter=1,
        tol=1e-9,
        anchors=anchors,
    ).fit(X)
    tau = taus(X, Z, STRENGTHS)
    W = X.toarray() @ start.T @ np.linalg.inv(start @ start.T + alpha_docs * np.eye(K))
    # the free topics are rescaled against their weights, the others are not
    power = 1 if topic_norm == "l1" else 2
    scale = (2 * alpha_docs * (W**2).sum(0) / (power * alpha * (np.abs(start) ** power).sum(1))) ** (
        1 / (power + 2)
    )
    scale[tau > 0] = 1
    expected, loss = naive_penalised(
        X.toarray(), start * scale[:, None], W / scale, Z, tau, alpha, alpha_docs, topic_norm, nonnegative
    )
    found = model.components_.toarray() if topic_norm == "l1" or nonnegative else model.components_
    signs = np.sign((found * expected).sum(1))
    np.testing.assert_allclose(found * signs[:, None], expected, atol=1e-5)
    assert (signs[tau > 0] == 1).all()
    assert model.objective_history_[0] == pytest.approx(loss, rel=1e-6)
    assert not found[barred()].any()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_word_budget_step_is_the_naive_one(X, Z, nonnegative):
    budget, alpha_docs = 6, 0.1
    start = np.where(barred(), 0, np.abs(np.random.default_rng(0).normal(size=(K, M))))
    for row in start:
        row[np.argsort(-row)[budget:]] = 0
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    Z = np.where(barred(), 0, Z)
    settings = {"topic_norm": "l0", "terms_per_topic": budget, "nonnegative": nonnegative}
    anchors = Anchors(Z, strength=STRENGTHS.tolist(), forbidden=FORBIDDEN, frozen=[3])
    model = RLSI(K, **settings, init=start, max_iter=1, anchors=anchors).fit(X)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    tau = taus(X, unit, np.where(np.arange(K) == 3, 0, STRENGTHS))
    C, dense = start.copy(), X.toarray()
    C[3] = unit[3]
    W = dense @ C.T @ np.linalg.inv(C @ C.T + alpha_docs * np.eye(K))
    S, R = W.T @ W + np.diag(tau), W.T @ dense + tau[:, None] * unit
    for k in range(3):
        b = np.where(barred()[k], 0, R[k] - S[k] @ C + S[k, k] * C[k])
        size = np.maximum(b, 0) if nonnegative else np.abs(b)
        keep = np.argsort(-size, kind="stable")[:budget]
        C[k] = 0
        C[k, keep] = np.where(size[keep] > 0, b[keep], 0)
        C[k] /= np.linalg.norm(C[k])
    found = model.components_.toarray()
    signs = np.sign((found * C).sum(1))
    np.testing.assert_allclose(found * signs[:, None], C, atol=1e-10)
    np.testing.assert_allclose(found[3], unit[3], rtol=1e-15)
    loss = ((dense - W @ C) ** 2).sum() + alpha_docs * (W**2).sum() + (tau[:, None] * (C - unit) ** 2).sum()
    assert model.objective_history_[0] == pytest.approx(loss, rel=1e-10)


def test_an_expectation_maximisation_step_is_the_naive_one(X, Z):
    Z = np.where(barred(), 0, Z)
    anchors = Anchors(Z, strength=STRENGTHS.tolist(), forbidden=FORBIDDEN, frozen=[3])
    held = anchors.resolve({k: k for k in range(K)}, M, None, X.dtype, nonnegative=True)
    counts, z = X.toarray(), Z / Z.sum(1, keepdims=True)
    tau = np.where(np.arange(K) == 3, 0, STRENGTHS) * counts.sum() / K
    random = np.random.default_rng(0)
    Q, W = np.where(barred(), 0, random.random((K, M)) + 0.1), random.random((N, K)) + 0.1
    Q, W = Q / Q.sum(1, keepdims=True), W / W.sum(1, keepdims=True)
    with Threads(1) as engine:
        shards = Shards.whole(X)
        shards[0].weights = W.copy()
        before = pseudo_counts(held, shards, engine, [Block(0, M)])
        topics = np.ascontiguousarray(Q.T)
        steps = DivergenceSteps(shards, topics, Separate(Mixture(simplex=True)), engine, before=before)
        told = [steps.objective(), steps.documents(), steps.topics(), steps.objective()]

    def objective(W, Q):
        seen = counts > 0
        k, m = np.nonzero(tau[:, None] * z)
        pulled = (tau[k] * z[k, m] * np.log(z[k, m] / Q[k, m])).sum()
        return (counts[seen] * np.log(counts[seen] / (W @ Q)[seen])).sum() + pulled

    def ratios(W, Q):
        return np.divide(counts, W @ Q, out=np.zeros_like(counts), where=counts > 0)

    first = objective(W, Q)
    W = W * (ratios(W, Q) @ Q.T)
    W = np.where(counts.sum(1, keepdims=True) > 0, W / np.maximum(W.sum(1, keepdims=True), 1e-300), 1 / K)
    second = objective(W, Q)
    expected = Q * (W.T @ ratios(W, Q)) + tau[:, None] * z
    expected /= expected.sum(1, keepdims=True)
    expected[3] = Q[3]
    np.testing.assert_allclose(steps.components.T, expected, rtol=1e-9)
    np.testing.assert_allclose(told, [first, first, second, objective(W, expected)], rtol=1e-10)
    assert not steps.components.T[barred()].any()


SEVERAL = {
    "l1": RLSI(K),
    "l2": RLSI(K, topic_norm="l2"),
    "l0": RLSI(K, topic_norm="l0", terms_per_topic=M),
    "nmf": NMF(K),
    "mu": NMF(K, solver="mu"),
    "kl": NMF(K, loss="kl"),
    "kl-cd": NMF(K, loss="kl", solver="cd"),
    "plsa": PLSA(K),
    "graph": GraphPLSA(K),
}


def scaled(name, Z):
    """Targets as topics of a model."""
    if name == "l0":
        return Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / Z.sum(1, keepdims=True) if name in ("kl", "kl-cd", "plsa", "graph") else Z


def dense(model):
    found = model.components_
    return found if isinstance(found, np.ndarray) else found.toarray()


@pytest.mark.parametrize("name", SEVERAL)
def test_strong_anchors_hold_topics_where_they_are(name, X, Z):
    model = clone(SEVERAL[name]).set_params(random_state=0, anchors=Anchors(Z, strength=1e6)).fit(X)
    expected = scaled(name, Z)
    np.testing.assert_allclose(dense(model), expected, atol=1e-4 * expected.max())


@pytest.mark.parametrize("name", SEVERAL)
def test_frozen_topics_stay_to_the_bit_beside_free_ones(name, X, Z):
    targets = scaled(name, Z).astype(np.float32)
    anchors = Anchors(targets, strength=0, frozen=[1, 3])
    model = clone(SEVERAL[name]).set_params(random_state=0, anchors=anchors).fit(X.astype(np.float32))
    assert dense(model)[[1, 3]].tobytes() == targets[[1, 3]].tobytes()
    assert not np.array_equal(dense(model)[0], targets[0])
    assert (np.diff(model.objective_history_) <= 1e-6 * np.abs(model.objective_history_[:-1])).all()


@pytest.mark.parametrize("name", ["l1", "l0", "nmf", "plsa"])
def test_words_of_anchors_are_topics_words_though_no_document_has_them(name, X):
    wider = csr_array((X.data, X.indices, X.indptr), shape=(N, M + 3))
    anchors = Anchors({2: {M + 1: 1.0, 4: 0.5}}, strength=1.0)
    model = clone(SEVERAL[name]).set_params(random_state=0, anchors=anchors).fit(wider)
    assert dense(model)[2, M + 1] > 0.01
    # others may need it with the opposite sign
    assert name == "l0" or not dense(model)[[0, 1, 3], M + 1].any()


@pytest.mark.parametrize("name", ["l2", "nmf", "plsa"])
def test_an_anchor_is_a_document_that_is_all_of_its_topic(name, X, Z):
    """The objective is that of the data and these documents, with the weights that they have."""
    anchored = clone(SEVERAL[name]).set_params(random_state=0, tol=1e-9, max_iter=500)
    if name == "l2":
        anchored.set_params(alpha_topics=0.1, alpha_docs=0.1)
    model = clone(anchored).set_params(anchors=Anchors(Z, strength=0.7)).fit(X)
    C, x = dense(model), X.toarray()
    W = np.asarray(model.transform(X).toarray() if name == "nmf" else model.transform(X))
    if name == "plsa":
        z, counts = Z / Z.sum(1, keepdims=True), x
        tau = 0.7 * counts.sum() / K
        whole, weights = np.vstack([counts, tau * z]), np.vstack([W, np.eye(K)])
        seen = whole > 0
        fitted = (whole.sum(1, keepdims=True) * (weights @ C))[seen]
        loss = (whole[seen] * np.log(whole[seen] / fitted)).sum()
    else:
        root = np.sqrt(taus(X, Z, np.full(K, 0.7)))
        whole, weights = np.vstack([x, root[:, None] * Z]), np.vstack([W, np.diag(root)])
        loss = ((whole - weights @ C) ** 2).sum()
        if name == "l2":
            loss += 0.1 * (C**2).sum() + 0.1 * (W**2).sum()
    assert model.objective_history_[-1] == pytest.approx(loss, rel=1e-5)


def test_seeded_topics_keep_their_index_and_their_words():
    X = planted(400, 120, n_topics=6, seed=5)
    plain = NMF(6, random_state=0).fit(X)
    tops = [int(dense(plain)[k].argmax()) for k in range(6)]
    for shift in range(3):
        wanted = {k: [tops[(k + shift) % 6]] for k in range(4)}
        for model in (NMF(6), RLSI(6, topic_norm="l0", terms_per_topic=10), PLSA(6), RLSI(6)):
            found = dense(model.set_params(anchors=Anchors(wanted, strength=0.5), random_state=1).fit(X))
            for k, (word,) in wanted.items():
                assert word in np.argsort(-found[k])[:3], (model, k)


@pytest.mark.parametrize(
    "model", [GroupRLSI(1, 2), GroupRLSI(1, 2, topic_norm="l0", terms_per_topic=8), GroupNMF(1, 2)]
)
def test_anchors_of_classes_name_their_owner(model):
    X = planted(300, 60, n_topics=5, seed=2)
    y = np.where(np.arange(300) % 2, "sea", "sky")
    anchors = Anchors(
        {("sky", 1): [7], ("shared", 0): [9]},
        strength={("sky", 1): 50.0, ("shared", 0): 50.0},
        forbidden={("sea", 0): [3]},
    )
    fitted = model.set_params(anchors=anchors, random_state=0).fit(X, y)
    owners = fitted.topic_class_.tolist()
    assert owners == ["shared", "sea", "sea", "sky", "sky"]
    C = dense(fitted)
    assert C[4].argmax() == 7
    assert C[0].argmax() == 9
    assert C[1, 3] == 0
    assert (np.diff(fitted.objective_history_) <= 1e-9 * fitted.objective_history_[:-1]).all()
    by_number = (
        clone(fitted)
        .set_params(anchors=Anchors({4: [7], 0: [9]}, strength=50.0, forbidden={1: [3]}))
        .fit(X, y)
    )
    np.testing.assert_array_equal(dense(by_number), C)


def test_anchors_of_modalities():
    X = planted(200, 50, n_topics=4, seed=2)
    two = {"de": X, "en": csr_array(X[:, ::-1])}
    anchors = {
        "de": Anchors({0: [3], 1: [8]}, strength=20.0),
        "en": Anchors(forbidden=[4], frozen=[2], targets={2: [10]}),
    }
    for divergence in ("skl", "tied"):
        model = MultimodalPLSA(4, divergence=divergence, anchors=anchors, random_state=0).fit(two)
        assert model.modality_topics("de")[0].argmax() == 3
        assert model.modality_topics("de")[1].argmax() == 8
        assert not model.modality_topics("en")[:, 4].any()
        assert model.modality_topics("en")[2, 10] == 1
        assert (np.diff(model.objective_history_) <= 1e-9 * model.objective_history_[:-1]).all()
    with pytest.raises(ValueError, match="anchors are for 'fr', but there are de, en"):
        MultimodalPLSA(4, anchors={"fr": Anchors({0: [1]})}).fit(two)
    with pytest.raises(ValueError, match="a mapping of modalities"):
        MultimodalPLSA(4, anchors=Anchors({0: [1]})).fit(two)


@pytest.mark.parametrize("model", [NMF(4), PLSA(4), RLSI(4, topic_norm="l0", terms_per_topic=12)])
def test_names_of_columns_are_words(model):
    X = planted(200, 60, n_topics=4, seed=2).toarray()
    frame = pd.DataFrame(X, columns=[f"word{m}" for m in range(60)])
    anchors = Anchors({1: ["word7", "word8"]}, strength=5.0, forbidden={0: ["word3"]})
    fitted = clone(model).set_params(anchors=anchors, random_state=0).fit(frame)
    assert {word for word, _ in fitted.topics(n_terms=2)[1]} == {"word7", "word8"}
    by_number = Anchors({1: [7, 8]}, strength=5.0, forbidden={0: [3]})
    same = clone(model).set_params(anchors=by_number, random_state=0).fit(X)
    np.testing.assert_array_equal(dense(fitted), dense(same))


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ({"targets": {9: [1]}}, "anchors name the topic 9, which the model does not have; it has 0, 1, 2, 3"),
        ({"targets": {0: [99]}}, "the word 99 of the anchors is not one of the 30 terms"),
        ({"targets": {0: ["sun"]}}, "columns of X have no names, so the word 'sun'"),
        ({"targets": {0: "sun"}}, "a target of anchors is a list of words"),
        ({"targets": np.ones((3, 30))}, "targets of anchors have shape .3, 30., but 4 topics over 30 terms"),
        ({"targets": {0: np.ones(7)}}, "a target of anchors has shape .1, 7., but there are 30 terms"),
        ({"targets": {0: {1: np.nan}}}, "must be finite"),
        ({"targets": {0: {1: -1.0}}}, "have negative words, but topics of this model do not"),
        ({"targets": {0: [1]}, "strength": [1.0]}, "there are 1 strengths of anchors, but 4 topics"),
        ({"frozen": [2]}, "topic 2 is frozen, but has no target"),
        ({"forbidden": {1: range(30)}}, "all words are forbidden in topic 1"),
    ],
)
def test_what_does_not_fit_a_model_is_named(anchors, message, X):
    with pytest.raises(laconic.errors.ParameterError, match=message):
        NMF(K, anchors=Anchors(**anchors)).fit(X)


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ({"strength": -1.0}, "a number from 0 on, not -1.0"),
        ({"strength": [0.1, "much"]}, "a number from 0 on, not 'much'"),
        ({"frozen": 3}, "frozen of anchors must be a list, not 3"),
        ({"forbidden": "the"}, "forbidden of anchors must be a list, not 'the'"),
        ({"targets": "sun"}, "targets of anchors must be a mapping or a matrix"),
    ],
)
def test_what_fits_no_model_is_refused_at_once(anchors, message):
    with pytest.raises(laconic.errors.ParameterError, match=message):
        Anchors(**anchors)


def test_models_say_what_anchors_are(X):
    with pytest.raises(laconic.errors.ParameterError, match=r"anchors must be None or Anchors.*not dict"):
        NMF(K, anchors={0: [1]}).fit(X)
    with pytest.raises(TypeError, match="anchors"):
        SparseLSA(K, anchors=Anchors())


@pytest.mark.filterwarnings("ignore:the model was saved without a vocabulary")
@pytest.mark.parametrize(
    "anchors",
    [
        Anchors({0: [1, 2], 2: {3: 0.5, 4: 1.0}}, strength={0: 0.5, 2: 0.1}, forbidden=[7]),
        Anchors(csr_array(np.eye(K, M)), strength=[0.1, 0, 0.3, 0], frozen=(1,), forbidden={2: [7, 8]}),
        Anchors({1: np.arange(M, dtype=float)}, frozen=[1]),
    ],
)
def test_anchors_are_saved_with_the_model(anchors, X, tmp_path):
    model = RLSI(K, random_state=0, anchors=anchors).fit(X)
    model.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert loaded.anchors == anchors
    assert loaded.components_.data.tobytes() == model.components_.data.tobytes()
    assert clone(loaded).fit(X).components_.data.tobytes() == model.components_.data.tobytes()


@pytest.mark.filterwarnings("ignore:the model was saved without a vocabulary")
def test_anchors_of_classes_and_modalities_are_saved_too(X, tmp_path):
    y = np.where(np.arange(N) % 2, "sea", "sky")
    anchors = Anchors(
        {("sea", 0): [3]}, strength={("sea", 0): 1.0}, frozen=[("sea", 0)], forbidden={("shared", 0): [1]}
    )
    GroupNMF(1, 1, anchors=anchors, random_state=0).fit(X, y).save(tmp_path / "groups")
    assert laconic.load(tmp_path / "groups").model.anchors == anchors
    by_modality = {"a": Anchors({0: [3]}), "b": Anchors(forbidden=[2])}
    MultimodalPLSA(2, anchors=by_modality, random_state=0).fit({"a": X, "b": X}).save(tmp_path / "modalities")
    assert laconic.load(tmp_path / "modalities").model.anchors == by_modality


def test_anchors_grow_with_a_model():
    """More terms and topics come behind those that anchors know."""
    row = csr_array(np.array([[0.0, 2.0]]))
    grown = Anchors({0: row, 1: ["word"], 2: np.array([1.0, 0.0])}).grown(4, 3)
    assert grown.targets[0].toarray().tolist() == [[0, 2, 0]]
    assert grown.targets[1] == ["word"]
    assert grown.targets[2].toarray().tolist() == [[1, 0, 0]]
    assert row.shape == (1, 2)
    assert Anchors(np.eye(2)).grown(3, 3).targets.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert Anchors().grown(3, 3).targets is None
