"""The fits of documents in several modalities or languages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from laconic.errors import InputWarning
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Desk, Results
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
    with iterations_given(), warnings.catch_warnings():
        # there are no counts of the texts
        warnings.simplefilter("ignore", InputWarning)
        return model.fit(X)


class Trial(NamedTuple):
    """What is done with every divergence: choose its strength, then measure it.

    Attributes
    ----------
    strengths : sequence of float
        To choose from.
    validated : callable
        ``validated(*parts, divergence, strength, *size)``: a score by its name, of a fit to a part of the
        training pairs.
    parts : tuple
        What it takes first: what to learn from, and what is held out.
    score : str
        The name of the score that is to be large.
    measured : callable
        ``measured(*whole, divergence, strength, *size)``: what is reported.
    whole : tuple
        What it takes first: all training pairs, and the test pairs.
    size : tuple of int
        The number of topics, and that of iterations.
    """

    strengths: Sequence[float]
    validated: Callable[..., Results]
    parts: tuple[Any, ...]
    score: str
    measured: Callable[..., Results]
    whole: tuple[Any, ...]
    size: tuple[int, int]


def try_all(trial: Trial, desk: Desk) -> Results:
    """The scores of all strengths ("tuning"), the best ones ("strengths"), and what these give ("ours")."""
    tuning: dict[str, list[Results]] = {}
    chosen: dict[str, float] = {}
    ours: Results = {}
    for divergence in DIVERGENCES:
        if divergence != "tied":
            tuning[divergence] = [
                desk.keep(
                    f"{divergence}, {strength:g}, {trial.size}, on a part of the training pairs",
                    trial.validated,
                    *(*trial.parts, divergence, strength, *trial.size),
                )
                | {"strength": strength}
                for strength in trial.strengths
            ]
            chosen[divergence] = max(tuning[divergence], key=lambda row: row[trial.score])["strength"]
        strength = chosen.get(divergence, NO_STRENGTH)
        key = f"{divergence}, {strength:g}, {trial.size}, all training pairs"
        ours[divergence] = desk.keep(key, trial.measured, *trial.whole, divergence, strength, *trial.size)
    return {"tuning": tuning, "strengths": chosen, "ours": ours}
