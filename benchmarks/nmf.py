"""NMF and scikit-learn's on real texts: an iteration, and a fit to within .1 % of the best objective.

    python -m benchmarks.nmf [--page FILE]

Needs data sets: `laconic datasets` says where they are looked for. One thread, CPU seconds, best of a few.
"""

from __future__ import annotations

import argparse
import time
import warnings
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.report import Columns, Report
from sklearn import decomposition
from threadpoolctl import threadpool_limits

from laconic import NMF, datasets

COLLECTIONS = ("octis_m10", "bbc_news", "ohsumed23", "20newsgroups")
SIZES = (20, 100)
CLOSE = 1e-3
STEPS = [round(5 * 1.3**step) for step in range(12)]
"""Numbers of iterations after which fits are looked at: 5 to 90."""
LIMIT = 100

PAGE = """# NMF on collections of ordinary size

{headline}

Written by `python -m benchmarks.nmf`. Both solvers minimise the squared loss by coordinate descent, on
tf-idf weights in float32, and start from singular vectors (scikit-learn: nndsvda). Times are CPU time on
one thread, the best of three.

The time of an iteration is the difference between fits of different length. laconic's includes the cost of
extrapolating, and of stepping back where that did not pay. The time to .1 % is that of the shortest fit,
start included, whose objective is within .1 % of the best that either solver reached in {limit} iterations.
Fits were checked after 5, 6, 8, 11, ... iterations. A hyphen means that 90 iterations did not get there,
because the fit converged to a higher objective.
"""


def known(form: str) -> Callable[[float], str]:
    """How a number is shown, and a hyphen where there is none."""
    return lambda number: "-" if np.isnan(number) else form.format(number)


COLUMNS: Columns = {
    "what": ("what", str),
    "K": ("K", str),
    "ours": ("iteration, ms", "{:.1f}".format),
    "peer": ("scikit-learn", "{:.1f}".format),
    "ratio": ("ratio", "{:.2f}".format),
    "ours_close": ("to .1 %, s", known("{:.2f}")),
    "peer_close": ("scikit-learn", known("{:.2f}")),
    "close_ratio": ("ratio", known("{:.2f}")),
}


def ours(X: Any, k: int, n: int) -> tuple[float, float]:
    """Seconds, and the objective after some iterations."""
    model = NMF(k, random_state=0, n_jobs=1, max_iter=n, tol=0)
    began = time.process_time()
    model.fit(X)
    return time.process_time() - began, float(model.objective_history_[-1])


def peer(X: Any, k: int, n: int) -> tuple[float, float]:
    """The same of scikit-learn's."""
    model = decomposition.NMF(k, init="nndsvda", random_state=0, max_iter=n, tol=0)
    began = time.process_time()
    model.fit(X)
    return time.process_time() - began, float(model.reconstruction_err_) ** 2


def best(
    fit: Callable[[Any, int, int], tuple[float, float]], X: Any, k: int, n: int, repeats: int
) -> tuple[float, float]:
    return min(fit(X, k, n) for _ in range(repeats))


def until_close(fit: Callable[..., tuple[float, float]], X: Any, k: int, limit: float, repeats: int) -> float:
    """Seconds of the shortest fit that comes close; objectives fall, so half of the lengths need no look."""
    n = bisect_left(STEPS, True, key=lambda n: fit(X, k, n)[1] <= limit * (1 + CLOSE))
    return best(fit, X, k, STEPS[n], repeats)[0] if n < len(STEPS) else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only", nargs="+", default=COLLECTIONS, choices=COLLECTIONS)
    parser.add_argument("--topics", nargs="+", type=int, default=SIZES)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    repeats = options.repeats
    report = Report(PAGE.replace("{limit}", str(LIMIT)), "Ratios below 1: laconic is faster.")
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.only:
            data: Any = datasets.load(name)
            X = data.corpus(weighting="tfidf").X
            ours(X, options.topics[0], 2)
            for k in options.topics:
                times = [
                    (best(fit, X, k, 25, repeats)[0] - best(fit, X, k, 5, repeats)[0]) / 20
                    for fit in (ours, peer)
                ]
                limits = [fit(X, k, LIMIT)[1] for fit in (ours, peer)]
                print("limits", limits, flush=True)
                close = [until_close(fit, X, k, min(limits), repeats) for fit in (ours, peer)]
                if np.isnan(close).any():
                    again = [until_close(fit, X, k, max(limits), repeats) for fit in (ours, peer)]
                    print("seconds to the higher of both limits", again, flush=True)
                rows.append(
                    {
                        "what": f"{name}, {X.shape[0]:,} x {X.shape[1]:,}",
                        "K": k,
                        "ours": 1e3 * times[0],
                        "peer": 1e3 * times[1],
                        "ratio": times[0] / times[1],
                        "ours_close": close[0],
                        "peer_close": close[1],
                        "close_ratio": float(np.divide(*close)),
                    }
                )
                print(rows[-1], flush=True)
    report.add("NMF, compared with scikit-learn's", rows, COLUMNS)
    report.write(None, options.page)


if __name__ == "__main__":
    main()
