"""The rankings that ``laconic evaluate`` compares: those of a model, for queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from laconic.cli.screen.console import say, waiting, warn
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
    from laconic.evaluate.matching import Judged
    from laconic.search import SearchIndex


def rankings(
    bundle: Bundle,
    corpus: Corpus | None,
    path: Path,
    queries: str,
    grades: Mapping[str, Mapping[str, int]],
    blend: float | None,
    depth: int,
    target: Path | None,
) -> dict[str, Any]:
    """The rankings of terms alone, topics alone and both."""
    from laconic.evaluate import check_judged, rankings_of, read_queries, write_run

    with waiting("reading the queries") as status:
        asked = read_queries(queries)
        status.update(Text("making the index"))
        index = _index(bundle, corpus, path)
        _tell_ids(check_judged(index.ids.tolist(), grades))
        runs = rankings_of(
            index, asked, k=depth, blend=blend, say=lambda message: status.update(Text(message))
        )
    if target is not None:
        write_run(list(runs.values())[-1], target)
        say(f"ranking written to {target}", whole=True)
    return runs


def _index(bundle: Bundle, corpus: Corpus | None, path: Path) -> SearchIndex:
    from laconic.search import SearchIndex

    if corpus is not None:
        return SearchIndex(corpus, bundle.model)
    if bundle.documents is None:
        raise ValueError(f"{path} has no documents to search: name them with --corpus PATH")
    return bundle.index


def _tell_ids(judged: Judged) -> None:
    """Warn where documents seem to have other names than the judgements give them."""
    if judged.n_missing:
        documents = plural(judged.n_judged, "judged document")
        warn(f"{judged.n_missing:,} of {documents} are not in the collection, so they cannot be found")
    if judged.numbered:
        warn(
            "the documents are numbered from 0; if the judgements use other ids, name their column with --id"
        )
