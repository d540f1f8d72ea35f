"""The options of `fit` that say what is fitted and how, and what they mean for a model."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

DEFAULT_WORDS = 40

_MODEL = "The model"
_RUN = "The fit"


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
