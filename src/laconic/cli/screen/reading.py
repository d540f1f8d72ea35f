"""Telling of the reading: a bar while it goes on, and afterwards what was read and what was left out."""

from __future__ import annotations

import time
import warnings
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from laconic.cli.options.table import worded
from laconic.cli.screen.console import messages, printable, say, warn
from laconic.errors import InputWarning, Parameter
from laconic.words import COMPILING, clock, plural, rounded, size

if TYPE_CHECKING:
    from laconic.corpus import Corpus
    from laconic.reading import Reading

PROBLEMS_SHOWN = 3
WORDS_SHOWN = 8


class ReadingDisplay:
    """A callback for readers that shows bytes, documents, speed and an estimate of the time left.

    Written to standard error, and only if that is a terminal.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or messages()
        self._doing = "reading"
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=14),
            TextColumn("{task.fields[facts]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        self._bar.start()
        self._task = self._bar.add_task("reading", total=None, facts="")
        from laconic.kernels.compiling import watched

        self._watching = ExitStack()
        self._warnings = self._watching.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always", InputWarning)
        self._watching.enter_context(watched(lambda: self._show(COMPILING), lambda: self._show(self._doing)))
        return self

    def _show(self, doing: str) -> None:
        self._bar.update(self._task, description=doing)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        caught = list(self._warnings or ())
        self._watching.close()
        self._bar.stop()
        for one in caught:
            if isinstance(one.message, InputWarning):
                warn(one.message.message.worded(worded))
            else:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

    def __call__(self, done: int, total: int | None, n_documents: int) -> None:
        """Show how far the reading is."""
        documents = plural(n_documents, "document")
        if total is None or done >= total:
            self._doing = "counting terms"
            self._bar.update(self._task, description=self._doing, total=None, facts=documents)
            return
        speed = max(done, 1) / max(time.perf_counter() - self._began, 1e-9)
        facts = (
            f"{size(done)} of {size(total)}  {documents}  {size(speed)}/s  "
            f"~{clock((total - done) / speed)} left"
        )
        self._bar.update(self._task, total=float(total), completed=float(done), facts=facts)


def describe(corpus: Corpus) -> str:
    """What was read, in a sentence.

    >>> from laconic import Corpus
    >>> describe(Corpus.from_texts(["red fish", "blue fish", "red bird", "one"], labels=[*"aabb"]))
    '4 documents, 2 labels, 6 tokens; 2 of 4 terms kept (in at least 2 documents and at most 50 % of them); \
1 document without any kept term'
    >>> describe(Corpus.from_counts([[2, 0], [0, 1]], ["red", "fish"]))
    '2 documents, 3 tokens; 2 terms'
    """
    from laconic.corpus.facts import facts_of

    found, settings = facts_of(corpus), corpus.vectorizer.to_dict()
    documents = [plural(found.n_documents, "document")]
    if found.n_labels is not None:
        documents.append(plural(found.n_labels, "label"))
    documents.append(f"{rounded(found.n_tokens)} token{'' if found.n_tokens == 1 else 's'}")
    parts = [", ".join(documents)]
    if found.n_found is None:
        parts.append(plural(found.n_terms, "term"))
    else:
        rule = kept_terms(settings)
        parts.append(f"{found.n_terms:,} of {plural(found.n_found, 'term')} kept ({rule})")
    if found.n_empty:
        parts.append(f"{plural(found.n_empty, 'document')} without any kept term")
    if found.n_found is not None and settings["html"]:
        parts.append("HTML tags and entities removed")
    parts += _in_nearly_all(corpus)
    return "; ".join(parts)


def _in_nearly_all(corpus: Corpus) -> list[str]:
    """Which words are in nearly every document, whether they were kept, and what leaves them out."""
    tally = corpus.vectorizer.tally
    common = () if tally is None else tally.common
    kept = set(common).intersection(corpus.vocabulary.tolist())
    told = []
    if kept:
        words = _listed([word for word in common if word in kept])
        told.append(f"in nearly every document: {words}; {worded(Parameter('max_df', 0.9))} leaves them out")
    if len(kept) < len(common):
        words = _listed([word for word in common if word not in kept])
        told.append(f"in nearly every document, and so left out: {words}")
    return told


def _listed(words: list[str]) -> str:
    more = len(words) - WORDS_SHOWN
    listed = ", ".join(map(printable, words[:WORDS_SHOWN]))
    return f"{listed} and {more:,} more" if more > 0 else listed


def kept_terms(settings: dict[str, Any]) -> str:
    """Which terms a vectoriser keeps.

    >>> kept_terms({"min_df": 2, "max_df": 0.5, "max_features": None})
    'in at least 2 documents and at most 50 % of them'
    >>> kept_terms({"min_df": 0.01, "max_df": 900, "max_features": 1000})
    'in at least 1 % of documents and at most 900; the 1,000 most frequent'
    """
    least, most, limit = settings["min_df"], settings["max_df"], settings["max_features"]
    lower = plural(least, "document") if isinstance(least, int) else f"{least * 100:.3g} % of documents"
    upper = f"{most:,}" if isinstance(most, int) else f"{most * 100:.3g} % of them"
    return f"in at least {lower} and at most {upper}" + (f"; the {limit:,} most frequent" if limit else "")


def tell_problems(reading: Reading | None) -> None:
    """Say how many rows were left out, and what was wrong with the first of them."""
    if reading is None or reading.n_skipped == 0:
        return
    rows = plural(reading.n_rows, "row")
    warn(f"{reading.n_skipped:,} of {rows} could not be used and {_were(reading.n_skipped)} skipped:")
    for problem in reading.worded(worded)[:PROBLEMS_SHOWN]:
        say(f"  {printable(' '.join(problem.split()))}", whole=True)
    if reading.n_skipped > PROBLEMS_SHOWN:
        say(f"  and {reading.n_skipped - PROBLEMS_SHOWN:,} more")


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
