"""The report: a model in one file that can be mailed, opened anywhere and printed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from laconic.checks import check_number
from laconic.explore import views
from laconic.explore.card import model_card
from laconic.explore.pages.rendering import asset, digest, percent, render
from laconic.explore.views.shapes import LabelLine, Overview, Table, TopicLine
from laconic.storage.files import appearing, sync
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle

N_LARGEST = 12
N_CLASSES = 24
"""A table of more classes would be read by nobody: those with most documents are shown."""

N_CARDS = 500
"""Of more topics than this, the largest are on the map and have cards: a file of all would open slowly."""

WORDS_ON_CARD = 25
STABLE = 0.8
"""A topic that comes back in so many refits counts as stable."""


@dataclass(frozen=True)
class Column:
    """The topics of a class, or the shared ones."""

    name: str
    topics: list[TopicLine]


@dataclass(frozen=True)
class Groups:
    """Topics by class: a column for each where the model has classes, a table where documents have labels."""

    columns: list[Column]
    table: Table | None
    left_out: int


class ReportLinks:
    """Where things are in a report: topics on the same page, all else nowhere."""

    def __init__(self, carded: set[int]) -> None:
        self._carded = carded

    def topic(self, id: int) -> str | None:
        """A topic's card, if it has one."""
        return f"#topic-{id}" if id in self._carded else None

    def word(self, term: str, modality: str) -> None:
        """Words have no page."""

    def document(self, id: str) -> None:
        """Nor have documents."""

    def label(self, name: str) -> None:
        """Nor have classes."""


def write_report(
    bundle: Bundle, path: str | os.PathLike[str], *, documents: int = 0, title: str | None = None
) -> Path:
    """Write a report.

    Parameters
    ----------
    bundle : Bundle
        With a fitted model.
    path : path-like
        The HTML file; an existing one is replaced once the new one is complete.
    documents : int, default=0
        How many typical documents of each topic to quote. None by default, because reports are made to be
        shared.
    title : str, optional
        The title; by default the number of topics.

    Returns
    -------
    Path
        The file.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path}: is a directory; give the name of a file, such as {path / 'report.html'}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path}: there is no directory {path.parent}; make it first, or write elsewhere")
    page = report_html(bundle, documents=documents, title=title)
    with appearing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(page)
        sync(file)
    return path


def report_html(bundle: Bundle, *, documents: int = 0, title: str | None = None) -> str:
    """A report as HTML; see `write_report`."""
    check_number("documents", documents, int, 0)
    overview = views.overview(bundle)
    living = [topic for topic in overview.topics if topic.size]
    by_share = sorted(living, key=lambda topic: -(topic.share or 0))
    carded = sorted(topic.id for topic in by_share[:N_CARDS])
    style, script = asset("style.css"), asset("look.js")
    return render(
        "report.html",
        title=title or f"{plural(len(living), 'topic')}",
        overview=overview,
        summary=summary(overview),
        largest=by_share[:N_LARGEST],
        map=views.topic_map(bundle, most=N_CARDS),
        topics=[views.topic(bundle, id, n_words=WORDS_ON_CARD, n_documents=documents) for id in carded],
        left_out=len(living) - len(carded),
        groups=_groups(bundle, overview),
        paired=len(overview.modalities) > 1,
        card=model_card(bundle),
        links=ReportLinks(set(carded)),
        n_dead=len(overview.topics) - len(living),
        with_documents=documents > 0 and overview.n_documents is not None,
        # ours, so they are not escaped; and policies name them by what they are
        style=Markup(style),
        script=Markup(script),
        style_digest=digest(style),
        script_digest=digest(script),
    )


def summary(overview: Overview) -> list[str]:
    """What was read and what was found, in words that a manager understands.

    Parameters
    ----------
    overview : Overview
        With all topics.

    Returns
    -------
    list of str
        A sentence or two each.
    """
    living = [topic for topic in overview.topics if topic.size]
    return [said for said in (_read(overview), _found(overview, living), _sure(living)) if said]


def _read(overview: Overview) -> str:
    if overview.n_documents is None:
        return ""
    said = f"{plural(overview.n_documents, 'document')} were read"
    if overview.n_documents == 1:
        said = "One document was read"
    if overview.period:
        first, last = overview.period
        said += f", from {first} to {last}" if first != last else f", all of {first}"
    if len(overview.labels) > 1:
        said += f", in {len(overview.labels):,} classes"
    if overview.modalities:
        said += f", in {' and '.join(overview.modalities)}"
    return f"{said}."


def _found(overview: Overview, living: list[TopicLine]) -> str:
    if not living:
        return "No topic has any words."
    longest = max(topic.size for topic in living)
    said = f"They are described by {plural(len(living), 'topic')}"
    if overview.n_documents is None:
        said = f"There {'is' if len(living) == 1 else 'are'} {plural(len(living), 'topic')}"
    said += f" of at most {plural(longest, 'word')} each" if longest < 0.5 * overview.n_terms else ""
    if overview.explained is not None:
        said += (
            f", which together account for {percent(max(0.0, overview.explained))} of the weight of the words"
        )
        if overview.measured != overview.n_documents:
            said += f" (measured on {overview.measured:,} of them)"
    said += "."
    if living[0].share is not None and len(living) > 1:
        largest = max(living, key=lambda topic: topic.share or 0)
        said += f" The largest topic is “{largest.name}”, with {percent(largest.share or 0)}."
    return said


def _sure(living: list[TopicLine]) -> str:
    known = [topic for topic in living if topic.stability is not None]
    if not known:
        return ""
    stable = sum((topic.stability or 0) >= STABLE for topic in known)
    return (
        f"{stable} of {len(known)} topics are stable: they come back in at least {percent(STABLE)} of refits."
    )


def _groups(bundle: Bundle, overview: Overview) -> Groups | None:
    if not overview.labels:
        return None
    owners = dict.fromkeys(topic.owner for topic in overview.topics if topic.owner is not None)
    columns = [
        Column(
            "shared by all" if owner == "shared" else owner, [t for t in overview.topics if t.owner == owner]
        )
        for owner in owners
    ]
    table, left_out = None, 0
    if len(overview.labels) > 1 and overview.n_documents:
        table, left_out = _fewer(views.labels(bundle), overview.labels)
    return Groups(columns, table, left_out) if columns or table else None


def _fewer(table: Table, lines: list[LabelLine]) -> tuple[Table, int]:
    """A table of the classes with most documents, in their order."""
    largest = sorted(range(len(lines)), key=lambda place: -lines[place].documents)[:N_CLASSES]
    kept = sorted(largest)
    shown = Table(
        labels=[table.labels[place] for place in kept],
        topics=table.topics,
        names=table.names,
        shares=[[row[place] for place in kept] for row in table.shares],
    )
    return shown, len(lines) - len(kept)
