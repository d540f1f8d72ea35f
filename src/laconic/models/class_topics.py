"""What models with topics of classes have in common: labels, and the class of a new document."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from laconic.checks import check_choice, check_number
from laconic.deprecation import FormerAttribute
from laconic.engines import Engine
from laconic.engines.checkpoints import CheckpointLike
from laconic.errors import Parameter, ParameterError
from laconic.kernels.rows import compress
from laconic.losses.factor import CompressedRows, Factor, stacked
from laconic.losses.folding import Explained
from laconic.losses.loop import Callback
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.folding import FixedClasses
from laconic.losses.squared.problems import SquaredProblem
from laconic.models.batches import BatchModel
from laconic.models.prepared import prepared
from laconic.models.state import COMMON, Field
from laconic.models.traits import Traits

if TYPE_CHECKING:
    from laconic.matrices import Weights

Labels = NDArray[Any]

logger = logging.getLogger(__name__)

MANY_CLASSES = 1000
"""More classes than these are told before the fit."""


def _classes(value: Any, model: Any) -> Labels:
    """Stored classes: they decide how many topics there are."""
    classes = as_labels(value)
    if classes.size == 0 or not np.array_equal(np.unique(classes), classes):
        raise ValueError("classes are none, or not sorted, or not different")
    model.classes_ = classes
    model._set_sizes()
    return classes


def _topic_rows(value: Any, model: Any) -> NDArray[np.int64]:
    """Stored rows of topics: every row once."""
    if not isinstance(value, list) or sorted(value) != list(range(model._n_topics)):
        raise ValueError("rows of topics are not each once")
    return np.array(value, np.int64)


class ClassTopicsModel(BatchModel):
    """Base of the models with topics that all classes share and topics of each class.

    Losses know topics by their owners: the shared ones, then those of each class. So does ``components_``
    after a fit. Topics that edits have added come last all the same, so that numbers never move:
    ``topic_rows_`` then says in which row each topic is, in the order of owners.
    """

    # the classes first: they say how many topics there are
    _schema: ClassVar[tuple[Field, ...]] = (
        Field("classes", _classes, stored=lambda classes: classes.tolist()),
        *COMMON,
        Field("topic_rows", _topic_rows, optional=True, stored=lambda rows: rows.tolist()),
    )

    topic_group_ = FormerAttribute("topic_class_", until="0.3")

    n_shared: int
    n_per_class: int | Mapping[Any, int]
    classes_: Labels
    _n_own: tuple[int, ...]

    @property
    def traits(self) -> Traits:
        """With classes."""
        return Traits(classes=True)

    def _loss(self) -> SquaredProblem:
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        engine: Engine | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Self:
        """Find the topics of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms), or Shards
            Preferably tf-idf weights with rows of unit length.
        y : array-like of shape (n_documents,)
            The class of every document: strings or numbers.
        engine, callback, checkpoint : optional
            As for `RLSI`.

        Returns
        -------
        self
            The fitted model.
        """
        return self._fit(X, engine, callback, checkpoint, y=y)

    def _given(self, data: Any, given: dict[str, Any]) -> dict[str, Any]:
        if given["y"] is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give the class of every document."
            )
        self.__dict__.pop("topic_rows_", None)
        labels = as_labels(given["y"])
        if len(labels) != data.n_documents:
            sizes = [data.n_documents, len(labels)]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")
        self.classes_, members = np.unique(labels, return_inverse=True)
        self._set_sizes()
        if len(self.classes_) > MANY_CLASSES:
            logger.warning(
                "%s classes, such as %.40r, for %s documents: each gets its own topics, which takes long; "
                "are these classes, or names of single documents?",
                f"{len(self.classes_):,}",
                str(self.classes_[0]),
                f"{len(labels):,}",
            )
        return {"classes": Classes(members.astype(np.int64), self.n_shared, self._n_own)}

    def _batch_given(self, data: Any, y: Any) -> dict[str, Any]:
        if not self.fitted:
            return self._given(data, {"y": y})
        if "topic_rows_" in vars(self):
            raise ParameterError(
                "topics were added to this model by hand, so that it does not go on with batches: fit it anew"
            )
        known, n_own = self.classes_, self._n_own
        given = self._given(data, {"y": y})
        strange = np.setdiff1d(self.classes_, known)
        present, self.classes_, self._n_own = self.classes_, known, n_own
        if strange.size:
            new = strange.tolist()[0]
            raise ValueError(
                f"the class {new!r} is new, but the first batch must have documents of all classes"
            )
        members = np.searchsorted(known, present)[given["classes"].members]
        return {"classes": Classes(members.astype(np.int64), self.n_shared, n_own)}

    def _batch_widths(self) -> tuple[int, ...]:
        if not any(self._n_own):
            return (self.n_shared,)
        return tuple(self.n_shared + n for n in self._n_own)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Weights:
        """The same as ``fit(X, y).transform(X)``: classes are predicted, so that labels do not leak."""
        return super().fit_transform(X, y, **fit_params)

    def _set_sizes(self) -> None:
        """Number of topics of every class."""
        if isinstance(self.n_per_class, Mapping):
            known = set(self.classes_.tolist())
            unknown = [label for label in self.n_per_class if label not in known]
            missing = [label for label in self.classes_.tolist() if label not in self.n_per_class]
            if unknown or missing:
                wrong = (
                    f"has no class {missing[0]!r}"
                    if missing
                    else f"has {unknown[0]!r}, which no document has"
                )
                raise ValueError(f"n_per_class {wrong}; give a number for every class, or one for all")
            sizes = [self.n_per_class[label] for label in self.classes_.tolist()]
            for label, size in zip(self.classes_.tolist(), sizes, strict=True):
                check_number(f"n_per_class[{label!r}]", size, Integral, 0)
        else:
            sizes = [self.n_per_class] * len(self.classes_)
        self._n_own = tuple(int(size) for size in sizes)
        if self.n_shared == 0 and 0 in self._n_own:
            label = self.classes_.tolist()[self._n_own.index(0)]
            raise ParameterError(
                f"documents of class {label!r} have no topics: ",
                Parameter("n_shared"),
                " or ",
                Parameter("n_per_class"),
                " must be 1 or more",
            )

    def _topics_by_class(self, n_classes: int) -> tuple[int, tuple[int, ...]]:
        if isinstance(self.n_per_class, Mapping):
            return self.n_shared, tuple(self.n_per_class.values())
        return self.n_shared, (self.n_per_class,) * n_classes

    @property
    def topic_class_(self) -> NDArray[np.object_]:
        """The class that owns each topic, "shared" for those of all classes."""
        check_is_fitted(self, "components_")
        owners: list[Any] = ["shared"] * self.n_shared
        for label, n in zip(self.classes_.tolist(), self._n_own, strict=True):
            owners += [label] * n
        return self._by_row(owners)

    def _by_row(self, values: list[Any]) -> NDArray[np.object_]:
        """Values of topics in the order of their owners, in that of ``components_``."""
        found = np.empty(len(values), object)
        found[self._rows_of_topics] = values
        return found

    @property
    def _rows_of_topics(self) -> NDArray[np.int64]:
        """The row of each topic, in the order of owners."""
        rows: NDArray[np.int64] | None = vars(self).get("topic_rows_")
        return np.arange(self._n_topics) if rows is None else rows

    @property
    def owner_numbers(self) -> NDArray[np.int64]:
        """The number of the class that owns each topic, -1 for those of all classes."""
        sizes = [self.n_shared, *self._n_own]
        found = np.empty(sum(sizes), np.int64)
        found[self._rows_of_topics] = np.repeat(np.arange(-1, len(self._n_own)), sizes)
        return found

    def of_owners(self, owners: NDArray[np.int64]) -> Self:
        """The same model, not fitted yet, with a topic for each of these owners."""
        sizes = np.bincount(owners + 1, minlength=1 + len(self.classes_)).tolist()
        own = dict(zip(self.classes_.tolist(), sizes[1:], strict=True))
        alike = len(set(own.values())) == 1
        again: Self = clone(self).set_params(n_shared=sizes[0], n_per_class=sizes[1] if alike else own)
        return again

    def in_order(self, owners: NDArray[np.int64]) -> NDArray[np.int64]:
        """Topics of these owners in the order of a fit: the shared ones, then class by class."""
        return np.argsort(owners, kind="stable")

    def take_topics(self, components: Any, owners: NDArray[np.int64]) -> None:
        """Have these topics, of these owners, in place of those found."""
        super().take_topics(components, owners)
        self._set_sizes()
        rows = self.in_order(owners)
        self.__dict__.pop("topic_rows_", None)
        if (rows != np.arange(len(rows))).any():
            self.topic_rows_ = rows

    def _topic_places(self) -> dict[Any, int]:
        places: dict[Any, int] = super()._topic_places()
        starts = np.concatenate([[0, self.n_shared], self.n_shared + np.cumsum(self._n_own)]).tolist()
        sizes, rows = [self.n_shared, *self._n_own], self._rows_of_topics
        for owner, start, size in zip(["shared", *self.classes_.tolist()], starts, sizes, strict=False):
            for k in range(size):
                places.setdefault((owner, k), int(rows[start + k]))
        return places

    @property
    def topic_owners(self) -> list[str]:
        """The class of every topic, or "shared"."""
        return [str(owner) for owner in self.topic_class_]

    def classes_of(self, X: Any, labels: Any = None) -> Labels:
        """The class of each document: its label where that is a class of the model, else predicted.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
        labels : iterable, optional
            Compared as strings, as corpora have them, also where the model was fitted with numbers.

        Returns
        -------
        ndarray of shape (n_documents,)
            Of `classes_`.
        """
        members = np.full(X.shape[0], -1)
        if labels is not None:
            numbers = {str(label): number for number, label in enumerate(self.classes_.tolist())}
            members[:] = [numbers.get(str(label), -1) for label in labels]
        strange = np.flatnonzero(members < 0)
        if strange.size:
            members[strange] = np.searchsorted(self.classes_, self.predict(X[strange]))
        known: Labels = self.classes_[members]
        return known

    def weights_of(self, X: Any, y: Any = None, *, modality: str | None = None) -> Factor:
        """The weights of documents, of classes that are known or predicted: `transform`."""
        self._columns(modality)
        return self.transform(X, y)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the topics: ``shared0``, ``shared1``, ..., ``sports0``, ...

        An underscore precedes the number (``sports_0``) if some class ends in a digit or is called
        "shared", so that all names differ.
        """
        check_is_fitted(self, "components_")
        labels = [str(label) for label in self.classes_]
        joint = "_" if any(label == "shared" or label[-1:].isdigit() for label in labels) else ""
        names = [f"shared{k}" for k in range(self.n_shared)]
        for label, n in zip(labels, self._n_own, strict=True):
            names += [f"{label}{joint}{k}" for k in range(n)]
        return self._by_row(names)

    def transform(self, X: Any, y: Any = None, *, unknown: str = "error") -> Weights:
        """The weights of documents for the shared topics and those of their class.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
        y : array-like of shape (n_documents,), optional
            The class of every document; predicted if not given.
        unknown : {"error", "auto", "shared"}, default="error"
            What to do with labels in `y` that the model does not know: refuse them, predict the class, or
            use the shared topics alone.

        Returns
        -------
        csr_array of shape (n_documents, n_topics)
            Zero for the topics of other classes (dense if `set_output` asks for data frames).
        """
        return self._output(self._explained(X, y, unknown).weights, sparse=True)

    def predict(self, X: Any) -> Labels:
        """The class of each document: the one whose topics, with the shared ones, explain it best.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray of shape (n_documents,)
            Ties go to the first in `classes_`.
        """
        errors = self.class_errors(X)
        best: Labels = self.classes_[np.argmin(errors, axis=1)]
        return best

    def class_errors(self, X: Any) -> NDArray[np.float64]:
        """How badly the topics of each class, with the shared ones, explain each document.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            The smallest objective of a document for each class of `classes_`: ||x - wC||^2, plus the
            penalty on w if there is one. Classes with more topics have an advantage.
        """
        X = self._check_new(X)
        with self._engine() as engine:
            return self._prepared(X.dtype, engine).errors(X, engine)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the squared norm of X that the topics explain: 1 - ||X - WC||^2 / ||X||^2.

        With the classes `y` if given, else with those predicted. Higher is better, at most 1. (For the
        accuracy of predicted classes, use `predict`.)
        """
        return super().score(X, y)

    def _prepared(self, dtype: Any, engine: Engine) -> FixedClasses:
        loss, sizes = self._loss(), (self.n_shared, self._n_own)
        rows = vars(self).get("topic_rows_")

        def make(components: Any) -> FixedClasses:
            return loss.fold_in_classes(components if rows is None else components[rows], dtype, *sizes)

        found: FixedClasses = prepared(self, dtype, (loss, sizes), make)
        return found

    def _explained(self, X: Any, y: Any = None, unknown: str = "error") -> Explained:
        X = self._check_new(X)
        members = self._members(X, y, unknown)
        starts = np.concatenate([[self.n_shared], self.n_shared + np.cumsum(self._n_own)])
        topics = self._rows_of_topics.astype(np.int32)
        parts, places, loss, energy = [], [], 0.0, 0.0
        with self._engine() as engine:
            classes = self._prepared(X.dtype, engine)
            for p in np.unique(members).tolist():
                rows = np.flatnonzero(members == p)
                if p < 0 and self.n_shared == 0:
                    raise ValueError("unknown='shared' needs shared topics; this model has none")
                own = X if rows.size == X.shape[0] else X[rows]
                W, part_loss, part_energy = classes.of(p).explained(own, engine)
                columns = np.arange(W.shape[1], dtype=np.int32)
                columns[self.n_shared :] += starts[p] - self.n_shared
                columns = topics[columns]
                part = CompressedRows(*compress(W))
                parts.append(part._replace(indices=columns[part.indices]))
                places.append(rows)
                loss, energy = loss + part_loss, energy + part_energy
        W = stacked(parts, self.components_.shape[0])
        if "topic_rows_" in vars(self):
            W.sort_indices()
        if len(parts) > 1:
            W = csr_array(W[np.argsort(np.concatenate(places), kind="stable")])
        return Explained(W, loss, energy)

    def _members(self, X: csr_array, y: Any, unknown: str) -> NDArray[np.int64]:
        """The number of each document's class; -1 stands for no class."""
        check_choice("unknown", unknown, ("error", "auto", "shared"))
        if y is None:
            return np.argmin(self.class_errors(X), axis=1)
        labels = as_labels(y)
        if len(labels) != X.shape[0]:
            check_consistent_length(X, labels)
        numbers = {label: p for p, label in enumerate(self.classes_.tolist())}
        members = np.array([numbers.get(label, -1) for label in labels.tolist()], np.int64)
        strange = np.flatnonzero(members < 0)
        if strange.size and unknown == "error":
            raise ValueError(
                f"the model does not know the class {labels.item(strange[0])!r} (document {strange[0]}, and "
                f"{strange.size} in all): give unknown='auto' to predict it, or 'shared' to use the shared "
                "topics alone"
            )
        if strange.size and unknown == "auto":
            members[strange] = np.argmin(self.class_errors(X[strange]), axis=1)
        return members

    @property
    def _n_topics(self) -> int:
        return self.n_shared + sum(self._n_own)


def as_labels(y: Any) -> Labels:
    """Labels as an array of strings, numbers or bools, all of one kind.

    >>> as_labels(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    # of a list with strings, numpy would make strings of all the others, and "nan" of what is missing
    typed = isinstance(getattr(y, "dtype", None), np.dtype)
    labels = y if typed else np.asarray(y, object)
    if type(labels) is not np.ndarray or labels.ndim != 1:
        labels = column_or_1d(labels, warn=True)
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    elif labels.dtype == object and all(isinstance(label, Real | np.bool_) for label in labels):
        labels = np.array(labels.tolist())
    if labels.dtype.kind not in "bifuU":
        raise ValueError(
            "Unknown label type: labels must be all strings or all numbers; some are missing or of "
            "another type"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("labels must not be NaN or infinite: leave out documents without a label")
    return labels
