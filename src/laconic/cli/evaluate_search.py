"""The rankings that ``laconic evaluate`` compares: those of a model, for queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from laconic.cli.console import say, waiting, warn
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
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
    from laconic.evaluate import read_queries, write_run

    with waiting("reading the queries") as status:
        asked = read_queries(queries)
        status.update(Text("making the index"))
        index = _index(bundle, corpus, path)
        _check_ids(index, grades)
        part = index.blend if blend is None else blend
        runs = {}
        for name, share in (("terms", 0.0), ("topics", 1.0), (f"blend {part:g}", part)):
            status.update(Text(f"searching by {name}"))
            runs[name] = index.run(asked, k=depth, blend=share)
    if target is not None:
        write_run(runs[f"blend {part:g}"], target)
        say(f"ranking written to {target}", whole=True)
    return runs


def _index(bundle: Bundle, corpus: Corpus | None, path: Path) -> SearchIndex:
    from laconic.search import SearchIndex

    if corpus is not None:
        return SearchIndex(corpus, bundle.model)
    if bundle.documents is None:
        raise ValueError(f"{path} has no documents to search: name them with --corpus PATH")
    return bundle.index


def _check_ids(index: SearchIndex, grades: Mapping[str, Mapping[str, int]]) -> None:
    """Refuse or warn where documents seem to have other names than the judgements give them."""
    ids = index.ids.tolist()
    known = set(ids)
    judged = {document for query in grades.values() for document in query}
    missing = judged - known
    if missing == judged:
        raise ValueError(
            f"the judgements are about documents such as {min(judged, default='')!r}, and the documents are "
            f"called {ids[0]!r} and so on: none in common; name the column of their ids with --id"
        )
    if missing:
        warn(
            f"{len(missing):,} of {plural(len(judged), 'judged document')} are not there, and cannot be found"
        )
    if ids == [str(number) for number in range(len(ids))]:
        warn(
            "the documents are numbered from 0: if the judgements have other ids, name their column with --id"
        )
