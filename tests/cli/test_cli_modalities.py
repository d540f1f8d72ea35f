"""Several modalities of each document: fitted, listed, folded in and translated from the command line."""

import csv
import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_documents import write_csv, write_jsonl, write_lines, write_matrix_market, write_parquet

from laconic import Corpus, MultimodalPLSA, load
from laconic.cli.options.modalities import spelled_out
from laconic.corpus import read_corpora

WORDS = {
    "sea": ("meer welle schiff hafen segel anker", "sea wave ship harbour sail anchor"),
    "sky": ("himmel wolke vogel regen sturm flug", "sky cloud bird rain storm flight"),
    "kitchen": ("salz pfeffer topf herd löffel suppe", "salt pepper pot stove spoon soup"),
}


@pytest.fixture(scope="module")
def pairs():
    """Documents on three themes in two languages; some lack one of them, one both."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(60):
        kind = list(WORDS)[number % 3]
        german, english = (" ".join(rng.choice(words.split(), 8)) for words in WORDS[kind])
        rows.append({"key": f"n{number}", "kind": kind, "german": german, "english": english})
    rows[4]["english"] = ""
    rows[8]["german"] = ""
    rows[9]["german"] = rows[9]["english"] = ""
    return rows


@pytest.fixture(scope="module")
def path(pairs, tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("pairs") / "pairs.jsonl", pairs)


MODALITIES = ["--text-de", "german", "--text-en=english"]


def fit(laconic, path, output, *arguments, columns=MODALITIES, code=0):
    model = ["--model", "multimodal-plsa", "-k", 3, "-o", output]
    return laconic("fit", path, *model, *columns, *arguments, code=code)


@pytest.fixture(scope="module")
def expected(path):
    corpora = read_corpora(path, {"de": "german", "en": "english"}, label="kind")
    model = MultimodalPLSA(3, random_state=0)
    return model.fit({name: corpus.counts for name, corpus in corpora.items()}), corpora


@pytest.fixture(scope="module")
def made(expected, tmp_path_factory):
    """The same model, saved by the library."""
    from laconic import Bundle

    model, corpora = expected
    folder = tmp_path_factory.mktemp("modalities") / "model"
    Bundle(model, vectorizers={name: corpus.vectorizer for name, corpus in corpora.items()}).save(folder)
    return folder


def test_texts_of_two_languages(laconic, path, expected, tmp_path):
    model, corpora = expected
    result = fit(laconic, path, tmp_path / "m", "--label", "kind", "--id", "key")
    bundle = load(tmp_path / "m")
    assert bundle.model.get_params() == model.get_params()
    assert np.array_equal(bundle.model.components_, model.components_)
    assert {name: list(one.vocabulary) for name, one in bundle.vectorizers.items()} == {
        name: list(corpus.vocabulary) for name, corpus in corpora.items()
    }
    said = result.stderr.splitlines()
    assert said[0].startswith("read de: 60 documents, 3 labels, 464 tokens; 18 of 18 terms kept")
    assert said[0].endswith("; 2 documents without any kept term")
    assert said[1].startswith("read en: 60 documents, 3 labels, ")
    m = tmp_path / "m"
    assert said[-2] == (
        f"      laconic transform {m} NEW-FILE --text-de german --text-en english -o weights.parquet"
    )
    assert said[-1] == f"      laconic translate {m} NEW-FILE --text-de german"
    heading, _, *rows = result.stdout.splitlines()
    assert [cell.strip() for cell in heading.split("   ") if cell.strip()] == [
        "topic",
        "words of de",
        "words of en",
        "strongest in",
    ]
    assert {row.split("   ")[-1].split()[0] for row in rows} == set(WORDS)


def test_topics_stand_side_by_side(laconic, made):
    shown = laconic("topics", made, "--no-weights", "-n", 6).stdout.splitlines()
    assert shown[0].startswith("MultimodalPLSA: 3 topics, 3 alive, over 36 terms")
    rows = [line.split("   ") for line in shown if line.strip()[:1].isdecimal()]
    found = {tuple(frozenset(cell.strip().split(", ")) for cell in row if ", " in cell) for row in rows}
    assert found == {tuple(frozenset(side.split()) for side in sides) for sides in WORDS.values()}
    topics = json.loads(laconic("topics", made, "--json").stdout)
    assert [list(topic["terms"]) for topic in topics] == [["de", "en"]] * 3
    assert sum(term["weight"] for term in topics[0]["terms"]["de"]) == pytest.approx(1)
    apart = json.loads(laconic("topics", made, "--json", "--distinct").stdout)
    for name in ("de", "en"):
        words = [term["term"] for topic in apart for term in topic["terms"][name]]
        every = {term["term"] for topic in topics for term in topic["terms"][name]}
        assert len(words) == len(set(words))
        assert set(words) == every
    listed = list(csv.DictReader(laconic("topics", made, "--csv", "-n", 2).stdout.splitlines()))
    assert list(listed[0]) == ["topic", "modality", "rank", "term", "weight"]
    assert [row["modality"] for row in listed] == ["de", "de", "en", "en"] * 3
    assert listed[2]["term"] == topics[0]["terms"]["en"][0]["term"]


def weights(path):
    table = pq.read_table(path)
    return np.column_stack([table[name].to_numpy() for name in table.column_names[1:]])


def test_one_text_or_several_are_folded_in(laconic, path, pairs, made, expected, tmp_path):
    model, corpora = expected
    out = tmp_path / "w.parquet"
    said = laconic("transform", made, path, "--text-en", "english", "-o", out).stderr
    assert "2 documents without any known word: all topics have the same weight" in said
    assert np.array_equal(weights(out), model.transform(corpora["en"].counts, modality="en"))
    texts = [row["english"] for row in pairs]
    assert np.array_equal(weights(out), load(made).transform(texts, modality="en"))
    said = laconic("transform", made, path, *MODALITIES, "--id", "key", "-o", out).stderr
    assert "1 document without any known word" in said
    both = model.transform({name: corpus.counts for name, corpus in corpora.items()})
    assert np.array_equal(weights(out), both)
    mapping = {"de": [row["german"] for row in pairs], "en": texts}
    assert np.array_equal(load(made).transform(mapping), both)
    assert pq.read_table(out)["id"].to_pylist() == [row["key"] for row in pairs]


@pytest.mark.parametrize("to", [[], ["--to", "en"]])
def test_words_of_the_other_language(laconic, made, tmp_path, to):
    new = write_lines(tmp_path / "new.txt", ["das schiff im hafen", "salz und suppe", "unbekannt"])
    lines = laconic("translate", made, new, "--text-de", "text", *to, "--json", "-n", 4)
    found = [json.loads(line) for line in lines.stdout.splitlines()]
    assert [row["id"] for row in found] == ["0", "1", "2"]
    sides = [set(WORDS[kind][1].split()) for kind in ("sea", "kitchen")]
    for row, words in zip(found, sides, strict=False):
        assert len(row["terms"]) == 4
        assert {term["term"] for term in row["terms"]} <= words
    assert found[2]["terms"] == []
    assert "1 document without any known word" in lines.stderr
    shown = laconic("translate", made, new, "--text-de", "text", "-n", 4).stdout.splitlines()
    assert shown[0].split() == ["document", "words", "of", "en"]
    assert shown[2].split(maxsplit=1)[1] == ", ".join(term["term"] for term in found[0]["terms"])


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_other_tables(laconic, pairs, path, tmp_path, write):
    suffix = write.__name__.removeprefix("write_")
    table = write(tmp_path / f"pairs.{suffix}", pairs)
    fit(laconic, table, tmp_path / "m")
    fit(laconic, path, tmp_path / "same")
    same, other = load(tmp_path / "m").model, load(tmp_path / "same").model
    assert np.array_equal(same.components_, other.components_)


def test_a_row_is_left_out_of_all_texts(laconic, pairs, tmp_path):
    rows = [*pairs, {"german": "meer", "english": {}}, {"german": None, "english": "sea"}]
    path = write_jsonl(tmp_path / "pairs.jsonl", rows)
    failed = fit(laconic, path, tmp_path / "m", code=1)
    assert f"{path}, line 61: the text 'english' is of type dict; it must be a string" in failed.stderr
    said = fit(laconic, path, tmp_path / "m", "--on-error", "skip").stderr
    assert "read de: 61 documents" in said
    assert "read en: 61 documents" in said
    assert said.count("1 of 62 rows could not be used") == 1


def test_terms_of_each_language(laconic, path, tmp_path):
    options = ["--stop-words", "de=german,en=none", "--stemmer", "en=english", "--min-df", 3]
    fit(laconic, path, tmp_path / "m", *options)
    settings = {name: one.to_dict() for name, one in load(tmp_path / "m").vectorizers.items()}
    assert settings["de"]["stop_words"][0] == "aber"
    assert settings["en"]["stop_words"] is None
    assert [one["stemmer"] for one in settings.values()] == [None, "english"]
    assert [one["min_df"] for one in settings.values()] == [3, 3]


def test_links_and_parameters(laconic, path, pairs, expected, tmp_path):
    links = write_lines(tmp_path / "links.txt", ["0 3", "1 4"])
    options = ["--graph", links, "--divergence", "l2", "--strength", 0.5, "--raw-counts"]
    assert "read 2 links" in fit(laconic, path, tmp_path / "m", *options).stderr
    model = MultimodalPLSA(3, divergence="l2", strength=0.5, row_normalize=False, random_state=0)
    counts = {name: corpus.counts for name, corpus in expected[1].items()}
    model.fit(counts, graph=[[0, 3], [1, 4]])
    assert np.array_equal(load(tmp_path / "m").model.components_, model.components_)


def test_the_plan_of_several_texts(laconic, path, expected, tmp_path):
    corpora = expected[1].values()
    shown = fit(laconic, path, tmp_path / "m", "--dry-run", "--stop-words", "de=german").stdout
    n_nonzeros = sum(corpus.counts.nnz for corpus in corpora)
    assert f"60 documents, 36 terms, {n_nonzeros} non-zeros (all of it was read)" in shown
    assert "--text-de german  --text-en english" in shown
    assert re.search(r"de: in at least 2 documents and at most 50 % of them; \d+ stop words; counted", shown)
    assert "en: in at least 2 documents and at most 50 % of them; english stop words; counted" in shown
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text-de", "german"], "needs two or more modalities"),
        ([], "needs two or more modalities"),
        ([*MODALITIES, "--text", "german"], "for --text: every modality needs a name: use --text-"),
        ([*MODALITIES, "--text-de", "english"], "for --text-de: was typed twice"),
        ([*MODALITIES, "--save-corpus", "c"], "for --save-corpus: a saved corpus has only one modality"),
        (
            [*MODALITIES, "--stemmer", "fr=french"],
            "for --stemmer: 'fr' in 'fr=french' is not one of the modalities de, en",
        ),
        (
            [*MODALITIES, "--stop-words", "german,en=english"],
            "for --stop-words: 'german' in 'german,en=english' should be NAME=VALUE",
        ),
        ([*MODALITIES, "--weighting", "tfidf"], "for --weighting"),
        ([*MODALITIES, "--text-fr"], "Option '--text-fr' requires an argument"),
    ],
)
def test_usage_errors(laconic, path, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setenv("COLUMNS", "300")
    result = fit(laconic, path, tmp_path / "m", *arguments, columns=[], code=2)
    assert message in result.stderr
    assert not (tmp_path / "m").exists()


def test_files_that_have_no_columns_are_refused(laconic, path, corpus, tmp_path):
    for other in (
        write_lines(tmp_path / "a.txt", ["meer"]),
        write_matrix_market(tmp_path / "c.mtx", corpus.counts),
        tmp_path,
    ):
        failed = fit(laconic, other, tmp_path / "m", code=1)
        assert f"{other} has no text columns: several modalities can only be read" in failed.stderr
    failed = fit(laconic, path, tmp_path / "m", columns=["--text-de", "german", "--text-en", "no"], code=1)
    assert "no column 'no'" in failed.stderr
    failed = fit(laconic, path, tmp_path / "m", "--min-df", 70, code=1)
    assert f"{path}: the texts of 'de': no terms are left of 18" in failed.stderr


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("transform", ["--text", "german"], "for --text: "),
        ("transform", [], "with --text-de or --text-en"),
        ("transform", ["--text-fr", "german"], "for --text-fr: "),
        ("translate", [], "with --text-de or --text-en"),
        ("translate", MODALITIES, "name one column, that of the texts to translate"),
        (
            "translate",
            ["--text-de", "german", "--to", "fr"],
            "for --to: 'fr' is not among them; there are en",
        ),
        ("translate", ["--text-de", "german", "--to", "de"], "for --to: 'de' is not among them"),
    ],
)
def test_usage_errors_about_a_model(laconic, path, made, tmp_path, monkeypatch, command, arguments, message):
    monkeypatch.setenv("COLUMNS", "300")
    output = ["-o", tmp_path / "w.csv"] if command == "transform" else []
    result = laconic(command, made, path, *arguments, *output, code=2)
    assert message in result.stderr
    assert result.stdout == ""


def test_models_of_one_text_have_no_names(laconic, saved, jsonl, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    failed = laconic("transform", saved, jsonl, "--text-de", "body", "-o", tmp_path / "w.csv", code=2)
    assert "has only one modality: use --text" in failed.stderr
    failed = laconic("translate", saved, jsonl, "--text-de", "body", code=1)
    assert "there is nothing to translate to" in failed.stderr


def test_a_model_without_vocabulary(laconic, made, path, tmp_path):
    load(made).model.save(tmp_path / "bare")
    for command in (["transform", "-o", tmp_path / "w.csv"], ["translate"]):
        name, *output = command
        failed = laconic(name, tmp_path / "bare", path, "--text-de", "german", *output, code=1)
        assert "was saved without a vocabulary of de, so it cannot read texts" in failed.stderr
    assert "words are shown as column numbers" in laconic("topics", tmp_path / "bare").stderr


def test_counts_are_no_texts_of_a_name(laconic, made, corpus, tmp_path):
    path = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
    for command in (["transform", "-o", tmp_path / "w.csv"], ["translate"]):
        name, *output = command
        failed = laconic(name, made, path, "--text-de", "german", *output, code=1)
        assert "has no text columns" in failed.stderr


def test_options_are_spelled_out_only_before_a_double_dash():
    assert spelled_out(["--", "--text-de", "x"]) == (["--", "--text-de", "x"], None)
    assert spelled_out(["--text-a-b=c=d"]) == (["--text-NAME", "a-b=c=d"], None)
    assert spelled_out(["--text", "x", "--textual"]) == (["--text", "x", "--textual"], None)


def test_ctrl_c_while_reading_keeps_nothing(laconic, path, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Corpus, "of_documents", interrupt)
    result = fit(laconic, path, tmp_path / "m", code=130)
    assert result.stderr == "laconic: interrupted, no model was saved\n"
