"""The models, one file per family."""

from laconic.models.graph_plsa import GraphPLSA
from laconic.models.multimodal import MultimodalPLSA
from laconic.models.nmf import NMF, GroupNMF
from laconic.models.plsa import PLSA
from laconic.models.rlsi import RLSI, GroupRLSI
from laconic.models.sparse_lsa import SparseLSA

MODELS = {
    "RLSI": RLSI,
    "GroupRLSI": GroupRLSI,
    "NMF": NMF,
    "GroupNMF": GroupNMF,
    "PLSA": PLSA,
    "GraphPLSA": GraphPLSA,
    "MultimodalPLSA": MultimodalPLSA,
    "SparseLSA": SparseLSA,
}
"""Every model by name: what a saved model may be."""

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
