"""What goes wrong with input is told in a line that names file, row and remedy, in the words of options."""

import sys

import pytest
from cli_documents import write_docword, write_lines, write_matrix_market, write_svmlight

from laconic import Corpus
from laconic.corpus import CorpusError


@pytest.fixture
def refused(laconic, tmp_path, monkeypatch):
    """The error of a fit to files in the current folder, as told."""
    monkeypatch.chdir(tmp_path)

    def told(*arguments):
        result = laconic("fit", *arguments, "-o", "m", code=1)
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "m").exists()
        return result.stderr.removeprefix("laconic: error: ").rstrip("\n")

    return told


SKIP = "(--on-error skip skips such rows)"


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        (
            "a.csv",
            "body,kind\nx,y\n",
            [],
            "a.csv, line 1: no column 'text'; there are: 'body', 'kind' (--text says which)",
        ),
        ("a.csv", "text;kind\nx;y\n", [], "the header looks separated by ';': say --delimiter ';'"),
        ("a.csv", "text,kind\nx,y\nx,y,z\n", [], "a.csv, line 3: 3 fields, but the header has 2; "),
        ("a.csv", "text,kind\nx,y\nx,y,z\n", [], SKIP),
        ("a.csv", "", [], "a.csv is empty; a CSV file must start with a row of column names"),
        ("a.csv", 'text\n"x\n', [], "a.csv, line 2: not CSV"),
        ("a.csv", b"text\ncaf\xe9\n", [], "a.csv, line 2: bytes that are not valid utf-8; "),
        ("a.csv", b"text\ncaf\xe9\n", [], "such as --encoding latin-1, or convert"),
        (
            "a.csv",
            "text\nx\n",
            ["--encoding", "klingon"],
            "a.csv: 'klingon' is not an encoding that Python knows",
        ),
        (
            "a.csv",
            "text\nx\n",
            ["--delimiter", ";;"],
            "a.csv: --delimiter must be one character, such as ';'",
        ),
        ("a.jsonl", "", [], "a.jsonl has no documents"),
        ("a.jsonl", '{"text": "x"}\n{"text": \n', [], "a.jsonl, line 2: not JSON"),
        (
            "a.jsonl",
            '{"text": "x", "key": 1}\n' * 2,
            ["--id", "key"],
            f"a.jsonl, line 2: the id '1' is already that of line 1; ids must differ {SKIP}",
        ),
        (
            "a.txt",
            "the\nand\n",
            [],
            "a.txt: no terms found in 2 texts: all are empty, or consist of stop",
        ),
        ("a.txt", "the\nand\n", [], "of what is not a word; check the texts, or change --stop-words"),
        ("a.txt", "red\nblue\n", [], "a.txt: no terms are left of 2: for 2 texts, --min-df 2 requires"),
        ("a.txt", "red\n", ["--label", "kind"], "leave --text, --label, --id and --date out"),
        ("a.txt", "red\n", ["--delimiter", ";"], "only .csv and .tsv files do: leave --delimiter out"),
        (
            "a.txt",
            "red\n",
            ["--vocabulary", "v.txt"],
            "a.txt holds texts, whose vocabulary is found in them: ",
        ),
        (
            "a.csv.gz",
            "text\nx\n",
            [],
            "a.csv.gz is damaged, truncated, or not what its suffix says (Not a gzipped file",
        ),
        ("a.parquet", "text\nx\n", [], "a.parquet is damaged, truncated, or not what its suffix says"),
        ("a.pdf", "x", [], "a.pdf has the suffix '.pdf', which is not supported; there are .jsonl, "),
        ("a.svm", "1 2:x\n", [], "a.svm, line 1: not SVMlight"),
        (
            "a.svm",
            "1 2:1\n",
            ["--label", "kind"],
            "only SVMlight files have labels: --label label takes them",
        ),
        ("a.mtx", "1 1 1\n", [], "a.mtx, line 1: no header of a Matrix Market file"),
    ],
)
def test_bad_files(refused, tmp_path, name, content, options, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in refused(name, *options)


def test_what_is_not_there(refused, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "tables").mkdir()
    write_lines(tmp_path / "tables" / "a.csv", ["text", "x"])
    write_lines(tmp_path / "b.csv", ["text", "x"])
    assert refused("no.csv") == "no.csv does not exist; check the path"
    assert refused("b.csv", "no.csv") == "no.csv does not exist; check the path"
    assert refused("no*.csv") == "no file matches no*.csv; check the pattern"
    assert refused("empty") == "empty has no .txt files, nor have its sub-folders"
    assert refused("tables").endswith("; for its .csv files, say tables/*.csv")
    assert "tables is a folder; if you give several paths, all must be files" in refused("b.csv", "tables")


def test_options_of_folders(refused, tmp_path):
    (tmp_path / "texts").mkdir()
    write_lines(tmp_path / "texts" / "a.txt", ["red fish"])
    message = refused("texts", "--text", "body", "--label", "kind")
    assert "leave --text, --id and --date out, and --label too unless it is --label folder" in message
    message = refused("texts", "--label", "folder")
    assert "is not in a sub-folder, so --label folder gives it no label" in message


@pytest.mark.parametrize("kind", ["svm", "mtx", "docword"])
def test_counts(refused, corpus, tmp_path, kind):
    write = {
        "svm": lambda: write_svmlight(tmp_path / "c.svm", corpus.counts, corpus.labels),
        "mtx": lambda: write_matrix_market(tmp_path / "c.mtx", corpus.counts),
        "docword": lambda: write_docword(tmp_path / "docword.c.txt", corpus.counts),
    }
    path = write[kind]().name
    write_lines(tmp_path / "short.txt", ["red", "fish"])
    assert f"{path} holds counts, not texts: leave --text, --min-df and --ngrams out" == refused(
        path, "--text", "body", "--min-df", 3, "--ngrams", 1
    )
    assert "leave --stop-words and --stemmer out" in refused(
        path, "--stop-words", "none", "--stemmer", "german"
    )
    message = refused(path, "--vocabulary", "short.txt")
    assert message == f"{path} has 24 terms, but the vocabulary has 2; give the vocabulary that belongs to it"
    assert refused(path, "--vocabulary", "no.txt") == "no.txt does not exist; check the path"
    write_lines(tmp_path / "b.txt", ["red"])
    assert f"{path} holds counts, and only one such file can be read at a time: name it alone" == refused(
        "b.txt", path
    )


def test_saved_things(refused, corpus, saved, tmp_path):
    corpus.save(tmp_path / "c")
    why = "c is a saved corpus, whose terms are counted and weighted already"
    assert refused("c", "--min-df", 3) == f"{why}: leave --min-df out"
    assert (
        refused("c", "--label", "kind", "--weighting", "count") == f"{why}: leave --label and --weighting out"
    )
    assert refused(saved).endswith("is a saved model, not a folder of texts; give the texts")
    with pytest.raises(
        CorpusError, match=r"c is a saved corpus, not a folder of texts; Corpus\.load takes it"
    ):
        Corpus.read(tmp_path / "c")


@pytest.mark.parametrize("option", ["--stemmer", "--stop-words"])
def test_a_missing_package_is_named_with_its_remedy(refused, tmp_path, monkeypatch, option):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    monkeypatch.setitem(sys.modules, "stop_words", None)
    monkeypatch.setattr("laconic.corpus.languages._imported", _uncached())
    write_lines(tmp_path / "a.txt", ["red fish"])
    message = refused("a.txt", option, "german")
    assert message.startswith(option)
    assert message.endswith('needs a package that is not installed: pip install "laconic[languages]"')


def _uncached():
    from laconic.corpus import languages

    return languages._imported.__wrapped__


def test_files_that_are_not_there_or_not_named(laconic, refused):
    assert refused("nowhere.csv").startswith("nowhere.csv")
    assert laconic("fit", code=2).stdout == ""
