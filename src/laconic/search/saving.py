"""A search index on disk: a bundle with documents; until format 3, a directory inside that of its model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, issparse

from laconic.bundle import Bundle, BundleError, Documents, load
from laconic.corpus import Corpus, CorpusError, Vectorizer
from laconic.errors import SearchError
from laconic.reading.strings import Strings, as_names, check_unique
from laconic.search.index import SearchIndex
from laconic.storage.arrays import read_csr
from laconic.storage.lines import read_strings
from laconic.storage.manifest import FILE_NAME, Json, Kind
from laconic.storage.reading import StoredDirectory, read_directory
from laconic.storage.values import decode

INDEX = Kind(
    noun="search index", manifest="index.json", format="laconic-search", version=1, error=SearchError
)

FOLDER = "search"
"""Where, in the directory of a model, its index was."""


def save_index(index: SearchIndex, path: str | os.PathLike[str]) -> None:
    """Save an index with its model and its documents; see `SearchIndex.save`."""
    made_of = None if index.bundle is None else index.bundle.documents
    bundle = Bundle(
        index.model,
        None if index.modality is not None else index.vectorizer,
        vectorizers=_vectorizers(index, path),
        # An index is of one modality; documents that have more keep them.
        documents=index.documents if made_of is None else made_of.with_vectors(index.documents.vectors),
        search_settings=index.settings(),
    )
    bundle.notes = index.notes
    bundle.save(path)


def with_settings(bundle: Bundle, settings: Mapping[str, Any]) -> SearchIndex:
    """The index of a bundle's documents with settings that were saved; everything is checked."""
    try:
        return SearchIndex._with_settings(bundle, settings)
    except BundleError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise SearchError(
            f"the bundle's settings of the search are not valid ({error}); make the index again with "
            "SearchIndex(bundle) and save it"
        ) from error


def _vectorizers(index: SearchIndex, path: str | os.PathLike[str]) -> Mapping[str, Vectorizer]:
    """The vocabularies of modalities: those of the bundle, or that are saved with the same model there."""
    if index.modality is None:
        return {}
    others = _vectorizers_there(index, path) if index.bundle is None else index.bundle.vectorizers
    return {**others, index.modality: index.vectorizer}


def has_old_index(path: str | os.PathLike[str]) -> bool:
    """Whether the directory of a model has an index in it, as laconic kept them until format 3 of bundles."""
    return (Path(path) / FOLDER / INDEX.manifest).exists()


def remove_old_index(path: Path) -> None:
    """Remove an index that was kept beside a model; files of others stay."""
    folder = path / FOLDER
    if not has_old_index(path):
        return
    (folder / INDEX.manifest).unlink()
    for file in folder.iterdir():
        if FILE_NAME.fullmatch(file.name):
            file.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


class OldIndex(NamedTuple):
    """What was kept beside a model: documents, and how they were searched."""

    documents: Documents
    settings: dict[str, Any]


def read_old_index(bundle: Bundle, path: Path, *, verify: bool = True) -> OldIndex | None:
    """Read the index that laconic kept in the directory of a model until format 3 of bundles.

    Parameters
    ----------
    bundle : Bundle
        The model.
    path : Path
        Its directory.
    verify : bool, default=True
        As in `laconic.load`.

    Returns
    -------
    OldIndex or None
        None if there is no index, or if it is one of another model, which was fitted again since.
    """
    if not has_old_index(path):
        return None
    stored = read_directory(path / FOLDER, INDEX, mapped=True, verify=verify)
    described = stored.object("topics")
    modality = described.get("modality")
    vectorizer = _vectorizer(bundle, modality, stored)
    if stored.document.get("model") != fingerprint(bundle.model, vectorizer):
        return None
    columns, terms = _read_terms(stored)
    if columns.shape[1] != len(vectorizer.vocabulary):
        raise stored.error("has parts of different sizes")
    n_documents = columns.shape[0]
    # Before anything is made that is as long as what the index says of itself.
    ids = _read_ids(stored, n_documents)
    texts = None
    if stored.document.get("texts") is not None:
        texts = read_strings(stored.document["texts"], "texts", stored)
        if len(texts) != n_documents:
            raise stored.error(f"has {len(texts)} texts for {n_documents} documents")
    corpus = Corpus(
        columns.tocsr(),
        vectorizer,
        ids=ids,
        labels=_read_classes(stored, n_documents) if bundle.model.traits.classes else None,
        texts=texts,
    )
    settings = {
        "blend": stored.document.get("blend"),
        "scaling": stored.document.get("scaling"),
        "similarity": described.get("similarity"),
        "modality": modality,
        "terms": terms,
    }
    name = modality if isinstance(modality, str) else ""
    return OldIndex(Documents.of(bundle.model, {name: corpus}), settings)


def fingerprint(model: Any, vectorizer: Vectorizer) -> str:
    """What tells a model and its vocabulary from others: the SHA-256 sum of topics and words."""
    digest = hashlib.sha256(type(model).__name__.encode())
    topics = model.components_
    arrays = (topics.indptr, topics.indices, topics.data) if issparse(topics) else (topics,)
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    for term in vectorizer.vocabulary:
        digest.update(f"{term}\n".encode())
    return digest.hexdigest()


def _vectorizers_there(index: SearchIndex, path: str | os.PathLike[str]) -> Mapping[str, Vectorizer]:
    """The vocabularies that are saved with the same model in a directory; an index knows just one of them."""
    try:
        there = load(path)
    except BundleError:
        # Nothing is lost where no model can be read; saving refuses to replace what is not one.
        return {}
    mine = fingerprint(index.model, index.vectorizer)
    return there.vectorizers if fingerprint(there.model, index.vectorizer) == mine else {}


def _vectorizer(bundle: Bundle, modality: Json, stored: StoredDirectory) -> Vectorizer:
    if modality is not None and not isinstance(modality, str):
        raise stored.error("has no valid modality")
    try:
        return bundle.vectorizer_of(modality)
    except ValueError as error:
        raise stored.error(f"does not fit its model ({error})") from error


def _read_ids(stored: StoredDirectory, n_documents: int) -> Strings:
    file = stored.document.get("ids")
    try:
        ids = as_names(read_strings(file, "ids", stored), "id")
        check_unique(ids)
    except CorpusError as error:
        raise stored.error(f"has unfit ids ({error})", file) from error
    if len(ids) != n_documents:
        raise stored.error(f"has {len(ids)} ids for {n_documents} documents", file)
    return ids


def _read_terms(stored: StoredDirectory) -> tuple[Any, dict[str, Any]]:
    """The counts by columns, and how terms were matched; settings are checked where they are used."""
    described = stored.object("terms")
    counts = described.get("counts")
    if not isinstance(counts, dict):
        raise stored.error("has no valid counts")
    columns: Any = csc_array(read_csr(counts, "terms.counts", stored).T)
    columns.has_canonical_format = True
    if columns.dtype != np.float32 or columns.data.min(initial=1) <= 0 or not columns.shape[0]:
        raise stored.error("has counts of the wrong kind")
    settings = {name: value for name, value in described.items() if name not in ("counts", "idf")}
    return columns, {**settings, "idf": decode(described.get("idf"), "terms.idf", stored)}


def _read_classes(stored: StoredDirectory, n_documents: int) -> list[str]:
    """The classes that documents had: each part of them has one."""
    parts = stored.object("topics").get("parts")
    classes = np.full(n_documents, None, object)
    for number, part in enumerate(parts if isinstance(parts, list) else []):
        described = part if isinstance(part, dict) else {}
        members = decode(described.get("documents"), f"topics.{number}.documents", stored)
        if not isinstance(members, np.ndarray) or members.dtype != np.int64 or members.ndim != 1:
            raise stored.error("has no valid part of its topics")
        if members.size and (members.min() < 0 or members.max() >= n_documents):
            raise stored.error("has parts of different sizes")
        classes[members] = str(described.get("label"))
    if any(label is None for label in classes):
        raise stored.error("has documents without a class")
    return list(classes)
