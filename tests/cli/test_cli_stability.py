"""``laconic fit --stability`` and ``laconic stability``."""

import json

from laconic import load


def test_fit(laconic, jsonl, tmp_path):
    done = laconic(
        "fit", jsonl, "--text", "body", "-k", 3, "--words", 8, "--stability", 2, "-o", tmp_path / "model"
    )
    notes = load(tmp_path / "model").notes
    assert notes.returns.n_refits == 2
    assert "returns" in done.stdout.splitlines()[0].split()
    assert "of 3 topics come back in more than half of 2 refits" in done.stderr
    listed = json.loads(laconic("topics", tmp_path / "model", "--json").stdout)
    assert [topic["returns"] for topic in listed] == list(notes.returns.shares)


def test_saved_model(laconic, saved, tmp_path):
    load(saved).rename(0, "first").save(tmp_path)
    done = laconic("stability", tmp_path, "--refits", 3, "--seed", 1)
    found = load(tmp_path)
    assert found.notes.returns.n_refits == 3
    assert found.names[0] == "first"
    assert f"{found.notes.returns.shares[0]:.0%}" in done.stdout
    again = load(saved)
    assert again.measure_returns(3, random_state=1) == list(found.notes.returns.shares)


def test_usage(laconic, jsonl, without_documents, tmp_path):
    options = ["fit", jsonl, "--text", "body", "-o", tmp_path / "model", "--stability", 2]
    told = laconic(*options, "--no-documents", code=2).stderr.replace("│", " ")
    assert "leave out --no-documents" in " ".join(told.split())
    assert "links" in laconic(*options, "--model", "graph-plsa", code=2).stderr
    assert "without its documents" in laconic("stability", without_documents, code=1).stderr
