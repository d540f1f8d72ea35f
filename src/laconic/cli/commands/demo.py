"""``laconic demo``: topics of a collection that every Python has at hand."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laconic.cli.options.declaring import command
from laconic.cli.screen.console import emit, say, waiting
from laconic.cli.screen.fitting import conclude, fit_and_save, nothing_kept, share_with, wait_for
from laconic.cli.screen.reading import describe
from laconic.cli.screen.tables import TOPICS_SHOWN, labels_column, tell_of_others, topics_table
from laconic.postponing import postpone

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus.options import VectorizerOptions

EXAMPLES = """
Examples

  laconic demo

  laconic demo --topics 12 -o small-model
"""

# Chosen by reading the topics. Words in more than a tenth of all docstrings ("return", "value", "used") say
# little about any of them, and with fewer topics unlike modules share one.
TERMS: VectorizerOptions = {"min_df": 3, "max_df": 0.1}
TOPICS = 30
TERMS_SHOWN = 6

Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Where to save the model.", readable=False)
]
Topics = Annotated[
    int, typer.Option("--topics", "-k", metavar="NUMBER", min=1, help="How many topics to find.")
]


@command()
def demo(output: Output = Path("demo-model"), topics: Topics = TOPICS) -> None:
    """Find topics in the documentation of Python's standard library.

    This takes a few seconds and needs no data: the collection is the docstrings of the Python that runs
    it. Each topic is shown with the modules in which it is strongest.
    """
    postpone()
    with nothing_kept(), ExitStack() as stack:
        with waiting("starting"):
            from laconic.models.rehearsal import Rehearsal

            rehearsal = stack.enter_context(Rehearsal("rlsi"))
            from laconic.bundle.kind import MODEL
            from laconic.bundle.listing import Listing
            from laconic.storage.writing import check_writable

            check_writable(output, MODEL)
            from laconic.corpus import Corpus
            from laconic.corpus.stdlib import standard_library
            from laconic.models.making import make_model

            model = make_model("rlsi", topics, random_state=0)
        share_with(rehearsal, model)
        with waiting("reading the docstrings of the standard library"):
            texts, labels, ids = standard_library()
            corpus = Corpus.from_texts(texts, labels=labels, ids=ids, keep_texts=True, **TERMS)
        say(f"read {describe(corpus)}")
        wait_for(rehearsal)
        bundle, outcome = fit_and_save(model, {"": corpus}, output)
    extra = labels_column(labels, model.transform(corpus.X))
    emit(topics_table(Listing.of(bundle), TERMS_SHOWN, extra=extra, most=TOPICS_SHOWN))
    tell_of_others(model, output)
    conclude(model, outcome, output, more=[f'laconic search {output} "parse a date"'])
    _report(bundle, output)


def _report(bundle: Bundle, output: Path) -> None:
    """Write the report beside the model, and say how to look at both."""
    with waiting("writing the report"):
        path = bundle.report(output.with_name(f"{output.name}.html"), title="Python's standard library")
    say(f"open {path} in a browser, or explore the model with", whole=True)
    say(f"      laconic serve {output} --open", whole=True)
