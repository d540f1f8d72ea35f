"""From the options of `fit` to a model: which options go with which model, and what they are called there."""

from __future__ import annotations

from enum import Enum
from typing import Any

import typer

from laconic.cli.options.model import (
    ModelName,
)
from laconic.cli.screen.errors import as_options, option

_RLSI, _PENALISED, _GROUPS, _NMF, _PRIORS, _LINKED = (
    {ModelName.rlsi, ModelName.group_rlsi},
    {ModelName.rlsi, ModelName.group_rlsi, ModelName.sparse_lsa},
    {ModelName.group_rlsi, ModelName.group_nmf},
    {ModelName.nmf, ModelName.group_nmf},
    {ModelName.plsa, ModelName.nmf_kl},
    {ModelName.graph_plsa, ModelName.multimodal_plsa},
)
# What an option is called in the library (None: no parameter of the model), and the models that have it.
_PARAMETERS: dict[str, tuple[str | None, set[ModelName]]] = {
    "text_NAME": (None, {ModelName.multimodal_plsa}),
    "topics": ("n_components", set(ModelName) - _GROUPS),
    "shared": ("n_shared", _GROUPS),
    "per_class": ("n_per_class", _GROUPS),
    "words": ("terms_per_topic", _RLSI),
    "topic_norm": ("topic_norm", _RLSI),
    "doc_norm": ("doc_norm", {ModelName.rlsi}),
    "alpha_topics": ("alpha_topics", _PENALISED),
    "alpha_shared": ("alpha_shared", {ModelName.group_rlsi}),
    "alpha_docs": ("alpha_docs", _RLSI),
    "scale_by_class_size": ("scale_by_class_size", {ModelName.group_rlsi}),
    "signed": ("nonnegative", _PENALISED),
    "solver": ("solver", _NMF),
    "prior": ("prior", _PRIORS),
    "graph": (None, _LINKED),
    "neighbors": ("n_neighbors", {ModelName.graph_plsa}),
    "divergence": ("divergence", _LINKED),
    "strength": ("strength", _LINKED),
    "raw_counts": ("row_normalize", _LINKED),
    "max_iter": ("max_iter", set(ModelName)),
    "tol": ("tol", set(ModelName)),
    "seed": ("random_state", set(ModelName)),
    "jobs": ("n_jobs", set(ModelName)),
}


def has_media(model: ModelName) -> bool:
    """Whether documents have several texts."""
    return model is ModelName.multimodal_plsa


def needs_labels(model: ModelName) -> bool:
    """Whether the model has topics of classes."""
    return model in _GROUPS


def make_model(model: ModelName, **given: Any) -> Any:
    """The model that the options ask for; None stands for an option that was not given."""
    _check_usage(model, given)
    if model in _PENALISED and given["signed"] is not None:
        given["signed"] = not given["signed"]
    if given["raw_counts"] is not None:
        given["raw_counts"] = not given["raw_counts"]
    if given["prior"] is not None:
        from laconic.priors import from_text

        try:
            given["prior"] = from_text(given["prior"])
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--prior") from error
    parameters: dict[str, Any] = {
        str(_PARAMETERS[typed][0]): value.value if isinstance(value, Enum) else value
        for typed, value in given.items()
        if value is not None and _PARAMETERS[typed][0] is not None
    }
    from laconic.errors import ParameterError
    from laconic.models import making

    # A fit would find out as well what is wrong, but only when all is read and counted.
    n_topics, words = parameters.pop("n_components", None), parameters.pop("terms_per_topic", None)
    try:
        return making.make_model(model.value, n_topics, words, **parameters)
    except ParameterError as error:
        raise typer.BadParameter(error.worded(option)) from error
    except ValueError as error:
        raise typer.BadParameter(f"--model {model.value}: {as_options(str(error))}") from error


def _check_usage(model: ModelName, given: dict[str, Any]) -> None:
    for name, value in given.items():
        models = _PARAMETERS[name][1]
        if value is not None and model not in models:
            others = " or ".join(sorted(other.value for other in models))
            raise typer.BadParameter(
                f"--model {model.value} has no such option: it goes with {others}",
                param_hint=f"--{name.replace('_', '-')}",
            )
    seed = given["seed"]
    if not 0 <= seed < 2**32:
        raise typer.BadParameter(f"{seed} is not between 0 and 4,294,967,295", param_hint="--seed")
    if given["jobs"] == 0:
        raise typer.BadParameter(
            "0 threads do no work: give 1 or more, or -1 for all cores", param_hint="--jobs"
        )
    if given["graph"] is not None and given["neighbors"] is not None:
        raise typer.BadParameter(
            "links come from a file or from the nearest neighbours: leave --graph or --neighbors out",
            param_hint="--neighbors",
        )
