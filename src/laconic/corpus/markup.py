"""HTML in texts: tags and entities, also those that lost their ampersand on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain, islice

SAMPLE = 1000
"""How many texts, the first ones, are looked at to say whether there is HTML in them."""

ENOUGH = 0.02
"""From which share of them on there is. Of fourteen collections that are plain (newsgroups, which discuss
programs, and news with a stray entity among them) at most 0.4 % of the first texts, and 1.1 % of all, show
some; of AG News, which is full of them, a tenth of the first texts and more of later ones."""

# What follows a name in a tag tells names apart, whichever of them is tried first.
_ELEMENT = (
    "(?:a|abbr|acronym|address|article|aside|b|big|blockquote|body|br|button|caption|center|cite|code|col|"
    "colgroup|dd|del|details|dfn|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|frame|"
    "frameset|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|main|map|mark|menu|"
    "meta|nav|noscript|object|ol|optgroup|option|p|param|picture|pre|q|s|samp|script|section|select|small|"
    "source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|"
    "time|title|tr|tt|u|ul|var|video|wbr)"
)

# Only elements of HTML are tags: "a < b and c > d", <stdio.h>, vector<int> and <AAPL.O> are text.
_TAG = re.compile(rf"<(?:/?{_ELEMENT}(?:\s[^<>]*=[^<>]*|\s*/?\s*)|!doctype[^<>]*)>", re.IGNORECASE)
# What is no text, whatever stands in it.
_HIDDEN = re.compile(r"<(?:(script|style)\b[^<>]*>.*?</\1\s*|!--.*?--)>", re.IGNORECASE | re.DOTALL)
# Ampersands became spaces: "Oracle #39;s", "said  quot;yes quot;", "lt;b gt;".
_LOST = r"#[1-9][0-9]{1,3}|#x[0-9a-f]{2,4}|quot|apos|amp|nbsp|[lr][sd]quo|[mn]dash|hellip"
_DEBRIS = re.compile(rf"(?<![\w&#])({_LOST}|lt|gt);", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:[a-z]{2,8}|#[0-9]{2,6}|#x[0-9a-f]{2,5});", re.IGNORECASE)

# By what a text shows that it has HTML: not by "lt;" and "gt;" alone, which may be names in a program. Three
# patterns, since one that begins in several ways is looked for ten times as long.
_SHOWN_TAG = re.compile(rf"<(?:/{_ELEMENT}\s*|(?:br|hr)\s*/?|p|{_ELEMENT}\s[^<>]*=[^<>]*)>", re.IGNORECASE)
_SHOWN_ENTITY = re.compile(
    r"&(?:amp|lt|gt|quot|apos|nbsp|[lr][sd]quo|[mn]dash|hellip|#[0-9]{2,5}|#x[0-9a-f]{2,4});", re.IGNORECASE
)
_SHOWN_DEBRIS = re.compile(rf"(?<![\w&#])(?:{_LOST});", re.IGNORECASE)
_DEBRIS_NAMES = ("#", "quot;", "apos;", "amp;", "nbsp;", "quo;", "dash;", "hellip;")


def has_markup(text: str) -> bool:
    """Whether a text shows that it has HTML.

    >>> [has_markup(text) for text in ("<b>red</b>", "R&amp;D", "it #39;s")]
    [True, True, True]
    >>> [has_markup(text) for text in ("a < b && c > d;", "#include <stdio.h>", "return lt;")]
    [False, False, False]
    """
    if "<" in text and _SHOWN_TAG.search(text):
        return True
    if ";" not in text:
        return False
    if "&" in text and _SHOWN_ENTITY.search(text):
        return True
    return any(name in text for name in _DEBRIS_NAMES) and _SHOWN_DEBRIS.search(text) is not None


def without_markup(text: str) -> str:
    """A text without tags and what they hide, with characters in place of entities.

    Entities that lost their ampersand become characters, too. Tags that were written as entities are tags:
    they were text once, and are none to a reader. A tag leaves a space, so that words stay apart.

    >>> without_markup("<p>Oracle&#39;s <b>R&amp;D</b><script>var x = 1;</script></p>").split()
    ["Oracle's", 'R&D']
    >>> without_markup("Oracle #39;s  quot;offer quot; &lt;b&gt;now&lt;/b&gt; &lt;ORCL.O&gt;").split()
    ['Oracle', "'s", '"offer', '"', 'now', '<ORCL.O>']
    >>> without_markup("if a < b and c > d: vector<int> x;")
    'if a < b and c > d: vector<int> x;'
    """
    if "<" not in text and "&" not in text and ";" not in text:
        return text
    text = _without_tags(text)
    if ";" in text:
        before = text
        # Twice, since in some collections "&amp;quot;" stands for a quotation mark.
        for _ in range(2):
            if "&" in text and _ENTITY.search(text):
                text = unescape(text)
        if any(name in text for name in (*_DEBRIS_NAMES, "lt;", "gt;")):
            text = _DEBRIS.sub(_character, text)
        if text is not before:
            text = _without_tags(text)
    return text


def _character(match: re.Match[str]) -> str:
    return unescape(f"&{match[1].lower()};")


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    return _TAG.sub(" ", _HIDDEN.sub(" ", text))


def looked_at(texts: Iterable[object]) -> tuple[bool, Iterator[object]]:
    """Whether texts have HTML, by the first of them, and all of them again: they may be a stream.

    >>> found, texts = looked_at(iter(["<b>red</b>", "fish"]))
    >>> found, list(texts)
    (True, ['<b>red</b>', 'fish'])
    """
    waiting = iter(texts)
    first = list(islice(waiting, SAMPLE))
    n_found = sum(isinstance(text, str) and has_markup(text) for text in first)
    return n_found > 0 and n_found >= ENOUGH * len(first), chain(first, waiting)
