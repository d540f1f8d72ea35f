import sys
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from experiment_toys import seen

from laconic.experiments.figures import COLOURS, Chart, Charts, HeatMaps, Line, draw, write_pictures

LINES = {
    "one": Line([(1, 20), (10, 40), (100, 60)], [1, 2, 3]),
    "two": Line([(1, 30), (100, 30)]),
}
CHART = Chart("Title", "strength", "accuracy (%)", LINES, {"level": 35})
MAPS = HeatMaps(
    {"left": [[0.0, 1.0], [0.5, 0.2]], "right": [[1.0, 0.0], [0.0, 0.0]]}, ["a", "b"], "topic", "share"
)
BESIDE = Charts([CHART, Chart("Other", "topics", "accuracy (%)", LINES)])


def marks(svg, number):
    """Where the marks of a line are, the last of which is the legend's."""
    uses = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}use")
    found = [
        (float(e.get("x")), float(e.get("y"))) for e in uses if f"fill: {COLOURS[number]}" in e.get("style")
    ]
    return list(zip(*found[:-1], strict=True))


@pytest.mark.parametrize("picture", [CHART, BESIDE, MAPS])
def test_the_same_bytes_again(picture, monkeypatch):
    once = draw(picture)
    monkeypatch.setitem(mpl.rcParams, "font.size", 30.0)
    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "path")
    monkeypatch.setitem(mpl.rcParams, "svg.hashsalt", None)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert draw(picture) == once
    assert mpl.rcParams["font.size"] == 30
    assert not any(line.endswith(" ") for line in once.splitlines())
    assert "<image" not in once  # line art, no pixels


def test_titles_names_and_numbers_are_text():
    texts = seen(draw(CHART)).texts
    assert {"Title", "strength", "accuracy (%)", "one", "two", "level", "1", "10", "100", "60"} <= set(texts)
    assert texts.index("one") < texts.index("two") < texts.index("level")
    texts = seen(draw(MAPS)).texts
    assert {"left", "right", "a", "b", "topic", "share", "1", "100"} <= set(texts)
    texts = seen(draw(BESIDE)).texts
    assert {"Title", "Other", "strength", "topics"} <= set(texts)
    assert (texts.count("one"), texts.count("accuracy (%)")) == (1, 1)


@pytest.mark.parametrize("label", ["<b>", "a & b", "$x^2$", "_hidden", '"quoted"'])
def test_labels_are_nothing_but_text(label):
    chart = Chart(label, label, label, {label: Line([(1, 2), (2, 3)]), "other": Line([(1, 1)])}, {label: 1})
    texts = seen(draw(chart)).texts
    assert texts.count(label) == 5
    assert seen(draw(HeatMaps({label: [[0.5]]}, [label], label, label))).texts.count(label) == 4


def test_points_are_where_they_belong():
    svg = draw(Chart("t", "x", "y", {"a": Line([(1, 20), (10, 40), (100, 60)]), "b": Line([(10, 20)])}))
    across, down = marks(svg, 0)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1])
    assert down[0] - down[1] == pytest.approx(down[1] - down[2])
    assert down[0] > down[2]
    assert marks(svg, 1) == [pytest.approx([across[1]]), pytest.approx([down[0]])]
    across, _ = marks(draw(Chart("t", "x", "y", {"a": Line([(1, 2), (2, 4), (3, 6)])}, logarithmic=False)), 0)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1])


def test_bars_stand_beside_each_other():
    lines = {name: Line([(1, 20), (10, 30)], [1, 1]) for name in ("a", "b", "c")}
    svg = draw(Chart("t", "x", "y", lines))
    (first, *_), (second, *_), (third, *_) = (marks(svg, number)[0] for number in range(3))
    assert 1 < second - first < 3
    assert third - second == pytest.approx(second - first)


def test_one_point_and_equal_heights():
    chart = Chart("t", "x", "y", {"a": Line([(3, 0.5)]), "nowhere": Line([], [])})
    assert {"3", "nowhere"} <= set(seen(draw(chart)).texts)
    ElementTree.fromstring(draw(Chart("t", "x", "y", {"a": Line([(100, 0.5)], [0.1])}, logarithmic=False)))


def test_larger_shares_are_darker():
    fills = seen(draw(MAPS)).fills
    white, dark = "#f7fbff", "#08306b"
    assert fills.count(dark) >= 3
    assert fills.count(white) >= 4


def test_files(tmp_path):
    write_pictures({"fish.svg": CHART}, tmp_path)
    assert (tmp_path / "fish.svg").read_text(encoding="utf-8") == draw(CHART)


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"matplotlib: pip install 'laconic\[papers\]'"):
        write_pictures({"fish.svg": CHART}, tmp_path)
    assert not list(tmp_path.iterdir())
    write_pictures({}, tmp_path)
