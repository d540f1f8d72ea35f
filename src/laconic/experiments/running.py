"""Run the parts of an experiment, and keep what they found as JSON."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from laconic import __version__
from laconic.experiments.parts import SEED, Results, Say
from laconic.experiments.registry import Experiment
from laconic.storage.files import appearing

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def check_data(experiment: Experiment, parts: Iterable[str]) -> None:
    """Refuse to begin without all data sets: better now than after half an hour."""
    from laconic.datasets.folders import how_to_provide, lookup

    names = dict.fromkeys(name for part in parts for name in experiment.needs[part])
    missing = [name for name in names if not lookup(name).present]
    if missing:
        several = len(missing) > 1
        raise ValueError(
            f"{experiment.name} needs the data set{'s' if several else ''} {', '.join(missing)}, which "
            f"{'are' if several else 'is'} not there. laconic downloads nothing; `laconic datasets show "
            f"{missing[0]}` says where it comes from. {how_to_provide(missing[0])}"
        )


def run_part(experiment: Experiment, part: str, *, quick: bool, say: Say) -> Results:
    """Run one part; what it found comes with how it was run."""
    began = time.perf_counter()
    results = experiment.parts[part].run(quick, say)
    return {
        "quick": quick,
        "seed": SEED,
        "seconds": round(time.perf_counter() - began, 1),
        "cores": os.cpu_count(),
        "versions": {
            "laconic": __version__,
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
        },
        "results": plain(results),
    }


def plain(value: Any) -> Any:
    """What JSON holds: keys as strings, numpy's numbers as Python's, with six digits.

    Examples
    --------
    >>> import numpy as np
    >>> plain({10: np.float64(2 / 3), "rows": (np.int64(1), None, "a", True)})
    {'10': 0.666667, 'rows': [1, None, 'a', True]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, float) else value


def read_results(experiment: Experiment, path: Path) -> dict[str, Results]:
    """What the parts of an experiment found, by the names of the parts in the order of the page.

    Raises
    ------
    ValueError
        If there is no such file, or if it is not one of this experiment's.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"there are no results in {path}; `laconic reproduce {experiment.name}` makes them"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}; run the experiment again") from error
    if not isinstance(stored, dict) or stored.get("experiment") != experiment.name:
        raise ValueError(f"{path} does not hold results of {experiment.name}; give another --output")
    return {part: stored["parts"][part] for part in experiment.needs if part in stored["parts"]}


def write_results(experiment: Experiment, path: Path, parts: dict[str, Results]) -> None:
    """Write what the parts found, in the order of the page."""
    ordered = {part: parts[part] for part in experiment.needs if part in parts}
    content = {"experiment": experiment.name, "parts": ordered}
    path.parent.mkdir(parents=True, exist_ok=True)
    # An interrupted run leaves the old results whole.
    with appearing(path) as fresh:
        fresh.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run(
    experiment: Experiment,
    path: Path,
    *,
    parts: Iterable[str] = (),
    quick: bool = False,
    say: Say,
    done: Callable[[str, float], None],
) -> dict[str, Results]:
    """Run parts of an experiment, and write their results after each, beside those of the other parts.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    path : pathlib.Path
        The JSON file.
    parts : iterable of str
        Only these; all by default.
    quick : bool
        Whether to run the small versions.
    say : callable
        Told what is being done.
    done : callable
        Told which part is finished, and after how many seconds.

    Returns
    -------
    dict of str to dict
        All results of the file, as `read_results` gives them.
    """
    chosen = experiment.chosen(parts)
    check_data(experiment, chosen)
    results = read_results(experiment, path) if path.exists() else {}
    if quick and not all(part["quick"] for part in results.values()):
        raise ValueError(
            f"{path} holds full results, which quick ones must not replace; give another --output"
        )
    for part in chosen:
        results[part] = run_part(experiment, part, quick=quick, say=say)
        write_results(experiment, path, results)
        done(part, results[part]["seconds"])
    return read_results(experiment, path)
