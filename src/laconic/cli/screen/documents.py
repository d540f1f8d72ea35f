"""Documents that are named beside a saved model, with the model's columns: read, and told about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laconic.cli.screen.console import say
from laconic.cli.screen.reading import ReadingDisplay, describe, tell_problems
from laconic.cli.standard_input import spooled
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus


def model_documents(
    bundle: Bundle,
    paths: list[Path],
    reading: Mapping[str, Any],
    modality: str | None = None,
    *,
    keep_texts: bool = False,
) -> Corpus:
    """Documents with the columns of the model."""
    from laconic.bundle.reading import read_for
    from laconic.corpus.sources import find_source

    source = find_source(spooled(paths, reading, {modality: ""} if modality else {}), reading)
    with ReadingDisplay() as display:
        found = read_for(bundle, source, reading, modality=modality, keep_texts=keep_texts, progress=display)
    say(f"read {describe(found.corpus)}")
    tell_strangers(found.n_terms, found.n_unknown)
    tell_problems(found.reading)
    return found.corpus


def tell_strangers(n_terms: int, n_unknown: int) -> None:
    """Say how many terms of counts the model does not know."""
    if n_unknown:
        say(f"{n_unknown:,} of {plural(n_terms, 'term')} ignored, because the model does not know them")
