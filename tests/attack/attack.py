"""Mutate stored directories, use each mutant, and count how it ends.

Usage: ``PYTHONPATH=tests:tests/attack python tests/attack/attack.py [--kinds KIND ...] [--mutants N]
[--seed S]``; prints what was seen as JSON, a line for
each kind. A mutant may be refused with an error of laconic's own, or be used; anything else (another
exception, a crash, a hang, too much memory) is a fault.
"""

import argparse
import collections
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

# Of the processor: a busy machine makes no hang. What waits for ever without working ends later.
SECONDS = 20
SECONDS_WAITED = 600
MEGABYTES = 1024


def attack(kinds, seed, n_mutants, kind, first):
    """Use the mutants of these kinds, from one of them on; a line for each on standard output."""
    import uses

    warnings.simplefilter("ignore")
    kinds = kinds[kinds.index(kind) :]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wholes = {kind: _whole(kind, folder) for kind in kinds}
        # what is compiled, or imported, when it is first needed
        uses.index()
        _limit_memory()
        for kind, stored in wholes.items():
            for number in range(first, n_mutants):
                _use_mutant(stored, kind, seed, number, folder)
            first = 0


def _whole(kind, folder):
    """A directory of a kind, which can be used as it is, and also when it was written with new checksums."""
    import mutating
    import uses

    path, scratch = folder / kind, folder / "scratch"
    if kind in uses.FIXTURES:
        shutil.copytree(uses.HERE / uses.FIXTURES[kind], path)
    else:
        uses.make(kind, path)
    uses.use(kind, path, scratch)
    stored = mutating.Stored(path)
    shutil.rmtree(scratch)
    stored.write_same(folder / "same")
    uses.use(kind, folder / "same", scratch)
    for used in (folder / "same", scratch):
        shutil.rmtree(used)
    return stored


def _use_mutant(stored, kind, seed, number, folder):
    import mutating
    import uses

    from laconic.errors import InputError

    what = stored.mutated(mutating.seeded(seed, kind, number), folder / "mutant")
    print(f"{kind}\t{number}\tbegun\t{what}", flush=True)
    # Compiled code does not hear Python's handlers: the signals end the process.
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(SECONDS_WAITED)
    try:
        uses.use(kind, folder / "mutant", folder / "scratch")
        end = "used"
    except InputError:
        end = "refused"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        end = " ".join(f"fault: {type(error).__name__}: {error!s:.200} ({where})".split())
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    print(f"{kind}\t{number}\tended\t{end}", flush=True)
    shutil.rmtree(folder / "mutant")
    shutil.rmtree(folder / "scratch", ignore_errors=True)


def _limit_memory():
    with Path("/proc/self/statm").open() as file:
        pages = int(file.read().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def ends_of(kinds, seed, n_mutants):
    """How the mutants of each kind ended, in a process of their own; after a crash, another one goes on."""
    ends, faults = {kind: collections.Counter() for kind in kinds}, []
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    kind, first = kinds[0], 0
    while True:
        command = [sys.executable, __file__, "--one", json.dumps([kinds, seed, n_mutants, kind, first])]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        begun = None
        for line in done.stdout.splitlines():
            kind, number, what, rest = line.split("\t", 3)
            if what == "begun":
                begun, first = rest, int(number) + 1
                continue
            ends[kind][rest.partition(":")[0]] += 1
            if rest.startswith("fault"):
                faults.append(f"{kind} {number}: {begun} -> {rest}")
            begun = None
        if done.returncode and begun is None:
            raise RuntimeError(f"the attack itself failed: {done.stderr[-3000:]}")
        if begun is None:
            return ends, faults
        ends[kind]["crash"] += 1
        faults.append(f"{kind} {first - 1}: {begun} -> ended by {done.returncode}: {done.stderr[-300:]}")
        if first == n_mutants:
            if kind == kinds[-1]:
                return ends, faults
            kind, first = kinds[kinds.index(kind) + 1], 0


def main():
    import uses

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="*", default=uses.KINDS)
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", default="0")
    options = parser.parse_args()
    total, all_faults = collections.Counter(), []
    for kind in options.kinds:
        ends, faults = ends_of([kind], options.seed, options.mutants)
        print(json.dumps({kind: ends[kind], "faults": faults}), flush=True)
        total += ends[kind]
        all_faults += faults
    print(json.dumps({"all": total}))
    return 1 if all_faults else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        attack(*json.loads(sys.argv[2]))
    else:
        sys.exit(main())
