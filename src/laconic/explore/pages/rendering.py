"""Templates to HTML: everything is escaped, and nothing that a page shows can become a part of it."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from laconic.display.markup import MINUS, shown
from laconic.explore.pages.drawing import draw_curve, draw_map, draw_tree, hue_of
from laconic.words import plural, rounded


@cache
def environment() -> Environment:
    """What renders templates."""
    made = Environment(
        loader=PackageLoader("laconic.explore.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # what no page can hold is spelt out before it is escaped
        finalize=lambda value: shown(value) if type(value) is str else value,
    )
    made.filters |= {"percent": percent, "level": level, "signed": signed, "number": rounded}
    made.globals |= {
        "plural": plural,
        "draw_map": draw_map,
        "draw_curve": draw_curve,
        "draw_tree": draw_tree,
        "hue_of": hue_of,
        "percent": percent,
        "MINUS": MINUS,
    }
    return made


def render(template: str, **values: Any) -> str:
    """Render a template.

    Parameters
    ----------
    template : str
        Its name; never what a user gave.
    **values
        What it shows.
    """
    return environment().get_template(template).render(**values)


@cache
def asset(name: str) -> str:
    """A style or a script of ours, by its name; never what a user gave."""
    text = files("laconic.explore.pages").joinpath("assets", name).read_text("utf-8")
    return text + _levels() if name == "style.css" else text


def _levels() -> str:
    """Widths of bars and depths of cells as classes: styles in attributes are what our pages do without."""
    widths = "".join(f".w{part}{{width:{part}%}}" for part in range(101))
    depths = "".join(
        f".h{step}{{background:color-mix(in srgb,var(--bar) {step * 5}%,transparent)}}" for step in range(11)
    )
    return widths + depths + "\n"


def digest(text: str) -> str:
    """How a Content-Security-Policy names a script or a style that a page contains.

    >>> digest("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.1234), percent(0.0456), percent(0.0004), percent(0), percent(1), percent(0.9996)
    ('12%', '4.6%', '<0.1%', '0%', '100%', '100%')
    """
    if share <= 0:
        return "0%"
    if share < 0.001:
        return "<0.1%"
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"


def level(value: float, most: float, steps: int = 100) -> int:
    """A part of the most there is, in whole steps; what is not zero is seen.

    >>> level(1, 3), level(-3, 3), level(1e-9, 1), level(0, 0), level(5, 10, 10)
    (33, 100, 1, 0, 5)
    """
    part = abs(value) / abs(most) if most else 0.0
    return min(steps, max(1, round(steps * part))) if part else 0


def signed(value: float, digits: int = 3) -> str:
    """A number with a real minus.

    >>> signed(-0.25), signed(1 / 3, 2)
    ('−0.250', '0.33')
    """
    return f"{value:.{digits}f}".replace("-", MINUS)
