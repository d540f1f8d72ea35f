"""A saved model, read again: everything is checked, and nothing in a directory is executed."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from laconic.bundle.bundle import Bundle
from laconic.bundle.chosen import restored_chosen
from laconic.bundle.documents import Documents, restore
from laconic.bundle.history import restored_history, version_of
from laconic.bundle.kind import MODEL, PREFIX, class_in
from laconic.bundle.notes import restored_notes
from laconic.bundle.parameters import decode_parameters
from laconic.corpus.saving import read_vectorizer
from laconic.deprecation import current_names
from laconic.errors import BundleError, CorpusError
from laconic.models import MODELS
from laconic.storage.manifest import quoted
from laconic.storage.reading import StoredDirectory, read_directory
from laconic.storage.values import decode

if TYPE_CHECKING:
    from laconic.models.base import TopicModel


def load(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = True, trust_patterns: bool = False
) -> Bundle:
    """Load a saved model. Everything is checked, and nothing in the directory is executed.

    Parameters
    ----------
    path : path-like
        The directory that was given to ``save``.
    verify : bool, default=True
        Whether all bytes of the documents are read and checked when they are first used. False checks only
        names, sizes and headers: for large collections that you trust. The model itself is always checked.
    mmap : bool, default=True
        Whether the documents stay on disk and are mapped into memory when they are first used. If someone
        truncates a mapped file, the process ends (SIGBUS). False reads everything at once, so later changes
        to the files do no harm.
    trust_patterns : bool, default=False
        Whether to split new texts with any regular expression that was saved. Some take forever on a short
        text, so only simple ones are used unless you trust the author of the model.

    Returns
    -------
    Bundle
        Its ``model`` gives the same results as the saved one, bit for bit. Documents are mapped into
        memory, read-only; they do not change even if the directory is replaced or removed.

    Raises
    ------
    BundleError
        If the directory is not a saved model, or is damaged, or from a newer version; the message names the
        file and says what is wrong with it.

    Examples
    --------
    >>> from laconic.bundle import load
    >>> load("no-model")
    Traceback (most recent call last):
    ...
    laconic.errors.BundleError: no-model: does not exist; give the directory a model was saved to
    """
    stored = read_directory(path, MODEL, verify=verify, later=PREFIX if mmap else None)
    model = _restored_model(stored)
    settings = decode(stored.document.get("search"), "search", stored)
    if settings is not None and not isinstance(settings, dict):
        raise stored.error("has no valid 'search'")
    try:
        bundle = Bundle(
            model,
            **_restored_vectorizers(stored, trust_patterns),
            documents=_documents_in(stored),
            search_settings=settings,
        )
        bundle.notes = restored_notes(stored, model.components_.shape[0])
        bundle.chosen = restored_chosen(stored)
        bundle.history, bundle._version = restored_history(stored), version_of(stored.document)
    except BundleError:
        raise
    except ValueError as error:
        raise stored.error(str(error)) from error
    return bundle


def _documents_in(stored: StoredDirectory) -> Callable[[Bundle], Documents | None]:
    """What reads the documents of a bundle, when they are asked for."""
    described = stored.document.get("documents")

    def read(bundle: Bundle) -> Documents | None:
        if described is None:
            # Until format 3, documents were kept in an index beside the model, if at all.
            from laconic.search.saving import read_old_index

            old = read_old_index(bundle, stored.path, verify=stored.verify)
            if old is None:
                return None
            bundle.search_settings = old.settings
            return old.documents
        try:
            return restore(described, bundle.model, bundle.vectorizer_of, stored)
        except CorpusError as error:
            raise stored.error(str(error)) from error

    return read


def _restored_vectorizers(stored: StoredDirectory, trust_patterns: bool) -> dict[str, Any]:
    """The vectoriser or vectorisers, as the arguments of a bundle."""
    document = stored.document
    if "vectorizers" in document:
        described = stored.object("vectorizers")
        if not described:
            raise stored.error("has no valid 'vectorizers'")
        return {
            "vectorizers": {
                name: read_vectorizer(stored, one, trust_patterns=trust_patterns)
                for name, one in described.items()
            }
        }
    if "vectorizer" in document and document["vectorizer"] is None:
        return {}
    described_one = document.get("vectorizer")
    return {"vectorizer": read_vectorizer(stored, described_one, trust_patterns=trust_patterns)}


def _restored_model(stored: StoredDirectory) -> TopicModel:
    name = class_in(stored)
    # What was saved before a parameter was renamed has its former name.
    parameters = current_names(name, decode_parameters(stored))
    saved = stored.object("state")
    strange = sorted(saved.keys() - {field.name for field in MODELS[name]._schema})
    if strange:
        raise stored.error(f"has the state {quoted(strange[0])}, which {name} does not have")
    state = {k: decode(v, f"state.{k}", stored) for k, v in saved.items()}
    unknown = sorted(parameters.keys() - inspect.signature(MODELS[name]).parameters.keys())
    if unknown:
        raise stored.error(f"has the parameter {quoted(unknown[0])}, which {name} does not have")
    try:
        model: TopicModel = MODELS[name](**parameters)
        model._restore(state)
    except Exception as error:
        # Whatever a state that is not a model's makes go wrong, the file is at fault.
        raise stored.misdescribed(name, error) from error
    return model
