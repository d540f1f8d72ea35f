"""``laconic fit``: from files of documents to a saved model."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laconic.cli.options.arguments import Dask, Sources
from laconic.cli.options.declaring import command, usage
from laconic.cli.options.modalities import PLACEHOLDER, check_fit, columns_as_typed, modalities_of
from laconic.cli.options.naming import as_typed
from laconic.cli.options.table import LINKS, MODALITIES, MODEL, READING, RUN, TERMS
from laconic.cli.screen.console import emit, say, waiting, warn
from laconic.cli.screen.fitting import (
    conclude,
    fit_and_save,
    nothing_kept,
    share_with,
    wait_for,
)
from laconic.cli.screen.reading import ReadingDisplay, describe, tell_problems
from laconic.cli.screen.returning import tell_returns, watched_returns
from laconic.cli.screen.tables import TOPICS_SHOWN, labels_column, tell_of_others, topics_table
from laconic.cli.standard_input import spooled
from laconic.postponing import postpone
from laconic.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from laconic.bundle import Bundle
    from laconic.corpus import Corpus
    from laconic.corpus.sources import Modality, Source
    from laconic.engines import Checkpoint
    from laconic.steering.seeds import Seeds

EXAMPLES = """
Examples

  laconic fit reviews.jsonl -o model

  laconic fit news.csv.gz --text body --label section -k 50 --words 30 -o model

  laconic fit 'news/*.parquet' --text body --stemmer english --dry-run -o model

  laconic fit papers/ --label folder --alpha-topics 0.5 --signed -o model

  laconic fit docword.nips.txt.gz --save-corpus nips -o model

  laconic fit nips -k 100 -o model

  laconic fit news.csv --text body --label section --model group-rlsi --shared 20 --per-class 8 -o model

  laconic fit news.csv --text body --seeds seeds.yaml -o model

  laconic fit nips --model plsa --prior pareto:2 -o model

  laconic fit papers.jsonl --id key --model graph-plsa --graph citations.tsv -o model

  laconic fit huge.corpus --dask tcp://scheduler:8786 --dask-folder /shared/scratch -o model

  laconic fit pairs.jsonl --model multimodal-plsa --text-de german --text-en english -o model
"""

DOCUMENTS_AT_A_TIME = 10_000
COUNTED_FOR_CLUSTER = 4 << 30
"""Bytes that counting texts for a cluster may take; counts beyond are in files."""

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="The directory to save the model in. An earlier model in it is replaced.",
        show_default=False,
        readable=False,
    ),
]
SaveCorpus = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Also save the word counts in this directory, so that the next fit can start from them.",
        readable=False,
    ),
]
SaveWeights = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also save the documents' topic weights, as `laconic transform` writes them. For graph-plsa, "
        "they take the links into account.",
        readable=False,
    ),
]
NoTexts = Annotated[
    bool,
    typer.Option(
        "--no-texts",
        help="Save the model and its documents without their texts, so no excerpts can be shown.",
    ),
]
NoDocuments = Annotated[
    bool,
    typer.Option(
        "--no-documents",
        help="Save the model without its documents, so they can be neither searched nor shown.",
    ),
]
CheckpointDir = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="Save the progress of the fit here. After a crash or Ctrl-C, the same command continues from it "
        "and ends with the same topics. Removed once the model is saved.",
        readable=False,
    ),
]
Every = Annotated[
    str,
    typer.Option("--every", metavar="TIME", help="How often to write --checkpoint: 30s, 10m, 1h."),
]
SeedsFile = Annotated[
    Path | None,
    typer.Option(
        "--seeds",
        metavar="FILE",
        help="Topics you want, each given by a few words, in a YAML or JSON file: `tennis: [tennis, "
        "wimbledon]`. They come first and keep these names.",
    ),
]
SeedStrength = Annotated[
    float | None,
    typer.Option(
        "--seed-strength",
        metavar="NUMBER",
        min=0,
        help="How strongly topics are held to their seeds, if the file does not say [0.2].",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="How much memory to use, such as 4GB. What does not fit is kept in temporary files (in TMPDIR); "
        "the topics are the same, but the documents are not saved with the model.",
        show_default="no limit",
    ),
]
DaskFolder = Annotated[
    Path | None,
    typer.Option(
        "--dask-folder",
        metavar="DIR",
        help="With --dask: a folder that all workers see, with room for the documents and their weights.",
        show_default="the folder for temporary files",
        exists=True,
        file_okay=False,
        writable=True,
    ),
]
Consensus = Annotated[
    int | None,
    typer.Option(
        "--consensus",
        metavar="NUMBER",
        min=2,
        help="Fit from this many starts first, and begin with the topics that they agree on.",
        show_default=False,
    ),
]
Stability = Annotated[
    int | None,
    typer.Option(
        "--stability",
        metavar="NUMBER",
        min=1,
        help="Fit the model again to this many random halves of the documents, and show how often each topic "
        "comes back.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Only show the plan and how much memory it needs; save nothing."),
]


@command(READING, MODALITIES, TERMS, MODEL, LINKS, RUN)
def fit(
    path: Sources,
    output: Output,
    save_corpus: SaveCorpus = None,
    save_weights: SaveWeights = None,
    no_texts: NoTexts = False,
    no_documents: NoDocuments = False,
    checkpoint: CheckpointDir = None,
    every: Every = "60s",
    seeds: SeedsFile = None,
    seed_strength: SeedStrength = None,
    consensus: Consensus = None,
    memory: Memory = None,
    dask: Dask = None,
    dask_folder: DaskFolder = None,
    stability: Stability = None,
    dry_run: DryRun = False,
    *,
    reading: dict[str, Any],
    columns: dict[str, str],
    terms: dict[str, Any],
    parameters: dict[str, Any],
) -> None:
    """Find the topics of a collection and save them as a model.

    Topics have a limited number of words, so that you can read them in full. The documents are saved with
    the model, ready to be searched. Ctrl-C stops the fit and keeps the topics found so far; a second
    Ctrl-C aborts it. With --checkpoint, the same command continues where it stopped.
    """
    postpone()
    name, graph = parameters["model"], parameters.get("graph")
    with nothing_kept(), ExitStack() as stack:
        with waiting("looking at the files"):
            from laconic.models.rehearsal import Rehearsal

            # Before all that takes long to import, or to read.
            rehearsal = Rehearsal(name, {key: value for key, value in parameters.items() if key != "model"})
            if not dry_run:
                stack.enter_context(rehearsal)
            from laconic.bundle import Documents
            from laconic.bundle.fitting import check_counted, plan_of
            from laconic.bundle.listing import Listing
            from laconic.corpus.sources import Holds, find_source
            from laconic.corpus.spool import within

            modalities = modalities_of(columns, terms)
            _check_directories(output, save_corpus, checkpoint)
            pages = _checkpoint(checkpoint, every)
            limit = _memory(memory)
            model = _made(columns, parameters)
            if model.traits.modalities:
                check_fit(columns, reading.get("text"), save_corpus)
            with usage():
                check_counted(model, terms)
            if consensus is not None:
                from laconic.steering.consensus import check_consensus

                with usage("--consensus"):
                    check_consensus(model, consensus)
            if stability is not None:
                _check_stability(model, no_documents)
            _check_dask(model, dask, dask_folder)
            path = spooled(path, reading, columns)
            source = find_source(path, {**reading, **modalities[0].terms})
            if columns:
                source.check_columns()
            _check_files(source, graph, save_weights)
            wanted = _seeds(seeds, seed_strength)
            if model.traits.classes and "label" not in reading and source.holds is not Holds.corpus:
                raise typer.BadParameter(
                    f"--model {name} needs the class of every document: name the column that holds it",
                    param_hint="--label",
                )
        if dry_run:
            from laconic.cli.screen.plan import Kept, show_plan

            kept = Kept(documents=not no_documents, texts=not (no_texts or no_documents))
            show_plan(source, reading, modalities, model, output, save_corpus, graph, kept, limit)
            return
        if dask is not None:
            from laconic.engines.connecting import connected

            with waiting(f"connecting to {dask}"):
                client = stack.enter_context(connected(dask))
        share_with(rehearsal, model)
        # who fits on a cluster has more documents than this process should hold
        with within(limit if dask is None or limit is not None else COUNTED_FOR_CLUSTER):
            corpora = _read(source, reading, modalities, keep_texts=not (no_texts or no_documents))
        corpus = next(iter(corpora.values()))
        plan = plan_of(model, corpora, limit)
        streamed = plan.folder is not None
        if limit is not None:
            kept_words = "; documents are not saved with the model" if streamed and not no_documents else ""
            say(f"plan: {plan.words()}{kept_words}", whole=True)
        if save_corpus is not None:
            with waiting("saving the corpus"):
                corpus.save(save_corpus)
            say(f"corpus saved to {save_corpus}; `laconic fit {save_corpus}` starts from it", whole=True)
        given: dict[str, Any] = {} if graph is None else {"graph": _links(graph, corpus, reading)}
        if pages is not None and pages.exists:
            say(f"continuing from the checkpoint in {pages.path}", whole=True)
        if wanted is not None:
            given["names"] = _held(model, corpora, wanted)
        if dask is not None:
            from laconic.engines.dask import DaskEngine

            given["engine"] = DaskEngine(client, dask_folder, n_jobs=parameters.get("n_jobs"))
        if consensus is not None:
            given["consensus"] = consensus
            say(f"fitting from {consensus} starts first", whole=True)
        wait_for(rehearsal)
        bundle, outcome = fit_and_save(
            model,
            corpora,
            output,
            keep_documents=not (no_documents or streamed),
            checkpoint=pages,
            room=plan.room,
            **given,
        )
        # of documents that are beyond memory, weights are not looked at all at once
        labels = None if model.traits.classes or streamed else corpus.labels
        weights = None
        if labels is not None or (save_weights is not None and not streamed):
            documents = bundle.documents or Documents.of(
                model, corpora, fitted=True, engine=given.get("engine")
            )
            weights = documents.weights
    if stability is not None and not outcome.stopped and bundle.documents is not None:
        watched_returns(bundle, stability, parameters.get("random_state", 0), parameters.get("n_jobs"))
        bundle.save(output)
    if streamed and save_weights is not None:
        _stream_weights(bundle, corpus, save_weights)
        save_weights = None
    if save_weights is not None:
        _save_weights(bundle, corpus, weights, save_weights)
    extra = None if labels is None else labels_column(labels, weights)
    emit(topics_table(Listing.of(bundle), extra=extra, most=TOPICS_SHOWN))
    tell_of_others(bundle.model, output)
    tell_returns(bundle)
    new = "NEW-CORPUS" if source.holds is Holds.corpus else "NEW-FILE"
    typed, how = columns_as_typed(columns), as_typed(reading)
    more = [f"laconic translate {output} {new}{one}{how}" for one in typed[:1]]
    if not typed and not no_documents and not streamed:
        more += [f'laconic search {output} "SOME WORDS"', f"laconic evaluate {output}"]
    conclude(
        bundle.model, outcome, output, reading=f" {new}{''.join(typed)}{how}", more=more, checkpoint=pages
    )


def _made(columns: Mapping[str, str], parameters: Mapping[str, Any]) -> Any:
    """The model that was asked for; a fit would find out as well what is wrong, but only when all is read."""
    from laconic.models.making import RECIPES, has_modalities, make_model, takers_of

    given = dict(parameters)
    name, graph = given.pop("model"), given.pop("graph", None)
    # what is no parameter of the model's class
    for flag, typed, takers in (
        ("--graph", graph, takers_of("graph")),
        (PLACEHOLDER, columns, [taker for taker in RECIPES if has_modalities(taker)]),
    ):
        if typed and name not in takers:
            raise typer.BadParameter(
                f"--model {name} does not take {flag}; use it with {' or '.join(takers)}", param_hint=flag
            )
    if graph is not None and "n_neighbors" in given:
        raise typer.BadParameter(
            "links come either from a file or from nearest neighbours: leave out --graph or --neighbors",
            param_hint="--neighbors",
        )
    with usage():
        return make_model(name, **given)


def _seeds(path: Path | None, strength: float | None) -> Seeds | None:
    if path is None:
        if strength is not None:
            raise typer.BadParameter("needs --seeds: name a file of seeds", param_hint="--seed-strength")
        return None
    from laconic.steering.seeds import Seeds

    with usage():
        return Seeds.of(path, strength)


def _held(model: Any, corpora: Mapping[str, Corpus], seeds: Seeds) -> dict[Any, str]:
    """Hold topics at seeds; tells of words that are not there."""
    import warnings

    from laconic.bundle.fitting import hold_seeds

    with usage(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = hold_seeds(model, corpora, seeds)
    for each in caught:
        warn(str(each.message))
    say(f"{plural(len(seeds.topics), 'topic')} seeded")
    return names


def _memory(typed: str | None) -> int | None:
    from laconic.bundle.planning import bytes_of
    from laconic.errors import ParameterError

    try:
        return bytes_of(typed)
    except ParameterError as error:
        raise typer.BadParameter(
            f"{typed!r} is not a size: give something like 4GB, or a number of bytes", param_hint="--memory"
        ) from error


def _checkpoint(path: Path | None, every: str) -> Checkpoint | None:
    from laconic.cli.options.conversions import seconds

    try:
        interval = seconds(every)
    except typer.BadParameter as error:
        raise typer.BadParameter(error.message, param_hint="--every") from error
    if path is None:
        return None
    from laconic.engines.checkpoints import CHECKPOINT, Checkpoint
    from laconic.storage.writing import check_writable

    check_writable(path, CHECKPOINT)
    # until the model is saved, there is nothing else to go on from
    return Checkpoint(path, every=interval, keep=True)


def _check_dask(model: Any, address: str | None, folder: Path | None) -> None:
    if address is None:
        if folder is not None:
            raise typer.BadParameter("needs --dask: name the cluster", param_hint="--dask-folder")
        return
    if model.whole:
        raise typer.BadParameter(
            f"{type(model).__name__} couples documents with each other, so it cannot be fitted on a cluster: "
            "leave --dask out",
            param_hint="--dask",
        )


def _check_stability(model: Any, no_documents: bool) -> None:
    from laconic.steering.refits import check_refittable

    if no_documents:
        raise typer.BadParameter(
            "stability is measured on the documents: leave out --no-documents", param_hint="--stability"
        )
    with usage("--stability"):
        check_refittable(model)


def _check_directories(output: Path, save_corpus: Path | None, checkpoint: Path | None) -> None:
    from laconic.bundle.kind import MODEL
    from laconic.storage.writing import check_writable

    check_writable(output, MODEL)
    if checkpoint is not None and checkpoint.absolute() in (
        output.absolute(),
        None if save_corpus is None else save_corpus.absolute(),
    ):
        raise typer.BadParameter(
            f"{checkpoint} is used for something else: give the checkpoint its own directory",
            param_hint="--checkpoint",
        )
    if save_corpus is not None:
        from laconic.corpus.kind import CORPUS

        model, corpus = output.resolve(), save_corpus.resolve()
        if model == corpus:
            raise typer.BadParameter(
                f"the model is saved to {save_corpus}: choose another directory for the corpus",
                param_hint="--save-corpus",
            )
        if model in corpus.parents or corpus in model.parents:
            raise typer.BadParameter(
                f"{save_corpus} and {output} are nested: choose another directory for the corpus",
                param_hint="--save-corpus",
            )
        check_writable(save_corpus, CORPUS)


def _check_files(source: Source, graph: Path | None, save_weights: Path | None) -> None:
    if graph is not None:
        from laconic.reading.links import check_links

        check_links(graph)
    if save_weights is not None:
        from laconic.bundle.weights import check_target

        check_target(save_weights, source.paths)


def _read(
    source: Source, reading: Mapping[str, Any], modalities: Sequence[Modality], *, keep_texts: bool
) -> dict[str, Corpus]:
    with ReadingDisplay() as display:
        corpora = source.corpora(reading, modalities, display, keep_texts=keep_texts)
    for name, corpus in corpora.items():
        say(f"read {f'{name}: ' if name else ''}{describe(corpus)}")
    # Every modality has the same rows.
    tell_problems(next(iter(corpora.values())).reading)
    return corpora


def _links(path: Path, corpus: Corpus, reading: Mapping[str, Any]) -> Any:
    from laconic.reading.links import read_links

    with waiting("reading the links"):
        links = read_links(path, corpus.ids.tolist(), reading.get("on_error", "raise"))
    say(f"read {plural(len(links.edges), 'link')} from {path}", whole=True)
    tell_problems(links.reading)
    return links.edges


def _stream_weights(bundle: Bundle, corpus: Corpus, path: Path) -> None:
    """Write the weights of documents that are beyond memory, some at a time."""
    from laconic.bundle.weights import writing_weights
    from laconic.engines import even_blocks

    model: Any = bundle.model
    with writing_weights(path, bundle) as write:
        for rows in even_blocks(corpus.shape[0], DOCUMENTS_AT_A_TIME):
            part = slice(rows.start, rows.stop)
            X = model.rows(corpus.counts[part], corpus.vectorizer.weigh)
            labels = None if corpus.labels is None else corpus.labels[part]
            classes = model.classes_of(X, labels) if model.traits.classes else None
            write(corpus.ids[part].tolist(), model.weights_of(X, classes))
    say(f"weights of {plural(corpus.shape[0], 'document')} written to {path}", whole=True)


def _save_weights(bundle: Bundle, corpus: Corpus, weights: Any, path: Path) -> None:
    from laconic.bundle.weights import writing_weights

    with writing_weights(path, bundle) as write:
        write(corpus.ids.tolist(), weights)
    say(f"weights of {plural(corpus.shape[0], 'document')} written to {path}", whole=True)
