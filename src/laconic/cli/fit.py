"""``laconic fit``: from files of documents to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laconic.cli import input_options as read
from laconic.cli import model_options as option
from laconic.cli import term_options as term
from laconic.cli.console import emit, say, waiting
from laconic.cli.errors import reported
from laconic.cli.fitting import check_output, conclude, fit_and_save, nothing_kept
from laconic.cli.reading import ReadingDisplay, describe, tell_problems
from laconic.cli.sources import Holds, find_source, read_corpus
from laconic.cli.tables import strongest_labels, topics_table

EXAMPLES = """
Examples

  laconic fit reviews.jsonl -o model

  laconic fit news.csv.gz --text body --label section -k 50 --words 30 -o model

  laconic fit 'news/*.parquet' --text body --stemmer english --dry-run -o model

  laconic fit papers/ --label folder --alpha-topics 0.5 --signed -o model

  laconic fit docword.nips.txt.gz --save-corpus nips -o model

  laconic fit nips -k 100 -o model

  laconic fit news.csv --text body --label section --model group-rlsi --shared 20 --per-class 8 -o model
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
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Only show the plan, with an estimate of the memory; nothing is saved."),
]


@reported
def fit(
    path: read.Sources,
    output: Output,
    save_corpus: SaveCorpus = None,
    dry_run: DryRun = False,
    text: read.Text = None,
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
    max_iter: option.MaxIter = 200,
    tol: option.Tol = 1e-5,
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
    with nothing_kept():
        with waiting("looking at the files"):
            terms = term.vectorizer_options(
                min_df=min_df,
                max_df=max_df,
                max_features=max_features,
                stop_words=stop_words,
                stemmer=stemmer,
                ngrams=ngrams,
                weighting=weighting,
                sublinear_tf=sublinear_tf,
            )
            _check_outputs(output, save_corpus)
            made = option.make_model(
                model,
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
                max_iter=max_iter,
                tol=tol,
                seed=seed,
                jobs=jobs,
            )
            source = find_source(path, {**reading, **terms})
            if option.needs_labels(model) and label is None and source.holds is not Holds.corpus:
                raise typer.BadParameter(
                    f"--model {model.value} needs the class of every document: name its column",
                    param_hint="--label",
                )
        if dry_run:
            from laconic.cli.plan import show_plan

            show_plan(source, reading, terms, made, output, save_corpus)
            return
        with ReadingDisplay() as display:
            corpus = read_corpus(source, reading, terms, display)
        say(f"read {describe(corpus)}")
        tell_problems(corpus.reading)
        if save_corpus is not None:
            with waiting("saving the corpus"):
                corpus.save(save_corpus)
            say(f"corpus saved to {save_corpus}: `laconic fit {save_corpus}` starts from it", whole=True)
        bundle, outcome = fit_and_save(made, corpus, output)
    labels = None
    if corpus.labels is not None and not option.needs_labels(model):
        labels = strongest_labels(corpus, bundle.model.transform(corpus.X))
    emit(topics_table(bundle, extra=labels))
    new = "NEW-CORPUS" if source.holds is Holds.corpus else "NEW-FILE"
    conclude(bundle.model, outcome, output, reading=f" {new}{read.as_typed(reading)}")


def _check_outputs(output: Path, save_corpus: Path | None) -> None:
    check_output(output)
    if save_corpus is not None:
        from laconic.corpus.saving import CORPUS

        if output.absolute() == save_corpus.absolute():
            raise typer.BadParameter(
                f"{save_corpus} is where the model goes: give the corpus another", param_hint="--save-corpus"
            )
        check_output(save_corpus, CORPUS)
