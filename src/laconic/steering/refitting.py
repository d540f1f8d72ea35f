"""A model of a draft: what has changed is found anew, what has not is frozen or anchored, and ids stay."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from laconic.bundle.bundle import Bundle
from laconic.bundle.documents import Documents
from laconic.checks import check_choice
from laconic.steering.anchors import Anchors
from laconic.steering.edits import unsteered

if TYPE_CHECKING:
    from collections.abc import Callable

    from laconic.losses.loop import Callback
    from laconic.steering.edits import Draft

KEEP = ("frozen", "anchored")
STRENGTH = 1.0
"""How strongly topics are held that are anchored while others are found anew."""
SEED_STRENGTH = 0.05
"""How strongly a topic is held at its seed words, as in a fit."""


def refitted(draft: Draft, keep: str = KEEP[0], *, callback: Callback | None = None) -> Bundle:
    """Make a bundle of a draft.

    Parameters
    ----------
    draft : Draft
        As functions of `laconic.steering.edits` make it.
    keep : {"frozen", "anchored"}, default="frozen"
        Whether topics that were not edited stay as they are to the bit, or may follow a little.
    callback : callable, optional
        Told of the refit, as of the model's ``fit``.

    Returns
    -------
    Bundle
        With the same documents, and their weights for the topics that there are now. It knows what was done.
    """
    check_choice("keep", keep, KEEP)
    old = draft.bundle
    model = _model(draft, keep, callback)
    bundle = Bundle(
        model,
        old.vectorizer,
        vectorizers=old.vectorizers,
        documents=_documents(draft, model),
        search_settings=old.search_settings,
    )
    bundle.notes = draft.notes
    return bundle._follow(old, draft.did)


def _documents(draft: Draft, model: Any) -> Documents | None:
    documents = draft.bundle.documents
    if documents is None or model is draft.bundle.model:
        return documents
    return Documents.of(model, documents.corpora).with_vectors(documents.vectors)


def _model(draft: Draft, keep: str, callback: Callback | None) -> Any:
    old = draft.bundle.model
    rows = draft.rows
    same = rows.shape == old.components_.shape and abs(rows - csr_array(old.components_)).nnz == 0
    if same and not draft.free:
        return old
    fitted = old
    if draft.free and draft.bundle.documents is not None:
        corpus = draft.bundle.documents.corpus()
        X = old.rows(corpus.counts, lambda counts: corpus.X)
        fitted, rows = found_anew(draft, X, keep, callback=callback)
    model = clone(old).set_params(n_components=draft.n_topics, **unsteered(old))
    for name, value in vars(fitted).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(model, name, value)
    dtype, sparse = old.components_.dtype, issparse(old.components_)
    model.components_ = csr_array(rows, dtype=dtype) if sparse else rows.toarray().astype(dtype)
    return model


def found_anew(
    draft: Draft,
    X: Any,
    keep: str = KEEP[0],
    *,
    strength: float = STRENGTH,
    begin: Callable[[csr_array], csr_array] | None = None,
    callback: Callback | None = None,
    **settings: Any,
) -> tuple[Any, csr_array]:
    """Fit the topics of a draft that have words, from where it has them.

    Parameters
    ----------
    draft : Draft
    X : csr_array of shape (n_documents, n_terms)
        The documents, as the model takes them.
    keep : {"frozen", "anchored"}, default="frozen"
        As of `refitted`.
    strength : float
        How strongly topics are held that are anchored.
    begin : callable, optional
        Changes where the fit begins; topics are held where the draft has them all the same.
    callback : callable, optional
        Told of the fit.
    **settings
        Other parameters for the model.

    Returns
    -------
    model, csr_array of shape (n_topics, n_terms)
        The fit, which has no rows for topics without words; and all rows.
    """
    living = np.flatnonzero(np.diff(draft.rows.indptr))
    place = {int(topic): row for row, topic in enumerate(living)}
    targets = draft.rows[living]
    again = clone(draft.bundle.model).set_params(
        n_components=len(living),
        init=targets if begin is None else begin(targets),
        anchors=_anchors(draft, keep, targets, place, strength),
        verbose=0,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(X, callback=callback)
    found = csr_array(again.components_)
    indptr = np.zeros(draft.n_topics + 1, found.indptr.dtype)
    indptr[living + 1] = np.diff(found.indptr)
    rows = csr_array((found.data, found.indices, np.cumsum(indptr)), shape=draft.rows.shape)
    return again, rows


def _anchors(draft: Draft, keep: str, start: csr_array, place: dict[int, int], strength: float) -> Anchors:
    """What holds topics in the refit: where they are, or at their seeds, and words they may not have."""
    targets = start.tolil()
    strengths = np.full(len(place), strength)
    frozen = []
    for topic, row in place.items():
        if topic in draft.seeds:
            targets[[row], :] = 0
            targets[row, list(draft.seeds[topic])] = 1
            strengths[row] = SEED_STRENGTH
        elif topic in draft.free and topic not in draft.held:
            targets[[row], :] = 0
            strengths[row] = 0
        elif topic not in draft.held and (keep == "frozen" or topic in draft.notes.frozen):
            frozen.append(row)
    vocabulary = draft.bundle.vocabulary
    columns = {str(term): column for column, term in enumerate(() if vocabulary is None else vocabulary)}
    forbidden: dict[int | None, list[int]] = {}
    for owner, word in draft.notes.forbidden:
        if word in columns and (owner is None or owner in place):
            forbidden.setdefault(None if owner is None else place[owner], []).append(columns[word])
    return Anchors(csr_array(targets), strengths, frozen, _by_topic(forbidden, frozen, len(place)))


def _by_topic(
    forbidden: dict[int | None, list[int]], frozen: list[int], n_topics: int
) -> dict[int | None, list[int]]:
    """Words that topics may not have, of those that are not frozen: these stay as they are."""
    everywhere = forbidden.get(None, [])
    found: dict[int | None, list[int]] = {}
    for row in range(n_topics):
        words = [*everywhere, *forbidden.get(row, [])]
        if words and row not in frozen:
            found[row] = words
    return found
