"""What a page asks to have changed, in the words of `laconic.steering.edits`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from laconic.errors import BundleError, ParameterError
from laconic.steering import edits

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.storage.manifest import Json

_KINDS = ("rename", "merge", "split", "seed", "drop", "forbid", "freeze", "thaw")

_ONE_TOPIC = ("rename", "split")
_AT_ONCE = ("rename", "freeze", "thaw")


@dataclass(frozen=True)
class Change:
    """What somebody wants changed.

    Attributes
    ----------
    kind : {"rename", "merge", "split", "seed", "drop", "forbid", "freeze", "thaw"}
    topics : tuple of int
        Which topics it is about; words may be forbidden to one of them, or without any to all.
    words : tuple of str
        Of a seed, or forbidden.
    name : str
        Of a topic that is renamed or seeded; empty for none.
    """

    kind: str
    topics: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    name: str = ""

    def stored(self) -> dict[str, Json]:
        """As it is kept on disk while its refit goes on."""
        return {name: list(part) if isinstance(part, tuple) else part for name, part in asdict(self).items()}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self:
        """What was stored, checked."""
        parts: list[Any] = [stored.get(part) for part in ("kind", "topics", "words", "name")]
        kind, topics, words, name = parts
        fits = (
            kind in _KINDS
            and isinstance(name, str)
            and isinstance(topics, list)
            and all(type(topic) is int for topic in topics)
            and isinstance(words, list)
            and all(isinstance(word, str) for word in words)
        )
        if not fits:
            raise BundleError("what was to be changed cannot be read: discard it, and ask again")
        return cls(kind, tuple(topics), tuple(words), name)

    @property
    def at_once(self) -> bool:
        """Whether no topic has to be found anew."""
        return self.kind in _AT_ONCE

    def __str__(self) -> str:
        """The change as `laconic edit` takes it."""
        return " ".join([self.kind, *map(str, self.topics), *self.words, *([self.name] if self.name else [])])

    def drafted(self, bundle: Bundle) -> edits.Draft:
        """The draft of a bundle in which this is done.

        Raises
        ------
        ParameterError
            If it cannot be done to this model; the message says why.
        """
        draft = edits.draft_of(bundle)
        if self.kind in _ONE_TOPIC and len(self.topics) != 1:
            raise ParameterError(f"name one topic to {self.kind}")
        if self.kind in ("forbid", "seed") and len(self.topics) > 1:
            raise ParameterError(f"name one topic to {self.kind} words, or none")
        topic = self.topics[0] if self.topics else None
        if self.kind == "rename":
            return edits.rename(draft, self.topics[0], self.name or None)
        if self.kind == "split":
            return edits.split(draft, self.topics[0])
        if self.kind == "forbid":
            return edits.forbid(draft, self.words, topic)
        if self.kind == "seed":
            return edits.seed(draft, self.words, topic, self.name or None)
        several = {"merge": edits.merge, "drop": edits.drop, "freeze": edits.freeze, "thaw": edits.thaw}
        return several[self.kind](draft, *self.topics)
