"""Is a directory that laconic wrote whole? Every byte, shape and version is looked at."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from laconic.errors import InputError
from laconic.words import plural, size


class Whole(NamedTuple):
    """A directory in which nothing is missing or damaged: what it is, and what is known of it."""

    noun: str
    facts: list[str]
    n_bytes: int


def check_directory(path: str | os.PathLike[str]) -> Whole:
    """Check a saved model, corpus, search index or checkpoint.

    Parameters
    ----------
    path : path-like
        Its directory.

    Returns
    -------
    Whole
        What it is.

    Raises
    ------
    InputError
        If it is none of these, or not whole; the message names the file, and what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> from laconic import Corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Corpus.from_texts(["red fish", "red bird"], min_df=1, max_df=1.0).save(folder)
    ...     check_directory(folder).facts
    ['2 documents', '3 terms', '4 non-zeros']
    """
    directory = Path(path)
    for manifest, check in _CHECKS.items():
        if (directory / manifest).exists():
            noun, facts = check(directory)
            n_bytes = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
            return Whole(noun, facts, n_bytes)
    if not directory.exists():
        raise InputError(f"{directory}: does not exist")
    raise InputError(
        f"{directory}: holds no model, corpus, index, ranker or checkpoint of laconic (there is none of "
        f"{', '.join(_CHECKS)})"
    )


def _model(path: Path) -> tuple[str, list[str]]:
    from laconic.bundle import load
    from laconic.bundle.pending import pending

    bundle = load(path)
    facts = [type(bundle.model).__name__, plural(len(bundle.model.topic_sizes_), "topic")]
    # read, and checked, when they are asked for
    documents = bundle.documents
    if documents is not None:
        facts.append(plural(len(documents), "document"))
        if any(corpus.texts is not None for corpus in documents.corpora.values()):
            facts.append("with their texts")
    if bundle.search_settings is not None:
        from laconic.search import SearchIndex

        SearchIndex.load(path)
        facts.append("with settings of its search")
    if pending(path) is not None:
        facts.append("with a refit to accept or discard")
    return "model", facts


def _corpus(path: Path) -> tuple[str, list[str]]:
    from laconic.corpus import Corpus

    corpus = Corpus.load(path)
    n_documents, n_terms = corpus.shape
    facts = [plural(n_documents, "document"), plural(n_terms, "term")]
    facts.append(plural(int(corpus.counts.nnz), "non-zero"))
    if corpus.parts is not None:
        facts.append(plural(len(corpus.parts), "shard"))
    return "corpus", facts


def _checkpoint(path: Path) -> tuple[str, list[str]]:
    from laconic.engines.checkpoints import check_saved

    found = check_saved(path)
    return "checkpoint", [f"of {found.model}", f"run {found.run + 1}, iteration {found.iteration}"]


def _index(path: Path) -> tuple[str, list[str]]:
    from laconic.search.saving import INDEX
    from laconic.storage.reading import read_directory

    stored = read_directory(path, INDEX)
    return "search index", [f"of an earlier format, with {plural(len(stored.files), 'file')}"]


def _ranker(path: Path) -> tuple[str, list[str]]:
    from laconic.search.ltr import RANKER
    from laconic.storage.reading import read_directory

    return "ranker", [plural(len(read_directory(path, RANKER).files), "file")]


_CHECKS: dict[str, Callable[[Path], tuple[str, list[str]]]] = {
    "model.json": _model,
    "corpus.json": _corpus,
    "checkpoint.json": _checkpoint,
    "index.json": _index,
    "ranker.json": _ranker,
}


def described(path: Path, whole: Whole) -> str:
    """What to say of a directory that is whole.

    >>> described(Path("nips"), Whole("corpus", ["2 documents", "3 terms"], 2048))
    'nips: intact corpus: 2 documents, 3 terms; 2.0 KB'
    """
    return f"{path}: intact {whole.noun}: {', '.join(whole.facts)}; {size(whole.n_bytes)}"
