"""A search index on disk: a bundle with documents; until format 3, a directory inside that of its model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from laconic.bundle import Bundle, BundleError, Documents, load
from laconic.corpus import Corpus, CorpusError, Vectorizer
from laconic.errors import SearchError
from laconic.reading.strings import Strings, as_names, check_unique
from laconic.search.arguments import checked_blend
from laconic.search.blend import BlendedMatcher
from laconic.search.index import SCALINGS, SearchIndex
from laconic.search.terms import TermMatcher, matcher_of
from laconic.search.topics import SIMILARITIES, Part, TopicMatcher
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
    made_of = index.bundle
    bundle = Bundle(
        index.model,
        None if index.modality is not None else index.vectorizer,
        vectorizers=_vectorizers(index, path),
        # An index is of one modality; documents that have more keep them.
        documents=index.documents if made_of is None else made_of.documents,
        search_settings=index.settings(),
    )
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


def old_documents(bundle: Bundle, path: Path) -> Documents | None:
    """The documents of an index that was kept beside a model; None if there is none, or of another model."""
    index = read_old_index(bundle, path)
    return None if index is None else index.documents


def old_index(bundle: Bundle) -> SearchIndex | None:
    """The index that was kept beside the model of a bundle, where its documents come from that."""
    return None if bundle.path is None else read_old_index(bundle, bundle.path)


def read_old_index(bundle: Bundle, path: Path, *, verify: bool = True) -> SearchIndex | None:
    """Read the index that laconic kept in the directory of a model until format 3 of bundles.

    Parameters
    ----------
    bundle : Bundle
        The model.
    path : Path
        Its directory.
    verify : bool
        As for `SearchIndex.load`.

    Returns
    -------
    SearchIndex or None
        Its arrays are mapped into memory and read-only. None if there is no index.
    """
    if not has_old_index(path):
        return None
    stored = read_directory(path / FOLDER, INDEX, mapped=True, verify=verify)
    modality = stored.object("topics").get("modality")
    vectorizer = _vectorizer(bundle, modality, stored)
    if stored.document.get("model") != fingerprint(bundle.model, vectorizer):
        raise SearchError(
            f"{stored.path}: is the index of another model than the one in {path}, which was fitted "
            "again since; make the index again"
        )
    terms = _read_terms(stored)
    matcher = BlendedMatcher(terms, _read_topics(stored, bundle.model), _choice(stored, "scaling", SCALINGS))
    ids = _read_ids(stored, terms.n_documents)
    if terms.columns.shape[1] != len(vectorizer.vocabulary) or matcher.topics.n_documents != len(ids):
        raise stored.error("has parts of different sizes")
    texts = None
    if stored.document.get("texts") is not None:
        texts = read_strings(stored.document["texts"], "texts", stored)
        if len(texts) != len(ids):
            raise stored.error(f"has {len(texts)} texts for {len(ids)} documents")
    try:
        blend = checked_blend(stored.document.get("blend"))
    except ValueError as error:
        raise stored.error(f"has no valid 'blend' ({error})") from error
    corpus = Corpus(terms.columns.tocsr(), vectorizer, ids=ids, texts=texts)
    documents = Documents.of(bundle.model, {matcher.topics.modality or "": corpus})
    return SearchIndex._restored(None, bundle.model, vectorizer, documents, matcher, blend)


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


def _choice(stored: StoredDirectory, key: str, choices: tuple[str, ...]) -> str:
    value = stored.document.get(key, stored.object("topics").get(key))
    if value not in choices:
        raise stored.error(f"has no valid {key!r}")
    return str(value)


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


def _read_terms(stored: StoredDirectory) -> TermMatcher:
    described = stored.object("terms")
    counts = described.get("counts")
    if not isinstance(counts, dict):
        raise stored.error("has no valid counts")
    columns: Any = csc_array(read_csr(counts, "terms.counts", stored).T)
    columns.has_canonical_format = True
    idf = decode(described.get("idf"), "terms.idf", stored)
    if (
        columns.dtype != np.float32
        or not isinstance(idf, np.ndarray)
        or idf.dtype != np.float64
        or idf.shape != (columns.shape[1],)
        or columns.data.min(initial=1) <= 0
        or not columns.shape[0]
    ):
        raise stored.error("has counts or an idf of the wrong kind")
    parameters: Any = {**described, "idf": idf}
    parameters.pop("counts")
    try:
        return matcher_of(columns, parameters)
    except (ValueError, TypeError) as error:
        raise stored.misdescribed("way to match terms", error) from error


def _read_topics(stored: StoredDirectory, model: Any) -> TopicMatcher:
    described = stored.object("topics")
    similarity, parts = _choice(stored, "similarity", SIMILARITIES), described.get("parts")
    if not isinstance(parts, list) or not parts:
        raise stored.error("has no valid parts of its topics")
    read = [_read_part(stored, part, number, similarity, model) for number, part in enumerate(parts)]
    documents = np.sort(np.concatenate([part.documents for part in read]))
    if not np.array_equal(documents, np.arange(documents.size)):
        raise stored.error("has documents without topics, or with those of two classes")
    modality: Any = described.get("modality")
    return TopicMatcher.restored(model, read, similarity=similarity, modality=modality)


def _read_part(stored: StoredDirectory, described: Json, number: int, similarity: str, model: Any) -> Part:
    if not isinstance(described, dict) or described.keys() != set(Part._fields):
        raise stored.error("has no valid part of its topics")
    found = Part(
        **{name: decode(value, f"topics.{number}.{name}", stored) for name, value in described.items()}
    )
    n_topics = found.topics.size if isinstance(found.topics, np.ndarray) else -1
    gram: NDArray[Any] | None = found.gram
    fits = (
        _is_array(found.documents, np.int64, 1)
        and _is_array(found.topics, np.int64, 1)
        and _is_array(found.vectors, np.float32, 2)
        and found.vectors.shape == (found.documents.size, n_topics)
        and found.topics.min(initial=0) >= 0
        and found.topics.max(initial=0) < model.components_.shape[0]
        and found.vectors.flags.c_contiguous
        and (gram is None) == (similarity == "cosine")
        and (gram is None or (_is_array(gram, np.float64, 2) and gram.shape == (n_topics, n_topics)))
    )
    if not fits:
        raise stored.error("has topics of the wrong kind or size")
    return found


def _is_array(value: Any, dtype: Any, ndim: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == ndim
