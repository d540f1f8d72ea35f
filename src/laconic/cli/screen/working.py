"""A bar for work that knows how much of it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from laconic.cli.screen.console import messages


@contextmanager
def working(what: str) -> Iterator[Callable[[float], None]]:
    """Show on a terminal how far some work is, and about how long it will take.

    Parameters
    ----------
    what : str
        What is done.

    Yields
    ------
    callable
        To be told the part that is done, from 0 to 1, by any thread.
    """
    console = messages()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=1.0)
        yield lambda done: bar.update(task, completed=done)
