"""Where results are kept: a JSON file for each contender on each collection, for each protocol."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import laconic
from laconic.datasets.folders import cache_folder


def default_folder() -> Path:
    """In the user's cache, so that results outlast a checkout."""
    return cache_folder() / "benchmarks" / "peers"


def source_state() -> str:
    """What changes when laconic's source does, so that rows of an older state are known for what they are."""
    digest = hashlib.sha256()
    for file in sorted(Path(laconic.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Store:
    """A folder of results.

    A result has ``runs``, or it says in words why there are none: ``missing`` if something is not installed,
    ``failed`` if something went wrong.
    """

    folder: Path

    def path(self, protocol: str, collection: str, contender: str) -> Path:
        """The file of a result."""
        return self.folder / protocol / collection / f"{contender}.json"

    def vectors(self, collection: str) -> Path:
        """The file of the vectors of a collection's texts."""
        return self.folder / "vectors" / f"{collection}.npz"

    def read(self, protocol: str, collection: str, contender: str) -> dict[str, Any] | None:
        """A result, or None."""
        path = self.path(protocol, collection, contender)
        return json.loads(path.read_text()) if path.exists() else None

    def write(self, protocol: str, collection: str, contender: str, result: dict[str, Any]) -> None:
        """Keep a result in place of an older one."""
        path = self.path(protocol, collection, contender)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".new")
        whole.write_text(json.dumps(result, indent=1) + "\n")
        whole.replace(path)
