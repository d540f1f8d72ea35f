"""``laconic topics``: what a saved model has found."""

from __future__ import annotations

import json as notation
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command, usage
from laconic.cli.screen.console import emit, say, speaks_unicode, waiting
from laconic.cli.screen.tables import (
    TERMS_SHOWN,
    facts_csv,
    facts_table,
    topics_csv,
    topics_json,
    topics_table,
    topics_tree,
)
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle.listing import Listing

DOCUMENTS_SHOWN = 5

EXAMPLES = """
Examples

  laconic topics model

  laconic topics model --terms 40 --no-weights

  laconic topics model --distinct

  laconic topics model --topic 7 --documents 5

  laconic topics model --table --sort share --csv > topics.csv

  laconic topics model --table -o topics.xlsx

  laconic topics model --tree

  laconic topics model --json > topics.json
"""

Terms = Annotated[
    int | None,
    typer.Option(
        "--terms",
        "-n",
        metavar="NUMBER",
        min=1,
        help="Show at most this many words per topic.",
        show_default=f"{TERMS_SHOWN}; all with --json and --csv",
    ),
]
Weights = Annotated[
    bool, typer.Option(help="Show the weights of the words (--json and --csv always have them).")
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Write JSON: a list of topics with their terms; or the rows of --table, or of the documents of "
        "--topic.",
    ),
]
AsCsv = Annotated[
    bool,
    typer.Option(
        "--csv",
        help="Write CSV: the columns topic (and name), rank, term and weight; or those of --table, or of the "
        "documents of --topic.",
    ),
]
OneTopic = Annotated[
    str | None, typer.Option("--topic", metavar="TOPIC", help="Show one topic, by its number or its name.")
]
NumberOfDocuments = Annotated[
    int | None,
    typer.Option(
        "--documents",
        metavar="NUMBER",
        min=1,
        help="With --topic: show this many documents that have most of it. [5]",
    ),
]
AsTable = Annotated[
    bool,
    typer.Option(
        "--table",
        help="Show how each topic does in the documents: its share, how many documents have it as their "
        "largest topic, the labels where it is strongest, and how well its words go together (NPMI).",
    ),
]
AsTree = Annotated[
    bool, typer.Option("--tree", help="Show topics as a tree: those that share most words are joined first.")
]
Distinct = Annotated[
    bool,
    typer.Option(
        "--distinct",
        help="Show each word only in the topic where it is strongest: topics then do not repeat each other, "
        "and one may be left without words.",
    ),
]
Sort = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Sort --table by one of its columns, such as share, documents or coherence."
    ),
]


Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table to a file: .xlsx (needs openpyxl) or .csv.",
        readable=False,
    ),
]


@command()
def topics(
    model: Saved,
    terms: Terms = None,
    weights: Weights = True,
    topic: OneTopic = None,
    documents: NumberOfDocuments = None,
    table: AsTable = False,
    sort: Sort = None,
    distinct: Distinct = False,
    tree: AsTree = False,
    json: AsJson = False,
    csv: AsCsv = False,
    output: Output = None,
) -> None:
    """List the topics of a saved model, the heaviest words first.

    A minus marks words that count against a topic. The number of a topic never changes. For a model with
    several modalities, the words of each are shown side by side.
    """
    if json and csv:
        raise typer.BadParameter("choose one of --json and --csv", param_hint="--csv")
    if documents is not None and topic is None:
        raise typer.BadParameter("say which topic, with --topic NUMBER", param_hint="--documents")
    if topic is not None and (table or sort is not None):
        raise typer.BadParameter("is about all topics: leave out --topic", param_hint="--table or --sort")
    if output is not None and (json or csv):
        raise typer.BadParameter("leave --json and --csv out: the suffix of FILE says it", param_hint="-o")
    if tree:
        if json or csv or topic is not None or table or sort is not None or output is not None:
            raise typer.BadParameter("cannot be combined with other options", param_hint="--tree")
        _show_tree(model, terms or TERMS_SHOWN, distinct=distinct)
        return
    if topic is not None or table or sort is not None or output is not None:
        _show_facts(
            model,
            terms or TERMS_SHOWN,
            topic,
            documents,
            sort,
            output,
            distinct=distinct,
            as_csv=csv,
            as_json=json,
        )
        return
    with waiting(f"loading {model}"):
        from laconic.bundle.listing import read_listing

        listing = read_listing(model, distinct=distinct)
    n_terms = terms or (listing.n_terms if json or csv else TERMS_SHOWN)
    if not listing.named:
        say("this model was saved without a vocabulary, so words are shown as column numbers")
    if json:
        sys.stdout.write(topics_json(listing, n_terms, ascii_only=not speaks_unicode(sys.stdout.encoding)))
    elif csv:
        sys.stdout.write(topics_csv(listing, n_terms))
    else:
        shown = topics_table(listing, n_terms, weights=weights)
        shown.title, shown.title_justify = _headline(listing), "left"
        emit(shown)


def _show_facts(
    path: Path,
    n_terms: int,
    topic: str | None,
    n_documents: int | None,
    sort: str | None,
    output: Path | None,
    *,
    distinct: bool,
    as_csv: bool,
    as_json: bool,
) -> None:
    """All topics with what the documents say of them, or one topic with its documents."""
    with waiting(f"loading {path}"):
        from laconic.bundle import load
        from laconic.bundle.listing import Listing
        from laconic.bundle.tables import columns_of, write_table

        bundle = load(path)
        if topic is None:
            several = bool(bundle.modalities)
            with usage("--sort"):
                coherence = bundle.documents is not None and not several
                found = columns_of(bundle.topics(n_terms, distinct=distinct, sort=sort, coherence=coherence))
        else:
            with usage("--topic"):
                number = bundle.topic_number(topic)
            known = bundle.documents is not None
            found = columns_of(bundle.documents_of(number, n_documents or DOCUMENTS_SHOWN)) if known else {}
    if output is not None:
        write_table(found, output)
        say(f"{plural(len(next(iter(found.values()), [])), 'row')} written to {output}", whole=True)
        return
    if as_json or as_csv:
        rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
        sys.stdout.write(notation.dumps(rows, default=str) + "\n" if as_json else facts_csv(found))
        return
    if topic is not None:
        listing = Listing.of(bundle, distinct=distinct)
        for name, words in listing.words(n_terms).items():
            shown = ", ".join(f"{'-' if weight < 0 else ''}{term}" for term, weight in words[number])
            shown = shown or listing.no_words(number)
            emit(Text(f"topic {bundle.notes.shown(number)}{f' ({name})' if name else ''}: {shown}\n"))
    if bundle.documents is None:
        say(
            f"{path} was saved without documents (fit --no-documents), so there is nothing to show about them"
        )
    if found:
        emit(facts_table(found))


def _show_tree(path: Path, n_terms: int, *, distinct: bool) -> None:
    with waiting(f"loading {path}"):
        from laconic.bundle import load
        from laconic.bundle.listing import Listing

        bundle = load(path)
        root = bundle.tree()
        listing = Listing.of(bundle, distinct=distinct)
    if root is None:
        say(f"{path}: no topic has words, so there is no tree")
        return
    emit(topics_tree(listing, root, n_terms))


def _headline(listing: Listing) -> str:
    whole = (
        "; words are listed where they are strongest, sizes are of whole topics" if listing.distinct else ""
    )
    return (
        f"{listing.model}: {plural(len(listing.sizes), 'topic')}, {listing.n_alive} alive, "
        f"over {plural(listing.n_terms, 'term')} (density {listing.density:.2%}){whole}"
    )
