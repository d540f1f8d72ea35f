"""``laconic fit``: from a file of documents to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laconic.cli import options as option
from laconic.cli.console import emit, say, waiting
from laconic.cli.errors import reported
from laconic.cli.fitting import check_output, conclude, describe, fit_and_save, nothing_kept
from laconic.cli.tables import strongest_labels, topics_table

EXAMPLES = """
Examples

  laconic fit reviews.jsonl -o model

  laconic fit news.csv --text body --label section --topics 50 --words 30 -o news-model

  laconic fit papers/ --label folder --alpha-topics 0.5 --signed -o papers-model
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


@reported
def fit(
    path: option.Source,
    output: Output,
    text: option.Text = "text",
    label: option.Label = None,
    id: option.Id = None,
    encoding: option.Encoding = "utf-8",
    model: option.Model = option.ModelName.rlsi,
    topics: option.Topics = 20,
    words: option.Words = None,
    topic_norm: option.TopicNormOption = None,
    doc_norm: option.DocNormOption = option.DocNorm.l2,
    alpha_topics: option.AlphaTopics = None,
    alpha_docs: option.AlphaDocs = None,
    signed: option.Signed = False,
    min_df: option.MinDf = "2",
    max_df: option.MaxDf = "0.5",
    max_features: option.MaxFeatures = None,
    stop_words: option.StopWords = "english",
    ngrams: option.Ngrams = 1,
    weighting: option.Weighting = option.WeightingName.tfidf,
    sublinear_tf: option.SublinearTf = False,
    max_iter: option.MaxIter = 200,
    tol: option.Tol = 1e-5,
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
) -> None:
    """Find the topics of a collection and save them as a model.

    Each topic gets a budget of words, so that it can be read as a whole. Ctrl-C stops the fit and keeps the
    topics found so far; a second Ctrl-C aborts it.
    """
    parameters = option.model_parameters(
        topics=topics,
        words=words,
        topic_norm=topic_norm,
        doc_norm=doc_norm,
        alpha_topics=alpha_topics,
        alpha_docs=alpha_docs,
        signed=signed,
        max_iter=max_iter,
        tol=tol,
        seed=seed,
        jobs=jobs,
    )
    terms = option.vectorizer_options(
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        stop_words=stop_words,
        ngrams=ngrams,
        weighting=weighting,
        sublinear_tf=sublinear_tf,
    )
    with nothing_kept():
        with waiting(f"reading {path}"):
            check_output(output)
            from laconic.corpus import Corpus
            from laconic.models import MODELS

            corpus = Corpus.read(path, text=text, label=label, id=id, encoding=encoding, **terms)
        say(f"read {describe(corpus)}")
        bundle, outcome = fit_and_save(MODELS[model.value.upper()](**parameters), corpus, output)
    labels = None
    if corpus.labels is not None:
        labels = strongest_labels(corpus, bundle.model.transform(corpus.X))
    emit(topics_table(bundle, extra=labels))
    conclude(bundle.model, outcome, output, reading=option.as_typed(text=text, encoding=encoding))
