"""Compression, several files, rows that are left out, progress: what all formats have in common."""

import bz2
import gzip
import io
import lzma
import os

import pyarrow as pa
import pytest

from laconic.corpus import Corpus, CorpusError
from laconic.reading import Document, Reading, delimited, files, read_documents

COMPRESS = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, **options):
    return list(read_documents(path, **options))


def texts(path, **options):
    return [document.text for document in read_documents(path, **options)]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files(tmp_path, suffix):
    contents = {
        "a.jsonl": '{"text": "füße"}\n{"text": "x"}\n',
        "a.ndjson": '{"text": "füße"}\n{"text": "x"}\n',
        "a.csv": "text\nfüße\nx\n",
        "a.tsv": "text\tb\nfüße\t1\nx\t2\n",
        "a.txt": "füße\nx\n",
        "A.JSONL": '{"text": "füße"}\n{"text": "x"}\n',
    }
    for name, content in contents.items():
        path = write(tmp_path, name + suffix, COMPRESS[suffix](content.encode()))
        assert texts(path) == ["füße", "x"]
    write(tmp_path, "folder/b/one.txt" + suffix, COMPRESS[suffix](b"fish"))
    assert read(tmp_path / "folder", label="folder") == [Document("fish", "b", "b/one")]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files_in_several_pieces(tmp_path, suffix):
    pieces = COMPRESS[suffix](b"one\n") + COMPRESS[suffix](b"two\n")
    assert texts(write(tmp_path, "a.txt" + suffix, pieces)) == ["one", "two"]


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_damaged_compressed_files(tmp_path, suffix, on_error):
    lines = b"".join(b'{"text": "%d"}\n' % number**5 for number in range(5000))
    whole = COMPRESS[suffix](lines)
    broken = whole[:200] + bytes(b ^ 0xFF for b in whole[200:240]) + whole[240:]
    damages = [whole[: len(whole) // 2], whole[:-3], b"no such thing, but long enough", lines]
    if suffix != ".zst":  # pyarrow writes no checksums
        damages.append(broken)
    for content in damages:
        path = write(tmp_path, "a.jsonl" + suffix, content)
        with pytest.raises(
            CorpusError, match=r"a\.jsonl\.\w+ is damaged, truncated, or not what its suffix says"
        ):
            read(path, on_error=on_error)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_an_empty_compressed_file_is_no_compressed_file_or_has_no_documents(tmp_path, suffix):
    with pytest.raises(CorpusError, match=r"a\.txt.* (has no documents|is damaged)"):
        read(write(tmp_path, "a.txt" + suffix, b""))


def test_text_files_have_a_document_in_every_line(tmp_path):
    path = write(tmp_path, "a.txt", "\ufeffone\r\n\n two\u2028x\nthree")
    assert read(path) == [
        Document("one", None, "0"),
        Document("", None, "1"),
        Document(" two\u2028x", None, "2"),
        Document("three", None, "3"),
    ]
    for option in ({"text": "body"}, {"label": "folder"}, {"id": "key"}, {"date": "day"}):
        with pytest.raises(
            CorpusError,
            match=r"a\.txt has one document per line and no columns: leave text, label, id and date out",
        ):
            read(path, **option)


def test_tab_separated_files(tmp_path):
    path = write(tmp_path, "a.tsv", 'id\ttext\n1\t"red\tfish\n""two"""\n2\tone, two\n')
    assert read(path, id="id") == [Document('red\tfish\n"two"', None, "1"), Document("one, two", None, "2")]


def test_other_delimiters(tmp_path):
    path = write(tmp_path, "a.csv", "text;b\nred, fish;1\n")
    assert texts(path, delimiter=";") == ["red, fish"]
    with pytest.raises(CorpusError, match=r"looks separated by ';': say delimiter=';'"):
        read(path)
    with pytest.raises(CorpusError, match=r"looks separated by ',': say delimiter=','"):
        read(write(tmp_path, "a.tsv", "text,b\n"))
    with pytest.raises(CorpusError, match=r"looks separated by '\\t'"):
        read(write(tmp_path, "b.csv", "text\tb\n"))
    for delimiter in ("", ";;", '"', "\n", 7):
        with pytest.raises(CorpusError, match="delimiter must be one character"):
            read(path, delimiter=delimiter)
    with pytest.raises(CorpusError, match=r"a\.jsonl has no delimiter"):
        read(write(tmp_path, "a.jsonl", '{"text": ""}'), delimiter=";")
    with pytest.raises(CorpusError, match="is a folder of texts"):
        read(write(tmp_path, "folder/a.txt", "").parent, delimiter=";")


def test_several_files_of_any_format(tmp_path):
    paths = [
        write(tmp_path, "b.csv", "text,year\nred,1960\n"),
        str(write(tmp_path, "a.jsonl.gz", gzip.compress(b'{"text": "fish", "year": 1961}'))),
        write(tmp_path, "c.tsv", "year\ttext\n1962\tbird\n"),
    ]
    documents = read_documents(paths, label="year")
    assert list(documents) == [
        Document("red", "1960", "0"),
        Document("fish", "1961", "1"),
        Document("bird", "1962", "2"),
    ]
    assert documents.reading == Reading(
        tuple(tmp_path / n for n in ("b.csv", "a.jsonl.gz", "c.tsv")), 3, 0, ()
    )
    corpus = Corpus.read(iter(paths), label="year", min_df=1)
    assert list(corpus.ids) == ["0", "1", "2"]
    assert list(corpus.labels) == ["1960", "1961", "1962"]
    assert corpus.reading == documents.reading


def test_patterns(tmp_path):
    for name in ("news/b.txt", "news/a.txt", "news/c/d.txt", "news/[x].txt"):
        write(tmp_path, name, name)
    assert texts(f"{tmp_path}/news/?.txt") == ["news/a.txt", "news/b.txt"]
    assert texts(tmp_path / "news" / "**" / "d.txt") == ["news/c/d.txt"]
    assert texts([f"{tmp_path}/news/b*", f"{tmp_path}/news/a*"]) == ["news/b.txt", "news/a.txt"]
    assert texts(tmp_path / "news" / "[x].txt") == ["news/[x].txt"]
    with pytest.raises(CorpusError, match=r"no file matches .*\*\.csv; check the pattern"):
        read(f"{tmp_path}/*.csv")
    with pytest.raises(CorpusError, match="news/c is a folder; if you give several paths, all must be files"):
        read(f"{tmp_path}/news/*")


def test_errors_in_several_files_name_the_file(tmp_path):
    first = write(tmp_path, "a.csv", "text,id\none,x\ntwo,y\n")
    second = write(tmp_path, "b.csv", "text,id\nthree,z\nfour,y\n")
    with pytest.raises(CorpusError, match=r"b\.csv, line 3: the id 'y' is already that of .*a\.csv, line 3"):
        read([first, second], id="id")
    with pytest.raises(CorpusError, match=r"a\.csv, line 2: the id 'x' is already that of .*a\.csv, line 2"):
        read([first, first], id="id")
    third = write(tmp_path, "c.csv", "body\nthree\n")
    with pytest.raises(CorpusError, match=r"c\.csv, line 1: no column 'text'"):
        read([first, third])
    empty = write(tmp_path, "d.csv", "text\n")
    assert texts([empty, first]) == ["one", "two"]
    with pytest.raises(CorpusError, match=r"d\.csv and 1 more has no documents"):
        read([empty, empty])


def test_paths_that_cannot_be_used(tmp_path, monkeypatch):
    with pytest.raises(CorpusError, match="the list of paths is empty"):
        read_documents([])
    for path in (7, None, b"a.csv", [7]):
        with pytest.raises(CorpusError, match="a path must be a string"):
            read_documents(path)
    for path in ("", "a\0.csv", "x" * 5000):
        with pytest.raises(CorpusError, match=r"does not exist|not the name of a file|cannot be read"):
            read_documents(path)
    with pytest.raises(CorpusError, match=r"\.parquet files have their own compression"):
        read_documents(write(tmp_path, "a.parquet.gz", ""))
    with pytest.raises(CorpusError, match=r"a\.mtx holds counts, not texts"):
        read_documents(write(tmp_path, "a.mtx", ""))

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    path = write(tmp_path, "a.csv", "text\nx\n")
    monkeypatch.setattr(files.io, "FileIO", refuse)
    with pytest.raises(CorpusError, match=r"a\.csv cannot be read: Permission denied"):
        read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")
def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(CorpusError, match=r"pipe\.csv is neither a file nor a folder"):
        read_documents(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(CorpusError, match=r"link\.csv is a link to a file that does not exist"):
        read_documents(tmp_path / "link.csv")


def test_folders_of_tables_suggest_a_pattern(tmp_path):
    folder = write(tmp_path, "x.csv/part-0.csv.gz", gzip.compress(b"text\nx\n")).parent
    with pytest.raises(CorpusError, match=r"x\.csv has no \.txt files.*say .*x\.csv/\*\.csv\.gz"):
        read_documents(folder)
    assert texts(f"{folder}/*.csv.gz") == ["x"]


def test_what_on_error_may_be(tmp_path):
    with pytest.raises(CorpusError, match='on_error must be "raise" or "skip", not \'ignore\''):
        read_documents(write(tmp_path, "a.txt", "x"), on_error="ignore")


SKIPS = {
    "a.jsonl": (
        b'{"text": "a", "k": 1}\n{broken\n\n[1]\n{"text": {}, "k": 2}\n{"text": "\xff", "k": 3}\n'
        b'{"text": "b", "k": null}\n{"k": 4}\n{"text": "c", "k": "1"}\n {"text": "d", "k": 5} \n',
        ["a", "d"],
        [
            "2: not JSON",
            "4: a JSON list",
            "5: the text is of type dict",
            "6: bytes that are not",
            "7: the id is",
            "8: no column 'text'",
            "9: the id '1' is already that of line 1",
        ],
    ),
    "a.csv": (
        b'text,k\na,1\nragged\nb,2,3\n\xff,4\n"x"y,5\n\nno key,\nc,1\n"spans\nlines",6\nd,7\n',
        ["a", "spans\nlines", "d"],
        ["3: 1 fields", "4: 3 fields", "5: bytes", "6: not CSV", "8: the id is", "9: the id '1' is already"],
    ),
    "b.csv": (
        b'text,k\na,1\n"never closed,2\nb,3\nc,4\n"d ""quoted""",5\ne,6\n',
        ["a", "b", "c", 'd "quoted"', "e"],
        ["3: not CSV"],
    ),
    "c.csv": (b'text,k\na,1\nb,2\n"never closed,3\nc,4\nd,5', ["a", "b", "c", "d"], ["4: not CSV"]),
    "d.csv": (b'text,k\r\na,1\r\n"\xff\r\n",2\r\n"c\xfe,3\r\nd,4\r\n', ["a", "d"], ["3: bytes", "5: bytes"]),
    "e.csv": (b'text,k\n"never closed,1\n\xff,2\nb,3\n', ["b"], ["2: not CSV", "3: bytes"]),
    "a.txt": (b"a\n\xff\xfe\nb\n", ["a", "b"], ["2: bytes that are not valid utf-8"]),
}


@pytest.mark.parametrize("name", SKIPS)
def test_rows_that_cannot_be_used_are_skipped_and_told(tmp_path, name):
    content, expected, problems = SKIPS[name]
    path = write(tmp_path, name, content)
    options = {} if name == "a.txt" else {"id": "k"}
    documents = read_documents(path, on_error="skip", **options)
    assert [document.text for document in documents] == expected
    reading = documents.reading
    assert reading.n_rows == len(expected) + len(problems)
    assert reading.n_skipped == len(problems)
    for problem, start in zip(reading.problems, problems, strict=True):
        assert problem.startswith(f"{path}, line {start}")
    with pytest.raises(CorpusError) as raised:
        read(path, **options)
    assert str(raised.value).startswith(reading.problems[0])


def test_files_of_a_folder_are_skipped(tmp_path):
    for name, content in (
        ("a/1.txt", b"one"),
        ("a/2.txt", b"x\n\xff"),
        ("3.txt", b"three"),
        ("b/4.txt", b""),
    ):
        write(tmp_path, name, content)
    documents = read_documents(tmp_path, label="folder", on_error="skip")
    assert list(documents) == [Document("one", "a", "a/1"), Document("", "b", "b/4")]
    assert documents.reading.files == (tmp_path,)
    assert (documents.reading.n_rows, documents.reading.n_skipped) == (4, 2)
    assert [problem.split(": ")[0] for problem in documents.reading.problems] == [
        str(tmp_path / "3.txt"),
        f"{tmp_path / 'a' / '2.txt'}, line 2",
    ]


def test_a_damaged_file_of_a_folder_is_one_document(tmp_path):
    write(tmp_path, "1.txt", "red fish")
    write(tmp_path, "2.txt.gz", gzip.compress(b"blue fish")[:-4])
    write(tmp_path, "3.txt", "bird")
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    told = []
    documents = read_documents(tmp_path, on_error="skip", progress=lambda *numbers: told.append(numbers))
    assert [document.id for document in documents] == ["1", "3"]
    assert (documents.reading.n_rows, documents.reading.n_skipped) == (3, 1)
    assert documents.reading.problems[0].startswith(f"{tmp_path / '2.txt.gz'}: is damaged, truncated, or")
    assert told == [(size, size, 2)]
    with pytest.raises(CorpusError, match=r"2\.txt\.gz: is damaged"):
        read(tmp_path)


def test_automatic_ids_count_documents(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "a"}\nbroken\n{"text": "b"}\n')
    assert [document.id for document in read_documents(path, on_error="skip")] == ["0", "1"]


def test_only_the_first_problems_are_kept(tmp_path):
    path = write(
        tmp_path, "a.jsonl", '{"text": "red fish"}\n' + "broken\n" * 1000 + '{"text": "blue fish"}\n'
    )
    corpus = Corpus.read(path, on_error="skip", min_df=1)
    assert corpus.shape[0] == 2
    assert (corpus.reading.n_rows, corpus.reading.n_skipped, len(corpus.reading.problems)) == (1002, 1000, 20)


def test_skipping_everything_is_an_error(tmp_path):
    path = write(tmp_path, "a.jsonl", "broken\n" * 3)
    with pytest.raises(CorpusError, match=r"none of 3 rows could be used; the first: .*line 1: not JSON"):
        read(path, on_error="skip")


@pytest.mark.parametrize("content", ["", "body\nx\n", "text,text\nx,y\n", '"text\nx\n', b"te\xfft\nx\n"])
def test_what_is_wrong_with_a_whole_file_is_never_skipped(tmp_path, content):
    with pytest.raises(CorpusError, match=r"a\.csv"):
        read(write(tmp_path, "a.csv", content), on_error="skip")


def test_many_quotes_that_are_never_closed_are_left_in_linear_time(tmp_path):
    content = "text,k\n" + '"never closed,1\nfine,2\n' * 20_000
    documents = read_documents(write(tmp_path, "a.csv", content), on_error="skip")
    assert sum(document.text == "fine" for document in documents) == 20_000
    assert documents.reading.n_skipped == 20_000


def test_quotes_that_every_line_closes_and_opens_are_left_in_linear_time(tmp_path):
    content = "text,k\n" + 'open","again\n' * 100_000 + "fine,2\n"
    documents = read_documents(write(tmp_path, "a.csv", content), on_error="skip")
    assert [document.text for document in documents] == ["fine"]
    assert documents.reading.n_skipped == 100_000


def test_a_record_is_not_followed_beyond_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LARGEST_RECORD", 100)
    content = "text,k\n" + "a,1\n" * 50 + 'open","again\n' * 20 + "b,2\n"
    documents = read_documents(write(tmp_path, "a.csv", content), on_error="skip")
    assert [document.text for document in documents] == ["a"] * 50 + ["b"]
    assert "a record of more than" in documents.reading.problems[0]


def test_undecodable_lines_of_utf_16_are_skipped(tmp_path):
    lines = [f'{{"text": "{text}"}}\n'.encode("utf-16-le") for text in ("füße", "broken", "日本")]
    lines[1] = lines[1].replace("e".encode("utf-16-le"), b"\x00\xd8")
    path = write(tmp_path, "a.jsonl", b"".join(lines))
    documents = read_documents(path, encoding="utf-16-le", on_error="skip")
    assert [document.text for document in documents] == ["füße", "日本"]
    assert "line 2: bytes that are not valid utf-16-le" in documents.reading.problems[0]


def test_utf_16_with_all_formats(tmp_path):
    for name, content in (("a.csv", "text\nfüße\n"), ("a.txt", "füße"), ("a.jsonl", '{"text": "füße"}')):
        path = write(tmp_path, name, content.encode("utf-16"))
        assert texts(path, encoding="utf-16") == ["füße"]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_progress_tells_bytes_and_documents(tmp_path, name):
    content = b"red fish\n" * 25_000
    path = write(tmp_path, name, gzip.compress(content) if name.endswith(".gz") else content)
    size = path.stat().st_size
    told = []
    assert len(read([path, path], progress=lambda *numbers: told.append(numbers))) == 50_000
    assert len(told) >= 5
    assert told == sorted(told)
    assert all(total == 2 * size and 0 < done <= total for done, total, _ in told)
    assert told[-1] == (2 * size, 2 * size, 50_000)


def test_progress_of_long_documents_and_folders(tmp_path):
    for number in range(5):
        write(tmp_path, f"{number}.txt", "fish " * 400_000)
    told = []
    assert len(read(tmp_path, progress=lambda *numbers: told.append(numbers))) == 5
    assert told == [(6_000_000, 10_000_000, 3), (10_000_000, 10_000_000, 5)]


def test_errors_of_progress_are_the_callers(tmp_path):
    def stop(*numbers):
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        read(write(tmp_path, "a.txt", "x\n"), progress=stop)


def test_a_file_that_breaks_while_it_is_read(tmp_path, monkeypatch):
    class Failing(io.FileIO):
        def readinto(self, buffer):
            raise OSError(5, "Input/output error")

    path = write(tmp_path, "a.txt", "x\n")
    monkeypatch.setattr(files.io, "FileIO", Failing)
    with pytest.raises(CorpusError, match=r"a\.txt cannot be read: Input/output error"):
        read(path)


def test_corpora_that_were_not_read_have_no_reading():
    assert Corpus.from_texts(["red fish", "fish", "bird"], min_df=1).reading is None
