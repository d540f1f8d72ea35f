import json
import re
import sys
from pathlib import Path

import experiment_toys
import matplotlib
import numpy as np
import pytest
from experiment_toys import FISH, seen

from laconic.experiments import EXPERIMENTS, keeping, pages, provenance, running
from laconic.experiments.figures import draw
from laconic.experiments.parts import UNTESTED, Study, plain


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The folder of data sets, with all files of one of them."""
    folder = tmp_path / "data"
    (folder / "adi").mkdir(parents=True)
    for file in ("docs.jsonl", "queries.jsonl", "qrels.tsv"):
        (folder / "adi" / file).touch()
    monkeypatch.setenv("LACONIC_DATA", str(folder))
    return folder


def run(path, **options):
    said, done = [], []
    results = running.run(
        FISH, path, say=said.append, done=lambda part, seconds: done.append(part), **options
    )
    return results, said, done


def test_results_are_written_and_read(data, tmp_path):
    path = tmp_path / "new" / "fish.json"
    results, said, done = run(path)
    assert (said, done) == (["looking at red fish"], ["red", "blue"])
    assert running.read_results(FISH, path) == results
    assert json.loads(path.read_text())["experiment"] == "fish"
    assert results["red"]["results"] == {"ours": 2, "paper": 3}
    assert results["red"]["quick"] is False
    how = {"seed", "commit", "finished", "seconds", "cpu_seconds", "cores", "versions"}
    assert how <= set(results["red"])
    assert results["blue"]["results"] == {"10": 0.25}


def test_a_part_leaves_the_others(data, tmp_path):
    path = tmp_path / "fish.json"
    run(path, parts=["blue"])
    before = running.read_results(FISH, path)
    assert list(before) == ["blue"]
    after, _, done = run(path, parts=["red"])
    assert done == ["red"]
    assert list(after) == ["red", "blue"]
    assert after["blue"] == before["blue"]


def test_quick_results_do_not_replace_full_ones(data, tmp_path):
    path = tmp_path / "fish.json"
    run(path, quick=True)
    run(path, quick=True)
    run(path)
    with pytest.raises(ValueError, match="give another --output"):
        run(path, quick=True, parts=["red"])


def test_missing_data_is_told_before_anything_runs(data, tmp_path):
    (data / "adi" / "qrels.tsv").unlink()
    with pytest.raises(ValueError, match=r"fish needs the data set adi, which is not there.*LACONIC_DATA"):
        run(tmp_path / "fish.json")
    assert not (tmp_path / "fish.json").exists()
    run(tmp_path / "fish.json", parts=["blue"])


def test_results_that_are_not_there_or_not_ours(tmp_path):
    path = tmp_path / "fish.json"
    with pytest.raises(ValueError, match="run `laconic reproduce fish` first"):
        running.read_results(FISH, path)
    path.write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        running.read_results(FISH, path)
    path.write_text('{"experiment": "birds", "parts": {}}')
    with pytest.raises(ValueError, match="does not hold results of fish"):
        running.read_results(FISH, path)


def test_page(data, tmp_path):
    results, _, _ = run(tmp_path / "fish.json", parts=["red"])
    page, note = pages.write(FISH, results, tmp_path / "pages")
    text = page.read_text()
    assert note == ""
    assert text.startswith(
        "# Fish\n\nA. Fisher, *On Fish*.\n\n## What the paper claims, and what holds here\n"
    )
    assert "| Fish are red | Table 1 | **confirmed** | 2 are. |" in text
    assert "| Fish are blue | Table 2 | **not run yet** | It rests on blue. |" in text
    assert "| Fish dream | conclusion | **cannot be tested here** | They do not tell. |" in text
    assert "## In short\n\n- 2 of 3.\n- Not run yet: blue.\n" in text
    ran = results["red"]
    assert f"run of {ran['finished']} UTC, by commit {ran['commit']}" in text
    assert "The longest part, red, took 0:00 (CPU time 0:00)." in " ".join(text.split())
    ran["rebased"] = ["abc", "def"]
    assert "(in the history as abc and def)" in " ".join(pages.render(FISH, results)[0].split())
    assert "\n\nOurs 2, paper 3.\n\n![Fish](fish-red.svg)" in text
    assert "## What was changed after seeing results\n\n- Fish were counted twice" in text
    assert "leaves for future work" not in text
    assert "warning" not in text
    assert "<svg" in (page.parent / "fish-red.svg").read_text()


def test_page_without_matplotlib_has_no_pictures(data, tmp_path, monkeypatch):
    results, _, _ = run(tmp_path / "fish.json", parts=["red"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page, note = pages.write(FISH, results, tmp_path / "pages")
    assert "![Fish](fish-red.svg)" in page.read_text()
    assert [path.name for path in page.parent.iterdir()] == ["fish.md"]
    assert "pip install 'laconic[papers]'" in note
    assert "`laconic reproduce fish --render`" in note


def test_page_of_a_quick_run_says_so(data, tmp_path):
    results, _, _ = run(tmp_path / "fish.json", quick=True)
    text, _ = pages.render(FISH, results)
    assert ":::{warning}\nred and blue were run with `--quick`" in text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pages_of_the_manual_are_those_of_the_results(name):
    """Pages are made and not written: whoever changes one of the two has to render again."""
    root = Path(__file__).parents[2]
    experiment = EXPERIMENTS[name]
    path = root / "results" / f"{name}.json"
    if not path.exists():
        pytest.skip("these results are not in this checkout")
    results = running.read_results(experiment, path)
    assert not any(part["quick"] for part in results.values())
    # What has not been run yet is said on the page.
    assert set(results) <= set(experiment.needs)
    text, pictures = pages.render(experiment, results)
    folder = root / "docs" / "papers"
    assert (folder / f"{name}.md").read_text(encoding="utf-8") == text
    assert {path.name for path in folder.glob(f"{name}-*.svg")} == set(pictures)
    for file, picture in pictures.items():
        stored, drawn = seen((folder / file).read_text(encoding="utf-8")), seen(draw(picture))
        assert stored.texts == drawn.texts
        assert stored.fills == drawn.fills
        assert stored.places.shape == drawn.places.shape
        if matplotlib.__version_info__ >= (3, 11):  # older ones measure letters otherwise, and so the axes
            # Versions of matplotlib may round in their own way.
            assert stored.places == pytest.approx(drawn.places, abs=0.5)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_is_judged_with_a_reason(name):
    """Of what has been run; claims rest on parts that there are, and none is judged without results."""
    experiment = EXPERIMENTS[name]
    path = Path(__file__).parents[2] / "results" / f"{name}.json"
    if not path.exists():
        pytest.skip("these results are not in this checkout")
    results = running.read_results(experiment, path)
    assert len(experiment.claims) > 3
    for claim in experiment.claims:
        assert set(claim.parts) <= set(experiment.needs)
        if all(part in results for part in claim.parts):
            verdict = claim.judge(*(results[part]["results"] for part in claim.parts))
            assert verdict.reason.endswith(".")
            assert (verdict.state == UNTESTED) == (not claim.parts)
    assert experiment.changed


def test_an_interrupted_part_goes_on(data, tmp_path, monkeypatch):
    """Pieces that were found before are not computed again, unless one asks for it."""
    computed, broken = [], [True]

    def piece(name):
        computed.append(name)
        return {1: np.float64(len(computed))}

    def run_red(quick, desk):
        found = desk.keep("first", piece, "first")
        if broken[0]:
            raise KeyboardInterrupt
        return {"ours": found["1"], "paper": desk.keep("second", piece, "second")["1"]}

    monkeypatch.setitem(experiment_toys.PARTS, "red", Study(run_red, experiment_toys.render_red))
    path = tmp_path / "fish.json"
    with pytest.raises(KeyboardInterrupt):
        run(path, parts=["red"])
    assert not path.exists()
    broken[0] = False
    results, said, _ = run(path, parts=["red"])
    assert computed == ["first", "second"]
    assert said == ["second"]
    assert results["red"]["results"] == {"ours": 1, "paper": 2}
    # Nothing is left over: the next run is a new one.
    assert not running.pieces_of(path, "red", quick=False).exists()
    run(path, parts=["red"])
    assert computed == ["first", "second"] * 2
    broken[0] = True
    with pytest.raises(KeyboardInterrupt):
        run(path, parts=["red"])
    broken[0] = False
    run(path, parts=["red"], fresh=True)
    assert computed == ["first", "second"] * 2 + ["first", "first", "second"]


def test_pieces_say_which_code_made_them(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "commit", lambda: "0ld")
    first = keeping.Keeper(tmp_path / "pieces.json", lambda message: None)
    first.keep("a", lambda: 1)
    monkeypatch.setattr(keeping, "commit", lambda: "n3w")
    second = keeping.Keeper(tmp_path / "pieces.json", lambda message: None)
    assert second.keep("b", lambda: 2) == 2
    assert (second.commits(), second.seconds_before) == ([], (0, 0))
    assert second.keep("a", lambda: 3) == 1
    assert second.commits() == ["0ld"]
    assert second.seconds_before.wall > 0


def test_the_commit_of_the_code():
    found = provenance.commit()
    assert found == provenance.UNKNOWN or re.fullmatch(r"[0-9a-f]{8,}\+?", found)


def test_no_commit_outside_a_checkout(tmp_path, monkeypatch):
    """A package that is installed in the folder of another project has not its commits."""
    folder = tmp_path / "laconic" / "experiments"
    folder.mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(folder / "provenance.py"))
    assert provenance.commit.__wrapped__() == provenance.UNKNOWN


def test_plain_values():
    values = {1: np.arange(2), "a": (np.float32(0.1), True, None), "b": {"c": 1 / 3}}
    assert plain(values) == {"1": [0, 1], "a": [0.1, True, None], "b": {"c": 0.333333}}
    json.dumps(plain(values))
