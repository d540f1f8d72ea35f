"""Topics edited step by step: what `Bundle.edit` gives."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from laconic.steering import edits
from laconic.steering.refitting import KEEP, refitted

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.losses.loop import Callback

logger = logging.getLogger(__name__)


class Editing:
    """Steps that edit topics; `apply` makes a new bundle of them, with one refit.

    Topics are named by number or by name. Numbers never move: a topic that is dropped or merged into another
    leaves its number unused, and new topics come at the end.

    Parameters
    ----------
    bundle : Bundle
        Stays as it is.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.draft = edits.draft_of(bundle)

    def rename(self, topic: int | str, name: str | None) -> Self:
        """Name a topic; None removes the name."""
        self.draft = edits.rename(self.draft, topic, name)
        return self

    def merge(self, *topics: int | str) -> Self:
        """Merge topics into one, which keeps the number and name of the first."""
        self.draft = edits.merge(self.draft, *topics)
        return self

    def split(self, topic: int | str, into: int = edits.PARTS) -> Self:
        """Split a topic into several; the part most similar to it keeps the number."""
        self.draft = edits.split(self.draft, topic, into)
        return self

    def reduce(self, n: int) -> Self:
        """Merge the most similar topics until `n` are left; the heaviest keep their numbers and names."""
        self.draft = edits.reduce(self.draft, n)
        return self

    def drop(self, *topics: int | str) -> Self:
        """Remove topics."""
        self.draft = edits.drop(self.draft, *topics)
        return self

    def forbid(self, words: Iterable[str], topic: int | str | None = None) -> Self:
        """Keep words out of a topic, or out of all."""
        self.draft = edits.forbid(self.draft, words, topic)
        return self

    def seed(
        self,
        words: Iterable[str],
        topic: int | str | None = None,
        name: str | None = None,
        owner: str | None = None,
    ) -> Self:
        """Hold a topic at some words, or a new one after all others: of a class, or by default shared."""
        self.draft = edits.seed(self.draft, words, topic, name, owner)
        return self

    def freeze(self, *topics: int | str) -> Self:
        """Leave the words of topics alone from now on."""
        self.draft = edits.freeze(self.draft, *topics)
        return self

    def thaw(self, *topics: int | str) -> Self:
        """Let frozen topics be edited again."""
        self.draft = edits.thaw(self.draft, *topics)
        return self

    def apply(self, keep: str = KEEP[0], *, callback: Callback | None = None) -> Bundle:
        """Make a new bundle: edited topics are fitted again, starting from where they are.

        Parameters
        ----------
        keep : {"frozen", "anchored"}, default="frozen"
            Whether the other topics stay as they are, to the bit, or may adapt a little.
        callback : callable, optional
            As in the model's ``fit``.

        Returns
        -------
        Bundle
            With a line in its log; ``save(path, parent=bundle.version)`` keeps the previous version.
        """
        edited = refitted(self.draft, keep, callback=callback)
        for topic, name in self.draft.lost_names.items():
            logger.warning(
                "the name %r is gone: topic %d was %s", name, topic, self.draft.notes.retired[topic]
            )
        return edited
