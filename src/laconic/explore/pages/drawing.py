"""The geometry of pictures, as plain numbers: templates make SVG of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laconic.explore.views.shapes import MapView
from laconic.explore.views.topics import map_radii
from laconic.steering.tree import Branch

SIDE = 640
MARGIN = 54
HUES = 6
"""So many hues can be told apart; classes beyond them have their name alone."""

# about the width of a letter, and the height of a line, of the letters on a map
_LETTER, _LINE = 6.4, 13
_LONGEST_LABEL = 18
_MOST_LABELS = 60


@dataclass(frozen=True)
class Circle:
    """A topic on the map; `label` stands at (`x`, `label_y`), if there is room for it."""

    id: int
    name: str
    owner: str | None
    hue: int | None
    x: float
    y: float
    r: float
    label: str | None
    label_y: float


@dataclass(frozen=True)
class MapDrawing:
    """The map of topics; the legend says which hue is which class (None: shared by all)."""

    side: int
    top: float
    height: float
    circles: list[Circle]
    legend: list[tuple[str, int | None]]


def hue_of(owner: str | None, owners: Sequence[str]) -> int | None:
    """The hue of a class; shared topics have none.

    >>> hue_of("sea", ["shared", "sky", "sea"]), hue_of("shared", ["shared", "sky"])
    (1, None)
    """
    classes = [name for name in owners if name != "shared"]
    return classes.index(owner) % HUES if owner in classes else None


def draw_map(view: MapView, side: int = SIDE) -> MapDrawing:
    """Place circles and as many labels as do not cover each other, those of large topics first.

    Parameters
    ----------
    view : MapView
    side : int
        Of the square.
    """
    half = side / 2 - MARGIN
    radii = map_radii(np.array([point.weight for point in view.points])) * half
    centres = [(side / 2 + point.x * half, side / 2 - point.y * half) for point in view.points]
    labels: dict[int, tuple[str, float]] = {}
    taken: list[tuple[float, float, float, float]] = []
    for place in np.argsort(-radii, kind="stable")[:_MOST_LABELS]:
        (x, y), radius = centres[place], float(radii[place])
        text = _short(view.points[place].name)
        width = _LETTER * len(text)
        for label_y in (y + radius + _LINE, y - radius - 4):
            box = (x - width / 2, label_y - _LINE + 2, x + width / 2, label_y + 3)
            inside = box[0] >= 0 and box[2] <= side and box[1] >= 0 and box[3] <= side
            if inside and not any(_meet(box, other) for other in taken):
                labels[int(place)] = text, label_y
                taken.append(box)
                break
    hues = {owner: hue_of(owner, view.owners) for owner in view.owners}
    ys = [y for _, y in centres] or [side / 2]
    top = max(0.0, min(ys) - MARGIN)
    return MapDrawing(
        side=side,
        # no more of the square than is used
        top=round(top, 1),
        height=round(min(side, max(ys) + MARGIN) - top, 1),
        circles=[
            Circle(
                id=point.id,
                name=point.name,
                owner=point.owner,
                hue=None if point.owner is None else hues[point.owner],
                x=round(x, 1),
                y=round(y, 1),
                r=round(float(radius), 1),
                label=labels.get(place, (None, 0.0))[0],
                label_y=round(labels.get(place, (None, 0.0))[1], 1),
            )
            for place, (point, (x, y), radius) in enumerate(zip(view.points, centres, radii, strict=True))
        ],
        legend=list(hues.items()),
    )


def _short(name: str) -> str:
    first = name.split(", ")[0]
    return first if len(first) <= _LONGEST_LABEL else first[: _LONGEST_LABEL - 1] + "…"


def _meet(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@dataclass(frozen=True)
class Curve:
    """A line over time, and the area below it, as SVG has paths; the place of its highest point."""

    width: int
    height: int
    line: str
    area: str
    peak: int
    peak_x: float
    peak_y: float


def draw_curve(values: Sequence[float], width: int = 260, height: int = 44) -> Curve:
    """Draw values from left to right; the largest reaches the top.

    Parameters
    ----------
    values : sequence of float
        At least one, none below zero.
    width, height : int

    Examples
    --------
    >>> draw_curve([0, 1, 0.5], 20, 10).line
    'M2,8 10,2 18,5'
    """
    most = max(values) or 1.0
    step = (width - 4) / max(1, len(values) - 1)
    points = [
        (2 + place * step, height - 2 - (height - 4) * value / most) for place, value in enumerate(values)
    ]
    if len(points) == 1:
        points.append((width - 2, points[0][1]))
    line = "M" + " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
    area = f"{line} {points[-1][0]:.4g},{height} {points[0][0]:.4g},{height}Z"
    peak = max(range(len(values)), key=values.__getitem__)
    return Curve(width, height, line, area, peak, round(points[peak][0], 1), round(points[peak][1], 1))


@dataclass(frozen=True)
class TreeDrawing:
    """The tree of topics: lines that join, and where the name of each topic stands."""

    width: int
    height: int
    lines: list[str]
    leaves: list[tuple[int, str, float]]


def _joined(root: Branch) -> list[Branch]:
    """All branches that join others."""
    found, stack = [], [root]
    while stack:
        branch = stack.pop()
        if branch.branches:
            found.append(branch)
            stack.extend(branch.branches)
    return found


ROW = 22
_DEPTH = 300


def draw_tree(root: Branch | None) -> TreeDrawing:
    """Place the topics of a tree below each other, and join them where they were joined.

    Parameters
    ----------
    root : Branch or None
        None draws nothing.
    """
    leaves: list[tuple[int, str, float]] = []
    lines: list[str] = []
    if root is None:
        return TreeDrawing(_DEPTH, 0, lines, leaves)
    heights = [branch.height for branch in _joined(root)]
    lowest, highest = min(heights, default=0.0), max(heights, default=1.0)
    spread = highest - lowest or 1.0

    def across(height: float) -> float:
        """Where a join lies; joins share the width, also where all topics are far from each other."""
        return _DEPTH * (0.75 - 0.75 * (height - lowest) / spread) + 2

    def ends(branch: Branch) -> float:
        return across(branch.height) if branch.branches else _DEPTH + 2

    # Depth first without recursion: a tree may be as deep as it has topics.
    places: dict[int, float] = {}
    stack: list[tuple[Branch, bool]] = [(root, False)]
    while stack:
        branch, seen = stack.pop()
        if not branch.branches:
            y = ROW * len(leaves) + ROW / 2
            leaves.append((branch.topics[0], branch.name, y))
            places[id(branch)] = y
        elif not seen:
            stack.append((branch, True))
            stack.extend((child, False) for child in reversed(branch.branches))
        else:
            x, ys = across(branch.height), [places[id(child)] for child in branch.branches]
            for child, y in zip(branch.branches, ys, strict=True):
                lines.append(f"M{x:.4g},{sum(ys) / len(ys):.5g} {x:.4g},{y:.5g} {ends(child):.4g},{y:.5g}")
            places[id(branch)] = sum(ys) / len(ys)
    return TreeDrawing(_DEPTH, ROW * len(leaves), lines, leaves)
