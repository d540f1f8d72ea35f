"""Collections of texts: what `load` returns for them, and what all records have in common."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic.errors import DatasetError

if TYPE_CHECKING:
    from laconic.corpus import Corpus
    from laconic.corpus.options import VectorizerOptions

# As in a corpus: arrays of Python strings.
Strings: TypeAlias = NDArray[np.object_]


class Record:
    """A record whose representation is short, however long its lists are."""

    name: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(self.name), *self._facts()])})"

    def _facts(self) -> list[str]:
        return []


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Documents(Record):
    """What collections of texts have in common."""

    name: str
    texts: list[str]
    ids: Strings
    titles: list[str] | None = None
    extra: dict[str, list[Any]] = field(default_factory=dict)
    options: VectorizerOptions | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def corpus(self, **options: Unpack[VectorizerOptions]) -> Corpus:
        """Count the terms of the texts.

        Parameters
        ----------
        **options
            Those of `laconic.corpus.Vectorizer`, before those in the attribute `options`.

        Returns
        -------
        Corpus
            With the ids, and with the labels if there are any.
        """
        from laconic.corpus import Corpus

        merged: VectorizerOptions = {**(self.options or {}), **options}
        return Corpus.from_texts(self.texts, labels=getattr(self, "labels", None), ids=self.ids, **merged)

    def _facts(self) -> list[str]:
        return [f"{len(self):,} documents"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Texts(_Documents):
    """A collection of texts, most often with labels.

    Attributes
    ----------
    name : str
        The name of the data set.
    texts : list of str
        The documents. Where there are titles, a text begins with its title.
    ids : numpy.ndarray of str
        All different.
    labels : numpy.ndarray of str, or None
        The one class of each document.
    label_sets : list of tuple of str, or None
        The classes of each document, where there may be several or none.
    splits : numpy.ndarray of str, or None
        Such as "train" or "test", for each document.
    titles : list of str or None
        May be empty strings.
    extra : dict of str to list
        Whatever else the file says about the documents.
    options : dict or None
        The options of a vectoriser that suit these texts, if there is anything special about them.

    Examples
    --------
    >>> import numpy as np
    >>> from laconic.datasets import Texts
    >>> fish = Texts(
    ...     name="fish",
    ...     texts=["red fish", "blue fish", "a red bird"],
    ...     ids=np.array(["a", "b", "c"], dtype=object),
    ...     labels=np.array(["fish", "fish", "bird"], dtype=object),
    ...     splits=np.array(["train", "test", "train"], dtype=object),
    ... )
    >>> fish
    Texts('fish', 3 documents, 2 labels, splits train and test)
    >>> fish.split("train").corpus(min_df=1, max_df=1.0)
    Corpus(2 documents x 3 terms, 4 non-zeros, 2 labels)
    """

    labels: Strings | None = None
    label_sets: list[tuple[str, ...]] | None = None
    splits: Strings | None = None

    def where(self, chosen: ArrayLike) -> Self:
        """Take some of the documents.

        Parameters
        ----------
        chosen : array-like of bool or int
            A mask, or the numbers of documents.

        Returns
        -------
        Texts
            The documents chosen, in that order.
        """
        rows = np.arange(len(self))[np.asarray(chosen)].tolist()
        return replace(
            self,
            texts=_take(self.texts, rows),
            ids=self.ids[rows],
            titles=None if self.titles is None else _take(self.titles, rows),
            extra={key: _take(values, rows) for key, values in self.extra.items()},
            labels=None if self.labels is None else self.labels[rows],
            label_sets=None if self.label_sets is None else _take(self.label_sets, rows),
            splits=None if self.splits is None else self.splits[rows],
        )

    def split(self, name: str) -> Self:
        """Take the documents of one split, such as "train"."""
        return self.where(self.splits == check_split(name, self.splits, self.name))

    def single_label(self) -> Self:
        """Take the documents with exactly one class, which becomes their label."""
        if self.label_sets is None:
            return self
        alone = self.where([len(labels) == 1 for labels in self.label_sets])
        return replace(alone, labels=np.array([labels[0] for labels in alone.label_sets or []], dtype=object))

    def _facts(self) -> list[str]:
        facts = super()._facts()
        if self.labels is not None:
            facts.append(f"{len(set(self.labels))} labels")
        if self.splits is not None:
            facts.append(f"splits {' and '.join(dict.fromkeys(self.splits))}")
        return facts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Retrieval(_Documents):
    """A collection of texts with queries, and with judgments of which documents answer them.

    Attributes
    ----------
    name, texts, ids, titles, extra, options
        As in `Texts`.
    queries : dict of str to str
        From the ids of queries to their texts.
    qrels : dict of str to dict of str to int
        The judgments: from the ids of queries to the ids of documents to grades. More is better, and 0 is not
        relevant. A query without judgments is not in it.
    query_splits : dict of str to str, or None
        From the ids of queries to "train" or "test".
    query_extra : dict of str to dict
        From the ids of queries to whatever else the file says about them.

    Examples
    --------
    >>> import numpy as np
    >>> from laconic.datasets import Retrieval
    >>> fish = Retrieval(
    ...     name="fish",
    ...     texts=["red fish", "blue bird"],
    ...     ids=np.array(["d1", "d2"], dtype=object),
    ...     queries={"q1": "what swims"},
    ...     qrels={"q1": {"d1": 1}},
    ... )
    >>> fish
    Retrieval('fish', 2 documents, 1 queries)
    """

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    query_splits: dict[str, str] | None = None
    query_extra: dict[str, dict[str, Any]] = field(default_factory=dict)

    def split(self, name: str) -> Self:
        """Take the queries of one split, such as "train", with all documents."""
        splits = self.query_splits or {}
        check_split(name, splits.values() or None, self.name)
        kept = {query for query, split in splits.items() if split == name}
        return replace(
            self,
            queries={query: text for query, text in self.queries.items() if query in kept},
            qrels={query: grades for query, grades in self.qrels.items() if query in kept},
            query_splits={query: name for query in splits if query in kept},
            query_extra={query: more for query, more in self.query_extra.items() if query in kept},
        )

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"{len(self.queries):,} queries"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Parallel(Record):
    """Texts in several languages.

    Attributes
    ----------
    name : str
        The name of the data set.
    texts : dict of str to list of str
        From languages ("de", "en") to texts; the n-th texts of all languages say the same.
    titles : dict of str to list of str
        From languages to titles.
    ids : numpy.ndarray of str
        All different.
    extra : dict of str to list
        Whatever else the file says about the texts.
    """

    name: str
    texts: dict[str, list[str]]
    titles: dict[str, list[str]]
    ids: Strings
    extra: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def corpus(self, language: str, **options: Unpack[VectorizerOptions]) -> Corpus:
        """Count the terms of one language.

        Parameters
        ----------
        language : str
            Such as "de".
        **options
            Those of `laconic.corpus.Vectorizer`; `stop_words` is None by default for languages other than
            English.

        Returns
        -------
        Corpus
            With the ids.
        """
        from laconic.corpus import Corpus

        if language not in self.texts:
            raise DatasetError(f"{self.name} has no language {language!r}, only {', '.join(self.texts)}")
        if language != "en":
            options.setdefault("stop_words", None)
        return Corpus.from_texts(self.texts[language], ids=self.ids, **options)

    def _facts(self) -> list[str]:
        return [f"{len(self):,} texts in {' and '.join(self.texts)}"]


def _take(values: list[Any], rows: list[int]) -> list[Any]:
    return [values[row] for row in rows]


def check_split(name: str, splits: Any, dataset: str) -> str:
    """The name of a split, which has to be one of those there are."""
    if splits is None:
        raise DatasetError(f"{dataset} has no splits")
    names = list(dict.fromkeys(splits))
    if name not in names:
        raise DatasetError(f"{dataset} has no split {name!r}, only {', '.join(names)}")
    return name
