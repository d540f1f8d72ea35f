from xml.etree import ElementTree

import pytest

from laconic.experiments.svg import heat_maps, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def numbers(svg, tag, attribute):
    return [float(e.get(attribute)) for e in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


def test_points_are_where_they_belong():
    svg = line_chart("<Title>", "x", "y", {"a": [(1, 0.2), (10, 0.4), (100, 0.6)]}, {"level & all": 0.3})
    across, down = numbers(svg, "circle", "cx"), numbers(svg, "circle", "cy")
    assert across[1] - across[0] == pytest.approx(across[2] - across[1])
    assert down[0] - down[1] == pytest.approx(down[1] - down[2])
    assert down[0] > down[2]
    texts = [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert {"<Title>", "level & all", "100", "20", "60"} <= set(texts)


def test_one_point_and_equal_heights():
    ElementTree.fromstring(line_chart("t", "x", "y", {"a": [(100, 0.5)]}))


def test_larger_shares_are_darker():
    svg = heat_maps(["a", "b"], {"one": [[0.0, 1.0], [0.5, 2.0]]})
    fills = [e.get("fill") for e in ElementTree.fromstring(svg).iter(f"{SVG}rect")][1:]
    assert fills == ["#ffffff", "#0000ff", "#8080ff", "#0000ff"]
