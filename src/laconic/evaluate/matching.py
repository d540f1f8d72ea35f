"""Terms against topics against both: the rankings of an index, and whether its documents were judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.errors import CorpusError, Parameter

if TYPE_CHECKING:
    from laconic.search import SearchIndex


def rankings_of(
    index: SearchIndex,
    queries: Mapping[str, str],
    *,
    k: int = 1000,
    blend: float | None = None,
    say: Callable[[str], Any] = str,
) -> dict[str, Any]:
    """Rank documents for queries in three ways: by terms, by topics, and by both.

    Parameters
    ----------
    index : SearchIndex
        Of the documents.
    queries : mapping of str to str
        From ids to texts.
    k : int, default=1000
        At most this many documents for each query.
    blend : float, optional
        The part of topics in the third ranking; by default that of the index.
    say : callable, optional
        Called with a description of the next step.

    Returns
    -------
    dict of str to run
        Named "terms", "topics" and "blend", with the part; the last one is that of both.

    Examples
    --------
    >>> from laconic import PLSA, Corpus, SearchIndex
    >>> corpus = Corpus.from_texts(["sun and moon", "moon, sun", "salt and pepper", "pepper, salt"])
    >>> index = SearchIndex(corpus, PLSA(2, random_state=0).fit(corpus.counts))
    >>> list(rankings_of(index, {"q1": "moon"}, blend=0.5))
    ['terms', 'topics', 'blend 0.5']
    """
    part = index.blend if blend is None else blend
    runs: dict[str, Any] = {}
    for name, share in (("terms", 0.0), ("topics", 1.0), (f"blend {part:g}", part)):
        say(f"searching by {name}")
        runs[name] = index.run(queries, k=k, blend=share)
    return runs


class Judged(NamedTuple):
    """How many documents were judged, how many of them are missing, and whether ids are just numbers."""

    n_judged: int
    n_missing: int
    numbered: bool


def check_judged(ids: Sequence[str], qrels: Mapping[str, Iterable[str]]) -> Judged:
    """Check whether judgements are about documents with these ids.

    Parameters
    ----------
    ids : sequence of str
        Of the documents.
    qrels : mapping of str to mapping
        For each query, the grades of documents by their ids.

    Returns
    -------
    Judged
        What to be careful about.

    Raises
    ------
    CorpusError
        If none of the judged documents is among them.

    Examples
    --------
    >>> check_judged(["a", "b"], {"q1": {"a": 1, "x": 0}})
    Judged(n_judged=2, n_missing=1, numbered=False)
    """
    judged = {document for query in qrels.values() for document in query}
    missing = judged - set(ids)
    if missing == judged:
        raise CorpusError(
            f"the judgements are about documents such as {min(judged, default='')!r}, but the documents have "
            f"ids such as {ids[0]!r}: none in common; name the column of the ids with ",
            Parameter("id"),
        )
    return Judged(len(judged), len(missing), list(ids) == [str(number) for number in range(len(ids))])
