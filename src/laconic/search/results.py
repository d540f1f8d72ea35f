"""What a search gives back: the documents found, and why one of them was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from laconic.display import explanation_html, results_html, snippet_html

SMALL_SHARE = 0.01
"""Topics with a smaller share of a score are not printed."""

SMALL_SUM = 0.25
"""Where topics for and against leave less of their sizes than this, shares would exceed all measure."""


@dataclass(frozen=True)
class Snippet:
    """A piece of a document.

    Parameters
    ----------
    text : str
        In one line, with "…" where more of the document comes before or after.
    matches : tuple of (int, int)
        Where words of the query begin and end in it.
    """

    text: str
    matches: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return snippet_html(self)


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    Parameters
    ----------
    id : str
        Its id.
    score : float
        What it is ranked by.
    term_score, topic_score : float
        The parts of the score, before they are blended.
    snippet : Snippet or None
        A piece of it with words of the query, if the index has the texts.
    label, date : str or None
        If known; the date in ISO 8601.
    vector_score : float or None
        The cosine of its vector with that of the query, if the index has vectors.
    """

    id: str
    score: float
    term_score: float
    topic_score: float
    snippet: Snippet | None = None
    label: str | None = None
    date: str | None = None
    vector_score: float | None = None


class Results(Sequence[Hit]):
    """The documents found for a query, best first.

    Parameters
    ----------
    hits : sequence of Hit
        In this order.
    """

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = tuple(hits)

    @property
    def ids(self) -> list[str]:
        """The ids of the documents."""
        return [hit.id for hit in self]

    @property
    def scores(self) -> list[float]:
        """What they are ranked by."""
        return [hit.score for hit in self]

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> Results: ...
    def __getitem__(self, place: int | slice) -> Hit | Results:
        return Results(self._hits[place]) if isinstance(place, slice) else self._hits[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Results) and self._hits == other._hits

    def __hash__(self) -> int:
        return hash(self._hits)

    def __repr__(self) -> str:
        lines = [f"{'score':>7} {'terms':>7} {'topics':>7}  document"]
        for hit in self:
            shown = f"{hit.id}: {hit.snippet}" if hit.snippet else hit.id
            lines.append(f"{hit.score:7.3f} {hit.term_score:7.3f} {hit.topic_score:7.3f}  {shown}")
        return "\n".join(lines) if self else "no document matches"

    def _repr_html_(self) -> str:
        return results_html(self)


@dataclass(frozen=True)
class TermMatch:
    """A word of the query that a document has.

    Parameters
    ----------
    term : str
        The word.
    contribution : float
        What it adds to the document's term score.
    share : float
        The same as a part of that score.
    """

    term: str
    contribution: float
    share: float


@dataclass(frozen=True)
class TopicMatch:
    """A topic that document and query have.

    Parameters
    ----------
    topic : int
        Its number.
    words : tuple of str
        Its heaviest words.
    contribution : float
        What it adds to the document's topic score; less than zero if it counts against it.
    share : float
        The same as a part of that score.
    name : str or None
        What it is called, if it has a name.
    """

    topic: int
    words: tuple[str, ...]
    contribution: float
    share: float
    name: str | None = None

    @property
    def title(self) -> str:
        """Its number, and its name behind it."""
        return f"topic {self.topic}" if self.name is None else f"topic {self.topic} {self.name}"


@dataclass(frozen=True)
class Explanation:
    """Why a document has its score for a query.

    Parameters
    ----------
    id : str
        The document.
    score : float
        ``blend * topic_score + (1 - blend) * term_score / term_unit``; with vectors, that times
        ``1 - vector_blend``, and ``vector_blend * vector_score``.
    term_score, topic_score : float
        The parts of the score: the contributions of `terms` add up to the first, those of `topics` to the
        second.
    blend : float
        The part of topics.
    term_unit : float
        What the term score is divided by.
    terms : tuple of TermMatch
        Matching words, the largest contribution first.
    topics : tuple of TopicMatch
        Matching topics, the largest contribution (for or against) first.
    vector_score : float or None
        The cosine of the vectors of document and query, if the index has vectors.
    vector_blend : float
        Their part.
    """

    id: str
    score: float
    term_score: float
    topic_score: float
    blend: float
    term_unit: float
    terms: tuple[TermMatch, ...]
    topics: tuple[TopicMatch, ...]
    vector_score: float | None = None
    vector_blend: float = 0.0

    def __str__(self) -> str:
        divided = f" / {self.term_unit:.4f}" if self.term_unit != 1 else ""
        both = (
            f"{self.blend:g} x topics {self.topic_score:.4f} "
            f"+ {1 - self.blend:g} x terms {self.term_score:.4f}{divided}"
        )
        if self.vector_score is not None:
            part = self.vector_blend
            both = f"{part:g} x vectors {self.vector_score:.4f} + {1 - part:g} x ({both})"
        lines = [f"{self.id}: {self.score:.4f} = {both}"]
        lines += [f"  term {m.term}: {m.contribution:.4f} ({m.share:.0%})" for m in self.terms]
        return "\n".join(lines + self._topic_lines())

    def _repr_html_(self) -> str:
        return explanation_html(self)

    def _topic_lines(self) -> list[str]:
        """The topics that count, with their shares unless they cancel each other out."""
        sizes = sum(abs(m.contribution) for m in self.topics)
        whole = abs(sum(m.contribution for m in self.topics))
        cancel = whole < SMALL_SUM * sizes
        return [
            f"  {m.title}: {m.contribution:.4f}{'' if cancel else f' ({m.share:.0%})'}: {', '.join(m.words)}"
            for m in self.topics
            if abs(m.contribution) >= SMALL_SHARE * (sizes if cancel else whole)
        ]
