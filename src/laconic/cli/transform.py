"""``laconic transform``: new documents described by the topics of a saved model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from laconic.cli import options as option
from laconic.cli.console import plural, say, waiting
from laconic.cli.errors import reported
from laconic.cli.topics import Saved

if TYPE_CHECKING:
    from laconic.corpus import Vectorizer
    from laconic.corpus.readers import Document
    from laconic.models.base import TopicModel

EXAMPLES = """
Examples

  laconic transform model new.jsonl -o weights.parquet

  laconic transform model new.csv --text body --id key -o weights.csv
"""

# So many documents are in memory at a time. A multiple of the blocks in which models fold documents in, so
# that the weights are to the bit those of all documents at once.
BATCH = 16 * 1024

Item = TypeVar("Item")

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
    path: option.Source,
    output: Output,
    text: option.Text = "text",
    id: option.Id = None,
    encoding: option.Encoding = "utf-8",
) -> None:
    """Give new documents their weights for the topics of a saved model.

    There is one row for every document, in their order; documents without any word of the model's vocabulary
    have only zeros. The file appears when it is complete.
    """
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.cli.weights import check_target
        from laconic.corpus.readers import read_documents

        check_target(output)
        bundle = load(model)
        if bundle.vectorizer is None:
            raise ValueError(
                f"{model}: was saved without a vocabulary, so it cannot read texts; use it from Python"
            )
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"{output}: is the file of the documents; give another file to write to")
        documents = read_documents(path, text=text, id=id, encoding=encoding)
    n_documents, n_unknown = _write_weights(bundle.model, bundle.vectorizer, documents, output)
    say(f"{plural(n_documents, 'document')} written to {output}", whole=True)
    if n_unknown:
        say(f"{plural(n_unknown, 'document')} without any word of the vocabulary: all weights are zero")


def _write_weights(
    model: TopicModel, vectorizer: Vectorizer, documents: Iterator[Document], output: Path
) -> tuple[int, int]:
    """Write the weights of all documents; gives their number, and that of those without a known word."""
    import numpy as np

    from laconic.cli.weights import writing_weights

    n_documents = n_unknown = 0
    with waiting("reading") as status, writing_weights(output, len(model.topic_sizes_)) as write:
        for batch in _batches(documents, BATCH):
            X = vectorizer.transform(document.text for document in batch)
            write([document.id for document in batch], model.transform(X))
            n_documents += len(batch)
            n_unknown += int(np.count_nonzero(np.diff(X.indptr) == 0))
            status.update(plural(n_documents, "document"))
    return n_documents, n_unknown


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` items; the last may be shorter.

    >>> list(_batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
