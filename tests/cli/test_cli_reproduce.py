import json

import pytest
from experiment_toys import FISH

from laconic.experiments import EXPERIMENTS


@pytest.fixture
def fish(monkeypatch, tmp_path):
    """An experiment that needs a data set only for one part, in an empty folder."""
    monkeypatch.setitem(EXPERIMENTS, "fish", FISH)
    monkeypatch.setenv("LACONIC_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_list(laconic, fish):
    header, _, *rows = laconic("reproduce").stdout.splitlines()
    assert header.split()[0] == "experiment"
    starts = {row.split()[0]: row for row in rows}
    assert list(starts) == list(EXPERIMENTS)
    assert starts["priors"].rstrip().endswith("bbc_news, 20newsgroups")
    assert starts["fish"].rstrip().endswith("adi")


def test_run_and_render(laconic, fish):
    result = laconic("reproduce", "fish", "--part", "blue")
    assert result.stdout == ""
    assert "fish: blue took 0:0" in result.stderr
    assert "numbers written to results/fish.json, page to docs/papers/fish.md" in result.stderr
    page = fish / "docs" / "papers" / "fish.md"
    assert "A share of 0.25." in page.read_text()
    path = fish / "results" / "fish.json"
    path.write_text(path.read_text().replace("0.25", "0.75"))
    laconic("reproduce", "fish", "--render")
    assert "A share of 0.75." in page.read_text()


def test_quick_goes_elsewhere(laconic, fish):
    result = laconic("reproduce", "fish", "--part", "blue", "--quick")
    assert "results/quick/fish.md" in result.stderr
    assert sorted(path.name for path in (fish / "results").rglob("*")) == ["fish.json", "fish.md", "quick"]
    assert json.loads((fish / "results/quick/fish.json").read_text())["parts"]["blue"]["quick"] is True


def test_output(laconic, fish):
    laconic("reproduce", "fish", "--part", "blue", "-o", "out")
    assert sorted(path.name for path in (fish / "out").iterdir()) == ["fish.json", "fish.md"]
    assert not (fish / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpsla"], "there is no experiment 'gpsla'; did you mean 'gplsa'?"),
        (["fish", "--part", "read"], "fish has no part 'read'; did you mean 'red'? there are red, blue"),
        (["fish"], "fish needs the data set adi, which is not there"),
        (
            ["fish", "--render"],
            "there are no results in results/fish.json; run `laconic reproduce fish` first",
        ),
        (["fish", "--render", "--part", "red"], "leave out --part"),
        (["--quick"], "name an experiment"),
    ],
)
def test_errors(laconic, fish, arguments, message):
    result = laconic("reproduce", *arguments, code=1)
    assert result.stdout == ""
    assert message in result.stderr
    assert not (fish / "results").exists()


def test_interrupted(laconic, fish, monkeypatch):
    def interrupt(quick, say):
        raise KeyboardInterrupt

    monkeypatch.setitem(FISH.parts, "blue", type(FISH.parts["blue"])(interrupt, None))
    result = laconic("reproduce", "fish", "--part", "blue", code=130)
    assert "laconic: interrupted, nothing was written" in result.stderr
