"""What formats give: rows, unchecked; and the errors that they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from laconic.errors import CorpusError, Parameter

# The number of the row in its source, its text (or a tuple of texts), label and id. A plain tuple, since
# there is one for every document.
Row: TypeAlias = tuple[int, object, object, object]


class Columns(NamedTuple):
    """Where text, label and id stand; label and id may be absent, and there may be several texts."""

    text: str | tuple[str, ...]
    label: str | None
    id: str | None

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of texts: of several, a row gives a tuple."""
        return (self.text,) if isinstance(self.text, str) else self.text

    @property
    def named(self) -> list[str]:
        """Those that are not absent, each of them once."""
        return list(dict.fromkeys(name for name in (*self.texts, self.label, self.id) if name is not None))

    def missing(self, column: str, there_are: Sequence[str]) -> CorpusError:
        """The error about a column that is not there: which there are, and which parameter names it."""
        shown = ", ".join(map(repr, there_are[:20])) + (", ..." if len(there_are) > 20 else "")
        parameter = "text" if isinstance(self.text, str) else "texts"
        if column not in self.texts:
            parameter = "label" if column == self.label else "id"
        return CorpusError(
            f"no column {column!r}; there are: {shown or 'none'} (", Parameter(parameter), " says which)"
        )
