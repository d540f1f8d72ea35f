"""One function for each kind of data set: from a folder to a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.corpus.options import VectorizerOptions
from laconic.datasets.files import (
    column,
    damaged,
    read_arrays,
    read_json,
    read_json_lines,
    read_lines,
    read_rows,
    reading,
    require,
)
from laconic.datasets.records import (
    Counts,
    Graph,
    Groups,
    Images,
    Multimodal,
    Parallel,
    Retrieval,
    Strings,
    Texts,
)
from laconic.datasets.usenet import PARTS, check_parts, strip_message

# These texts are tokens already, with stop words and rare words left out.
_TOKENS: VectorizerOptions = {
    "token_pattern": r"\S+",
    "lowercase": False,
    "stop_words": None,
    "min_df": 1,
    "max_df": 1.0,
}
_AREAS = ("database", "data mining", "machine learning", "information retrieval")


def load_texts(name: str, folder: Path) -> Texts:
    """Read ``docs.jsonl``: id and text, perhaps title, label and split."""
    path = require(folder, "docs.jsonl")
    records = read_json_lines(path)
    labels = column(records, "label", path) if "label" in records[0] else None
    splits = column(records, "split", path) if "split" in records[0] else None
    return Texts(
        name=name,
        labels=None if labels is None else _strings(labels),
        splits=None if splits is None else _strings(splits),
        options=_TOKENS if name.startswith("octis_") else None,
        **_documents(records, path, labels),
    )


def load_newsgroups(name: str, folder: Path, strip: Iterable[str] = PARTS) -> Texts:
    """Read 20 Newsgroups, without the parts of messages that `strip` names."""
    parts = check_parts(strip)
    messages = load_texts(name, folder)
    messages.texts[:] = [strip_message(text, parts) for text in messages.texts]
    return messages


def load_reuters(name: str, folder: Path) -> Texts:
    """Read Reuters-21578; its splits are ModApte's."""
    path = require(folder, "docs.jsonl")
    records = read_json_lines(path)
    sides = {("TRAIN", "YES"): "train", ("TEST", "YES"): "test"}
    marks = zip(column(records, "lewis", path), column(records, "has_topics", path), strict=True)
    return Texts(
        name=name,
        label_sets=[tuple(topics) for topics in column(records, "topics", path, list)],
        splits=_strings(sides.get(mark, "unused") for mark in marks),
        **_documents(records, path, None),
    )


def load_retrieval(name: str, folder: Path) -> Retrieval:
    """Read ``docs.jsonl``, ``queries.jsonl`` and ``qrels.tsv``."""
    path = require(folder, "docs.jsonl")
    documents = _documents(read_json_lines(path), path, None)
    path = require(folder, "queries.jsonl")
    records = read_json_lines(path)
    ids = _unique(column(records, "id", path), path)
    queries = dict(zip(ids, column(records, "text", path), strict=True))
    splits = column(records, "split", path) if "split" in records[0] else None
    more = [{k: v for k, v in record.items() if k not in ("id", "text", "split")} for record in records]
    return Retrieval(
        name=name,
        queries=queries,
        qrels=_qrels(require(folder, "qrels.tsv"), queries, set(documents["ids"])),
        query_splits=None if splits is None else dict(zip(ids, splits, strict=True)),
        query_extra=dict(zip(ids, more, strict=True)),
        **documents,
    )


def load_counts(name: str, folder: Path) -> Counts:
    """Read ``counts.npz``, ``vocab.txt`` and ``papers.jsonl``."""
    path = require(folder, "counts.npz")
    arrays = read_arrays(path, ["data", "indices", "indptr", "shape"])
    counts = _sparse(path, arrays["data"], arrays["indices"], arrays["indptr"], arrays["shape"])
    words = require(folder, "vocab.txt")
    vocabulary = _names(read_lines(words), counts.shape[1], words)
    path = require(folder, "papers.jsonl")
    records = read_json_lines(path)
    _check_length(records, counts.shape[0], path, "records")
    return Counts(
        name=name,
        counts=counts,
        vocabulary=vocabulary,
        ids=_strings(_unique(map(str, column(records, "id", path, int)), path)),
        titles=[title.strip() for title in column(records, "title", path)],
        authors=[tuple(authors) for authors in column(records, "authors", path, list)],
    )


def load_images(name: str, folder: Path) -> Images:
    """Read ``X`` and ``y``, and perhaps ``scale``, of an ``.npz`` file."""
    path = require(folder, f"{name}_32x32.npz")
    arrays = read_arrays(path, ["X", "y"], ["scale"])
    X, scale = arrays["X"], float(arrays.get("scale", np.array(255.0)))
    if X.ndim != 2 or X.dtype.kind not in "uif" or round(X.shape[1] ** 0.5) ** 2 != X.shape[1]:
        raise damaged(path, f"X is no array of square images but {X.dtype} of shape {X.shape}")
    _check_length(arrays["y"], len(X), path, "labels")
    return Images(name=name, X=X / scale, labels=arrays["y"].astype(np.int64), scale=scale)


def load_graph(name: str, folder: Path) -> Graph:
    """Read features and graph, as the parts of CSR arrays, of an ``.npz`` file."""
    path = require(folder, f"{name}.npz")
    parts = ["indices", "indptr", "shape"]
    stored = [f"{array}_{part}" for array in ("adj", "attr") for part in parts]
    names = [*stored, "attr_data", "labels", "class_names", "node_names"]
    arrays = read_arrays(path, names, ["attr_names"])
    features = _sparse(path, arrays["attr_data"], *(arrays[f"attr_{p}"] for p in parts))
    n_nodes, n_terms = features.shape
    # The values of the links are not stored: they are ones.
    ones = np.ones(len(arrays["adj_indices"]), np.float32)
    adjacency = _sparse(path, ones, *(arrays[f"adj_{p}"] for p in parts))
    if adjacency.shape != (n_nodes, n_nodes):
        raise damaged(path, f"the graph has shape {adjacency.shape}, but there are {n_nodes} nodes")
    _check_length(arrays["labels"], n_nodes, path, "labels")
    _check_length(arrays["node_names"], n_nodes, path, "node_names")
    return Graph(
        name=name,
        features=features,
        adjacency=adjacency,
        labels=_classes(arrays["labels"], arrays["class_names"], path),
        ids=_strings(_unique(arrays["node_names"].tolist(), path)),
        vocabulary=_names(arrays["attr_names"].tolist(), n_terms, path) if "attr_names" in arrays else None,
    )


def load_dblp(name: str, folder: Path) -> Graph:
    """Read papers and authors: a node is an author with a label, a link the number of common papers."""
    path = require(folder, "authors.tsv")
    rows = [(author, label) for author, _, label in read_rows(path, 3)[1:] if label]
    ids = _unique([author for author, _ in rows], path)
    with reading(path):
        labels = _classes(np.array([int(label) for _, label in rows], np.int64), np.array(_AREAS), path)
    path = require(folder, "papers.jsonl")
    papers = read_json_lines(path)
    titles, terms = column(papers, "title", path), column(papers, "terms", path, list)
    vocabulary = sorted({term for paper in terms for term in paper})
    number = {author: n for n, author in enumerate(ids)}
    writers = [
        sorted({number[author] for author in authors if author in number})
        for authors in column(papers, "authors", path, list)
    ]
    columns = {term: m for m, term in enumerate(vocabulary)}
    wrote = _incidence(writers, len(ids)).T.tocsr()
    features = wrote @ _incidence([[columns[term] for term in paper] for paper in terms], len(vocabulary))
    together = (wrote @ wrote.T).tocsr()
    together.setdiag(0)
    together.eliminate_zeros()
    wrote.sort_indices()
    papers_of = np.split(wrote.indices, wrote.indptr[1:-1])
    return Graph(
        name=name,
        features=_canonical(features),
        adjacency=_canonical(together),
        labels=labels,
        ids=_strings(ids),
        vocabulary=_strings(vocabulary),
        texts=["\n".join(titles[paper] for paper in mine) for mine in papers_of],
    )


def load_parallel(name: str, folder: Path) -> Parallel:
    """Read ``pairs.jsonl``: id, and text and title in German and English."""
    path = require(folder, "pairs.jsonl")
    records = read_json_lines(path)
    languages = ("de", "en")
    taken = {"id", *languages, *(f"title_{language}" for language in languages)}
    return Parallel(
        name=name,
        texts={language: column(records, language, path) for language in languages},
        titles={language: column(records, f"title_{language}", path) for language in languages},
        ids=_strings(_unique(column(records, "id", path), path)),
        extra=_extra(records, taken),
    )


def load_multimodal(name: str, folder: Path) -> Multimodal:
    """Read the features of images and texts; the training rows come first."""
    path = require(folder, f"{name}.npz")
    sources = {"image": "I", "text": "T_tfidf", "topics": "T", "labels": "y"}
    sides = [f"{source}_{side}" for source in sources.values() for side in ("tr", "te")]
    arrays = read_arrays(path, [*sides, "categories"])
    with reading(path):
        joined = {key: np.concatenate([arrays[f"{s}_tr"], arrays[f"{s}_te"]]) for key, s in sources.items()}
    n_train, n_rows = len(arrays["y_tr"]), len(joined["labels"])
    for key, values in joined.items():
        _check_length(values, n_rows, path, key)
    pairs = require(folder, "pairs.tsv")
    rows = read_rows(pairs, 4)[1:]
    _check_length(rows, n_rows, pairs, "rows")
    splits = _strings(split for split, _, _, _ in rows)
    if not ((splits[:n_train] == "train").all() and (splits[n_train:] == "test").all()):
        raise damaged(pairs, f"its splits are not those of {path.name}")
    return Multimodal(
        name=name,
        modalities={
            "image": joined["image"],
            "text": _canonical(csr_array(joined["text"])),
            "topics": joined["topics"],
        },
        labels=_classes(joined["labels"].astype(np.int64) - 1, arrays["categories"], path),
        splits=splits,
        ids=_strings(_unique([f"{text}/{image}" for _, text, image, _ in rows], pairs)),
    )


def load_groups(name: str, folder: Path) -> Groups:
    """Read ``expression.npz`` and ``groups.json``."""
    path = require(folder, "expression.npz")
    arrays = read_arrays(path, ["X", "y", "genes"])
    X = arrays["X"]
    if X.ndim != 2:
        raise damaged(path, f"X has shape {X.shape}")
    _check_length(arrays["y"], len(X), path, "labels")
    genes = _names(arrays["genes"].tolist(), X.shape[1], path)
    labels = _classes(arrays["y"], np.array(["normal", "mutated"]), path)
    numbers = {gene: m for m, gene in enumerate(genes)}
    path = require(folder, "groups.json")
    members = read_json(path)
    if not isinstance(members, dict) or not all(isinstance(m, list) for m in members.values()):
        raise damaged(path, "it does not map names to lists of genes")
    # Pathways also name genes that were not measured.
    groups = {
        group: np.array(sorted({numbers[gene] for gene in names if gene in numbers}), np.int64)
        for group, names in members.items()
    }
    return Groups(name=name, X=X.astype(np.float32), features=genes, groups=groups, labels=labels)


def _documents(records: list[dict[str, Any]], path: Path, labels: list[str] | None) -> dict[str, Any]:
    texts = column(records, "text", path)
    titles = column(records, "title", path) if "title" in records[0] else None
    ids = column(records, "id", path)
    if labels is not None and len(set(ids)) < len(ids):
        ids = [f"{label}/{id}" for label, id in zip(labels, ids, strict=True)]
    if titles is not None:
        texts = [_titled(title, text) for title, text in zip(titles, texts, strict=True)]
    return {
        "texts": texts,
        "ids": _strings(_unique(ids, path)),
        "titles": titles,
        "extra": _extra(records, {"id", "text", "title", "label", "split"}),
    }


def _titled(title: str, text: str) -> str:
    # Some texts repeat their title, and half of CACM has nothing but a title.
    return text if not title or text.startswith(title.strip()) else f"{title}\n{text}".rstrip("\n")


def _extra(records: list[dict[str, Any]], taken: set[str]) -> dict[str, list[Any]]:
    return {key: [record.get(key) for record in records] for key in records[0] if key not in taken}


def _qrels(path: Path, queries: dict[str, str], documents: set[str]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for number, (query, document, grade) in enumerate(read_rows(path, 3), start=1):
        if query not in queries or document not in documents:
            raise damaged(path, f"row {number} is about query {query}, document {document}: no such pair")
        with reading(path):
            qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def _sparse(
    path: Path, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]
) -> csr_array:
    # Checked in full, since compiled code trusts the indices.
    with reading(path):
        n_rows, n_columns = map(int, shape)
        X = csr_array((data.astype(np.float32), indices, indptr), shape=(n_rows, n_columns))
        X.check_format(full_check=True)
    return _canonical(X)


def _canonical(X: csr_array) -> csr_array:
    X = csr_array(X, dtype=np.float32)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _incidence(lists: list[list[int]], n_columns: int) -> csr_array:
    """Count, for each list, how often it has each number."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    indices = np.array([number for row in lists for number in row], np.int64)
    return csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(lists), n_columns))


def _classes(numbers: NDArray[Any], names: NDArray[Any], path: Path) -> Strings:
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(names)):
        raise damaged(path, f"there are labels other than those of the {len(names)} classes")
    return _strings(names[numbers].tolist())


def _names(values: list[str], length: int, path: Path) -> Strings:
    _check_length(values, length, path, "names of columns")
    return _strings(_unique(values, path))


def _unique(ids: Iterable[str], path: Path) -> list[str]:
    counts = Counter(ids)
    twice = next((id for id, count in counts.items() if count > 1), None)
    if twice is not None:
        raise damaged(path, f"{twice!r} occurs {counts[twice]} times, but names must differ")
    return list(counts)


def _check_length(values: Any, length: int, path: Path, what: str) -> None:
    if len(values) != length:
        raise damaged(path, f"there are {len(values):,} {what} for {length:,}")


def _strings(values: Iterable[Any]) -> Strings:
    return np.array(list(values), dtype=object)
