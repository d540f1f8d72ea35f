"""Topic models in few words: regularised topics that are short enough to read, at scale."""

from laconic.bundle import Bundle, BundleError, load
from laconic.corpus import Corpus, CorpusError
from laconic.models import RLSI

__version__ = "0.1.0"

__all__ = ["RLSI", "Bundle", "BundleError", "Corpus", "CorpusError", "__version__", "load"]
