"""The models, one file per family."""

from laconic.models.rlsi import RLSI

MODELS = {"RLSI": RLSI}
"""Every model by name: what a saved model may be."""

__all__ = ["MODELS", "RLSI"]
