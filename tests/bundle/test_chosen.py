"""What spoke for which number of topics is kept with a model, and shown where people look."""

import pytest

import laconic
from laconic import BundleError, load
from laconic.explore import views
from stored_files import edit

TEXTS = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"] * 5


@pytest.fixture(scope="module")
def bundle():
    made = laconic.fit(TEXTS, n_topics=2)
    made.chosen = laconic.choose(TEXTS, n_topics=[2, 3], n_runs=2).record()
    return made


def test_it_is_kept_through_saving_and_editing(bundle, tmp_path):
    bundle.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.chosen == bundle.chosen
    assert [one.n_topics for one in loaded.chosen.tried] == [2, 3]
    assert loaded.edit().rename(0, "sky").apply().chosen == bundle.chosen


def test_overview_and_report_show_it(bundle, tmp_path):
    assert views.overview(bundle).chosen.recommended == bundle.chosen.recommended
    page = bundle.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "How many topics" in page
    assert bundle.chosen.reason in page
    assert "this model" in page
    without = laconic.fit(TEXTS, n_topics=2)
    assert "How many topics" not in without.report(tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda chosen: chosen.pop("reason"),
        lambda chosen: chosen.update(more=1),
        lambda chosen: chosen.update(tried=[]),
        lambda chosen: chosen.update(recommended="2"),
        lambda chosen: chosen.update(warnings=[3]),
        lambda chosen: chosen["tried"][0].update(stability="high"),
        lambda chosen: chosen["tried"][0].update(n_topics=0),
        lambda chosen: chosen["tried"][0].pop("overall"),
    ],
)
def test_what_is_stored_is_checked(bundle, tmp_path, change):
    bundle.save(tmp_path / "model")
    edit(tmp_path / "model", lambda document: change(document["chosen"]))
    with pytest.raises(BundleError, match="no valid 'chosen'"):
        load(tmp_path / "model")


@pytest.mark.parametrize("value", [2**63, "seven", ["reason"], True])
def test_what_is_stored_is_a_mapping(bundle, tmp_path, value):
    bundle.save(tmp_path / "model")
    edit(tmp_path / "model", lambda document: document.update(chosen=value))
    with pytest.raises(BundleError, match="no valid 'chosen'"):
        load(tmp_path / "model")
