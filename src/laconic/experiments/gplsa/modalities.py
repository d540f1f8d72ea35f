"""The fits of documents in several modalities or languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED
from laconic.models import MultimodalPLSA

# "tied" is Link-PLSA in the paper, and has no strength.
DIVERGENCES = ("tied", "l1", "l2", "skl")
NO_STRENGTH = 1.0


def fit_modalities(
    X: Mapping[str, Any], divergence: Any, strength: float, n_topics: int, iterations: int
) -> MultimodalPLSA:
    """A model of documents in several modalities, after a fixed number of iterations."""
    model = MultimodalPLSA(
        n_topics, divergence=divergence, strength=strength, max_iter=iterations, tol=0, random_state=SEED
    )
    with iterations_given():
        return model.fit(X)
