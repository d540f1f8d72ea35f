"""What a part has found so far, kept beside the results until the part is finished."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from laconic.experiments.parts import Say, plain
from laconic.experiments.provenance import commit
from laconic.storage.files import appearing


class Seconds(NamedTuple):
    """How long something took."""

    wall: float
    cpu: float


class Keeper:
    """A `parts.Desk` that keeps pieces in a file: an interrupted part goes on where it was.

    Parameters
    ----------
    path : pathlib.Path
        Where pieces are kept, with the time they took and the commit of the code that made them.
    say : callable
        Told what is being done.
    """

    def __init__(self, path: Path, say: Say) -> None:
        self.path, self.say = path, say
        self.pieces: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.found_before: list[str] = []

    def __call__(self, message: str) -> None:
        """Say what is being done now."""
        self.say(message)

    def keep(self, key: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """What is kept under a key; computed, and kept, if nothing is."""
        if key in self.pieces:
            self.found_before.append(key)
            return self.pieces[key]["found"]
        self.say(key)
        began, worked = time.perf_counter(), time.process_time()
        found = plain(compute(*arguments))
        seconds = time.perf_counter() - began, time.process_time() - worked
        self.pieces[key] = {"commit": commit(), "seconds": seconds, "found": found}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with appearing(self.path) as fresh:
            fresh.write_text(json.dumps(self.pieces), encoding="utf-8")
        return found

    @property
    def seconds_before(self) -> Seconds:
        """How long the pieces took that were there already."""
        taken = [self.pieces[key]["seconds"] for key in dict.fromkeys(self.found_before)]
        return Seconds(*(sum(times) for times in zip(*taken, strict=True))) if taken else Seconds(0, 0)

    def commits(self) -> list[str]:
        """Of the code that made the pieces that were there already."""
        return list(dict.fromkeys(self.pieces[key]["commit"] for key in self.found_before))

    def clear(self) -> None:
        """Forget all pieces."""
        self.path.unlink(missing_ok=True)
        self.pieces, self.found_before = {}, []
