"""What an experiment is made of: parts that run on their own, and what a page shows of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from laconic.experiments.figures import Picture

Results: TypeAlias = dict[str, Any]
"""What a part found, and what the paper says: only what JSON holds."""

Say: TypeAlias = Callable[[str], None]
"""Told what is being done now."""

SEED = 0


@dataclass(frozen=True)
class Section:
    """A part, on the page.

    Attributes
    ----------
    title : str
        Its heading.
    text : str
        Markdown. Numbers come from results, and so do conclusions.
    findings : list of str
        What to say about it at the head of the page, a sentence each.
    figures : dict of str to Chart, Charts or HeatMaps
        By name. The text shows a figure as ``![what it shows](figure:name)``.
    """

    title: str
    text: str
    findings: list[str] = field(default_factory=list)
    figures: Mapping[str, Picture] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A part of an experiment.

    Attributes
    ----------
    run : callable
        ``run(quick, say)`` gives the results. With `quick`, on little data and in less than a minute.
    render : callable
        ``render(results)`` gives the section of the page.
    """

    run: Callable[[bool, Say], Results]
    render: Callable[[Results], Section]
