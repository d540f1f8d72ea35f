"""Files of counts: SVMlight, Matrix Market, UCI's bags of words; and the terms of their columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scipy import sparse

from laconic.errors import CorpusError, Parameter
from laconic.reading.entries import Entries, read_docword, read_matrix_market
from laconic.reading.files import COMPRESSIONS, File, check_encoding, suffixes
from laconic.reading.ledger import Ledger, OnError, Progress, Reading
from laconic.reading.paths import COUNT_FORMATS, Paths, expanded, is_docword
from laconic.reading.strings import Strings, as_vocabulary
from laconic.reading.svmlight import read_svmlight

if TYPE_CHECKING:
    from laconic.matrices import CSR

Terms: TypeAlias = str | os.PathLike[str] | Iterable[str] | Mapping[str, int] | Mapping[int, str]

SVMLIGHT = COUNT_FORMATS[:3]


class Counted(NamedTuple):
    """What `read_counts` gives."""

    counts: CSR
    vocabulary: Strings
    labels: list[str] | None
    reading: Reading


def holds_counts(path: Paths) -> bool:
    """Whether a path, going by its name, is that of one file of counts."""
    if not isinstance(path, str | os.PathLike):
        return False
    file = Path(path)
    return (suffixes(file)[0] in COUNT_FORMATS or is_docword(file)) and not file.is_dir()


def read_counts(
    path: str | os.PathLike[str],
    *,
    vocabulary: Terms | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = "raise",
    max_documents: int | None = None,
    progress: Progress | None = None,
) -> Counted:
    r"""Read a file of counts.

    Parameters
    ----------
    path : str or path
        SVMlight (``.svm``, ``.svmlight``, ``.libsvm``), Matrix Market with documents as rows (``.mtx``,
        ``.mm``), or a bag of words of the UCI repository (``docword.NAME.txt``), all of them perhaps
        compressed.
    vocabulary : path, list of str or mapping, optional
        The terms, in the order of the columns; a file has a term in every line. Without, the file
        ``vocab.NAME.txt`` beside a ``docword.NAME.txt``, and otherwise the numbers of terms in the file.
    label : "label" or None, default=None
        Only for SVMlight: the first field of each line, as it is written.
    encoding, on_error, max_documents, progress
        As in `read_documents`; only SVMlight has rows that can be left out.

    Returns
    -------
    Counted
        A matrix, its vocabulary, labels, and what was read.

    Raises
    ------
    CorpusError
        If the file cannot be used; the message names the line and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "fish.svm")
    ...     _ = path.write_text("red 1:2 3:1\nblue 2:1\n")
    ...     counted = read_counts(path, label="label")
    >>> counted.counts.toarray(), counted.labels, counted.vocabulary.tolist()
    (array([[2., 0., 1.],
           [0., 1., 0.]], dtype=float32), ['red', 'blue'], ['1', '2', '3'])
    """
    check_encoding(encoding)
    (file,) = _one(path)
    ledger = Ledger((file,), file.stat().st_size, on_error, progress, max_documents)
    source = File(file, ledger, encoding)
    svmlight = suffixes(file)[0] in SVMLIGHT
    if max_documents is not None and not svmlight:
        raise CorpusError(
            f"the documents in {file} may be in any order, so all of it has to be read: leave ",
            Parameter("max_documents"),
            " out",
        )
    if label is not None and not (svmlight and label == "label"):
        raise CorpusError(
            f"{file} holds counts and has no column {label!r}; only SVMlight files have labels: ",
            Parameter("label", "label"),
            " takes them",
        )
    if svmlight:
        entries = read_svmlight(source, label is not None)
    elif is_docword(file):
        entries = read_docword(source)
    else:
        entries = read_matrix_market(source)
    terms = _vocabulary(file, vocabulary, encoding, entries)
    if svmlight and len(terms) > entries.counts.shape[1]:
        # The last terms may occur in no document.
        entries = entries._replace(counts=_widened(entries.counts, len(terms)))
    if len(terms) != entries.counts.shape[1]:
        raise CorpusError(
            f"{file} has {entries.counts.shape[1]:,} terms, but the vocabulary has {len(terms):,}; give the "
            "vocabulary that belongs to it"
        )
    return Counted(entries.counts, terms, entries.labels, ledger.reading)


def _one(path: str | os.PathLike[str]) -> list[Path]:
    found = expanded(path)
    if len(found) > 1:
        raise CorpusError(f"{path} matches {len(found)} files of counts; only one can be read at a time")
    return found


def _vocabulary(file: Path, given: Terms | None, encoding: str, entries: Entries) -> Strings:
    if given is None and is_docword(file):
        given = _beside(file)
    if given is None:
        first, n_terms = entries.first, entries.counts.shape[1]
        if n_terms == 0:
            raise CorpusError(f"{file} has documents, but no terms")
        return as_vocabulary(map(str, range(first, first + n_terms)))
    if not isinstance(given, str | os.PathLike):
        return as_vocabulary(given)
    (path,) = _one(given)
    lines = File(path, Ledger(), encoding).lines()
    try:
        return as_vocabulary([line.removesuffix("\n").removesuffix("\r") for _, line in lines])
    except CorpusError as error:
        raise error if str(path) in str(error) else CorpusError(f"{path}: ", error) from error


def _beside(file: Path) -> Path | None:
    """The vocabulary that comes with ``docword.NAME.txt``."""
    name = file.name[len("docword.") : -len("".join(suffixes(file)))]
    names = [f"vocab.{name}.txt{compression}" for compression in ("", *COMPRESSIONS)]
    return next((path for path in map(file.with_name, names) if path.is_file()), None)


def _widened(counts: CSR, n_terms: int) -> CSR:
    parts = (counts.data, counts.indices, counts.indptr)
    return sparse.csr_array(parts, shape=(counts.shape[0], n_terms))
