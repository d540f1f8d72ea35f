"""What `laconic.fit` is given: options by what they are for, and documents wherever they are."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from laconic.corpus.corpus import Corpus
from laconic.corpus.options import OPTIONS
from laconic.corpus.sources import Modality, find_source
from laconic.errors import CorpusError, Parameter, ParameterError
from laconic.models.making import SIZES, parameters_of
from laconic.reading.arrow import is_table
from laconic.reading.documents import text_columns
from laconic.reading.files import suffixes
from laconic.reading.links import read_links
from laconic.reading.paths import COUNT_FORMATS, FORMATS
from laconic.reading.rows import Joined

READING = ("encoding", "delimiter", "vocabulary", "on_error", "max_documents")
"""Options of files."""

# What the same thing is called by readers, on the command line and elsewhere.
_OTHER_NAMES = {
    "label": "labels",
    "y": "labels",
    "date": "dates",
    "timestamps": "dates",
    "id": "ids",
    "k": "n_topics",
    "topics": "n_topics",
    "num_topics": "n_topics",
    "nr_topics": "n_topics",
    "seed": "random_state",
    "columns": "text",
}


class Names(NamedTuple):
    """Labels, dates and ids: columns, or values for each document."""

    labels: Any
    dates: Any
    ids: Any

    def listed(self) -> Names:
        """The same, with lists for what can be gone through once, or is a column of Arrow."""
        return Names(*map(_listed, self))

    def columns(self) -> dict[str, str]:
        """Those that are columns, as readers call them."""
        named = zip(("label", "date", "id"), self, strict=True)
        return {name: value for name, value in named if isinstance(value, str)}

    def values(self) -> dict[str, Any]:
        """Those that are values for each document."""
        named = zip(self._fields, self, strict=True)
        return {name: value for name, value in named if value is not None and not isinstance(value, str)}


class Options(NamedTuple):
    """What else was given, by what it is for."""

    reading: dict[str, Any]
    terms: dict[str, Any]
    parameters: dict[str, Any]

    def terms_of(self, modality: str) -> Any:
        """The options of a vectoriser for a modality: a mapping has those of each."""
        chosen = {
            name: value.get(modality) if isinstance(value, Mapping) else value
            for name, value in self.terms.items()
        }
        return {
            name: value
            for name, value in chosen.items()
            if value is not None or name not in self._by_modality
        }

    @property
    def _by_modality(self) -> set[str]:
        return {name for name, value in self.terms.items() if isinstance(value, Mapping)}


def sorted_options(model: str, options: Mapping[str, Any]) -> Options:
    """Sort options by what they are for.

    Parameters
    ----------
    model : str
        Its name.
    options : mapping
        Of files, of a vectoriser, and parameters of the model.

    Raises
    ------
    ParameterError
        For what is nothing of that, with what was probably meant.
    """
    known = parameters_of(model)
    found = Options({}, {}, {})
    for name, value in options.items():
        if name in READING:
            found.reading[name] = value
        elif name in OPTIONS:
            found.terms[name] = value
        elif name in known:
            found.parameters[name] = value
        else:
            near = _OTHER_NAMES.get(name) or next(
                iter(difflib.get_close_matches(name, [*known, *OPTIONS, *READING, *SIZES], 1, 0.75)), None
            )
            if near is not None:
                raise ParameterError(f"{name} is not known; did you mean ", Parameter(near), "?")
            # What no model has is refused where the model is made.
            found.parameters[name] = value
    return found


def corpora_of(
    data: Any,
    text: str | Sequence[str] | Mapping[str, str],
    names: Names,
    given: Options,
    *,
    keep_texts: bool,
) -> dict[str, Corpus]:
    """Read and count documents, wherever they are.

    Parameters
    ----------
    data : list of str, path, table, Corpus or mapping
        As in `laconic.fit`.
    text : str, list of str or mapping of str to str
        The column of the texts, or several that are joined, or those of modalities.
    names : Names
        Labels, dates and ids.
    given : Options
        Those of files and vectorisers.
    keep_texts : bool
        Whether corpora have their texts.

    Returns
    -------
    dict of str to Corpus
        By modality; ``""`` if there is one.
    """
    if not isinstance(text, Mapping):
        text = text_columns(text)
    names = names.listed()
    data = _gathered(data)
    if isinstance(data, Corpus) or (isinstance(data, Mapping) and _are_all(Corpus, data.values())):
        found = _counted({"": data} if isinstance(data, Corpus) else dict(data), text, names, given)
        found = {name: one if keep_texts else one.with_texts(None) for name, one in found.items()}
    elif isinstance(data, str | os.PathLike) or (isinstance(data, list | tuple) and _are_all(_is_file, data)):
        found = _read(data, text, names, given, keep_texts=keep_texts)
    elif is_table(data):
        _refuse_reading(given, "a table")
        columns = dict(text) if isinstance(text, Mapping) else {"": text}
        found = {
            name: Corpus.from_table(
                data, column, keep_texts=keep_texts, **{**names.columns(), **given.terms_of(name)}
            )
            for name, column in columns.items()
        }
    else:
        _refuse_columns(names, text, "a list of texts")
        _refuse_reading(given, "a list of texts")
        parts = dict(data) if isinstance(data, Mapping) else {"": data}
        return {
            name: Corpus.from_texts(
                _texts(part), **names.values(), keep_texts=keep_texts, **given.terms_of(name)
            )
            for name, part in parts.items()
        }
    return {name: _named(one, names.values()) for name, one in found.items()}


def links_of(graph: Any, corpus: Corpus) -> Any:
    """Links as models take them: those of a file, or between ids, by the numbers of documents.

    Parameters
    ----------
    graph : path, or array-like of pairs of ids, or whatever a model takes
        Of files, see `laconic.reading.links.read_links`.
    corpus : Corpus
        Whose documents are linked.
    """
    if isinstance(graph, str | os.PathLike):
        return read_links(Path(graph), corpus.ids.tolist()).edges
    if (
        isinstance(graph, list | tuple)
        and graph
        and all(
            isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(end, str) for end in pair)
            for pair in graph
        )
    ):
        rows = {name: row for row, name in enumerate(corpus.ids.tolist())}
        strange = next((end for pair in graph for end in pair if end not in rows), None)
        if strange is not None:
            raise CorpusError(f"no document has the id {strange!r}, which ", Parameter("graph"), " names")
        return np.array([[rows[end] for end in pair] for pair in graph])
    return graph


def _gathered(data: Any) -> Any:
    """The data; paths that a pattern gives one by one as a list, and a column of Arrow as one."""
    if isinstance(data, Iterator) and not is_table(data):
        begin = list(islice(data, 1))
        whole = chain(begin, data)
        return list(whole) if begin and isinstance(begin[0], Path) else whole
    return data if is_table(data) else _listed(data)


def _listed(values: Any) -> Any:
    if isinstance(values, Iterator):
        return list(values)
    # an array of Arrow, whose entries are not Python's
    return values.to_pylist() if hasattr(values, "to_pylist") and hasattr(values, "type") else values


def _texts(data: Any) -> Iterable[str]:
    """What should be texts: the commonest mistakes are answered in words."""
    if hasattr(data, "corpus") and callable(data.corpus):
        raise CorpusError("this is a data set: pass data.corpus(), or data.texts")
    if issparse(data):
        raise CorpusError(
            "this is a matrix: pass Corpus.from_counts(X, vocabulary), or fit one of laconic's models to it"
        )
    texts: Iterable[str] = data
    return texts


def _counted(corpora: dict[str, Corpus], text: Any, names: Names, given: Options) -> dict[str, Corpus]:
    """Corpora as they are."""
    _refuse_columns(names, text, "a corpus")
    _refuse_reading(given, "a corpus")
    strange = next(iter(given.terms), None)
    if strange is not None:
        raise ParameterError("a corpus is counted and weighted already: leave ", Parameter(strange), " out")
    return corpora


def _read(
    data: Any, text: str | Joined | Mapping[str, str], names: Names, given: Options, *, keep_texts: bool
) -> dict[str, Corpus]:
    paths: list[Any] = [data] if isinstance(data, str | os.PathLike) else list(data)
    if isinstance(data, str) and ("\n" in data or len(data) > 1000):
        raise CorpusError("a single string is taken as the path of a file; to pass a text, write [text]")
    reading = {**given.reading, **names.columns()}
    if not isinstance(text, Mapping):
        modalities = [Modality("", None, given.terms_of(""))]
        if text != "text":
            reading["text"] = text
    else:
        modalities = [Modality(name, column, given.terms_of(name)) for name, column in text.items()]
    source = find_source(paths, [*reading, *given.terms])
    if isinstance(text, Mapping):
        source.check_columns()
    corpora = source.corpora(reading, modalities, keep_texts=keep_texts)
    found = next(iter(corpora.values())).reading
    if found is not None and found.n_skipped:
        warnings.warn(
            f"{found.n_skipped:,} of {found.n_rows:,} rows could not be used and were skipped; the first: "
            f"{found.problems[0]}",
            stacklevel=4,
        )
    return corpora


def _named(corpus: Corpus, values: Mapping[str, Any]) -> Corpus:
    """A corpus with labels, dates or ids that were given beside it."""
    if not values:
        return corpus
    own = {"labels": corpus.labels, "dates": corpus.dates, "ids": corpus.ids, "texts": corpus.texts}
    named = Corpus(corpus.counts, corpus.vectorizer, **{**own, **values})
    named.reading = corpus.reading
    return named


def _refuse_columns(names: Names, text: Any, what: str) -> None:
    for name, value in names.columns().items():
        raise CorpusError(
            f"{value!r} is the name of a column, but {what} has no columns: pass a list with a {name} for "
            "every document"
        )
    if text != "text":
        raise CorpusError(f"{what} has no columns: leave ", Parameter("text"), " out")


def _refuse_reading(given: Options, what: str) -> None:
    for name in given.reading:
        raise ParameterError(Parameter(name), f" is for reading files, and {what} is not one: leave it out")


def _is_file(value: Any) -> bool:
    """Whether this names a file of documents, and is no text."""
    if isinstance(value, Path):
        return True
    return (
        isinstance(value, str)
        and len(value) < 1000
        and suffixes(Path(value))[0] in (*FORMATS, *COUNT_FORMATS)
        and os.path.isfile(value)  # noqa: PTH113 - no exception for names that cannot be
    )


def _are_all(kind: Any, values: Iterable[Any]) -> bool:
    values = list(values)
    fits = kind if not isinstance(kind, type) else lambda value: isinstance(value, kind)
    return bool(values) and all(map(fits, values))
