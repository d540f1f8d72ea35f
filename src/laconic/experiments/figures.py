"""Pictures for the pages, drawn by matplotlib as SVG: lines, and heat maps.

What a picture shows is data (`Chart`, `Charts`, `HeatMaps`), so that pages are made and compared without
matplotlib; only `draw` needs it. The same data give the same bytes: neither the date nor the user's own
settings reach the picture.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart, without the yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# Nothing is told by colour alone.
MARKS = ("o", "s", "D", "^", "v", "X")
DASHES = ((0, (6, 3)), (0, (1.5, 2)), (0, (8, 2, 1.5, 2)))
INK, GRID = "#333333", "#e6e6e6"
STYLE: dict[Any, Any] = {
    # Text stays text, in the reader's font. Places are measured by the first, which is wider than most.
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    # Names within the file, which are random otherwise.
    "svg.hashsalt": "laconic",
    # A dollar is a dollar.
    "text.parse_math": False,
    "font.size": 9.5,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelpad": 6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#999999",
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": "#999999",
    "ytick.color": "#999999",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.labelspacing": 0.7,
}
# Of the whole picture, in inches; 72 points of the page each.
WIDTH, HEIGHT = 7.5, 3.7
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.72, 0.15, 0.42, 0.6
# Of heat maps: how high a row is, how high all rows are at least, and how wide the scale with its numbers.
_ROW, _LEAST, _SCALE = 0.19, 1.4, 0.85
_SVG = {"Date": None, "Creator": None, "Format": None, "Type": None}


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Attributes
    ----------
    points : sequence of (float, float)
        From left to right.
    spreads : sequence of float
        How far each point may be off, up and down; none by default.
    style : int, optional
        Lines of the same style have the same colour and marks, in all charts; by default, by their order.
    mark : int, optional
        Another mark than that of the style, for lines of the same colour that are to be told apart.
    """

    points: Sequence[tuple[float, float]]
    spreads: Sequence[float] = ()
    style: int | None = None
    mark: int | None = None


@dataclass(frozen=True)
class Chart:
    """Lines, and what is written around them.

    Attributes
    ----------
    title, x_label, y_label : str
        What is shown, in which units.
    lines : mapping of str to Line
        By what the legend calls them.
    levels : mapping of str to float
        Heights of dashed lines, to compare with.
    logarithmic : bool
        Whether the horizontal axis is. If not, both axes begin at zero.
    """

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Line]
    levels: Mapping[str, float] = field(default_factory=dict)
    logarithmic: bool = True


@dataclass(frozen=True)
class Charts:
    """Charts of the same lines side by side, with the vertical axis and the legend in common.

    Attributes
    ----------
    charts : sequence of Chart
        From left to right.
    """

    charts: Sequence[Chart]


@dataclass(frozen=True)
class HeatMaps:
    """Tables of shares side by side, darker where they are larger.

    Attributes
    ----------
    maps : mapping of str to rows of floats
        From titles to values, from 0 (white) to 1.
    row_names : sequence of str
        The same for all maps.
    x_label : str
        What the columns are; they are numbered.
    label : str
        What the values are.
    """

    maps: Mapping[str, Sequence[Sequence[float]]]
    row_names: Sequence[str]
    x_label: str
    label: str


Picture: TypeAlias = Chart | Charts | HeatMaps


def write_pictures(pictures: Mapping[str, Picture], folder: Path) -> None:
    """Draw pictures, and write them to files of these names in a folder.

    Raises
    ------
    ImportError
        If there are pictures, and matplotlib is not installed.
    """
    drawn = {name: draw(picture) for name, picture in pictures.items()}
    for name, svg in drawn.items():
        (folder / name).write_text(svg, encoding="utf-8", newline="\n")


def draw(picture: Picture) -> str:
    """Draw a picture as SVG.

    Examples
    --------
    >>> line = Line([(10, 0.8), (100, 0.9)], spreads=[0.01, 0.02])
    >>> svg = draw(Chart("Accuracy", "topics", "share", {"LSA": line}))
    >>> svg.count("<svg"), ">LSA</text>" in svg
    (1, True)
    """
    with _styled():
        if isinstance(picture, HeatMaps):
            figure = _heat_maps(picture)
        else:
            figure = _charts(picture.charts if isinstance(picture, Charts) else [picture])
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata=_SVG)
    # Lines of a diff end where they are seen to end.
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


@contextmanager
def _styled() -> Iterator[None]:
    """Our style and nobody else's, for as long as it takes."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise ImportError("figures need the package matplotlib: pip install 'laconic[papers]'") from error
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def _charts(charts: Sequence[Chart]) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure((WIDTH, HEIGHT))
    panels = figure.subplots(1, len(charts), sharey=True, squeeze=False)[0]
    shown = [_plot(axes, chart, len(charts)) for axes, chart in zip(panels, charts, strict=True)]
    panels[0].set_ylabel(charts[0].y_label)
    panels[0].set_ylim(*_heights(charts))
    panels[0].yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
    legend = panels[-1].legend(
        shown[-1],
        [*charts[-1].lines, *charts[-1].levels],
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        borderaxespad=0,
    )
    # The lines have what the legend leaves of the width, and the picture is as high as a long legend.
    figure.draw_without_rendering()
    extent = legend.get_window_extent()
    reserved = extent.width / figure.dpi + 0.2
    height = max(HEIGHT, extent.height / figure.dpi + _TOP + 0.2)
    figure.set_size_inches(WIDTH, height)
    figure.subplots_adjust(
        _LEFT / WIDTH, _BOTTOM / height, 1 - (_RIGHT + reserved) / WIDTH, 1 - _TOP / height, wspace=0.1
    )
    return figure


def _plot(axes: Axes, chart: Chart, n_charts: int) -> list[Any]:
    """Draw the lines and then the levels of one of several charts, and return them in this order."""
    from matplotlib.transforms import ScaledTranslation

    places = [x for line in chart.lines.values() for x, _ in line.points]
    if chart.logarithmic:
        margin = max((max(places) / min(places)) ** (0.04 * n_charts), 1.1)
        axes.set_xscale("log")
        axes.set_xlim(min(places) / margin, max(places) * margin)
        ticks = _ticks(*axes.get_xlim(), 1000 ** (1 / n_charts)) or sorted({*places})
        axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
        axes.minorticks_off()
    else:
        axes.set_xlim(0, 1.05 * max(places))
        axes.xaxis.set_major_formatter("{x:,g}")
    shown: list[Any] = []
    for number, line in enumerate(chart.lines.values()):
        style = number if line.style is None else line.style
        mark = style if line.mark is None else line.mark
        # Bars of the same place stand beside each other, by a point or two of the page.
        aside = 1.5 * (number - (len(chart.lines) - 1) / 2) / 72 if line.spreads else 0
        drawn = axes.errorbar(
            [x for x, _ in line.points],
            [y for _, y in line.points],
            yerr=list(line.spreads) or None,
            color=COLOURS[style % len(COLOURS)],
            marker=MARKS[mark % len(MARKS)],
            markersize=6.5,
            markeredgecolor="white",
            markeredgewidth=0.7,
            linewidth=1.6,
            # A point alone has no line, in the legend either.
            linestyle="-" if len(line.points) > 1 else "none",
            elinewidth=1,
            capsize=2.5,
            # Of points that lie on each other, the first is on top, and wider marks show behind it.
            zorder=2 if len(line.points) > 1 else 3 - number / len(chart.lines),
            transform=axes.transData + ScaledTranslation(aside, 0, axes.figure.dpi_scale_trans),
        )
        shown.append(drawn)
    for height, dashes in zip(chart.levels.values(), cycle(DASHES), strict=False):
        shown.append(axes.axhline(height, color="#555555", linestyle=dashes, linewidth=1.3, zorder=1.5))
    axes.set_title(chart.title)
    axes.set_xlabel(chart.x_label)
    axes.grid(True)
    axes.tick_params(length=3)
    return shown


def _heights(charts: Sequence[Chart]) -> tuple[float, float]:
    """From where to where the vertical axis goes; matplotlib does not count what was moved aside."""
    heights = [level for chart in charts for level in chart.levels.values()]
    for line in (line for chart in charts for line in chart.lines.values()):
        for (_, y), spread in zip(line.points, line.spreads or [0.0] * len(line.points), strict=True):
            heights += [y - spread, y + spread]
    margin = 0.06 * (max(heights) - min(heights)) or 1.0
    return min(heights) - margin if charts[0].logarithmic else 0.0, max(heights) + margin


def _ticks(least: float, most: float, crowded: float = 1000) -> list[float]:
    """Round numbers between two others; matplotlib's own may be one only.

    Where the last is more than ``crowded`` times the first, there is room for powers of ten only.

    >>> _ticks(9, 1100), _ticks(0.09, 1100)
    ([10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0], [0.1, 1.0, 10.0, 100.0, 1000.0])
    """
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    digits = (1, 2, 5) if most / least < crowded else (1,)
    rounded = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [tick for tick in rounded if least <= tick <= most]


def _heat_maps(picture: HeatMaps) -> Figure:
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    n_rows = len(picture.row_names)
    tall = n_rows * max(_ROW, _LEAST / n_rows)
    height = _TOP + tall + _BOTTOM
    figure = Figure((WIDTH, height))
    panels = figure.subplots(1, len(picture.maps), sharey=True, squeeze=False)[0]
    largest = max(max(row) for rows in picture.maps.values() for row in rows)
    for axes, (title, rows) in zip(panels, picture.maps.items(), strict=True):
        mesh = axes.pcolormesh(
            list(rows),
            # Few enough shades for the scale not to be made of pixels.
            cmap=colormaps["Blues"].resampled(40),
            vmin=0,
            vmax=ceil(10 * largest) / 10,
            edgecolor=GRID,
            linewidth=0.5,
        )
        axes.set_title(title, fontsize=STYLE["font.size"])
        axes.set_xlabel(picture.x_label)
        columns = [n for n in range(1, len(rows[0]) + 1) if n == 1 or n % 5 == 0]
        axes.set_xticks([n - 0.5 for n in columns], [str(n) for n in columns])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    panels[0].set_yticks([row + 0.5 for row in range(n_rows)], list(picture.row_names))
    panels[0].invert_yaxis()
    # The names have what they need of the width, and the maps the rest.
    figure.draw_without_rendering()
    names = max(name.get_window_extent().width for name in panels[0].get_yticklabels()) / figure.dpi
    figure.subplots_adjust(
        (names + 0.2) / WIDTH, _BOTTOM / height, 1 - _SCALE / WIDTH, 1 - _TOP / height, wspace=0.08
    )
    beside = figure.add_axes((1 - (_SCALE - 0.15) / WIDTH, _BOTTOM / height, 0.14 / WIDTH, tall / height))
    scale = figure.colorbar(
        mesh, cax=beside, label=picture.label, format=lambda share, _: f"{100 * share:.0f}"
    )
    scale.outline.set_visible(False)
    if scale.solids is not None:  # no gaps between its shades
        scale.solids.set_edgecolor("face")
    beside.tick_params(length=0)
    return figure
