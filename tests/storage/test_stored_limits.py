"""What a file can ask for, and what saving does to files that are not its own."""

import errno
import hashlib
import logging
import os
import shutil
import threading
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from bundle_toys import Toy

import laconic
from laconic import RLSI, Corpus
from laconic.bundle import Bundle, BundleError, load
from laconic.bundle.kind import MODEL
from laconic.errors import SearchError
from laconic.locking import locked, take_lock
from laconic.models import MODELS
from laconic.storage import files, manifest, reading
from laconic.storage.files import appearing
from stored_files import contents, edit, npy, stop_at, swap

TESTS = Path(__file__).parent.parent
DOCUMENTS = ["sun moon stars", "moon stars", "stars sun", "salt pepper", "pepper salt chilli", "chilli salt"]


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(MODELS, "Toy", Toy)


@pytest.fixture
def model():
    return RLSI(2, random_state=0).fit(np.eye(6, dtype=np.float32))


@pytest.fixture
def kept(tmp_path):
    bundle = laconic.fit(DOCUMENTS, n_topics=2, min_df=1, max_df=1.0, labels=list("aaabbb"), random_state=0)
    bundle.save(tmp_path / "kept")
    return tmp_path / "kept"


@contextmanager
def budget(megabytes, seconds=20):
    """A limit for the memory and the CPU time of a block."""
    tracemalloc.start()
    began = time.process_time()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 2**20
        assert time.process_time() - began < seconds
    finally:
        tracemalloc.stop()


def test_a_file_that_is_referred_to_again_and_again_is_refused(tmp_path):
    Bundle(Toy(2).fit()).save(tmp_path)
    large = np.zeros(2**20, np.float32)
    swap(tmp_path, "scale", npy(large))

    def repeat(document):
        document["state"]["history"] = [document["state"]["scale"]] * 100

    edit(tmp_path, repeat)
    with budget(20), pytest.raises(BundleError, match="repeatedly"):
        load(tmp_path)


def test_state_that_a_model_does_not_have_is_refused_before_it_is_read(model, tmp_path):
    model.save(tmp_path)
    edit(tmp_path, lambda document: document["state"].update(more=document["state"]["components"]))
    with pytest.raises(BundleError, match="has the state 'more', which RLSI does not have"):
        load(tmp_path)


def test_an_index_that_claims_many_documents_takes_no_memory_for_them(tmp_path):
    shutil.copytree(TESTS / "search/index-format-1", tmp_path / "old")

    def claim(document):
        document["terms"]["counts"]["shape"][1] = 300_000_000

    edit(tmp_path / "old/search", claim)
    with budget(10), pytest.raises(SearchError, match="6 ids for 300000000 documents"):
        load(tmp_path / "old").documents  # noqa: B018


def test_topics_without_terms_are_refused(model, tmp_path):
    model.save(tmp_path)

    def empty(document):
        document["parameters"]["n_components"] = 10**12
        document["state"]["components"] = {"array": next(iter(document["files"]))}
        document["state"]["n_features_in"] = 0

    name = next(tmp_path.glob("components.data-*")).name.partition("-")[0]
    swap(tmp_path, name, npy(np.empty(0, np.float32), shape=(10**12, 0)))
    edit(tmp_path, empty)
    with budget(10), pytest.raises(BundleError, match="just 128 bytes"):
        load(tmp_path)
    swap(tmp_path, name, npy(np.empty(0, np.float32), shape=(1000, 0)))
    edit(tmp_path, lambda document: document["parameters"].update(n_components=1000))
    with budget(10), pytest.raises(BundleError, match="topics without terms"):
        load(tmp_path)


def test_more_columns_than_indices_can_name_are_refused(model, tmp_path):
    model.save(tmp_path)

    def widen(document):
        document["state"]["components"]["csr"]["shape"][1] = 10**18
        document["state"]["n_features_in"] = 10**18

    edit(tmp_path, widen)
    with budget(10), pytest.raises(BundleError, match="columns are too many"):
        load(tmp_path)


def test_documents_are_short(model, tmp_path, monkeypatch):
    assert manifest.MAX_MANIFEST_BYTES <= 16 * 2**20
    model.save(tmp_path)
    n_bytes = 2**20
    monkeypatch.setattr(reading, "MAX_MANIFEST_BYTES", n_bytes)

    def lengthen(document):
        document["state"]["more"] = [{"a": []}] * (n_bytes // 35)

    edit(tmp_path, lengthen)
    size = (tmp_path / "model.json").stat().st_size
    assert n_bytes / 2 < size < n_bytes
    # All of it is parsed: a few tens of bytes for each.
    with budget(30 * size / 2**20), pytest.raises(BundleError, match="has the state 'more'"):
        load(tmp_path)
    edit(tmp_path, lambda document: document["state"].update(more=["x" * n_bytes]))
    with budget(1), pytest.raises(BundleError, match="too many for a model's description"):
        load(tmp_path)


@pytest.mark.parametrize("value", ['"\\ud800"', '"\\\\\\udfff"', "1e999", "-1e999", "NaN"])
def test_what_json_should_not_hold_is_refused_even_with_a_checksum(value, model, tmp_path):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    text = path.read_bytes()
    rest = manifest._CHECKSUM.sub(b"", text).replace(b'"documents": null', b'"documents": ' + value.encode())
    checksum = hashlib.sha256(rest).hexdigest()
    path.write_bytes(rest.replace(b' "class"', b' "checksum": "' + checksum.encode() + b'",\n "class"', 1))
    with pytest.raises(BundleError, match=r"checksum differs|it holds the"):
        load(tmp_path)
    harmless = rest.replace(value.encode(), rb'"C:\\udir"')
    checksum = hashlib.sha256(harmless).hexdigest()
    path.write_bytes(
        harmless.replace(b' "class"', b' "checksum": "' + checksum.encode() + b'",\n "class"', 1)
    )
    assert reading.read_directory(tmp_path, MODEL).document["documents"] == "C:\\udir"


@pytest.mark.parametrize("what", ["bundle", "corpus"])
def test_without_maps_files_that_are_cut_short_later_do_no_harm(what, kept, tmp_path):
    if what == "corpus":
        Corpus.from_texts(DOCUMENTS, min_df=1).save(tmp_path / "corpus")
        path, whole = tmp_path / "corpus", Corpus.load(tmp_path / "corpus", mmap=False)
    else:
        path, whole = kept, load(kept, mmap=False)
    expected = Corpus.load(path).counts if what == "corpus" else load(path).documents.corpus().counts
    expected = expected.toarray()
    for file in path.iterdir():
        os.truncate(file, 0)
    found = whole.counts if what == "corpus" else whole.documents.corpus().counts
    assert np.array_equal(found.toarray(), expected)
    if what == "bundle":
        assert whole.search("sun").ids


def test_saving_takes_no_file_for_its_own_that_is_not(model, tmp_path):
    model.save(tmp_path)
    mine = tmp_path / "notes-0123456789abcdef.txt"
    mine.write_text("mine")
    left = tmp_path / f"left-{hashlib.sha256(b'x').hexdigest()[:16]}.txt"
    left.write_bytes(b"x")
    RLSI(3, random_state=0).fit(np.eye(6)).save(tmp_path)
    assert mine.read_text() == "mine"
    # A save that was killed left this: its name has its hash.
    assert not left.exists()
    assert not [name for name in contents(tmp_path) if name.startswith("components.indptr")][1:]


def test_a_directory_with_only_a_users_file_of_such_a_name_is_foreign(model, tmp_path):
    (tmp_path / "notes-0123456789abcdef.txt").write_text("mine")
    with pytest.raises(BundleError, match="is not empty and holds no laconic model"):
        model.save(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(model, tmp_path):
    os.mkfifo(tmp_path / "model.json")
    with pytest.raises(BundleError, match="not overwritten"):
        model.save(tmp_path)
    with pytest.raises(BundleError, match="not a regular file"):
        load(tmp_path)


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_full_disk_names_what_was_written(step, model, tmp_path, monkeypatch):
    stop_at(monkeypatch, step, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match=f"No space left.*{tmp_path}"):
        model.save(tmp_path / "model")


@pytest.mark.skipif(os.name == "nt", reason="no such locks here")
def test_waiting_for_a_lock_is_told(model, tmp_path, caplog):
    model.save(tmp_path)
    saver = threading.Thread(target=model.save, args=(tmp_path,))
    with caplog.at_level(logging.WARNING), locked(tmp_path, os.O_RDONLY):
        saver.start()
        limit = time.monotonic() + 60
        while not caplog.records and time.monotonic() < limit:
            time.sleep(0.01)
    saver.join(60)
    assert caplog.messages == [f"waiting for another process that saves to {tmp_path}"]
    assert not saver.is_alive()


def test_files_of_writers_that_were_killed_are_removed_and_others_are_not(tmp_path):
    target = tmp_path / "out.csv"
    names = [f".out-{letter * 16}.tmp" for letter in "abc"]
    (tmp_path / names[0]).write_text("")
    (tmp_path / names[1]).write_text("half")
    (tmp_path / ".out-mine.tmp").write_text("mine")
    with locked(tmp_path / names[1], os.O_RDWR), appearing(target) as temporary:
        temporary.write_text("whole")
        assert not (tmp_path / names[0]).exists()
        # Its writer still lives; and so does this one, seen from another.
        assert (tmp_path / names[1]).exists()
        with appearing(target) as other:
            other.write_text("another")
            assert temporary.exists()
    assert target.read_text() == "whole"
    assert sorted(contents(tmp_path)) == [".out-" + "b" * 16 + ".tmp", ".out-mine.tmp", "out.csv"]


@pytest.mark.skipif(os.name == "nt", reason="no such locks here")
def test_a_file_that_was_swept_away_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    swept = []

    def late(descriptor):
        # another writer comes between making the file and locking it
        if not swept:
            swept.extend(tmp_path.iterdir())
            files._sweep(tmp_path, ".out-")
        take_lock(descriptor)

    monkeypatch.setattr(files, "take_lock", late)
    with appearing(tmp_path / "out.csv") as temporary:
        temporary.write_text("whole")
        assert temporary not in swept
    assert len(swept) == 1
    assert contents(tmp_path) == {"out.csv": b"whole"}
