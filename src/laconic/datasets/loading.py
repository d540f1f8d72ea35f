"""`load`: from the name of a data set to its record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Literal, overload

from laconic.datasets.folders import Info, lookup, present_folder
from laconic.datasets.records import (
    Counts,
    Dataset,
    Graph,
    Groups,
    Images,
    Multimodal,
    Parallel,
    Retrieval,
    Texts,
)
from laconic.datasets.registry import GraphName, ImagesName, RetrievalName, TextName
from laconic.datasets.usenet import PARTS
from laconic.errors import DatasetError


@overload
def load(name: Literal["20newsgroups"], *, strip: Iterable[str] | None = None) -> Texts: ...
@overload
def load(name: TextName) -> Texts: ...
@overload
def load(name: RetrievalName) -> Retrieval: ...
@overload
def load(name: ImagesName) -> Images: ...
@overload
def load(name: GraphName) -> Graph: ...
@overload
def load(name: Literal["nips12"]) -> Counts: ...
@overload
def load(name: Literal["europarl_de_en"]) -> Parallel: ...
@overload
def load(name: Literal["wikipedia_xmodal"]) -> Multimodal: ...
@overload
def load(name: Literal["p53_pathways"]) -> Groups: ...
@overload
def load(name: str, *, strip: Iterable[str] | None = None) -> Dataset: ...
def load(name: str, *, strip: Iterable[str] | None = None) -> Dataset:
    """Read a data set.

    Parameters
    ----------
    name : str
        One of those that `available` lists. A folder of your own with a ``PROVENANCE.md`` can be read, too,
        if it has a ``docs.jsonl`` with ids and texts, and perhaps titles, labels and splits; with a
        ``queries.jsonl`` and a ``qrels.tsv`` it is a retrieval collection. All of them may be compressed
        (``.gz``, ``.xz``).
    strip : iterable of {"headers", "quotes", "signatures"}, optional
        Only for 20newsgroups: the parts of messages to leave out. By default all of them, since the headers
        give the label away; ``strip=()`` leaves messages as they were.

    Returns
    -------
    Texts, Retrieval, Counts, Images, Graph, Parallel, Multimodal or Groups
        By the kind of data set.

    Raises
    ------
    DatasetError
        If there is no such data set, if it is not there, or if a file of it is damaged.

    Examples
    --------
    >>> import json, os, pathlib, tempfile
    >>> from unittest import mock
    >>> from laconic import datasets
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, LACONIC_DATA=folder):
    ...     path = pathlib.Path(folder, "fish")
    ...     path.mkdir()
    ...     _ = path.joinpath("PROVENANCE.md").write_text("Fish by colour.")
    ...     rows = [{"id": "1", "text": "red fish", "label": "red"}]
    ...     _ = path.joinpath("docs.jsonl").write_text("".join(map(json.dumps, rows)))
    ...     datasets.load("fish")
    Texts('fish', 1 documents, 1 labels)
    """
    info = lookup(name)
    if strip is not None and name != "20newsgroups":
        raise DatasetError(f"strip is only for 20newsgroups, not for {name}")
    folder = present_folder(info)
    return _loader(info, strip)(name, folder)


def _loader(info: Info, strip: Iterable[str] | None) -> Callable[[str, Path], Dataset]:
    # Imported here: to list data sets should not wait for scipy.
    from laconic.datasets import loaders

    own: dict[str, Callable[[str, Path], Dataset]] = {
        "20newsgroups": partial(loaders.load_newsgroups, strip=PARTS if strip is None else strip),
        "reuters21578": loaders.load_reuters,
        "dblp4": loaders.load_dblp,
    }
    kinds: dict[str, Callable[[str, Path], Dataset]] = {
        "text": loaders.load_texts,
        "retrieval": loaders.load_retrieval,
        "counts": loaders.load_counts,
        "images": loaders.load_images,
        "graph": loaders.load_graph,
        "parallel": loaders.load_parallel,
        "multimodal": loaders.load_multimodal,
        "groups": loaders.load_groups,
    }
    if info.kind is None:
        raise DatasetError(
            f"{info.folder} has no docs.jsonl (.gz, .xz) with ids and texts, which is what laconic needs to "
            "read a data set it does not know"
        )
    return own.get(info.name, kinds[info.kind])
