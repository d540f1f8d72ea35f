import json
import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.corpus import Corpus, CorpusError
from laconic.corpus.saving import load_corpus, save_corpus
from laconic.storage.manifest import sealed
from stored_files import contents, edit, npy, swap

MANIFEST = "corpus.json"
TEXTS = ["red fish blue fish", "one fish", "", "red bird", "blue bird sings", "fish and birds"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "corpus"
    corpus = Corpus.from_texts(TEXTS, labels=list("abbaab"), ids=list("uvwxyz"), min_df=1, max_df=1.0)
    save_corpus(corpus, path)
    return path


def refused(path, *parts, verify=True):
    """Loading fails with a message that names the directory and has every part."""
    with pytest.raises(CorpusError) as caught:
        load_corpus(path, verify=verify)
    message = str(caught.value)
    assert str(path) in message
    for part in parts:
        assert re.search(part, message), message


# --- accidents -------------------------------------------------------------------------


@pytest.mark.parametrize("verify", [True, False])
def test_every_truncation_is_found(verify, saved):
    rng = random.Random(0)
    whole = contents(saved)
    assert len(whole) == 11
    for name, content in whole.items():
        for length in {0, len(content) - 1, *(rng.randrange(len(content)) for _ in range(5))}:
            (saved / name).write_bytes(content[:length])
            refused(saved, re.escape(name), verify=verify)
        (saved / name).write_bytes(content + b"\x00")
        refused(saved, re.escape(name), verify=verify)
        (saved / name).write_bytes(content)
    load_corpus(saved, verify=verify)


def test_every_flipped_bit_is_found(saved):
    rng = random.Random(1)
    for name, content in contents(saved).items():
        for _ in range(25):
            damaged = bytearray(content)
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
            (saved / name).write_bytes(damaged)
            # A flipped bit in the document can make it foreign, or name another file.
            refused(saved, "" if name == MANIFEST else re.escape(name))
        (saved / name).write_bytes(content)
    load_corpus(saved)


@pytest.mark.parametrize("verify", [True, False])
def test_every_missing_file_is_named(verify, saved):
    for name, content in contents(saved).items():
        (saved / name).unlink()
        refused(saved, re.escape(name), "is missing", verify=verify)
        (saved / name).write_bytes(content)


def test_files_that_changed_places_are_found(saved):
    names = sorted(contents(saved).keys() - {MANIFEST})
    for one, other in zip(names, names[1:] + names[:1], strict=True):
        before = contents(saved)
        (saved / one).write_bytes(before[other])
        (saved / other).write_bytes(before[one])
        refused(saved, f"{re.escape(one)}|{re.escape(other)}")
        (saved / one).write_bytes(before[one])
        (saved / other).write_bytes(before[other])
    load_corpus(saved)


@pytest.mark.parametrize("stem", ["counts.csr.data", "counts.csc.data", "counts.csc.indices"])
def test_without_verifying_arrays_are_not_read(stem, saved):
    (file,) = saved.glob(f"{stem}-*.npy")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    refused(saved, re.escape(file.name), "checksum")
    assert load_corpus(saved, verify=False).shape == load_corpus(saved, verify=False).counts_csc.shape


@pytest.mark.parametrize("stem", ["ids", "labels", "vocabulary"])
def test_text_files_are_always_verified(stem, saved):
    (file,) = saved.glob(f"{stem}-*.txt")
    file.write_bytes(file.read_bytes().replace(b"b", b"c").replace(b"u", b"t"))
    refused(saved, re.escape(file.name), "checksum", verify=False)


def test_not_a_directory(tmp_path):
    refused(tmp_path / "nothing", "does not exist; give the directory a corpus was saved to")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "is a file, not the directory of a corpus")


# --- tampering by somebody who repairs the checksums -----------------------------------


@pytest.mark.parametrize(
    ("stem", "change", "reason"),
    [
        ("counts.csr.indices", lambda a: a + 1000, "column indices"),
        ("counts.csr.indices", lambda a: a - 1, "column indices"),
        ("counts.csr.indices", lambda a: a[::-1], "increase"),
        ("counts.csr.indices", np.zeros_like, "increase"),
        ("counts.csr.indptr", lambda a: a[[0, 2, 1, *range(3, a.size)]], "indptr decreases|increase"),
        ("counts.csr.data", lambda a: -a, "not positive"),
        ("counts.csr.data", lambda a: a * (np.arange(a.size) > 0).astype(a.dtype), "not positive"),
        ("counts.csr.data", lambda a: a * np.float32(np.nan), "NaN or infinite"),
        ("counts.csr.data", lambda a: a + 1, "same counts by columns"),
        ("counts.csc.data", lambda a: np.roll(a, 1), "same counts by columns"),
        ("counts.csc.data", lambda a: a * np.float32(np.inf), "NaN or infinite"),
        ("counts.csc.indices", lambda a: a + 1000, "column indices"),
        ("counts.csc.indices", lambda a: a[::-1], "increase|same counts"),
        ("counts.csc.indptr", lambda a: a[[0, 2, 1, *range(3, a.size)]], "indptr decreases|increase"),
        ("counts.csc.indptr", lambda a: np.where(a == a[-1], a, 0).astype(a.dtype), "increase|same counts"),
        ("vectorizer.idf", lambda a: -a, "does not describe a vectoriser"),
    ],
)
def test_arrays_are_checked_before_use(stem, change, reason, saved):
    (path,) = saved.glob(f"{stem}-*.npy")
    swap(saved, stem, npy(np.ascontiguousarray(change(np.load(path)))))
    refused(saved, reason)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize(
    ("stem", "change", "reason"),
    [
        ("counts.csr.data", lambda a: a.astype(np.float64), "counts of float64"),
        ("counts.csc.data", lambda a: a.astype(np.int32), "counts of int32"),
        ("counts.csr.data", lambda a: a.astype(np.float16), "dtype '<f2'"),
        ("counts.csr.data", lambda a: a[1:], "differ in length"),
        ("counts.csr.indices", lambda a: a[None], "length"),
        ("counts.csr.indices", lambda a: a.astype(np.int64), "int64 and int32"),
        ("counts.csr.indptr", lambda a: a[:-1], "indptr does not divide"),
        ("counts.csr.indptr", lambda a: a + 1, "indptr does not divide"),
        ("counts.csc.indptr", lambda a: a[:0], "indptr does not divide"),
        ("vectorizer.idf", lambda a: a[1:], "does not describe a vectoriser"),
    ],
)
def test_sizes_and_types_are_always_checked(stem, change, reason, verify, saved):
    (path,) = saved.glob(f"{stem}-*.npy")
    swap(saved, stem, npy(np.ascontiguousarray(change(np.load(path)))))
    refused(saved, reason, verify=verify)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY\x01\x00\xff\xff{",
        npy(np.zeros(3), descr="|O"),
        npy(np.zeros(3), shape="(10000000000000000,)"),
        npy(np.zeros(3), shape="(3,) + __import__('os').abort()"),
        npy(np.zeros(3, np.float32)).replace(b", }  ", b", }", 1),
    ],
)
def test_malformed_arrays_are_refused(content, saved):
    swap(saved, "counts.csr.data", content)
    refused(saved, "counts.csr.data-", verify=False)


@pytest.mark.parametrize(
    ("stem", "text", "reason"),
    [
        ("ids", '"u"\n"v"\n"w"\n"x"\n"y"\n"u"\n', "documents 0 and 5 have the same id 'u'"),
        ("ids", '"u"\n"v"\n"w"\n"x"\n"y"\n""\n', "document 5: the id is missing"),
        ("ids", '"u"\n"v"\n', "has 2 ids for 6 documents"),
        ("ids", "", "has 0 ids for 6 documents"),
        ("labels", '"a"\n' * 7, "has 7 labels for 6 documents"),
        ("labels", '""\n' * 6, "document 0: the label is missing"),
        ("labels", '"a", "a"\n' * 3, "JSON strings, one to a line"),
        ("labels", "1\n" * 6, "JSON strings"),
        ("labels", '["a"]\n' * 6, "JSON strings"),
        ("labels", "a\n" * 6, "JSON strings"),
        ("labels", '"\\ud800"\n' * 6, "JSON strings"),
        ("labels", '"\\u0061"\n' * 6, "JSON strings"),
        ("labels", "[" * 5000 + "\n", "JSON strings"),
        ("labels", '"a"\n' * 5 + '"a"', "does not end in a line break"),
        ("vocabulary", "one\ntwo\n", "does not describe a vectoriser|vocabulary of 2 terms"),
    ],
)
def test_text_files_are_checked(stem, text, reason, saved):
    swap(saved, stem, text.encode())
    refused(saved, reason)


@pytest.mark.parametrize("key", ["numbers", "counts", "ids", "labels", "vectorizer", "files"])
def test_every_part_of_the_document_is_needed(key, saved):
    edit(saved, lambda document: document.pop(key))
    refused(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": {}},
        {"numbers": {"documents": 6, "terms": 1, "nonzeros": []}},
        {"counts": {}},
        {"counts": {"csr": 1, "csc": 2}},
        {"ids": None},
        {"labels": 3},
        {"vectorizer": None},
    ],
    ids=str,
)
def test_the_document_is_checked(change, saved):
    edit(saved, lambda document: document.update(change))
    refused(saved, r"corpus\.json")


def test_a_corpus_without_documents_is_refused(saved):
    def empty(document):
        document["counts"]["csr"]["shape"][0] = 0
        document["numbers"].update(documents=0, nonzeros=0)

    swap(saved, "ids", b"")
    swap(saved, "labels", b"")
    for part in ("data", "indices"):
        for by in ("csr", "csc"):
            (path,) = saved.glob(f"counts.{by}.{part}-*.npy")
            swap(saved, f"counts.{by}.{part}", npy(np.load(path)[:0]))
    (path,) = saved.glob("counts.csc.indptr-*.npy")
    swap(saved, "counts.csc.indptr", npy(np.zeros_like(np.load(path))))
    swap(saved, "counts.csr.indptr", npy(np.zeros(1, np.int32)))
    edit(saved, empty)
    refused(saved, "do not fit its numbers")


# --- fuzzing ---------------------------------------------------------------------------

FUZZ = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def loaded_or_refused(path):
    try:
        loaded = load_corpus(path)
    except CorpusError as error:
        problem = str(error)
    else:
        problem = None
        assert (loaded.counts != loaded.counts_csc).nnz == 0
        assert len(loaded.ids) == loaded.shape[0]
    assert problem is None or str(path) in problem


@FUZZ
@given(data=st.data())
def test_any_array_file_is_loaded_or_refused(saved, data):
    before = contents(saved)
    name = data.draw(st.sampled_from([n for n in sorted(before) if n.endswith(".npy")]))
    content = bytearray(before[name])
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(content) - 1))
        content[where : where + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    swap(saved, name.rsplit("-", 1)[0], bytes(content))
    loaded_or_refused(saved)
    for path in saved.iterdir():
        path.unlink()
    for name, content in before.items():
        (saved / name).write_bytes(content)


@FUZZ
@given(data=st.data())
def test_any_document_is_loaded_or_refused(saved, data):
    raw = (saved / MANIFEST).read_bytes()
    document = json.loads(raw)
    del document["checksum"]
    files = sorted(document["files"])
    node, keys = document, ["counts", "numbers", "ids", "labels", "vectorizer"]
    key = data.draw(st.sampled_from(keys))
    while isinstance(node[key], dict) and node[key] and data.draw(st.booleans()):
        node = node[key]
        key = data.draw(st.sampled_from(sorted(node)))
    node[key] = data.draw(
        st.sampled_from([*files, None, True, [], {}, "x", {"array": files[0]}])
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
    )
    (saved / MANIFEST).write_bytes(sealed(document))
    loaded_or_refused(saved)
    (saved / MANIFEST).write_bytes(raw)
