"""The same model fitted again and again: to halves of the documents, from other seeds, side by side."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from laconic.corpus import Corpus
from laconic.engines.workers import Workers
from laconic.errors import ParameterError
from laconic.evaluate.stability import halves
from laconic.models.base import TopicModel

Tell = Callable[[float], object]
"""Called with the fraction of the work that is done, from 0 to 1."""

SEED_STEP = 1000
"""Seeds of refits are so far apart from that of the model that they are none of its neighbours'."""


@dataclass(frozen=True)
class Task:
    """One fit: a model that is not fitted yet, and the documents it gets."""

    model: TopicModel
    documents: NDArray[np.int64] | None
    """Their numbers; None for all."""
    cost: float
    """About how long it takes, beside the others."""


def check_refittable(model: TopicModel) -> None:
    """Refuse a model that cannot be fitted to some of its documents."""
    traits = model.traits
    if traits.modalities or traits.links:
        why = "has several modalities" if traits.modalities else "has links between documents"
        raise ParameterError(
            f"{type(model).__name__} {why}, so it cannot be fitted to halves of the documents: choose "
            "another model"
        )


def half_tasks(
    model: TopicModel, n_topics: int, n_documents: int, n_runs: int, random_state: Any, seed: int
) -> list[Task]:
    """Fits to random halves of the documents, each from a seed of its own; the halves are those of `seed`."""
    random = check_random_state(random_state)
    tasks = []
    for run, half in enumerate(halves(n_documents, n_runs, random)):
        again = clone(model).set_params(random_state=seed + SEED_STEP + run, n_jobs=1, verbose=0)
        tasks.append(Task(again, half, n_topics / 2))
    return tasks


def run_side_by_side(
    tasks: Sequence[Task],
    corpus: Corpus,
    conclude: Callable[[Task, TopicModel], Any],
    *,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> list[Any]:
    """Fit every task on a thread of its own, and give what `conclude` makes of each, in their order.

    Parameters
    ----------
    tasks : sequence of Task
        Each is fitted by one thread: many small fits share cores better than one.
    corpus : Corpus
        The documents.
    conclude : callable
        Of a task and its fitted model; what it returns is kept, and the model is not.
    n_jobs : int, optional
        How many at a time; by default as many as there are cores.
    tell : callable, optional
        Told how much of the work is done; called by any of the threads, one at a time.

    Returns
    -------
    list
        The same for any number of threads.
    """
    X = corpus.counts if tasks and tasks[0].model.wants == "counts" else corpus.X
    labels = corpus.labels
    total, done, lock = sum(task.cost for task in tasks), 0.0, threading.Lock()
    # The largest first: nobody waits for one that began last.
    order = sorted(range(len(tasks)), key=lambda place: -tasks[place].cost)

    def work(place: int) -> Any:
        nonlocal done
        task = tasks[place]
        rows = slice(None) if task.documents is None else task.documents
        given = (labels[rows],) if task.model.traits.classes and labels is not None else ()
        result = conclude(task, task.model.fit(X[rows], *given))
        with lock:
            done += task.cost
            if tell is not None:
                tell(done / total)
        return result

    # What is compared are topics; whether the last digits still moved, does not matter.
    with warnings.catch_warnings(), Workers(n_jobs) as workers:
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = dict(zip(order, workers.map(work, order), strict=True))
    return [found[place] for place in range(len(tasks))]
