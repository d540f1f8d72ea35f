"""Starts: of a sample where documents are many, and from singular vectors, whatever the seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.sparse import csr_array, hstack, random_array
from scipy.stats import ortho_group
from sklearn.base import clone

from laconic import NMF, RLSI, GroupRLSI, SparseLSA
from laconic.engines import Room, Shard, Shards, Threads, room
from laconic.engines.room import is_mapped
from laconic.evaluate import topic_overlap
from laconic.losses.rotation import varimax
from laconic.losses.singular import basis_width, singular_vectors
from laconic.losses.squared import starts
from laconic.losses.squared.classes import Classes

BUDGET = {"topic_norm": "l0", "terms_per_topic": 5}


def planted(n_topics, n_documents):
    """Documents about one of some topics of five words each, with noise; and the topics."""
    random = np.random.RandomState(0)
    topics = np.kron(np.eye(n_topics), np.linspace(1.5, 1, 5))
    about = random.permutation(n_documents) % n_topics
    counts = random.poisson(2 * topics[about]) + random.poisson(0.05, (n_documents, topics.shape[1]))
    return csr_array(counts.astype(np.float64)), topics


@pytest.fixture
def few_suffice(monkeypatch):
    """Samples of 50 documents, or two for every topic."""
    monkeypatch.setattr(starts, "SAMPLE", 50)
    monkeypatch.setattr(starts, "SAMPLE_PER_TOPIC", 2)


@pytest.mark.parametrize("n_groups", [2, 4, 8])
def test_groups_of_the_same_size_are_told_apart(n_groups):
    """Their singular vectors may lie half way between them, where no direction is better than another."""
    groups = np.kron(np.eye(n_groups), np.ones((5, 1)))
    turns = [hadamard(n_groups) / np.sqrt(n_groups)]
    turns += [ortho_group.rvs(n_groups, random_state=seed) for seed in range(5)]
    for turn in turns:
        found = np.abs(groups @ turn @ varimax(groups @ turn, np.eye(n_groups)))
        assert (found.max(axis=1) > 0.99).all()
        assert (found.argmax(axis=1).reshape(-1, 5).std(axis=1) == 0).all()


def test_two_topics_of_four_words():
    X = csr_array(np.kron(np.eye(2), np.ones((2, 2))))
    for seed in range(5):
        topics = RLSI(2, topic_norm="l0", random_state=seed).fit(X).topics()
        assert sorted(sorted(word for word, _ in topic) for topic in topics) == [["0", "1"], ["2", "3"]]


def test_a_sample_has_documents_of_every_class(few_suffice):
    members = np.array([0] * 900 + [1] * 7 + [2] * 93)
    sample = starts.sample_of(Classes(members, 2, (3, 3, 3)), np.random.RandomState(0))
    sizes = np.bincount(members[sample], minlength=3)
    assert (np.diff(sample) > 0).all()
    assert sizes[1] == 7
    assert sizes[2] >= 8
    assert 50 <= sizes.sum() <= 50 + 7 + 8


def test_a_small_collection_is_taken_whole(few_suffice):
    assert starts.sample_of(Classes.single(50, 3), np.random.RandomState(0)) is None


@pytest.mark.parametrize(
    "model",
    [
        RLSI(4, **BUDGET),
        RLSI(4, init="svd", **BUDGET),
        RLSI(4),
        RLSI(4, init="svd"),
        RLSI(4, topic_norm="l2", init="svd"),
        NMF(4),
    ],
)
def test_a_sample_finds_what_all_documents_have(few_suffice, model):
    X, topics = planted(4, n_documents=400)
    found = model.set_params(random_state=0).fit(X)
    assert topic_overlap(topics, found.components_, n_terms=5).mean() > 0.9
    again = model.fit(X)
    np.testing.assert_array_equal(again.objective_history_, found.objective_history_)


def test_a_sample_of_classes_starts_group_models(few_suffice):
    X, _ = planted(4, n_documents=400)
    labels = np.where(np.arange(400) < 390, "large", "small")
    model = GroupRLSI(2, 2, random_state=0, **BUDGET).fit(X, labels)
    assert model.n_alive_ == 6


def test_a_fit_that_is_stopped_in_its_start_has_topics(few_suffice):
    X, _ = planted(4, n_documents=400)
    for init in ("documents", "svd"):
        model = RLSI(4, init=init, random_state=0, **BUDGET)
        model.fit(X, callback=lambda progress: True)
        assert model.n_alive_ == 4
        assert model.topic_sizes_.max() <= 5


def test_terms_that_a_sample_lacks_do_not_matter_to_its_singular_vectors(monkeypatch):
    X = csr_array(random_array((300, 40), density=0.2, rng=0, dtype=np.float64))
    wide = csr_array((X.data, 3 * X.indices, X.indptr), (300, 200))
    monkeypatch.setattr(starts, "SAMPLE", 100)
    models = [NMF(3, random_state=0, max_iter=20, tol=0.1).fit(each) for each in (X, wide)]
    np.testing.assert_allclose(
        models[0].components_.toarray(), models[1].components_.toarray()[:, :120:3], atol=1e-6
    )


def in_files(shards, folder):
    files = Room(folder)
    return Shards([Shard(files.matrix(shard.X), shard.documents, room=files) for shard in shards])


def test_more_topics_begin_with_more_terms_while_they_fit():
    many = 10 * starts.TERMS
    assert starts.most_terms(20, many) == starts.TERMS
    assert starts.most_terms(200, many) == 200 * starts.TERMS_PER_TOPIC
    assert starts.most_terms(2000, many) * basis_width(2000) <= starts.ENTRIES


def test_few_documents_begin_with_as_many_terms():
    assert starts.most_terms(20, 5000) == 5000
    assert starts.most_terms(200, 100) == starts.FEWEST_TERMS


def test_documents_are_few_in_the_collection_not_in_the_sample(monkeypatch):
    for name, value in {"SAMPLE": 50, "SAMPLE_PER_TOPIC": 10, "TERMS": 250, "FEWEST_TERMS": 20}.items():
        monkeypatch.setattr(starts, name, value)
    looked_at = []
    take = starts._for_singular_vectors

    def watched(*arguments):
        shards, terms = take(*arguments)
        looked_at.append((shards.n_documents, terms.size))
        return shards, terms

    monkeypatch.setattr(starts, "_for_singular_vectors", watched)
    X = csr_array(random_array((300, 400), density=0.1, rng=0, dtype=np.float64))
    RLSI(1, init="svd", random_state=0, **BUDGET).fit(X)
    assert looked_at == [(50, 250)]


def test_singular_vectors_of_many_terms_are_those_of_the_frequent_ones(monkeypatch):
    """Topics are found as well, with words that the start did not have; for any number of threads."""
    X, topics = planted(5, n_documents=300)
    rare = csr_array(random_array((300, 200), density=0.005, rng=0, dtype=np.float64))
    X = csr_array(hstack([X, rare]))
    monkeypatch.setattr(starts, "ENTRIES", 20 * basis_width(5))
    assert starts.most_terms(5, 300) == 20
    model = RLSI(5, init="svd", random_state=0, **BUDGET)
    found = [clone(model).set_params(n_jobs=jobs).fit(X).components_ for jobs in (1, 3)]
    assert (found[0] != found[1]).nnz == 0
    assert topic_overlap(topics, found[0][:, :25], n_terms=5).mean() > 0.9


def test_singular_vectors_are_the_same_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "SMALL", 1)
    X, _ = planted(5, n_documents=90)
    near_by, far_off = Shards.cut(X, 3), in_files(Shards.cut(X, 3), tmp_path)
    with Threads(2) as engine:
        near = singular_vectors(near_by, engine, 5, np.random.RandomState(0))
        far = singular_vectors(far_off, engine, 5, np.random.RandomState(0))
    assert is_mapped(far.right)
    assert is_mapped(far_off[0].weights)
    assert near.right.tobytes() == far.right.tobytes()
    np.testing.assert_allclose(near.values, np.linalg.svd(X.toarray())[1][:5], rtol=1e-3)


@pytest.mark.parametrize("model", [RLSI(3, init="svd"), NMF(3), SparseLSA(3, init="svd", rotate="varimax")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_from_singular_vectors_are_the_same_in_files(model, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "SMALL", 1)
    monkeypatch.setattr(starts, "ENTRIES", 10 * basis_width(3))
    X, _ = planted(3, n_documents=90)
    model.set_params(random_state=0, max_iter=5)
    near = clone(model).fit(Shards.cut(X, 3))
    far = clone(model).fit(in_files(Shards.cut(X, 3), tmp_path))
    assert near.objective_history_.tobytes() == far.objective_history_.tobytes()
    assert abs(near.components_ - far.components_).sum() == 0


@pytest.mark.parametrize("model", [NMF(5), RLSI(5, init="svd", **BUDGET)])
def test_singular_vectors_leave_little_to_chance(model):
    X, _ = planted(5, n_documents=200)
    one, two = (model.set_params(random_state=seed).fit(X).components_.copy() for seed in (1, 2))
    assert topic_overlap(one, two, n_terms=5).mean() == 1


def test_shares_are_parts_of_one():
    X, _ = planted(3, n_documents=50)
    X = csr_array(np.vstack([X.toarray(), np.zeros((1, X.shape[1]))]))
    model = RLSI(3, nonnegative="both", init="svd", random_state=0, **BUDGET).fit(X)
    weights = model.transform(X)
    shares = model.shares(weights)
    assert weights.data.min() > 0
    np.testing.assert_allclose(shares.sum(axis=1)[:-1], 1, rtol=1e-5)
    assert shares[[-1]].nnz == 0
    np.testing.assert_allclose(model.shares(weights.toarray()), shares.toarray(), rtol=1e-6)
    with pytest.raises(ValueError, match="cannot be shares"):
        RLSI(3, nonnegative=True).fit(X).shares(weights)
    for wrong in (-weights, np.array([[1, 2, np.nan]])):
        with pytest.raises(ValueError, match="must be non-negative"):
            model.shares(wrong)
    for wrong in (X, np.ones(3)):
        with pytest.raises(ValueError, match="a column for each of 3 topics"):
            model.shares(wrong)


def test_singular_vectors_come_close_in_few_rounds():
    """Where values fall slowly, powers alone would leave some percent of the space outside."""
    random = np.random.RandomState(0)
    left, right = (np.linalg.qr(random.standard_normal((size, 60)))[0] for size in (300, 200))
    values = 0.97 ** np.arange(60)
    X = csr_array((left * values) @ right.T)
    with Threads(1) as engine:
        found = singular_vectors(Shards.cut(X, 2), engine, 5, np.random.RandomState(0))
    outside = 1 - np.square(right[:, :5].T @ found.right).sum() / 5
    assert outside < 0.01
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(5), atol=1e-6)


def test_turned_singular_vectors_are_the_planted_topics():
    """Each topic from one vector, though singular vectors mix them all; without a single iteration."""
    X, topics = planted(5, n_documents=400)
    with Threads(1) as engine:
        found = starts.turned_topics(Shards.cut(X, 2), engine, 5, np.random.RandomState(0))
    assert topic_overlap(topics, found, n_terms=5).mean() == 1
    assert found.data.min() > 0
    np.testing.assert_allclose(np.sqrt(found.multiply(found).sum(axis=1)), 1)


def test_documents_stand_in_for_singular_vectors_that_do_not_exist():
    X = csr_array(np.repeat(planted(2, n_documents=2)[0].toarray(), 5, axis=0))
    with Threads(1) as engine:
        found = starts.turned_topics(Shards.cut(X, 1), engine, 4, np.random.RandomState(0))
    assert found.shape == (4, 10)
    assert np.isfinite(found.data).all()
    assert (np.diff(found.indptr) > 0).all()


def test_topics_from_turned_vectors_keep_to_their_budget_and_never_rise():
    X = csr_array(random_array((300, 80), density=0.2, rng=0, dtype=np.float64))
    model = RLSI(6, nonnegative="both", init="svd", random_state=0, tol=1e-9, **BUDGET).fit(X)
    assert model.topic_sizes_.max() <= 5
    assert (np.diff(model.objective_history_) <= 1e-12 * model.objective_history_[0]).all()
    lengths = np.sqrt(model.components_.multiply(model.components_).sum(axis=1))
    np.testing.assert_allclose(lengths[model.topic_sizes_ > 0], 1)
