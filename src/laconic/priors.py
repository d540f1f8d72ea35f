"""Priors on the weights of documents, for `PLSA` and ``NMF(loss="kl")``.

Each is a concave penalty g, so that a step of expectation-maximisation with its tangent still lowers the
objective (for `NMF` the step is exact). Rewarding weights that are zero makes documents use few topics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from numbers import Real

from laconic.checks import check_choice, check_number
from laconic.errors import Parameter, ParameterError


@dataclass(frozen=True)
class Prior:
    """Base of the priors: g(w) = rate w + weight log(w + eps)."""

    @property
    def terms(self) -> tuple[float, float, float]:
        """``(rate, weight, eps)``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Exponential(Prior):
    r"""The exponential prior, :math:`g(w) = \mathrm{rate} \cdot w`.

    It is included for completeness: where topics sum to one, it makes nothing sparse. The topics are those
    of maximum likelihood, and all weights are divided by ``1 + rate``. `PLSA`, whose weights sum to one,
    refuses it, because it would have no effect.

    Parameters
    ----------
    rate : float
        Not negative.

    Examples
    --------
    >>> from laconic import NMF, priors
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> plain = NMF(2, loss="kl", random_state=0).fit(X)
    >>> model = NMF(2, loss="kl", prior=priors.Exponential(1.0), random_state=0).fit(X)
    >>> round(float(plain.transform(X).sum() / model.transform(X).sum()), 6)
    2.0
    """

    rate: float

    def __post_init__(self) -> None:
        check_number("rate", self.rate, Real, 0)

    @property
    def terms(self) -> tuple[float, float, float]:  # noqa: D102
        return float(self.rate), 0.0, 1.0


@dataclass(frozen=True)
class Pareto(Prior):
    r"""The Pareto prior, :math:`g(w) = (1 + \mathrm{shape}) \log(1 + w)`.

    Parameters
    ----------
    shape : float
        Non-negative; the larger, the fewer topics in a document. It is weighed against counts, so long
        documents need a larger value.
    """

    shape: float

    def __post_init__(self) -> None:
        check_number("shape", self.shape, Real, 0)

    @property
    def terms(self) -> tuple[float, float, float]:  # noqa: D102
        return 0.0, 1.0 + float(self.shape), 1.0


@dataclass(frozen=True)
class PseudoDirichlet(Prior):
    r"""The bounded pseudo-Dirichlet prior, :math:`g(w) = \mathrm{weight} \cdot \log(w + \mathrm{eps})`.

    Parameters
    ----------
    eps : float, default=0.02
        Positive; it bounds the penalty. The smaller, the stronger the preference for zeros.
    weight : float, default=1
        Non-negative; relative to the counts of a document.
    over : {"topics", "documents"}, default="topics"
        What sums to one: "topics" for the topics of a document, P(z|d), so that documents use few topics;
        "documents" (with `PLSA` only) for the documents of a topic, P(d|z), so that topics are in few
        documents. The latter has hardly any effect unless `eps` is about one over the number of documents.
    """

    eps: float = 0.02
    weight: float = 1.0
    over: str = "topics"

    def __post_init__(self) -> None:
        check_number("eps", self.eps, Real, 0)
        if self.eps == 0:
            raise ParameterError(
                Parameter("eps"), " must be positive: at zero the penalty would be unbounded"
            )
        check_number("weight", self.weight, Real, 0)
        check_choice("over", self.over, ("topics", "documents"))

    @property
    def terms(self) -> tuple[float, float, float]:  # noqa: D102
        return 0.0, float(self.weight), float(self.eps)


PRIORS: dict[str, type[Prior]] = {
    "Exponential": Exponential,
    "Pareto": Pareto,
    "PseudoDirichlet": PseudoDirichlet,
}
"""Every prior by name: what a saved model may have."""


def from_text(text: str) -> Prior:
    """Make a prior from its name and numbers, separated by colons, as on the command line.

    Parameters
    ----------
    text : str
        Such as ``"pareto:2"``; numbers that have a default may be left out.

    Returns
    -------
    Prior
        `as_text` turns it back into text.

    Raises
    ------
    ParameterError
        If there is no such prior, or its numbers make no sense.

    Examples
    --------
    >>> from_text("pareto:2"), from_text("pseudo-dirichlet:0.02:1")
    (Pareto(shape=2.0), PseudoDirichlet(eps=0.02, weight=1.0, over='topics'))
    """
    name, *values = text.split(":")
    known = {_dashed(kind): prior for kind, prior in PRIORS.items()}
    prior = known.get(name.lower())
    if prior is None:
        raise ParameterError(
            Parameter("prior", text), f": there is no {name!r}; there are {', '.join(known)}"
        )
    settings = fields(prior)
    form = ":".join([name.lower(), *(setting.name.upper() for setting in settings)])
    if len(values) > len(settings):
        raise ParameterError(Parameter("prior", text), f" has too many numbers: it should be {form}")
    try:
        return prior(
            **{
                setting.name: value if setting.type == "str" else float(value)
                for setting, value in zip(settings, values, strict=False)
            }
        )
    except TypeError:
        raise ParameterError(Parameter("prior", text), f" lacks a number: it should be {form}") from None
    except ValueError as error:
        raise ParameterError(Parameter("prior", text), f" is not as {form}: ", error) from error


def as_text(prior: Prior) -> str:
    """A prior as text for `from_text`; trailing settings that have their defaults are left out.

    >>> as_text(Pareto(2)), as_text(PseudoDirichlet(0.1)), as_text(PseudoDirichlet())
    ('pareto:2', 'pseudo-dirichlet:0.1', 'pseudo-dirichlet')
    """
    settings = list(fields(prior))
    while settings and getattr(prior, settings[-1].name) == settings[-1].default:
        settings.pop()
    values = [getattr(prior, setting.name) for setting in settings]
    shown = [value if isinstance(value, str) else f"{value:g}" for value in values]
    return ":".join([_dashed(type(prior).__name__), *shown])


def _dashed(name: str) -> str:
    """How the name of a class is typed.

    >>> _dashed("PseudoDirichlet")
    'pseudo-dirichlet'
    """
    return re.sub("(?<=[a-z])(?=[A-Z])", "-", name).lower()


__all__ = ["PRIORS", "Exponential", "Pareto", "Prior", "PseudoDirichlet", "as_text", "from_text"]
