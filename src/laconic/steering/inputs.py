"""The documents of a bundle as its model is fitted to them again: of one modality or several, with links."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.corpus import Corpus


@dataclass(frozen=True)
class FitInputs:
    """What a model is fitted to.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_terms), or mapping of str to such
        Documents, or those of each modality.
    y : array of shape (n_documents,), optional
        Their classes, for a model that has classes.
    graph : csr_array of shape (n_documents, n_documents), optional
        Their links, for a model that takes them.
    """

    X: Any
    y: Any = None
    graph: csr_array | None = None

    def some(self, members: NDArray[np.int64]) -> FitInputs:
        """Some of the documents, with the links between them; as if all were of one class."""
        many = isinstance(self.X, Mapping)
        X = {name: part[members] for name, part in self.X.items()} if many else self.X[members]
        return FitInputs(
            X,
            None if self.y is None else np.zeros(len(members), int),
            None if self.graph is None else csr_array(self.graph[members][:, members]),
        )

    def fit(self, model: Any, callback: Any = None) -> Any:
        """Fit a model of which nobody asks whether the last digits still moved."""
        links = {} if self.graph is None else {"graph": self.graph}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(self.X, self.y, callback=callback, **links)


def rows_of(bundle: Bundle) -> Any:
    """The documents as the model takes them: a matrix, or one for each modality."""
    model, documents = bundle.model, bundle.documents
    assert documents is not None

    def taken(corpus: Corpus) -> Any:
        return model.rows(corpus.counts, lambda counts: corpus.X)

    parts = {name: taken(corpus) for name, corpus in documents.corpora.items()}
    return parts if model.traits.modalities else parts[""]


def lacking_links(bundle: Bundle) -> str | None:
    """Why documents cannot be fitted again with the links that they had; None if they can be."""
    model = bundle.model
    if not model.traits.links or bundle.documents is None:
        return None
    why = f"topics of {type(model).__name__} depend on links, which "
    if vars(model).get("graph_") is None:
        return why + "earlier versions of laconic did not save"
    if not model.fitted_to(rows_of(bundle)):
        return why + "are known only of the documents of the fit, and the model has others by now"
    return None


def inputs_of(bundle: Bundle) -> FitInputs:
    """What the model of a bundle with documents is fitted to again, unless it lacks links."""
    model, X, documents = bundle.model, rows_of(bundle), bundle.documents
    assert documents is not None
    y = model.classes_of(X, documents.corpus().labels) if model.traits.classes else None
    # a model of several modalities takes links only where there are some
    linked = model.traits.links and (model.graph_.nnz or not model.traits.modalities)
    return FitInputs(X, y, model.graph_ if linked else None)
