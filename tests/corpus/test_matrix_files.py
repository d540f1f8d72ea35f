"""Files of counts, bags of words, and the vectorisers of scikit-learn."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from laconic.corpus import Corpus, CorpusError
from laconic.reading import entries, read_counts

COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0.5]], dtype=np.float32)
HEADER = "%%MatrixMarket matrix coordinate real general\n"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def docword(X):
    rows, columns = np.nonzero(X)
    lines = [f"{d + 1} {w + 1} {X[d, w]:g}" for d, w in zip(rows, columns, strict=True)]
    return "\n".join([str(X.shape[0]), str(X.shape[1]), str(len(rows)), *lines]) + "\n"


def test_svmlight(tmp_path):
    path = write(tmp_path, "a.svm", "# comment\nsport qid:7 1:2 3:1 # fish\n\n-1\n+1\tqid:8\t2:3  3:0.5\r\n")
    corpus = Corpus.read(path, label="label", weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert list(corpus.labels) == ["sport", "-1", "+1"]
    assert list(corpus.vocabulary) == ["1", "2", "3"]
    assert (corpus.reading.n_rows, corpus.reading.files) == (3, (path,))
    assert Corpus.read(path).labels is None


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("suffix", [".svm", ".svmlight", ".libsvm", ".svm.gz"])
def test_svmlight_of_scikit_learn(tmp_path, zero_based, suffix):
    path = tmp_path / f"a{suffix}"
    with gzip.open(path, "wb") if suffix.endswith("gz") else path.open("wb") as file:
        dump_svmlight_file(COUNTS, [0, 1, 2], file, zero_based=zero_based)
    counted = read_counts(path, label="label")
    np.testing.assert_array_equal(counted.counts.toarray(), COUNTS)
    assert counted.labels == ["0", "1", "2"]
    assert list(counted.vocabulary) == (["0", "1", "2"] if zero_based else ["1", "2", "3"])


def test_svmlight_with_more_terms_than_occur(tmp_path):
    path = write(tmp_path, "a.svm", "1 2:1\n1\n")
    corpus = Corpus.read(path, vocabulary=["red", "fish", "bird"], weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), [[0, 1, 0], [0, 0, 0]])
    with pytest.raises(CorpusError, match=r"a\.svm has 2 terms, but the vocabulary has 1"):
        Corpus.read(path, vocabulary=["red"])


def test_svmlight_skips(tmp_path):
    path = write(
        tmp_path, "a.svm", b"a 1:1\nb 1:x\nc 1\nd 1:-1\ne 1:nan\nf 1:1e99\n\xff 1:1\n1:2\ng 2:1 3\nh 2:4\n"
    )
    corpus = Corpus.read(path, label="label", on_error="skip", weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), [[1, 0], [0, 4]])
    assert list(corpus.labels) == ["a", "h"]
    assert (corpus.reading.n_rows, corpus.reading.n_skipped) == (10, 8)
    reasons = [
        "not SVMlight",
        "not SVMlight",
        "counts must be",
        "counts must be",
        "counts must be",
        "bytes that are",
    ]
    reasons += ["the label is missing", "not SVMlight"]
    for line, (problem, reason) in enumerate(zip(corpus.reading.problems, reasons, strict=True), start=2):
        assert problem.startswith(f"{path}, line {line}: {reason}")


@pytest.mark.parametrize("suffix", [".mtx", ".mm", ".mtx.gz"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_of_scipy(tmp_path, suffix, field):
    X = COUNTS if field == "real" else COUNTS.astype(int) if field == "integer" else (COUNTS > 0).astype(int)
    path = tmp_path / f"a{suffix}"
    with gzip.open(path, "wb") if suffix.endswith("gz") else path.open("wb") as file:
        io.mmwrite(file, sparse.coo_array(X), comment="red\nfish", field=field)
    counted = read_counts(path)
    np.testing.assert_array_equal(counted.counts.toarray(), X)
    assert list(counted.vocabulary) == ["1", "2", "3"]
    assert counted.reading.n_rows == 3


def test_matrix_market_with_any_white_space(tmp_path):
    content = "%%matrixmarket MATRIX coordinate Real general\n%\n\n% x\n 3\t3 4   \n"
    content += "1 1 2\n\n 1\t3  1.0 \r\n3 2 3e0\n3 3 .5"
    np.testing.assert_array_equal(read_counts(write(tmp_path, "a.mtx", content)).counts.toarray(), COUNTS)


def test_entries_in_any_order_and_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "_BLOCK", 10)
    content = HEADER + "3 3 5\n3 3 0.5\n3 2 3\n1  3 1\n1 1 1\n1 1 1\n"
    np.testing.assert_array_equal(read_counts(write(tmp_path, "a.mtx", content)).counts.toarray(), COUNTS)
    with pytest.raises(CorpusError, match=r"a\.mtx, line 6: term 4 is not among the 3"):
        read_counts(write(tmp_path, "a.mtx", content.replace("1 1 1\n1 1 1", "1 4 1\n1 1 1")))


def test_docword_with_its_vocabulary(tmp_path):
    path = write(tmp_path, "docword.fish.txt.gz", gzip.compress(docword(COUNTS).encode()))
    assert list(read_counts(path).vocabulary) == ["1", "2", "3"]
    write(tmp_path, "vocab.fish.txt", "red\nfish\nbird\n")
    corpus = Corpus.read(path, weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert list(corpus.vocabulary) == ["red", "fish", "bird"]
    np.testing.assert_array_equal(corpus.vectorize(["Red birds, a bird"]).toarray(), [[1, 0, 1]])
    assert list(Corpus.read(path, vocabulary=["a", "b", "c"]).vocabulary) == ["a", "b", "c"]


def test_vocabularies_in_files(tmp_path):
    path = write(tmp_path, "a.mtx", HEADER + "1 2 1\n1 2 3\n")
    words = write(tmp_path, "words.txt.gz", gzip.compress("füße\r\ntopic model\r\n".encode()))
    for vocabulary in (words, str(words), ["füße", "topic model"], {"topic model": 1, "füße": 0}):
        assert list(read_counts(path, vocabulary=vocabulary).vocabulary) == ["füße", "topic model"]
    for content, message in (
        ("a\n", "1 terms, but the vocabulary has 1|2 terms, but the vocabulary has 1"),
        ("a\na\n", r"words\.txt: terms 0 and 1 of the vocabulary are the same"),
        ("a\n\n", r"words\.txt: term 1 of the vocabulary is empty"),
        ("", r"words\.txt: the vocabulary is empty"),
        (b"\xff\n", r"words\.txt, line 1: bytes that are not valid utf-8"),
    ):
        with pytest.raises(CorpusError, match=message):
            read_counts(path, vocabulary=write(tmp_path, "words.txt", content))
    with pytest.raises(CorpusError, match=r"nowhere\.txt does not exist"):
        read_counts(path, vocabulary=tmp_path / "nowhere.txt")


def test_options_of_texts_do_not_suit_counts(tmp_path):
    path = write(tmp_path, "a.mtx", HEADER + "2 2 2\n1 1 3\n2 2 1\n")
    for option in ({"text": "body"}, {"id": "text"}, {"delimiter": ";"}, {"min_df": 1}, {"stop_words": None}):
        with pytest.raises(
            CorpusError, match=f"a.mtx holds counts, not texts: leave {next(iter(option))} out"
        ):
            Corpus.read(path, **option)
    with pytest.raises(CorpusError, match="only SVMlight files have labels"):
        Corpus.read(path, label="label")
    with pytest.raises(CorpusError, match="only SVMlight files have labels"):
        Corpus.read(write(tmp_path, "a.svm", "1 1:1"), label="year")
    assert Corpus.read(path, weighting="binary").X.max() == 1
    with pytest.raises(CorpusError, match="vocabulary is for files of counts"):
        Corpus.read(write(tmp_path, "a.txt", "red fish"), vocabulary=["red"])
    write(tmp_path, "b.mtx", HEADER)
    with pytest.raises(CorpusError, match="2 files of counts; only one"):
        Corpus.read(tmp_path / "*.mtx")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.svm", "", r"a\.svm has no documents"),
        ("a.svm", "# x\n\n", r"a\.svm has no documents"),
        ("a.svm", "1\n2\n", r"a\.svm has documents, but no terms"),
        ("a.svm", "1 1:1\n1 2:3:4 5\n", "line 2: not SVMlight; every line must be like"),
        ("a.svm", "1 -1:1\n", "line 1: not SVMlight"),
        ("a.svm", "1 1:10\n1 1:1_0\n", "line 2: not SVMlight"),
        ("a.svm", "1 1:10\n1 1:1,0\n", "line 2: not SVMlight"),
        ("a.svm", "1 1:1\n1 999999999:1\n", r"line 2: 999,999,999 terms for 2 entries"),
        ("a.svm", "1 99999999999999999999:1\n", "line 1: not SVMlight"),
        ("a.mtx", "", "line 1: no header of a Matrix Market file"),
        ("a.mtx", "1 1 1\n1 1 1\n", "line 1: no header of a Matrix Market file"),
        (
            "a.mtx",
            "%%MatrixMarket matrix array real general\n1 1\n1\n",
            "a matrix that is array real general",
        ),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "coordinate complex"),
        ("a.mtx", HEADER.replace("general", "symmetric") + "1 1 1\n1 1 1\n", "real symmetric"),
        ("a.mtx", HEADER, "line 2: the file ends before its sizes"),
        ("a.mtx", HEADER + "%" * 50_000 + "\n1 1\n", "line 3: the sizes must be three numbers"),
        ("a.mtx", HEADER + "1 1 x\n", "line 2: 'x' is no size"),
        ("a.mtx", HEADER + "-1 1 0\n", "line 2: '-1' is no size"),
        ("a.mtx", HEADER + "0 1 0\n", "has no documents"),
        ("a.mtx", HEADER + "1 0 0\n", "has documents, but no terms"),
        (
            "a.mtx",
            HEADER + "1 1 999999999999999999\n1 1 1\n",
            "has 1 entries, but its header promises 999,999",
        ),
        ("a.mtx", HEADER + "1 1 0\n1 1 1\n", "has 1 entries, but its header promises 0"),
        (
            "a.mtx",
            HEADER + "999999999999999999 1 1\n1 1 1\n",
            "documents for 1 entries, which cannot be meant",
        ),
        ("a.mtx", HEADER + "1 999999999999 1\n1 1 1\n", "terms for 1 entries, which cannot be meant"),
        ("a.mtx", HEADER + "2 2 1\n3 1 1\n", "line 3: document 3 is not among the 2"),
        ("a.mtx", HEADER + "2 2 2\n1 1 1\n0 1 1\n", "line 4: document 0 is not among the 2"),
        ("a.mtx", HEADER + "2 2 1\n1 1\n", "line 3: not 'document term count'"),
        ("a.mtx", HEADER + "2 2 1\n1 1 1 1\n", "line 3: not 'document term count'"),
        ("a.mtx", HEADER + "2 2 1\n0x1 1 1\n", "line 3: not 'document term count'"),
        ("a.mtx", HEADER + "2 2 1\n1 1 -1\n", "line 3: the count must be a finite number"),
        ("a.mtx", HEADER + "2 2 1\n1 1 nan\n", "line 3: the count must be a finite number"),
        ("a.mtx", HEADER + "2 2 1\n1 1 1e99\n", "line 3: the count must be a finite number"),
        ("a.mtx", HEADER.replace("real", "pattern") + "2 2 1\n1 1 1\n", "line 3: not 'document term'"),
        ("docword.a.txt", "", "line 1: '' is no size"),
        ("docword.a.txt", "red fish\n", "line 1: .* is no size"),
        ("docword.a.txt", "1\n1\n2\n1 1 1\n", "has 1 entries, but its header promises 2"),
        ("docword.a.txt", "1\n1\n1\n1 2 1\n", "line 4: term 2 is not among the 1"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, content, message):
    path = write(tmp_path, name, content)
    for on_error in ("raise", "skip") if not name.endswith(".svm") else ("raise",):
        with pytest.raises(CorpusError, match=message) as raised:
            Corpus.read(path, on_error=on_error)
        assert str(path) in str(raised.value)


def test_damaged_compressed_counts(tmp_path):
    whole = gzip.compress(docword(np.ones((50, 50))).encode())
    for content in (whole[:-20], b"no such thing"):
        with pytest.raises(CorpusError, match=r"docword\.a\.txt\.gz is damaged"):
            read_counts(write(tmp_path, "docword.a.txt.gz", content))


def test_counts_that_do_not_exist(tmp_path):
    with pytest.raises(CorpusError, match=r"a\.mtx does not exist"):
        Corpus.read(tmp_path / "a.mtx")
    (tmp_path / "a.svm").mkdir()
    with pytest.raises(CorpusError, match=r"a\.svm has no \.txt files"):
        Corpus.read(tmp_path / "a.svm")


@pytest.mark.parametrize("name", ["a.svm", "a.mtx", "docword.a.txt"])
def test_progress(tmp_path, name):
    X = np.random.default_rng(0).integers(0, 3, (2000, 100))
    path = tmp_path / name
    if name == "a.svm":
        dump_svmlight_file(X, np.zeros(len(X)), str(path))
    elif name == "a.mtx":
        io.mmwrite(path, sparse.coo_array(X))
    else:
        path.write_text(docword(X))
    told = []
    counted = read_counts(path, progress=lambda *numbers: told.append(numbers))
    np.testing.assert_array_equal(counted.counts.toarray(), X)
    size = path.stat().st_size
    assert told[-1] == (size, size, 2000)
    assert told == sorted(told)


def test_errors_of_progress_are_the_callers(tmp_path):
    def stop(*numbers):
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        read_counts(write(tmp_path, "docword.a.txt", docword(COUNTS)), progress=stop)


MATRICES = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5).map(np.array)


@settings(max_examples=50)
@given(MATRICES)
def test_all_formats_agree(tmp_path_factory, X):
    folder = tmp_path_factory.mktemp("counts")
    X[0, [0, 3]] = 1
    dump_svmlight_file(X, np.zeros(len(X)), str(folder / "a.svm"))
    io.mmwrite(folder / "a.mtx", sparse.coo_array(X))
    (folder / "docword.a.txt").write_text(docword(X))
    for name in ("a.svm", "a.mtx", "docword.a.txt"):
        counts = Corpus.read(folder / name).counts
        np.testing.assert_array_equal(counts.toarray(), X)
        assert counts.has_canonical_format


class Dictionary(dict):
    """As gensim's: from numbers to words."""


BAGS = [[(0, 2), (2, 1)], [], [(1, 3), (2, 0.5)]]


@pytest.mark.parametrize(
    "vocabulary",
    [
        ["red", "fish", "bird"],
        {2: "bird", 0: "red", 1: "fish"},
        {"bird": 2, "red": 0, "fish": 1},
        Dictionary({0: "red", 1: "fish", 2: "bird"}),
    ],
)
def test_from_bow(vocabulary):
    corpus = Corpus.from_bow(iter(BAGS), vocabulary, labels=["a", "b", "c"], weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert list(corpus.vocabulary) == ["red", "fish", "bird"]
    assert list(corpus.labels) == ["a", "b", "c"]


def test_from_bow_of_numbers_with_gaps():
    corpus = Corpus.from_bow([[(9, 1)], [(4, np.int64(2))]], {9: "red", 4: "fish"}, weighting="count")
    assert list(corpus.vocabulary) == ["fish", "red"]
    np.testing.assert_array_equal(corpus.counts.toarray(), [[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("bags", "vocabulary", "message"),
    [
        ([], ["a"], "there are no documents"),
        ([[(0, 1)], [(1, 1)]], ["a"], "document 1: the term 1 is not in the vocabulary"),
        ([[(-1, 1)]], ["a"], "document 0: the term -1 is not in the vocabulary"),
        ([[(0, 1)], 7], ["a"], r"document 1: not a list of \(number, count\) pairs"),
        ([[0, 1]], ["a"], "document 0: not a list of"),
        ([[(0, "x")]], ["a"], "document 0: not a list of"),
        ([[([], 1)]], ["a"], "document 0: not a list of"),
        ([[(0, 1)], [(0, 1), (1, -1)]], ["a", "b"], "document 1, column 1: counts must not be negative"),
        ([[], [(0, float("nan"))]], ["a"], "document 1, column 0: counts must be finite"),
        ([[(0, 1e300)]], ["a"], "must be finite"),
        ([[(0, 1)]], {0: 7}, "term 0 of the vocabulary must be a string"),
        ([[(0, 1)]], {-1: "a"}, "gives the term 'a' the number -1"),
        ([[(0, 1)]], {"a": "b"}, "gives the term 'a' the number 'b'"),
        ([[(0, 1)]], {"a": 0, "b": 0}, "two terms of the vocabulary have the same number"),
    ],
)
def test_from_bow_refuses(bags, vocabulary, message):
    with pytest.raises(CorpusError, match=message):
        Corpus.from_bow(bags, vocabulary)


def test_from_bow_of_gensim(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary([["red", "fish"], ["bird"], ["fish"]])
    bags = [dictionary.doc2bow(text) for text in (["red", "fish", "fish"], [], ["bird"])]
    corpus = Corpus.from_bow(bags, dictionary, weighting="count")
    np.testing.assert_array_equal(
        corpus.vectorize(["Red fish fish", "", "bird"]).toarray(), corpus.X.toarray()
    )
    corpora.MmCorpus.serialize(str(tmp_path / "a.mm"), bags)
    again = Corpus.read(tmp_path / "a.mm", vocabulary=dictionary, weighting="count")
    np.testing.assert_array_equal(again.X.toarray(), corpus.X.toarray())
    assert list(again.vocabulary) == list(corpus.vocabulary)


def test_mappings_name_columns_by_number():
    corpus = Corpus.from_counts(np.eye(2), {"red": 1, "fish": 0})
    assert list(corpus.vocabulary) == ["fish", "red"]
    assert list(Corpus.from_counts(np.eye(2), {1: "red", 0: "fish"}).vocabulary) == ["fish", "red"]
    for vocabulary in ({"red": 0, "fish": 2}, {1: "red", 2: "fish"}):
        with pytest.raises(CorpusError, match="numbers of all columns, from 0 on; there are gaps"):
            Corpus.from_counts(np.eye(2), vocabulary)


WORDS = st.sampled_from(["Red", "fish", "the", "7up", "a", "blue_bird", "Füße", "İ", "x1", "--", "don't"])
SENTENCES = st.lists(WORDS, max_size=8).map(" ".join)


@settings(max_examples=60)
@given(
    st.lists(SENTENCES, min_size=1, max_size=5),
    st.lists(SENTENCES, max_size=3),
    st.fixed_dictionaries(
        {
            "lowercase": st.booleans(),
            "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
            "stop_words": st.sampled_from([None, "english", ["fish", "red"]]),
            "token_pattern": st.sampled_from([r"(?u)\b\w\w+\b", r"\S+", r"(\w)\w*"]),
        }
    ),
    st.sampled_from([CountVectorizer, TfidfVectorizer]),
)
def test_new_texts_are_counted_as_by_scikit_learn(texts, new, options, made):
    vectorizer = made(**options)
    try:
        vectorizer.fit(texts)
    except ValueError:  # no terms
        return
    corpus = Corpus.from_counts(CountVectorizer.transform(vectorizer, texts), vectorizer, weighting="count")
    assert list(corpus.vocabulary) == list(vectorizer.get_feature_names_out())
    for some in (texts, new):
        if some:
            expected = CountVectorizer.transform(vectorizer, some).toarray()
            np.testing.assert_array_equal(corpus.vectorize(some).toarray(), expected)


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (
            CountVectorizer(analyzer="char"),
            r"no equivalent of analyzer='char'.* pass get_feature_names_out\(\)",
        ),
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "no equivalent of tokenizer="),
        (CountVectorizer(preprocessor=str.upper), "no equivalent of preprocessor="),
        (CountVectorizer(strip_accents="unicode"), "no equivalent of strip_accents='unicode'"),
        (CountVectorizer(binary=True), "binary=True.*or use weighting='binary'"),
        (TfidfVectorizer(), "X holds the weights of a TfidfVectorizer"),
    ],
)
def test_vectorizers_without_equivalent_are_refused(vectorizer, message):
    X = vectorizer.fit_transform(["red fish", "blue fish fish"])
    with pytest.raises(CorpusError, match=message):
        Corpus.from_counts(X, vectorizer)
    assert Corpus.from_counts(X, vectorizer.get_feature_names_out()).shape == X.shape


def test_binary_vectorizers_and_unfitted_ones():
    vectorizer = CountVectorizer(binary=True)
    X = vectorizer.fit_transform(["red fish", "blue fish fish"])
    corpus = Corpus.from_counts(X, vectorizer, weighting="binary")
    np.testing.assert_array_equal(corpus.vectorize(["fish fish"]).toarray(), [[0, 1, 0]])
    with pytest.raises(ValueError, match="not fitted"):
        Corpus.from_counts(X, CountVectorizer())
    with pytest.raises(CorpusError, match="1 columns, but the vocabulary has 3 terms"):
        Corpus.from_counts([[1], [2]], vectorizer, weighting="binary")
