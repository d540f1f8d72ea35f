"""``laconic search`` with vectors of the user's own: given once for documents, and with each query."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laconic.cli.screen.console import say, waiting
from laconic.errors import InputWarning
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.search import SearchIndex

CHANGE = "Changing what is searched"
Vectors = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        metavar="FILE",
        help="Vectors of your own, such as sentence embeddings: a .npy file with one row for each document, "
        "in their order (with --add: for each new document). They are saved with the model, and become a "
        "part of the score.",
        readable=False,
        rich_help_panel=CHANGE,
    ),
]
QueryVectors = Annotated[
    Path | None,
    typer.Option(
        "--query-vectors",
        metavar="FILE",
        help="The vector of the query: a .npy file with one row; for --queries, with one row for each, in "
        "their order.",
        readable=False,
    ),
]
VectorBlend = Annotated[
    float | None,
    typer.Option(
        "--vector-blend",
        metavar="PART",
        min=0.0,
        max=1.0,
        help="The part of vectors in the score; the rest is that of words and topics.",
        show_default="0.6, or as tuned",
    ),
]


@contextmanager
def vectors_told(index: SearchIndex, asked: Any) -> Iterator[None]:
    """Say that queries without vectors are searched without them, in words of the command line."""
    if index.vectors is not None and asked is None:
        say("without --query-vectors, only words and topics count, and not the vectors of the documents")
    with warnings.catch_warnings():
        # what was just said
        warnings.simplefilter("ignore", InputWarning)
        yield


def check_vectors(index: SearchIndex, option: str) -> None:
    """Refuse an option that is about vectors where documents have none."""
    if index.vectors is None:
        raise typer.BadParameter(
            "the documents have no vectors: give them once, with --vectors", param_hint=option
        )


def query_rows(index: SearchIndex, path: Path) -> Any:
    """The vectors of queries, a row each."""
    from laconic.search.vectors import read_vectors

    check_vectors(index, "--query-vectors")
    found = read_vectors(path)
    return found[None] if found.ndim == 1 else found


def only_row(vectors: Any) -> Any:
    """The vector of the one query that there is, if one was given."""
    if vectors is not None and len(vectors) != 1:
        raise typer.BadParameter(
            f"has {plural(len(vectors), 'row')} for one query", param_hint="--query-vectors"
        )
    return None if vectors is None else vectors[0]


def take_vectors(index: SearchIndex, model: Path, path: Path, blend: float | None) -> None:
    """Save vectors of the documents with the model."""
    with waiting("saving the vectors"):
        index.use_vectors(path)
        if blend is not None:
            index.vector_blend = blend
        index.save(model)
    assert index.vectors is not None
    n_numbers = index.vectors.vectors.shape[1]
    say(
        f"vectors of {plural(index.n_documents, 'document')} ({n_numbers} numbers each) saved with {model}: "
        f"they make {index.vector_blend:g} of the score of a query with a vector",
        whole=True,
    )
