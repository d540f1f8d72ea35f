"""Folding documents in: what is made once of topics that are fixed, and serves documents as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

from scipy.sparse import csr_array

from laconic.engines import Engine


class Explained(NamedTuple):
    """The weights of documents, the loss with them, and the loss of a model without topics."""

    weights: Any
    loss: float
    whole: float


class FoldIn(Protocol):
    """Topics as new documents need them: transposed, with their Gram matrix or what else a solver shares.

    Several threads may use one at once.
    """

    @property
    def sparse(self) -> bool:
        """Whether weights have exact zeros."""

    def weights(self, X: csr_array, engine: Engine) -> Any:
        """The weights of documents."""

    def explained(self, X: csr_array, engine: Engine) -> Explained:
        """The weights of documents, and how much the topics explain of these."""


class Recent:
    """Things by name, made when they are first asked for; of too many, those made first are let go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._things: dict[Hashable, Any] = {}

    def get(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of this name. Threads that ask at the same time may each make it: one is kept."""
        found = self._things.get(name)
        if found is None:
            found = make()
            with self._lock:
                self._things[name] = found
                while len(self._things) > self._most:
                    del self._things[next(iter(self._things))]
        return found
