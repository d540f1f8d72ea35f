"""Priors on the weights of documents, for `PLSA` and ``NMF(loss="kl")``.

Each is a concave penalty g, so that a step of expectation-maximisation with its tangent still lowers the
objective (for `NMF` the step is exact). Rewarding weights that are zero makes documents use few topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from laconic.checks import check_choice, check_number


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

    It is there for completeness: where topics sum to one, it makes nothing sparse. The topics are those of
    maximum likelihood, and all weights are divided by ``1 + rate``. With `PLSA`, whose weights sum to one, it
    would do nothing at all, and is refused.

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
        Not negative; the larger, the fewer topics in a document. It weighs against counts: for long documents
        it has to be larger.
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
        Positive: what bounds the penalty. The smaller, the sharper the reward for zeros.
    weight : float, default=1
        Not negative; relative to the counts of a document.
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
            raise ValueError("eps must be positive: at zero the penalty would have no bound")
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

__all__ = ["PRIORS", "Exponential", "Pareto", "Prior", "PseudoDirichlet"]
