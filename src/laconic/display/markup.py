"""The few pieces that every representation is made of: escaped text, words, bars, tables, a frame."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# What no page can hold (surrogates, control characters), and what would turn the text around it about (marks
# of direction). Joiners stay: some scripts and many emoji need them.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)

MINUS = "\N{MINUS SIGN}"
TIMES = "\N{MULTIPLICATION SIGN}"

LONGEST = 48
"""Longer terms, ids and labels are cut; the whole is in the title, which shows when a mouse rests on it."""

# Specific enough (a class twice) to prevail over a notebook's own styles of tables. All greys are of middling
# lightness and partly transparent, so that they do on white and on black; both hues stand out from either.
_STYLE = """
.laconic{line-height:1.5;font-variant-numeric:tabular-nums;max-width:76em;margin:.3em 0;
--laconic-line:rgba(128,128,128,.28);--laconic-bar:#4c8cc4;--laconic-against:#cf7a3c}
.laconic.laconic p{margin:.15em 0 .5em;padding:0;overflow-wrap:anywhere}
.laconic .laconic-wide{overflow-x:auto}
.laconic .laconic-name{font-weight:600;font-size:1.15em}
.laconic .laconic-quiet{opacity:.72}
.laconic .laconic-code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
.laconic.laconic table.laconic-table{border-collapse:collapse;border:0;margin:.2em 0 .5em;width:auto;
font-size:inherit;table-layout:auto}
.laconic.laconic table.laconic-table tr{background:none;border:0}
.laconic.laconic table.laconic-table :is(th,td){padding:.22em 1.2em .22em 0;border:0;background:none;
color:inherit;text-align:left;vertical-align:baseline;font-weight:normal;white-space:normal;max-width:44em;overflow-wrap:break-word}
.laconic.laconic table.laconic-table thead th{opacity:.72;font-size:.9em;white-space:nowrap;
border-bottom:1px solid var(--laconic-line)}
.laconic.laconic table.laconic-table tbody tr+tr :is(th,td){border-top:1px solid var(--laconic-line)}
.laconic.laconic table.laconic-table .laconic-number{text-align:right;white-space:nowrap}
.laconic.laconic table.laconic-table td.laconic-barred{text-align:right;white-space:nowrap}
.laconic.laconic table.laconic-table .laconic-narrow{white-space:nowrap}
.laconic.laconic table.laconic-table .laconic-text{min-width:18em;overflow-wrap:anywhere}
.laconic .laconic-word{padding-bottom:.12em;-webkit-box-decoration-break:clone;box-decoration-break:clone;
background:linear-gradient(var(--laconic-bar),var(--laconic-bar)) 0 100%/var(--laconic-part) 2px no-repeat}
.laconic .laconic-word.laconic-minus{background-image:repeating-linear-gradient(90deg,
var(--laconic-against) 0 3px,transparent 3px 5px)}
.laconic .laconic-track{display:inline-block;width:4.5em;height:.5em;margin-left:.6em;
background:rgba(128,128,128,.16)}
.laconic .laconic-bar{display:block;height:100%;background:var(--laconic-bar)}
.laconic .laconic-bar.laconic-minus{background:repeating-linear-gradient(135deg,var(--laconic-against) 0 2px,
transparent 2px 4px)}
.laconic mark{background:rgba(240,180,40,.34);color:inherit;padding:0 .1em;border-radius:2px;font-weight:600}
.laconic .laconic-beside{display:flex;flex-wrap:wrap;gap:0 3.5em;align-items:flex-start}
.laconic details{margin:0 0 .5em}
.laconic summary{cursor:pointer;opacity:.72}
"""


def escaped(text: object) -> str:
    r"""Text as HTML shows it, letter for letter; what cannot be shown is spelt out.

    >>> escaped("<b>&'\x00")
    '&lt;b&gt;&amp;&#x27;\\x00'
    """
    return html.escape(shown(text), quote=True)


def shown(text: object) -> str:
    r"""Text as a page can hold it: what cannot be shown is spelt out. It is not escaped.

    >>> shown("a\x00<b>")
    'a\\x00<b>'
    """
    return _UNSHOWABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text))


def name(text: object, longest: int = LONGEST) -> str:
    """A term, an id or a label, cut if it is very long.

    >>> name("fish & chips"), name("donaudampfschiff", 6)
    ('fish &amp; chips', '<span title="donaudampfschiff">donau…</span>')
    """
    text = str(text)
    if len(text) <= longest:
        return escaped(text)
    return f'<span title="{escaped(text[:1000])}">{escaped(text[: longest - 1])}…</span>'


def code(text: object) -> str:
    """What one types."""
    return f'<span class="laconic-code">{escaped(text)}</span>'


def quiet(markup: str) -> str:
    """What matters less."""
    return f'<span class="laconic-quiet">{markup}</span>'


def number(value: float, digits: str = ".3f") -> str:
    """A number with a real minus.

    >>> number(-0.25), number(1234.5, ",.6g")
    ('−0.250', '1,234.5')
    """
    return f"{value:{digits}}".replace("-", MINUS)


def percent(value: float, whole: float) -> str:
    """A part of a whole as CSS has it, from 0 to 100 %.

    >>> percent(1, 3), percent(-5, 3), percent(float("nan"), 1), percent(1, 0)
    ('33.3%', '100.0%', '0.0%', '0.0%')
    """
    part = abs(value) / abs(whole) if whole else 0.0
    return f"{100 * min(1.0, part) if math.isfinite(part) else 0:.1f}%"


def bar(value: float, whole: float) -> str:
    """A bar that fills a part of its track; hatched if it counts against."""
    minus = " laconic-minus" if value < 0 else ""
    filled = f'<span class="laconic-bar{minus}" style="width:{percent(value, whole)}"></span>'
    return f'<span class="laconic-track" aria-hidden="true">{filled}</span>'


def words(weighted: Iterable[tuple[str, float]]) -> str:
    """Words, each underlined as far as its weight goes; a minus stands before those that count against."""
    weighted = list(weighted)
    most = max((abs(weight) for _, weight in weighted), default=0.0)
    # en spaces keep terms of several words apart, with or without a style
    return "\u2002".join(_word(term, weight, most) for term, weight in weighted)


def _word(term: str, weight: float, most: float) -> str:
    sign, minus = (MINUS, " laconic-minus") if weight < 0 else ("", "")
    shown = term if len(term) <= LONGEST else term[: LONGEST - 1] + "…"
    whole = "" if shown == term else f"{escaped(term[:1000])}: "
    return (
        f'<span class="laconic-word{minus}" style="--laconic-part:{percent(weight, most)}" '
        f'title="{whole}{number(weight, ".4g")}">{sign}{escaped(shown)}</span>'
    )


class Column(NamedTuple):
    """A column of a table: what stands above it, and how its cells are set."""

    title: str
    kind: str = ""
    """"number" (to the right), "barred" (a number and its bar), "narrow" (never broken), "text" (of many
    words), or "" for names."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; the first of a row is its head."""

    def cell(tag: str, column: Column, content: str, attributes: str = "") -> str:
        style = f' class="laconic-{column.kind}"' if column.kind else ""
        return f"<{tag}{attributes}{style}>{content}</{tag}>"

    head = "".join(cell("th", column, escaped(column.title), ' scope="col"') for column in columns)
    body = []
    for row in rows:
        first, *others = zip(columns, row, strict=True)
        cells = [cell("th", *first, ' scope="row"'), *(cell("td", *other) for other in others)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    made = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="laconic-wide"><table class="laconic-table">{made}</table></div>'


def heading(title: str, *facts: str) -> str:
    """What it is, and how large: HTML in one line."""
    return f'<p><span class="laconic-name">{title}</span> {quiet(" · ".join(f for f in facts if f))}</p>'


def paragraph(markup: str) -> str:
    """A line, or nothing."""
    return f"<p>{markup}</p>" if markup else ""


def folded(summary: str, markup: str) -> str:
    """What opens on a click, without a script."""
    return f"<details><summary>{escaped(summary)}</summary><p>{markup}</p></details>"


def progress(title: str, words: str, share: float | None = None) -> str:
    """How far something is, in one line; without a bar if that is not known."""
    filled = "" if share is None else bar(share, 1)
    facts = (fact.strip() for fact in words.split("  "))
    return f'<span class="laconic-name">{escaped(title)}</span>{filled} {" · ".join(map(escaped, facts))}'


def frame(*parts: str) -> str:
    """A whole representation, with its style."""
    return f'<div class="laconic"><style>{_STYLE}</style>{"".join(parts)}</div>'
