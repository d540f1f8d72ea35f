"""Where things are in the explorer."""

from __future__ import annotations

from urllib.parse import urlencode


class ExplorerLinks:
    """Addresses of pages. Ids, words and labels are values of a query, so that they may be any text."""

    def topic(self, id: int) -> str:
        """A topic's page."""
        return f"/topics/{id}"

    def word(self, term: str, modality: str = "") -> str:
        """A word's page."""
        return "/word?" + urlencode({"term": term, **({"modality": modality} if modality else {})})

    def document(self, id: str) -> str:
        """A document's page."""
        return "/document?" + urlencode({"id": id})

    def label(self, name: str) -> str:
        """A class's page."""
        return "/class?" + urlencode({"name": name})

    def compare(self, first: int, second: int) -> str:
        """Two topics side by side."""
        return f"/compare?first={first}&second={second}"
