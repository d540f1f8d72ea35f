"""Collections by name: ``laconic:NAME`` for our data sets, ``ir_datasets:NAME`` for those of that package."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from laconic.errors import CorpusError
from laconic.reading import queries as files_of_queries
from laconic.reading import rankings
from laconic.reading.rankings import Queries

_SCHEMES = ("laconic:", "ir_datasets:")


class Collection(NamedTuple):
    """What gives queries and judgements."""

    queries: Callable[[], Queries]
    qrels: Callable[[], dict[str, dict[str, int]]]


def names_collection(path: str | os.PathLike[str]) -> bool:
    """Whether this is the name of a collection and not that of a file.

    >>> names_collection("laconic:cranfield"), names_collection("cranfield.jsonl")
    (True, False)
    """
    return isinstance(path, str) and path.startswith(_SCHEMES)


def read_queries(
    path: str | os.PathLike[str], *, fields: Sequence[str] = ("title",), encoding: str = "utf-8"
) -> Queries:
    """Read queries from a file, or those of a known collection.

    Parameters
    ----------
    path : str or path
        A file, possibly compressed: JSON lines with ``_id`` (or ``id``) and ``text``, as in BEIR
        (``.jsonl``); TREC topics (if the file begins with ``<``); or else lines with an id, a tab and a
        text. Or the name of a collection: ``laconic:NAME`` for a data set of `laconic.datasets`,
        ``ir_datasets:NAME`` for one of the package ir_datasets, if that is installed.
        ``laconic:NAME/SPLIT`` takes a part of the queries, such as ``laconic:scifact/test``.
    fields : sequence of str, default=("title",)
        For TREC topics, the fields that make up the text: "title", "desc", "narr".
    encoding : str, default="utf-8"
        Of the file.

    Returns
    -------
    dict of str to str
        From ids to texts, in the order of the file.

    Raises
    ------
    CorpusError
        If the file cannot be used; the message names the file and the line.
    """
    if names_collection(path):
        return find_collection(str(path)).queries()
    return files_of_queries.read_queries(path, fields=fields, encoding=encoding)


def read_qrels(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> dict[str, dict[str, int]]:
    """Read judgements from a file, or those of a known collection.

    Parameters
    ----------
    path : str or path
        A file, possibly compressed: TREC's four columns (query, anything, document, grade) separated by
        white space, or three (query, document, grade) separated by tabs, with or without BEIR's header. Or
        the name of a collection, as in `read_queries`.
    encoding : str, default="utf-8"
        Of the file.

    Returns
    -------
    dict of str to dict of str to int
        From the ids of queries to those of documents to grades, which are from -1000 to 1000.

    Raises
    ------
    CorpusError
        If the file cannot be used; the message names the file and the line.
    """
    if names_collection(path):
        return find_collection(str(path)).qrels()
    return rankings.read_qrels(path, encoding=encoding)


def find_collection(name: str) -> Collection:
    """Find a collection by its name; nothing of it may be read yet.

    Parameters
    ----------
    name : str
        One of those that `names_collection` knows. A split of ours follows after a slash:
        ``laconic:scifact/test``.

    Returns
    -------
    Collection
        Functions that read queries and judgements.

    Raises
    ------
    CorpusError, DatasetError
        If there is none of that name, or it has no queries.
    ValueError
        If the package ir_datasets is needed.
    """
    scheme, _, rest = name.partition(":")
    return _own(rest) if scheme == "laconic" else _foreign(rest)


def _own(name: str) -> Collection:
    from laconic.datasets import Retrieval, load

    dataset, _, split = name.partition("/")
    loaded = load(dataset)
    if not isinstance(loaded, Retrieval):
        raise CorpusError(
            f"laconic:{dataset} has no queries; `laconic datasets` says which are for retrieval"
        )
    chosen = loaded.split(split) if split else loaded
    return Collection(lambda: chosen.queries, lambda: chosen.qrels)


def _foreign(name: str) -> Collection:
    try:
        ir_datasets: Any = import_module("ir_datasets")
    except ModuleNotFoundError as error:
        raise ValueError(
            f"ir_datasets:{name} needs the package ir_datasets: pip install ir_datasets"
        ) from error
    try:
        dataset = ir_datasets.load(name)
    except KeyError as error:
        raise CorpusError(f"the package ir_datasets has no collection {name!r}") from error

    def refuse(what: str) -> NoReturn:
        raise CorpusError(f"ir_datasets:{name} has no {what}; name one of its parts, such as {name}/test")

    def queries() -> Queries:
        if not dataset.has_queries():
            refuse("queries")
        return {str(query.query_id): query.default_text() for query in dataset.queries_iter()}

    def qrels() -> dict[str, dict[str, int]]:
        if not dataset.has_qrels():
            refuse("judgements")
        found: dict[str, dict[str, int]] = {}
        for judged in dataset.qrels_iter():
            found.setdefault(str(judged.query_id), {})[str(judged.doc_id)] = int(judged.relevance)
        return found

    return Collection(queries, qrels)
