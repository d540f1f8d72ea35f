"""Whether the parts of a bundle fit together: model, vectorisers and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laconic.words import plural

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle
    from laconic.bundle.documents import Documents


def check_bundle(bundle: Bundle) -> None:
    """Refuse vectorisers that are not those of the model: other modalities, or another vocabulary."""
    for name, vectorizer in bundle.vectorizers.items():
        n_columns = bundle.model.n_terms_of(bundle._known(name))
        if len(vectorizer.vocabulary) != n_columns:
            raise ValueError(
                f"the vocabulary of {name!r} has {len(vectorizer.vocabulary)} terms, but the model was "
                f"fitted on {n_columns}; give the vectoriser that made the model's input"
            )
    if bundle.vectorizer is not None and bundle.modalities:
        names = ", ".join(map(repr, bundle.modalities))
        raise ValueError(f"the model has modalities ({names}): give vectorizers, a mapping with their names")
    vocabulary = bundle.vocabulary
    if vocabulary is None or not bundle.model.fitted:
        return
    n_terms = bundle.model.n_terms_of()
    if len(vocabulary) != n_terms:
        raise ValueError(
            f"the vocabulary has {len(vocabulary)} terms, but the model was fitted on {n_terms}; "
            "give the vectoriser that made the model's input"
        )


def check_documents(bundle: Bundle, documents: Documents) -> None:
    """Refuse documents with other terms or topics than the model's."""
    n_topics = bundle.model.components_.shape[0]
    for name, corpus in documents.corpora.items():
        n_terms = bundle.model.n_terms_of(name or None)
        found = documents.modality_weights[name].shape[1]
        if corpus.shape[1] != n_terms or found != n_topics:
            raise ValueError(
                f"the documents have {plural(corpus.shape[1], 'term')} and {plural(found, 'topic')}, but "
                f"the model {n_terms} and {n_topics}; give documents with the vocabulary of the model"
            )
