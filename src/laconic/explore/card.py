"""The model card: data, parameters, versions, and the line that makes the model again."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from laconic import __version__
from laconic.corpus import Vectorizer
from laconic.models.making import N_TOPICS, RECIPES, SIZES, WORDS
from laconic.signatures import taken_by
from laconic.words import figure, plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")

# What `laconic.fit` calls otherwise.
_CALLED = {"n_components": "n_topics", "terms_per_topic": "words"}
# What says nothing about the result.
_UNTOLD = ("n_jobs", "verbose", "max_words")


@dataclass(frozen=True)
class Card:
    """How a model was made: lines of a name and a value, and the line of Python that makes it again."""

    version: str
    lines: list[tuple[str, str]]
    command: str


def model_card(bundle: Bundle) -> Card:
    """Tell how a model was made.

    Parameters
    ----------
    bundle : Bundle
        With a fitted model.

    Returns
    -------
    Card
    """
    model = bundle.model
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in _UNTOLD and value is not None
    }
    history = model.objective_history_
    lines = [
        ("Model", type(model).__name__),
        ("Parameters", ", ".join(f"{name}={_short(value)}" for name, value in parameters.items())),
        *(
            (f"Words of {name}" if name else "Words", _settings(vectorizer))
            for name, vectorizer in _vectorizers(bundle).items()
        ),
        ("Fit", f"{plural(int(model.n_iter_), 'iteration')}, objective {figure(float(history[-1]))}")
        if len(history)
        else ("Fit", plural(int(model.n_iter_), "iteration")),
        ("Data", f"hash {model.data_hash_}" if model.data_hash_ else "unknown"),
        ("Versions", _versions()),
    ]
    return Card(__version__, lines, command_of(bundle))


def _vectorizers(bundle: Bundle) -> dict[str, Vectorizer]:
    only = {} if bundle.vectorizer is None else {"": bundle.vectorizer}
    return only or dict(bundle.vectorizers)


def _settings(vectorizer: Vectorizer) -> str:
    kept = plural(len(vectorizer.vocabulary), "term")
    told = _changed(vectorizer)
    return ", ".join(
        [kept, f"weighted by {vectorizer.weighting}", *(f"{k}={_short(v)}" for k, v in told.items())]
    )


def _changed(vectorizer: Vectorizer) -> dict[str, Any]:
    """The settings of a vectoriser that are not the usual ones."""
    usual = Vectorizer().to_dict()
    return {name: value for name, value in vectorizer.to_dict().items() if value != usual.get(name)}


def _versions() -> str:
    found = [f"laconic {__version__}", f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def command_of(bundle: Bundle) -> str:
    """The line of Python that makes a model again, given its data.

    Parameters
    ----------
    bundle : Bundle

    Returns
    -------
    str
        Parameters that have the values they would have anyway are left out. What cannot be written as a line
        (a start from given topics, a generator) is left out, too.
    """
    model = bundle.model
    given = model.get_params(deep=False)
    name = _recipe(model, given)
    defaults = {**taken_by(type(model).__init__), **RECIPES[name].parameters, **SIZES}
    defaults |= {"n_components": N_TOPICS, "random_state": 0, "topic_norm": "l0", "terms_per_topic": WORDS}
    written: dict[str, Any] = {}
    for parameter, value in given.items():
        if parameter in (*_UNTOLD, *RECIPES[name].settled) or not _plain(value):
            continue
        if value != defaults.get(parameter):
            written[_CALLED.get(parameter, parameter)] = value
    if given.get("terms_per_topic", 0) is None and "topic_norm" in written:
        written["words"] = None
    for vectorizer in list(_vectorizers(bundle).values())[:1]:
        written |= {key: value for key, value in _changed(vectorizer).items() if _plain(value)}
    documents = bundle.documents
    columns = {
        "labels": documents is not None and documents.labels is not None,
        "dates": documents is not None and documents.dates is not None,
        "graph": model.traits.links and type(model).__name__ == "GraphPLSA",
    }
    parts = ["DATA", *(f"{key}={value!r}" for key, value in written.items())]
    parts += [f"{key}={key.upper()}" for key, there in columns.items() if there]
    if name != "rlsi":
        parts.insert(1, f'model="{name}"')
    return f"laconic.fit({', '.join(parts)})"


def _recipe(model: Any, given: dict[str, Any]) -> str:
    """The name by which such a model is asked for."""
    found = [name for name, recipe in RECIPES.items() if recipe.kind == type(model).__name__]
    for name in found:
        recipe = RECIPES[name]
        settled = {one: recipe.parameters[one] for one in recipe.settled if one in recipe.parameters}
        if all(given.get(one) == value for one, value in settled.items()):
            return name
    return found[0]


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= 20 and all(map(_plain, value))
    return value is None or isinstance(value, str | int | float | bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
