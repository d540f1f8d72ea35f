"""What a model is, in a few words: all that the rest of the library asks before it uses one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """The properties of a model that follow from its parameters alone, fitted or not.

    Attributes
    ----------
    wants : {"weights", "counts"}
        What X should hold: weights (tf-idf), or counts. See `TopicModel.rows`.
    classes : bool
        Whether topics are shared or belong to a class, so that `fit` needs labels; fitted, the model has
        ``classes_`` and ``topic_class_``, and predicts.
    modalities : bool
        Whether documents have several modalities, so that `fit` takes a mapping.
    links : bool
        Whether `fit` takes a graph of documents.
    nonnegative : bool
        Whether both the weights of terms in topics and the weights of topics in documents are always
        non-negative; X must be non-negative, too. (Non-negative topics alone, as in `RLSI` with
        ``nonnegative=True``, do not count.)
    prior : bool
        Whether a prior favours documents with few topics; the fitted model then has ``doc_density_``.

    Examples
    --------
    >>> from laconic import NMF
    >>> NMF(loss="kl").traits
    Traits(wants='counts', classes=False, modalities=False, links=False, nonnegative=True, prior=False)
    """

    wants: str = "weights"
    classes: bool = False
    modalities: bool = False
    links: bool = False
    nonnegative: bool = False
    prior: bool = False
