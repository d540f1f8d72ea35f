"""Every part of every experiment, small, on the real data."""

from __future__ import annotations

import pytest

from laconic.experiments import EXPERIMENTS, pages, running

PARTS = [(name, part) for name, experiment in EXPERIMENTS.items() for part in experiment.needs]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), PARTS, ids=lambda value: value)
def test_quick(data_dir, tmp_path, name, part):
    experiment = EXPERIMENTS[name]
    path = tmp_path / f"{name}.json"
    said = []
    running.run(experiment, path, parts=[part], quick=True, say=said.append, done=lambda *_: None)
    assert said
    results = running.read_results(experiment, path)
    text, figures = pages.render(experiment, results)
    section = experiment.parts[part].render(results[part]["results"])
    assert section.findings
    assert f"## {section.title}" in text
    assert "nan" not in text.lower().replace("finan", "").replace("nano", "")
    assert all(f"({name})" in text for name in figures)
    assert "(figure:" not in text
