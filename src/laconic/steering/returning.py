"""Whether the topics of a model come back when it is fitted again."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from laconic.bundle.notes import Returns
from laconic.checks import check_number
from laconic.errors import BundleError
from laconic.evaluate.stability import COMES_BACK, topic_overlap
from laconic.steering.refits import Tell, check_refittable, half_tasks, run_side_by_side

if TYPE_CHECKING:
    from laconic.bundle import Bundle

N_REFITS = 10


def measure_returns(
    bundle: Bundle,
    n_refits: int = N_REFITS,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Returns:
    """Fit the model of a bundle to random halves of its documents, and see which of its topics come back.

    A topic has come back if the topic that it is paired with has at least half of its twenty heaviest words.

    Parameters
    ----------
    bundle : Bundle
        With documents. What is found is noted in it.
    n_refits : int, default=10
        How many halves, each from a seed of its own.
    random_state : int, default=0
        Seed of the halves.
    n_jobs : int, optional
        How many fits run at a time; by default one per core.
    tell : callable, optional
        Called with the fraction of the work that is done, from 0 to 1.

    Returns
    -------
    laconic.bundle.notes.Returns
        For each topic the share of fits in which it came back.
    """
    check_number("n_refits", n_refits, Integral, 1)
    check_number("random_state", random_state, Integral, 0, 2**32 - 1 - 2**16)
    model, documents = bundle.model, bundle.documents
    check_refittable(model)
    if documents is None:
        raise BundleError(
            "this model was saved without its documents, so it cannot be fitted to halves of them: keep them "
            "when you fit"
        )
    corpus = documents.corpus()
    again = model
    if bundle.notes.retired:
        again = model.of_owners(model.owner_numbers[bundle.notes.living])
    tasks = half_tasks(again, len(bundle.notes.living), corpus.shape[0], n_refits, random_state, random_state)
    found = run_side_by_side(tasks, corpus, lambda task, fitted: fitted.components_, n_jobs=n_jobs, tell=tell)
    back = np.mean([topic_overlap(model.components_, each) >= COMES_BACK for each in found], axis=0)
    returns = Returns(tuple(back.tolist()), int(n_refits))
    bundle.notes = replace(bundle.notes, returns=returns)
    return returns
