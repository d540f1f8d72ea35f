"""laconic beside its peers: runs what has no result yet, then writes the page.

    python -m benchmarks.peers                               whatever is missing
    python -m benchmarks.peers --only laconic --again        laconic's rows once more, peers' as they were
    python -m benchmarks.peers --by octis-20 --on octis_m10  a protocol, a collection
    python -m benchmarks.peers --nothing --page docs/performance-peers.md      just the page

Each contender has a process of its own, on one thread, for each collection.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders import Contender, contenders
from benchmarks.peers.page import means_of, write_page
from benchmarks.peers.protocols import PROTOCOLS, Protocol, is_at_hand, measure
from benchmarks.peers.store import KEPT, Store, default_folder, source_state
from benchmarks.report import console

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}


def run_apart(
    store: Store, protocol: Protocol, contender: Contender, collection: str, minutes: int
) -> dict[str, Any]:
    """Measure in a process of its own, which writes the result, for some minutes of the processor."""
    arguments = ["--results", str(store.folder), "--here", protocol.name, collection, contender.key]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", *arguments],
        env=os.environ | ONE_THREAD,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60 * minutes, 60 * minutes + 60)),
    )
    if done.returncode == 0:
        return store.read(protocol.name, collection, contender.key) or {}
    if done.returncode == -signal.SIGXCPU:
        return {"failed": f"took more than {minutes} minutes of the processor for all its fits"}
    console.print(done.stderr[-3000:], markup=False)
    if done.returncode < 0:
        return {"failed": f"ended by {signal.Signals(-done.returncode).name}"}
    return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}


def run_here(store: Store, protocol: Protocol, contender: Contender, collection: str) -> None:
    """Measure in this process."""
    # What was imported, even if files change while it runs.
    state = source_state()
    runs = measure(protocol, contender, collection, store.vectors(collection))
    result = {
        "contender": contender.name,
        "versions": versions_of(contender),
        "source": state,
        "day": date.today().isoformat(),
        "runs": runs,
    }
    store.write(protocol.name, collection, contender.key, result)


def versions_of(contender: Contender) -> dict[str, str]:
    """The versions of the packages that a contender stands on."""
    found = {}
    for package in dict.fromkeys((contender.family, *contender.needs)):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def run_missing(store: Store, options: argparse.Namespace) -> None:
    """Go through protocols, collections and contenders, and run what was asked for and has no result."""
    for protocol in PROTOCOLS.values():
        if options.by and protocol.name not in options.by:
            continue
        for collection in protocol.collections:
            if options.on and collection not in options.on:
                continue
            if not is_at_hand(collection):
                console.print(f"{collection} is not at hand")
                continue
            for contender in contenders():
                if options.only and not {contender.family, contender.key} & set(options.only):
                    continue
                before = store.read(protocol.name, collection, contender.key) or {}
                if means_of(before) is not None and not options.again:
                    continue
                console.print(f"{protocol.name}, {collection}: {contender.name}")
                if missing := contender.missing():
                    result = {"missing": f"not installed: {', '.join(missing)}"}
                else:
                    result = run_apart(store, protocol, contender, collection, options.minutes)
                if "runs" not in result:
                    console.print(result, markup=False)
                    store.write(
                        protocol.name, collection, contender.key, {"contender": contender.name} | result
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=default_folder(), help="folder of the results")
    parser.add_argument("--only", nargs="+", help="families (laconic, gensim, ...) or contenders")
    parser.add_argument("--on", nargs="+", help="collections")
    parser.add_argument("--by", nargs="+", choices=PROTOCOLS, help="protocols")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    parser.add_argument(
        "--minutes", type=int, default=90, help="of the processor, for a contender on a collection"
    )
    parser.add_argument("--nothing", action="store_true", help="run nothing, just show what there is")
    parser.add_argument("--page", type=Path, help="also write the tables and the picture, beside each other")
    parser.add_argument("--here", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    store = Store(options.results, KEPT)
    if options.here:
        name, collection, key = options.here
        chosen = next(contender for contender in contenders() if contender.key == key)
        run_here(store, PROTOCOLS[name], chosen, collection)
        return
    if not options.nothing:
        run_missing(store, options)
    write_page(store, options.page)


if __name__ == "__main__":
    main()
