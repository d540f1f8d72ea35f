"""A model on disk: a readable directory, never a pickle."""

from laconic.bundle.bundle import Bundle, load
from laconic.errors import BundleError

__all__ = ["Bundle", "BundleError", "load"]
