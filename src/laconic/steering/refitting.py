"""A model of a draft: what has changed is found anew, what has not is frozen or anchored, and ids stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from laconic.bundle.bundle import Bundle
from laconic.bundle.documents import Documents
from laconic.checks import check_choice
from laconic.errors import BundleError
from laconic.steering.anchors import Anchors
from laconic.steering.edits import segments, unsteered, word_columns
from laconic.steering.inputs import FitInputs, inputs_of, lacking_links, rows_of
from laconic.steering.seeds import STRENGTH as SEED_STRENGTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from laconic.bundle.notes import Notes
    from laconic.bundle.pending import Pending
    from laconic.losses.loop import Callback
    from laconic.steering.edits import Draft

KEEP = ("frozen", "anchored")
STRENGTH = 1.0
"""How strongly topics are held that are anchored while others are found anew."""
SUMS = ("seen_", "n_documents_seen_")


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
    return _following(draft.bundle, _model(draft, keep, callback), draft.notes, draft.did)


def found_before(old: Bundle, refit: Pending) -> Bundle:
    """The bundle of a refit that was found before and kept: the same that `refitted` gave, to the bit.

    Parameters
    ----------
    old : Bundle
        What was edited.
    refit : Pending
        With what was found.

    Raises
    ------
    BundleError
        If it is not one of this bundle.
    """
    assert refit.found is not None
    model = refit.found.model
    if type(model) is not type(old.model) or model.n_features_in_ != old.model.n_features_in_:
        raise BundleError("this refit is one of another model; discard it")
    return _following(old, model, refit.found.notes, refit.did)


def _following(old: Bundle, model: Any, notes: Notes, did: tuple[str, ...]) -> Bundle:
    """The same documents for other topics, with the weights that they have there."""
    documents = old.documents
    if documents is not None and not _same_topics(csr_array(model.components_), old.model):
        fitted = model.traits.links and model.fitted_to(rows_of(old))
        documents = Documents.of(model, documents.corpora, fitted=fitted).with_vectors(documents.vectors)
    bundle = Bundle(
        model,
        old.vectorizer,
        vectorizers=old.vectorizers,
        documents=documents,
        search_settings=old.search_settings,
    )
    bundle.notes = notes
    return bundle._follow(old, did)


def _same_topics(rows: csr_array, model: Any) -> bool:
    before = model.components_
    return rows.shape == before.shape and abs(rows - csr_array(before)).nnz == 0


def _model(draft: Draft, keep: str, callback: Callback | None) -> Any:
    old, documents = draft.bundle.model, draft.bundle.documents
    fitted, rows = old, draft.rows
    if not draft.free and _same_topics(rows, old):
        return old
    # where documents are linked, their weights cannot be found without a fit
    if (draft.free or old.traits.links) and documents is not None and lacking_links(draft.bundle) is None:
        fitted, rows = found_anew(draft, inputs_of(draft.bundle), keep, callback=callback)
    owners = np.array(draft.owners)
    model = old.of_owners(owners).set_params(**unsteered(old))
    for name, value in vars(fitted).items():
        # sums over documents of batches are those of other topics
        if name.endswith("_") and not name.startswith("_") and name not in SUMS:
            setattr(model, name, value)
    dtype, sparse = old.components_.dtype, issparse(old.components_)
    components = csr_array(rows, dtype=dtype) if sparse else rows.toarray().astype(dtype)
    model.take_topics(components, owners)
    if old.traits.links and documents is not None:
        _take_weights(model, draft, fitted)
    return model


def _take_weights(model: Any, draft: Draft, fitted: Any) -> None:
    """Give a model that keeps the weights of its documents those of the topics that it has now."""
    documents = draft.bundle.documents
    assert documents is not None
    living = np.flatnonzero(np.diff(draft.rows.indptr))
    given, weights = rows_of(draft.bundle), {}
    if fitted is draft.bundle.model and not fitted.fitted_to(given):
        # those of other documents, of which nothing is known
        return
    for name, corpus in documents.corpora.items():
        if fitted is draft.bundle.model:
            # without the links, which are not known
            X = given[name] if name else given
            found = model.transform(X, name) if name else model.transform(X)
            found[np.diff(corpus.counts.indptr) == 0] = 0 if name else 1 / len(living)
        else:
            found = np.zeros((corpus.shape[0], draft.n_topics), model.components_.dtype)
            found[:, living] = fitted.fit_weights(name or None)
        weights[name] = found
    model.take_weights(weights)


def found_anew(
    draft: Draft,
    given: FitInputs,
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
    given : FitInputs
        The documents, as the model takes them.
    keep : {"frozen", "anchored"}, default="frozen"
        As in `refitted`.
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
    owners, model = np.array(draft.owners)[living], draft.bundle.model
    living = living[model.in_order(owners)]
    place = {int(topic): row for row, topic in enumerate(living)}
    targets = draft.rows[living]
    again = model.of_owners(owners).set_params(
        init=targets if begin is None else begin(targets),
        anchors=_anchors(draft, keep, targets, place, strength),
        verbose=0,
        **settings,
    )
    given.fit(again, callback)
    nothing = csr_array((1, draft.rows.shape[1]), dtype=draft.rows.dtype)
    sources = np.full(draft.n_topics, len(living))
    sources[living] = np.arange(len(living))
    rows = csr_array(vstack([csr_array(again.components_), nothing], format="csr"))[sources]
    return again, csr_array(rows)


def _anchors(draft: Draft, keep: str, start: csr_array, place: dict[int, int], strength: float) -> Any:
    """What holds topics in the refit: where they are, or at their seeds, and words they may not have."""
    targets = start.tolil()
    strengths = np.full(len(place), strength)
    frozen = []
    for topic, row in place.items():
        if topic in draft.seeds:
            targets[[row], :] = draft.seeds[topic]
            strengths[row] = SEED_STRENGTH
        elif topic in draft.free and topic not in draft.held:
            targets[[row], :] = 0
            strengths[row] = 0
        elif topic not in draft.held and (keep == "frozen" or topic in draft.notes.frozen):
            frozen.append(row)
    columns = word_columns(draft.bundle)
    forbidden: dict[int | None, list[int]] = {}
    for owner, word in draft.notes.forbidden:
        if word in columns and (owner is None or owner in place):
            forbidden.setdefault(None if owner is None else place[owner], []).extend(columns[word])
    held, barred = csr_array(targets), _by_topic(forbidden, frozen, len(place))
    modalities = draft.bundle.modalities
    if not modalities:
        return Anchors(held, strengths, frozen, barred)
    return {
        name: Anchors(held[:, part], strengths, frozen, _within(barred, part))
        for name, part in zip(modalities, segments(draft), strict=True)
    }


def _within(barred: dict[int | None, list[int]], part: slice) -> dict[int | None, list[int]]:
    """Columns of one modality, counted from its first."""
    own = {
        topic: [c - part.start for c in columns if part.start <= c < part.stop]
        for topic, columns in barred.items()
    }
    return {topic: columns for topic, columns in own.items() if columns}


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
