"""An experiment that takes no time, in the shape that `laconic.experiments.registry` asks for."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from laconic.experiments.figures import Chart, Line
from laconic.experiments.parts import Claim, Section, Study, judged, untested
from laconic.experiments.registry import Experiment

TITLE = "Fish"
ABOUT = "A. Fisher, *On Fish*."


def run_red(quick, say):
    say("looking at red fish")
    return {"ours": 1 if quick else 2, "paper": 3}


def run_blue(quick, say):
    return {10: 0.25}


def render_red(results):
    figure = Chart("Fish", "x", "y", {"red": Line([(1, 0.1), (10, 0.2)])})
    text = f"Ours {results['ours']}, paper {results['paper']}.\n\n![Fish](figure:red)"
    return Section("Red fish", text, [f"{results['ours']} of {results['paper']}."], {"red": figure})


def render_blue(results):
    return Section("Blue fish", f"A share of {results['10']}.")


CLAIMS = (
    Claim("Fish are red", "Table 1", lambda red: judged([red["ours"] > 1], f"{red['ours']} are."), ("red",)),
    Claim("Fish are blue", "Table 2", lambda blue: judged([False], "No."), ("blue",)),
    Claim("Fish dream", "conclusion", untested("They do not tell.")),
)
CHANGED = ("Fish were counted twice, after the first count was seen.",)
FUTURE = ()

PARTS = {"red": Study(run_red, render_red), "blue": Study(run_blue, render_blue)}

FISH = Experiment("fish", "Counting fish", 1, {"red": ("adi",), "blue": ()}, "experiment_toys")


class Seen(NamedTuple):
    """What a reader sees of an SVG file."""

    texts: list[str]
    places: np.ndarray  # of marks and ticks
    fills: list[str]


def seen(svg):
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    return Seen(
        [element.text for element in root.iter(f"{space}text")],
        np.array([(float(e.get("x")), float(e.get("y"))) for e in root.iter(f"{space}use")]),
        [
            match[1]
            for e in root.iter(f"{space}path")
            if (match := re.search(r"fill: (#\w+)", e.get("style", "")))
        ],
    )
