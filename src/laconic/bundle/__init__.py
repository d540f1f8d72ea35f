"""A model with its vocabulary and its documents: in memory, or as a readable directory, never a pickle."""

from laconic.bundle.bundle import Bundle, load
from laconic.bundle.documents import Documents
from laconic.bundle.fitting import fit
from laconic.errors import BundleError

__all__ = ["Bundle", "BundleError", "Documents", "fit", "load"]
