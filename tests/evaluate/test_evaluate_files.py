import gzip
import json
import sys
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.corpus import CorpusError
from laconic.evaluate import read_qrels, read_queries, read_run, retrieval_scores, write_run

TREC = """
<top>
<num> Number: 301
<title> International Organized Crime: who?

<desc> Description:
Identify organizations, x < 5.

<narr> Narrative:
A relevant document
names them.
</top>

<TOP><num>302</num><title>Polio</title>
<desc>Is it over?</desc></TOP>
"""


def file(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode(encoding)) if name.endswith(".gz") else text.encode(encoding))
    return path


@pytest.mark.parametrize("name", ["topics.txt", "topics.trec.gz", "topics.301-302", "topics.xml"])
def test_trec_topics(tmp_path, name):
    path = file(tmp_path, name, TREC)
    assert read_queries(path) == {"301": "International Organized Crime: who?", "302": "Polio"}
    assert read_queries(path, fields=["title", "desc"]) == {
        "301": "International Organized Crime: who? Identify organizations, x < 5.",
        "302": "Polio Is it over?",
    }
    with pytest.raises(CorpusError, match=r"line 14: topic 302 has no <narr>, only <title>, <desc>"):
        read_queries(path, fields=["narr"])


def test_entities_of_trec_topics(tmp_path):
    text = "<top><num>1<title>R&D, AT&amp;T &lt;b&gt; &#233;&#xE9;&nbsp;&copy &none;</top>"
    assert read_queries(file(tmp_path, "topics.txt", text)) == {"1": "R&D, AT&T <b> éé &copy &none;"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", '{"_id": "1", "text": "red fish", "metadata": {}}\n\n{"_id": 2, "text": ""}\n'),
        ("q.jsonl.gz", '{"id": "1", "query": "red fish"}\n{"id": "2", "query": ""}'),
        ("q.tsv", "1\tred fish\n2\t\n"),
        ("q.txt", "query_id\ttext\r\n1\tred fish\r\n2\t\r\n"),
    ],
)
def test_other_queries(tmp_path, name, text):
    assert read_queries(file(tmp_path, name, text)) == {"1": "red fish", "2": ""}


def test_encoding(tmp_path):
    path = file(tmp_path, "q.tsv", "1\tnaïve\n", "latin-1")
    assert read_queries(path, encoding="latin-1") == {"1": "naïve"}
    with pytest.raises(CorpusError, match=r"q\.tsv, line 1: .*encoding='latin-1'"):
        read_queries(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.jsonl", '{"_id": "1", "text": "a"}\n{"_id": "2"', "line 2: not JSON"),
        ("q.jsonl", "[1]", "line 1: every line must be one JSON object"),
        ("q.jsonl", '{"_id": "1"}', "line 1: no id .* or no text"),
        ("q.jsonl", '{"_id": true, "text": "a"}', "line 1: no id"),
        ("q.jsonl", '{"_id": "1", "text": "a"}\n{"_id": "", "text": "a"}', "line 2: the id is missing"),
        ("q.tsv", "1\ta\n2 b\n", "line 2: no tab; queries are JSON lines"),
        ("q.tsv", "1\ta\n\tb\n", "line 2: the id is missing"),
        ("q.tsv", "1\ta\n1\tb\n", "line 2: query '1' is there twice"),
        ("q.tsv", "\n \n", "is empty"),
        ("q.tsv", "id\ttext\n", "has no queries"),
        ("q.txt", "<top>\n<num>1\n<title>a\n", "line 1: <top> without </top>"),
        ("q.txt", "<top>\n<top>\n", "line 2: <top> inside of <top>"),
        ("q.txt", "<top><title>a</top>\n", "line 1: the topic has no <num>"),
        ("q.txt", "<top><num>1<title>a</top>\nb\n", "line 2: text outside of <top>"),
        ("q.txt", "</top>", "line 1: </top> without <top>"),
    ],
)
def test_bad_queries(tmp_path, name, text, message):
    path = file(tmp_path, name, text)
    with pytest.raises(CorpusError, match=message) as error:
        read_queries(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d1 1\nq1 0 d2 0\nq2 Q0 d1 -1\n",
        "q1\t0\td1\t1\n\nq1\t0\td2\t0\nq1 0 d2 0\nq2\t0\td1\t-1",
        "query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td2\t0\r\nq2\td1\t-1\r\n",
        "query-id\tcorpus-id\tscore \nq1\td1\t1 \nq1\td2\t0\nq2\td1\t-1\n",
        "q1\td1\t1\nq1\td2\t0\nq2\td1\t-1\n",
    ],
)
@pytest.mark.parametrize("name", ["qrels.txt", "qrels.tsv.gz"])
def test_qrels(tmp_path, name, text):
    assert read_qrels(file(tmp_path, name, text)) == {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": -1}}


def test_ids_with_spaces_between_tabs(tmp_path):
    assert read_qrels(file(tmp_path, "q.tsv", "q 1\td 1\t2\n")) == {"q 1": {"d 1": 2}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 0 d1 1\nq1 0 d2\n", "line 2: 3 columns; judgements have four"),
        ("q1\td1\t1\nq1 0 d2 1\n", "line 2: 1 columns"),
        ("q1 0 d1 high\n", "line 1: the grade 'high' is no whole number"),
        ("q1 0 d1 1.5\n", "line 1: the grade '1.5' is no whole number"),
        ("q1 0 d1 1_0\n", "line 1: the grade '1_0' is no whole number"),
        ("q1 0 d1 1000\nq1 0 d2 2147483647\n", "line 2: the grade 2147483647 is not between -1000 and 1000"),
        ("q1 0 d1 -1001\n", "line 1: the grade -1001 is not between"),
        ("q1\td1\t1\n\td1\t1\n", "line 2: the id of the query is missing"),
        ("q1\t \t1\n", "line 1: the id of the document is missing"),
        ("q1 0 d1 1\nq1 0 d1 2\n", "line 2: query 'q1' and document 'd1' have another grade before"),
        ("query-id\tcorpus-id\tscore\n", "has a header, but no judgements"),
        ("", "is empty"),
    ],
)
def test_bad_qrels(tmp_path, text, message):
    with pytest.raises(CorpusError, match=message) as error:
        read_qrels(file(tmp_path, "qrels.txt", text))
    assert "qrels.txt" in str(error.value)


names = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=5)
scores = st.floats(allow_nan=False)


@given(st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=5), min_size=1))
def test_runs_round_trip_to_the_bit(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("runs") / "a.run"
    write_run(run, path)
    loaded = read_run(path)
    assert loaded == run
    assert json.dumps(loaded, sort_keys=True) == json.dumps(run, sort_keys=True)
    assert list(path.parent.iterdir()) == [path]


def test_order_and_ranks_of_a_run(tmp_path):
    write_run({"q": {"a": 0.5, "c": 0.5, "b": 1, "d": 1e-300}}, tmp_path / "a.run", tag="mine")
    lines = (tmp_path / "a.run").read_text().splitlines()
    assert lines == ["q Q0 b 1 1.0 mine", "q Q0 c 2 0.5 mine", "q Q0 a 3 0.5 mine", "q Q0 d 4 1e-300 mine"]


def test_ranks_are_not_used(tmp_path):
    path = file(tmp_path, "a.run", "q Q0 a 2 5 x\nq Q0 b 1 3.5 x\n")
    assert read_run(path) == {"q": {"a": 5.0, "b": 3.5}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 a 1 0.5 x\nq Q0 b 2 0.5\n", "line 2: 5 columns; a run has query"),
        ("q Q0 a 1 nan x\n", "line 1: the score 'nan' is no number"),
        ("q Q0 a 1 1_0 x\n", "line 1: the score '1_0' is no number"),
        ("q Q0 a 1 high x\n", "line 1: the score 'high' is no number"),
        ("q Q0 a 1 0.5 x\nq Q0 a 2 0.4 x\n", "line 2: document 'a' is there twice for query 'q'"),
        ("\n", "is empty"),
    ],
)
def test_bad_runs(tmp_path, text, message):
    with pytest.raises(CorpusError, match=message):
        read_run(file(tmp_path, "a.run", text))


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        ({"q": {"a b": 1.0}}, {}, "'a b' cannot be written to a run"),
        ({"q": {"": 1.0}}, {}, "'' cannot be written"),
        ({"q\t": {"a": 1.0}}, {}, "cannot be written"),
        ({"q": {"a": 1.0}}, {"tag": "my run"}, "'my run' cannot be written"),
        ({"q": {"a": float("nan")}}, {}, "'q' has scores that are NaN"),
    ],
)
def test_runs_that_the_format_cannot_hold(tmp_path, run, options, message):
    path = file(tmp_path, "a.run", "old")
    with pytest.raises(ValueError, match=message):
        write_run(run, path, **options)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_paths(tmp_path):
    with pytest.raises(ValueError, match=r"leave \.gz out of the name"):
        write_run({"q": {"a": 1.0}}, tmp_path / "a.run.gz")
    with pytest.raises(ValueError, match=r"none.a\.run: there is no directory .*none; make it first"):
        write_run({"q": {"a": 1.0}}, tmp_path / "none" / "a.run")
    with pytest.raises(ValueError, match="is a directory; name a file"):
        write_run({"q": {"a": 1.0}}, tmp_path)
    for read in (read_queries, read_qrels, read_run):
        with pytest.raises(CorpusError, match="does not exist"):
            read(tmp_path / "nothing.txt")
        with pytest.raises(CorpusError, match="name one file"):
            read(tmp_path)
    damaged = tmp_path / "q.tsv.gz"
    damaged.write_bytes(b"1\ta\n")
    with pytest.raises(CorpusError, match="is damaged"):
        read_queries(damaged)


def test_our_own_collections(data_dir):
    queries, qrels = read_queries("laconic:scifact/test"), read_qrels("laconic:scifact/test")
    assert len(queries) == 300
    assert set(qrels) == set(queries)
    perfect = {query: {d: float(g) for d, g in grades.items()} for query, grades in qrels.items()}
    assert retrieval_scores(qrels, perfect, ["AP"]).mean == {"AP": 1.0}
    assert len(read_queries("laconic:cranfield")) == 225
    with pytest.raises(CorpusError, match="bbc_news has no queries"):
        read_queries("laconic:bbc_news")


class Foreign:
    """What ir_datasets gives."""

    def __init__(self, complete):
        self._complete = complete

    def has_queries(self):
        return self._complete

    has_qrels = has_queries

    def queries_iter(self):
        return [SimpleNamespace(query_id="1", default_text=lambda: "red fish")]

    def qrels_iter(self):
        return [
            SimpleNamespace(query_id="1", doc_id=doc, relevance=grade) for doc, grade in (("a", 1), ("b", 0))
        ]


def test_collections_of_ir_datasets(monkeypatch):
    package = ModuleType("ir_datasets")
    package.load = {"fish": Foreign(True), "fish/docs": Foreign(False)}.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    assert read_queries("ir_datasets:fish") == {"1": "red fish"}
    assert read_qrels("ir_datasets:fish") == {"1": {"a": 1, "b": 0}}
    for read, what in ((read_queries, "queries"), (read_qrels, "judgements")):
        with pytest.raises(CorpusError, match=f"ir_datasets:fish/docs has no {what}; name one of its parts"):
            read("ir_datasets:fish/docs")
    with pytest.raises(CorpusError, match="has no collection 'bird'"):
        read_queries("ir_datasets:bird")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ValueError, match="pip install ir_datasets"):
        read_qrels("ir_datasets:fish")
