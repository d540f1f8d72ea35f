"""Modules of others that are imported when they are first used: for commands that hardly ever need them.

scikit-learn imports scipy.stats, and pandas where it is installed, for a few functions that neither a fit nor
a search calls. Both together take longer to import than the rest of scikit-learn.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

RARELY_USED = frozenset({"pandas", "scipy.stats"})


class _Postponing:
    """Finds modules as usual, and lets them be read at the first use of what they have."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module is, if it is one of those; where the others are, is for other finders to say."""
        if name not in RARELY_USED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone() -> None:
    """Let modules that are rarely used wait, in a process that is all laconic's own.

    Not for servers: before Python 3.12, two threads must not be the first to use such a module at once.
    """
    if not any(isinstance(finder, _Postponing) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Postponing())
