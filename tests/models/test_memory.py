"""What a fit is said to add to memory is about what it allocates."""

import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.base import clone

from laconic import NMF, PLSA, RLSI, GraphPLSA, GroupNMF, GroupRLSI, MultimodalPLSA, SparseLSA, priors
from laconic.bundle.planning import IN_FILES
from laconic.engines import Room, Shard, Shards, room
from laconic.models import MODELS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

K, N_CLASSES = 24, 4
OVER_DOCUMENTS = priors.PseudoDirichlet(0.01, weight=0.1, over="documents")
# documents, terms, and share of non-zeros: many documents, and many terms
SHAPES = ((6000, 2000, 0.01), (1500, 12_000, 0.005))
VARIANTS = {
    "rlsi-l1": RLSI(K),
    "rlsi-l1-l1": RLSI(K, doc_norm="l1"),
    "rlsi-l0": RLSI(K, topic_norm="l0"),
    "rlsi-l2": RLSI(K, topic_norm="l2"),
    "nmf-cd": NMF(K),
    "nmf-svd": NMF(K, init="svd"),
    "nmf-mu": NMF(K, solver="mu"),
    "nmf-kl": NMF(K, loss="kl"),
    "plsa": PLSA(K),
    "plsa-over-documents": PLSA(K, prior=OVER_DOCUMENTS),
    "sparse-lsa": SparseLSA(K),
    "sparse-lsa-svd": SparseLSA(K, init="svd"),
    "graph-plsa": GraphPLSA(K),
    "graph-plsa-l2": GraphPLSA(K, divergence="l2"),
    "group-rlsi": GroupRLSI(K // 2, K // 4),
    "group-rlsi-l0": GroupRLSI(K // 2, K // 4, topic_norm="l0"),
    "group-nmf": GroupNMF(K // 2, K // 4),
    "multimodal-plsa": MultimodalPLSA(K),
    "multimodal-plsa-tied": MultimodalPLSA(K, divergence="tied"),
}


def counts(n_documents, n_terms, density):
    X = csr_array(
        random_array((n_documents, n_terms), density=density, rng=np.random.default_rng(0), dtype=np.float32)
    )
    X.data = np.ceil(3 * X.data)
    X.sort_indices()
    return X


def ring(n_documents):
    """Every document is linked to the next."""
    documents = np.arange(n_documents)
    return np.stack([documents, np.roll(documents, 1)], axis=1)


def peak(run):
    """Bytes that are allocated at most while something runs, the second time that it does."""
    run()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def expected_and_allocated(model, X, **given):
    model = clone(model).set_params(random_state=0, max_iter=2 if model.wants != "counts" else 14)
    known, arguments = {}, {}
    if model.traits.classes:
        known, arguments = {"n_classes": N_CLASSES}, {"y": np.arange(X.shape[0]) % N_CLASSES}
    if "graph" in given:
        known |= {"n_links": len(given["graph"])}
    data = X
    if model.traits.modalities:
        half = X.shape[1] // 2
        known, data = known | {"n_modalities": 2}, {"a": X[:, :half].tocsr(), "b": X[:, half:].tocsr()}
    parts = model.memory(*X.shape, X.nnz, **known)
    return parts, peak(lambda: clone(model).fit(data, **arguments, **given))


def test_every_model_is_measured():
    assert {type(model) for model in VARIANTS.values()} == set(MODELS.values())


@pytest.mark.parametrize("shape", SHAPES, ids=["documents", "terms"])
@pytest.mark.parametrize("name", VARIANTS)
def test_estimates(name, shape):
    parts, allocated = expected_and_allocated(VARIANTS[name], counts(*shape))
    assert all(isinstance(size, int) and size >= 0 for size in parts.values())
    assert 0.5 < allocated / sum(parts.values()) < 1.5, parts


def in_files(X, folder):
    """The same documents in four shards, whose arrays are in files."""
    room = Room(folder)
    cut = Shards.cut(X, 4)
    return Shards([Shard(room.matrix(shard.X), shard.documents, room=room) for shard in cut])


@pytest.mark.parametrize("shape", SHAPES, ids=["documents", "terms"])
@pytest.mark.parametrize("name", [name for name, model in VARIANTS.items() if not model.whole])
def test_a_fit_in_files_allocates_no_more_than_is_said(name, shape, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "SMALL", 1 << 14)
    X = counts(*shape)
    model = clone(VARIANTS[name]).set_params(random_state=0, max_iter=4, n_jobs=2)
    known, y = {}, None
    if model.traits.classes:
        known, y = {"n_classes": N_CLASSES}, np.arange(X.shape[0]) % N_CLASSES
    parts = model.memory(*X.shape, X.nnz, **known)
    near = {part: size for part, size in parts.items() if part not in IN_FILES}
    collections = [in_files(X, tmp_path), in_files(X, tmp_path)]
    assert peak(lambda: clone(model).fit(collections.pop(), y)) < 1.1 * sum(near.values()), near


@pytest.mark.skipif(sys.platform != "linux", reason="the limit holds for what Linux counts")
@pytest.mark.parametrize(("name", "where"), [("rlsi", "files"), ("group-rlsi", "files"), ("rlsi", "memory")])
def test_a_fit_in_files_stays_within_a_hard_limit_where_one_in_memory_does_not(name, where, tmp_path):
    script = str(Path(__file__).with_name("limited_fit.py"))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(tmp_path),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, script, name, str(tmp_path / "corpus"), where]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if where == "files":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1
        assert "MemoryError" in done.stderr


def test_singular_vectors_take_no_more_with_more_terms():
    """The vocabulary adds lists of terms, not vectors over all of them."""
    few, many = (RLSI(50, init="svd").memory(10**6, n_terms, 10**8) for n_terms in (10**6, 4 * 10**6))
    for part in ("singular vectors", "topics of the start", "a sample"):
        assert many[part] == few[part]
    assert many["lists of terms"] == 4 * few["lists of terms"]


@pytest.mark.parametrize("model", [GraphPLSA(K), MultimodalPLSA(K)], ids=["graph", "multimodal"])
def test_links_that_are_given_are_not_searched_for(model):
    X = counts(*SHAPES[0])
    parts, allocated = expected_and_allocated(model, X, graph=ring(X.shape[0]))
    assert 0.5 < allocated / sum(parts.values()) < 1.5, parts
    assert not parts.get("search for neighbours")
    assert parts["links"] > 0


def test_what_makes_a_difference():
    small = sum(PLSA(10).memory(1000, 2000, 50_000).values())
    assert sum(PLSA(100).memory(1000, 2000, 50_000).values()) > small
    assert sum(PLSA(10).memory(1000, 2000, 50_000, dtype=float).values()) > small
    groups = GroupRLSI(5, {"a": 3, "b": 7})
    assert groups.memory(1000, 2000, 50_000)["weights of documents"] == 1000 * (5 + 5) * 4
    grouped = SparseLSA(10, groups={"first": ["sun", "moon"]})
    assert grouped.memory(1000, 2000, 50_000)["documents by groups"] == 400_000
