import errno
import json
import mmap
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from laconic import RLSI, Bundle, BundleError, load
from laconic.corpus import Corpus, CorpusError
from laconic.corpus.saving import load_corpus, save_corpus
from laconic.storage.writing import DirectoryWriter
from stored_files import Stopped, contents, edit, listed, stop_at

TEXTS = [
    "the cat sat on the mat with another cat",
    "a dog and a cat sat together",
    "",
    "stock markets fell and bond markets rose",
    "the bond market and the stock exchange",
    "dogs chase cats; a dog sat down",
]
LABELS = ["pets", "pets", "none", "money", "money", "pets"]
ODD = [
    "a\nb",
    '"',
    "\\",
    "naïve 日本語 😀",
    " ",
    "\t",
    "\r\n",
    "\u2028",
    "\x85",
    "\x00",
    "null",
    "7",
    "a,b",
    "\\n",
]


def from_texts(**options):
    return Corpus.from_texts(TEXTS, **{"labels": LABELS, "min_df": 1, "max_df": 1.0, **options})


def arrays(corpus):
    return [
        getattr(matrix, part)
        for matrix in (corpus.counts, corpus.counts_csc)
        for part in ("data", "indices", "indptr")
    ]


def same(a, b):
    """Whether two corpora are equal bit for bit."""
    assert a.shape == b.shape
    for one, other in zip(arrays(a), arrays(b), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert list(a.ids) == list(b.ids)
    assert (a.labels is None) == (b.labels is None)
    assert a.labels is None or list(a.labels) == list(b.labels)
    assert list(a.vocabulary) == list(b.vocabulary)
    assert a.vectorizer.to_dict() == b.vectorizer.to_dict()
    assert (a.vectorizer.idf is None) == (b.vectorizer.idf is None)
    assert a.vectorizer.idf is None or a.vectorizer.idf.tobytes() == b.vectorizer.idf.tobytes()
    return True


@pytest.fixture
def corpus():
    return from_texts()


@pytest.fixture
def saved(corpus, tmp_path):
    path = tmp_path / "corpus"
    save_corpus(corpus, path)
    return path


# --- round trips -----------------------------------------------------------------------


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize(
    "made",
    [
        from_texts,
        lambda: from_texts(labels=None),
        lambda: from_texts(ngram_range=(1, 3)),
        lambda: from_texts(weighting="count", stop_words=["the", "a"]),
        lambda: from_texts(weighting="binary"),
        lambda: from_texts(weighting="log-entropy"),
        lambda: from_texts(weighting="bm25"),
        lambda: from_texts(weighting="tfidf", sublinear_tf=True),
        lambda: Corpus.from_texts(["one document"], min_df=1, max_df=1.0),
        lambda: Corpus.from_counts([[0.0]], ["nothing"]),
        lambda: Corpus.from_counts([[0.5, 0, 1e30], [0, 0, 0], [1e-30, 0, 2]], ["x", "y z", "Ü"]),
        lambda: Corpus.from_counts(sparse.random_array((300, 200), density=0.1, rng=0), map(str, range(200))),
    ],
)
def test_a_loaded_corpus_equals_the_saved_one_bit_for_bit(made, verify, tmp_path):
    corpus = made()
    save_corpus(corpus, tmp_path / "corpus")
    loaded = load_corpus(str(tmp_path / "corpus"), verify=verify)
    assert same(loaded, corpus)
    assert repr(loaded) == repr(corpus)
    assert loaded.X.data.tobytes() == corpus.X.data.tobytes()
    new = ["a cat and a bond", "unknown", "y z"]
    assert loaded.vectorize(new).toarray().tobytes() == corpus.vectorize(new).toarray().tobytes()
    assert loaded.counts.has_canonical_format
    assert loaded.counts_csc.has_canonical_format


def test_a_corpus_saves_and_loads_itself(corpus, saved, tmp_path):
    corpus.save(tmp_path / "itself")
    assert contents(tmp_path / "itself") == contents(saved)
    assert same(Corpus.load(saved), corpus)
    assert same(Corpus.load(saved, verify=False), corpus)
    assert Corpus.load(saved).reading is None


def test_ids_and_labels_may_hold_any_characters(tmp_path):
    corpus = Corpus.from_texts(["red fish"] * len(ODD), labels=ODD, ids=ODD, max_df=1.0)
    save_corpus(corpus, tmp_path)
    loaded = load_corpus(tmp_path)
    assert list(loaded.ids) == list(loaded.labels) == ODD
    (file,) = tmp_path.glob("ids-*.txt")
    assert file.read_bytes().decode().split("\n")[:4] == [r'"a\nb"', r'"\""', r'"\\"', '"naïve 日本語 😀"']


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, unique=True))
def test_all_ids_come_back(tmp_path, ids):
    save_corpus(Corpus.from_counts(np.ones((len(ids), 1)), ["x"], ids=ids), tmp_path)
    assert list(load_corpus(tmp_path).ids) == ids


def test_wide_indices_stay_wide_and_mapped(corpus, tmp_path):
    corpus.counts.indices = corpus.counts.indices.astype(np.int64)
    corpus.counts.indptr = corpus.counts.indptr.astype(np.int64)
    save_corpus(corpus, tmp_path)
    loaded = load_corpus(tmp_path)
    assert same(loaded, corpus)
    assert all(is_mapped(array) for array in arrays(loaded))


def test_saving_twice_gives_the_same_bytes(corpus, saved, tmp_path):
    first = contents(saved)
    save_corpus(corpus, saved)
    assert contents(saved) == first
    save_corpus(load_corpus(saved), tmp_path / "again")
    assert contents(tmp_path / "again") == first


@pytest.mark.parametrize("block_bytes", [1, 16, 40])
def test_columns_made_in_small_blocks_are_the_same(block_bytes, corpus, saved, monkeypatch, tmp_path):
    monkeypatch.setattr("laconic.corpus.saving.BLOCK_BYTES", block_bytes)
    save_corpus(corpus, tmp_path / "blocks")
    assert contents(tmp_path / "blocks") == contents(saved)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_indices_checked_in_small_blocks_are_the_same(block, corpus, saved, monkeypatch):
    monkeypatch.setattr("laconic.storage.arrays.BLOCK", block)
    assert same(load_corpus(saved), corpus)


def test_a_model_of_a_loaded_corpus_is_the_same_bit_for_bit(X, tmp_path):
    corpus = Corpus.from_counts(abs(X), [f"t{i}" for i in range(X.shape[1])])
    save_corpus(corpus, tmp_path)
    loaded = load_corpus(tmp_path)
    for one, other in ((corpus.X, loaded.X), (corpus.counts, loaded.counts)):
        model = RLSI(n_components=4, random_state=0, max_iter=5, tol=0.5)
        expected, found = model.fit(one).components_.toarray(), model.fit(other).components_.toarray()
        assert expected.tobytes() == found.tobytes()


def test_a_corpus_written_by_the_first_format_is_still_read():
    loaded = load_corpus(Path(__file__).parent / "corpus-format-1")
    np.testing.assert_array_equal(loaded.counts.toarray(), [[1, 0, 2], [0, 0, 0], [1, 1, 0]])
    assert list(loaded.vocabulary) == ["fish", "naïve", "red fish"]
    assert list(loaded.ids) == ["first", "se\ncond", "3"]
    assert list(loaded.labels) == ["a", "b", "a"]
    np.testing.assert_array_equal(loaded.vectorizer.idf, [1, 1.5, 1.25])
    assert loaded.vectorizer.to_dict()["ngram_range"] == [1, 2]


# --- on the disk and in memory ---------------------------------------------------------


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


@pytest.mark.parametrize("verify", [True, False])
def test_arrays_are_mapped_and_read_only(verify, saved):
    loaded = load_corpus(saved, verify=verify)
    for array in arrays(loaded):
        assert is_mapped(array)
        assert not array.flags.writeable
        assert array.flags.aligned
    assert isinstance(loaded.counts, sparse.csr_array)
    assert isinstance(loaded.counts_csc, sparse.csc_array)


def test_the_directory_is_readable(corpus, saved):
    document = json.loads((saved / "corpus.json").read_text(encoding="utf-8"))
    assert document["format"] == "laconic-corpus"
    assert document["numbers"] == {
        "documents": 6,
        "terms": corpus.shape[1],
        "nonzeros": corpus.counts.nnz,
        "tokens": corpus.counts.sum(),
    }
    assert document["vectorizer"]["settings"]["min_df"] == 1
    assert set(document["versions"]) >= {"laconic", "numpy", "scipy", "python"}
    assert listed(saved) == set(contents(saved))
    vocabulary = (saved / document["vectorizer"]["vocabulary"]).read_text(encoding="utf-8")
    assert vocabulary.splitlines() == list(corpus.vocabulary)
    assert (saved / document["labels"]).read_text() == "".join(f'"{label}"\n' for label in LABELS)
    parts = [np.load(saved / document["counts"]["csc"][name]) for name in ("data", "indices", "indptr")]
    assert (sparse.csc_array(tuple(parts), shape=corpus.shape) != corpus.counts).nnz == 0


def test_a_loaded_corpus_can_be_saved_over_itself(corpus, saved):
    loaded = load_corpus(saved)
    save_corpus(loaded, saved)
    assert same(loaded, corpus)
    assert same(load_corpus(saved), corpus)
    assert listed(saved) == set(contents(saved))


def test_a_loaded_corpus_outlives_its_directory(corpus, saved):
    loaded = load_corpus(saved)
    save_corpus(from_texts(ngram_range=(2, 2)), saved)
    assert same(loaded, corpus)
    shutil.rmtree(saved)
    assert same(loaded, corpus)


def test_a_crash_at_any_step_leaves_the_old_or_the_new_corpus(tmp_path):
    old, new = from_texts(), from_texts(labels=None, ngram_range=(2, 2))
    path = tmp_path / "corpus"
    save_corpus(old, path)
    with pytest.MonkeyPatch.context() as patch:
        calls = stop_at(patch, -1, Stopped())
        save_corpus(new, path)
    seen = []
    for step in range(1, calls[0] + 1):
        save_corpus(old, path)
        with pytest.MonkeyPatch.context() as patch:
            # A process that is killed tidies nothing up.
            patch.setattr(DirectoryWriter, "clean", lambda self: None)
            stop_at(patch, step, Stopped())
            with pytest.raises(Stopped):
                save_corpus(new, path)
        loaded = load_corpus(path)
        seen.append(loaded.labels is None)
        assert same(loaded, new if seen[-1] else old)
    assert seen == sorted(seen)
    assert set(seen) == {False, True}
    save_corpus(old, path)
    assert set(contents(path)) == listed(path)


def test_a_full_disk_leaves_the_old_corpus_and_nothing_else(saved):
    before = contents(saved)
    for step in (1, 5, 12, 20):
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, step, OSError(errno.ENOSPC, "No space left on device"))
            with pytest.raises(OSError, match="No space left"):
                save_corpus(from_texts(ngram_range=(2, 2)), saved)
        assert contents(saved) == before


# --- what is refused -------------------------------------------------------------------


def test_a_model_and_a_corpus_do_not_take_each_others_place(corpus, saved, tmp_path):
    model = RLSI(n_components=2, random_state=0, max_iter=3, tol=0.9).fit(corpus.X)
    bundle = Bundle(model, corpus.vectorizer)
    bundle.save(tmp_path / "model")
    before = contents(tmp_path / "model"), contents(saved)
    with pytest.raises(CorpusError, match=r"holds no laconic corpus \(it has 'model.json'\)"):
        save_corpus(corpus, tmp_path / "model")
    with pytest.raises(BundleError, match=r"holds no laconic model \(it has 'corpus.json'\)"):
        bundle.save(saved)
    with pytest.raises(CorpusError, match=r"corpus\.json: is missing; this is no saved corpus"):
        load_corpus(tmp_path / "model")
    with pytest.raises(BundleError, match=r"model\.json: is missing; this is no saved model"):
        load(saved)
    assert (contents(tmp_path / "model"), contents(saved)) == before


@pytest.mark.parametrize(("name", "text"), [("notes.txt", "mine"), ("corpus.json", '{"format": "other"}')])
def test_saving_into_a_foreign_directory_is_refused(name, text, corpus, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(CorpusError, match=r"not overwritten|holds no laconic corpus"):
        save_corpus(corpus, tmp_path)
    assert contents(tmp_path) == {name: text.encode()}


def test_a_newer_format_says_so(saved):
    edit(saved, lambda document: document.update(format_version=4, files="something new"))
    with pytest.raises(CorpusError, match=r"newer laconic.*upgrade laconic"):
        load_corpus(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda counts: counts.data.__setitem__(0, -1),
        lambda counts: counts.data.__setitem__(0, 0),
        lambda counts: counts.data.__setitem__(0, np.nan),
        lambda counts: counts.indices.__setitem__(0, 10**6),
        lambda counts: counts.indices.__setitem__(slice(None), 0),
        lambda counts: setattr(counts, "data", counts.data.astype(np.float64)),
    ],
)
def test_counts_that_were_spoilt_are_not_saved(change, corpus, tmp_path):
    change(corpus.counts)
    with pytest.raises(CorpusError, match=r"not saved|only finite ones can be saved"):
        save_corpus(corpus, tmp_path)
    assert contents(tmp_path) == {}
