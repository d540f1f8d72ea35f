import json

from laconic.datasets import registry


def test_list(laconic, retrieval):
    result = laconic("datasets")
    header, _, *rows = result.stdout.splitlines()
    assert header.split() == ["data", "set", "size", "what", "it", "is", "present"]
    assert [row.split()[0] for row in rows] == sorted(registry.KNOWN)
    assert {row.split()[0] for row in rows if row.endswith("yes")} == {"adi"}
    assert "82 documents, 35 queries" in rows[1]
    assert "20 of 21 were not found" in result.stderr
    assert str(retrieval.parent) in result.stderr


def test_json(laconic, retrieval):
    result = laconic("datasets", "--json")
    assert result.stderr == ""
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert list(rows) == sorted(registry.KNOWN)
    assert (rows["adi"]["present"], rows["adi"]["folder"]) == (True, str(retrieval))
    assert (rows["cacm"]["present"], rows["cacm"]["folder"]) == (False, None)


def test_show(laconic, retrieval):
    (retrieval / "PROVENANCE.md").write_text("# adi\n\nSource: \x1b[2J somewhere\n")
    shown = laconic("datasets", "show", "adi").stdout
    assert shown.startswith("adi: ADI: a tiny retrieval collection")
    assert 'data = datasets.load("adi")' in shown
    assert f"{(retrieval / 'qrels.tsv').stat().st_size} bytes  qrels.tsv" in shown
    assert "Source: \\x1b[2J somewhere" in shown
    (retrieval / "qrels.tsv").unlink()
    assert "It lacks some of its files. Set LACONIC_DATA" in laconic("datasets", "show", "adi").stdout


def test_show_what_is_not_there(laconic, data):
    shown = laconic("datasets", "show", "20newsgroups").stdout
    assert "GitHub julenminer/mlnn_P65" in shown
    assert "It was not found. Set LACONIC_DATA" in shown


def test_show_every_kind(laconic, data):
    for name in registry.KNOWN:
        assert f'datasets.load("{name}")' in laconic("datasets", "show", name).stdout


def test_unknown(laconic, data):
    result = laconic("datasets", "show", "cranfeld", code=1)
    assert result.stdout == ""
    assert result.stderr.startswith(
        "laconic: error: there is no data set 'cranfeld'; did you mean 'cranfield'"
    )


def test_help_has_examples(laconic, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = laconic("datasets", "--help").stdout
    assert "  laconic datasets show 20newsgroups" in shown
    assert laconic("datasets", "-h").stdout == shown
    assert "laconic datasets show 20newsgroups" in laconic("datasets", "show", "--help").stdout
