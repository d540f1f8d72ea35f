"""A fit rehearsed by another process: it compiles the kernels of a model while this one reads the documents.

Numba compiles one thing at a time in a process, and keeps what it has compiled on disk, where this process
finds it. So a first fit takes as long as the longer of the two. What is rehearsed is a fit of a few made-up
documents: nobody has to list the kernels that a model needs. Reading takes less time than that, so this
process compiles a little of it, too.
"""

from __future__ import annotations

import gc
import hashlib
import json
import platform
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numba
import numpy as np

from laconic.cores import available_cores
from laconic.kernels import rows
from laconic.kernels.compiling import folder_of
from laconic.postponing import postpone

if TYPE_CHECKING:
    from laconic.models.base import TopicModel

N_DOCUMENTS, N_TERMS, N_TOPICS = 120, 80, 3
RARELY = {"n_topics", "n_components", "n_jobs", "random_state", "verbose", "init", "graph", "max_iter"}
"""Parameters that make no difference to what is compiled, or are not for made-up documents."""


class Rehearsal:
    """A process that rehearses the fit of a model, if nobody has done that before.

    Parameters
    ----------
    name : str
        Of a model, as `make_model` takes it.
    parameters : mapping, optional
        Of the model; those that are neither numbers nor texts make no difference.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any] | None = None) -> None:
        plain = (bool, int, float, str)
        self._asked = {
            key: value
            for key, value in (parameters or {}).items()
            if isinstance(value, plain) and key not in RARELY
        }
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        mark = mark_of(self._name)
        # Alone on a core, it would only be in the way.
        if mark is not None and not mark.exists() and sys.executable and available_cores() > 1:
            # -P: nothing is imported from the folder in which the user happens to be
            arguments = ["-P", "-m", __name__, self._name, json.dumps(self._asked)]
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(
                [sys.executable, *arguments], stdin=quiet, stdout=quiet, stderr=quiet
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def goes_on(self) -> bool:
        """Whether the other process is at it."""
        return self._process is not None and self._process.poll() is None

    def share(self, model: TopicModel) -> None:
        """Compile here what the other process would come to last, and what saving needs.

        Before reading: when the other comes to it, it has to be there.
        """
        if self.goes_on:
            from scipy.sparse import csr_array

            from laconic.matrices import by_columns

            if model.get_params().get("terms_per_topic") is not None:
                sweep_once()
            by_columns(csr_array(np.ones((1, 1), np.float32)))

    def wait(self) -> None:
        """Wait until it is done. If it failed, the fit compiles for itself what is missing."""
        if self._process is not None:
            self._process.wait()


def mark_of(name: str) -> Path | None:
    """The file that tells that the fit of a model was rehearsed; None where no kernel is kept on disk."""
    folder = folder_of(rows.descend)
    if folder is None:
        return None
    sources = sorted(Path(rows.__file__).parent.glob("*.py"))
    stamps = [(source.name, source.stat().st_mtime_ns, source.stat().st_size) for source in sources]
    made_for = (sys.version, numba.__version__, platform.processor() or platform.machine(), stamps)
    digest = hashlib.sha256(repr(made_for).encode()).hexdigest()
    return folder / f"rehearsed-{name}-{digest[:16]}"


def rehearse(name: str, parameters: Mapping[str, Any]) -> None:
    """Fit a model to made-up documents, and fold them in."""
    from scipy.sparse import csr_array

    from laconic.models.making import make_model, parameters_of

    sizes = {"n_topics": N_TOPICS} if "n_components" in parameters_of(name) else {}
    model = make_model(name, **sizes, **parameters, max_iter=2, n_jobs=1, random_state=0)
    random = np.random.default_rng(0)
    counts = random.poisson(0.2, (N_DOCUMENTS, N_TERMS)).astype(np.float32)
    counts[:, 0] += 1
    X = csr_array(counts if model.wants == "counts" else counts / np.float32(4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if model.traits.modalities:
            model.fit({"first": X, "second": X}).transform({"first": X})
            return
        model.fit(X, np.arange(N_DOCUMENTS) % 2 if model.traits.classes else None).transform(X)


def sweep_once() -> None:
    """Give the only topic its only word, with numbers of the types that a fit has."""
    from laconic.kernels.budget import budget_sweep

    numbers, places = np.ones((1, 1), np.float32), np.zeros((1, 1), np.int64)
    budget_sweep(
        np.eye(1), numbers, places, numbers.copy(), places[0], 1, True, numbers[0].copy(), numbers[0, 0]
    )


def _main() -> None:
    postpone()
    # It ends soon, and half a second sooner if nobody looks for what it could free.
    gc.disable()
    name, parameters = sys.argv[1:]
    mark = mark_of(name)
    rehearse(name, json.loads(parameters))
    if mark is not None:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


if __name__ == "__main__":
    _main()
