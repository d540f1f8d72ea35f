"""`fit --dry-run`: the plan, and how near its numbers come."""

import errno
import os
import subprocess
import sys
from tempfile import gettempdir

import numpy as np
import pytest
from cli_documents import (
    documents,
    write_csv,
    write_docword,
    write_jsonl,
    write_lines,
    write_matrix_market,
    write_svmlight,
)

from laconic import Corpus, load
from laconic import fit as fit_here
from laconic.bundle import planning
from laconic.bundle.fitting import plan_of
from laconic.cli.screen import plan
from laconic.corpus import sizes
from laconic.corpus.sizes import expected_sizes
from laconic.corpus.sources import Modality, find_source
from laconic.models.making import make_model
from stored_files import contents

MEGABYTE = 1_000_000


def sizes_of(path, reading=None, terms=None):
    return expected_sizes(find_source([path], {}), reading or {}, [Modality("", None, terms or {})])


def test_the_plan_of_a_table(laconic, rows, saved, tmp_path):
    paths = [write_csv(tmp_path / f"{name}.csv", rows) for name in "abcdefg"]
    options = ["--text", "body", "--label", "kind", "--stemmer", "english", "--ngrams", 2, "-k", 7]
    result = laconic(
        "fit", *paths, *options, "--dry-run", "-o", tmp_path / "m", "--save-corpus", tmp_path / "c"
    )
    shown = result.stdout
    assert f"{paths[0]} (CSV, {paths[0].stat().st_size / 1000:.1f} KB)" in shown
    assert "and 2 files more" in shown
    for line in [
        "columns  body, kind, key",
        "options  --text body  --label kind",
        "english stop words; english stems; sequences of up to 2 words; weighted by log-entropy",
        "n_components 7",
        f"the model to {tmp_path / 'm'} (new)",
        f"the corpus to {tmp_path / 'c'} (new)",
        "630 documents, ",
        "(all of it was read)",
        "weights of documents",
        "in all, of ",
    ]:
        assert line in shown
    assert result.stderr == ""
    assert not (tmp_path / "m").exists()
    assert not (tmp_path / "c").exists()
    again = laconic("fit", paths[0], "--text", "body", "--dry-run", "-o", saved).stdout
    assert f"the model to {saved} (replacing the model there)" in again


def test_a_plan_finds_what_is_wrong(laconic, jsonl, tmp_path):
    result = laconic("fit", jsonl, "--dry-run", "-o", tmp_path / "m", code=1)
    assert "no column 'text'" in result.stderr
    assert result.stdout == ""


def test_plans_of_other_input(laconic, corpus, jsonl, tmp_path):
    (tmp_path / "texts").mkdir()
    write_lines(tmp_path / "texts" / "a.txt", ["red fish", "blue fish"])
    corpus.save(tmp_path / "c")

    def shown(path, *options):
        return laconic("fit", path, *options, "--dry-run", "-o", tmp_path / "m").stdout

    assert "(a folder, one document per .txt file)" in shown(
        tmp_path / "texts", "--min-df", 1, "--max-df", 1.0
    )
    assert "(a saved corpus)" in shown(tmp_path / "c")
    counts = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
    assert "all, weighted by count" in shown(counts, "--weighting", "count")
    assert "counts, Matrix Market" in shown(counts)


@pytest.mark.parametrize("kind", ["svm", "mtx", "docword", "corpus", "texts"])
def test_what_is_small_is_known_exactly(corpus, jsonl, tmp_path, kind):
    if kind == "texts":
        found = sizes_of(jsonl, {"text": "body"})
    else:
        path = tmp_path / "corpus"
        if kind == "svm":
            path = write_svmlight(tmp_path / "c.svm", corpus.counts, corpus.labels)
        elif kind == "mtx":
            path = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
        elif kind == "docword":
            path = write_docword(tmp_path / "docword.c.txt", corpus.counts)
        else:
            corpus.save(path)
        found = sizes_of(path)
    assert found[:3] == (*corpus.shape, corpus.counts.nnz)


def test_a_header_without_sizes(laconic, tmp_path):
    path = write_lines(tmp_path / "c.mtx", ["%%MatrixMarket matrix coordinate integer general", "three"])
    result = laconic("fit", path, "--dry-run", "-o", tmp_path / "m", code=1)
    assert f"{path} does not begin with its numbers of documents, terms and entries" in result.stderr


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Texts of which only the beginning is read: a vocabulary that grows, in 30,000 short documents."""
    rows = documents(30_000)
    for number, row in enumerate(rows):
        row["body"] += f" word{number // 3}x rare{number}x " + "common " * (number % 2)
    return write_jsonl(tmp_path_factory.mktemp("large") / "large.jsonl", rows)


@pytest.mark.parametrize("terms", [{}, {"min_df": 300}, {"max_features": 100}, {"max_df": 9000}])
def test_a_sample_tells_the_size_of_all(large, terms):
    found = sizes_of(large, {"text": "body"}, terms)
    assert found.known.startswith("by the first ")
    corpus = Corpus.read(large, text="body", **terms)
    expected = (*corpus.shape, corpus.counts.nnz)
    assert found[:3] == pytest.approx(expected, rel=0.05)
    assert found.n_found == pytest.approx(corpus.vectorizer.tally.n_terms_found, rel=0.05)


def test_a_sample_of_svmlight_tells_the_size_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "LINES_READ", 400_000)
    lines = [f"1 {number % 500 + 1}:1 600:2  # {number}" for number in range(40_000)]
    found = sizes_of(write_lines(tmp_path / "c.svm", lines))
    assert found.known.startswith("by the first ")
    assert found.n_terms == 600
    assert found.n_documents == pytest.approx(40_000, rel=0.4)
    assert found.n_nonzeros == pytest.approx(2 * found.n_documents, abs=1)


def test_what_does_not_fit_the_machine_is_told(laconic, jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "machine_memory", lambda: 100 * MEGABYTE)
    result = laconic("fit", jsonl, "--text", "body", "--dry-run", "-o", tmp_path / "m")
    assert "but the machine has 100.0 MB: keep documents in files with --memory" in result.stderr
    monkeypatch.setattr(plan, "machine_memory", lambda: None)
    result = laconic("fit", jsonl, "--text", "body", "--dry-run", "-o", tmp_path / "m")
    assert "in all " in result.stdout
    assert result.stderr == ""


def test_memory_grows_with_what_it_is_made_of():
    found = sizes.Sizes(10**6, 10**5, 10**8, "", 10**6)
    usual = {"weighted": True, "mapped": False, "labelled": False}
    parts = sizes.reading_memory(found, **usual)
    assert parts["weights of terms"] == 400 * MEGABYTE
    assert parts["texts"] == 0
    assert sizes.reading_memory(found, **usual, text_bytes=MEGABYTE)["texts"] == MEGABYTE
    assert sizes.reading_memory(found, **usual, text_bytes=2**40)["texts"] == 2**28
    assert sizes.reading_memory(found, **usual | {"weighted": False})["weights of terms"] == 0
    little = sizes.reading_memory(found, **usual, text_bytes=2**40, memory=800 * MEGABYTE)
    assert little["texts"] == 50 * MEGABYTE
    assert parts["counting"] - little["counting"] == 2**28 - 50 * MEGABYTE
    mapped = sizes.reading_memory(found, **usual | {"mapped": True})
    assert parts["counts, ids and vocabulary"] - mapped["counts, ids and vocabulary"] == 804 * MEGABYTE


def test_two_million_words_and_fifty_topics_are_within_two_gigabytes():
    counted = planning.CountedDocuments(sizes.Sizes(1_700_000, 2_000_000, 1_100_000_000, "", 2_000_000))
    plan = planning.plan_fit(make_model("rlsi", 50), counted, 2000 * MEGABYTE)
    assert plan.folder is not None
    assert plan.total <= 2000 * MEGABYTE


def test_the_plan_knows_the_model(laconic, jsonl, tmp_path):
    def memory(*options):
        shown = laconic("fit", jsonl, "--text", "body", "--dry-run", "-o", tmp_path / "m", *options).stdout
        return shown.partition("memory")[2]

    plain = memory()
    assert "texts" in plain
    assert "texts" not in memory("--no-texts")
    assert memory("--model", "graph-plsa") != memory("--model", "plsa")
    assert "links" in memory("--model", "graph-plsa")
    assert memory("--model", "group-rlsi", "--label", "kind") != plain


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_estimate_is_near_what_a_fit_takes(data_dir, tmp_path):
    path = data_dir / "20newsgroups" / "docs.jsonl.xz"
    found = sizes_of(path)
    model = make_model("rlsi", 20)
    estimate = {
        **sizes.reading_memory(
            found, weighted=True, mapped=False, labelled=False, text_bytes=path.stat().st_size
        ),
        **model.memory(*found[:3]),
        "program": planning.PROGRAM,
    }
    # not getrusage, whose peak of a child process may be that of its parent
    script = (
        "import re, sys; from laconic.cli.app import app; app(sys.argv[1:], standalone_mode=False); "
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    fit = [sys.executable, "-c", script, "fit", "-o", tmp_path / "m"]
    # of a few before: compiling kernels, which only a first fit does, takes more memory than the fit
    few = write_jsonl(tmp_path / "few.jsonl", [{"text": row["body"]} for row in documents(300)])
    for source in (few, path):
        result = subprocess.run([*fit, source], check=True, capture_output=True, text=True)
    peak = int(result.stdout.split()[-1]) * 1024
    assert load(tmp_path / "m").model.n_features_in_ == pytest.approx(found.n_terms, rel=0.15)
    # the oldest libraries take less than those that it was measured with
    assert 0.75 * peak <= sum(estimate.values()) <= 1.4 * peak


@pytest.fixture
def little(monkeypatch):
    """Limits so low that a few documents are many, and a program that takes no memory."""
    from laconic.engines import room, shards

    monkeypatch.setattr(planning, "PROGRAM", 0)
    monkeypatch.setattr(shards, "NONZEROS_PER_SHARD", 400)
    monkeypatch.setattr(planning, "NONZEROS_PER_SHARD", 400)
    monkeypatch.setattr(room, "SMALL", 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["rlsi", "nmf-kl", "group-rlsi"])
def test_a_fit_that_may_take_little_memory_says_so_and_finds_the_same(laconic, tmp_path, little, name):
    path = write_jsonl(tmp_path / "d.jsonl", documents(300))
    fit = ["fit", path, "--text", "body", "--label", "kind", "--model", name]
    whole = laconic(*fit, "-o", tmp_path / "whole")
    assert whole.exit_code == 0, whole.stderr
    corpus = Corpus.read(path, text="body", label="kind")
    most = plan_of(make_model(name), {"": corpus}, None).total
    result = laconic(*fit, "-o", tmp_path / "m", "--memory", most + 1)
    assert "plan: in memory" in result.stderr
    assert load(tmp_path / "m").documents is not None
    streamed = [*fit, "-o", tmp_path / "m", "--memory", most - 1, "--save-weights", tmp_path / "w.csv"]
    result = laconic(*streamed)
    assert result.exit_code == 0, result.stderr
    assert "plan: streamed from" in result.stderr
    assert "documents are not saved with the model" in result.stderr
    one, other = load(tmp_path / "whole").model, load(tmp_path / "m").model
    assert load(tmp_path / "m").documents is None
    assert np.asarray(one.objective_history_).tobytes() == other.objective_history_.tobytes()
    assert abs(one.components_ - other.components_).sum() == 0
    assert len((tmp_path / "w.csv").read_text().splitlines()) == 301
    bundle = fit_here(path, text="body", labels="kind", model=name, memory=most - 1)
    assert bundle.documents is None
    assert abs(one.components_ - bundle.model.components_).sum() == 0


def test_too_little_memory_is_an_error_that_says_how_much_it_takes(laconic, tmp_path):
    path = write_jsonl(tmp_path / "d.jsonl", documents(50))
    result = laconic("fit", path, "--text", "body", "-o", tmp_path / "m", "--memory", "1MB", code=1)
    assert "--memory '1.0 MB' is too little" in result.stderr
    assert not (tmp_path / "m").exists()
    for typed in ("much", "0", "-1"):
        result = laconic("fit", path, "--text", "body", "-o", tmp_path / "m", f"--memory={typed}", code=2)
        assert "is not a size" in " ".join(result.stderr.split())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS], ids=["full", "read-only"])
def test_a_disk_that_fails_loses_nothing(laconic, tmp_path, little, monkeypatch, code):
    """The model there is stays, and so does the checkpoint: when there is room, the fit goes on from it."""
    path = write_jsonl(tmp_path / "d.jsonl", documents(200))
    corpus = Corpus.read(path, text="body")
    # a penalty has to be found first, so that files are made between iterations, too
    most = plan_of(make_model("rlsi", 3, topic_norm="l1"), {"": corpus}, None).total
    fit = [
        "fit",
        path,
        "--text",
        "body",
        "--memory",
        most - 1,
        "-k",
        3,
        "--max-iter",
        5,
        "--topic-norm",
        "l1",
    ]
    allotted, left = [], 10**9

    def make_file(descriptor, start, size):
        allotted.append(size)
        if len(allotted) > left:
            raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", make_file)
    assert laconic(*fit, "-o", tmp_path / "m").exit_code == 0
    before, expected = contents(tmp_path / "m"), load(tmp_path / "m").model
    safely = [*fit, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "--every", "0s"]
    left = len(allotted) - 1
    for room_for in (0, left):
        allotted.clear()
        left = room_for
        result = laconic(*safely, code=1)
        said = " ".join(result.stderr.split())
        assert f"{os.strerror(code)} in {gettempdir()}, where data too large for memory is kept" in said
        assert contents(tmp_path / "m") == before
    assert (tmp_path / "c" / "checkpoint.json").exists()
    left = 10**9
    result = laconic(*safely)
    assert "from the checkpoint in" in " ".join(result.stderr.split())
    found = load(tmp_path / "m").model
    assert found.objective_history_.tobytes() == expected.objective_history_.tobytes()
    assert abs(found.components_ - expected.components_).sum() == 0
    assert not (tmp_path / "c").exists()


def test_a_folder_for_temporary_files_that_cannot_be_written_to_is_named(
    laconic, tmp_path, little, monkeypatch
):
    path = write_jsonl(tmp_path / "d.jsonl", documents(200))
    most = plan_of(make_model("rlsi"), {"": Corpus.read(path, text="body")}, None).total
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    fit = ["fit", path, "--text", "body", "--memory", most - 1, "-o", tmp_path / "m"]
    said = " ".join(laconic(*fit, code=1).stderr.split())
    assert f"temporary files cannot be written to {tmp_path / 'nowhere'}" in said.replace("- ", "-")
    assert not (tmp_path / "m").exists()


def test_a_model_that_needs_all_documents_at_once_is_not_streamed(laconic, tmp_path, little):
    path = write_jsonl(tmp_path / "d.jsonl", documents(100))
    fit = ["fit", path, "--text", "body", "--model", "graph-plsa", "-o", tmp_path / "m"]
    result = laconic(*fit, "--memory", "60KB", code=1)
    assert "needs all documents in memory" in " ".join(result.stderr.split())
