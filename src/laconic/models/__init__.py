"""The models, one file per family."""

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

    MODELS: dict[str, type[Any]]

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
"""The module of every model. `MODELS` has the models themselves, by name: what a saved model may be."""

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

_find = lazily(__name__, HOMES)


def __getattr__(name: str) -> Any:
    if name != "MODELS":
        return _find(name)
    models = {model: getattr(import_module(home), model) for model, home in HOMES.items()}
    # another thread may have been here meanwhile
    return globals().setdefault(name, models)
