"""``laconic fit``: from files of documents to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laconic.cli import input_options as read
from laconic.cli import media as several
from laconic.cli import model_options as option
from laconic.cli import term_options as term
from laconic.cli.console import emit, say, waiting
from laconic.cli.errors import reported
from laconic.cli.fitting import (
    check_output,
    conclude,
    fit_and_save,
    nothing_kept,
)
from laconic.cli.making import has_media, make_model, needs_labels
from laconic.cli.reading import ReadingDisplay, describe, tell_problems
from laconic.cli.tables import strongest_labels, topics_table
from laconic.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from laconic.corpus import Corpus
    from laconic.corpus.sources import Modality, Source

EXAMPLES = """
Examples

  laconic fit reviews.jsonl -o model

  laconic fit news.csv.gz --text body --label section -k 50 --words 30 -o model

  laconic fit 'news/*.parquet' --text body --stemmer english --dry-run -o model

  laconic fit papers/ --label folder --alpha-topics 0.5 --signed -o model

  laconic fit docword.nips.txt.gz --save-corpus nips -o model

  laconic fit nips -k 100 -o model

  laconic fit news.csv --text body --label section --model group-rlsi --shared 20 --per-class 8 -o model

  laconic fit nips --model plsa --prior pareto:2 -o model

  laconic fit papers.jsonl --id key --model graph-plsa --graph citations.tsv -o model

  laconic fit pairs.jsonl --model multimodal-plsa --text-de german --text-en english -o model
"""

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where to save the model: a new directory, or that of an earlier model, which is replaced.",
        show_default=False,
        readable=False,
    ),
]
SaveCorpus = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Also save what was counted, as a directory that the next fit can take for its PATH.",
        readable=False,
    ),
]
SaveWeights = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also save the documents' weights for the topics, as `laconic transform` writes them; those of "
        "graph-plsa take the links into account.",
        readable=False,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Only show the plan, with an estimate of the memory; nothing is saved."),
]


@reported
def fit(
    path: read.Sources,
    output: Output,
    save_corpus: SaveCorpus = None,
    save_weights: SaveWeights = None,
    dry_run: DryRun = False,
    text: read.Text = None,
    media: several.Media = None,
    label: read.Label = None,
    id: read.Id = None,
    encoding: read.Encoding = None,
    delimiter: read.Delimiter = None,
    vocabulary: read.Vocabulary = None,
    on_error: read.OnErrorOption = None,
    min_df: term.MinDf = None,
    max_df: term.MaxDf = None,
    max_features: term.MaxFeatures = None,
    stop_words: term.StopWords = None,
    stemmer: term.Stemmer = None,
    ngrams: term.Ngrams = None,
    weighting: term.Weighting = None,
    sublinear_tf: term.SublinearTf = False,
    model: option.Model = option.ModelName.rlsi,
    topics: option.Topics = None,
    shared: option.Shared = None,
    per_class: option.PerClass = None,
    words: option.Words = None,
    topic_norm: option.TopicNormOption = None,
    doc_norm: option.DocNormOption = None,
    alpha_topics: option.AlphaTopics = None,
    alpha_shared: option.AlphaShared = None,
    alpha_docs: option.AlphaDocs = None,
    scale_by_class_size: option.ScaleByClassSize = None,
    signed: option.Signed = None,
    solver: option.SolverOption = None,
    prior: option.PriorOption = None,
    graph: option.Graph = None,
    neighbors: option.Neighbors = None,
    divergence: option.DivergenceOption = None,
    strength: option.Strength = None,
    raw_counts: option.RawCounts = None,
    max_iter: option.MaxIter = 200,
    tol: option.Tol = None,
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
) -> None:
    """Find the topics of a collection and save them as a model.

    Each topic gets a budget of words, so that it can be read as a whole. Ctrl-C stops the fit and keeps the
    topics found so far; a second Ctrl-C aborts it.
    """
    reading = read.reading_options(
        text=text,
        label=label,
        id=id,
        encoding=encoding,
        delimiter=delimiter,
        vocabulary=vocabulary,
        on_error=on_error,
    )
    columns = several.columns_by_name(media)
    with nothing_kept():
        with waiting("looking at the files"):
            from laconic.corpus.sources import Holds, find_source

            texts = term.texts_of(
                columns,
                min_df=min_df,
                max_df=max_df,
                max_features=max_features,
                stop_words=stop_words,
                stemmer=stemmer,
                ngrams=ngrams,
                weighting=weighting,
                sublinear_tf=sublinear_tf,
            )
            _check_directories(output, save_corpus)
            made = make_model(
                model,
                text_NAME=columns or None,
                topics=topics,
                shared=shared,
                per_class=per_class,
                words=words,
                topic_norm=topic_norm,
                doc_norm=doc_norm,
                alpha_topics=alpha_topics,
                alpha_shared=alpha_shared,
                alpha_docs=alpha_docs,
                scale_by_class_size=scale_by_class_size,
                signed=signed,
                solver=solver,
                prior=prior,
                graph=graph,
                neighbors=neighbors,
                divergence=divergence,
                strength=strength,
                raw_counts=raw_counts,
                max_iter=max_iter,
                tol=tol,
                seed=seed,
                jobs=jobs,
            )
            if has_media(model):
                several.check_media(columns, text, save_corpus)
            if made.wants == "counts":
                term.check_counted(weighting, sublinear_tf, model.value)
            source = find_source(path, {**reading, **texts[0].terms})
            if columns:
                source.check_columns()
            _check_files(source, graph, save_weights)
            if needs_labels(model) and label is None and source.holds is not Holds.corpus:
                raise typer.BadParameter(
                    f"--model {model.value} needs the class of every document: name its column",
                    param_hint="--label",
                )
        if dry_run:
            from laconic.cli.plan import show_plan

            show_plan(source, reading, texts, made, output, save_corpus, graph)
            return
        corpora = _read(source, reading, texts)
        corpus = next(iter(corpora.values()))
        if save_corpus is not None:
            with waiting("saving the corpus"):
                corpus.save(save_corpus)
            say(f"corpus saved to {save_corpus}: `laconic fit {save_corpus}` starts from it", whole=True)
        options = {} if graph is None else {"graph": _links(graph, corpus, reading)}
        bundle, outcome = fit_and_save(made, corpora, output, **options)
    compared = corpus.labels is not None and not needs_labels(model)
    weights = None
    if compared or save_weights is not None:
        assert bundle.documents is not None
        weights = bundle.documents.weights
    if save_weights is not None:
        _save_weights(made, corpus, weights, save_weights)
    emit(topics_table(bundle, extra=strongest_labels(corpus, weights) if compared else None))
    new = "NEW-CORPUS" if source.holds is Holds.corpus else "NEW-FILE"
    typed, how = several.as_typed(columns), read.as_typed(reading)
    more = [f"laconic translate {output} {new}{one}{how}" for one in typed[:1]]
    if not typed:
        named = read.as_typed(reading, also=("id", "label") if needs_labels(model) else ("id",))
        more.append(f'laconic search {output} --corpus {new.removeprefix("NEW-")}{named} "SOME WORDS"')
    conclude(bundle.model, outcome, output, reading=f" {new}{''.join(typed)}{how}", more=more)


def _check_directories(output: Path, save_corpus: Path | None) -> None:
    check_output(output)
    if save_corpus is not None:
        from laconic.corpus.saving import CORPUS

        if output.absolute() == save_corpus.absolute():
            raise typer.BadParameter(
                f"{save_corpus} is where the model goes: give the corpus another", param_hint="--save-corpus"
            )
        check_output(save_corpus, CORPUS)


def _check_files(source: Source, graph: Path | None, save_weights: Path | None) -> None:
    if graph is not None:
        from laconic.reading.links import check_links

        check_links(graph)
    if save_weights is not None:
        from laconic.bundle.weights import check_target

        check_target(save_weights, source.paths)


def _read(source: Source, reading: Mapping[str, Any], texts: Sequence[Modality]) -> dict[str, Corpus]:
    with ReadingDisplay() as display:
        corpora = source.corpora(reading, texts, display, keep_texts=True)
    for name, corpus in corpora.items():
        say(f"read {f'{name}: ' if name else ''}{describe(corpus)}")
    # Every text has the same rows.
    tell_problems(next(iter(corpora.values())).reading)
    return corpora


def _links(path: Path, corpus: Corpus, reading: Mapping[str, Any]) -> Any:
    from laconic.reading.links import read_links

    with waiting("reading the links"):
        links = read_links(path, corpus.ids.tolist(), reading.get("on_error", "raise"))
    say(f"read {plural(len(links.edges), 'link')} from {path}", whole=True)
    tell_problems(links.reading)
    return links.edges


def _save_weights(model: Any, corpus: Corpus, weights: Any, path: Path) -> None:
    from laconic.bundle.weights import topic_names, writing_weights

    with writing_weights(path, weights.shape[1], topic_names(model)) as write:
        write(corpus.ids.tolist(), weights)
    say(f"weights of {plural(corpus.shape[0], 'document')} written to {path}", whole=True)
