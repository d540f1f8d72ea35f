"""What a model is, in a few words: all that the rest of the library asks before it uses one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """What a model is, by its parameters alone: fitted or not, the answer is the same.

    Attributes
    ----------
    wants : {"weights", "counts"}
        What X best holds: weights (tf-idf), or counts. See `TopicModel.rows`.
    classes : bool
        Whether topics are shared or belong to a class, so that `fit` needs labels; fitted, the model has
        ``classes_`` and ``topic_class_``, and predicts.
    modalities : bool
        Whether documents have several modalities, so that `fit` takes a mapping.
    links : bool
        Whether `fit` takes a graph of documents.
    nonnegative : bool
        Whether neither a term's weight in a topic nor a topic's weight in a document is ever negative; X must
        not be negative either. (Topics alone may be so by a parameter, as those of `RLSI` with
        ``nonnegative=True``: that is not meant.)
    prior : bool
        Whether a prior rewards documents that have few topics; fitted, the model has ``doc_density_``.

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
