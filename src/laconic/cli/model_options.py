"""The options of `fit` that say what is fitted and how, and what they mean for a model."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

DEFAULT_WORDS = 40
DEFAULT_TOPICS = 20
DEFAULT_SHARED = 10
DEFAULT_PER_CLASS = 5

_MODEL = "The model"
_RUN = "The fit"


class ModelName(Enum):
    """The models that can be fitted."""

    rlsi = "rlsi"
    group_rlsi = "group-rlsi"
    nmf = "nmf"
    group_nmf = "group-nmf"


class TopicNorm(Enum):
    """What keeps topics small."""

    l0 = "l0"
    l1 = "l1"
    l2 = "l2"


class Solver(Enum):
    """How a non-negative factorisation is found."""

    cd = "cd"
    mu = "mu"


class DocNorm(Enum):
    """What keeps the weights of documents small."""

    l2 = "l2"
    l1 = "l1"


Model = Annotated[
    ModelName,
    typer.Option(
        case_sensitive=False,
        help="The kind of model. Group models have topics that all classes of --label share, and topics of "
        "each class.",
        rich_help_panel=_MODEL,
    ),
]
Topics = Annotated[
    int | None,
    typer.Option(
        "--topics",
        "-k",
        metavar="NUMBER",
        min=1,
        help="How many topics to find.",
        show_default=str(DEFAULT_TOPICS),
        rich_help_panel=_MODEL,
    ),
]
Shared = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="Group models: how many topics all classes share.",
        show_default=str(DEFAULT_SHARED),
        rich_help_panel=_MODEL,
    ),
]
PerClass = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="Group models: how many topics each class has for itself.",
        show_default=str(DEFAULT_PER_CLASS),
        rich_help_panel=_MODEL,
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
    DocNorm | None,
    typer.Option(
        help="The penalty on documents' weights; l1 makes them sparse.",
        show_default="l2",
        rich_help_panel=_MODEL,
    ),
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
AlphaShared = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="The penalty on shared topics of group-rlsi.",
        show_default="that of --alpha-topics",
        rich_help_panel=_MODEL,
    ),
]
ScaleByClassSize = Annotated[
    bool | None,
    typer.Option(
        "--scale-by-class-size",
        help="Let the penalty of group-rlsi grow with the class, so that small ones have no shorter topics.",
        show_default=False,
        rich_help_panel=_MODEL,
    ),
]
SolverOption = Annotated[
    Solver | None,
    typer.Option(
        help="How nmf is found: coordinate descent, or multiplicative updates (slow).",
        show_default="cd",
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
    bool | None,
    typer.Option(
        "--signed/--nonnegative",
        help="Whether words may count against a topic.",
        show_default="nonnegative",
        rich_help_panel=_MODEL,
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


# What goes with which model, and what it is called there.
_RLSI, _GROUPS, _NMF = (
    {ModelName.rlsi, ModelName.group_rlsi},
    {ModelName.group_rlsi, ModelName.group_nmf},
    {ModelName.nmf, ModelName.group_nmf},
)
_PARAMETERS: dict[str, tuple[str, set[ModelName]]] = {
    "topics": ("n_components", {ModelName.rlsi, ModelName.nmf}),
    "shared": ("n_shared", _GROUPS),
    "per_class": ("n_per_class", _GROUPS),
    "words": ("terms_per_topic", _RLSI),
    "topic_norm": ("topic_norm", _RLSI),
    "doc_norm": ("doc_norm", {ModelName.rlsi}),
    "alpha_topics": ("alpha_topics", _RLSI),
    "alpha_shared": ("alpha_shared", {ModelName.group_rlsi}),
    "alpha_docs": ("alpha_docs", _RLSI),
    "scale_by_class_size": ("scale_by_class_size", {ModelName.group_rlsi}),
    "signed": ("nonnegative", _RLSI),
    "solver": ("solver", _NMF),
    "max_iter": ("max_iter", set(ModelName)),
    "tol": ("tol", set(ModelName)),
    "seed": ("random_state", set(ModelName)),
    "jobs": ("n_jobs", set(ModelName)),
}


def needs_labels(model: ModelName) -> bool:
    """Whether the model has topics of classes."""
    return model in _GROUPS


def make_model(model: ModelName, *, seed: int, jobs: int | None, **given: Any) -> Any:
    """The model that the options ask for; None stands for an option that was not given."""
    if not 0 <= seed < 2**32:
        raise typer.BadParameter(f"{seed} is not between 0 and 4,294,967,295", param_hint="--seed")
    if jobs == 0:
        raise typer.BadParameter(
            "0 threads do no work: give 1 or more, or -1 for all cores", param_hint="--jobs"
        )
    given |= {"seed": seed, "jobs": jobs}
    for name, value in given.items():
        models = _PARAMETERS[name][1]
        if value is not None and model not in models:
            others = " or ".join(sorted(other.value for other in models))
            raise typer.BadParameter(
                f"--model {model.value} has no such option: it goes with {others}",
                param_hint=f"--{name.replace('_', '-')}",
            )
    if model in _RLSI:
        given |= _sparsity(given["words"], given["topic_norm"], given["alpha_topics"])
        given["signed"] = not given["signed"]
    if model not in _GROUPS and given["topics"] is None:
        given["topics"] = DEFAULT_TOPICS
    if model in _GROUPS:
        given["shared"] = DEFAULT_SHARED if given["shared"] is None else given["shared"]
        given["per_class"] = DEFAULT_PER_CLASS if given["per_class"] is None else given["per_class"]
    from laconic.models import MODELS

    known = {name.lower(): kind for name, kind in MODELS.items()}
    return known[model.value.replace("-", "")](
        **{
            _PARAMETERS[name][0]: value.value if isinstance(value, Enum) else value
            for name, value in given.items()
            if model in _PARAMETERS[name][1] and value is not None
        }
    )


def _sparsity(words: int | None, topic_norm: TopicNorm | None, alpha_topics: float | None) -> dict[str, Any]:
    """What keeps topics small: a word budget, unless a penalty is asked for."""
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
    return {"topic_norm": topic_norm, "words": words}
