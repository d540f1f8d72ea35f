"""Files of judgements and rankings, as TREC and BEIR have them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from laconic.errors import CorpusError
from laconic.reading.files import File, check_encoding, suffixes
from laconic.reading.ledger import Ledger
from laconic.reading.paths import expanded
from laconic.storage.files import appearing, sync

Queries: TypeAlias = dict[str, str]
"""From the ids of queries to their texts."""
Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""From the ids of queries to those of documents to grades: 1 or more is relevant."""
Run: TypeAlias = Mapping[str, Mapping[str, float]]
"""From the ids of queries to those of documents to scores: more is better."""
Lines: TypeAlias = list[tuple[int, str]]

# trec_eval takes memory and time for every grade up to the largest, used or not.
LARGEST_GRADE = 1000

_GRADES_HEADER = ["query-id", "corpus-id", "score"]


def read_qrels(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> dict[str, dict[str, int]]:
    r"""Read judgements.

    Parameters
    ----------
    path : str or path
        A file, possibly compressed: TREC's four columns (query, anything, document, grade) separated by
        white space, or three (query, document, grade) separated by tabs, with or without BEIR's header.
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

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels.txt")
    ...     _ = path.write_text("301 0 FISH-1 1\n301 0 FISH-2 0\n302 0 FISH-2 2\n")
    ...     read_qrels(path)
    {'301': {'FISH-1': 1, 'FISH-2': 0}, '302': {'FISH-2': 2}}
    """
    source = source_of(path, encoding)
    lines = read_lines(source)
    if lines[0][1].split() == _GRADES_HEADER:
        del lines[0]
        if not lines:
            raise CorpusError(f"{source.path} has a header, but no judgements")
    tabbed = len(lines[0][1].split("\t")) == 3
    qrels: dict[str, dict[str, int]] = {}
    for number, line in lines:
        fields = line.rstrip("\r\n").split("\t") if tabbed else line.split()
        if len(fields) != (3 if tabbed else 4):
            source.fail(
                number,
                f"{len(fields)} columns; judgements have four (query, anything, document, grade) between "
                "white space, or three (query, document, grade) between tabs, the same in all lines",
            )
        query, document = fields[0].strip(), fields[-2].strip()
        if not query or not document:
            source.fail(number, f"the id of the {'document' if query else 'query'} is missing")
        grade = _grade(source, number, fields[-1])
        if qrels.setdefault(query, {}).setdefault(document, grade) != grade:
            source.fail(
                number, f"query {query!r} and document {document!r} have another grade before; keep one"
            )
    return qrels


def _grade(source: File, number: int, written: str) -> int:
    """The grade of a line."""
    try:
        grade = int(_as_written(written))
    except ValueError:
        source.fail(number, f"the grade {written!r:.40} is no whole number")
    if abs(grade) > LARGEST_GRADE:
        source.fail(
            number, f"the grade {written.strip():.40} is not between {-LARGEST_GRADE} and {LARGEST_GRADE}"
        )
    return grade


def _as_written(number: str) -> str:
    """Refuse what is a number in Python's code only, such as 1_0 for 10."""
    if "_" in number:
        raise ValueError(f"{number!r} has an underscore")
    return number


def read_run(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> dict[str, dict[str, float]]:
    r"""Read a ranking in TREC's format.

    Parameters
    ----------
    path : str or path
        A file, perhaps compressed, with six columns between white space: query, anything, document, rank,
        score, tag.
    encoding : str, default="utf-8"
        Of the file.

    Returns
    -------
    dict of str to dict of str to float
        From the ids of queries to those of documents to scores, in the order of the file. As for trec_eval,
        the score alone tells the order; the column of ranks is not used.

    Raises
    ------
    CorpusError
        If the file cannot be used; the message names the file and the line.

    See Also
    --------
    write_run : Write one.
    """
    source = source_of(path, encoding)
    run: dict[str, dict[str, float]] = {}
    for number, line in read_lines(source):
        fields = line.split()
        if len(fields) != 6:
            source.fail(number, f"{len(fields)} columns; a run has query, Q0, document, rank, score and tag")
        query, _, document, _, written, _ = fields
        try:
            score = float(_as_written(written))
        except ValueError:
            score = math.nan
        if math.isnan(score):
            source.fail(number, f"the score {written!r:.40} is no number")
        results = run.setdefault(query, {})
        if document in results:
            source.fail(number, f"document {document!r} is there twice for query {query!r}; keep one")
        results[document] = score
    return run


def write_run(run: Run, path: str | os.PathLike[str], *, tag: str = "laconic") -> None:
    r"""Write a ranking in TREC's format; the file appears when it is complete.

    Parameters
    ----------
    run : mapping of str to mapping of str to float
        From the ids of queries to those of documents to scores.
    path : str or path
        A file that is there is replaced.
    tag : str, default="laconic"
        The name of the run, in the last column.

    Raises
    ------
    ValueError
        For ids that are empty or have white space, which the format cannot hold, scores that are NaN, or a
        file in a directory that does not exist.

    Notes
    -----
    Scores are written with as many digits as it takes to read the same numbers back. Documents are in the
    order of trec_eval: by score, and of equal scores the last id comes first.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "fish.run")
    ...     write_run({"q1": {"a": 0.1, "b": 0.25}}, path)
    ...     print(path.read_text(), end="")
    ...     read_run(path)
    q1 Q0 b 1 0.25 laconic
    q1 Q0 a 2 0.1 laconic
    {'q1': {'b': 0.25, 'a': 0.1}}
    """
    target = Path(path)
    if suffixes(target)[1]:
        raise ValueError(f"{target}: runs are written as plain text; leave {target.suffix} out of the name")
    if not target.absolute().parent.is_dir():
        raise ValueError(
            f"{target}: there is no directory {target.parent}; make it first, or write elsewhere"
        )
    if target.is_dir():
        raise ValueError(f"{target} is a directory; name a file")
    for name in (tag, *run, *(document for results in run.values() for document in results)):
        if not isinstance(name, str) or not name or len(name.split()) != 1 or name != name.strip():
            raise ValueError(
                f"{name!r} cannot be written to a run, whose columns are separated by white space"
            )
    with appearing(target) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for query, results in run.items():
            # Sorting twice: the last ids first, and then, keeping that order, the highest scores.
            ranked = sorted(results.items(), reverse=True)
            ranked.sort(key=lambda pair: -_number(pair[1], query))
            file.writelines(
                f"{query} Q0 {document} {rank} {float(score)!r} {tag}\n"
                for rank, (document, score) in enumerate(ranked, start=1)
            )
        sync(file)


def _number(score: float, query: str) -> float:
    if math.isnan(score):
        raise ValueError(f"query {query!r} has scores that are NaN; give every document a number")
    return float(score)


def source_of(path: str | os.PathLike[str], encoding: str) -> File:
    """The one file of that path, which exists."""
    check_encoding(encoding)
    found = expanded(path)
    if len(found) > 1 or found[0].is_dir():
        raise CorpusError(f"{path} is a folder or several files; name one file")
    return File(found[0], Ledger(), encoding)


def read_lines(source: File) -> Lines:
    """The lines that are not blank, with their numbers; there is at least one."""
    lines = [(number, line) for number, line in source.lines() if not line.isspace()]
    if not lines:
        raise CorpusError(f"{source.path} is empty")
    return lines
