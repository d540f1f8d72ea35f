"""What users give to a search index, checked before anything is done with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from laconic.reading.strings import as_names, check_unique, is_unicode

if TYPE_CHECKING:
    from laconic.matrices import CSR
    from laconic.models.base import TopicModel
    from laconic.reading.strings import Strings


def checked_blend(blend: Any) -> float:
    """A blend as a number from 0 to 1.

    >>> checked_blend(1.5)
    Traceback (most recent call last):
    ValueError: blend must be a number from 0 (terms only) to 1 (topics only), not 1.5
    """
    if isinstance(blend, bool) or not isinstance(blend, Real) or not 0 <= float(blend) <= 1:
        raise ValueError(f"blend must be a number from 0 (terms only) to 1 (topics only), not {blend!r}")
    return float(blend)


def checked_queries(queries: Any) -> dict[str, str]:
    """Queries by id, all of them texts."""
    check_mapping("queries", queries, "texts")
    for name, query in queries.items():
        if not isinstance(query, str):
            raise ValueError(f"query {name!r} is {type(query).__name__}, not a text")  # noqa: TRY004
    return dict(queries)


def checked_texts(texts: Iterable[str], n_documents: int) -> list[str]:
    """The texts of documents, one for each, all of which can be saved."""
    if isinstance(texts, str):
        raise ValueError("texts must be a list of strings, not one string")  # noqa: TRY004
    kept = list(texts)
    if len(kept) != n_documents:
        raise ValueError(f"there are {len(kept)} texts for {n_documents} documents: give one for each")
    for number, text in enumerate(kept):
        if not isinstance(text, str):
            raise ValueError(f"text {number} is {type(text).__name__}, not a string")  # noqa: TRY004
        if not is_unicode(text):
            raise ValueError(
                f"text {number} is not valid Unicode (it has half of a surrogate pair): read it with "
                'errors="replace"'
            )
    return kept


def checked_new_ids(documents: Mapping[Any, str], known: Iterable[str]) -> Strings:
    """The ids of documents that are to be added, which differ from each other and from those there are."""
    ids = as_names(documents, "id")
    # Keys that differ may be spelled alike, as 1 and "1".
    check_unique(ids)
    taken = set(known)
    for id in ids:
        if id in taken:
            raise ValueError(f"the index already has a document {id!r}; give the new one another id")
    return ids


def check_mapping(name: str, value: Any, values: str) -> None:
    """Refuse what is not a mapping, and say what it should lead to.

    >>> check_mapping("labels", ["sky"], "classes")
    Traceback (most recent call last):
    ValueError: labels are a mapping of ids to classes, not list
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} are a mapping of ids to {values}, not {type(value).__name__}")  # noqa: TRY004


def check_columns(counts: CSR, model: TopicModel, modality: str | None) -> None:
    """Refuse counts that have more columns than the model has terms, or fewer."""
    n_terms = model.n_terms_of(modality)
    if counts.shape[1] != n_terms:
        raise ValueError(
            f"the corpus has {counts.shape[1]} terms, but the model was fitted on {n_terms}: give "
            "documents with the vocabulary of the model"
        )


def check_names(vocabulary: Strings, model: TopicModel, modality: str | None) -> None:
    """Refuse a vocabulary that is not what the model calls its columns, if it has names for them."""
    names = model.term_names(modality)
    if names is None or len(names) != len(vocabulary):
        return
    for column, (name, term) in enumerate(zip(names, vocabulary, strict=True)):
        if name != term:
            raise ValueError(
                f"term {column} of the corpus is {str(term)!r}, but the model was fitted with "
                f"{str(name)!r} there: give documents with the vocabulary of the model"
            )
