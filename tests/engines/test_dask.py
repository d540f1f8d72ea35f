"""The engine of a cluster: the bits of threads, whatever happens to workers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from local_workers import two_workers
from planting import planted
from scipy.sparse import csr_array
from sklearn.base import clone
from test_contract import VARIANTS, bits, labels

from laconic.engines import Shards

distributed = pytest.importorskip("distributed")

from laconic.engines import dividing, messages  # noqa: E402
from laconic.engines.cluster import Cluster  # noqa: E402
from laconic.engines.dask import DaskEngine  # noqa: E402
from laconic.engines.placed import KnownWeights, place_shard  # noqa: E402
from laconic.engines.shards import allot  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SEPARATE = [name for name, model in VARIANTS.items() if not model._loss().whole]


@pytest.fixture(scope="module")
def client():
    with (
        two_workers() as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def few(name):
    return clone(VARIANTS[name]).set_params(random_state=0, max_iter=2, tol=0)


@pytest.mark.parametrize("name", SEPARATE)
def test_the_same_bits_as_threads(client, name, tmp_path):
    X = planted(240, 100, seed=4, dtype=np.float32)
    near = few(name).fit(Shards.cut(X, 3), labels(X))
    far = few(name).fit(Shards.cut(X, 3), labels(X), engine=DaskEngine(client, tmp_path, least=0))
    assert bits(near) == bits(far)
    assert list(tmp_path.iterdir()) == []


ONE_OF_EACH_KIND = [
    "rlsi-l0", "rlsi-l1-l1", "nmf-cd", "nmf-kl", "plsa", "sparse-lsa", "group-rlsi-l0", "group-nmf-cd"
]  # fmt: skip


@pytest.mark.parametrize("n_workers", [1, 4])
def test_the_same_bits_for_any_number_of_workers(client, tmp_path, n_workers):
    """Also while their number changes; two are there in all other tests."""
    X = planted(240, 100, seed=4, dtype=np.float32)
    try:
        client.cluster.scale(n_workers)
        client.wait_for_workers(n_workers, timeout=600)
        for name in ONE_OF_EACH_KIND:
            expected = bits(few(name).fit(Shards.cut(X, 5), labels(X)))
            found = few(name).fit(Shards.cut(X, 5), labels(X), engine=DaskEngine(client, tmp_path, least=0))
            assert bits(found) == expected, name
    finally:
        client.cluster.scale(2)


@pytest.mark.parametrize(
    ("n_threads", "n_spans", "n_groups"),
    [(1, 1, 3), (2, 1, 6), (16, 4, 12), (100, 8, 38)],
)
def test_with_more_threads_there_are_more_tasks(n_threads, n_spans, n_groups):
    """A million documents, 100 topics, 100,000 terms: as long as weights are known, they are not moved."""
    sizes = dividing.Sizes(products=40_000_000, weights=400_000_000)
    spans = sizes.spans(32, n_threads)
    assert [number for span in spans for number in range(32)[span]] == list(range(32))
    assert len(spans) == n_spans
    assert sizes.n_groups(len(spans), n_threads) == n_groups


def test_a_billion_documents_are_not_read_by_each_task():
    """500 topics, 7 million terms: a group of terms takes a few hundred megabytes, whoever is there."""
    sizes = dividing.Sizes(products=14_000_000_000, weights=2_000_000_000_000)
    for n_threads, n_spans in ((16, 16), (100, 64), (1000, 128)):
        assert len(sizes.spans(4096, n_threads)) == n_spans
        assert sizes.n_groups(n_spans, n_threads) == 53


def test_messages_have_no_empty_rows():
    rows, columns = np.array([7, 70_000]), np.array([2, 4])
    topics = csr_array((np.array([1.5, -2], np.float32), (rows, columns)), shape=(100_000, 5))
    sent = messages.packed([topics, topics])
    assert len(sent) < 2000
    one, other = messages.receive(sent)
    assert one is other
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(topics, part))
        assert getattr(one, part).dtype == getattr(topics, part).dtype
    full = csr_array(np.eye(3))
    np.testing.assert_array_equal(messages.receive(messages.packed(full)).toarray(), np.eye(3))


def test_large_arrays_of_messages_are_files_for_as_long_as_a_verb_takes(client, tmp_path):
    large, turned = np.arange(messages.LARGE, dtype=np.float64), np.ones((1024, 1024)).T
    cluster = Cluster(client)
    with messages.sending(cluster, [large, turned, large], f"{tmp_path}/one") as sent:
        # what is not in the order of rows goes as it is, since its order may decide how sums are rounded
        assert [path.name for path in tmp_path.iterdir()] == ["one.0.npy"]
        once, other, again = messages.receive(sent._content)
        passed_on = pickle.loads(pickle.dumps(sent().result()))
        assert passed_on.open() is passed_on.open()
        np.testing.assert_array_equal(passed_on.open()[0], large)
        assert large.nbytes + turned.nbytes < cluster.n_sent < large.nbytes + 2 * turned.nbytes
    assert once is again
    assert once.flags.writeable
    np.testing.assert_array_equal(once, large)
    assert other.flags.f_contiguous
    assert list(tmp_path.iterdir()) == []


def test_terms_that_differ_in_weight_are_spread_over_all_tasks(client, tmp_path):
    """Blocks come in the order of their weights: groups of neighbours would keep workers waiting."""
    blocks = [np.array([term]) for term in range(7)]
    with DaskEngine(client, tmp_path, least=0) as engine:
        groups = [group().result() for group in engine._grouped(blocks, 3)]
        assert [[int(block[0]) for block in group] for group in groups] == [[0, 3, 6], [1, 4], [2, 5]]
        shards = Shards.cut(planted(60, 30), 5)
        engine.each(shards, allot, 1)
        found = list(engine.terms(shards, blocks, no_products, named_terms, None))
        assert list(engine.terms(shards, [], no_products, named_terms, None)) == []
    assert found == list(range(7))


def no_products(shard, terms, message):
    return 0


def named_terms(terms, sums, message):
    return int(terms[0])


def test_a_shard_is_for_the_same_worker_every_time(client, tmp_path, monkeypatch):
    shards, asked = Shards.cut(planted(60, 30), 6), []
    with DaskEngine(client, tmp_path, least=0) as engine:
        slots, submit = engine.cluster.slots()[:2], engine.cluster.submit

        def watched(name, *given, worker=None):
            if name == "shard":
                asked.append(worker)
            return submit(name, *given, worker=worker)

        monkeypatch.setattr(engine.cluster, "slots", lambda **how: slots)
        monkeypatch.setattr(engine.cluster, "submit", watched)
        for _ in range(2):
            assert sum(engine.each(shards, size, None)) == 60
    assert asked == 2 * [*[slots[0]] * 3, *[slots[1]] * 3]


def size(shard, message):
    return shard.n_documents


def test_workers_know_what_they_have_read_or_written(tmp_path):
    place = place_shard(Shards.whole(planted(6, 20))[0], tmp_path, "shard0")
    one, other = (place._replace(klass=klass) for klass in (0, 1))
    weights = np.ones((6, 2))
    known = KnownWeights(2 * weights.nbytes)
    known.put(one, "first", weights)
    assert known.get(one, "first") is weights
    assert known.get(other, "first") is None
    # of a shard, only what was written last
    known.put(one, "second", weights + 1)
    assert known.get(one, "first") is None
    known.put(other, "third", weights)
    known.put(place._replace(klass=2), "fourth", weights)
    assert known.get(other, "third") is not None
    assert known.get(place._replace(klass=2), "fourth") is None
    # whoever gets it elsewhere begins anew
    assert pickle.loads(pickle.dumps(known)).get(other, "third") is None


def test_weights_that_are_known_are_those_of_their_file(tmp_path):
    place, known = place_shard(Shards.whole(planted(6, 20))[0], tmp_path, "shard0"), KnownWeights()
    path = tmp_path / "weights.npy"
    np.save(path, np.ones((6, 2)))
    reading = place.open({"weights": str(path)}, known, writable=False)
    assert reading.weights.sum() == 12
    # whoever writes takes what is known away: it is the file's no more
    writing = place.open({"weights": str(path)}, known, writable=True)
    assert writing.weights is reading.weights
    writing.weights[:] = 5
    again = place.open({"weights": str(path)}, known, writable=False)
    assert again.weights.sum() == 12
    path.unlink()
    assert place.open({"weights": str(path)}, known, writable=False).weights is again.weights
    # what is not asked for is not read
    assert place.open({"kept": str(path)}, known, writable=False).weights.size == 0


@pytest.mark.parametrize("name", ["graph-plsa-skl", "plsa-over-documents", "plsa-cd"])
def test_what_couples_documents_is_refused_by_name(client, name):
    X = planted(60, 30)
    with pytest.raises(
        ValueError, match=f"{type(VARIANTS[name]).__name__} couples documents .* on a cluster"
    ):
        few(name).fit(X, engine=DaskEngine(client, least=0))


def test_few_documents_stay_here(client):
    X = planted(60, 30)
    engine = DaskEngine(client)
    assert bits(few("rlsi-l1-l2").fit(X, engine=engine)) == bits(few("rlsi-l1-l2").fit(X))
    assert engine.cluster.n_tasks == 0
