"""Collections that are larger than memory: shards of a saved corpus, and arrays in files."""

import errno
import json
import os

import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic import NMF, PLSA, RLSI, Corpus, CorpusError, GroupNMF, GroupRLSI, SparseLSA
from laconic.engines import Checkpoint, Room, Shards, Threads, classes, room, shards
from laconic.engines.classes import by_class
from laconic.engines.room import is_mapped

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    """Limits so low that a small collection is a large one."""
    monkeypatch.setattr(shards, "NONZEROS_PER_SHARD", 700)
    monkeypatch.setattr(classes, "COPIED", 100)
    monkeypatch.setattr(room, "SMALL", 1)


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    themes = [[f"{theme}{n}" for n in range(40)] for theme in ("sea", "sky", "tree")]
    return [
        " ".join([*rng.choice(themes[n % 3], 12), *rng.choice(themes[rng.integers(3)], 4), "everywhere"])
        for n in range(300)
    ]


@pytest.fixture
def corpus(texts, tmp_path, monkeypatch):
    counted = Corpus.from_texts(texts, labels=[f"class{n % 4}" for n in range(300)], min_df=1, max_df=1.0)
    counted.save(tmp_path / "corpus")
    return Corpus.load(tmp_path / "corpus")


def bits(model):
    found = model.components_
    found = found.toarray() if hasattr(found, "toarray") else found
    return found.tobytes(), model.objective_history_.tobytes()


def test_a_large_corpus_is_saved_in_parts_and_loads_as_it_was(corpus, texts):
    whole = Corpus.from_texts(texts, min_df=1, max_df=1.0)
    assert len(corpus.parts) > 4
    assert [part.rows.start for part in corpus.parts[1:]] == [part.rows.stop for part in corpus.parts[:-1]]
    assert (corpus.counts != whole.counts).nnz == 0
    assert (corpus.counts_csc != whole.counts_csc).nnz == 0
    assert corpus.counts_csc.has_canonical_format
    for part in corpus.parts:
        own = csr_array(corpus.counts[part.rows.start : part.rows.stop])
        terms, indptr, indices, data = part.columns
        for place, term in enumerate(terms):
            column = slice(indptr[place], indptr[place + 1])
            dense = np.zeros(own.shape[0])
            dense[indices[column]] = data[column]
            assert (dense == own[:, [term]].toarray().ravel()).all()
        assert is_mapped(data)


@pytest.mark.parametrize("wants", ["weights", "counts"])
def test_shards_of_a_corpus_are_its_rows_wherever_they_are(corpus, wants, tmp_path):
    X = corpus.X if wants == "weights" else corpus.counts
    for cut in (corpus.shards(wants), corpus.shards(wants, Room(tmp_path))):
        assert len(cut) == len(corpus.parts)
        assert cut.hash() == Shards.whole(X).hash()
        for shard in cut:
            own = X[shard.documents].tocsc()
            terms, _, indices, data = shard.columns
            assert (terms == np.flatnonzero(np.diff(own.indptr))).all()
            assert (indices == own.indices).all()
            assert data.tobytes() == own.data.tobytes()


MODELS = [
    RLSI(3),
    RLSI(3, topic_norm="l0", terms_per_topic=10, doc_norm="l1"),
    NMF(3),
    NMF(3, loss="kl"),
    PLSA(3),
    SparseLSA(3),
    GroupRLSI(2, 1),
    GroupNMF(2, 1),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_same_shards_in_files_give_the_same_bits(model, corpus, tmp_path):
    model.set_params(random_state=0, max_iter=12)
    near = bits(model.fit(corpus.shards(model.wants), corpus.labels))
    folder = tmp_path / "room"
    folder.mkdir()
    cut = corpus.shards(model.wants, Room(folder))
    seen = []

    def look(progress):
        # by class, shards are others
        seen.append(progress.half)

    far = bits(model.fit(cut, corpus.labels, callback=look))
    assert seen
    assert near == far
    assert list(folder.iterdir()) == []


def test_what_a_fit_makes_of_shards_in_files_is_in_files(corpus, tmp_path):
    cut = corpus.shards("weights", Room(tmp_path))
    sorted_shards = by_class(cut, Threads(1), np.arange(300) % 4, 4, np.arange(corpus.shape[1])[::-1])
    assert sorted(np.concatenate([shard.documents for shard in sorted_shards])) == list(range(300))
    for shard in sorted_shards:
        assert (shard.documents % 4 == shard.klass).all()
        expected = corpus.X[shard.documents].toarray()[:, ::-1]
        assert (shard.X.toarray() == expected).all()
        shard.allot(3, 0.5)
        shard.keep()
        shard.weights[:] = 0
        shard.take_back()
        assert (shard.weights == 0.5).all()
        arrays = shard.X.data, shard.X.indices, *shard.columns, shard.weights, shard.kept
        assert all(map(is_mapped, arrays))


def test_documents_are_sorted_by_class_once(corpus, tmp_path, monkeypatch):
    calls, largest, copied = [], [], classes._copied

    def counted(cut, *arguments):
        calls.append(len(cut))
        return by_class(cut, *arguments)

    def measured(*arguments):
        for part in copied(*arguments):
            largest.append(part.nnz)
            yield part

    monkeypatch.setattr("laconic.losses.squared.steps.by_class", counted)
    monkeypatch.setattr(classes, "_copied", measured)
    cut = corpus.shards("weights", Room(tmp_path))
    GroupRLSI(2, 1, random_state=0, max_iter=5).fit(cut, corpus.labels)
    assert calls == [len(cut)]
    # a few documents at a time, whatever the size of a shard
    assert max(largest) <= classes.COPIED


def test_shards_of_a_class_are_cut_by_the_data_alone(corpus, monkeypatch):
    cut = corpus.shards()
    members, places = np.arange(300) % 2, np.arange(corpus.shape[1])
    many = by_class(cut, Threads(1), members, 2, places)
    assert len(many.of_class(0)) > 2
    monkeypatch.setattr(shards, "NONZEROS_PER_SHARD", 1 << 20)
    few = by_class(Shards.whole(corpus.X), Threads(1), members, 2, places)
    assert len(few) == 2
    for klass in range(2):
        rows = np.concatenate([shard.documents for shard in many.of_class(klass)])
        assert (rows == few.of_class(klass)[0].documents).all()


@pytest.mark.parametrize(
    "model", [RLSI(3, doc_norm="l1", init="documents"), GroupNMF(2, 1), NMF(3, loss="kl")], ids=repr
)
def test_a_fit_in_files_goes_on_from_its_checkpoint(model, corpus, tmp_path):
    model.set_params(random_state=0, max_iter=14, tol=0)
    whole = bits(model.fit(corpus.shards(model.wants), corpus.labels))
    (tmp_path / "room").mkdir()
    left = 25

    def kill(progress):
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    checkpoint = Checkpoint(tmp_path / "c", every=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(
            corpus.shards(model.wants, Room(tmp_path / "room")),
            corpus.labels,
            callback=kill,
            checkpoint=checkpoint,
        )
    # in memory or not is no matter to a checkpoint
    assert bits(model.fit(corpus.shards(model.wants), corpus.labels, checkpoint=checkpoint)) == whole


def edit(path, change):
    from laconic.storage.manifest import sealed

    document = json.loads((path / "corpus.json").read_text())
    document.pop("checksum")
    change(document)
    (path / "corpus.json").write_bytes(sealed(document))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts.pop(), "parts of"),
        (lambda parts: parts.pop(0), "do not follow"),
        (lambda parts: parts[0].update(terms=parts[1]["indptr"]), "rising columns|indptr"),
        (
            lambda parts: parts[0].update({k: parts[1][k] for k in ("data", "indices", "indptr", "terms")}),
            "by columns|valid CSR",
        ),
        (lambda parts: parts[0].update(rows=[0, 10**9]), "documents 0 to"),
    ],
)
def test_parts_that_do_not_fit_are_refused(corpus, tmp_path, change, message):
    edit(tmp_path / "corpus", lambda document: change(document["counts"]["parts"]))
    with pytest.raises(CorpusError, match=message):
        Corpus.load(tmp_path / "corpus")


def test_a_full_disk_names_the_folder(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=f"No space left on device in {tmp_path}"):
        Room(tmp_path).empty(10, np.float32)
