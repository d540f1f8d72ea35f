"""What is known about topics besides their words: what people call them, and whether they come back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from laconic.errors import ParameterError
from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory

LONGEST_NAME = 100
"""How many characters a name may have."""

# What would end a line, or turn the order of letters around, wherever a name is shown.
_UNFIT = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Returns:
    """In how many refits topics came back.

    Parameters
    ----------
    shares : tuple of float or None
        One for each topic, from 0 to 1; None for a topic that has changed since.
    n_refits : int
        Of how many refits.
    """

    shares: tuple[float | None, ...]
    n_refits: int


@dataclass(frozen=True)
class Notes:
    """What is known about the topics of a model, by their numbers.

    Parameters
    ----------
    names : tuple of str or None
        One for each topic.
    returns : Returns, optional
        In how many refits each topic came back, where that was measured.
    retired : mapping of int to str
        Topics that edits have taken away, and why; their numbers are not used again.
    frozen : frozenset of int
        Topics whose words edits leave alone.
    forbidden : tuple of (int or None, str)
        Words that a topic, or none at all (None), may have when topics are edited.

    Examples
    --------
    >>> notes = Notes.of(3).renamed(1, "tennis")
    >>> notes.names, notes.shown(1), notes.shown(2)
    ((None, 'tennis', None), '1 tennis', '2')
    """

    names: tuple[str | None, ...]
    returns: Returns | None = None
    retired: Mapping[int, str] = field(default_factory=dict)
    frozen: frozenset[int] = frozenset()
    forbidden: tuple[tuple[int | None, str], ...] = ()

    @classmethod
    def of(cls, n_topics: int, names: Iterable[str | None] | Mapping[int, str | None] | None = None) -> Self:
        """Notes about so many topics; names are one for each topic, or by their numbers.

        Raises
        ------
        ParameterError
            If a name is none that a topic can have, or the names are not one for each topic.
        """
        if names is None:
            return cls((None,) * n_topics)
        if isinstance(names, Mapping):
            wrong = [topic for topic in names if type(topic) is not int or not 0 <= topic < n_topics]
            if wrong:
                raise ParameterError(
                    f"there is a name for topic {wrong[0]!r}: topics are 0 to {n_topics - 1}"
                )
            names = [names.get(topic) for topic in range(n_topics)]
        given = [None if name is None else checked_name(name) for name in names]
        if len(given) != n_topics:
            raise ParameterError(f"give a name (or None) for each of {n_topics} topics, not {len(given)}")
        check_distinct(given)
        return cls(tuple(given))

    @property
    def named(self) -> bool:
        """Whether a topic has a name."""
        return any(name is not None for name in self.names)

    def number(self, name: str) -> int:
        """The number of the topic of a name, or of one that is written as a text."""
        if name in self.names:
            return self.names.index(name)
        if name.isascii() and name.isdecimal() and int(name) < len(self.names):
            return int(name)
        known = ", ".join(repr(one) for one in self.names if one is not None)
        raise ParameterError(
            f"there is no topic {quoted(name)}: ",
            f"topics are 0 to {len(self.names) - 1}" + (f", or {known}" if known else "; none has a name"),
        )

    def renamed(self, topic: int, name: str | None) -> Self:
        """The same with another name of one topic, or without."""
        kept = None if name is None else checked_name(name)
        if kept is not None and kept in self.names and self.names.index(kept) != topic:
            raise _taken(kept, self.names.index(kept), topic)
        names = [*self.names]
        names[topic] = kept
        return replace(self, names=tuple(names))

    def shown(self, topic: int, before: str = "") -> str:
        """A topic's number, with its name behind it."""
        name = self.names[topic]
        return f"{before}{topic}" if name is None else f"{before}{topic} {name}"

    def stored(self) -> dict[str, Json]:
        """As it stands in the document of a saved model."""
        names: dict[str, Json] = {str(k): name for k, name in enumerate(self.names) if name is not None}
        described: dict[str, Json] = {"names": names} if names else {}
        if self.returns is not None:
            described["returns"] = {
                "refits": self.returns.n_refits,
                "shares": [*self.returns.shares],
            }
        if self.retired:
            described["retired"] = {str(topic): why for topic, why in self.retired.items()}
        if self.frozen:
            described["frozen"] = [*sorted(self.frozen)]
        if self.forbidden:
            described["forbidden"] = [list(pair) for pair in self.forbidden]
        return described

    @property
    def living(self) -> list[int]:
        """The topics that were not taken away, by number."""
        return [topic for topic in range(len(self.names)) if topic not in self.retired]

    def check_living(self, topic: int) -> None:
        """Refuse a topic that was taken away."""
        if topic in self.retired:
            raise ParameterError(f"topic {topic} no longer exists: it was {self.retired[topic]}")


def restored_notes(stored: StoredDirectory, n_topics: int) -> Notes:
    """Read what `Notes.stored` gave to a saved model; everything is checked."""
    described = stored.document.get("topics", {})
    names = described.get("names", {}) if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(names, dict):
        raise stored.error("has no valid 'topics'")
    numbers = {str(topic): topic for topic in range(n_topics)}
    unknown = sorted(names.keys() - numbers.keys())
    if unknown:
        raise stored.error(f"has a name for topic {quoted(unknown[0])}, which is none of its {n_topics}")
    try:
        notes = Notes.of(n_topics, {numbers[key]: checked_name(name) for key, name in names.items()})
    except ParameterError as error:
        raise stored.error(f"has no valid names of topics ({error})") from error
    return replace(
        notes,
        returns=_restored_returns(described.get("returns"), stored, n_topics),
        **_restored_edits(described, stored, numbers),
    )


def _restored_edits(
    described: Mapping[str, Json], stored: StoredDirectory, numbers: Mapping[str, int]
) -> dict[str, Any]:
    """What edits have left: topics that are retired or frozen, words that are forbidden."""
    retired, frozen = described.get("retired", {}), described.get("frozen", [])
    forbidden = described.get("forbidden", [])
    known = range(len(numbers))
    fits = (
        isinstance(retired, dict)
        and all(key in numbers and isinstance(why, str) and len(why) <= 200 for key, why in retired.items())
        and isinstance(frozen, list)
        and all(type(topic) is int and topic in known for topic in frozen)
        and isinstance(forbidden, list)
        and all(
            isinstance(pair, list)
            and len(pair) == 2
            and (pair[0] is None or (type(pair[0]) is int and pair[0] in known))
            and isinstance(pair[1], str)
            for pair in forbidden
        )
    )
    if not fits:
        raise stored.error("has no valid notes of edited topics")
    return {
        "retired": {numbers[key]: why for key, why in retired.items()},  # type: ignore[union-attr]
        "frozen": frozenset(frozen),  # type: ignore[arg-type]
        "forbidden": tuple((pair[0], pair[1]) for pair in forbidden),  # type: ignore
    }


def _restored_returns(described: Json, stored: StoredDirectory, n_topics: int) -> Returns | None:
    if described is None:
        return None
    shares = described.get("shares") if isinstance(described, dict) else None
    n_refits = described.get("refits") if isinstance(described, dict) else None
    if not isinstance(shares, list) or len(shares) != n_topics or type(n_refits) is not int or n_refits < 1:
        raise stored.error(f"does not say for {n_topics} topics how often they return")
    for share in shares:
        if share is not None and (type(share) not in (int, float) or not 0 <= share <= 1):  # type: ignore[operator]
            raise stored.error(f"has a topic that returns in a share of {quoted(share)} refits")
    return Returns(tuple(shares), n_refits)  # type: ignore[arg-type]


def checked_name(name: object) -> str:
    r"""A name as it is kept: in the usual form of its letters, without white space around it.

    >>> checked_name(" tennis "), checked_name("e\u0301tudes")
    ('tennis', 'études')
    >>> checked_name("12")
    Traceback (most recent call last):
    laconic.errors.ParameterError: the name '12' could be mistaken for the number of a topic: add a word
    """
    if not isinstance(name, str):
        raise ParameterError(f"a name must be text, not {quoted(name)}")
    kept = unicodedata.normalize("NFC", name).strip()
    if not kept:
        raise ParameterError("the name is empty: give a name, or None to remove it")
    if len(kept) > LONGEST_NAME:
        raise ParameterError(f"the name has {len(kept)} characters, but at most {LONGEST_NAME} are allowed")
    if _UNFIT.search(kept) or any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in kept):
        raise ParameterError(f"the name {ascii(kept)[:60]} has a control character: leave it out")
    if kept.lstrip("+-").isdecimal():
        raise ParameterError(f"the name {kept!r} could be mistaken for the number of a topic: add a word")
    return kept


def check_distinct(names: Iterable[str | None]) -> None:
    """Refuse a name that two topics have.

    >>> check_distinct(["tennis", None, None, "tennis"])
    Traceback (most recent call last):
    laconic.errors.ParameterError: topic 0 already has the name 'tennis': choose another for topic 3
    """
    first: dict[str, int] = {}
    for topic, name in enumerate(names):
        if name is not None and first.setdefault(name, topic) != topic:
            raise _taken(name, first[name], topic)


def _taken(name: str, by: int, topic: int) -> ParameterError:
    return ParameterError(f"topic {by} already has the name {quoted(name)}: choose another for topic {topic}")
