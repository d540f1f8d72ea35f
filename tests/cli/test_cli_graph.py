"""Linked documents from the command line: files of links, and graph-plsa."""

import gzip

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_documents import write_lines

from laconic import CorpusError, GraphPLSA, load
from laconic.reading.links import read_links

IDS = ["a", "b", "c d", "7"]


@pytest.fixture(scope="module")
def linked(rows):
    """Links between documents of the same theme."""
    first = {}
    return [(row["key"], first.setdefault(row["kind"], row["key"])) for row in rows]


def fit(laconic, path, output, *arguments, code=0):
    options = ["--text", "body", "--model", "graph-plsa", "-k", 3, "-o", output]
    return laconic("fit", path, *options, *arguments, code=code)


@pytest.mark.parametrize(
    ("name", "lines", "edges"),
    [
        ("links.txt", ["a b", "", "# comment", "  b\t7  ", "% comment"], [[0, 1], [1, 3]]),
        ("links.tsv", ["from\tto", "a\tc d", "7\tb"], [[0, 2], [3, 1]]),
        ("links.csv", ['a,"c d"', "7, b"], [[0, 2], [3, 1]]),
        ("links.edges", ["a b 0.5", "a 7 2"], [[0, 1, 0.5], [0, 3, 2]]),
        ("links.csv", ["source,target,weight", "a,b,1e-3"], [[0, 1, 0.001]]),
    ],
)
def test_files_of_links(tmp_path, name, lines, edges):
    links = read_links(write_lines(tmp_path / name, lines), IDS)
    assert links.edges.tolist() == edges
    assert links.reading.n_rows == len(edges)
    compressed = tmp_path / f"{name}.gz"
    compressed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert np.array_equal(read_links(compressed, IDS).edges, links.edges)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a x", "no document has the id 'x'; ids are such as 'a', 'b', 'c d'"),
        ("a", "1 field, where two ids, or two ids and a weight, are expected"),
        ("a b 1 2", "4 fields, where two ids"),
        ("a b 1", "3 fields, but the lines before have 2; give all links a weight, or none"),
        ("a,b", "1 field"),
    ],
)
def test_lines_that_cannot_be_used_are_named(tmp_path, line, problem):
    path = write_lines(tmp_path / "links.txt", ["a b", "", line, "b 7"])
    with pytest.raises(CorpusError) as refused:
        read_links(path, IDS)
    assert str(refused.value).startswith(f"{path}, line 3: {problem}")
    links = read_links(path, IDS, "skip")
    assert links.edges.tolist() == [[0, 1], [1, 3]]
    assert (links.reading.n_rows, links.reading.n_skipped) == (3, 1)


@pytest.mark.parametrize("weight", ["-1", "nan", "inf", "much"])
def test_weights_are_checked(tmp_path, weight):
    path = write_lines(tmp_path / "links.txt", ["a b 1", f"a 7 {weight}"])
    with pytest.raises(CorpusError, match=rf"line 2: the weight '{weight}' is no number of at least 0"):
        read_links(path, IDS)


def test_a_file_without_links(tmp_path):
    with pytest.raises(CorpusError, match=r"links.txt has no links$"):
        read_links(write_lines(tmp_path / "links.txt", ["# nothing"]), IDS)
    with pytest.raises(
        CorpusError, match=r"has no links; the first line that cannot be used: .*line 1: no doc"
    ):
        read_links(write_lines(tmp_path / "links.txt", ["x y"]), IDS, "skip")


def test_only_the_first_line_may_name_columns(tmp_path):
    with pytest.raises(CorpusError, match="line 2: no document has the id 'x'"):
        read_links(write_lines(tmp_path / "links.csv", ["from,to", "x,y"]), IDS)


def test_links_by_ids(laconic, corpus, rows, jsonl, linked, tmp_path):
    path = write_lines(tmp_path / "links.tsv", ["\t".join(pair) for pair in linked])
    out = tmp_path / "w.parquet"
    options = ["--id", "key", "--label", "kind", "--graph", path, "--strength", 1, "--save-weights", out]
    said = fit(laconic, jsonl, tmp_path / "m", *options).stderr
    assert f"read 90 links from {path}\n" in said
    numbers = {row["key"]: number for number, row in enumerate(rows)}
    edges = [[numbers[a], numbers[b]] for a, b in linked]
    expected = GraphPLSA(3, strength=1.0, random_state=0).fit(corpus.counts, graph=edges)
    model = load(tmp_path / "m").model
    assert model.get_params() == expected.get_params()
    assert np.array_equal(model.components_, expected.components_)
    # the weights are those under the links, which those of a fold-in are not
    table = pq.read_table(out)
    weights = np.column_stack([table[f"topic{number}"].to_numpy() for number in range(3)])
    assert np.array_equal(weights, expected.weights_)
    assert not np.array_equal(weights, expected.transform(corpus.counts))


def test_links_by_numbers_and_nearest_neighbours(laconic, corpus, jsonl, tmp_path):
    edges = [[0, 1], [2, 3]]
    path = write_lines(tmp_path / "links.txt", [f"{a} {b}" for a, b in edges])
    fit(laconic, jsonl, tmp_path / "m", "--graph", path, "--divergence", "l2", "--raw-counts")
    expected = GraphPLSA(3, divergence="l2", row_normalize=False, random_state=0)
    model = load(tmp_path / "m").model
    assert model.get_params() == expected.get_params()
    assert np.array_equal(model.components_, expected.fit(corpus.counts, graph=edges).components_)
    fit(laconic, jsonl, tmp_path / "m", "--neighbors", 3)
    expected = GraphPLSA(3, n_neighbors=3, random_state=0).fit(corpus.counts)
    assert np.array_equal(load(tmp_path / "m").model.components_, expected.components_)


def test_links_to_other_documents_can_be_left_out(laconic, jsonl, tmp_path):
    path = write_lines(tmp_path / "links.txt", ["0 1", "0 900"])
    failed = fit(laconic, jsonl, tmp_path / "m", "--graph", path, code=1)
    assert f"{path}, line 2: no document has the id '900'" in failed.stderr
    assert "--on-error skip skips such rows" in failed.stderr
    assert not (tmp_path / "m").exists()
    said = fit(laconic, jsonl, tmp_path / "m", "--graph", path, "--on-error", "skip").stderr
    assert f"read 1 link from {path}\n" in said
    assert "1 of 2 rows could not be used and was skipped:" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "rlsi", "--graph", "links.txt"], "for --graph: --model rlsi does not take --graph"),
        (["--model", "plsa", "--strength", "1"], "for --strength: --model plsa does not take --strength"),
        (["--model", "plsa", "--raw-counts"], "for --raw-counts: --model plsa does not take --raw-counts"),
        (["--graph", "links.txt", "--neighbors", "3"], "leave out --graph or --neighbors"),
        (["--divergence", "tied"], "--divergence tied is not known; choose one of 'skl', 'l2', 'l1'"),
        (["--strength", "-1"], "--strength"),
        (["--strength", "nan"], "--strength"),
        (["--text-de", "body"], "for --text-NAME: --model graph-plsa does not take --text-NAME"),
    ],
)
def test_usage_errors(laconic, jsonl, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setenv("COLUMNS", "300")
    assert message in fit(laconic, jsonl, tmp_path / "m", *arguments, code=2).stderr


def test_a_missing_file_is_told_before_the_reading(laconic, jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr("laconic.corpus.Corpus.read", None)
    failed = fit(laconic, jsonl, tmp_path / "m", "--graph", tmp_path / "no.tsv", code=1)
    assert f"{tmp_path / 'no.tsv'} does not exist; name a file of links" in failed.stderr
    assert "is a folder" in fit(laconic, jsonl, tmp_path / "m", "--graph", tmp_path, code=1).stderr


def test_the_plan_names_the_links(laconic, jsonl, tmp_path):
    path = write_lines(tmp_path / "links.txt", ["0 1"])
    shown = fit(laconic, jsonl, tmp_path / "m", "--graph", path, "--dry-run").stdout
    assert f"links    {path} (4 bytes)" in shown
    assert "GraphPLSA: " in shown
