"""What `fit` and `demo` have in common: a watched fit, a saved model, and a report on both."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.text import Text

from laconic.cli.screen.console import messages, say, waiting, warn
from laconic.cli.screen.errors import INTERRUPTED
from laconic.cli.screen.interrupt import Interrupt
from laconic.errors import InputWarning
from laconic.words import COMPILING, plural, size

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
    from laconic.engines import Checkpoint
    from laconic.losses.loop import Progress
    from laconic.models.base import TopicModel
    from laconic.models.rehearsal import Rehearsal


class Outcome(NamedTuple):
    """How a fit went."""

    seconds: float
    stopped: bool
    """Whether Ctrl-C ended it."""
    last: Progress
    """What was last reported."""
    converged: bool
    warnings: list[str]
    n_documents: int


def watched_fit(model: Any, corpora: Mapping[str, Corpus], **options: Any) -> Outcome:
    """Fit with a progress bar on a terminal; Ctrl-C stops it after the iteration, a second one at once."""
    from sklearn.exceptions import ConvergenceWarning

    from laconic.bundle.fitting import fit_bundle
    from laconic.progress import ProgressDisplay

    reports: list[Progress] = []
    began = time.perf_counter()
    stopped = False
    with (
        warnings.catch_warnings(record=True) as caught,
        ProgressDisplay(messages()) as display,
        Interrupt(display.show_stopping) as interrupt,
    ):
        warnings.simplefilter("always")

        def watch(report: Progress) -> bool:
            nonlocal stopped
            reports[:] = [report]
            display(report)
            stopped = interrupt.asked
            return stopped

        fit_bundle(model, corpora, callback=watch, keep_documents=False, **options)
    return Outcome(
        seconds=time.perf_counter() - began,
        stopped=stopped,
        last=reports[-1],
        converged=not any(issubclass(w.category, ConvergenceWarning) for w in caught),
        warnings=list(
            dict.fromkeys(_told(w.message) for w in caught if not issubclass(w.category, ConvergenceWarning))
        ),
        n_documents=next(iter(corpora.values())).shape[0],
    )


def _told(message: Warning | str) -> str:
    """A warning of the library, with its parameters as they are typed."""
    from laconic.cli.options.table import worded

    return message.message.worded(worded) if isinstance(message, InputWarning) else str(message)


def fit_and_save(
    model: Any,
    corpora: Mapping[str, Corpus],
    path: Path,
    *,
    keep_documents: bool = True,
    checkpoint: Checkpoint | None = None,
    names: Mapping[Any, str] | None = None,
    **options: Any,
) -> tuple[Bundle, Outcome]:
    """Fit a model and save it; a second Ctrl-C leaves `path` as it was.

    Parameters
    ----------
    model : TopicModel
        To be fitted.
    corpora : mapping of str to Corpus
        By the names of modalities; "" if documents have just one.
    path : Path
        Where to save it.
    keep_documents : bool, default=True
        Whether the documents are saved with it.
    checkpoint : Checkpoint, optional
        Of the fit; removed when the model is saved, unless the fit was stopped.
    names : mapping of topic to str, optional
        What topics are called.
    **options
        Of the model's `fit`.

    Returns
    -------
    (Bundle, Outcome)
        The model with its vectoriser or vectorisers, and how the fit went.
    """
    from laconic.bundle.fitting import bundle_of

    outcome = watched_fit(model, corpora, checkpoint=checkpoint, **options)
    with waiting(f"finding the weights of {plural(outcome.n_documents, 'document')}") as status:
        bundle = bundle_of(
            model, corpora, keep_documents=keep_documents, names=names, engine=options.get("engine")
        )
        status.update(Text("saving the model"))
        bundle.save(path)
        if checkpoint is not None and not outcome.stopped:
            checkpoint.remove()
    # Told at once: what follows may go to a pipe that nobody reads.
    say(f"model saved to {path}{_documents_kept(bundle)}", whole=True)
    return bundle, outcome


def _documents_kept(bundle: Bundle) -> str:
    """What was saved besides the model, and how much room it takes."""
    documents = bundle.documents
    if documents is None:
        return ", without documents"
    texts = any(corpus.texts is not None for corpus in documents.corpora.values())
    kept = " and their texts" if texts else ", without their texts"
    return f", with {plural(len(documents), 'document')}{kept} ({size(documents.nbytes)})"


def share_with(rehearsal: Rehearsal, model: TopicModel) -> None:
    """Compile a part of what the other process compiles, and say so."""
    if rehearsal.goes_on:
        with waiting(COMPILING):
            rehearsal.share(model)


def wait_for(rehearsal: Rehearsal) -> None:
    """Wait for the process that compiles, and say what for."""
    if rehearsal.goes_on:
        with waiting(COMPILING):
            rehearsal.wait()


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Let an interrupt of this block say that there is no model."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt("no model was saved") from error


def conclude(
    model: Any,
    outcome: Outcome,
    path: Path,
    reading: str = " NEW-FILE",
    more: Sequence[str] = (),
    checkpoint: Checkpoint | None = None,
) -> None:
    """Say how good the model is, what to be careful about, and what is next; exits if Ctrl-C stopped it."""
    n_topics = len(model.topic_sizes_)
    n_iter = outcome.last.iteration if outcome.last.phase == "fit" else 0
    facts = [
        f"{model.n_alive_} alive",
        f"density {model.density_:.2%}",
        f"largest cosine of two topics {model.max_cosine_:.2f}",
    ]
    # Topics of counts have almost all words; there, what a prior does to documents tells more.
    if model.wants == "weights":
        facts.append(f"{model.distinct_terms_:.0%} distinct words")
    elif model.traits.prior:
        facts.append(f"{model.doc_density_ * n_topics:.1f} topics in a document on average")
    say(
        f"fitted {plural(n_topics, 'topic')} in {plural(n_iter, 'iteration')} and "
        f"{outcome.seconds:.1f} s: {', '.join(facts)}"
    )
    for message in [*_cautions(model, outcome), *outcome.warnings]:
        warn(message)
    say(f"next: laconic topics {path} --terms 40", whole=True)
    for command in (f"laconic transform {path}{reading} -o weights.parquet", *more):
        say(f"      {command}", whole=True)
    if outcome.stopped:
        if checkpoint is not None:
            say(f"      the same command continues the fit from {checkpoint.path}", whole=True)
        raise typer.Exit(INTERRUPTED)


def _cautions(model: Any, outcome: Outcome) -> list[str]:
    from laconic.models.base import SHORT_TOPIC

    cautions = []
    if outcome.stopped:
        when = "before its first iteration, from the start it had found"
        if outcome.last.phase == "fit":
            when = f"after {plural(outcome.last.iteration, 'iteration')}"
        cautions.append(f"the fit was stopped early by Ctrl-C, {when}; this is the model so far")
    elif not outcome.converged:
        cautions.append(
            f"the fit was still improving after {plural(model.max_iter, 'iteration')}: raise --max-iter, "
            "or --tol if the topics are good enough"
        )
    penalty = model.topic_penalty
    n_dead = len(model.topic_sizes_) - model.n_alive_
    if n_dead and model.n_alive_:
        remedy = "lower --alpha-topics" if penalty is not None else "ask for fewer topics"
        cautions.append(f"{plural(n_dead, 'topic')} ended without words: {remedy}")
    # Unless so small a budget was asked for.
    if model.n_short_ and (model.word_budget or SHORT_TOPIC) >= SHORT_TOPIC:
        remedy = "ask for fewer topics, or leave out rare words with --min-df"
        if penalty is not None:
            remedy = f"lower --alpha-topics (it was {penalty:.3g}), or ask for fewer topics"
        cautions.append(
            f"{plural(model.n_short_, 'topic')} ended with fewer than {SHORT_TOPIC} words: {remedy}"
        )
    if len(model.topic_sizes_) > outcome.n_documents:
        cautions.append(
            f"there are more topics ({len(model.topic_sizes_)}) than documents ({outcome.n_documents})"
        )
    return cautions
