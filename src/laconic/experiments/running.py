"""Run the parts of an experiment, and keep what they found as JSON."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

from laconic import __version__
from laconic.experiments.keeping import Keeper
from laconic.experiments.parts import SEED, Results, Say, plain
from laconic.experiments.provenance import commit, now
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


def run_part(experiment: Experiment, part: str, desk: Keeper, *, quick: bool) -> Results:
    """Run one part; what it found comes with how it was run."""
    began, worked = time.perf_counter(), time.process_time()
    results = experiment.parts[part].run(quick, desk)
    # Pieces of an interrupted run took their time then.
    kept = desk.seconds_before
    return {
        "quick": quick,
        "seed": SEED,
        "commit": " ".join(dict.fromkeys([*desk.commits(), commit()])),
        "finished": now(),
        "seconds": round(time.perf_counter() - began + kept.wall, 1),
        "cpu_seconds": round(time.process_time() - worked + kept.cpu, 1),
        "cores": os.cpu_count(),
        "versions": {
            "laconic": __version__,
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
        },
        "results": plain(results),
    }


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
            f"there are no results in {path}; run `laconic reproduce {experiment.name}` first"
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


def pieces_of(path: Path, part: str, *, quick: bool) -> Path:
    """Where the pieces of an unfinished part are kept, given the file of results."""
    return path.parent / "unfinished" / f"{path.stem}-{part}{'-quick' if quick else ''}.json"


def run(
    experiment: Experiment,
    path: Path,
    *,
    parts: Iterable[str] = (),
    quick: bool = False,
    fresh: bool = False,
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
    fresh : bool
        Whether to begin anew where a part was interrupted; otherwise it goes on with what it had found.
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
            f"{path} holds full results, which a quick run must not replace; give another --output"
        )
    for part in chosen:
        desk = Keeper(pieces_of(path, part, quick=quick), say)
        if fresh:
            desk.clear()
        results[part] = run_part(experiment, part, desk, quick=quick)
        write_results(experiment, path, results)
        desk.clear()
        done(part, results[part]["seconds"])
    return read_results(experiment, path)
