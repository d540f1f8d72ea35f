"""The model that is looked at: the same for all tabs, and replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from laconic.bundle import load
from laconic.explore import views

if TYPE_CHECKING:
    from laconic.bundle import Bundle

DOCUMENT = "model.json"


@dataclass(frozen=True)
class Seen:
    """A model as it was at some time: what a page was made of."""

    bundle: Bundle
    version: str


class Explored:
    """A saved model that is looked at; others may change its directory, and then it is read again.

    Parameters
    ----------
    path : Path
        Its directory: the only one that is ever touched.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = Lock()
        self._stamp = self._stat()
        self._seen = self._read()

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.path.absolute().name

    def warm(self) -> None:
        """Find beforehand, in a thread, what first pages would wait for."""

        def find(bundle: Bundle) -> None:
            views.overview(bundle, n=1)
            views.topic_map(bundle, most=1)
            views.nearest_pairs(bundle, n=1)
            if bundle.documents is not None and not bundle.modalities and bundle.vectorizer is not None:
                views.search(bundle, str(bundle.vectorizer.vocabulary[0]), k=1)

        Thread(target=find, args=(self._seen.bundle,), daemon=True, name="warm").start()

    def now(self) -> Seen:
        """The model as it is now."""
        if self._stat() != self._stamp:
            with self.lock:
                stamp = self._stat()
                if stamp != self._stamp:
                    self._seen, self._stamp = self._read(), stamp
        return self._seen

    def _stat(self) -> tuple[int, int, int]:
        found = (self.path / DOCUMENT).stat()
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _read(self) -> Seen:
        bundle = load(self.path)
        assert bundle.version is not None
        return Seen(bundle, bundle.version)
