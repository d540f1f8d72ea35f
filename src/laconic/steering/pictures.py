"""Pictures of what was measured: plain SVG, made here, so that nothing has to be installed for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from laconic.display.markup import Column, escaped, frame, heading, paragraph, quiet, table
from laconic.steering.recommending import LOWER_IS_BETTER, MEASURES
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.steering.choice import Choice
    from laconic.steering.recommending import Measured

_PANEL = (200, 150)
_MARGIN = (46, 30, 8, 34)
"""Left, top, right and bottom of a panel."""
_INK, _QUIET, _LINE, _CHOSEN = "#222", "#767676", "#4269d0", "#c2410c"

_TITLES = {
    "held_out": "held-out score",
    "coherence": "coherence (NPMI)",
    "redundancy": "redundancy",
    "stability": "stability",
}


def choice_svg(choice: Choice) -> str:
    """A panel for each measure over the numbers of topics; bars are standard errors.

    Parameters
    ----------
    choice : Choice

    Returns
    -------
    str
        An SVG document; readable in light and on paper.
    """
    left, top, right, bottom = _MARGIN
    wide, high = _PANEL[0] + left + right, _PANEL[1] + top + bottom
    numbers = [one.n_topics for one in choice.candidates]
    panels = []
    for place, name in enumerate(MEASURES):
        x, y = place % 2 * wide, place // 2 * high
        values = [getattr(one, name) for one in choice.candidates]
        better = "lower is better" if name in LOWER_IS_BETTER else "higher is better"
        panels.append(
            f'<g transform="translate({x + left} {y + top})">'
            f'<text y="-12" font-weight="bold" fill="{_INK}">{_TITLES[name]}</text>'
            f'<text x="{_PANEL[0]}" y="-12" text-anchor="end" fill="{_QUIET}">{better}</text>'
            f"{_panel(numbers, values, numbers.index(choice.recommended))}</g>"
        )
    title = f"Measures of {choice.model} for {', '.join(map(str, numbers))} topics"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * wide} {2 * high}" width="{2 * wide}" '
        f'height="{2 * high}" role="img" font-family="system-ui, sans-serif" font-size="11">'
        f"<title>{escaped(title)}</title>"
        f'<rect width="{2 * wide}" height="{2 * high}" fill="white"/>{"".join(panels)}</svg>\n'
    )


def _panel(numbers: Sequence[int], values: Sequence[Measured], chosen: int) -> str:
    width, height = _PANEL
    across = _scale(math.log(numbers[0]), math.log(numbers[-1]), 8, width - 8)
    xs = [across(math.log(number)) for number in numbers]
    least = min(one.mean - one.error for one in values)
    most = max(one.mean + one.error for one in values)
    up = _scale(least, most, height - 6, 6)
    ys = [up(one.mean) for one in values]
    parts = [f'<path d="M0 0V{height}H{width}" fill="none" stroke="{_QUIET}"/>']
    for value in (least, most) if most > least else (least,):
        at = up(value)
        parts.append(
            f'<text x="-6" y="{at + 4:.1f}" text-anchor="end" fill="{_QUIET}">{_short(value)}</text>'
            f'<path d="M-3 {at:.1f}H0" stroke="{_QUIET}"/>'
        )
    parts += [
        f'<text x="{x:.1f}" y="{height + 15}" text-anchor="middle" '
        f'fill="{_CHOSEN if place == chosen else _QUIET}">{number}</text>'
        for place, number, x in _legible(numbers, xs, chosen)
    ]
    parts.append(f'<path d="M{xs[chosen]:.1f} 0V{height}" stroke="{_CHOSEN}" stroke-dasharray="3 3"/>')
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    parts.append(f'<polyline points="{line}" fill="none" stroke="{_LINE}" stroke-width="1.5"/>')
    for place, (x, y, one) in enumerate(zip(xs, ys, values, strict=True)):
        colour = _CHOSEN if place == chosen else _LINE
        ends = up(one.mean - one.error), up(one.mean + one.error)
        parts.append(f'<path d="M{x:.1f} {ends[0]:.1f}V{ends[1]:.1f}" stroke="{colour}"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
    return "".join(parts)


def _legible(numbers: Sequence[int], xs: Sequence[float], chosen: int) -> list[tuple[int, int, float]]:
    """Numbers below the axis, without those that would be written over others; the chosen one is always."""
    kept: list[tuple[int, int, float]] = []
    order = [chosen, *(place for place in range(len(numbers)) if place != chosen)]
    for place in order:
        if all(abs(xs[place] - other) > 20 for _, _, other in kept):
            kept.append((place, numbers[place], xs[place]))
    return kept


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    """From a range of values to one of places; a range of one value is in the middle."""
    if high <= low:
        return lambda value: (first + last) / 2
    return lambda value: first + (value - low) / (high - low) * (last - first)


def _short(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def choice_html(choice: Choice) -> str:
    """The picture, the numbers and the recommendation, for a notebook."""
    columns = [Column("topics", "number"), *(Column(called, "number") for called in MEASURES.values())]
    columns += [Column("overall", "number"), Column("topics that return", "number")]
    rows = []
    for one in choice.candidates:
        cells = [f"{getattr(one, name).mean:.3f}" for name in (*MEASURES, "overall")]
        number = str(one.n_topics)
        bold = f"<b>{number}</b>" if one.n_topics == choice.recommended else number
        rows.append([bold, *cells, f"{one.returning:.0%}"])
    return frame(
        heading(
            "How many topics?",
            f"{escaped(choice.model)}, {plural(choice.n_documents, 'document')}, {choice.n_runs} halves each",
        ),
        paragraph(escaped(choice.reason)),
        *(paragraph(quiet(escaped(text))) for text in choice.warnings),
        table(columns, rows),
        choice_svg(choice),
    )


def choice_page(choice: Choice) -> str:
    """The same as a page of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>How many topics?</title>'
        "<style>body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        f"svg{{max-width:100%;height:auto}}</style></head><body>{choice_html(choice)}</body></html>\n"
    )
