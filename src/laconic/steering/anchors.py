"""Anchors: what is known of topics before the data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack

from laconic.errors import ParameterError
from laconic.losses.anchoring import Anchoring, without

STRENGTH = 0.05
"""How strongly topics are held, unless somebody says otherwise: measured, see the page on steering."""


@dataclass(frozen=True, eq=False)
class Anchors:
    r"""What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden words.

    A topic held to a target z adds :math:`\tau \|c - z\|^2` to the objective of a model with squared loss,
    and :math:`\tau \sum_m z_m \log(z_m / c_m)` to that of a model with divergence. This is as if there were
    one more document that looks exactly like the target and belongs entirely to this topic.

    Parameters
    ----------
    targets : mapping of topic to words, or array-like or sparse array of shape (n_topics, n_terms), optional
        Targets of topics. In a mapping, a topic is a number from 0 on; for group models it may also be
        ``("shared", 0)`` or ``(class, 1)``. Its target is a list of words, a mapping of words to weights,
        or a row of an array. Words are column names, if there are any, or column numbers. In a matrix, an
        empty row is a topic that is not held.
    strength : float, sequence of float, or mapping of topic to float, default=0.05
        How strongly topics are held: the weight of the target as a share of what the data weigh in the
        average topic. It does not depend on the size of the data: :math:`\tau` is strength times
        :math:`\|X\|^2 / (K \|z\|^2)`, for the divergence strength times the number of words / K. With 0, a
        topic is free.
    frozen : collection of topics, default=()
        Topics that stay at their targets, to the bit (with a word budget scaled to length one, and with a
        divergence to sum one, if they are not already).
    forbidden : words, or mapping of topic to words, default=()
        Words forbidden in all topics, or in single topics: their weights are exactly zero, in targets as
        well. In a mapping, None means all topics.

    Notes
    -----
    Targets are used as they are, whatever their scale, with two exceptions: if topics have length one (the
    word budget) or sum to one (the divergence), targets are scaled likewise, and lists of words get the
    scale of an average topic. Held topics are neither rescaled against their weights nor flipped in sign.

    Examples
    --------
    Of four words, the second topic is to have the first; the third word is for nobody.

    >>> from laconic import RLSI
    >>> from laconic.steering import Anchors
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> anchors = Anchors({1: ["sun"]}, forbidden=["salt"])
    >>> import pandas as pd
    >>> X = pd.DataFrame(X, columns=["sun", "moon", "salt", "pepper"])
    >>> model = RLSI(2, topic_norm="l0", terms_per_topic=2, anchors=anchors, random_state=0).fit(X)
    >>> [[word for word, weight in topic] for topic in model.topics()]
    [['pepper'], ['sun', 'moon']]
    """

    targets: Any = None
    strength: Any = STRENGTH
    frozen: Any = ()
    forbidden: Any = ()

    def __post_init__(self) -> None:
        """Refuse what can be nothing of the kind, whatever the model."""
        strengths = self.strength
        if isinstance(strengths, Mapping):
            strengths = list(strengths.values())
        for each in np.atleast_1d(np.asarray(strengths, object)).tolist():
            if isinstance(each, bool) or not isinstance(each, Real) or not 0 <= float(each) < np.inf:
                raise ParameterError(f"the strength of anchors must be a number from 0 on, not {each!r}")
        for name in ("frozen", "forbidden"):
            if isinstance(getattr(self, name), str | bytes) or not isinstance(
                getattr(self, name), Collection
            ):
                raise ParameterError(f"{name} of anchors must be a list, not {getattr(self, name)!r}")
        if isinstance(self.targets, str | bytes):
            raise ParameterError(f"targets of anchors must be a mapping or a matrix, not {self.targets!r}")

    def __eq__(self, other: object) -> bool:
        """Whether they say the same, in the same form."""
        return isinstance(other, Anchors) and all(
            _same(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__
        )

    __hash__ = None  # type: ignore[assignment]

    def grown(self, n_topics: int, n_terms: int) -> Anchors:
        """The same for a model with more topics and terms, which come after those that it had."""
        if isinstance(self.targets, Mapping):
            rows = {
                topic: _padded(target, None, n_terms)
                if issparse(target) or isinstance(target, np.ndarray)
                else target
                for topic, target in self.targets.items()
            }
            return replace(self, targets=rows)
        if self.targets is None:
            return self
        targets = self.targets if issparse(self.targets) else np.asarray(self.targets)
        return replace(self, targets=_padded(targets, n_topics, n_terms))

    def resolve(
        self,
        topics: Mapping[Any, int],
        n_terms: int,
        names: Sequence[str] | NDArray[Any] | None,
        dtype: Any,
        *,
        nonnegative: bool,
    ) -> Anchoring | None:
        """In rows and columns of a model; None if they ask for nothing.

        Parameters
        ----------
        topics : mapping of name to row
            All that topics may be called.
        n_terms : int
        names : sequence of str, optional
            The names of the columns, where these have any.
        dtype : dtype
        nonnegative : bool
            Whether topics have positive words only.

        Raises
        ------
        ParameterError
            If a topic, a word, or a shape does not fit.
        """
        columns = _Columns(n_terms, names)
        n_topics = 1 + max(topics.values())
        targets = self._targets(topics, n_topics, columns, dtype)
        if not np.isfinite(targets.data).all():
            raise ParameterError("targets of anchors must be finite numbers")
        if nonnegative and targets.data.min(initial=0) < 0:
            raise ParameterError("targets of anchors have negative words, but topics of this model do not")
        held = np.diff(targets.indptr) > 0
        frozen = np.zeros(n_topics, bool)
        frozen[[_row(topic, topics) for topic in self.frozen]] = True
        lacking = np.flatnonzero(frozen & ~held)
        if lacking.size:
            raise ParameterError(
                f"topic {lacking[0]} is frozen, but has no target: give one, such as its words"
            )
        strengths = np.where(held & ~frozen, self._strengths(topics, n_topics), 0)
        forbidden = self._forbidden(topics, n_topics, columns)
        if forbidden is not None:
            targets = without(targets, forbidden)
            whole = np.flatnonzero((np.diff(forbidden.indptr) == n_terms) & ~frozen)
            if whole.size:
                raise ParameterError(f"all words are forbidden in topic {whole[0]}: allow some")
        if not (strengths.any() or frozen.any() or forbidden is not None):
            return None
        # topics that are not held have no target
        targets = csr_array(_kept_rows(targets, (strengths > 0) | frozen))
        words_only = np.zeros(n_topics, bool)
        if isinstance(self.targets, Mapping):
            lists = [topic for topic, target in self.targets.items() if _is_list(target)]
            words_only[[_row(topic, topics) for topic in lists]] = True
        return Anchoring(targets, strengths[None], frozen[None], forbidden, words_only & ~frozen)

    def _targets(self, topics: Mapping[Any, int], n_topics: int, columns: _Columns, dtype: Any) -> csr_array:
        if self.targets is None:
            return csr_array((n_topics, columns.n_terms), dtype=dtype)
        if not isinstance(self.targets, Mapping):
            found = csr_array(self.targets, dtype=dtype, copy=True)
            if found.shape != (n_topics, columns.n_terms):
                raise ParameterError(
                    f"targets of anchors have shape {found.shape}, but {n_topics} topics over "
                    f"{columns.n_terms} terms need {(n_topics, columns.n_terms)}"
                )
        else:
            rows = [csr_array((1, columns.n_terms), dtype=dtype)] * n_topics
            for topic, target in self.targets.items():
                rows[_row(topic, topics)] = columns.target(target, dtype)
            found = csr_array(vstack(rows, format="csr"))
        found.sum_duplicates()
        found.eliminate_zeros()
        return found

    def _strengths(self, topics: Mapping[Any, int], n_topics: int) -> NDArray[np.float64]:
        strengths = np.full(n_topics, STRENGTH)
        if isinstance(self.strength, Mapping):
            for topic, strength in self.strength.items():
                strengths[_row(topic, topics)] = strength
        elif np.ndim(self.strength) == 0:
            strengths[:] = self.strength
        elif len(self.strength) != n_topics:
            raise ParameterError(
                f"there are {len(self.strength)} strengths of anchors, but {n_topics} topics"
            )
        else:
            strengths[:] = self.strength
        return strengths

    def _forbidden(self, topics: Mapping[Any, int], n_topics: int, columns: _Columns) -> csr_array | None:
        """Topics × terms: one where a word is forbidden."""
        if len(self.forbidden) == 0:
            return None
        pairs = []
        barred = self.forbidden if isinstance(self.forbidden, Mapping) else {None: self.forbidden}
        for topic, words in barred.items():
            found = columns.find(words)
            rows = range(n_topics) if topic is None else [_row(topic, topics)]
            pairs += [(k, column) for k in rows for column in found]
        if not pairs:
            return None
        by_row = np.array(sorted(set(pairs))).T
        shape = n_topics, columns.n_terms
        return csr_array((np.ones(by_row.shape[1], np.int8), tuple(by_row)), shape=shape)


class _Columns:
    """The terms of a model, by number and, where they have one, by name."""

    def __init__(self, n_terms: int, names: Sequence[str] | NDArray[Any] | None) -> None:
        self.n_terms = n_terms
        self.numbers = None if names is None else {str(name): m for m, name in enumerate(names)}

    def find(self, words: Iterable[Any]) -> list[int]:
        """The columns of some words."""
        if isinstance(words, str | bytes):
            raise ParameterError(f"words of anchors must be a list, not {words!r}")
        return [self._column(word) for word in words]

    def target(self, target: Any, dtype: Any) -> csr_array:
        """A row over all terms, of length one if only words are given."""
        if issparse(target) or isinstance(target, np.ndarray):
            row = csr_array(target.reshape(1, -1) if not issparse(target) else target, dtype=dtype)
            if row.shape != (1, self.n_terms):
                raise ParameterError(
                    f"a target of anchors has shape {row.shape}, but there are {self.n_terms} terms"
                )
            return row
        if isinstance(target, Mapping):
            columns, weights = self.find(target), np.array(list(target.values()), dtype)
        elif _is_list(target):
            columns = sorted(set(self.find(target)))
            weights = np.full(len(columns), 1 / np.sqrt(max(1, len(columns))), dtype)
        else:
            raise ParameterError(
                f"a target of anchors is a list of words, weights of words, or a row, not {target!r}"
            )
        return csr_array((weights, (np.zeros(len(columns), int), columns)), shape=(1, self.n_terms))

    def _column(self, word: Any) -> int:
        if isinstance(word, Integral) and not isinstance(word, bool) and 0 <= int(word) < self.n_terms:
            return int(word)
        if isinstance(word, str) and self.numbers is not None and word in self.numbers:
            return self.numbers[word]
        if isinstance(word, str) and self.numbers is None:
            raise ParameterError(
                f"the columns of X have no names, so the word {word!r} of the anchors is not known: fit a "
                "data frame, or give column numbers"
            )
        raise ParameterError(f"the word {word!r} of the anchors is not one of the {self.n_terms} terms")


def _padded(target: Any, n_rows: int | None, n_terms: int) -> csr_array:
    """Rows with zeros behind them, and rows of zeros below them; a row alone, if no number is given."""
    entries = csr_array(target if issparse(target) or np.ndim(target) == 2 else np.reshape(target, (1, -1)))
    padded = entries.copy()
    padded.resize(entries.shape[0] if n_rows is None else n_rows, n_terms)
    return padded


def _is_list(target: Any) -> bool:
    """Whether a target is words without weights."""
    rows_or_weights = issparse(target) or isinstance(target, np.ndarray | Mapping | str | bytes)
    return isinstance(target, Collection) and not rows_or_weights


def _row(topic: Any, topics: Mapping[Any, int]) -> int:
    """The row of a topic."""
    key = tuple(topic) if isinstance(topic, list) else topic
    if isinstance(key, bool) or key not in topics:
        known = list(topics)
        few = ", ".join(map(repr, [*known[:3], *known[-1:]] if len(known) > 4 else known))
        raise ParameterError(f"anchors name the topic {topic!r}, which the model does not have; it has {few}")
    return topics[key]


def _kept_rows(matrix: csr_array, kept: NDArray[np.bool_]) -> csr_array:
    """The matrix with other rows empty."""
    matrix = matrix.copy()
    matrix.data[~np.repeat(kept, np.diff(matrix.indptr))] = 0
    matrix.eliminate_zeros()
    return matrix


def joined(
    parts: Sequence[Anchoring | None], sizes: Sequence[int], n_topics: int, dtype: Any
) -> Anchoring | None:
    """Anchors of several modalities as one, over the terms of all of them."""
    if all(part is None for part in parts):
        return None
    free = [
        part
        or Anchoring(
            csr_array((n_topics, size), dtype=dtype), np.zeros((1, n_topics)), np.zeros((1, n_topics), bool)
        )
        for part, size in zip(parts, sizes, strict=True)
    ]
    forbidden = None
    if any(part.forbidden is not None for part in free):
        forbidden = csr_array(
            hstack(
                [
                    csr_array((n_topics, size), dtype=np.int8) if part.forbidden is None else part.forbidden
                    for part, size in zip(free, sizes, strict=True)
                ],
                format="csr",
            )
        )
    return Anchoring(
        csr_array(hstack([part.targets for part in free], format="csr")),
        np.concatenate([part.strengths for part in free]),
        np.concatenate([part.frozen for part in free]),
        forbidden,
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two fields are equal, arrays entry by entry."""
    if issparse(one) or issparse(other):
        return (
            issparse(one)
            and issparse(other)
            and one.shape == other.shape
            and (csr_array(one) != csr_array(other)).nnz == 0
        )
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and np.array_equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)
