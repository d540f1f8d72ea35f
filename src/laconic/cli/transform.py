"""``laconic transform``: new documents described by the topics of a saved model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from laconic.cli import input_options as read
from laconic.cli import media as several
from laconic.cli.batches import Part, TextParts, check_names, check_vectorizers, matrix_parts
from laconic.cli.console import plural, say, waiting
from laconic.cli.errors import reported
from laconic.cli.reading import ReadingDisplay, tell_problems
from laconic.cli.sources import Holds, Source, find_source
from laconic.cli.topics import Saved

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.matrices import CSR
    from laconic.models.base import TopicModel
    from laconic.reading import Reading
    from laconic.reading.strings import Strings

EXAMPLES = """
Examples

  laconic transform model new.jsonl -o weights.parquet

  laconic transform model 'new/*.csv' --text body --id key -o weights.csv

  laconic transform model counts.mtx --vocabulary terms.txt -o weights.jsonl

  laconic transform model new.csv --text-de german -o weights.parquet
"""

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write: .parquet or .csv (the columns id, topic0, topic1, ...), or .jsonl (lines such "
        'as {"id": "7", "topics": {"3": 0.51}}, without zeros).',
        show_default=False,
        readable=False,
    ),
]


@reported
def transform(
    model: Saved,
    path: read.Sources,
    output: Output,
    text: read.Text = None,
    media: several.Media = None,
    id: read.Id = None,
    encoding: read.Encoding = None,
    delimiter: read.Delimiter = None,
    vocabulary: read.Vocabulary = None,
    on_error: read.OnErrorOption = None,
) -> None:
    """Give new documents their weights for the topics of a saved model.

    There is one row for every document, in their order; documents without any word of the model's vocabulary
    have only zeros, or all topics alike (plsa models). Columns of counts are matched to the model's words by
    name. The file appears when it is complete.
    """
    reading = read.reading_options(
        text=text,
        id=id,
        encoding=encoding,
        delimiter=delimiter,
        vocabulary=vocabulary,
        on_error=on_error,
    )
    columns = several.columns_by_name(media)
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.cli.weights import check_target

        check_target(output)
        bundle = load(model)
        check_names(bundle, model, columns, text)
        check_vectorizers(bundle, model, columns)
        source = find_source(path, reading)
        if len(columns) > 1 or (columns and source.holds is not Holds.texts):
            several.check_columns(source)
        check_target(output, source.paths)
    with ReadingDisplay() as display:
        if source.holds is Holds.texts:
            parts = TextParts(bundle, source, columns, reading, display)
            written = _write_weights(bundle.model, parts, columns, output)
            found: Reading | None = parts.reading
            matched = None
        else:
            counted = _counted(source, reading, display)
            matched = match_terms(counted.counts, counted.terms, bundle.vectorizer_of().vocabulary)
            _check_common(matched, counted.terms, source, model, bundle)
            rows = matrix_parts(counted.ids, bundle.weigh(matched.counts))
            written = _write_weights(bundle.model, rows, columns, output)
            found = counted.reading
    _tell(written, output, found, matched)


def _tell(written: Written, output: Path, reading: Reading | None, matched: Matched | None) -> None:
    say(f"{plural(written.n_documents, 'document')} written to {output}", whole=True)
    if matched is not None and matched.n_unknown:
        terms = plural(matched.n_terms, "term")
        say(f"{matched.n_unknown:,} of {terms} left out: the model does not know them")
    if written.n_unknown:
        documents = plural(written.n_unknown, "document")
        alike = "all weights are zero" if written.zero else "all topics have the same weight"
        say(f"{documents} without any word of the vocabulary: {alike}")
    tell_problems(reading)


class Written(NamedTuple):
    """Numbers of documents in all, and of those without a known word; whether these have no weights."""

    n_documents: int
    n_unknown: int
    zero: bool


class Counts(NamedTuple):
    """Counts that were made elsewhere."""

    counts: CSR
    terms: Strings
    ids: Sequence[str]
    reading: Reading | None


class Matched(NamedTuple):
    """Counts with the columns of a model; how many terms there were, and how many it does not know."""

    counts: CSR
    n_terms: int
    n_unknown: int


def _counted(source: Source, reading: Mapping[str, Any], display: ReadingDisplay) -> Counts:
    from laconic.corpus import Corpus
    from laconic.reading import read_counts

    if source.holds is Holds.corpus:
        corpus = Corpus.load(source.path)
        return Counts(corpus.counts, corpus.vocabulary, corpus.ids.tolist(), None)
    counted = read_counts(source.path, **reading, progress=display)
    ids = [str(number) for number in range(counted.counts.shape[0])]
    return Counts(counted.counts, counted.vocabulary, ids, counted.reading)


def match_terms(counts: CSR, terms: Strings, vocabulary: Strings) -> Matched:
    """Give counts the columns of a vocabulary, by the names of terms; others are left out.

    >>> import numpy as np
    >>> from laconic.matrices import as_counts
    >>> terms, vocabulary = np.array(["red", "new", "fish"]), np.array(["blue", "fish", "red"])
    >>> matched = match_terms(as_counts([[1, 2, 0], [0, 0, 4]]), terms, vocabulary)
    >>> matched.counts.toarray(), matched.n_unknown
    (array([[0., 0., 1.],
           [0., 4., 0.]], dtype=float32), 1)
    """
    import numpy as np
    from scipy.sparse import csr_array

    columns = {term: column for column, term in enumerate(vocabulary)}
    place = np.array([columns.get(term, -1) for term in terms], counts.indices.dtype)
    found = place[counts.indices]
    known = found >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[counts.indptr]
    # Indices of another width would be solved by other kernels, which may round otherwise.
    parts = (counts.data[known], found[known], ends.astype(counts.indptr.dtype))
    matched = csr_array(parts, shape=(counts.shape[0], len(vocabulary)))
    return Matched(matched, len(terms), int(np.count_nonzero(place < 0)))


def _check_common(matched: Matched, terms: Strings, source: Source, model: Path, bundle: Bundle) -> None:
    if matched.n_unknown < matched.n_terms or bundle.vocabulary is None:
        return
    theirs, ours = (", ".join(map(repr, list(names)[:3])) for names in (terms, bundle.vocabulary))
    raise ValueError(
        f"{source.path} has terms such as {theirs}, and {model} such as {ours}: none in common; "
        "name its terms with --vocabulary FILE, or take a model of the same vocabulary"
    )


def _write_weights(
    model: TopicModel, parts: Iterator[Part], columns: Mapping[str, str], output: Path
) -> Written:
    """Write the weights of all documents."""
    import numpy as np

    from laconic.cli.weights import topic_names, writing_weights

    n_documents = n_unknown = 0
    zero = True
    options = {"modality": next(iter(columns))} if len(columns) == 1 else {}
    with writing_weights(output, len(model.topic_sizes_), topic_names(model)) as write:
        for part in parts:
            weights = model.transform(part.X, **options)
            write(part.ids, weights)
            unknown = np.flatnonzero(part.empty)
            n_documents += len(part.ids)
            n_unknown += len(unknown)
            zero = zero and not abs(weights[unknown]).sum()
    return Written(n_documents, n_unknown, zero)
