"""``--prior``: a name and numbers, separated by colons."""

from __future__ import annotations

import re
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from laconic.priors import Prior


def read_prior(typed: str) -> Prior:
    """The prior that was typed.

    >>> read_prior("pareto:2"), read_prior("pseudo-dirichlet:0.02:1")
    (Pareto(shape=2.0), PseudoDirichlet(eps=0.02, weight=1.0, over='topics'))
    """
    from laconic.priors import PRIORS

    name, *values = typed.split(":")
    known = {_dashed(kind): prior for kind, prior in PRIORS.items()}
    prior = known.get(name.lower())
    if prior is None:
        _refuse(f"there is no prior {name!r}; there are {', '.join(known)}")
    settings = fields(prior)
    form = ":".join([name.lower(), *(setting.name.upper() for setting in settings)])
    if len(values) > len(settings):
        _refuse(f"{typed!r} has more than {form} has")
    try:
        return prior(**{s.name: _value(s, value) for s, value in zip(settings, values, strict=False)})
    except TypeError:
        _refuse(f"{typed!r} lacks a number: it is {form}")
    except ValueError as error:
        _refuse(f"{typed!r} is not as {form}: {error}")


def _dashed(name: str) -> str:
    """How the name of a class is typed.

    >>> _dashed("PseudoDirichlet")
    'pseudo-dirichlet'
    """
    return re.sub("(?<=[a-z])(?=[A-Z])", "-", name).lower()


def _value(setting: Field[Any], value: str) -> float | str:
    return value if setting.type == "str" else float(value)


def _refuse(message: str) -> NoReturn:
    raise typer.BadParameter(message, param_hint="--prior")
