"""Where results are kept: a JSON file for each contender on each collection, for each protocol.

Those files are large, and go with the machine. Their means are kept in one small file of the repository, so
that laconic's rows can be measured again without days of work for the peers.
"""

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


KEPT = Path(__file__).parents[2] / "results" / "peers.json"


FITS = ("corpus", "kernels", "engines", "losses", "models", "bundle")
"""The parts of laconic that a fit runs through."""


def source_state() -> str:
    """What changes when the source of fits does, so that rows of an older state are known as such."""
    digest = hashlib.sha256()
    package = Path(laconic.__file__).parent
    for file in sorted(file for part in FITS for file in (package / part).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Store:
    """A folder of results.

    A result has ``runs``, or ``means`` of runs that are no longer there, or it says in words why there are
    none: ``missing`` if something is not installed, ``failed`` if something went wrong.
    """

    folder: Path
    kept: Path | None = None

    def path(self, protocol: str, collection: str, contender: str) -> Path:
        """The file of a result."""
        return self.folder / protocol / collection / f"{contender}.json"

    def vectors(self, collection: str) -> Path:
        """The file of the vectors of a collection's texts."""
        return self.folder / "vectors" / f"{collection}.npz"

    def read(self, protocol: str, collection: str, contender: str) -> dict[str, Any] | None:
        """A result, or None: that of runs, or else the means of former ones, or else why there is none."""
        path = self.path(protocol, collection, contender)
        found = json.loads(path.read_text()) if path.exists() else None
        if found is not None and "runs" in found:
            return found
        former = self.means().get(f"{protocol}/{collection}/{contender}")
        # The last who tried tells why there is nothing, unless all that they tell is what they lack.
        if former is not None and ("means" in former or found is None or "missing" in found):
            return former
        return found

    def means(self) -> dict[str, Any]:
        """Results in few numbers, by protocol, collection and contender."""
        return json.loads(self.kept.read_text()) if self.kept is not None and self.kept.exists() else {}

    def keep(self, means: dict[str, Any]) -> None:
        """Keep them, one on a line."""
        if self.kept is not None:
            lines = [f"{json.dumps(name)}: {json.dumps(means[name])}" for name in sorted(means)]
            self.kept.write_text("{\n" + ",\n".join(lines) + "\n}\n")

    def write(self, protocol: str, collection: str, contender: str, result: dict[str, Any]) -> None:
        """Keep a result in place of an older one."""
        path = self.path(protocol, collection, contender)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".new")
        whole.write_text(json.dumps(result, indent=1) + "\n")
        whole.replace(path)
