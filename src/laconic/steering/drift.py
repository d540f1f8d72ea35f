"""Topics by period: how the words of each topic change over time, while its number and name stay."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from laconic.bundle.documents import documents_by_largest, shares_of
from laconic.bundle.updating import with_every_word
from laconic.checks import check_number
from laconic.corpus.periods import cut
from laconic.display.topics import heaviest
from laconic.errors import Parameter, ParameterError
from laconic.steering.anchors import STRENGTH
from laconic.steering.edits import Draft, draft_of, obstacle
from laconic.steering.inputs import FitInputs
from laconic.steering.refitting import found_anew

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.steering.refits import Tell

N_TERMS = 8


@dataclass(frozen=True)
class Moment:
    """A topic in one period.

    Parameters
    ----------
    period : str
    documents : int
        How many documents have it as their largest topic.
    share : float
        Its part of the weights of the period's documents, of which only positive ones count.
    words : tuple of (str, float)
        The heaviest, with their weights; negative ones count against the topic.
    gained, lost : tuple of str
        Words that are among the heaviest now but were not in the previous period, and vice versa. A minus
        marks words that count against the topic.
    cosine : float or None
        Between its words now and in the previous period; None in the first.
    """

    period: str
    documents: int
    share: float
    words: tuple[tuple[str, float], ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    cosine: float | None


@dataclass(frozen=True)
class Course:
    """A topic over all periods.

    Parameters
    ----------
    topic : int
        Its number in the model.
    name : str or None
    moved : float
        How far its words are from those it began with: one minus the cosine of the last period and the first.
    moments : tuple of Moment
        One for each period.
    """

    topic: int
    name: str | None
    moved: float
    moments: tuple[Moment, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class Drift:
    """All topics over all periods.

    Parameters
    ----------
    by : str
        How long periods are.
    strength : float
        How strongly topics were held where they were in the period before.
    periods : tuple of str
        In order; "1987 to 1989" joins years with too few documents of their own.
    documents : tuple of int
        How many documents each period has.
    left_out : int
        How many documents have no date, or no words.
    topics : tuple of Course
        By number; topics without words are left out.
    """

    by: str
    strength: float
    periods: tuple[str, ...]
    documents: tuple[int, ...]
    left_out: int
    topics: tuple[Course, ...]

    def most_moved(self, n: int | None = None) -> list[Course]:
        """The topics that moved most, or all of them in that order."""
        return sorted(self.topics, key=lambda course: -course.moved)[:n]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as values that JSON can hold."""
        return asdict(self)


def drift(
    bundle: Bundle,
    *,
    by: str = "year",
    strength: float = STRENGTH,
    n_terms: int = N_TERMS,
    tell: Tell | None = None,
) -> Drift:
    """Follow the topics of a model through time.

    The documents are divided into periods by date. From the first period to the last, the model is fitted
    to the documents of the period alone. Each fit starts from the topics of the previous period (the first
    from those of the model), and every topic is held there. So a topic keeps its number while its words
    follow the documents.

    Parameters
    ----------
    bundle : Bundle
        With documents that have dates; it is not changed. Frozen topics stay frozen, and forbidden words
        stay forbidden.
    by : {"decade", "year", "quarter", "month", "day"}, default="year"
        The length of a period. One that has fewer documents than there are topics is joined with the next,
        the last with the one before. Documents without a date, or without words, are left out.
    strength : float, default=0.05
        How strongly topics are held near where they were, as in `Anchors`. With more, they move less; with
        less, topics may change places; with 0, only the start connects them.
    n_terms : int, default=8
        How many words of a topic to list and compare.
    tell : callable, optional
        Called with the fraction of the work that is done, from 0 to 1.

    Returns
    -------
    Drift

    Raises
    ------
    ParameterError
        If there are no documents, no dates, or only one period, or if topics of the model cannot be held.

    Examples
    --------
    >>> import laconic
    >>> texts = ["phone cable", "cable phone", "salt pepper", "pepper salt"] * 2
    >>> texts += ["phone screen", "screen phone", "salt pepper", "pepper salt"] * 2
    >>> bundle = laconic.fit(texts, n_topics=2, dates=["1995"] * 8 + ["2015"] * 8)
    >>> found = bundle.drift(n_terms=2)
    >>> [(moment.period, moment.gained, moment.lost) for moment in found.most_moved(1)[0].moments]
    [('1995', (), ()), ('2015', ('screen',), ('cable',))]
    """
    check_number("strength", strength, Real, 0)
    check_number("n_terms", n_terms, Integral, 1)
    corpus, draft = _corpus(bundle), _begun(bundle)
    living = np.flatnonzero(np.diff(draft.rows.indptr))
    periods, left_out = _periods(corpus, by, max(len(living), 1))
    X = bundle.model.rows(corpus.counts, lambda counts: corpus.X)
    seen: list[_Seen] = []
    rows = draft.rows
    for number, chosen in enumerate(periods.values()):
        one = _fitted(replace(draft, rows=rows), X, chosen, float(strength))
        seen.append(one)
        rows = _carried(one.rows, rows)
        if tell is not None:
            tell((number + 1) / len(periods))
    courses = tuple(
        _course(bundle, int(topic), place, tuple(periods), seen, int(n_terms))
        for place, topic in enumerate(living)
    )
    sizes = tuple(len(chosen) for chosen in periods.values())
    return Drift(by, float(strength), tuple(periods), sizes, left_out, courses)


@dataclass(frozen=True)
class _Seen:
    """A period: all rows of topics, and what its documents say of those that have words."""

    rows: csr_array
    documents: list[int]
    shares: list[float]


def _corpus(bundle: Bundle) -> Any:
    """The documents; refused are those that cannot be followed."""
    why, traits = obstacle(bundle), bundle.model.traits
    if why is None and (traits.modalities or traits.links):
        coupled = "several modalities" if traits.modalities else "documents that are linked across periods"
        why = f"topics of {type(bundle.model).__name__} are found in {coupled}"
    elif why is None and traits.classes:
        why = f"topics of {type(bundle.model).__name__} belong to classes, which a period may lack"
    if why is not None:
        raise ParameterError(f"{why}: they cannot be followed through time")
    if bundle.documents is None:
        raise ParameterError(
            "this model was saved without its documents, so its topics cannot be followed through time: keep "
            "them when you fit"
        )
    corpus = bundle.documents.corpus()
    if corpus.dates is None or np.isnat(corpus.dates).all():
        raise ParameterError(
            "the documents have no dates, so topics cannot be followed through time: fit the model with ",
            Parameter("dates"),
        )
    return corpus


def _begun(bundle: Bundle) -> Draft:
    """A draft in which every topic may follow the documents but those that are frozen."""
    draft = draft_of(bundle)
    moving = frozenset(bundle.notes.living) - bundle.notes.frozen
    return replace(draft, free=moving, held=moving)


def _periods(corpus: Any, by: str, least: int) -> tuple[dict[str, NDArray[np.int64]], int]:
    """The numbers of documents of each period by its name, and how many are of none."""
    found = cut(corpus.dates, by)
    usable = (found.numbers >= 0) & (np.diff(corpus.counts.indptr) > 0)
    periods = {}
    for first, last in _joined(found.numbers[usable], least):
        name = found.name(first) if first == last else f"{found.name(first)} to {found.name(last)}"
        periods[name] = np.flatnonzero(usable & (found.numbers >= first) & (found.numbers <= last))
    if len(periods) < 2:
        raise ParameterError(
            f"there is only one period ({', '.join(periods)}): a period needs as many documents as there are "
            f"topics, {least}. Choose another ",
            Parameter("by"),
        )
    return periods, int(np.count_nonzero(~usable))


def _joined(numbers: NDArray[np.int64], least: int) -> list[tuple[int, int]]:
    """From which period to which there are documents enough.

    >>> _joined(np.array([0, 0, 1, 3, 3, 5]), 2)
    [(0, 0), (1, 5)]
    """
    groups: list[tuple[int, int]] = []
    first, held = None, 0
    for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
        first, held = (int(number) if first is None else first), held + int(count)
        if held >= least:
            groups.append((first, int(number)))
            first, held = None, 0
    if first is not None:
        begin = groups.pop()[0] if groups else first
        groups.append((begin, int(numbers.max())))
    return groups


def _fitted(draft: Draft, X: Any, chosen: NDArray[np.int64], strength: float) -> _Seen:
    """The model of one period."""
    model, own = draft.bundle.model, X[chosen]
    settings = {}
    if model.topic_penalty is not None:
        # the loss is a sum over documents, so that fewer of them bear a smaller penalty
        settings["alpha_topics"] = model.topic_penalty * len(chosen) / X.shape[0]
    again, rows = found_anew(
        draft,
        FitInputs(own),
        strength=strength,
        begin=lambda targets: with_every_word(model, targets, own),
        **settings,
    )
    weights = again.fit_weights()
    weights = again.weights_of(own) if weights is None else weights
    return _Seen(rows, documents_by_largest(weights).tolist(), shares_of(weights).tolist())


def _carried(rows: csr_array, before: csr_array) -> csr_array:
    """The topics to go on with: one that found no words in a period waits with those it had."""
    gone = (np.diff(rows.indptr) == 0).astype(rows.dtype)
    return csr_array(rows + diags_array(gone) @ before)


def _course(
    bundle: Bundle, topic: int, place: int, periods: tuple[str, ...], seen: list[_Seen], n_terms: int
) -> Course:
    """What became of a topic, which is the one at this place of those that have words."""
    names = bundle.vocabulary if bundle.vectorizer is None else bundle.vectorizer.shown
    rows = [one.rows[[topic]] for one in seen]
    words = [tuple(heaviest(row, names, n_terms)) for row in rows]
    moments = []
    for number, (period, one) in enumerate(zip(periods, seen, strict=True)):
        now, before = _signed(words[number]), _signed(words[max(number - 1, 0)])
        moments.append(
            Moment(
                period,
                one.documents[place],
                one.shares[place],
                words[number],
                gained=tuple(word for word in now if word not in before),
                lost=tuple(word for word in before if word not in now),
                cosine=_cosine(rows[number], rows[number - 1]) if number else None,
            )
        )
    moved = 1 - _cosine(rows[0], rows[-1])
    return Course(topic, bundle.names[topic], moved, tuple(moments))


def _signed(words: tuple[tuple[str, float], ...]) -> list[str]:
    return [f"-{word}" if weight < 0 else word for word, weight in words]


def _cosine(one: csr_array, other: csr_array) -> float:
    """Of two rows; 0 if one of them has no words."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    lengths = float(np.sqrt((a.data**2).sum() * (b.data**2).sum()))
    return min(float(a.multiply(b).sum()) / lengths, 1.0) if lengths else 0.0
