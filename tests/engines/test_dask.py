"""The engine of a cluster: the bits of threads, whatever happens to workers."""

from __future__ import annotations

import numpy as np
import pytest
from local_workers import two_workers
from planting import planted
from sklearn.base import clone
from test_contract import VARIANTS, bits, labels

from laconic.engines import Shards

distributed = pytest.importorskip("distributed")

from laconic.engines.dask import DaskEngine  # noqa: E402

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


def test_the_same_bits_for_any_number_of_workers(client, tmp_path):
    """Also while their number changes; two are there in all other tests."""
    X = planted(240, 100, seed=4, dtype=np.float32)
    expected = bits(few("rlsi-l0").fit(Shards.cut(X, 5)))
    try:
        for n_workers in (1, 4):
            client.cluster.scale(n_workers)
            client.wait_for_workers(n_workers, timeout=600)
            found = few("rlsi-l0").fit(Shards.cut(X, 5), engine=DaskEngine(client, tmp_path, least=0))
            assert bits(found) == expected
    finally:
        client.cluster.scale(2)


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
