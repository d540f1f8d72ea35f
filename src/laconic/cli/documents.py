"""Documents that are named beside a saved model, with the model's columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laconic.cli import media as several
from laconic.cli.console import plural, say
from laconic.cli.reading import ReadingDisplay, describe, tell_problems
from laconic.cli.sources import Holds, find_source

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus


def model_documents(
    bundle: Bundle,
    model: Path,
    paths: list[Path],
    reading: Mapping[str, Any],
    modality: str | None = None,
    kept: list[str] | None = None,
) -> Corpus:
    """Documents with the columns of the model; their texts go to a list, if one is given."""
    from laconic.corpus import Corpus
    from laconic.reading import read_documents

    source = find_source(paths, reading)
    vectorizer = bundle.vectorizer_of(modality)
    if source.holds is not Holds.texts:
        if modality is not None:
            several.check_columns(source)
        return _counted(bundle, model, source.path, reading, is_corpus=source.holds is Holds.corpus)
    labels: list[str | None] = []
    ids: list[str] = []
    with ReadingDisplay() as display:
        found = read_documents(source.paths, **reading, progress=display)

        def texts() -> Iterator[str]:
            for document in found:
                labels.append(document.label)
                ids.append(document.id)
                if kept is not None:
                    kept.append(document.text)
                yield document.text

        counts = vectorizer.count(texts())
    if not ids:
        raise ValueError(f"{source.path}: has no documents")
    corpus = Corpus(counts, vectorizer, labels=labels if "label" in reading else None, ids=ids)
    say(f"read {describe(corpus)}")
    tell_problems(found.reading)
    return corpus


def _counted(
    bundle: Bundle, model: Path, path: Path, reading: Mapping[str, Any], *, is_corpus: bool
) -> Corpus:
    """Documents whose terms were counted, with the columns of the model by the names of terms."""
    from laconic.cli.transform import match_terms
    from laconic.corpus import Corpus

    saved = Corpus.load(path) if is_corpus else Corpus.read(path, **reading)
    vectorizer = bundle.vectorizer_of()
    matched = match_terms(saved.counts, saved.vocabulary, vectorizer.vocabulary)
    if matched.n_unknown == matched.n_terms:
        raise ValueError(f"{path} and {model} have no terms in common; give documents of the same vocabulary")
    corpus = Corpus(matched.counts, vectorizer, labels=saved.labels, ids=saved.ids)
    say(f"read {describe(corpus)}")
    if matched.n_unknown:
        terms = plural(matched.n_terms, "term")
        say(f"{matched.n_unknown:,} of {terms} left out: the model does not know them")
    tell_problems(saved.reading)
    return corpus
