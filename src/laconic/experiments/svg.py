"""Small figures for the pages: a line chart and heat maps, as SVG that reads well in a diff."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_FONT = 'font-family="sans-serif" font-size="12" fill="#333"'
_LEFT, _TOP, _WIDTH, _HEIGHT = 52, 34, 430, 220


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    levels: Mapping[str, float] | None = None,
) -> str:
    """Draw lines over a logarithmic axis.

    Parameters
    ----------
    title, x_label, y_label : str
        What is shown.
    lines : mapping of str to sequence of (float, float)
        From names to points, whose first numbers are positive and whose second are from 0 to 1.
    levels : mapping of str to float, optional
        From names to heights of dashed lines, to compare with.

    Returns
    -------
    str
        The SVG file.

    Examples
    --------
    >>> svg = line_chart("Accuracy", "strength", "share", {"l2": [(1, 0.5), (10, 0.8)]})
    >>> svg.count("<circle"), "l2" in svg
    (2, True)
    """
    levels = levels or {}
    places = [math.log10(x) for line in lines.values() for x, _ in line]
    heights = [y for line in lines.values() for _, y in line] + list(levels.values())
    low, high = math.floor(10 * min(heights)) / 10, math.ceil(10 * max(heights)) / 10
    first, last = math.floor(min(places)), max(math.ceil(max(places)), math.floor(min(places)) + 1)

    def across(x: float) -> float:
        return _LEFT + _WIDTH * (math.log10(x) - first) / (last - first)

    def up(y: float) -> float:
        return _TOP + _HEIGHT * (high - y) / max(high - low, 0.1)

    parts = [_text(_LEFT, 18, title, weight="bold")]
    for step in range(round(10 * low), round(10 * high) + 1):
        y = up(step / 10)
        parts.append(_line(_LEFT, y, _LEFT + _WIDTH, y, "#ddd"))
        parts.append(_text(_LEFT - 8, y + 4, f"{step * 10}", anchor="end"))
    for exponent in range(first, last + 1):
        x = across(10.0**exponent)
        parts.append(_line(x, _TOP, x, _TOP + _HEIGHT, "#eee"))
        parts.append(_text(x, _TOP + _HEIGHT + 18, f"{10.0**exponent:,g}", anchor="middle"))
    parts.append(_text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 38, x_label, anchor="middle"))
    parts.append(_text(14, _TOP + _HEIGHT / 2, y_label, anchor="middle", turned=True))
    legend = _LEFT + _WIDTH + 16
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in line]
        parts.append(_line(legend, _TOP + 10 + 20 * number, legend + 20, _TOP + 10 + 20 * number, colour, 2))
        parts.append(_text(legend + 26, _TOP + 14 + 20 * number, name))
    for number, (name, level) in enumerate(levels.items(), start=len(lines)):
        colour = COLOURS[number % len(COLOURS)]
        y = _TOP + 10 + 20 * number
        parts.append(_line(_LEFT, up(level), _LEFT + _WIDTH, up(level), colour, 1.5, dashed=True))
        parts.append(_line(legend, y, legend + 20, y, colour, 1.5, dashed=True))
        parts.append(_text(legend + 26, y + 4, name))
    return _svg(_LEFT + _WIDTH + 200, _TOP + _HEIGHT + 52, parts)


def heat_maps(
    row_names: Sequence[str], maps: Mapping[str, Sequence[Sequence[float]]], cell: tuple[int, int] = (22, 16)
) -> str:
    """Draw tables of shares side by side, darker where they are larger.

    Parameters
    ----------
    row_names : sequence of str
        The same for all maps.
    maps : mapping of str to rows of floats
        From titles to values, from 0 (white) to 1.
    cell : (int, int)
        Width and height of a value.

    Returns
    -------
    str
        The SVG file.

    Examples
    --------
    >>> heat_maps(["a", "b"], {"left": [[0, 1], [0.5, 0.5]]}).count("<rect")
    5
    """
    wide, tall = cell
    left = 20 + round(6.8 * max(map(len, row_names)))
    parts = [
        _text(left - 8, _TOP + tall * (row + 0.75), name, anchor="end") for row, name in enumerate(row_names)
    ]
    for title, values in maps.items():
        parts.append(_text(left, 18, title, weight="bold"))
        parts.append('<g stroke="#ddd">')
        for row, shares in enumerate(values):
            for column, share in enumerate(shares):
                shade = round(255 * (1 - min(max(share, 0.0), 1.0)))
                parts.append(
                    f'<rect x="{left + wide * column}" y="{_TOP + tall * row}" width="{wide}" '
                    f'height="{tall}" fill="#{shade:02x}{shade:02x}ff"/>'
                )
        parts.append("</g>")
        left += wide * len(values[0]) + 30
    return _svg(left, _TOP + tall * len(row_names) + 14, parts)


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    # A white ground: the manual has a dark theme, too.
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}">'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, ground, f"<g {_FONT}>", *parts, "</g>", "</svg>"]) + "\n"


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal", turned: bool = False
) -> str:
    turn = f' transform="rotate(-90 {x:g} {y:g})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"{turn}>'
        f"{escape(text)}</text>"
    )


def _line(
    x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dashed: bool = False
) -> str:
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashes}/>'
    )
