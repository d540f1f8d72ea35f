"""The options of `fit` that say what is fitted and how; `making` says what they mean for a model."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from laconic.cli import completion

DEFAULT_WORDS = 40
DEFAULT_TOPICS = 20
DEFAULT_SHARED = 10
DEFAULT_PER_CLASS = 5

_MODEL = "The model"
_LINKS = "Links of documents (graph-plsa) or of their texts (multimodal-plsa)"
_RUN = "The fit"


class ModelName(Enum):
    """The models that can be fitted."""

    rlsi = "rlsi"
    group_rlsi = "group-rlsi"
    nmf = "nmf"
    group_nmf = "group-nmf"
    sparse_lsa = "sparse-lsa"
    nmf_kl = "nmf-kl"
    plsa = "plsa"
    graph_plsa = "graph-plsa"
    multimodal_plsa = "multimodal-plsa"


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


class Divergence(Enum):
    """How the weights of linked documents are compared."""

    skl = "skl"
    l2 = "l2"
    l1 = "l1"
    tied = "tied"


Model = Annotated[
    ModelName,
    typer.Option(
        metavar="NAME",
        case_sensitive=False,
        help="The kind of model: rlsi, nmf or sparse-lsa; group-rlsi or group-nmf, with topics that all "
        "classes of --label share and topics of each class; plsa or nmf-kl, which take counts; graph-plsa, "
        "where linked documents have similar topics; multimodal-plsa, for several texts of each document "
        "(--text-NAME).",
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
        help="How nmf and group-nmf are found: coordinate descent, or multiplicative updates (slow).",
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
PriorOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME:NUMBER",
        help="Let documents of plsa and nmf-kl have few topics: pareto:SHAPE (the larger, the fewer), "
        "pseudo-dirichlet:EPS or pseudo-dirichlet:EPS:WEIGHT (such as 0.02:1); nmf-kl also exponential:RATE.",
        show_default="none",
        autocompletion=completion.priors,
        rich_help_panel=_MODEL,
    ),
]
Graph = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Links between documents: in each line the ids of two (their numbers, without --id) and, if "
        "wanted, a weight; .csv, .tsv, or separated by spaces; may be compressed.",
        show_default="nearest neighbours for graph-plsa, none for multimodal-plsa",
        readable=False,
        rich_help_panel=_LINKS,
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="For graph-plsa without --graph: link each document to so many that are most like it.",
        show_default="5",
        rich_help_panel=_LINKS,
    ),
]
DivergenceOption = Annotated[
    Divergence | None,
    typer.Option(
        help="How the weights of what is linked are compared; tied (multimodal-plsa only) makes them equal.",
        show_default="skl",
        rich_help_panel=_LINKS,
    ),
]
Strength = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="What differences of what is linked cost: the more, the more alike are the weights.",
        show_default="0.3 for graph-plsa, 1.0 for multimodal-plsa",
        rich_help_panel=_LINKS,
    ),
]
RawCounts = Annotated[
    bool | None,
    typer.Option(
        "--raw-counts",
        help="Let long documents count for more than short ones.",
        show_default=False,
        rich_help_panel=_LINKS,
    ),
]

MaxIter = Annotated[
    int, typer.Option(metavar="NUMBER", min=1, help="At most that many iterations.", rich_help_panel=_RUN)
]
Tol = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="Stop when an iteration lowers the objective by less than this part of it.",
        show_default="1e-05",
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
