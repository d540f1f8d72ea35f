"""Types that help: an editor knows the choices of a parameter, and what a method gives back."""

from __future__ import annotations

import inspect
import typing

import pytest

from laconic import Bundle, SearchIndex
from laconic.models import MODELS
from laconic.models.parameters import LAST, PARAMETERS, Choice


def choices(annotation):
    """The values of all `Literal` in an annotation, bools by their type."""
    if annotation is bool:
        return {True, False}
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    return {value for part in typing.get_args(annotation) for value in choices(part)} - {None}


@pytest.mark.parametrize("name", MODELS)
def test_choices_are_literals(name):
    hints = typing.get_type_hints(MODELS[name].__init__)
    for parameter in inspect.signature(MODELS[name]).parameters:
        rule = {**PARAMETERS, **LAST}.get(parameter)
        if isinstance(rule, Choice):
            found = choices(hints[parameter])
            assert found, f"{name}({parameter}=) does not say its choices"
            assert found <= set(rule.values)
            if rule.of_model is None and parameter not in ("divergence", "nonnegative"):
                assert found == set(rule.values) - {None}


def test_a_search_index_says_its_choices():
    hints = inspect.signature(SearchIndex.__init__).parameters
    for name in ("terms", "similarity", "scaling"):
        assert str(hints[name].annotation).startswith("Literal[")


def test_transform_says_what_it_returns():
    assert inspect.signature(Bundle.transform).return_annotation == "NDArray[Any] | csr_array"
