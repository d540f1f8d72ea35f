"""Counting texts: batches in threads, each thread with a table of its own, and one matrix in the end.

Texts pass through and are not kept. What is kept of each is the number and the count of every term, in a
spool that spills to disk; terms become strings only when it is known that they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from laconic.corpus.spool import Spool, roomy
from laconic.corpus.terms import Bytes, Found, Ids, Stem, TermTable, encoded
from laconic.corpus.tokens import GivenTokens, Tokens
from laconic.engines import Workers
from laconic.errors import CorpusError
from laconic.kernels.text import TOKEN_END, fill_rows, tally_terms
from laconic.matrices import canonical_csr, index_dtype

if TYPE_CHECKING:
    from laconic.matrices import CSR

BATCH_BYTES = 2 << 20
"""Texts are counted in batches of about this size."""

_LONGEST_TEXT = 1 << 31

# One thread reads, and cannot feed more than a few that count; each has a table of terms in memory.
_MOST_WORKERS = 4

Progress: TypeAlias = Callable[[int, int], object]
Item = TypeVar("Item")
Share = TypeVar("Share")


class Tally(NamedTuple):
    """What counting found.

    Attributes
    ----------
    n_texts : int
        Texts, also empty ones.
    n_tokens : int
        Tokens that are not stop words.
    n_terms_found : int
        Different terms, before `min_df`, `max_df` and `max_features` left some of them out.
    n_terms : int
        Terms of the vocabulary.
    common : tuple of str
        Terms in nearly every text, the most frequent first, whether or not they were left out: those in more
        than 90 % of at least 100 texts. Such a term says nothing about what a text is about, or it is
        boilerplate, which a list of stop words does not know.
    """

    n_texts: int
    n_tokens: int
    n_terms_found: int
    n_terms: int
    common: tuple[str, ...] = ()


class _Batch(NamedTuple):
    texts: Bytes
    n_texts: int
    highest: int
    """The highest byte of all, without those that end texts; or any above it."""


class Counted:
    """Counted texts, whose terms are numbers so far.

    Attributes
    ----------
    table : TermTable
        The terms that the numbers mean.
    n_texts, n_tokens : int
        How many there are.
    """

    def __init__(
        self,
        texts: Iterable[str],
        tokens: Tokens,
        *,
        stop_words: Iterable[str],
        ngram_range: tuple[int, int],
        stem: Stem | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._spool = Spool()
        self.n_texts = 0
        tables: list[TermTable] = []
        free: SimpleQueue[TermTable] = SimpleQueue()

        def count(batch: _Batch) -> tuple[TermTable, Found]:
            try:
                table = free.get_nowait()
            except Empty:
                table = TermTable(stop_words, ngram_range)
            found = table.count(batch.texts, batch.n_texts, tokens.rule(batch.highest))
            free.put(table)
            return table, found

        for table, found in _in_threads(count, _gathered(texts, tokens, progress)):
            if table not in tables:
                tables.append(table)
            self._spool.add(np.array([tables.index(table)]), *_compact(found))
            self.n_texts += len(found.ends)
        self.n_tokens = sum(table.n_tokens for table in tables)
        self._merge(tables, stem)
        if ngram_range[1] > 1 and self.table.has_spaces:
            self._join()
        self.table.forget_slots()

    def _merge(self, tables: list[TermTable], stem: Stem | None) -> None:
        """Make one table of those of the threads, with stems for tokens."""
        self._changed = stem is not None
        self._stemmed: list[tuple[TermTable, Ids]] = []
        self.table = tables.pop(0) if tables and stem is None else TermTable()
        self._mappings = [] if stem is not None else [np.arange(len(self.table), dtype=np.int32)]
        while tables:
            table = tables.pop(0)
            self._mappings.append(self.table.absorb(table, stem))
            if stem is not None:
                self._stemmed.append((table, self._mappings[-1]))

    def forms(self, terms: Ids) -> list[str] | None:
        """The commonest form of each term, before its ending was taken off; None if none were.

        Parameters
        ----------
        terms : numpy.ndarray of int32
            Numbers of terms.

        Returns
        -------
        list of str, or None
            Of equally common forms the first in the alphabet; n-grams of the commonest forms of their words.
        """
        if not self._stemmed:
            return None
        spelled = self.table.spell(terms)
        wanted = {word for term in spelled for word in term.split(" ")}
        numbers = np.arange(len(self.table), dtype=np.int32)
        known = dict(zip(numbers.tolist(), self.table.spell(numbers), strict=True))
        counts: dict[str, dict[str, int]] = {}
        for table, mapping in self._stemmed:
            rows = np.flatnonzero(mapping >= 0).astype(np.int32)
            for form, stem, n in zip(
                table.spell(rows), mapping[rows].tolist(), table.documents[rows].tolist(), strict=True
            ):
                if n and known[stem] in wanted and " " not in form:
                    own = counts.setdefault(known[stem], {})
                    own[form] = own.get(form, 0) + n
        best = {stem: min(own, key=lambda form: (-own[form], form)) for stem, own in counts.items()}
        return [" ".join(best.get(word, word) for word in term.split(" ")) for term in spelled]

    def _join(self) -> None:
        """Make terms that are spelled alike one: "a b" and "c" are together what "a" and "b c" are."""
        self._changed = True
        joined = TermTable()
        mapping = joined.number(map(encoded, self.table.spell(np.arange(len(self.table), dtype=np.int32))))
        np.add.at(joined.documents, mapping, self.table.documents)
        self._mappings = [np.append(mapping, np.int32(-1))[earlier] for earlier in self._mappings]
        self.table = joined

    @cached_property
    def documents(self) -> NDArray[np.int64]:
        """In how many texts each term occurs."""
        # A text may have had several of the terms that have become one.
        return self._tallied()[0] if self._changed else self.table.documents

    def total(self) -> NDArray[np.int64]:
        """How often each term occurs."""
        return self._tallied()[1]

    def _tallied(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        documents, total = np.zeros((2, len(self.table)), np.int64)
        seen = np.full(len(self.table), -1, np.int64)
        n_texts = 0
        for number, found in self._batches():
            counts = found.counts.astype(np.uint32)
            tally_terms(
                found.ids, counts, found.ends, self._mappings[number], n_texts, seen, documents, total
            )
            n_texts += len(found.ends)
        return documents, total

    def matrix(self, columns: Ids, n_columns: int) -> CSR:
        """Make the matrix in which each term has its column; the counts are gone then.

        Parameters
        ----------
        columns : numpy.ndarray of int32
            For each term of the table, -1 where it has none. Several may have the same one.
        n_columns : int
            The number of columns.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_columns)
            Canonical.
        """
        # At most: several terms of a text may have the same column.
        most = int(self.table.documents[columns >= 0].sum())
        index = index_dtype(most)
        data, indices, indptr = roomy(most, np.float32), roomy(most, index), roomy(self.n_texts + 1, index)
        # Stop words are mapped to -1, the column at the end.
        column_of = [np.append(columns, np.int32(-1))[mapping] for mapping in self._mappings]

        def fill(batch: tuple[int, Found]) -> tuple[NDArray[np.float32], Ids, NDArray[np.int64]]:
            number, found = batch
            row_data, row_indices = np.empty(len(found.ids), np.float32), np.empty(len(found.ids), np.int32)
            row_ends = np.empty_like(found.ends)
            used = fill_rows(
                found.ids, found.counts.astype(np.uint32), found.ends,
                column_of[number], n_columns, row_indices, row_data, row_ends,
            )  # fmt: skip
            return row_data[:used], row_indices[:used], row_ends

        used = n_texts = indptr[0] = 0
        for row_data, row_indices, row_ends in _in_threads(fill, self._batches(drain=True)):
            data[used : used + len(row_data)] = row_data
            indices[used : used + len(row_data)] = row_indices
            indptr[n_texts + 1 : n_texts + 1 + len(row_ends)] = row_ends + used
            used += len(row_data)
            n_texts += len(row_ends)
        return canonical_csr(data[:used], indices[:used], indptr, n_columns)

    def _batches(self, *, drain: bool = False) -> Iterator[tuple[int, Found]]:
        for number, ids, counts, ends in self._spool.drain() if drain else self._spool:
            yield int(number[0]), Found(ids, counts, ends)


def _compact(found: Found) -> Found:
    """Take no more memory than needed: counts are small, and both arrays the start of larger ones."""
    small = len(found.counts) == 0 or found.counts.max() <= np.iinfo(np.uint8).max
    return Found(found.ids.copy(), found.counts.astype(np.uint8 if small else np.uint32), found.ends)


def _gathered(texts: Iterable[str], tokens: Tokens, progress: Progress | None) -> Iterator[_Batch]:
    """Gather texts until there is enough for a thread to do."""
    parts: list[bytes] = []
    n_texts = n_characters = n_bytes = 0
    ascii_only, takes_lists = True, isinstance(tokens, GivenTokens)
    for text in texts:
        if not isinstance(text, str) and not (isinstance(text, list | tuple) and takes_lists):
            raise CorpusError(
                f"text {n_texts} is of type {type(text).__name__}; every text must be a string "
                '("" for an empty document)'
            )
        part = tokens.encode(text)
        if len(part) > _LONGEST_TEXT:
            raise CorpusError(f"text {n_texts} has more than 2 GB; split it into several")
        parts.append(part)
        n_texts += 1
        n_characters += len(text) if isinstance(text, str) else len(part)
        n_bytes += len(part) + 1
        ascii_only = ascii_only and (text if isinstance(text, str) else part).isascii()
        if n_bytes >= BATCH_BYTES:
            yield _batch(parts, ascii_only)
            parts, n_bytes, ascii_only = [], 0, True
            if progress is not None:
                progress(n_texts, n_characters)
    if parts:
        yield _batch(parts, ascii_only)
    if progress is not None:
        progress(n_texts, n_characters)


def _batch(parts: list[bytes], ascii_only: bool) -> _Batch:
    texts = np.frombuffer(b"\xff".join([*parts, b""]), np.uint8)
    highest = 0x7F if ascii_only else int(texts.max(initial=0, where=texts < TOKEN_END))
    return _Batch(texts, len(parts), highest)


def _in_threads(function: Callable[[Item], Share], items: Iterable[Item]) -> Iterator[Share]:
    """As `map`, in order, on several threads where there is more than one item."""
    waiting = iter(items)
    first = list(islice(waiting, 2))
    if len(first) < 2:
        yield from map(function, first)
        return
    with Workers(n_workers()) as engine:
        yield from engine.map(function, chain(first, waiting))


def n_workers() -> int:
    """How many threads count."""
    return min(Workers().n_workers, _MOST_WORKERS)
