"""Tables of measurements: printed as they come, and kept for a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

console = Console(width=120)

Columns = dict[str, tuple[str, Callable[[Any], str]]]


class Report:
    """Prints a table when it is measured, and keeps all of them for a page."""

    def __init__(self, page: str, headline: str) -> None:
        self.page = [page.format(headline=headline)]
        self.numbers: dict[str, Any] = {}
        console.print(headline)

    def add(self, title: str, rows: list[dict[str, Any]], columns: Columns) -> None:
        """Show and keep a table."""
        self.numbers[title] = rows
        table = Table(title=title, title_justify="left")
        for heading, _ in columns.values():
            table.add_column(heading, justify="left" if heading in ("", "what") else "right")
        cells = [[form(row[key]) for key, (_, form) in columns.items()] for row in rows]
        for row in cells:
            table.add_row(*row)
        console.print(table)
        lines = [[heading for heading, _ in columns.values()], ["---"] * len(columns), *cells]
        self.page.append(f"## {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")

    def write(self, numbers: Path | None, page: Path | None) -> None:
        """Write the numbers as JSON and the tables as Markdown, where asked for."""
        if numbers:
            numbers.write_text(json.dumps(self.numbers, indent=1) + "\n")
        if page:
            page.write_text("\n".join(self.page))
