"""What parameters may be, and which of them go together: one table for all models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

from laconic.checks import check_choice, check_number
from laconic.priors import Exponential, Prior, PseudoDirichlet

Check = Callable[[str, Any, Any], None]
"""Called with the parameter's name, its value and the model."""


def _number(kind: Any, least: float) -> Check:
    def check(name: str, value: Any, model: Any) -> None:
        check_number(name, value, kind, least)

    return check


def _optional(kind: Any, least: float) -> Check:
    def check(name: str, value: Any, model: Any) -> None:
        if value is not None:
            check_number(name, value, kind, least)

    return check


def _choice(*choices: Any) -> Check:
    def check(name: str, value: Any, model: Any) -> None:
        check_choice(name, value, choices)

    return check


def _start(name: str, value: Any, model: Any) -> None:
    if isinstance(value, str):
        check_choice(name, value, model._starts)


def _divergence(name: str, value: Any, model: Any) -> None:
    check_choice(name, value, model._divergences)


def _number_or_mapping(name: str, value: Any, model: Any) -> None:
    if not isinstance(value, Mapping):
        check_number(name, value, Integral, 0)


def _prior(name: str, value: Any, model: Any) -> None:
    if value is not None and not isinstance(value, Prior):
        raise ValueError(f"prior must be None or one of laconic.priors, such as Pareto(1.0), not {value!r}")


def _weights_of_groups(name: str, value: Any, model: Any) -> None:
    for group, weight in dict(value or {}).items():
        check_number(f"{name}[{group!r}]", weight, Real, 0)


PARAMETERS: dict[str, Check] = {
    "n_components": _number(Integral, 1),
    "n_shared": _number(Integral, 0),
    "n_per_class": _number_or_mapping,
    "max_iter": _number(Integral, 1),
    "tol": _number(Real, 0),
    "init": _start,
    "topic_norm": _choice("l1", "l2", "l0"),
    "doc_norm": _choice("l2", "l1"),
    "nonnegative": _choice(False, True),
    "alpha_topics": _optional(Real, 0),
    "alpha_docs": _optional(Real, 0),
    "alpha_shared": _optional(Real, 0),
    "scale_by_class_size": _choice(False, True),
    "loss": _choice("squared", "kl"),
    "solver": _choice("cd", "mu"),
    "prior": _prior,
    "divergence": _divergence,
    "strength": _number(Real, 0),
    "n_neighbors": _number(Integral, 1),
    "row_normalize": _choice(True, False),
    "rotate": _choice(None, "varimax"),
    "group_weights": _weights_of_groups,
}
"""What each parameter may be, whatever the others are; a name means the same in every model."""


class Rule(NamedTuple):
    """Parameters that do not go together."""

    names: tuple[str, ...]
    """It holds for models that have all of these."""
    broken: Callable[[Any], bool]
    message: Callable[[Any], str]


def _is(value: Any, name: str) -> bool:
    """Whether a value, which may be an array, is this word."""
    return isinstance(value, str) and value == name


def _over_documents(model: Any) -> bool:
    return isinstance(model.prior, PseudoDirichlet) and model.prior.over == "documents"


def _lone_zero(model: Any) -> bool:
    budget = getattr(model, "topic_norm", None) == "l0"
    return not budget and (model.alpha_docs == 0) != (model.alpha_topics == 0)


def _explain_lone_zero(model: Any) -> str:
    zero, other = "alpha_docs", "alpha_topics"
    if model.alpha_docs != 0:
        zero, other = other, zero
    return (
        f"{zero}=0 needs {other}=0 as well: otherwise one factor could grow and the other shrink "
        "without end, and the objective has no minimum. Make both positive, or both zero."
    )


def _says(message: str) -> Callable[[Any], str]:
    return lambda model: message


COMBINATIONS: tuple[Rule, ...] = (
    Rule(
        ("topic_norm", "alpha_topics"),
        lambda m: m.topic_norm == "l0" and m.alpha_topics is not None,
        _says(
            "alpha_topics does not go with topic_norm='l0': the word budget takes its place. "
            "Set terms_per_topic, or choose topic_norm='l1'."
        ),
    ),
    Rule(
        ("topic_norm", "terms_per_topic"),
        lambda m: m.topic_norm != "l0" and m.terms_per_topic is not None,
        lambda m: (
            f"terms_per_topic goes with topic_norm='l0', not with {m.topic_norm!r}: "
            "choose topic_norm='l0', or set alpha_topics."
        ),
    ),
    Rule(
        ("topic_norm", "alpha_shared"),
        lambda m: m.topic_norm == "l0" and m.alpha_shared is not None,
        _says("alpha_shared does not go with topic_norm='l0': a word budget has no penalty."),
    ),
    Rule(
        ("alpha_shared", "alpha_topics"),
        lambda m: m.alpha_shared is not None and (m.alpha_shared == 0) != (m.alpha_topics == 0),
        _says(
            "alpha_shared=0 goes with alpha_topics=0 and alpha_docs=0 alone: without a penalty shared "
            "topics could grow and their weights shrink without end. Make all positive, or all zero."
        ),
    ),
    Rule(("alpha_topics", "alpha_docs"), _lone_zero, _explain_lone_zero),
    Rule(
        ("loss", "prior"),
        lambda m: m.loss != "kl" and m.prior is not None,
        _says("a prior goes with loss='kl'"),
    ),
    Rule(
        ("loss", "init"),
        lambda m: m.loss == "kl" and _is(m.init, "svd"),
        _says("init='svd' goes with loss='squared': use init='documents'"),
    ),
    Rule(
        ("loss", "prior"),
        _over_documents,
        _says("a prior over documents goes with PLSA, not with NMF"),
    ),
    Rule(
        ("prior",),
        lambda m: isinstance(m.prior, Exponential) and not hasattr(m, "loss"),
        _says(
            "the exponential prior is a constant where weights sum to one: use priors.Pareto or "
            "priors.PseudoDirichlet, or NMF with loss='kl'"
        ),
    ),
    Rule(
        ("rotate", "init"),
        lambda m: m.rotate is not None and not _is(m.init, "svd"),
        _says("rotate goes with init='svd'"),
    ),
    Rule(
        ("group_weights", "groups"),
        lambda m: m.group_weights is not None and m.groups is None,
        _says("group_weights without groups: give the groups as well"),
    ),
)
"""Which parameters do not go together."""


def check_parameters(model: Any) -> None:
    """Refuse parameters that are no sense by themselves, or together."""
    parameters = model.get_params(deep=False)
    for name, value in parameters.items():
        if name in PARAMETERS:
            PARAMETERS[name](name, value, model)
    for rule in COMBINATIONS:
        if parameters.keys() >= set(rule.names) and rule.broken(model):
            raise ValueError(rule.message(model))
    if parameters.get("terms_per_topic") is not None:
        check_number("terms_per_topic", model.terms_per_topic, Integral, 1)
