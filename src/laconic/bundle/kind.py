"""What a saved model is on disk, before anything of it is read."""

from __future__ import annotations

from laconic.errors import BundleError
from laconic.models import MODELS
from laconic.storage.manifest import Kind, quoted
from laconic.storage.reading import StoredDirectory

# Format 2 added priors among the parameters, and vectorisers of several modalities; format 3 documents, and
# how they are searched.
MODEL = Kind(noun="model", manifest="model.json", format="laconic-bundle", version=3, error=BundleError)

PREFIX = "documents."
"""How the names of the documents' files begin: these are read when they are first used."""


def class_in(stored: StoredDirectory) -> str:
    """The name of a saved model's class; raises BundleError unless it is one of laconic's own."""
    name, writer = stored.document.get("class"), stored.object("versions").get("laconic")
    if not isinstance(name, str) or name not in MODELS:
        from laconic import __version__

        raise BundleError(
            f"{stored.path}: holds a model of class {quoted(name)}, which laconic {__version__} does not "
            f"know (it knows {', '.join(MODELS)}); use the laconic that wrote it, {quoted(writer)}"
        )
    return name
