import pytest

from laconic import load


@pytest.mark.slow
def test_demo(laconic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = laconic("demo")
    model = load("demo-model").model
    assert model.n_alive_ == model.n_components == 30
    assert model.terms_per_topic == 40
    assert "model saved to demo-model" in result.stderr
    header, _, *lines = result.stdout.splitlines()
    assert header.split() == ["topic", "words", "strongest", "in"]
    assert len(lines) == 20
    table = load("demo-model").topics(40)

    def about(word):
        rows = zip(table["words"], table["labels"], strict=True)
        return " ".join(labels for words, labels in rows if word in words.split(", "))

    for word, module in [
        ("turtle", "turtle"),
        ("logger", "logging"),
        ("thread", "threading"),
        ("xml", "xml"),
    ]:
        assert module in about(word)

    assert "laconic serve demo-model --open" in result.stderr
    assert "<article" in (tmp_path / "demo-model.html").read_text("utf-8")
    assert 'laconic search demo-model "parse a date"' in result.stderr
    assert "date" in laconic("search", "demo-model", "parse a date").stdout

    assert len(laconic("demo", "--topics", 2).stdout.splitlines()) == 4
    assert load("demo-model").model.n_components == 2
    assert "date" in laconic("search", "demo-model", "parse a date").stdout


def test_demo_never_touches_what_is_no_model(laconic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo-model").mkdir()
    (tmp_path / "demo-model" / "mine.txt").write_text("mine")
    assert "holds no laconic model" in laconic("demo", code=1).stderr
    assert [path.name for path in (tmp_path / "demo-model").iterdir()] == ["mine.txt"]
