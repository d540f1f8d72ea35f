"""Which documents a search may find, and scores of all of them: for filters, and for vectors of your own.

What is found without looking at all documents (`laconic.search.blend`) has no use for conditions. Here all
documents are scored, which takes a few milliseconds for each hundred thousand of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.errors import Parameter, SearchError
from laconic.kernels.search import blend_all
from laconic.reading.dates import as_dates
from laconic.search.blend import Ranked

if TYPE_CHECKING:
    from laconic.bundle import Documents
    from laconic.matrices import CSR
    from laconic.search.index import SearchIndex

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Condition:
    """Which documents may be found.

    Parameters
    ----------
    labels : iterable of str, optional
        Only documents with one of these labels.
    since, until : date, optional
        Only documents of these days, and of those between them; both may be as `Corpus` takes dates.
    """

    labels: Iterable[object] | None = None
    since: Any = None
    until: Any = None

    @property
    def empty(self) -> bool:
        """Whether there is none."""
        return self.labels is None and self.since is None and self.until is None

    def allowed(self, documents: Documents) -> NDArray[np.bool_]:
        """Which documents fulfil it."""
        found = np.ones(len(documents), bool)
        if self.labels is not None:
            found &= self._of_labels(documents)
        if self.since is None and self.until is None:
            return found
        if documents.dates is None:
            raise SearchError(
                "these documents have no dates to choose by: read them with ",
                Parameter("dates"),
                " when you fit",
            )
        for name, value in (("since", self.since), ("until", self.until)):
            if value is None:
                continue
            day = as_dates([value])[0]
            if name == "since":
                found &= documents.dates >= day
            else:
                # a day, a month or a year is meant to its end
                found &= documents.dates <= _end(value, day)
        return found

    def _of_labels(self, documents: Documents) -> NDArray[np.bool_]:
        if documents.labels is None:
            raise SearchError(
                "these documents have no labels to choose by: read them with ",
                Parameter("labels"),
                " when you fit",
            )
        given = [self.labels] if isinstance(self.labels, str) else list(self.labels or ())
        wanted = {str(label) for label in given}
        strange = sorted(wanted - set(documents.labels.tolist()))
        if strange:
            known = ", ".join(map(repr, sorted(set(documents.labels.tolist()))[:20]))
            raise SearchError(f"no document has the label {strange[0]!r}; there are {known}")
        return np.isin(documents.labels.astype(str), list(wanted))


def _end(value: Any, day: np.datetime64) -> np.datetime64:
    """The last second of a day, a month or a year that is given as such."""
    written = str(value)
    unit = {4: "Y", 7: "M", 10: "D"}.get(len(written))
    if unit is None:
        return day
    last: np.datetime64 = (day.astype(f"datetime64[{unit}]") + 1).astype("datetime64[s]") - np.timedelta64(
        1, "s"
    )
    return last


def scored(index: SearchIndex, counts: CSR, blend: float) -> tuple[Ranked, np.float32]:
    """The scores of all documents for one query, as `BlendedMatcher.score` has them, and the terms' unit."""
    matcher = index.matcher
    (terms,) = matcher.terms.queries(counts)
    vectors = [part[0] for part in matcher.topics.queries(index.rows(counts))]
    scores = np.zeros(index.n_documents, np.float32)
    matcher.terms.add_scores(terms, scores)
    unit = matcher.unit(scores.max(initial=0))
    return matcher.score(scores, vectors, np.arange(index.n_documents), blend, unit), unit


def choose(
    index: SearchIndex,
    counts: CSR,
    k: int,
    blend: float,
    condition: Condition,
    vector: Floats | None = None,
    vector_blend: float = 0.0,
) -> tuple[Ranked, Floats | None]:
    """The best documents among those that a condition allows: by words, topics and, if given, a vector.

    Parameters
    ----------
    index : SearchIndex
    counts : sparse array of shape (1, n_terms)
        Of the words of the query.
    k : int
        At most this many.
    blend : float
        The part of topics beside words.
    condition : Condition
        Which documents may be found.
    vector : ndarray, optional
        Of the query, by the encoder of the documents' vectors.
    vector_blend : float
        The part of vectors in the score, from 0 to 1; the rest is that of words and topics.

    Returns
    -------
    (Ranked, ndarray or None)
        The documents, and the cosines of their vectors.
    """
    found, _ = scored(index, counts, blend)
    scores, cosines = found.scores, None
    if vector is not None and index.vectors is not None:
        cosines = index.vectors.scores(vector)
        scores = np.empty_like(found.scores)
        # the same kernel as for words and topics: the first part divided by one
        blend_all(found.scores, cosines, np.float32(vector_blend), np.float32(1), scores)
    allowed = np.flatnonzero((scores > 0) & condition.allowed(index.documents))
    order = allowed[np.lexsort((allowed, -scores[allowed]))][:k]
    ranked = Ranked(order, scores[order], found.terms[order], found.topics[order])
    return ranked, None if cosines is None else cosines[order]
