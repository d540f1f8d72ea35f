"""``laconic datasets``: which data sets there are, and where they come from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from laconic.cli.options.parsing import CommandsGroup, OptionsCommand
from laconic.cli.screen.console import emit, printable, say, speaks_unicode
from laconic.cli.screen.errors import reported

if TYPE_CHECKING:
    from laconic.datasets import Info

EXAMPLES = """
Examples

  laconic datasets

  laconic datasets show 20newsgroups

  laconic datasets --json
"""

# How a program goes on from the record, by the kind of data set.
_NEXT = {
    "text": "corpus = data.corpus(min_df=5)\nmodel = RLSI(20).fit(corpus.X)",
    "retrieval": "corpus = data.corpus()\ndata.queries, data.qrels",
    "counts": "corpus = data.corpus(min_df=5, max_df=0.5)\nmodel = RLSI(20).fit(corpus.X)",
    "images": "data.X, data.labels, data.images",
    "graph": "data.features, data.adjacency, data.labels",
    "parallel": 'german, english = data.corpus("de"), data.corpus("en")',
    "multimodal": 'data.modalities["image"], data.modalities["text"], data.labels',
    "groups": "data.X, data.features, data.groups",
}

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The name of a data set, as listed by `laconic datasets`.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON: a list of data sets.")]

app = typer.Typer(
    cls=CommandsGroup,
    invoke_without_command=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback(epilog=EXAMPLES)
@reported
def datasets(context: typer.Context, json: AsJson = False) -> None:
    """List the data sets that laconic can read, and whether they are present.

    They are looked for in the folder named by LACONIC_DATA, then in your cache folder. Nothing is
    downloaded.
    """
    if context.invoked_subcommand is not None:
        return
    from laconic.datasets import available, search_folders

    infos = available()
    if json:
        sys.stdout.write(_as_json(infos))
        return
    emit(_table(infos))
    missing = sum(not info.present for info in infos)
    if missing:
        folders = " and ".join(map(str, search_folders()))
        say(f"{missing} of {len(infos)} were not found in {folders}")
        say("`laconic datasets show NAME` tells you more")


@app.command(epilog="Example\n\n  laconic datasets show 20newsgroups", cls=OptionsCommand)
@reported
def show(name: Name) -> None:
    """Show what a data set is, where it comes from, and how to load it."""
    from laconic.datasets.folders import how_to_provide, lookup, provenance

    info = lookup(name)
    lines = [f"{info.name}: {info.description}", ""]
    facts = {"size": info.size, "kind": info.kind, "source": info.source, "folder": info.folder}
    lines += [f"{key:8}{printable(str(value))}" for key, value in facts.items() if value]
    if not info.present:
        state = "was not found" if info.folder is None else "lacks some of its files"
        lines += ["", f"It {state}. {how_to_provide(info.name)}."]
    if info.folder is not None:
        lines += ["", "files", *_files(info.folder)]
    if info.kind is not None:
        lines += ["", "in Python", *_python(info)]
    text = provenance(info.folder) if info.folder is not None else ""
    if text:
        lines += ["", "its PROVENANCE.md", *(f"  {printable(line)}".rstrip() for line in text.split("\n"))]
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")


def _table(infos: list[Info]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("data set", style="cyan", no_wrap=True)
    table.add_column("size")
    table.add_column("what it is")
    table.add_column("present", no_wrap=True)
    for info in infos:
        present = Text("yes", style="green") if info.present else Text("no", style="dim")
        table.add_row(
            Text(printable(info.name)), Text(printable(info.size)), Text(printable(info.description)), present
        )
    return table


def _as_json(infos: list[Info]) -> str:
    ascii_only = not speaks_unicode(sys.stdout.encoding)
    rows = [
        {**vars(info), "folder": None if info.folder is None else str(info.folder.absolute())}
        for info in infos
    ]
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows) + "\n]\n"


def _files(folder: Path) -> list[str]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return [f"  {path.stat().st_size:>12,} bytes  {printable(path.name)}" for path in files]


def _python(info: Info) -> list[str]:
    after = _NEXT[info.kind or "text"].split("\n")
    imports = "RLSI, datasets" if any("RLSI" in line for line in after) else "datasets"
    load = f"data = datasets.load({json.dumps(info.name)})"
    lines = [f"from laconic import {imports}", "", load, *after]
    return [f"  {line}".rstrip() for line in lines]
