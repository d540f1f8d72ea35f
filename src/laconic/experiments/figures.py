"""Figures by Plotly: pictures for the pages, and the same to look at closely in a browser.

An experiment that has some says so with a fourth constant, ``FIGURES``: from the names of parts to functions
that take the results of the part and give its figures by name. They are written as

- ``EXPERIMENT-NAME.png`` beside the page, which shows it as ``![what it shows](EXPERIMENT-NAME.png)``;
- ``EXPERIMENT-NAME.html`` in a folder of their own that git ignores. They need no network: Plotly's library,
  of some megabytes, lies once beside them.

Plotly and kaleido are the extra ``figures``, and kaleido needs Chrome or Chromium. Without them there are no
figures, and a note says so; numbers and pages are written all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, TypeAlias

from laconic.experiments.parts import Results
from laconic.experiments.registry import Experiment
from laconic.experiments.svg import COLOURS

Figure: TypeAlias = Any
"""A plotly.graph_objects.Figure; Plotly may not be there."""

Makers: TypeAlias = Mapping[str, Callable[[Results], Mapping[str, Figure]]]

WIDTH, HEIGHT = 720, 420
SCALE = 1.25  # sharp enough, in less than 100 kB
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Attributes
    ----------
    points : sequence of (float, float)
        From left to right.
    spreads : sequence of float
        How far each point may be off, up and down; none by default.
    style : int
        Lines of the same style have the same colour and marks, in all charts.
    """

    points: Sequence[tuple[float, float]]
    spreads: Sequence[float] = ()
    style: int = 0


@dataclass(frozen=True)
class Chart:
    """Lines, and what is written around them.

    Attributes
    ----------
    title, x_label, y_label : str
        What is shown.
    lines : mapping of str to Line
        By what the legend calls them.
    levels : mapping of str to float
        Heights of dotted lines, to compare with.
    """

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Line]
    levels: Mapping[str, float] = field(default_factory=dict)


def draw(chart: Chart) -> Figure:
    """Draw a chart whose horizontal axis is logarithmic.

    Examples
    --------
    >>> line = Line([(10, 0.8), (100, 0.9)], spreads=[0.01, 0.02])
    >>> figure = draw(Chart("Accuracy", "topics", "share", {"LSA": line}))
    >>> [trace.name for trace in figure.data]
    ['LSA']
    """
    plotly = import_module("plotly.graph_objects")
    figure = plotly.Figure()
    for name, line in chart.lines.items():
        colour = COLOURS[line.style % len(COLOURS)]
        figure.add_scatter(
            x=[x for x, _ in line.points],
            y=[y for _, y in line.points],
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"symbol": SYMBOLS[line.style % len(SYMBOLS)], "size": 8},
            error_y={"array": list(line.spreads), "thickness": 1, "width": 3} if line.spreads else None,
        )
    for name, height in chart.levels.items():
        figure.add_hline(
            height,
            line={"dash": "dot", "color": "#555"},
            annotation_text=name,
            annotation_position="top left",
        )
    axis = {"showline": True, "linecolor": "#999", "gridcolor": "#e5e5e5", "zeroline": False}
    figure.update_layout(
        title={"text": chart.title, "font": {"size": 16}},
        xaxis=axis | {"title": chart.x_label, "type": "log", "tickvals": _ticks(chart)},
        yaxis=axis | {"title": chart.y_label},
        # The manual has a dark theme, too.
        paper_bgcolor="white",
        plot_bgcolor="white",
        font={"size": 13, "color": "#333"},
        margin={"l": 60, "r": 20, "t": 50, "b": 55},
        showlegend=True,
    )
    return figure


def _ticks(chart: Chart) -> list[float]:
    """Round numbers (1, 2, 5, 10, ...) where the chart has points; Plotly's own may leave all but one out."""
    places = [x for line in chart.lines.values() for x, _ in line.points if x > 0]
    if not places:
        return []
    least, most = min(places), max(places)
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    digits = (1, 2, 5) if most / least < 500 else (1,)
    return [float(f"{d}e{p}") for p in powers for d in digits if least / 1.5 <= d * 10.0**p <= most * 1.5]


def write_figures(
    experiment: Experiment, results: Mapping[str, Results], pictures: Path, interactive: Path
) -> list[str]:
    """Write the figures of an experiment.

    Parameters
    ----------
    experiment : Experiment
        Whose results they are.
    results : mapping of str to dict
        By the names of parts, as `running.read_results` gives them.
    pictures : pathlib.Path
        The folder of the page, for PNG.
    interactive : pathlib.Path
        The folder for HTML, which is made if need be.

    Returns
    -------
    list of str
        What to tell: where the figures are, or why there are none.
    """
    makers: Makers = getattr(import_module(experiment.module), "FIGURES", {})
    if not makers:
        return []
    if find_spec("plotly") is None:
        return ["no figures: they need Plotly; `pip install 'laconic[figures]'` brings it"]
    figures = {
        f"{experiment.name}-{name}": figure
        for part, run in results.items()
        if part in makers
        for name, figure in makers[part](run["results"]).items()
    }
    if not figures:
        return []
    _write_pages(figures, interactive)
    return [f"figures to look at in a browser are in {interactive}", _write_pictures(figures, pictures)]


def _write_pages(figures: Mapping[str, Figure], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    for name, figure in figures.items():
        figure.write_html(folder / f"{name}.html", include_plotlyjs="directory", div_id=name)


def _write_pictures(figures: Mapping[str, Figure], folder: Path) -> str:
    """Write PNG as far as there is a browser to draw it; returns what to tell."""
    if find_spec("kaleido") is None:
        return "no pictures: they need kaleido; `pip install 'laconic[figures]'` brings it"
    errors = import_module("kaleido.errors")
    failures = (RuntimeError, errors.BrowserClosedError, errors.BrowserFailedError, errors.KaleidoError)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, figure in figures.items():
            size = {"width": figure.layout.width or WIDTH, "height": figure.layout.height or HEIGHT}
            (folder / f"{name}.png").write_bytes(figure.to_image("png", scale=SCALE, **size))
    except failures as error:
        # Some of these errors hold several sentences, the first of which says it.
        said = str(error.args[0]).strip() if error.args else ""
        reason = said.splitlines()[0] if said else type(error).__name__
        return f"pictures are missing: kaleido needs Chrome or Chromium, which did not do it ({reason})"
    return f"pictures for the page are in {folder}"
