"""The models, one file per family."""

import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.models.graph_plsa import GraphPLSA
    from laconic.models.multimodal import MultimodalPLSA
    from laconic.models.nmf import NMF, GroupNMF
    from laconic.models.plsa import PLSA
    from laconic.models.rlsi import RLSI, GroupRLSI
    from laconic.models.sparse_lsa import SparseLSA

HOMES = {
    "RLSI": "laconic.models.rlsi",
    "GroupRLSI": "laconic.models.rlsi",
    "NMF": "laconic.models.nmf",
    "GroupNMF": "laconic.models.nmf",
    "PLSA": "laconic.models.plsa",
    "GraphPLSA": "laconic.models.graph_plsa",
    "MultimodalPLSA": "laconic.models.multimodal",
    "SparseLSA": "laconic.models.sparse_lsa",
}
"""The module of every model."""

__all__ = [
    "MODELS",
    "NMF",
    "PLSA",
    "RLSI",
    "GraphPLSA",
    "GroupNMF",
    "GroupRLSI",
    "MultimodalPLSA",
    "SparseLSA",
]

__getattr__ = lazily(__name__, HOMES)


class Models(MutableMapping[str, type[Any]]):
    """Models by name; each is imported when it is first asked for, and the others are not."""

    def __init__(self) -> None:
        self._added: dict[str, type[Any]] = {}

    def __getitem__(self, name: str) -> type[Any]:
        if name in self._added:
            return self._added[name]
        found: type[Any] = getattr(import_module(HOMES[name]), name)
        return found

    def __setitem__(self, name: str, model: type[Any]) -> None:
        self._added[name] = model

    def __delitem__(self, name: str) -> None:
        del self._added[name]

    def __contains__(self, name: object) -> bool:
        return name in self._added or name in HOMES

    def __iter__(self) -> Iterator[str]:
        return iter({**HOMES, **self._added})

    def __len__(self) -> int:
        return len({**HOMES, **self._added})

    def at_hand(self, name: str) -> bool:
        """Whether a model need not be imported first."""
        return name in self._added or HOMES[name] in sys.modules


MODELS = Models()
"""The models themselves, by name: what a saved model may be."""
