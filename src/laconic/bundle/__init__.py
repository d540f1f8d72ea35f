"""A model with its vocabulary and its documents: in memory, or as a readable directory, never a pickle."""

from typing import TYPE_CHECKING

from laconic.errors import BundleError
from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle
    from laconic.bundle.documents import Documents
    from laconic.bundle.fitting import fit
    from laconic.bundle.loading import load

__all__ = ["Bundle", "BundleError", "Documents", "fit", "load"]

__getattr__ = lazily(
    __name__,
    {
        "Bundle": "laconic.bundle.bundle",
        "Documents": "laconic.bundle.documents",
        "fit": "laconic.bundle.fitting",
        "load": "laconic.bundle.loading",
    },
)
