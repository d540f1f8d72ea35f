"""A small model with a value of every kind."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from laconic.engines import Block
from laconic.models.base import TopicModel
from laconic.models.state import Field
from laconic.models.traits import Traits


class Toy(TopicModel):
    _schema = tuple(
        Field(name, lambda value, model: value)
        for name in ("components", "scale", "history", "n_features_in", "note", "n_german", "modalities")
    )

    def __init__(self, n_components=2, *, alpha=0.1, init="random", sizes=None, random_state=None):
        self.n_components = n_components
        self.alpha = alpha
        self.init = init
        self.sizes = sizes
        self.random_state = random_state

    def fit(self, n_terms=6, seed=0):
        rng = np.random.default_rng(seed)
        dense = rng.standard_normal((self.n_components, n_terms)) * (
            rng.random((self.n_components, n_terms)) < 0.6
        )
        self.components_ = sparse.csr_array(dense)
        self.scale_ = rng.random(n_terms).astype(np.float32)
        self.history_ = [float(x) for x in rng.random(3)]
        self.n_features_in_ = n_terms
        return self

    def transform(self, X):
        return (X * self.scale_) @ self.components_.T

    def topics(self, vocabulary=None, n_terms=10, *, distinct=False):
        assert not distinct
        names = np.arange(self.n_features_in_) if vocabulary is None else vocabulary
        rows = self.components_.toarray()
        order = np.argsort(-np.abs(rows), axis=1, kind="stable")[:, :n_terms]
        return [
            [(str(names[j]), float(row[j])) for j in best if row[j]]
            for row, best in zip(rows, order, strict=True)
        ]

    def _fitted_state(self):
        check_is_fitted(self, "components_")
        return {
            "components": self.components_,
            "scale": self.scale_,
            "history": self.history_,
            "n_features_in": np.int64(self.n_features_in_),
            "note": None,
        }

    def _restore(self, state):
        self.components_, self.scale_ = state["components"], state["scale"]
        self.history_, self.n_features_in_ = state["history"], state["n_features_in"]
        if self.components_.shape[1] != self.n_features_in_ or self.scale_.shape != (self.n_features_in_,):
            raise ValueError(f"components and scale do not fit {self.n_features_in_} terms")


class MediaToy(Toy):
    """A toy whose terms are those of two modalities."""

    traits = Traits(wants="counts", modalities=True)

    @property
    def modalities(self):
        return vars(self).get("modalities_", ())

    def _columns(self, modality):
        ends = {None: (0, self.n_features_in_), "german": (0, self.n_german_)}
        return Block(*ends.get(modality, (self.n_german_, self.n_features_in_)))

    def fit(self, n_german=4, n_english=2, seed=0):
        super().fit(n_german + n_english, seed)
        self.modalities_, self.n_german_ = ("german", "english"), n_german
        return self

    def topics(self, vocabulary=None, n_terms=10, *, distinct=False, modality=None):
        if modality is None:
            return super().topics(vocabulary, n_terms)
        part = Toy(self.n_components)
        part.components_ = self.components_of(modality)
        part.n_features_in_ = part.components_.shape[1]
        return part.topics(vocabulary, n_terms)

    def transform(self, X, modality=None):
        if modality is None:
            return sum(self.transform(part, name) for name, part in X.items())
        return X @ self.components_of(modality).T

    def _fitted_state(self):
        return super()._fitted_state() | {"n_german": self.n_german_}

    def _restore(self, state):
        super()._restore(state)
        self.modalities_, self.n_german_ = ("german", "english"), state["n_german"]


def same(a, b):
    """Whether two toys are equal bit for bit."""
    pairs = [(a.scale_, b.scale_)]
    pairs += [(getattr(a.components_, p), getattr(b.components_, p)) for p in ("data", "indices", "indptr")]
    return (
        all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs)
        and a.components_.shape == b.components_.shape
        and a.history_ == b.history_
        and a.n_features_in_ == b.n_features_in_
    )
