"""Writing a bundle as a directory; `laconic.bundle.loading` reads it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.bundle.documents import store
from laconic.bundle.history import History, version_of
from laconic.bundle.kind import MODEL
from laconic.bundle.parameters import encode_parameters
from laconic.corpus.saving import add_vectorizer
from laconic.errors import BundleError
from laconic.models import MODELS
from laconic.storage.manifest import Json
from laconic.storage.values import encode
from laconic.storage.writing import DirectoryWriter, replacing

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle


def save_bundle(
    bundle: Bundle, path: str | os.PathLike[str], parent: str | None
) -> tuple[History, str | None]:
    """Write a bundle in one commit; see `Bundle.save`.

    Returns
    -------
    history : History
        That of the saved model.
    version : str or None
        What was saved.
    """
    model, name = bundle.model, type(bundle.model).__name__
    if MODELS.get(name) is not type(model):
        raise BundleError(
            f"{path}: a {type(model).__module__}.{name} could not be loaded, so it is not saved; "
            f"laconic's own models are {', '.join(MODELS)}"
        )
    # Reading documents of an older format tells how they were searched, too.
    state, documents = model._fitted_state(), bundle.documents
    suffixes = {modality: _suffix(modality) for modality in bundle.modalities}
    with replacing(path, MODEL) as writer:
        past = bundle.history.continued(writer, bundle.version, parent)
        described = bundle.notes.stored()
        document: dict[str, Json] = {
            "class": name,
            "parameters": encode_parameters(model.get_params(deep=False), writer),
            "state": {key: encode(value, key, writer) for key, value in state.items()},
            **_add_vectorizers(bundle, writer, suffixes),
            "documents": None if documents is None else store(documents, model, writer, suffixes),
            "search": encode(bundle.search_settings, "search", writer),
            **({"topics": described} if described else {}),
            **({} if bundle.chosen is None else {"chosen": bundle.chosen.stored()}),
            **past.stored(),
        }
        writer.commit(document)
    _forget_old_index(Path(path))
    return past, version_of(document)


def _add_vectorizers(bundle: Bundle, writer: DirectoryWriter, suffixes: dict[str, str]) -> dict[str, Json]:
    """Store the vectoriser or vectorisers, if there are any."""
    if bundle.vectorizers:
        return {
            "vectorizers": {
                name: add_vectorizer(vectorizer, writer, suffixes[name])
                for name, vectorizer in bundle.vectorizers.items()
            }
        }
    return {"vectorizer": None if bundle.vectorizer is None else add_vectorizer(bundle.vectorizer, writer)}


def _forget_old_index(path: Path) -> None:
    """Remove the index that laconic kept beside a model until format 3: documents have taken its place."""
    from laconic.search.saving import remove_old_index

    remove_old_index(path)


def _suffix(modality: str) -> str:
    """Only for people: which file belongs to which modality stands in the document."""
    return f".{re.sub('[^A-Za-z0-9_]', '_', modality)[:40]}" if modality else ""
