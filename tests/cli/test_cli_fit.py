import signal

import numpy as np
import pytest
from cli_documents import THEMES, documents, write_csv, write_jsonl

from laconic import RLSI, Bundle, Corpus, fit, load
from laconic.corpus import Vectorizer
from laconic.models import MODELS
from stored_files import contents


def same(model, other):
    return (model.components_ != other.components_).nnz == 0


def test_default_is_the_word_budget(laconic, rows, jsonl, tmp_path):
    result = laconic("fit", jsonl, "--text", "body", "-o", tmp_path / "m", "-k", 4)
    bundle = load(tmp_path / "m")
    corpus = Corpus.from_texts([row["body"] for row in rows])
    expected = RLSI(
        4, topic_norm="l0", terms_per_topic=40, nonnegative="both", init="svd", random_state=0
    ).fit(corpus.X)
    assert same(bundle.model, expected)
    assert bundle.model.get_params() == expected.get_params()
    assert list(bundle.vocabulary) == list(corpus.vocabulary)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["topic", "size", "density", "words"]
    assert [line.split()[0] for line in lines[2:]] == ["0", "1", "2", "3"]


def test_what_is_said(laconic, jsonl, tmp_path):
    result = laconic(
        "fit", jsonl, "--text", "body", "--label", "kind", "-k", 3, "--words", 8, "-o", tmp_path / "m"
    )
    model = load(tmp_path / "m").model
    read, saved, fitted, topics, transform, search, evaluate = result.stderr.splitlines()
    tokens = sum(len(row["body"].split()) - row["body"].split().count("The") for row in documents())
    assert read == (
        f"read 90 documents, 3 labels, {tokens:,} tokens; 24 of 27 terms kept "
        "(in at least 2 documents and at most 50 % of them)"
    )
    assert f"fitted 3 topics in {model.n_iter_} iterations and " in fitted
    assert f"3 alive, density {model.density_:.2%}" in fitted
    assert f"cosine of two topics {model.max_cosine_:.2f}, {model.distinct_terms_:.0%} distinct" in fitted
    size = load(tmp_path / "m").documents.nbytes
    kept = f"with 90 documents and their texts ({size / 1000:.1f} KB)"
    assert saved == f"model saved to {tmp_path / 'm'}, {kept}"
    assert topics == f"next: laconic topics {tmp_path / 'm'} --terms 40"
    assert transform == f"      laconic transform {tmp_path / 'm'} NEW-FILE --text body -o weights.parquet"
    assert search == f'      laconic search {tmp_path / "m"} "SOME WORDS"'
    assert evaluate == f"      laconic evaluate {tmp_path / 'm'}"
    heading, _, *rows = result.stdout.splitlines()
    assert heading.split() == ["topic", "words", "strongest", "in"]
    # each theme has a label of its own
    assert {row.split("   ")[-1].split()[0] for row in rows} == set(THEMES)


def test_documents_are_kept_and_used_at_once(laconic, jsonl, rows, tmp_path):
    dated = write_jsonl(
        tmp_path / "dated.jsonl", [{**row, "day": f"{2000 + place}-02-03"} for place, row in enumerate(rows)]
    )
    options = ["--text", "body", "--label", "kind", "--id", "key", "--date", "day", "-k", 3]
    laconic("fit", dated, *options, "-o", tmp_path / "m")
    found = laconic("search", tmp_path / "m", "violin", "-k", 3).stdout.splitlines()
    assert found[0].split() == ["rank", "score", "words", "topics", "document", "label", "date", "text"]
    assert all(" music " in line and "-02-03 " in line and "violin" in line for line in found[2:])
    evaluated = laconic("evaluate", tmp_path / "m").stdout
    assert "coherence NPMI" in evaluated
    assert "classification accuracy" in evaluated
    documents = load(tmp_path / "m").documents
    assert documents.dates[0] == np.datetime64("2000-02-03", "s")
    assert documents.texts[0] == rows[0]["body"]


def test_what_is_not_to_be_kept_is_not(laconic, jsonl, tmp_path):
    options = ["--text", "body", "-k", 3, "-o", tmp_path / "m"]
    said = laconic("fit", jsonl, *options, "--no-texts").stderr
    assert "with 90 documents, without their texts (" in said
    assert "text" not in laconic("search", tmp_path / "m", "violin").stdout.splitlines()[0]
    said = laconic("fit", jsonl, *options, "--no-documents", "--label", "kind").stderr
    assert f"model saved to {tmp_path / 'm'}, without documents" in said
    assert "laconic search" not in said
    assert load(tmp_path / "m").documents is None
    assert "has no documents to search" in laconic("search", tmp_path / "m", "violin", code=1).stderr


def test_python_and_the_command_line_fit_the_same(laconic, jsonl, tmp_path):
    options = {"alpha_topics": 0.3, "min_df": 3, "max_iter": 50}
    laconic("fit", jsonl, "--text", "body", "--label", "kind", "-k", 4, "--alpha-topics", 0.3, "--min-df", 3,
            "--max-iter", 50, "-o", tmp_path / "line")  # fmt: skip
    fit(jsonl, 4, text="body", labels="kind", **options).save(tmp_path / "python")
    assert contents(tmp_path / "line") == contents(tmp_path / "python")


def test_more_topics_than_documents_is_told(laconic, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("text\nsalt pepper\nsalt pepper\nsun moon\nsun moon\n")
    assert "more topics (9) than documents (4)" in laconic("fit", path, "-k", 9, "-o", tmp_path / "m").stderr


def test_short_topics_of_a_penalty_ask_for_a_lower_one(laconic, jsonl, tmp_path):
    said = laconic("fit", jsonl, "--text", "body", "-k", 8, "--alpha-topics", 3, "-o", tmp_path / "m").stderr
    assert "lower --alpha-topics" in said


def test_topics_are_the_themes(saved):
    found = {frozenset(term for term, _ in topic) for topic in load(saved).topic_words(8)}
    assert found == {frozenset(words) for words in THEMES.values()}


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["--words", "5"], {"terms_per_topic": 5}),
        (["--topic-norm", "l0"], {"terms_per_topic": 40}),
        (["--alpha-topics", "0.5"], {"topic_norm": "l1", "alpha_topics": 0.5, "terms_per_topic": None}),
        (["--topic-norm", "l1"], {"topic_norm": "l1", "terms_per_topic": None}),
        (
            ["--topic-norm", "l2", "--alpha-topics", "0.5", "--alpha-docs", "0.2"],
            {"topic_norm": "l2", "alpha_topics": 0.5, "alpha_docs": 0.2, "terms_per_topic": None},
        ),
        (["--doc-norm", "l1"], {"doc_norm": "l1"}),
        (["--signed"], {"nonnegative": False}),
        (["--nonnegative", "--model", "RLSI"], {"nonnegative": True}),
        (["--seed", "7", "--jobs", "1"], {"random_state": 7, "n_jobs": 1}),
        (["--tol", "0.1", "--max-iter", "50"], {"tol": 0.1, "max_iter": 50}),
    ],
)
def test_model_options(laconic, rows, jsonl, tmp_path, arguments, parameters):
    laconic("fit", jsonl, "--text", "body", "--topics", 3, "-o", tmp_path / "m", *arguments)
    usual = {
        "topic_norm": "l0",
        "terms_per_topic": 40,
        "nonnegative": "both",
        "init": "svd",
        "random_state": 0,
    }
    given = {**usual, **parameters}
    expected = RLSI(3, **given).fit(Corpus.from_texts([row["body"] for row in rows]).X)
    model = load(tmp_path / "m").model
    assert model.get_params() == expected.get_params()
    assert np.array_equal(_dense(model), _dense(expected))


def _dense(model):
    return model.components_ if isinstance(model.components_, np.ndarray) else model.components_.toarray()


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["--min-df", "25"], {"min_df": 25}),
        (["--min-df", "0.3", "--max-df", "1.0"], {"min_df": 0.3, "max_df": 1.0}),
        (["--max-df", "35"], {"max_df": 35}),
        (["--max-features", "9"], {"max_features": 9}),
        (["--stop-words", "none"], {"stop_words": None}),
        (["--stop-words", "ENGLISH"], {"stop_words": "english"}),
        (["--ngrams", "2"], {"ngram_range": [1, 2]}),
        (["--weighting", "count"], {"weighting": "count"}),
        (["--weighting", "binary"], {"weighting": "binary"}),
        (["--weighting", "log-entropy"], {"weighting": "log-entropy"}),
        (["--stemmer", "English"], {"stemmer": "english"}),
        (["--stop-words", "german"], {"stop_words": "german"}),
        (["--weighting", "tfidf", "--sublinear-tf"], {"weighting": "tfidf", "sublinear_tf": True}),
        (["--html"], {"html": True}),
        (["--no-html"], {"html": False}),
    ],
)
def test_term_options(laconic, rows, jsonl, tmp_path, arguments, settings):
    laconic("fit", jsonl, "--text", "body", "-k", 2, "-o", tmp_path / "m", *arguments)
    vectorizer = Vectorizer(**settings)
    counts = vectorizer.fit_count(row["body"] for row in rows)
    bundle = load(tmp_path / "m")
    assert bundle.vectorizer.to_dict() == vectorizer.to_dict()
    assert list(bundle.vocabulary) == list(vectorizer.vocabulary)
    expected = RLSI(2, topic_norm="l0", terms_per_topic=40, nonnegative="both", init="svd", random_state=0)
    assert same(bundle.model, expected.fit(vectorizer.weigh(counts)))


def test_html_is_taken_out_and_told(laconic, rows, tmp_path):
    marked = [{**row, "body": f"<p>{row['body']}&nbsp;#39;s</p>"} for row in rows]
    write_jsonl(tmp_path / "marked.jsonl", marked)
    arguments = ("fit", tmp_path / "marked.jsonl", "--text", "body", "-k", 2, "-o")
    told = laconic(*arguments, tmp_path / "m").stderr.splitlines()[0]
    assert told.endswith("at most 50 % of them); HTML tags and entities removed")
    vectorizer = Vectorizer()
    vectorizer.fit_count(row["body"] for row in rows)
    assert list(load(tmp_path / "m").vocabulary) == list(vectorizer.vocabulary)
    told = laconic(*arguments, tmp_path / "n", "--no-html", "--max-df", 1.0).stderr.splitlines()[0]
    assert "HTML" not in told
    assert "nbsp" in load(tmp_path / "n").vocabulary


def test_words_in_nearly_every_document_are_told(laconic, rows, tmp_path):
    worn = [
        {**row, "key": f"{row['key']}-{n}", "body": f"said {row['body']} reuters"}
        for row in rows
        for n in "ab"
    ]
    write_jsonl(tmp_path / "worn.jsonl", worn)
    arguments = ("fit", tmp_path / "worn.jsonl", "--text", "body", "-k", 2, "-o", tmp_path / "m")
    told = laconic(*arguments).stderr.splitlines()[0]
    assert "; in nearly every document, and so left out: " in told
    told = laconic(*arguments, "--max-df", 1.0).stderr.splitlines()[0]
    listed = told.rpartition("in nearly every document: ")[2]
    assert listed.startswith(("reuters, said", "said, reuters"))
    assert listed.endswith("; --max-df 0.9 leaves them out")


def test_stop_words_of_a_file(laconic, jsonl, tmp_path):
    words = tmp_path / "stop.txt"
    words.write_text("\ufeffApple\n\n  größe \nnoise\n", encoding="utf-8")
    laconic("fit", jsonl, "--text", "body", "-k", 2, "--stop-words", words, "-o", tmp_path / "m")
    bundle = load(tmp_path / "m")
    assert bundle.vectorizer.to_dict()["stop_words"] == ["apple", "größe", "noise"]
    assert not {"apple", "größe", "noise"} & set(bundle.vocabulary)


def test_csv_in_another_encoding(laconic, rows, tmp_path):
    path = write_csv(tmp_path / "texts.csv", rows, encoding="latin-1")
    arguments = ["fit", path, "--text", "body", "--id", "key", "-k", 2, "-o", tmp_path / "m"]
    laconic(*arguments, "--encoding", "latin-1")
    assert "größe" in load(tmp_path / "m").vocabulary
    assert "bytes that are not valid utf-8" in laconic(*arguments, code=1).stderr


def test_folder(laconic, rows, tmp_path):
    for row in rows:
        folder = tmp_path / "texts" / row["kind"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{row['key']}.txt").write_text(row["body"], encoding="utf-8")
    result = laconic("fit", tmp_path / "texts", "--label", "folder", "-k", 3, "-o", tmp_path / "m")
    assert "3 labels" in result.stderr
    assert load(tmp_path / "m").model.n_alive_ == 3


def test_empty_documents_are_told(laconic, rows, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", [*rows, {"body": "unheardof", "kind": "x"}])
    result = laconic("fit", path, "--text", "body", "-k", 2, "-o", tmp_path / "m")
    assert "1 document without any kept term" in result.stderr


def test_an_earlier_model_is_replaced(laconic, jsonl, tmp_path):
    for n_topics in (2, 3):
        laconic("fit", jsonl, "--text", "body", "-k", n_topics, "-o", tmp_path / "m")
        assert load(tmp_path / "m").model.n_components == n_topics


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--words", "5", "--alpha-topics", "1"], "leave --words out"),
        (["--words", "5", "--topic-norm", "l1"], "leave --words out"),
        (["--words", "5", "--topic-norm", "l2"], "leave --words out"),
        (["--topic-norm", "l0", "--alpha-topics", "1"], "set --words in place of"),
        (["--min-df", "0"], "neither a number of documents"),
        (["--max-df", "1.5"], "neither a number of documents"),
        (["--max-df", "many"], "neither a number of documents"),
        (["--stop-words", "nowhere.txt"], "'nowhere.txt' is neither a file nor a language"),
        (["--stemmer", "klingon"], "there is no stemmer for 'klingon'; known languages are arabic, "),
        (["--on-error", "ignore"], "--on-error"),
        (["--jobs", "0"], "0 threads"),
        (["--seed", "-1"], "is not between"),
        (["--topics", "0"], "--topics"),
        (["--weighting", "bm26"], "bm26"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_usage_errors(laconic, jsonl, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setenv("COLUMNS", "300")
    result = laconic("fit", jsonl, "--text", "body", "-o", tmp_path / "m", *arguments, code=2)
    assert message in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "m").exists()


def test_an_output_that_cannot_be_is_refused_before_the_work(laconic, jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr(Corpus, "read", None)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    assert "is a file" in laconic("fit", jsonl, "-o", tmp_path / "file", code=1).stderr
    assert "Not a directory" in laconic("fit", jsonl, "-o", tmp_path / "file" / "m", code=1).stderr
    assert "holds no laconic model" in laconic("fit", jsonl, "-o", tmp_path / "folder", code=1).stderr
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "Permission denied" in laconic("fit", jsonl, "-o", tmp_path / "new" / "m", code=1).stderr
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_warnings_are_polite(laconic, jsonl, tmp_path):
    fit = ["fit", jsonl, "--text", "body", "-o", tmp_path / "m"]
    result = laconic(*fit, "-k", 3, "--max-iter", 1, "--tol", 0)
    assert (
        "laconic: warning: the fit was still improving after 1 iteration: raise --max-iter" in result.stderr
    )
    assert "ConvergenceWarning" not in result.stderr

    result = laconic(*fit, "-k", 3, "--alpha-topics", 1e6)
    assert "no topic has a word: lower --alpha-topics, which was 1e+06" in result.stderr
    assert result.stdout.count("no words") == 3

    result = laconic(*fit, "-k", 10, "--max-features", 8)
    assert "topics ended with fewer than 5 words" in result.stderr
    result = laconic(*fit, "-k", 3, "--words", 2)
    assert "laconic: warning" not in result.stderr


class Pressed(RLSI):
    """A model during whose fit Ctrl-C is pressed."""

    presses: tuple[str, ...] = ()

    def fit(self, X, y=None, *, callback=None):
        presses = list(self.presses)
        if "start" in presses:
            # a start that takes iterations
            self.init = "documents"

        def press(report):
            if presses and presses[0] == report.phase:
                presses.pop(0)
                signal.raise_signal(signal.SIGINT)
            return callback(report)

        return super().fit(X, callback=press)


@pytest.fixture
def press(monkeypatch, heeds_ctrl_c):
    def pressed(*phases):
        model = type("RLSI", (Pressed,), {"presses": phases})
        monkeypatch.setitem(MODELS, "RLSI", model)

    before = signal.getsignal(signal.SIGINT)
    yield pressed
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_keeps_the_model(laconic, press, jsonl, tmp_path):
    press("fit")
    result = laconic("fit", jsonl, "--text", "body", "-k", 3, "--tol", 0, "-o", tmp_path / "m", code=130)
    assert "stopped early by Ctrl-C, after 1 iteration;" in result.stderr
    assert "still improving" not in result.stderr
    assert "model saved to" in result.stderr
    assert load(tmp_path / "m").model.n_iter_ == 1
    assert result.stdout.startswith(" topic")


def test_ctrl_c_during_the_start_keeps_the_budget(laconic, press, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", documents(300))
    press("start")
    result = laconic("fit", path, "--text", "body", "-k", 2, "--words", 3, "-o", tmp_path / "m", code=130)
    assert "stopped early by Ctrl-C, before its first iteration" in result.stderr
    assert "in 0 iterations" in result.stderr
    assert list(load(tmp_path / "m").model.topic_sizes_) == [3, 3]


def test_a_second_ctrl_c_aborts(laconic, press, jsonl, saved, tmp_path):
    Bundle(load(saved).model).save(tmp_path / "m")
    before = {path: path.read_bytes() for path in (tmp_path / "m").iterdir()}
    press("start", "start")
    for output in ("m", "new"):
        result = laconic("fit", jsonl, "--text", "body", "-o", tmp_path / output, code=130)
        assert result.stderr.splitlines()[-1] == "laconic: interrupted, no model was saved"
        assert result.stdout == ""
    assert {path: path.read_bytes() for path in (tmp_path / "m").iterdir()} == before
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_while_reading_aborts(laconic, jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr(Corpus, "read", lambda *args, **kwargs: signal.raise_signal(signal.SIGINT))
    result = laconic("fit", jsonl, "-o", tmp_path / "m", code=130)
    assert result.stderr == "laconic: interrupted, no model was saved\n"


def test_a_full_disk_leaves_the_old_model(laconic, jsonl, tmp_path, monkeypatch):
    laconic("fit", jsonl, "--text", "body", "-k", 2, "-o", tmp_path / "m")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = laconic("fit", jsonl, "--text", "body", "-k", 3, "-o", tmp_path / "m", code=1)
    assert result.stderr.splitlines()[-1] == f"laconic: error: {tmp_path / 'm'}: No space left on device"
    monkeypatch.undo()
    assert load(tmp_path / "m").model.n_components == 2
