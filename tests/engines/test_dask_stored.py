"""Documents of a saved corpus on a cluster: workers load them by their path, the coordinator does not."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from local_workers import two_workers
from scipy.sparse import issparse
from test_contract import bits

from laconic import NMF, PLSA, RLSI, Corpus, CorpusError, GroupNMF, GroupRLSI, SparseLSA
from laconic.bundle import Documents
from laconic.bundle.folding import weights_from
from laconic.engines import Threads
from laconic.search import SearchIndex

distributed = pytest.importorskip("distributed")

from laconic.corpus.stored import StoredCounts, _mapped  # noqa: E402
from laconic.engines.dask import DaskEngine  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ENTRIES = 700


@pytest.fixture(scope="module")
def client():
    with two_workers() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    rng = np.random.default_rng(0)
    themes = [[f"{theme}{n}" for n in range(30)] for theme in ("sea", "sky", "tree")]
    texts = [" ".join(rng.choice(themes[n % 3], 12)) for n in range(240)]
    path = tmp_path_factory.mktemp("saved") / "corpus"
    Corpus.from_texts(texts, labels=[("one", "two")[n % 2] for n in range(240)]).save(path)
    return Corpus.load(path)


MODELS = [
    RLSI(3),
    RLSI(3, topic_norm="l1", doc_norm="l1"),
    NMF(3, init="svd"),
    NMF(3, loss="kl"),
    PLSA(3),
    SparseLSA(3),
    GroupRLSI(2, 1),
    GroupNMF(2, 1),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_same_bits_as_shards_in_memory(client, corpus, tmp_path, model):
    model.set_params(random_state=0, max_iter=2, tol=0)
    near = corpus.shards(model.wants, entries=ENTRIES)
    assert len(near) > 2
    expected = bits(model.fit(near, corpus.labels, engine=Threads(1)))
    data_hash = model.data_hash_
    far = corpus.shards(model.wants, entries=ENTRIES, by_path=True)
    found = bits(model.fit(far, corpus.labels, engine=DaskEngine(client, tmp_path, least=0)))
    assert found == expected
    assert model.data_hash_ == data_hash
    assert list(tmp_path.iterdir()) == []


def test_this_process_never_loads_more_than_a_shard(client, corpus, tmp_path, monkeypatch):
    """Workers of these tests are threads of this process: what they do is told by their names."""
    main, loaded, load = threading.get_ident(), [], StoredCounts.load

    def watched(self, documents):
        if threading.get_ident() == main:
            loaded.append(len(documents))
        return load(self, documents)

    monkeypatch.setattr(StoredCounts, "load", watched)
    far = corpus.shards(entries=ENTRIES, by_path=True)
    sizes = [shard.n_documents for shard in far]
    model = GroupRLSI(2, 1, random_state=0, max_iter=2, tol=0)
    engine = DaskEngine(client, tmp_path, least=0, n_jobs=1)
    model.fit(far, corpus.labels, engine=engine)
    assert loaded
    assert max(loaded) <= max(sizes)
    # the first shard is looked at; all are read one by one for the checksum, by pointers, indices and data
    samples = len(loaded) - 1 - 3 * len(far)
    assert 0 <= samples <= 4 * len(far)


def dense(weights):
    return weights.toarray() if issparse(weights) else weights


@pytest.mark.parametrize("model", [RLSI(3), PLSA(3), GroupRLSI(2, 1)], ids=repr)
def test_documents_of_a_fit_are_folded_in_by_workers(client, corpus, model, monkeypatch):
    monkeypatch.setattr("laconic.bundle.folding.BATCH", 100)
    model.set_params(random_state=0, max_iter=2, tol=0)
    model.fit(corpus.shards(model.wants), corpus.labels)
    engine = DaskEngine(client, least=0)
    expected = dense(Documents.of(model, corpus).weights)
    np.testing.assert_array_equal(dense(Documents.of(model, corpus, engine=engine).weights), expected)
    assert engine.cluster.n_tasks >= 3
    # documents of this process, too
    found = weights_from(model, Corpus(corpus.counts, corpus.vectorizer, labels=corpus.labels), engine)
    np.testing.assert_array_equal(dense(found), expected)
    if not model.traits.classes:
        index = SearchIndex(corpus, model, engine=engine)
        np.testing.assert_array_equal(dense(index.documents.weights), expected)


def test_a_damaged_or_missing_file_of_the_corpus_is_named(client, tmp_path):
    path = tmp_path / "corpus"
    Corpus.from_texts([f"sea{n % 7} sky{n % 5} tree{n % 3}" for n in range(60)]).save(path)
    model = RLSI(2, random_state=0, max_iter=1, tol=0)
    (file,) = path.glob("counts.csr.indices*")
    content = bytearray(file.read_bytes())
    content[-1] = 0x7F
    file.write_bytes(content)
    engine = DaskEngine(client, tmp_path, least=0)
    shards = Corpus.load(path, verify=False).shards(entries=90, by_path=True)
    with pytest.raises(CorpusError, match=rf"{file.name}: is damaged \(column indices"):
        model.fit(shards, engine=engine)
    # rows that follow each other, and others: what is beyond the last column is not left out
    for documents in (np.arange(30, 60), np.array([3, 59])):
        with pytest.raises(CorpusError, match=rf"{file.name}: is damaged \(column indices"):
            shards[0].collection.load(documents)
    shards = Corpus.load(path, verify=False).shards(entries=90, by_path=True)
    file.unlink()
    # by those that have it open, it is not missed
    _mapped.cache_clear()
    with pytest.raises(CorpusError, match=rf"{file.name}: is missing"):
        model.fit(shards, engine=engine)


def test_what_was_not_loaded_has_no_path():
    with pytest.raises(CorpusError, match="was not loaded from a directory"):
        Corpus.from_texts(["sun moon", "moon sun"], max_df=1.0).shards(by_path=True)
