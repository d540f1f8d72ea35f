"""Topic models in few words: regularised topics that are short enough to read, at scale."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.bundle import Bundle, BundleError, Documents, fit, load
    from laconic.corpus import Corpus, CorpusError
    from laconic.models import NMF, PLSA, RLSI, GraphPLSA, GroupNMF, GroupRLSI, MultimodalPLSA, SparseLSA
    from laconic.search import SearchError, SearchIndex
    from laconic.steering import choose

__version__ = "0.1.0"

__all__ = [
    "NMF",
    "PLSA",
    "RLSI",
    "Bundle",
    "BundleError",
    "Corpus",
    "CorpusError",
    "Documents",
    "GraphPLSA",
    "GroupNMF",
    "GroupRLSI",
    "MultimodalPLSA",
    "SearchError",
    "SearchIndex",
    "SparseLSA",
    "__version__",
    "choose",
    "fit",
    "load",
]

# Imported when first used: `laconic --help` should not wait for scipy, scikit-learn and numba.
_HOMES = {
    "NMF": "laconic.models",
    "PLSA": "laconic.models",
    "RLSI": "laconic.models",
    "GraphPLSA": "laconic.models",
    "GroupNMF": "laconic.models",
    "GroupRLSI": "laconic.models",
    "MultimodalPLSA": "laconic.models",
    "SearchError": "laconic.search",
    "SearchIndex": "laconic.search",
    "SparseLSA": "laconic.models",
    "Bundle": "laconic.bundle",
    "BundleError": "laconic.bundle",
    "Corpus": "laconic.corpus",
    "CorpusError": "laconic.corpus",
    "Documents": "laconic.bundle",
    "choose": "laconic.steering",
    "fit": "laconic.bundle",
    "load": "laconic.bundle",
}


_find = lazily(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in ("datasets", "evaluate", "figures", "priors", "search"):
        return import_module(f"laconic.{name}")
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
