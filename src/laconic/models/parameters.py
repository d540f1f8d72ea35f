"""What parameters may be, and which of them go together: one table for all models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias

from laconic.checks import check_choice, check_number
from laconic.errors import InPython, Parameter, ParameterError
from laconic.priors import Exponential, Pareto, Prior, PseudoDirichlet

Check = Callable[[str, Any, Any], None]
"""Called with the parameter's name, its value and the model."""


@dataclass(frozen=True)
class Number:
    """A number of a kind, of at least so much."""

    kind: Any
    least: float
    optional: bool = False
    """Whether None will do as well."""
    by_class: bool = False
    """Whether a mapping from classes to numbers will do as well."""

    def __call__(self, name: str, value: Any, model: Any) -> None:
        """Refuse another value."""
        if (self.optional and value is None) or (self.by_class and isinstance(value, Mapping)):
            return
        check_number(name, value, self.kind, self.least)


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    values: tuple[Any, ...]
    of_model: str | None = None
    """The attribute that says which of them a model has."""

    def __call__(self, name: str, value: Any, model: Any) -> None:
        """Refuse another value."""
        check_choice(name, value, self.values if self.of_model is None else getattr(model, self.of_model))


FLAG = Choice((False, True))


def _start(name: str, value: Any, model: Any) -> None:
    if isinstance(value, str):
        check_choice(name, value, model._starts)


def _prior(name: str, value: Any, model: Any) -> None:
    if value is not None and not isinstance(value, Prior):
        raise ParameterError(
            Parameter(name), f" must be None or one of laconic.priors, such as Pareto(1.0), not {value!r}"
        )


def _anchors(name: str, value: Any, model: Any) -> None:
    if value is None:
        return
    # not before: the command line asks for parameters without fitting anything
    from laconic.steering.anchors import Anchors

    by_modality = model.traits.modalities
    kind = "a mapping of modalities to Anchors" if by_modality else "Anchors"
    each = list(value.values()) if by_modality and isinstance(value, Mapping) else [value]
    if by_modality != isinstance(value, Mapping) or not all(isinstance(part, Anchors) for part in each):
        raise ParameterError(
            Parameter(name), f" must be None or {kind}, from laconic.steering, not {type(value).__name__}"
        )


def _weights_of_groups(name: str, value: Any, model: Any) -> None:
    for group, weight in dict(value or {}).items():
        check_number(f"{name}[{group!r}]", weight, Real, 0)


PARAMETERS: dict[str, Check] = {
    "n_components": Number(Integral, 1),
    "n_shared": Number(Integral, 0),
    "n_per_class": Number(Integral, 0, by_class=True),
    "max_iter": Number(Integral, 1),
    "tol": Number(Real, 0),
    "init": _start,
    "topic_norm": Choice(("l1", "l2", "l0")),
    "doc_norm": Choice(("l2", "l1")),
    "nonnegative": Choice((False, True, "both"), of_model="_signs"),
    "alpha_topics": Number(Real, 0, optional=True),
    "alpha_docs": Number(Real, 0, optional=True),
    "alpha_shared": Number(Real, 0, optional=True),
    "scale_by_class_size": FLAG,
    "loss": Choice(("squared", "kl")),
    "solver": Choice(("auto", "cd", "mu", "extrapolated", "em"), of_model="_solvers"),
    "prior": _prior,
    "divergence": Choice(("skl", "l2", "l1", "tied"), of_model="_divergences"),
    "strength": Number(Real, 0),
    "n_neighbors": Number(Integral, 1),
    "row_normalize": FLAG,
    "rotate": Choice((None, "varimax")),
    "group_weights": _weights_of_groups,
    "anchors": _anchors,
}
"""What each parameter may be, whatever the others are; a name means the same in every model."""

LAST: dict[str, Check] = {"terms_per_topic": Number(Integral, 1, optional=True)}
"""The same, of those that are looked at when the others go together."""

Parts: TypeAlias = tuple[object, ...]
"""A message: texts and parameters."""


class Rule(NamedTuple):
    """Parameters that do not go together."""

    names: tuple[str, ...]
    """It holds for models that have all of these."""
    broken: Callable[[Any], bool]
    message: Callable[[Any], Parts]


def _is(value: Any, name: str) -> bool:
    """Whether a value, which may be an array, is this word."""
    return isinstance(value, str) and value == name


def _over_documents(model: Any) -> bool:
    return isinstance(model.prior, PseudoDirichlet) and model.prior.over == "documents"


def _lone_zero(model: Any) -> bool:
    budget = getattr(model, "topic_norm", None) == "l0"
    return not budget and (model.alpha_docs == 0) != (model.alpha_topics == 0)


def _explain_lone_zero(model: Any) -> Parts:
    zero, other = "alpha_docs", "alpha_topics"
    if model.alpha_docs != 0:
        zero, other = other, zero
    return (
        Parameter(zero, 0),
        " needs ",
        Parameter(other, 0),
        " as well: otherwise one factor could grow and the other shrink without end, and the objective has "
        "no minimum. Make both positive, or both zero.",
    )


def _says(*message: object) -> Callable[[Any], Parts]:
    return lambda model: message


COMBINATIONS: tuple[Rule, ...] = (
    Rule(
        ("topic_norm", "alpha_topics"),
        lambda m: m.topic_norm == "l0" and m.alpha_topics is not None,
        _says(
            Parameter("alpha_topics"),
            " does not go with ",
            Parameter("topic_norm", "l0"),
            ": the word budget takes its place. Set ",
            Parameter("terms_per_topic"),
            ", or choose ",
            Parameter("topic_norm", "l1"),
            ".",
        ),
    ),
    Rule(
        ("topic_norm", "terms_per_topic"),
        lambda m: m.topic_norm != "l0" and m.terms_per_topic is not None,
        lambda m: (
            Parameter("terms_per_topic"),
            " goes with ",
            Parameter("topic_norm", "l0"),
            f", not with {m.topic_norm!r}: choose ",
            Parameter("topic_norm", "l0"),
            ", or set ",
            Parameter("alpha_topics"),
            ".",
        ),
    ),
    Rule(
        ("topic_norm", "alpha_shared"),
        lambda m: m.topic_norm == "l0" and m.alpha_shared is not None,
        _says(
            Parameter("alpha_shared"),
            " does not go with ",
            Parameter("topic_norm", "l0"),
            ": a word budget has no penalty.",
        ),
    ),
    Rule(
        ("alpha_shared", "alpha_topics"),
        lambda m: m.alpha_shared is not None and (m.alpha_shared == 0) != (m.alpha_topics == 0),
        _says(
            Parameter("alpha_shared", 0),
            " goes with ",
            Parameter("alpha_topics", 0),
            " and ",
            Parameter("alpha_docs", 0),
            " alone: without a penalty shared topics could grow and their weights shrink without end. Make "
            "all positive, or all zero.",
        ),
    ),
    Rule(("alpha_topics", "alpha_docs"), _lone_zero, _explain_lone_zero),
    Rule(
        ("loss", "prior"),
        lambda m: m.loss != "kl" and m.prior is not None,
        _says("a ", Parameter("prior"), " goes with ", Parameter("loss", "kl")),
    ),
    Rule(
        ("loss", "init"),
        lambda m: m.loss == "kl" and _is(m.init, "svd"),
        _says(
            Parameter("init", "svd"),
            " goes with ",
            Parameter("loss", "squared"),
            ": use ",
            Parameter("init", "documents"),
        ),
    ),
    Rule(
        ("loss", "prior"),
        _over_documents,
        _says("a ", Parameter("prior"), " over documents goes with PLSA, not with NMF"),
    ),
    Rule(
        ("prior",),
        lambda m: isinstance(m.prior, Exponential) and not hasattr(m, "loss"),
        _says(
            "the exponential prior is a constant where weights sum to one: use ",
            Parameter("prior", Pareto(1.0)),
            " or ",
            Parameter("prior", PseudoDirichlet()),
            ", or ",
            InPython("NMF with "),
            Parameter("loss", "kl"),
        ),
    ),
    Rule(
        ("rotate", "init"),
        lambda m: m.rotate is not None and not _is(m.init, "svd"),
        _says(Parameter("rotate"), " goes with ", Parameter("init", "svd")),
    ),
    Rule(
        ("group_weights", "groups"),
        lambda m: m.group_weights is not None and m.groups is None,
        _says(Parameter("group_weights"), " without ", Parameter("groups"), ": give the groups as well"),
    ),
)
"""Which parameters do not go together."""


def check_parameters(model: Any) -> None:
    """Refuse parameters that make no sense by themselves, or together."""
    parameters = model.get_params(deep=False)
    _check_each(PARAMETERS, parameters, model)
    for rule in COMBINATIONS:
        if parameters.keys() >= set(rule.names) and rule.broken(model):
            raise ParameterError(*rule.message(model))
    _check_each(LAST, parameters, model)


def _check_each(checks: Mapping[str, Check], parameters: Mapping[str, Any], model: Any) -> None:
    for name, value in parameters.items():
        if name in checks:
            checks[name](name, value, model)
