"""What a search gives back: hits with their snippets, and why one of them was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from laconic.display.markup import (
    TIMES,
    Column,
    bar,
    escaped,
    frame,
    heading,
    name,
    number,
    paragraph,
    quiet,
    table,
)
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.search.results import Explanation, Hit, Snippet

N_HITS = 50
N_PARTS = 20
LONGEST_SNIPPET = 600
SMALL = 0.01
"""What contributes less than this part of the largest contribution is not shown."""


def results_html(hits: Sequence[Hit]) -> str:
    """The documents found, best first: scores, their parts, and where the words are."""
    if not len(hits):
        return frame(heading("Results"), paragraph("no document matches"))
    shown = hits[:N_HITS]
    best = [max(abs(score) for score in scores) for scores in zip(*map(_scores, shown), strict=True)]
    about, pieces = any(map(_about, shown)), any(hit.snippet for hit in shown)
    columns = [
        Column("", "number"),
        Column("score", "number"),
        Column("terms", "barred"),
        Column("topics", "barred"),
        Column("document", "" if not pieces else "narrow"),
        *([Column("about it", "narrow")] if about else []),
        *([Column("", "text")] if pieces else []),
    ]
    rows = [
        [
            quiet(str(rank)),
            number(hit.score),
            *(f"{number(part)}{bar(part, most)}" for part, most in zip(_scores(hit), best, strict=True)),
            name(hit.id, 32),
            *([quiet(_about(hit))] if about else []),
            *([marked(hit.snippet) if hit.snippet else ""] if pieces else []),
        ]
        for rank, hit in enumerate(shown, 1)
    ]
    more = quiet(f"The first {N_HITS}; a slice, such as results[{N_HITS}:], shows others.")
    return frame(
        heading("Results", plural(len(hits), "document")),
        table(columns, rows),
        paragraph(more if len(hits) > N_HITS else ""),
    )


def _scores(hit: Hit) -> tuple[float, float]:
    return hit.term_score, hit.topic_score


def _about(hit: Hit) -> str:
    """Label and date, of hits that have them."""
    return " · ".join(name(value, 32) for value in (hit.label, hit.date) if value)


def snippet_html(snippet: Snippet) -> str:
    """A piece of a document, words of the query marked."""
    return frame(paragraph(marked(snippet)))


def marked(snippet: Snippet) -> str:
    """The text of a snippet with its matches in <mark>."""
    text = snippet.text[:LONGEST_SNIPPET]
    made, end = [], 0
    for first, last in _apart(snippet.matches, len(text)):
        made += [escaped(text[end:first]), f"<mark>{escaped(text[first:last])}</mark>"]
        end = last
    return "".join([*made, escaped(text[end:]), "…" if len(snippet.text) > LONGEST_SNIPPET else ""])


def _apart(matches: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Matches in their order, within the text; those that overlap become one."""
    apart: list[tuple[int, int]] = []
    for first, last in sorted((max(0, first), min(last, length)) for first, last in matches):
        if apart and first < apart[-1][1]:
            apart[-1] = apart[-1][0], max(last, apart[-1][1])
        elif first < last:
            apart.append((first, last))
    return apart


def explanation_html(explanation: Explanation) -> str:
    """Why a document has its score: what each word and each topic adds to it, or takes away."""
    e = explanation
    unit = f" / {number(e.term_unit)}" if e.term_unit != 1 else ""
    sum_of = (
        f"{number(e.score)} = {e.blend:g} {TIMES} topics {number(e.topic_score)} + "
        f"{1 - e.blend:g} {TIMES} terms {number(e.term_score)}{unit}"
    )
    per_term = (1 - e.blend) / e.term_unit if e.term_unit else 0.0
    parts = [("term", name(m.term), m.contribution * per_term) for m in e.terms] + [
        (m.title, ", ".join(name(word) for word in m.words), m.contribution * e.blend) for m in e.topics
    ]
    parts.sort(key=lambda row: -abs(row[2]))
    largest = abs(parts[0][2]) if parts else 0.0
    shown = [row for row in parts if abs(row[2]) >= SMALL * largest and row[2]][:N_PARTS]
    rows = [
        [quiet(escaped(kind)), what, number(part, "+.3f") + bar(part, largest)] for kind, what, part in shown
    ]
    columns = [
        Column("", "narrow"),
        Column("what document and query share"),
        Column("adds", "barred"),
    ]
    left_out = len(parts) - len(shown)
    return frame(
        heading(name(e.id, 80), sum_of),
        table(columns, rows) if rows else paragraph("no word and no topic in common with the query"),
        paragraph(quiet(f"{left_out} more that count for little or nothing") if left_out else ""),
    )
