"""How a vectoriser is described in a saved directory, for a whole and for a light reading of it."""

from __future__ import annotations

from laconic.storage.lines import read_lines
from laconic.storage.manifest import Json
from laconic.storage.reading import StoredDirectory

ALWAYS = frozenset({"settings", "vocabulary", "idf"})
SOMETIMES = frozenset({"mean_length", "forms"})


def described_vectorizer(stored: StoredDirectory, described: Json) -> tuple[dict[str, Json], list[str]]:
    """The parts of a vectoriser's description, all there and no others, and its vocabulary."""
    if not isinstance(described, dict) or described.keys() - SOMETIMES != ALWAYS:
        raise stored.error("has no valid 'vectorizer'")
    return described, read_lines(described["vocabulary"], "a vocabulary", stored)
