"""The options that are parameters in Python: one table, from which all follows that is said of them.

A line says how an option is typed, what it is called in Python, what it is about, and what it does. From it
come the signatures that typer reads, the parameters of readers, vectorisers and models, the help, and the
words of errors. What the library knows is not said again: which models take a parameter, its default, limits
and choices.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import get_args

from laconic.cli import completion
from laconic.cli.options import conversions as convert
from laconic.cli.options.line import Kind, Option
from laconic.corpus.options import WEIGHTINGS
from laconic.errors import Parameter
from laconic.models.making import RECIPES
from laconic.reading.ledger import OnError

DATA = "Reading the collection"

READING = Kind("reading", DATA)
MODALITIES = Kind("columns", DATA)
TERMS = Kind("terms", "Choosing and weighting terms")
MODEL = Kind("parameters", "The model")
LINKS = Kind("parameters", "Links of documents (graph-plsa) or of their modalities (multimodal-plsa)")
RUN = Kind("parameters", "The fit")

TABLE: list[Option] = [
    Option(
        "--text",
        "text",
        READING,
        "The column with the text. Repeat it to join several columns. meta.body is the key body inside meta.",
        list[str],
        metavar="COLUMN",
        read=convert.columns,
        completion=completion.columns,
    ),
    Option(
        "--text-NAME",
        "texts",
        MODALITIES,
        "For multimodal-plsa, instead of --text: the column of one modality (a language or medium), under a "
        "name of your choice, such as --text-de german --text-en english. An empty text means that the "
        "document lacks that modality.",
        list[str],
        metavar="COLUMN",
        read=convert.columns_by_name,
        completion=completion.columns,
    ),
    Option(
        "--label",
        "label labels",
        READING,
        'The column with the label. For a folder, "folder" means the name of the sub-folder; for SVMlight, '
        'use "label".',
        str,
        metavar="COLUMN",
        completion=completion.columns,
    ),
    Option(
        "--id",
        "id ids",
        READING,
        "The column with the id.",
        str,
        metavar="COLUMN",
        shown="numbered",
        completion=completion.columns,
    ),
    Option(
        "--date",
        "date dates",
        READING,
        "The column with the date, such as 2026-11-16 (ISO 8601).",
        str,
        metavar="COLUMN",
        completion=completion.columns,
    ),
    Option("--encoding", "encoding", READING, "The encoding of the file or files.", str),
    Option(
        "--delimiter",
        "delimiter",
        READING,
        r"The character between the fields of .csv and .tsv files, such as ';' or '\t'.",
        str,
        metavar="SIGN",
        shown="a comma or a tab",
        read=convert.sign,
        write=convert.typed_sign,
    ),
    Option(
        "--vocabulary",
        "vocabulary",
        READING,
        "For counts: a file with the word of each column, one per line.",
        Path,
        shown="vocab.NAME.txt for a docword.NAME.txt, otherwise numbers",
    ),
    Option(
        "--on-error",
        "on_error",
        READING,
        "What to do with a row that cannot be read: stop with an error, or skip it and report it.",
        choices=get_args(OnError),
    ),
    Option(
        "--max-documents",
        "max_documents",
        READING,
        "Read only this many documents, to try something out.",
        int,
        metavar="NUMBER",
        shown="all",
    ),
    Option(
        "--html/--no-html",
        "html",
        TERMS,
        "Remove HTML tags and entities from the texts, or not.",
        bool,
        shown="if the first texts have some",
    ),
    Option(
        "--min-df",
        "min_df",
        TERMS,
        "Ignore words that occur in fewer documents than this: a number (5) or a fraction of all (0.01).",
        str,
        metavar="NUMBER",
        read=convert.frequency,
    ),
    Option(
        "--max-df",
        "max_df",
        TERMS,
        "Ignore words that occur in more documents than this: a number (500) or a fraction of all (0.1).",
        str,
        metavar="NUMBER",
        read=convert.frequency,
    ),
    Option(
        "--max-features",
        "max_features",
        TERMS,
        "Keep only this many words, the most frequent ones.",
        int,
        least=1,
        shown="all",
    ),
    Option(
        "--stop-words",
        "stop_words",
        TERMS,
        "Words to ignore: a language (german), a file with one word per line, several of these "
        "(english,german,my.txt), or none. For several modalities, also de=german,en=english.",
        str,
        metavar="WORDS",
        read=convert.stop_words,
        by_modality=True,
        completion=completion.stop_word_languages,
    ),
    Option(
        "--stemmer",
        "stemmer",
        TERMS,
        "Reduce words to stems, so that fishes and fishing both count as fish. For several modalities, "
        "also de=german,en=english.",
        str,
        metavar="LANGUAGE",
        shown="none",
        read=convert.stemmer,
        by_modality=True,
        completion=completion.stemmer_languages,
    ),
    Option(
        "--ngrams",
        "ngram_range",
        TERMS,
        "Also count phrases of up to this many words.",
        int,
        least=1,
        read=convert.up_to,
        write=convert.longest,
    ),
    Option(
        "--weighting",
        "weighting",
        TERMS,
        f"How counts become weights: {', '.join(WEIGHTINGS[:-1])} or {WEIGHTINGS[-1]}.",
        choices=WEIGHTINGS,
        metavar="NAME",
    ),
    Option("--emoji", "emoji", TERMS, "Count emoji as words.", bool),
    Option("--sublinear-tf", "sublinear_tf", TERMS, "For tfidf: 1 + ln(count) instead of the count.", bool),
    Option(
        "--model",
        "model",
        MODEL,
        "The kind of model: rlsi, nmf or sparse-lsa; group-rlsi or group-nmf, with shared topics and topics "
        "of each --label; plsa or nmf-kl, which model counts; graph-plsa, where linked documents get similar "
        "topics; multimodal-plsa, for several languages or media (--text-NAME).",
        choices=tuple(RECIPES),
        metavar="NAME",
        default=next(iter(RECIPES)),
    ),
    Option("--topics -k", "n_topics n_components", MODEL, "How many topics to find."),
    Option("--shared", "n_shared", MODEL, "Group models: how many topics all classes share."),
    Option("--per-class", "n_per_class", MODEL, "Group models: how many topics each class has of its own."),
    Option("--words", "words terms_per_topic", MODEL, "The word budget: at most this many words per topic."),
    Option(
        "--topic-norm",
        "topic_norm",
        MODEL,
        "What keeps topics short: the word budget (l0) or a penalty (l1 makes topics sparse, l2 dense).",
        shown="l0, or l1 with --alpha-topics",
    ),
    Option("--doc-norm", "doc_norm", MODEL, "The penalty on documents' weights; l1 makes them sparse."),
    Option(
        "--alpha-topics",
        "alpha_topics",
        MODEL,
        "The penalty on topics, instead of the word budget: larger means shorter topics.",
        shown="by the data",
    ),
    Option(
        "--alpha-shared",
        "alpha_shared",
        MODEL,
        "The penalty on shared topics of group-rlsi.",
        shown="that of --alpha-topics",
    ),
    Option("--alpha-docs", "alpha_docs", MODEL, "The penalty on documents' weights.", shown="0.1"),
    Option(
        "--scale-by-class-size",
        "scale_by_class_size",
        MODEL,
        "group-rlsi: scale the penalty with the size of a class, so that small classes keep long topics.",
    ),
    Option(
        "--signed/--nonnegative",
        "nonnegative",
        MODEL,
        "Let words count against a topic, or not.",
        bool,
        shown="nonnegative",
        read=convert.opposite,
    ),
    Option(
        "--solver",
        "solver",
        MODEL,
        "How topics are found. nmf and group-nmf: cd, coordinate descent, or mu, multiplicative updates "
        "(slow). plsa and nmf-kl: extrapolated; em, expectation-maximisation (slow); or cd.",
    ),
    Option(
        "--prior",
        "prior",
        MODEL,
        "For plsa and nmf-kl, make documents use few topics: pareto:SHAPE (the larger, the fewer), "
        "pseudo-dirichlet:EPS or pseudo-dirichlet:EPS:WEIGHT (such as 0.02:1); nmf-kl also exponential:RATE.",
        str,
        metavar="NAME:NUMBER",
        shown="none",
        read=convert.prior,
        write=convert.typed_prior,
        completion=completion.priors,
    ),
    Option(
        "--graph",
        "graph",
        LINKS,
        "A file of links between documents. Each line has the ids of two documents (without --id, their "
        "numbers) and, optionally, a weight; .csv, .tsv, or separated by spaces; may be compressed.",
        Path,
        shown="nearest neighbours for graph-plsa, none for multimodal-plsa",
    ),
    Option(
        "--neighbors",
        "n_neighbors",
        LINKS,
        "graph-plsa without --graph: link each document to this many of the most similar ones.",
    ),
    Option(
        "--divergence",
        "divergence",
        LINKS,
        "How the weights of linked documents are compared; tied (multimodal-plsa only) makes them equal.",
    ),
    Option(
        "--strength",
        "strength",
        LINKS,
        "How strongly links pull: larger means more similar weights.",
    ),
    Option(
        "--raw-counts",
        "row_normalize",
        LINKS,
        "Let long documents count for more than short ones.",
        read=convert.opposite,
    ),
    Option("--max-iter", "max_iter", RUN, "The largest number of iterations."),
    Option("--tol", "tol", RUN, "Stop when an iteration improves the objective by less than this fraction."),
    Option(
        "--seed",
        "random_state",
        RUN,
        "The same seed gives exactly the same topics.",
        int,
        default=0,
        read=convert.seed,
    ),
    Option(
        "--jobs",
        "n_jobs",
        RUN,
        "How many threads to use; -1 for all cores. The topics do not depend on it.",
        int,
        shown="all cores",
        read=convert.jobs,
    ),
]

PYTHON_ONLY = {
    "init": "a name or an array of topics",
    "verbose": "commands show their progress",
    "loss": "said by --model",
    "groups": "a list for each group of terms",
    "group_weights": "goes with groups",
    "rotate": "goes with init",
    "anchors": "targets for topics; --seeds is the way for words",
    "token_pattern": "a regular expression",
    "lowercase": "goes with token_pattern",
    "tokenizer": "a function",
    "keep_texts": "commands say what is kept",
    "progress": "commands show their progress",
}
"""Parameters without an option, and why."""

OF_COMMANDS = {
    "by": "--by",
    "consensus": "--consensus",
    "dask": "--dask",
    "keep": "--keep",
    "memory": "--memory",
    "vector": "--query-vectors",
    "vectors": "--vectors",
}
"""Parameters that errors of the library name, and that single commands have as options of their own."""

_SAID_OTHERWISE = {"loss": {"kl": Parameter("model", "nmf-kl"), "squared": Parameter("model", "nmf")}}


def option_of(parameter: str) -> Option | None:
    """The option that is a parameter in Python, by any of its names."""
    return next((line for line in TABLE if parameter in line.names.split()), None)


def worded(parameter: Parameter) -> str:
    """How a parameter is typed; one without an option has the name that it has in Python.

    >>> worded(Parameter("min_df", 1)), worded(Parameter("n_components")), worded(Parameter("loss", "kl"))
    ('--min-df 1', '--topics', '--model nmf-kl')
    >>> worded(Parameter("delimiter", ";")), worded(Parameter("ngram_range", (1, 2)))
    ("--delimiter ';'", '--ngrams 2')
    >>> worded(Parameter("init", "svd"))
    "init='svd'"
    """
    if parameter.name in _SAID_OTHERWISE:
        parameter = _SAID_OTHERWISE[parameter.name].get(str(parameter.value), parameter)
    line = option_of(parameter.name)
    if line is not None:
        return line.worded(parameter)
    flag = OF_COMMANDS.get(parameter.name)
    if flag is None:
        return str(parameter)
    return f"{flag} {shlex.quote(str(parameter.value))}" if parameter.has_value else flag
