"""What formats give: rows, unchecked; and the errors that they have in common."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from laconic.errors import CorpusError, Parameter

# The number of the row in its source, its text (or a tuple of texts), label, id and date. A plain tuple,
# since there is one for every document.
Row: TypeAlias = tuple[int, object, object, object, object]


class MissingColumnError(CorpusError):
    """A column that is not there: where all rows lack it, to leave such rows out is no advice."""


class Joined(tuple[str, ...]):
    """Columns whose texts are one text of a document, where a plain tuple has a text for each modality."""


class Columns(NamedTuple):
    """Where text, label, id and date stand; all but the text may be absent. There may be several texts.

    Others may be kept: their values are taken along as they are.
    """

    text: str | tuple[str, ...]
    label: str | None
    id: str | None
    date: str | None = None
    kept: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[str | None, str | None, str | None]:
        """The columns of label, id and date."""
        return self.label, self.id, self.date

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns of texts, and those that are kept: of several, a row gives a tuple."""
        return (*self.texts, *self.kept)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of texts."""
        return (self.text,) if isinstance(self.text, str) else self.text

    @property
    def named(self) -> list[str]:
        """Those that are not absent, each of them once."""
        names = (*self.taken, *self.facts)
        return list(dict.fromkeys(name for name in names if name is not None))

    def missing(self, column: str, there_are: Sequence[str]) -> MissingColumnError:
        """The error about a column that is not there: which there are, and which parameter names it."""
        there_are = list(map(str, there_are))
        shown = ", ".join(map(repr, there_are[:20])) + (", ..." if len(there_are) > 20 else "")
        parameter = "text" if isinstance(self.text, str | Joined) else "texts"
        if column in self.kept and column not in (*self.texts, *self.facts):
            parameter = "keep"
        elif column not in self.texts:
            others = {"label": self.label, "id": self.id, "date": self.date}
            parameter = next(name for name, named in others.items() if named == column)
        by_lower = {name.lower(): name for name in there_are}
        near = difflib.get_close_matches(column.lower(), by_lower, 1)
        meant: list[object] = []
        if near:
            meant = [" did you mean ", Parameter(parameter, by_lower[near[0]]), "?"]
        return MissingColumnError(
            f"no column {column!r};",
            *meant,
            f" there are: {shown or 'none'} (",
            Parameter(parameter),
            " says which)",
        )
