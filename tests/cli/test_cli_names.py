"""Names of topics on the screen and in files."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from laconic import load


@pytest.fixture(scope="module")
def named(saved, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "named"
    load(saved).rename(1, "[red]tennis, say").save(path)
    return path


def test_topics(laconic, named):
    table = laconic("topics", named).stdout.splitlines()
    assert next(line for line in table if "words" in line).split()[:2] == ["topic", "name"]
    assert next(line for line in table if line.split()[:1] == ["1"]).split()[1] == "[red]tennis,"
    listed = json.loads(laconic("topics", named, "--json").stdout)
    assert [topic["name"] for topic in listed] == [None, "[red]tennis, say", None]
    rows = list(csv.DictReader(io.StringIO(laconic("topics", named, "--csv").stdout)))
    assert {(row["topic"], row["name"]) for row in rows} == {("0", ""), ("1", "[red]tennis, say"), ("2", "")}


def test_weights(laconic, named, jsonl, tmp_path):
    columns = ["id", "topic0", "topic1 [red]tennis, say", "topic2"]
    for name in ("weights.csv", "weights.parquet", "weights.jsonl"):
        laconic("transform", named, jsonl, "--text", "body", "-o", tmp_path / name)
    with (tmp_path / "weights.csv").open(newline="") as file:
        assert next(csv.reader(file)) == columns
    assert pq.read_schema(tmp_path / "weights.parquet").names == columns
    lines = (tmp_path / "weights.jsonl").read_text().splitlines()
    assert {key for line in lines for key in json.loads(line)["topics"]} == {"0", "1 [red]tennis, say", "2"}


def test_search(laconic, named, jsonl):
    words = load(named).topic_words(1)[1][0][0]
    assert "topic 1 [red]tennis, say: " in laconic("search", named, words, "--explain").stdout
    found = json.loads(laconic("search", named, words, "--explain", "--json").stdout)
    assert "[red]tennis, say" in {topic["name"] for hit in found["hits"] for topic in hit["topics"]}
    # documents that take the place of others leave the names alone
    laconic("search", named, "--corpus", jsonl, "--text", "body")
    assert load(named).names[1] == "[red]tennis, say"
