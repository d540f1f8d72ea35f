"""What parameters are if nobody says anything: as the library has it, found without importing much of it."""

from __future__ import annotations

from typing import Any

from laconic.models import making
from laconic.signatures import taken_in

_CALLED = {"n_topics": "n_components", "words": "terms_per_topic"}


def library_defaults(parameter: str) -> dict[str, Any]:
    """What a parameter is by default, for each model that takes it; under "" if it is none of a model.

    >>> library_defaults("min_df"), library_defaults("encoding")
    ({'': 2}, {'': 'utf-8'})
    >>> set(library_defaults("n_topics").values())
    {20}
    """
    for taken in (
        taken_in("laconic.corpus.vectorizer", "__init__", "Vectorizer"),
        taken_in("laconic.corpus.corpus", "read", "Corpus"),
    ):
        if parameter in taken:
            return {"": taken[parameter]}
    if parameter in making.SIZES:
        takers = making.takers_of(_CALLED.get(parameter, parameter))
        return dict.fromkeys(takers, making.SIZES[parameter])
    return making.defaults_of(parameter)
