"""What is shown of documents that were found: a piece with words of the query, the label, the date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from laconic.corpus.vectorizer import Vectorizer
from laconic.search.results import Hit, Results, Snippet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from laconic.bundle import Documents
    from laconic.search.blend import Ranked

SNIPPET_WIDTH = 160
"""About how many characters of a document are shown."""

# No snippet is looked for beyond this many characters.
_FARTHEST = 100_000


def shown(
    ranked: Ranked,
    documents: Documents,
    vectorizer: Vectorizer,
    words: NDArray[np.int64],
    cosines: NDArray[np.float32] | None = None,
) -> Results:
    """The documents of a ranking with their scores, pieces with words of the query, labels and dates.

    Parameters
    ----------
    ranked : Ranked
        The numbers of the documents that were found, and their scores.
    documents : Documents
        All that were searched.
    vectorizer : Vectorizer
        Says which words are which terms.
    words : ndarray of int
        The terms of the query, as columns of the vocabulary.
    cosines : ndarray of float32, optional
        Of the vectors of the documents that were found, if these were compared.
    """
    ids, texts, hits = documents.ids, documents.texts, []
    near = [None] * len(ranked.documents) if cosines is None else cosines.tolist()
    for (document, score, term, topic), cosine in zip(
        zip(*(part.tolist() for part in ranked), strict=True), near, strict=True
    ):
        snippet = None if texts is None else make_snippet(texts[document], vectorizer, words)
        facts = _label_and_date(documents, document)
        hits.append(Hit(str(ids[document]), score, term, topic, snippet, *facts, cosine))
    return Results(hits)


def _label_and_date(documents: Documents, document: int) -> tuple[str | None, str | None]:
    """Those of a document, where they are known."""
    labels, dates = documents.labels, documents.dates
    date = None if dates is None or np.isnat(dates[document]) else str(dates[document])
    if date is not None:
        # a day without a time
        date = date.removesuffix("T00:00:00")
    return None if labels is None else str(labels[document]), date


def make_snippet(
    text: str, vectorizer: Vectorizer, terms: NDArray[np.int64], width: int = SNIPPET_WIDTH
) -> Snippet:
    """Cut out the piece of a text that has most of a query's words.

    Parameters
    ----------
    text : str
        A document.
    vectorizer : Vectorizer
        Says which words are which terms.
    terms : ndarray of int
        The terms of the query, as columns of the vocabulary.
    width : int
        About how many characters.

    Returns
    -------
    Snippet
        The beginning of the text if it has none of the words.

    Examples
    --------
    >>> vectorizer = Vectorizer(min_df=1, max_df=1.0)
    >>> _ = vectorizer.fit_count(["red fish", "a bird"])
    >>> make_snippet("There is a red, RED fish.", vectorizer, np.array([2]))
    Snippet(text='There is a red, RED fish.', matches=((11, 14), (16, 19)))
    """
    flat = _in_one_line(vectorizer.plain(text[:_FARTHEST]))
    found = vectorizer.find(flat, terms.tolist())
    first, last = _best_match(found, width)
    # Some words before the first match, whole ones, and none that the end of the text would leave room for.
    start = max(0, min(first - width // 5, len(flat) - width))
    if start:
        space = flat.find(" ", start, first)
        start = first if space < 0 else space + 1
    stop = min(start + width, len(flat))
    if stop < len(flat):
        space = flat.rfind(" ", max(start + 1, last), stop)
        stop = stop if space < 0 else space
    before, after = "… " if start else "", " …" if stop < len(flat) or len(text) > _FARTHEST else ""
    shift = len(before) - start
    inside = [(begin + shift, end + shift) for begin, end, _ in found if start <= begin and end <= stop]
    return Snippet(before + flat[start:stop] + after, tuple(inside))


def _in_one_line(text: str) -> str:
    """A text whose words have single spaces between them."""
    # Of all white space only a plain space can be printed: most texts need not be taken apart.
    line = text.replace("\n", " ").strip(" ")
    return line if line.isprintable() and "  " not in line else " ".join(text.split())


def _best_match(found: Sequence[tuple[int, int, int]], width: int) -> tuple[int, int]:
    """The first match of a piece that has as many different terms as any other, and then as many words."""
    best, match = (0, 0), (0, 0)
    last = 0
    inside: dict[int, int] = {}
    for first, (start, stop, term) in enumerate(found):
        while last < len(found) and found[last][1] <= start + width - width // 5:
            new = found[last][2]
            inside[new] = inside.get(new, 0) + 1
            last += 1
        worth = len(inside), last - first
        if worth > best:
            best, match = worth, (start, stop)
        if last > first:
            inside[term] -= 1
            if not inside[term]:
                del inside[term]
        else:
            last = first + 1
    return match
