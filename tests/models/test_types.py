"""Types that help: an editor knows the choices of a parameter, and what a method gives back."""

from __future__ import annotations

import inspect
import typing

import pytest

from laconic import Bundle, SearchIndex, matrices
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


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ["transform", "fit_transform", "inverse_transform"])
def test_models_say_what_they_return(name, method):
    """Dense or sparse, and not anything: editors and type checkers know the methods of both."""
    said = inspect.signature(getattr(MODELS[name], method)).return_annotation
    assert said in ("Weights", "Floats")
    source = inspect.getsource(matrices)
    assert "Weights: TypeAlias = NDArray[Any] | sparse.csr_array" in source
