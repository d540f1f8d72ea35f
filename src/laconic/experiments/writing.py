"""Words and tables of the pages: what is said about numbers is computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from textwrap import fill

# What lists, tables, quotations, headings, figures and boxes begin with.
_MARKED = ("-", "|", ">", "#", "!", ":")
# Below this many points, two numbers of different runs, starts and data say the same.
CLOSE = 3.0
# Below this, two scores are level.
LEVEL = 0.005


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    r"""A Markdown table.

    Parameters
    ----------
    headings : sequence of str
        Of the columns.
    rows : iterable of sequences of str
        Cells; vertical bars in them are escaped.
    align : str
        For each column "l" or "r".

    Examples
    --------
    >>> print(table(["what", "%"], [["a|b", "7.0"]], "lr"))
    | what | % |
    | :--- | ---: |
    | a\|b | 7.0 |
    """
    marks = [{"l": ":---", "r": "---:"}[side] for side in align]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in [headings, *rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in [cells[0], marks, *cells[1:]])


def reflowed(text: str, width: int = 118) -> str:
    r"""The same Markdown, with plain paragraphs in lines of equal length: numbers of any length were put in.

    >>> print(reflowed("A\nb c.\n\n| a |\n| b |", 5))
    A b
    c.
    <BLANKLINE>
    | a |
    | b |
    """
    blocks = text.strip().split("\n\n")
    return "\n\n".join(block if block.lstrip()[:1] in _MARKED else _filled(block, width) for block in blocks)


def _filled(paragraph: str, width: int) -> str:
    return fill(" ".join(paragraph.split()), width, break_long_words=False, break_on_hyphens=False)


def percent(share: float | None, spread: float | None = None) -> str:
    """A share in per cent, with its standard deviation if it has one.

    >>> percent(0.81234), percent(0.5, 0.021), percent(None)
    ('81.2', '50.0 ± 2.1', '')
    """
    if share is None:
        return ""
    return f"{100 * share:.1f}" + (f" ± {100 * spread:.1f}" if spread else "")


def decimal(value: float | None, digits: int = 3) -> str:
    """A number with so many digits after the point, or nothing.

    >>> decimal(0.41349), decimal(None)
    ('0.413', '')
    """
    return "" if value is None else f"{value:.{digits}f}"


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "draw"), count(2000, "draw")
    ('1 draw', '2,000 draws')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def list_of(names: Iterable[str]) -> str:
    """Names in a sentence.

    >>> list_of(["a"]), list_of(["a", "b", "c"]), list_of([])
    ('a', 'a, b and c', '')
    """
    *others, last = [*names] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def edges(chosen: Mapping[str, float], choices: Mapping[str, Sequence[float]]) -> str:
    """Whether what was chosen is the smallest or the largest that there was to choose from.

    >>> edges({"l1": 10, "l2": 1}, {"l1": [1, 10], "l2": [0.1, 1, 10]})
    'That of l1 is at the edge of what was tried, so that others might do better.'
    >>> edges({"l2": 1}, {"l2": [0.1, 1, 10]})
    'None is at the edge of what was tried.'
    """
    at = [name for name, value in chosen.items() if value in (min(choices[name]), max(choices[name]))]
    if not at:
        return "None is at the edge of what was tried."
    noun, verb = ("That", "is") if len(at) == 1 else ("Those", "are")
    return f"{noun} of {list_of(at)} {verb} at the edge of what was tried, so that others might do better."


def points(ours: float, theirs: float, close: float = CLOSE) -> str:
    """How a share of ours compares with the paper's, in points of per cent.

    >>> points(0.815, 0.81), points(0.7, 0.81), points(0.9, 0.81)
    ('agrees with the paper (+0.5 points)', '11.0 points below the paper', '9.0 points above the paper')
    """
    difference = 100 * (ours - theirs)
    if abs(difference) <= close:
        return f"agrees with the paper ({difference:+.1f} points)"
    return f"{abs(difference):.1f} points {'above' if difference > 0 else 'below'} the paper"


def ranking(values: Mapping[str, float], close: float = LEVEL) -> str:
    """Names from the largest value to the smallest; those that are about equal are joined by "≈".

    >>> ranking({"l1": 0.5, "skl": 0.801, "l2": 0.8})
    'skl ≈ l2 > l1'
    """
    ordered = sorted(values.items(), key=lambda item: -item[1])
    words = ordered[0][0]
    for (_, before), (name, value) in pairwise(ordered):
        words += f" {'≈' if before - value < close else '>'} {name}"
    return words


def first_or_level(values: Mapping[str, float], close: float = LEVEL) -> list[str]:
    """The name of the largest value, and those about equal to it.

    >>> first_or_level({"l1": 0.5, "skl": 0.801, "l2": 0.8})
    ['skl', 'l2']
    """
    ordered = sorted(values.items(), key=lambda item: -item[1])
    return [name for name, value in ordered if ordered[0][1] - value < close]


def concordance(ours: dict[str, float], theirs: dict[str, float]) -> tuple[int, int]:
    """Of the pairs that the paper orders, how many ours order in the same way.

    Returns
    -------
    (int, int)
        Pairs in the same order, and pairs of different value in the paper.

    Examples
    --------
    >>> concordance({"a": 3, "b": 2, "c": 1}, {"a": 0.9, "b": 0.2, "c": 0.5})
    (2, 3)
    """
    names = [name for name in theirs if name in ours]
    pairs = [(a, b) for a in names for b in names if theirs[a] > theirs[b]]
    return sum(ours[a] > ours[b] for a, b in pairs), len(pairs)


def quoted(text: str, n_characters: int) -> str:
    r"""The beginning of a text as a Markdown quotation, cut between words; nothing in it is markup.

    >>> quoted("Mr *President*, this is a long speech.", 25)
    '> Mr \\*President\\*, this is a …'
    """
    line = " ".join(text.split())
    if len(line) > n_characters:
        line = line[: n_characters + 1].rsplit(" ", 1)[0] + " …"
    return "> " + "".join(f"\\{c}" if c in r"\`*_{}[]<>#$|~" else c for c in line)
