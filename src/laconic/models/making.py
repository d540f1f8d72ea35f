"""A model by its name, with the settings that give topics one can read; the classes keep the papers' own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from laconic import models
from laconic.deprecation import current_names
from laconic.errors import Parameter, ParameterError
from laconic.models.parameters import check_parameters
from laconic.signatures import taken_by, taken_in

N_TOPICS = 20
WORDS = 40
N_SHARED = 10
N_PER_CLASS = 5


class Recipe(NamedTuple):
    """A class, and what makes it the model of a name."""

    kind: str
    parameters: Mapping[str, Any]
    """In place of the class's defaults."""
    settled: tuple[str, ...] = ()
    """Parameters that the name leaves no choice about."""


RECIPES: dict[str, Recipe] = {
    "rlsi": Recipe("RLSI", {"nonnegative": "both"}),
    "group-rlsi": Recipe("GroupRLSI", {"nonnegative": True}),
    "nmf": Recipe("NMF", {"loss": "squared"}, ("loss", "prior")),
    "group-nmf": Recipe("GroupNMF", {}),
    "sparse-lsa": Recipe("SparseLSA", {"nonnegative": True}),
    "nmf-kl": Recipe("NMF", {"loss": "kl"}, ("loss",)),
    "plsa": Recipe("PLSA", {}),
    "graph-plsa": Recipe("GraphPLSA", {}),
    "multimodal-plsa": Recipe("MultimodalPLSA", {}),
}
"""The models that can be asked for by name."""


SIZES = {"n_topics": N_TOPICS, "words": WORDS, "n_shared": N_SHARED, "n_per_class": N_PER_CLASS}
"""What `make_model` takes in place of the classes' defaults."""


def parameters_of(name: str) -> set[str]:
    """The parameters that a model of this name takes."""
    return set(_taken(name)).difference(_recipe(name).settled)


def takers_of(parameter: str) -> list[str]:
    """The names of the models that take a parameter, or whose ``fit`` does.

    >>> takers_of("doc_norm"), takers_of("graph")
    (['rlsi'], ['graph-plsa', 'multimodal-plsa'])
    """
    return [name for name in RECIPES if parameter in parameters_of(name) | set(_taken(name, "fit"))]


def defaults_of(parameter: str) -> dict[str, Any]:
    """What a parameter is unless it is given, by the names of the models that take it.

    >>> defaults_of("strength"), defaults_of("n_shared")
    ({'graph-plsa': 0.3, 'multimodal-plsa': 1.0}, {'group-rlsi': 10, 'group-nmf': 10})
    """
    taken = {name: {**_taken(name), **RECIPES[name].parameters, **SIZES} for name in takers_of(parameter)}
    return {name: given[parameter] for name, given in taken.items() if parameter in given}


def has_modalities(name: str) -> bool:
    """Whether documents of a model of this name have several modalities."""
    return _recipe(name).kind == "MultimodalPLSA"


def _taken(name: str, method: str = "__init__") -> Mapping[str, Any]:
    """What a method of a model takes, and the defaults; by its source, if the model is not imported yet."""
    kind = _recipe(name).kind
    if models.MODELS.at_hand(kind):
        return taken_by(getattr(models.MODELS[kind], method))
    return taken_in(models.HOMES[kind], method, kind)


def make_model(name: str, n_topics: int | None = None, words: int | None = None, **parameters: Any) -> Any:
    """Make a model that is not fitted yet.

    Parameters
    ----------
    name : str
        One of `RECIPES`.
    n_topics : int, optional
        Number of topics: 20 by default; group models have `n_shared` (10) and `n_per_class` (5) instead.
    words : int, optional
        The word budget of each topic, for models that have one: 40 by default, unless a penalty is given.
    **parameters
        Those of the model's class, in place of its defaults. Topics are non-negative unless
        ``nonnegative=False``; "rlsi" has weights of documents that are not negative either, and starts from
        singular vectors, so that the same topics come back.

    Returns
    -------
    TopicModel
        Its parameters are checked.

    Raises
    ------
    ParameterError
        For a name or a parameter that does not exist, or does not go with the others.

    Examples
    --------
    >>> make_model("rlsi", words=20).get_params()["terms_per_topic"]
    20
    >>> make_model("plsa", words=20)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    laconic.errors.ParameterError: model='plsa' has no word budget: leave words out, or ...
    """
    recipe = _recipe(name)
    parameters = current_names(recipe.kind, parameters)
    known = parameters_of(name)
    given = {**recipe.parameters, **parameters}
    for parameter in parameters:
        if parameter not in known:
            _refuse_stranger(name, parameter)
    given |= _sizes(name, known, n_topics, given)
    given |= _sparsity(name, known, words, given)
    model = models.MODELS[recipe.kind](**given)
    check_parameters(model)
    return model


def _recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise ParameterError(
            Parameter("model", name), f" is not a known model; there are {', '.join(RECIPES)}"
        )
    return RECIPES[name]


def _refuse_stranger(name: str, parameter: str) -> None:
    takers = takers_of(parameter)
    if not takers:
        raise ParameterError(Parameter(parameter), " is not a parameter of any model")
    raise ParameterError(
        Parameter("model", name),
        " does not take ",
        Parameter(parameter),
        f"; use it with {' or '.join(sorted(takers))}",
    )


def _sizes(name: str, known: set[str], n_topics: int | None, given: Mapping[str, Any]) -> dict[str, Any]:
    if "n_components" in known:
        if n_topics is not None and "n_components" in given:
            raise ParameterError(Parameter("n_topics"), " and n_components mean the same: give one of them")
        return {"n_components": N_TOPICS if n_topics is None else n_topics, **_chosen(given, "n_components")}
    if n_topics is not None:
        raise ParameterError(
            Parameter("model", name),
            " has topics of each class: instead of ",
            Parameter("n_topics"),
            " give ",
            Parameter("n_shared"),
            " and ",
            Parameter("n_per_class"),
        )
    return {"n_shared": N_SHARED, "n_per_class": N_PER_CLASS, **_chosen(given, "n_shared", "n_per_class")}


def _sparsity(name: str, known: set[str], words: int | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What keeps topics small: a word budget, unless a penalty is asked for."""
    if "terms_per_topic" not in known:
        if words is not None:
            raise ParameterError(
                Parameter("model", name),
                " has no word budget: leave ",
                Parameter("words"),
                f" out, or choose {' or '.join(sorted(takers_of('terms_per_topic')))}",
            )
        return {}
    if words is not None and given.get("terms_per_topic") is not None:
        raise ParameterError(Parameter("words"), " and terms_per_topic mean the same: give one of them")
    budget = given.get("terms_per_topic") if words is None else words
    norm, penalty = given.get("topic_norm"), given.get("alpha_topics")
    if norm is None:
        norm = "l0" if penalty is None else "l1"
    if norm == "l0" and penalty is not None:
        raise ParameterError(
            Parameter("topic_norm", "l0"),
            " is the word budget, which has no penalty: set ",
            Parameter("words"),
            " in place of ",
            Parameter("alpha_topics"),
            ", or choose ",
            Parameter("topic_norm", "l1"),
        )
    if norm != "l0" and budget is not None:
        raise ParameterError(
            Parameter("words"),
            ", the word budget, and a penalty on the topics (",
            Parameter("alpha_topics"),
            " or ",
            Parameter("topic_norm", norm),
            ") exclude each other: leave ",
            Parameter("words"),
            " out, or leave the penalty out",
        )
    return {
        "topic_norm": norm,
        "terms_per_topic": (WORDS if budget is None else budget) if norm == "l0" else None,
    }


def _chosen(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if given.get(name) is not None}
