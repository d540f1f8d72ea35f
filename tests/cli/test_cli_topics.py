import csv
import io
import json

import numpy as np
import openpyxl
import pytest

from laconic import RLSI, Bundle, load
from laconic.corpus import Vectorizer


@pytest.fixture
def signed(tmp_path):
    """A topic with a word against it, and one without words; one of the words is not for terminals."""
    terms = ["[bold]sun", "moon\x1b[2J", "naïve", "rain"]
    vectorizer = Vectorizer.from_dict({"weighting": "count"}, terms)
    X = np.array([[3.0, 2, 1, -2], [3, 2, 1, -2], [6, 4, 2, -4]])
    model = RLSI(2, topic_norm="l1", alpha_topics=0.01, random_state=0).fit(X)
    model.components_ = model.components_.tolil()[[int(np.argmax(model.topic_sizes_))] * 2].tocsr()
    model.components_.data[model.components_.indptr[1] :] = 0
    model.components_.eliminate_zeros()
    Bundle(model, vectorizer).save(tmp_path / "signed")
    return tmp_path / "signed"


def shortest(weight):
    return float(str(np.float32(weight)))


def test_table(laconic, saved):
    bundle = load(saved)
    lines = laconic("topics", saved, "--no-weights").stdout.splitlines()
    assert lines[0].startswith("RLSI: 3 topics, 3 alive, over ")
    rows = [line.split(maxsplit=3) for line in lines if line.split() and line.split()[0].isdecimal()]
    assert [(row[0], row[1]) for row in rows] == [("0", "8"), ("1", "8"), ("2", "8")]
    assert {row[2] for row in rows} == {f"{8 / len(bundle.vocabulary):.2%}"}
    assert [row[3] for row in rows] == [
        ", ".join(term for term, _ in topic) for topic in bundle.topic_words(10)
    ]
    assert not any(line != line.rstrip() for line in lines)


def test_number_of_terms_and_weights(laconic, saved):
    topic = load(saved).topic_words(2)[0]
    table = laconic("topics", saved, "-n", 2).stdout
    assert ", ".join(f"{term} {weight:.2g}" for term, weight in topic) in table
    assert len(table.splitlines()[-1].split(", ")) == 2


def test_json(laconic, saved):
    result = laconic("topics", saved, "--json")
    assert result.stderr == ""
    listed = json.loads(result.stdout)
    bundle = load(saved)
    assert [(topic["topic"], topic["size"]) for topic in listed] == [(0, 8), (1, 8), (2, 8)]
    for topic, expected in zip(listed, bundle.topic_words(100), strict=True):
        assert [(pair["term"], pair["weight"]) for pair in topic["terms"]] == [
            (term, shortest(weight)) for term, weight in expected
        ]
    assert "größe" in result.stdout
    few = json.loads(laconic("topics", saved, "--json", "--terms", 2).stdout)
    assert [len(topic["terms"]) for topic in few] == [2, 2, 2]
    assert few[0]["terms"] == listed[0]["terms"][:2]


def test_csv(laconic, saved):
    result = laconic("topics", saved, "--csv")
    assert result.stderr == ""
    assert "\r" not in result.stdout
    header, *rows = csv.reader(io.StringIO(result.stdout))
    assert header == ["topic", "rank", "term", "weight"]
    expected = [
        [str(number), str(rank), term, shortest(weight)]
        for number, topic in enumerate(load(saved).topic_words(100))
        for rank, (term, weight) in enumerate(topic, start=1)
    ]
    assert [[*row[:3], float(row[3])] for row in rows] == expected


def test_json_and_csv_exclude_each_other(laconic, saved):
    assert "choose one" in laconic("topics", saved, "--json", "--csv", code=2).stderr


def test_signs_dead_topics_and_odd_terms(laconic, signed):
    table = laconic("topics", signed, "--no-weights").stdout
    assert "\x1b" not in table
    assert "[bold]sun, " in table
    assert r"moon\x1b[2J" in table
    assert "-rain" in table
    assert table.splitlines()[-1].split() == ["1", "0", "0.00%", "no", "words"]
    listed = json.loads(laconic("topics", signed, "--json").stdout)
    assert {pair["term"]: pair["weight"] < 0 for pair in listed[0]["terms"]}["rain"]
    assert listed[1] == {"topic": 1, "size": 0, "terms": []}
    rows = list(csv.reader(io.StringIO(laconic("topics", signed, "--csv").stdout)))
    assert {row[0] for row in rows[1:]} == {"0"}


def test_without_vocabulary(laconic, signed, tmp_path):
    load(signed).model.save(tmp_path / "bare")
    result = laconic("topics", tmp_path / "bare")
    assert "without a vocabulary, so words are shown as column numbers" in result.stderr
    assert "-3" in result.stdout


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_colours_and_its_width(laconic, signed, monkeypatch, colour):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    table = laconic("topics", signed).stdout
    assert ("\x1b[31m-rain" in table) is colour
    assert "-rain" in table


def test_errors(laconic, tmp_path):
    result = laconic("topics", tmp_path / "nowhere", code=1)
    assert result.stderr.startswith(f"laconic: error: {tmp_path / 'nowhere'}: does not exist; ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    (tmp_path / "model.json").write_text("{")
    assert "is damaged or not JSON" in laconic("topics", tmp_path, code=1).stderr


def test_one_topic_and_its_documents(laconic, saved, without_documents):
    expected = load(saved).documents_of(1, 3)
    printed = laconic("topics", saved, "--topic", 1, "--documents", 3).stdout
    assert printed.startswith("topic 1: ")
    shown = [line.split()[0] for line in printed.splitlines() if line.split() and line.split()[0].isdecimal()]
    assert shown == list(expected["id"])
    rows = list(csv.DictReader(io.StringIO(laconic("topics", saved, "--topic", 1, "--csv").stdout)))
    assert [row["id"] for row in rows] == list(load(saved).documents_of(1, 5)["id"])
    assert {"id", "weight", "label", "text"} <= rows[0].keys()
    assert "without documents" in laconic("topics", without_documents, "--topic", 1).stderr
    assert "there is no topic" in laconic("topics", saved, "--topic", 9, code=2).stderr
    assert "--topic NUMBER" in laconic("topics", saved, "--documents", 3, code=2).stderr


def test_table_of_topics_sorted_by_size(laconic, saved):
    rows = list(csv.DictReader(io.StringIO(laconic("topics", saved, "--sort", "share", "--csv").stdout)))
    shares = [float(row["share"]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert all(-1 <= float(row["coherence"]) <= 1 for row in rows)
    assert all("%" in row["labels"] for row in rows)
    by_number = load(saved).topics(coherence=True)
    assert sorted(by_number["share"], reverse=True) == pytest.approx(shares)
    printed = laconic("topics", saved, "--table").stdout
    numbers = [line.split()[0] for line in printed.splitlines() if line.split()]
    assert [number for number in numbers if number.isdecimal()] == ["0", "1", "2"]
    assert "strongest in" in printed
    assert "coherence" in printed
    assert "is one of topic, words" in laconic("topics", saved, "--sort", "shares", code=2).stderr


def test_a_fit_lists_twenty_topics_and_says_how_to_see_the_rest(laconic, jsonl, tmp_path):
    result = laconic("fit", jsonl, "--text", "body", "-k", 22, "--words", 3, "-o", tmp_path / "m")
    numbers = [line.split()[0] for line in result.stdout.splitlines() if line.split()]
    assert [number for number in numbers if number.isdecimal()] == list(map(str, range(20)))
    assert f"and 2 more topics: laconic topics {tmp_path / 'm'}" in result.stderr


def test_a_topic_whose_words_are_stronger_elsewhere(laconic, jsonl, tmp_path):
    """It is said to have none of its own; what is measured of it stays."""
    laconic("fit", jsonl, "--text", "body", "-k", 2, "--words", 5, "-o", tmp_path / "model")
    bundle = load(tmp_path / "model")
    model = bundle.model
    model.components_ = model.components_[[0, 0]]
    bundle.save(tmp_path / "model")
    lines = laconic("topics", tmp_path / "model", "--distinct").stdout.splitlines()
    assert lines[-1].split(maxsplit=3)[3] == "no words of its own"
    assert "sizes are of whole topics" in " ".join(lines)
    assert laconic("topics", tmp_path / "model", "--distinct", "--topic", 1).stdout.startswith(
        "topic 1: no words of its own\n"
    )
    assert "1 no words of its own" in laconic("topics", tmp_path / "model", "--distinct", "--tree").stdout
    measured = laconic("topics", tmp_path / "model", "--distinct", "--table", "--csv").stdout
    first, second = csv.DictReader(io.StringIO(measured))
    assert second["words"] == ""
    assert first["coherence"] == second["coherence"] != "-1.0"


def test_topics_as_a_tree(laconic, saved):
    shown = laconic("topics", saved, "--tree", "-n", 3).stdout
    bundle = load(saved)
    for number, topic in enumerate(bundle.topic_words(3)):
        assert f" {number} {', '.join(word for word, _ in topic)}" in shown
    assert shown.splitlines()[0].startswith(f"{len(bundle.names)} topics, cosine ")
    assert (
        "cannot be combined with other options" in laconic("topics", saved, "--tree", "--json", code=2).stderr
    )


@pytest.mark.parametrize("other", [("--table",), ("--sort", "share")])
def test_one_topic_has_no_table_of_all(laconic, saved, other):
    assert "leave out --topic" in laconic("topics", saved, "--topic", 1, *other, code=2).stderr


def _sixteen(value):
    return float(f"{value:.16g}") if isinstance(value, float) else value


@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
def test_the_table_of_topics_as_a_file(laconic, saved, tmp_path, suffix):
    path = tmp_path / f"topics{suffix}"
    said = laconic("topics", saved, "--table", "--sort", "share", "-o", path).stderr
    assert f"written to {path}" in " ".join(said.split())
    rows = json.loads(laconic("topics", saved, "--table", "--sort", "share", "--json").stdout)
    assert [path.name for path in tmp_path.iterdir()] == [path.name]
    if suffix == ".xlsx":
        header, *found = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        assert list(header) == list(rows[0])
        # a cell of Excel has 16 digits
        assert list(found) == [tuple(map(_sixteen, row.values())) for row in rows]
    else:
        assert path.read_text() == laconic("topics", saved, "--table", "--sort", "share", "--csv").stdout
    # one topic's documents, too
    laconic("topics", saved, "--topic", 1, "--documents", 3, "-o", path)
    assert "the suffix of FILE" in laconic("topics", saved, "-o", path, "--json", code=2).stderr
    assert "as .xlsx or .csv" in laconic("topics", saved, "-o", tmp_path / "t.doc", code=1).stderr


def test_days_of_documents_are_days(laconic, tmp_path):
    texts = ["sun moon", "salt"] * 4
    lines = [json.dumps({"text": text, "day": f"2024-01-0{n + 1}"}) for n, text in enumerate(texts)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    model = tmp_path / "m"
    fitted = ["--date", "day", "-k", 2, "--min-df", 1, "--max-df", 1.0, "-o", model]
    laconic("fit", tmp_path / "a.jsonl", *fitted)
    printed = laconic("topics", model, "--topic", 0, "--documents", 1).stdout
    assert "2024-01-0" in printed
    assert "00:00" not in printed
