"""An experiment that takes no time, in the shape that `laconic.experiments.registry` asks for."""

from __future__ import annotations

from laconic.experiments.parts import Part, Section
from laconic.experiments.registry import Experiment
from laconic.experiments.svg import line_chart

TITLE = "Fish"
ABOUT = "A. Fisher, *On Fish*."


def run_red(quick, say):
    say("looking at red fish")
    return {"ours": 1 if quick else 2, "paper": 3}


def run_blue(quick, say):
    return {10: 0.25}


def render_red(results):
    figure = line_chart("Fish", "x", "y", {"red": [(1, 0.1), (10, 0.2)]})
    text = f"Ours {results['ours']}, paper {results['paper']}.\n\n![Fish](figure:red)"
    return Section("Red fish", text, [f"{results['ours']} of {results['paper']}."], {"red": figure})


def render_blue(results):
    return Section("Blue fish", f"A share of {results['10']}.")


PARTS = {"red": Part(run_red, render_red), "blue": Part(run_blue, render_blue)}

FISH = Experiment("fish", "Counting fish", 1, {"red": ("adi",), "blue": ()}, "experiment_toys")
