"""Topics as a table for people, and as JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from laconic.cli.screen.console import printable, say
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle.listing import Listing, Topic
    from laconic.steering.tree import Branch

TERMS_SHOWN = 10
TEXT_SHOWN = 200
TOPICS_SHOWN = 20
"""How many topics a fit lists."""


def topics_table(
    listing: Listing,
    n_terms: int = TERMS_SHOWN,
    *,
    weights: bool = False,
    extra: tuple[str, Sequence[str]] | None = None,
    most: int | None = None,
) -> Table:
    """One row for each topic, by its number; dead topics too. Words of several modalities have a column each.

    Parameters
    ----------
    listing : Listing
        Of topics with or without a vocabulary.
    n_terms : int
        At most this many words per topic.
    weights : bool
        Whether to show the weights of the words.
    extra : (str, sequence of str), optional
        The name of one more column, in place of sizes and densities, and its values.
    most : int, optional
        At most so many topics, the first.

    Returns
    -------
    Table
        To be printed.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("topic", justify="right", style="cyan", no_wrap=True)
    classes, named = listing.owners, listing.notes.named
    if named:
        table.add_column("name", style="bold")
    if classes:
        table.add_column("class", style="green")
    sides = listing.words(n_terms)
    # Words of several modalities need the room.
    sized = extra is None and len(sides) == 1
    if sized:
        table.add_column("size", justify="right", no_wrap=True)
        table.add_column("density", justify="right", no_wrap=True)
    returns = listing.notes.returns
    if returns is not None:
        table.add_column("returns", justify="right", no_wrap=True)
    for name in sides:
        table.add_column(Text(f"words of {printable(name)}" if name else "words"))
    if extra is not None:
        table.add_column(extra[0], style="green")
    sizes = listing.sizes
    for number in listing.notes.living[:most]:
        row: list[str | Text] = [str(number)]
        if named:
            row.append(Text(printable(listing.notes.names[number] or "")))
        if classes:
            row.append(Text(printable(classes[number])))
        if sized:
            density = sizes[number] / listing.n_terms
            row += [f"{sizes[number]:,}", f"{density:.2%}"]
        if returns is not None:
            share = returns.shares[number]
            row.append("" if share is None else f"{share:.0%}")
        row += [_words(topics[number], weights, listing.no_words(number)) for topics in sides.values()]
        if extra is not None:
            row.append(Text(extra[1][number]))
        # a line between the shared topics and those of each class
        ends = bool(classes) and number + 1 < len(classes) and classes[number + 1] != classes[number]
        table.add_row(*row, end_section=ends)
    return table


def _words(topic: Topic, weights: bool, without: str) -> Text:
    if not topic:
        return Text(without, style="dim italic")
    parts = []
    for term, weight in topic:
        # The minus tells without colours, too.
        style = "red" if weight < 0 else ""
        part = Text(("-" if weight < 0 else "") + printable(term), style=style)
        if weights:
            part.append(f" {abs(weight):.2g}", style="dim")
        parts.append(part)
    return Text(", ").join(parts)


def tell_of_others(model: Any, path: Path) -> None:
    """Say how to see the topics that a fit has not listed."""
    others = len(model.topic_sizes_) - TOPICS_SHOWN
    if others > 0:
        say(f"and {plural(others, 'more topic')}: laconic topics {path}", whole=True)


def facts_table(columns: Mapping[str, Sequence[Any]]) -> Table:
    """Named columns as a table for people: shares in percent, words last."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    names = sorted(columns, key=lambda name: name.startswith(("words", "text")))
    for name in names:
        numbers = all(isinstance(value, int | float) for value in columns[name])
        style = {"topic": "cyan", "labels": "green", "label": "green", "id": "cyan"}.get(name)
        table.add_column(
            {"labels": "strongest in"}.get(name, name),
            justify="right" if numbers else "left",
            no_wrap=numbers,
            style=style,
        )
    for row in zip(*(columns[name] for name in names), strict=True):
        table.add_row(*(Text(_fact(name, value)) for name, value in zip(names, row, strict=True)))
    return table


def _fact(name: str, value: Any) -> str:
    if name in ("share", "returns"):
        return f"{value:.1%}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if name.startswith("text"):
        shown = " ".join(str(value).split())
        return printable(shown if len(shown) <= TEXT_SHOWN else f"{shown[:TEXT_SHOWN]}...")
    if isinstance(value, int) and name != "topic":
        return f"{value:,}"
    # a day without a time
    return printable("" if value is None else str(value).removesuffix(" 00:00:00"))


def facts_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Named columns as CSV."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return lines.getvalue()


def labels_column(labels: Any, weights: Any) -> tuple[str, list[str]]:
    """A column for `topics_table`: for each topic the labels of the documents that have most of it."""
    from laconic.bundle.documents import labels_told

    return "strongest in", [printable(told) for told in labels_told(labels, weights)]


def topics_tree(listing: Listing, root: Branch, n_terms: int = TERMS_SHOWN) -> Tree:
    """Topics as a tree: branches say how many topics they join, and how alike these are.

    Parameters
    ----------
    listing : Listing
        Names and words of the topics.
    root : Branch
        What ``bundle.tree()`` gives.
    n_terms : int
        At most this many words per topic.

    Returns
    -------
    Tree
        To be printed.
    """
    words = list(listing.words(n_terms).values())

    def label(branch: Branch) -> Text:
        if branch.branches:
            return Text(f"{len(branch.topics)} topics, cosine {1 - branch.height:.2f}", style="dim")
        (topic,) = branch.topics
        without = listing.no_words(topic)
        listed = " | ".join(", ".join(term for term, _ in side[topic]) or without for side in words)
        return Text.assemble((listing.notes.shown(topic), "cyan"), f" {printable(listed)}")

    tree = Tree(label(root))
    todo = [(tree, root)]
    while todo:
        node, branch = todo.pop()
        todo += [(node.add(label(one)), one) for one in branch.branches]
    return tree


def topics_json(listing: Listing, n_terms: int, *, ascii_only: bool = False) -> str:
    """A JSON list with an object, on a line of its own, for each topic."""
    sizes, classes, returns = listing.sizes, listing.owners, listing.notes.returns
    sides = _listed(listing, n_terms)

    def terms(number: int) -> Any:
        listed = {
            name: [{"term": term, "weight": weight} for term, weight in topics[number]]
            for name, topics in sides.items()
        }
        return listed.get("", listed)

    lines = [
        json.dumps(
            {
                "topic": number,
                **({"name": listing.notes.names[number]} if listing.notes.named else {}),
                **({"class": classes[number]} if classes else {}),
                "size": int(sizes[number]),
                **({} if returns is None else {"returns": returns.shares[number]}),
                "terms": terms(number),
            },
            ensure_ascii=ascii_only,
        )
        for number in listing.notes.living
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def topics_csv(listing: Listing, n_terms: int) -> str:
    """A row for each word of each topic; a topic without words has none."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    classes, sides = listing.owners, _listed(listing, n_terms)
    several, names = "" not in sides, listing.notes.names if listing.notes.named else ()
    columns = [
        "topic",
        *(["name"] if names else []),
        *(["class"] if classes else []),
        *(["modality"] if several else []),
        "rank",
        "term",
        "weight",
    ]
    writer.writerow(columns)
    for number in listing.notes.living:
        for name, topics in sides.items():
            place = [
                number,
                *(called or "" for called in names[number : number + 1]),
                *classes[number : number + 1],
                *([name] if several else []),
            ]
            writer.writerows([*place, rank, *pair] for rank, pair in enumerate(topics[number], start=1))
    return lines.getvalue()


def _listed(listing: Listing, n_terms: int) -> dict[str, list[Topic]]:
    """The topics, with weights of as many digits as their type has."""
    kind = listing.dtype.type
    return {
        name: [[(term, float(str(kind(weight)))) for term, weight in topic] for topic in topics]
        for name, topics in listing.words(n_terms).items()
    }
