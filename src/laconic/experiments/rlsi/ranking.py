"""Figures 6 to 8 of the paper: topic models blended with term matching; and sparse ones against dense."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from laconic.experiments.parts import SEED, Desk, Results
from laconic.experiments.retrieval.collections import TERMS, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, fitted_entry, lda, lsi_entries
from laconic.experiments.retrieval.contests import contest, describe, pooled
from laconic.experiments.retrieval.grids import Entry
from laconic.models import NMF, PLSA, RLSI

NAMES = ("cranfield", "cacm", "npl", "scifact", "time", "adi")
# Where the word budget's settings were first chosen, and where no choice between settings was made; the
# others were looked at with several of them.
TUNED = ("cranfield", "time")
UNSEEN = ("scifact", "adi")
# About how many settings of RLSI and of LSI, blends aside, had been tried before the grids were fixed.
TRIED = {"cranfield": 115, "cacm": 60, "npl": 35, "time": 30, "scifact": 12, "adi": 3}
TRIED_LSI = {"cranfield": 20, "cacm": 20, "time": 20, "npl": 7, "scifact": 7}
LSI, PAPER, BUDGET = "LSI", "RLSI (l1/l2)", "RLSI (word budget)"
METHODS = (LSI, "PLSA", "LDA", "NMF", PAPER, BUDGET)

# The grids of LSI and of the word budget are of the same size, so that neither gains by a longer search.
SIZES = (25, 50, 100, 150, 200)
# Of the other models, which take longer.
FEW_SIZES = {"PLSA": (25, 50, 100), "LDA": (50,), "NMF": (25, 50, 100), PAPER: (50, 100)}
ALPHAS = (0.03, 0.1, 0.3)
SHARE = 0.05
ALPHA_DOCS = 1.0


def run(quick: bool, desk: Desk) -> Results:
    """Rank by every model of the grids, on all collections."""
    key = f"{METHODS}, {SIZES}, {FEW_SIZES}, {ALPHAS}, {SHARE}, {ALPHA_DOCS}, {quick}"
    names = ("adi",) if quick else NAMES
    found = {name: desk.keep(f"{name}: {key}", _ranked, name, quick) for name in names}
    contests = {name: each[TERMS[0]] for name, each in found.items()}
    return {
        "collections": {name: _without_queries(each) for name, each in found.items()},
        "methods": METHODS,
        "tuned": TUNED,
        "sizes": SIZES,
        "few_sizes": FEW_SIZES,
        "alphas": ALPHAS,
        "alpha_docs": ALPHA_DOCS,
        "share": SHARE,
        "pooled": {method: pooled(contests, method, LSI) for method in METHODS if method != LSI},
        "pooled_elsewhere": pooled(
            {name: each for name, each in contests.items() if quick or name not in TUNED}, BUDGET, LSI
        ),
    }


def _ranked(name: str, quick: bool) -> Results:
    collection = read_collection(name)
    methods = {method: list(_entries(collection, method, quick)) for method in METHODS}
    return describe(collection) | {
        terms: contest(collection, methods, terms, {method: LSI for method in METHODS if method != LSI})
        for terms in TERMS
    }


def _without_queries(found: Results) -> Results:
    """What is worth keeping: values of single queries are many."""
    return {
        key: {k: v for k, v in value.items() if k != "average_precisions"} if key in TERMS else value
        for key, value in found.items()
    }


def _entries(collection: Collection, method: str, quick: bool) -> Iterator[Entry]:
    """The entries of a method's grid."""
    sizes = usable(collection, FEW_SIZES.get(method, SIZES))
    if method == LSI:
        yield from lsi_entries(collection, sizes)
        return
    for size in sizes:
        for model, settings in _models(method, size, collection.n_terms, quick):
            yield entry_of(collection, method, model, settings)


def entry_of(collection: Collection, method: str, model: Any, settings: Results) -> Entry:
    """How the topics of a model rank, from what its method takes and by what suits its weights."""
    # LDA's topics are not normalised, and the paper compares weights.
    similarity = "cosine" if method == "LDA" else "gram"
    counts = method in ("PLSA", "LDA")
    return fitted_entry(collection, model, settings, counts=counts, similarity=similarity)


def _models(method: str, size: int, n_terms: int, quick: bool) -> Iterator[tuple[Any, Results]]:
    common: Results = {"tol": TOL, "random_state": SEED, "max_iter": 10 if quick else 200}
    settings: Results = {"K": size}
    if method == BUDGET:
        yield word_budget(size, n_terms, **common), settings
    elif method == PAPER:
        for alpha in ALPHAS:
            model = RLSI(size, alpha_topics=alpha, alpha_docs=0.1, init="documents", **common)
            yield model, settings | {"alpha": alpha}
    elif method == "LDA":
        yield lda(size, 2 if quick else 20), settings
    else:
        yield (PLSA if method == "PLSA" else NMF)(size, **common), settings


def usable(collection: Collection, sizes: Sequence[int]) -> list[int]:
    """Numbers of topics for a collection: more than half of the documents are no summary of them."""
    most = collection.n_documents // 2
    return [size for size in sizes if size <= most] or [most]


def word_budget(n_topics: int, n_terms: int, share: float = SHARE, **options: Any) -> RLSI:
    """RLSI whose topics have a share of the vocabulary each, as it is best for search."""
    budget = max(2, int(share * n_terms))
    return RLSI(
        n_topics,
        topic_norm="l0",
        terms_per_topic=budget,
        alpha_docs=ALPHA_DOCS,
        nonnegative=True,
        init="documents",
        **options,
    )
