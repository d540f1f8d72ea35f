"""Documents that come to an index, and that leave it, while its model stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.bundle import Documents
from laconic.corpus import Corpus
from laconic.errors import SearchError
from laconic.reading.dates import as_dates
from laconic.reading.strings import UNKNOWN
from laconic.search.arguments import check_mapping, checked_new_ids, checked_texts
from laconic.search.blend import BlendedMatcher
from laconic.search.topics import topics_of
from laconic.search.vectors import new_vectors

if TYPE_CHECKING:
    from laconic.matrices import CSR
    from laconic.search.index import SearchIndex

Changed = tuple[Documents, BlendedMatcher]
"""The documents of an index, and what compares them with queries."""


def with_more(
    index: SearchIndex,
    documents: Mapping[str, str],
    labels: Mapping[str, str] | None,
    dates: Mapping[str, Any] | None,
    vectors: Any,
) -> Changed | None:
    """Those of an index with new documents at the end, or None without new ones; see `SearchIndex.add`."""
    check_mapping("documents", documents, "texts")
    if labels is not None:
        check_mapping("labels", labels, "classes")
    if dates is not None:
        check_mapping("dates", dates, "dates")
    ids = checked_new_ids(documents, index.ids.tolist())
    if not len(ids):
        return None
    texts = checked_texts(documents.values(), len(ids))
    own = new_vectors(index.vectors, index.encoder, texts, vectors)
    counts, matcher = index.vectorizer.count(texts), index.matcher
    rows = index.rows(counts)
    given = [None if labels is None else labels.get(id) for id in documents]
    more = Corpus(
        counts,
        index.vectorizer,
        ids=ids,
        labels=_labels(index, rows, given),
        dates=[dates.get(id) for id in documents] if dates else None,
        texts=texts,
    )
    new = Documents.of(index.model, {index.modality or "": more}).with_vectors(own)
    topics = matcher.topics.extended(rows, more.labels, new.weights)
    terms = matcher.terms.extended(counts)
    return index.documents.extended(new), BlendedMatcher(terms, topics, matcher.scaling)


def without(index: SearchIndex, gone: set[int]) -> Changed:
    """Those of an index without some documents, by their numbers; at least one must stay."""
    stay = np.array([row for row in range(index.n_documents) if row not in gone], np.int64)
    if not stay.size:
        raise SearchError("these are all the documents of the index: at least one must stay")
    documents, matcher = index.documents.chosen(stay), index.matcher
    terms = matcher.terms.with_columns(documents.corpus().counts_csc)
    topics = topics_of(index.model, documents, matcher.topics.similarity, index.modality)
    return documents, BlendedMatcher(terms, topics, matcher.scaling)


def checked_update(
    index: SearchIndex, documents: Mapping[str, str], dates: Mapping[str, Any] | None, vectors: Any
) -> tuple[set[str], Any]:
    """The ids that new documents take from others, and their vectors; checked before anything is removed."""
    check_mapping("documents", documents, "texts")
    known = {str(id) for id in documents}.intersection(index.ids.tolist())
    if len(known) == index.n_documents:
        raise SearchError("this would replace all documents: fit a new model, or make a new index")
    texts = checked_texts(documents.values(), len(documents))
    own = new_vectors(index.vectors, index.encoder, texts, vectors)
    if dates is not None:
        check_mapping("dates", dates, "dates")
        as_dates(dates.values())
    return known, own


def _labels(index: SearchIndex, rows: CSR, given: list[str | None]) -> list[str] | None:
    """Labels of new documents; where none is given, the class that is predicted, or "unknown"."""
    if index.model.traits.classes:
        return [str(label) for label in index.model.classes_of(rows, given)]
    if all(label is None for label in given):
        return None
    return [UNKNOWN if label is None else str(label) for label in given]
