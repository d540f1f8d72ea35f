"""SVMlight files: a document in every line, as a label and pairs of a term's number and its count."""

from __future__ import annotations

import re
from array import array
from typing import NamedTuple

import numpy as np

from laconic.matrices import csr
from laconic.reading.entries import LARGEST_COUNT, Entries, check_sizes
from laconic.reading.files import File
from laconic.reading.strings import as_name

# Numbers have at most nine digits, so that all of them are numbers of columns.
_PAIRS = re.compile(r"(?:[0-9]{1,9}:[-+.0-9a-zA-Z]+(?:\s+|$))*")
_START = re.compile(r"\s*(?:([^\s:]+)(?:\s+|$))?(?:qid:\S+(?:\s+|$))?")


class _Line(NamedTuple):
    label: str | None
    numbers: list[int]
    counts: list[float]


def read_svmlight(source: File, labelled: bool) -> Entries:
    """Read a file of documents; lines that are empty or a comment are none.

    Parameters
    ----------
    source : File
        What to read.
    labelled : bool
        Whether the first field of the lines is wanted.

    Returns
    -------
    Entries
        Of which `first` is 0 if a term has the number 0, and 1 otherwise.
    """
    numbers, counts, ends = array("i"), array("f"), array("q", [0])
    labels: list[str] = []
    largest, place = -1, 0
    for line_number, line in source.lines():
        content = line.partition("#")[0]
        if not content.strip():
            continue
        try:
            found = _parsed(content)
            if labelled:
                labels.append(as_name(found.label, "label"))
        except ValueError as error:
            source.refuse(line_number, error)
            continue
        numbers.extend(found.numbers)
        counts.extend(found.counts)
        ends.append(len(numbers))
        if (highest := max(found.numbers, default=-1)) > largest:
            largest, place = highest, line_number
        source.ledger.accept(len(line))
        if source.ledger.full:
            break
    source.ledger.finish(str(source.path))
    columns = np.asarray(numbers)
    first = 0 if len(columns) and columns.min() == 0 else 1
    n_terms = max(largest + 1 - first, 0)
    check_sizes(len(numbers), n_documents=0, n_terms=n_terms, where=source.where(place))
    counted = csr(np.asarray(counts), columns - np.int32(first), np.asarray(ends), n_terms)
    return Entries(counted, first, labels if labelled else None)


def _parsed(content: str) -> _Line:
    """Take a line apart."""
    start = _START.match(content)
    assert start  # it matches anything
    pairs = content[start.end() :]
    if not _PAIRS.fullmatch(pairs):
        raise ValueError("not SVMlight; every line must be like '1 3:2 7:1', a label and number:count pairs")
    fields = pairs.replace(":", " ").split()
    try:
        counts = list(map(float, fields[1::2]))
    except ValueError as error:
        raise ValueError(f"not SVMlight ({error}); counts must be numbers") from error
    # The sum is not a number if one of the counts is not.
    if counts and not (min(counts) >= 0 and sum(counts) <= LARGEST_COUNT):
        raise ValueError("counts must be finite and not negative")
    return _Line(start[1], list(map(int, fields[::2])), counts)
