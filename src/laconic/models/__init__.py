"""The models, one file per family."""

from laconic.models.nmf import NMF, GroupNMF
from laconic.models.plsa import PLSA
from laconic.models.rlsi import RLSI, GroupRLSI

MODELS = {"RLSI": RLSI, "GroupRLSI": GroupRLSI, "NMF": NMF, "GroupNMF": GroupNMF, "PLSA": PLSA}
"""Every model by name: what a saved model may be."""

__all__ = ["MODELS", "NMF", "PLSA", "RLSI", "GroupNMF", "GroupRLSI"]
