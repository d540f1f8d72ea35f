"""The options of `fit`, and what they mean for the vectoriser and the model."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from laconic.corpus.options import VectorizerOptions

DEFAULT_WORDS = 40


class ModelName(Enum):
    """The models that can be fitted."""

    rlsi = "rlsi"


class TopicNorm(Enum):
    """What keeps topics small."""

    l0 = "l0"
    l1 = "l1"
    l2 = "l2"


class DocNorm(Enum):
    """What keeps the weights of documents small."""

    l2 = "l2"
    l1 = "l1"


class WeightingName(Enum):
    """How counts become weights."""

    tfidf = "tfidf"
    binary = "binary"
    count = "count"


_DATA = "Reading the collection"
_TERMS = "Choosing and weighting terms"
_MODEL = "The model"
_RUN = "The fit"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="A .jsonl, .ndjson or .csv file, or a folder of .txt files.",
        show_default=False,
        readable=False,  # an error of the file, not of usage: told when it is opened
    ),
]
Text = Annotated[str, typer.Option(metavar="COLUMN", help="The column of the text.", rich_help_panel=_DATA)]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help='The column of the label; for a folder, "folder" takes the names of its sub-folders.',
        rich_help_panel=_DATA,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="The column of the id.", show_default="numbered", rich_help_panel=_DATA
    ),
]
Encoding = Annotated[
    str, typer.Option(metavar="NAME", help="The encoding of the file or files.", rich_help_panel=_DATA)
]

MinDf = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="Leave out terms in fewer documents: a number (5) or a part of them (0.01).",
        rich_help_panel=_TERMS,
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="Leave out terms in more documents: a number (500) or a part of them (0.1).",
        rich_help_panel=_TERMS,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="Keep only that many terms, the most frequent ones.",
        show_default="all",
        rich_help_panel=_TERMS,
    ),
]
StopWords = Annotated[
    str,
    typer.Option(
        metavar="english|none|FILE",
        help="Words to leave out: the English ones, none, or those of a file with a word in each line.",
        rich_help_panel=_TERMS,
    ),
]
Ngrams = Annotated[
    int,
    typer.Option(
        metavar="NUMBER", min=1, help="Also take sequences of up to that many words.", rich_help_panel=_TERMS
    ),
]
Weighting = Annotated[WeightingName, typer.Option(help="How counts become weights.", rich_help_panel=_TERMS)]
SublinearTf = Annotated[
    bool,
    typer.Option("--sublinear-tf", help="For tfidf, take 1 + ln(count) for a count.", rich_help_panel=_TERMS),
]

Model = Annotated[
    ModelName, typer.Option(case_sensitive=False, help="The kind of model.", rich_help_panel=_MODEL)
]
Topics = Annotated[
    int,
    typer.Option(
        "--topics", "-k", metavar="NUMBER", min=1, help="How many topics to find.", rich_help_panel=_MODEL
    ),
]
Words = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="The word budget: at most that many words for each topic.",
        show_default=str(DEFAULT_WORDS),
        rich_help_panel=_MODEL,
    ),
]
TopicNormOption = Annotated[
    TopicNorm | None,
    typer.Option(
        help="What keeps topics small: the word budget (l0), or a penalty (l1 is sparse, l2 dense).",
        show_default="l0, or l1 with --alpha-topics",
        rich_help_panel=_MODEL,
    ),
]
DocNormOption = Annotated[
    DocNorm,
    typer.Option(help="The penalty on documents' weights; l1 makes them sparse.", rich_help_panel=_MODEL),
]
AlphaTopics = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="The penalty on topics, in place of the word budget: the more, the shorter.",
        show_default="by the data",
        rich_help_panel=_MODEL,
    ),
]
AlphaDocs = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="The penalty on documents' weights.",
        show_default="0.1",
        rich_help_panel=_MODEL,
    ),
]
Signed = Annotated[
    bool,
    typer.Option(
        "--signed/--nonnegative", help="Whether words may count against a topic.", rich_help_panel=_MODEL
    ),
]

MaxIter = Annotated[
    int, typer.Option(metavar="NUMBER", min=1, help="At most that many iterations.", rich_help_panel=_RUN)
]
Tol = Annotated[
    float,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="Stop when an iteration lowers the objective by less than this part of it.",
        rich_help_panel=_RUN,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="NUMBER", help="The same seed gives the same topics, to the bit.", rich_help_panel=_RUN
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="Threads; -1 for all cores. The topics do not depend on it.",
        show_default="all cores",
        rich_help_panel=_RUN,
    ),
]


def vectorizer_options(
    *,
    min_df: str,
    max_df: str,
    max_features: int | None,
    stop_words: str,
    ngrams: int,
    weighting: WeightingName,
    sublinear_tf: bool,
) -> VectorizerOptions:
    """The options of a `Vectorizer`."""
    return {
        "min_df": frequency(min_df, "--min-df"),
        "max_df": frequency(max_df, "--max-df"),
        "max_features": max_features,
        "stop_words": read_stop_words(stop_words),
        "ngram_range": (1, ngrams),
        "weighting": weighting.value,
        "sublinear_tf": sublinear_tf,
    }


def as_typed(*, text: str, encoding: str) -> str:
    """The options of reading that the next command needs, too, as they are typed.

    >>> as_typed(text="body", encoding="utf-8")
    ' --text body'
    """
    asked = [("--text", text, "text"), ("--encoding", encoding, "utf-8")]
    return "".join(f" {name} {shlex.quote(value)}" for name, value, default in asked if value != default)


def frequency(value: str, option: str) -> int | float:
    """A number of documents, or a part of all documents.

    >>> frequency("5", "--min-df"), frequency("0.05", "--min-df"), frequency("1.0", "--max-df")
    (5, 0.05, 1.0)
    """
    try:
        number = int(value) if value.strip().isdecimal() else float(value)
    except ValueError:
        number = -1.0
    if (isinstance(number, int) and number >= 1) or (isinstance(number, float) and 0 <= number <= 1):
        return number
    raise typer.BadParameter(
        f"{value!r} is neither a number of documents (1, 2, ...) nor a part of all documents (0.0 to 1.0)",
        param_hint=option,
    )


def read_stop_words(value: str) -> str | list[str] | None:
    """The words to leave out, as a `Vectorizer` takes them."""
    if value.lower() == "english":
        return "english"
    if value.lower() == "none":
        return None
    path = Path(value)
    if not path.is_file():
        raise typer.BadParameter(
            f"there is no file {value!r}: give english, none, or a file with one word in each line",
            param_hint="--stop-words",
        )
    # Texts are lower-cased before their stop words are looked for.
    lines = path.read_text(encoding="utf-8-sig").lower().splitlines()
    return [word for word in map(str.strip, lines) if word]


def model_parameters(
    *,
    topics: int,
    words: int | None,
    topic_norm: TopicNorm | None,
    doc_norm: DocNorm,
    alpha_topics: float | None,
    alpha_docs: float | None,
    signed: bool,
    max_iter: int,
    tol: float,
    seed: int,
    jobs: int | None,
) -> dict[str, Any]:
    """The parameters of an `RLSI`."""
    if not 0 <= seed < 2**32:
        raise typer.BadParameter(f"{seed} is not between 0 and 4,294,967,295", param_hint="--seed")
    if jobs == 0:
        raise typer.BadParameter(
            "0 threads do no work: give 1 or more, or -1 for all cores", param_hint="--jobs"
        )
    if topic_norm is None:
        topic_norm = TopicNorm.l0 if alpha_topics is None else TopicNorm.l1
    if topic_norm is TopicNorm.l0:
        if alpha_topics is not None:
            raise typer.BadParameter(
                "--topic-norm l0 is the word budget, which has no penalty: set --words in place of "
                "--alpha-topics, or choose --topic-norm l1",
                param_hint="--alpha-topics",
            )
        words = DEFAULT_WORDS if words is None else words
    elif words is not None:
        raise typer.BadParameter(
            "a word budget and a penalty on the topics (--topic-norm l1 or l2, --alpha-topics) exclude each "
            "other: leave --words out, or leave the penalty out",
            param_hint="--words",
        )
    return {
        "n_components": topics,
        "topic_norm": topic_norm.value,
        "doc_norm": doc_norm.value,
        "alpha_topics": alpha_topics,
        "alpha_docs": alpha_docs,
        "terms_per_topic": words,
        "nonnegative": not signed,
        "max_iter": max_iter,
        "tol": tol,
        "random_state": seed,
        "n_jobs": jobs,
    }
