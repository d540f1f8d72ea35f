"""Sparse latent semantic analysis: sparse topics over an orthonormal basis of documents."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_choice, check_number
from laconic.engines import Block, Threads, even_blocks
from laconic.models.base import TopicModel
from laconic.models.factor import (
    ROWS_PER_BLOCK,
    Factor,
    Projector,
    squared_norms,
    transposed,
    upright,
    whole_gram,
)
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.shrink import GroupSoft, Soft
from laconic.models.sparse_lsa_steps import SparseLSASteps
from laconic.models.squared import checked_energy
from laconic.models.starts import document_topics, given_topics
from laconic.models.term_groups import TermGroups, term_groups

DEFAULT_ALPHA = 0.05
MODES = ("project", "orthogonal", "lsq")


class SparseLSA(TopicModel):
    r"""Sparse latent semantic analysis.

    With documents as rows of X, the sparse topics A (``components_``) and the orthonormal columns of U
    minimise

    .. math:: \tfrac12 \|X - UA\|^2 + \lambda \sum_{k,m} |a_{km}| \quad\text{with}\quad U^\top U = I.

    With `groups`, the penalty is :math:`\lambda \sum_k \sum_g w_g \|a_{kg}\|`, so that a topic takes or
    leaves whole groups of terms. A new document x is described by its projection Ax, which is sparse as well.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics, at most the number of documents.
    alpha_topics : float, optional
        The weight λ: the more, the fewer words. Weights are shrunk by exactly λ (the loss has a half). By
        default 0.05 times the root mean square of the documents' lengths; so it is 0.05 for documents of
        length one.
    nonnegative : bool, default=False
        Whether all topics' weights have to be positive.
    groups : array of shape (n_terms,) or mapping of name to terms, optional
        The group of every term, or the terms of every group (their column numbers, or their names if X has
        names). A mapping may leave out terms (each is then a group of its own), and groups may overlap: a
        term is then taken as often as it is in groups, and the topic's weight of the term is the sum over its
        copies. The loss counts such a term as often.
    group_weights : mapping of name to float, optional
        The weight :math:`w_g` of groups; by default, and for groups left out, the root of the group's size.
    init : {"documents", "svd", "identity"} or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`. "identity": the first
        documents that have words. "svd": singular vectors, which lose topics if there are many.
    rotate : {None, "varimax"}, default=None
        With ``init="svd"``: turn the singular vectors so that their weights are few and large.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-4
        Stop when an iteration lowers the objective by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the start. The same seed gives the same bits, whatever `n_jobs` is.
    n_jobs : int, optional
        Number of threads; by default all cores.
    verbose : int, default=0
        Whether to show the progress of the fit.

    Attributes
    ----------
    components_ : csr_array of shape (n_components, n_terms)
        The topics.
    alpha_topics_ : float
        The weight of the penalty that was used.
    alpha_max_ : float
        Without groups: from this weight on there are no topics at all.
    whitening_ : ndarray of shape (n_components, n_components)
        What turns the projections of the documents fitted into orthonormal columns.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.

    See Also
    --------
    RLSI : Sparse topics without orthogonality.

    Notes
    -----
    U is never formed: an iteration is one pass over the documents and an eigenproblem of the size of the
    topics, and its memory is that of topics × terms. A topic that loses all its words is given to the
    document that the others explain least.

    Examples
    --------
    >>> from laconic import SparseLSA
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = SparseLSA(n_components=2, alpha_topics=0.5, random_state=0).fit(X)
    >>> model.transform([[1, 1, 0, 0]]).nnz
    1

    References
    ----------
    Chen, Qi, Bai, Lin, Carbonell: Sparse latent semantic analysis, SDM 2011.
    """

    def __init__(
        self,
        n_components: int = 10,
        alpha_topics: float | None = None,
        *,
        nonnegative: bool = False,
        groups: Any = None,
        group_weights: Any = None,
        init: Any = "documents",
        rotate: str | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha_topics = alpha_topics
        self.nonnegative = nonnegative
        self.groups = groups
        self.group_weights = group_weights
        self.init = init
        self.rotate = rotate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _starts = ("documents", "svd", "identity")

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, Integral, 1)
        super()._check_parameters()
        if self.alpha_topics is not None:
            check_number("alpha_topics", self.alpha_topics, Real, 0)
        check_choice("nonnegative", self.nonnegative, (False, True))
        check_choice("rotate", self.rotate, (None, "varimax"))
        if self.rotate is not None and not (isinstance(self.init, str) and self.init == "svd"):
            raise ValueError("rotate goes with init='svd'")
        if self.group_weights is not None and self.groups is None:
            raise ValueError("group_weights without groups: give the groups as well")

    def _fit_topics(
        self, X: csr_array, y: Any, engine: Threads, watch: Callback | None
    ) -> tuple[Factor, Trace]:
        checked_energy(X)
        if self.n_components > X.shape[0]:
            raise ValueError(
                f"n_components={self.n_components} topics need as many documents, but there are only "
                f"n_samples={X.shape[0]}: their columns in U could not be orthogonal"
            )
        by_document, by_term = squared_norms(X)
        self.alpha_topics_ = (
            DEFAULT_ALPHA * float(np.sqrt(by_document.mean()))
            if self.alpha_topics is None
            else float(self.alpha_topics)
        )
        groups = self._term_groups()
        self.alpha_max_ = float(np.sqrt(by_term.max(initial=0)))
        expanded = X if groups is None else groups.expand(X)
        shrink = self._shrink(X.shape[1], groups)
        first = self._first_topics(expanded, X, groups)
        if isinstance(self.init, str):
            first = _shrunk(first, shrink)
        steps = SparseLSASteps(expanded, first, shrink, engine)
        trace = alternate(steps, engine, max_iter=self.max_iter, tol=self.tol, callback=watch)
        # the basis that goes with the last topics
        steps.restart()
        components = transposed(steps.topics)
        signs = upright(components)
        self.whitening_ = (steps.whitening * np.outer(signs, signs)).astype(X.dtype)
        if groups is not None:
            assert isinstance(shrink, GroupSoft)
            self.group_norms_ = csr_array(shrink.group_norms(steps.topics).T.astype(X.dtype))
            components = groups.fold(components, X.shape[1])
        return components, trace

    def _term_groups(self) -> TermGroups | None:
        if self.groups is None:
            return None
        return term_groups(self.groups, self.n_features_in_, getattr(self, "feature_names_in_", None))

    def _shrink(self, n_terms: int, groups: TermGroups | None) -> Soft | GroupSoft:
        if groups is None:
            return Soft(self.alpha_topics_, self.nonnegative, n_terms)
        weights = np.sqrt(groups.sizes.astype(np.float64))
        if self.group_weights is not None:
            places = {name: g for g, name in enumerate(groups.names[: groups.n_given])}
            for name, weight in dict(self.group_weights).items():
                if name not in places:
                    raise ValueError(f"group_weights has {name!r}, which is no group")
                check_number(f"group_weights[{name!r}]", weight, Real, 0)
                weights[places[name]] = weight
        return GroupSoft(self.alpha_topics_, self.nonnegative, groups.starts, weights)

    def _first_topics(self, expanded: csr_array, X: csr_array, groups: TermGroups | None) -> csr_array:
        """Terms × topics, before they are shrunk."""
        random, n_topics = check_random_state(self.random_state), self.n_components
        if not isinstance(self.init, str):
            given = given_topics(self.init, n_topics, X, nonnegative=self.nonnegative)
            return transposed(given if groups is None else csr_array(given[:, groups.columns]))
        if self.init == "documents":
            drawn = document_topics(expanded, n_topics, random)
            # as long as documents are: at length one, those of a collection of short ones would start too
            # large
            return transposed(drawn * _typical_length(expanded))
        if self.init == "identity":
            with_words = np.flatnonzero(squared_norms(expanded)[0])[:n_topics]
            rows = csr_array(expanded[with_words])
            rows.resize((n_topics, expanded.shape[1]))
            return transposed(rows)
        _, values, right = randomized_svd(expanded, min(n_topics, *expanded.shape), random_state=random)
        loads = (right * values[:, None]).T
        if self.rotate == "varimax":
            loads = loads @ varimax(loads)
        if self.nonnegative:
            loads = loads * np.where(np.maximum(loads, 0).sum(0) < np.maximum(-loads, 0).sum(0), -1, 1)
        full = np.zeros((expanded.shape[1], n_topics), X.dtype)
        full[:, : loads.shape[1]] = loads
        return csr_array(full)

    def transform(self, X: Any, *, mode: str = "project") -> Factor:
        """Describe documents by the topics.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
        mode : {"project", "orthogonal", "lsq"}, default="project"
            "project": Ax, the paper's, sparse. "orthogonal": the coordinates in the basis U, which for the
            documents fitted are the rows of U. "lsq": the weights that explain the document best; only these
            are for `inverse_transform`.

        Returns
        -------
        csr_array or ndarray of shape (n_documents, n_components)
            Sparse for "project" (dense if `set_output` asks for data frames).
        """
        check_choice("mode", mode, MODES)
        X = self._check_new(X)
        if mode == "lsq":
            return self._output(self._least_squares(X)[0], sparse=False)
        checked_energy(X)
        components = self.components_.astype(X.dtype, copy=False)
        projected = csr_array(X @ components.T)
        if mode == "project":
            projected.sort_indices()
            return self._output(projected, sparse=True)
        return self._output(np.asarray(projected @ self.whitening_.astype(X.dtype)), sparse=False)

    def _fold_in(self, X: Any, y: Any = None) -> tuple[Any, float, float]:
        return self._least_squares(self._check_new(X))

    def _least_squares(self, X: csr_array) -> tuple[Any, float, float]:
        """The weights that explain documents best, the squared loss, and ||X||^2."""
        energy = checked_energy(X)
        topics = transposed(self.components_.astype(X.dtype, copy=False))
        project = Projector(topics)
        weights = np.zeros((X.shape[0], topics.shape[1]), X.dtype)
        with self._engine() as engine:
            # products are as exact as their type, so that smaller parts of the Gram matrix are noise
            inverse = np.linalg.pinv(whole_gram(topics, engine), rcond=np.finfo(X.dtype).eps, hermitian=True)

            def solve(rows: Block) -> float:
                products = project(X, rows).astype(np.float64)
                exact = products @ inverse
                weights[rows.start : rows.stop] = exact
                return float(np.vdot(products, exact))

            explained = sum(engine.map(solve, even_blocks(X.shape[0], ROWS_PER_BLOCK)), 0.0)
        return weights, max(0.0, energy - explained), energy

    @property
    def _sparse_weights(self) -> bool:
        return True

    def group_table(self, topic: int) -> list[tuple[Any, float, int]]:
        """The groups that a topic has taken, the heaviest first.

        Parameters
        ----------
        topic : int
            The number of the topic.

        Returns
        -------
        list of (name, float, int)
            The group, the length of its weights, and its number of terms.
        """
        check_is_fitted(self, "components_")
        groups = self._term_groups()
        if groups is None:
            raise ValueError("the model has no groups of terms: give them to SparseLSA(groups=...)")
        row = self.group_norms_[[topic]]
        order = np.argsort(-row.data, kind="stable")
        return [
            (groups.names[g], float(weight), int(groups.sizes[g]))
            for g, weight in zip(row.indices[order], row.data[order], strict=True)
        ]

    def probabilities(self) -> csr_array:
        """Non-negative topics scaled to sum to one, as if they were distributions over the terms."""
        check_is_fitted(self, "components_")
        if not self.nonnegative:
            raise ValueError("topics with negative weights are no distributions: use nonnegative=True")
        sums = np.asarray(self.components_.sum(axis=1)).ravel()
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
        owner = np.repeat(np.arange(self.components_.shape[0]), np.diff(self.components_.indptr))
        scaled = self.components_.copy()
        scaled.data = scaled.data * scale[owner]
        return scaled

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()
        state |= {
            "alpha_topics": self.alpha_topics_,
            "alpha_max": self.alpha_max_,
            "whitening": self.whitening_,
        }
        if self.groups is not None:
            state["group_norms"] = self.group_norms_
        return state

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        for name in ("alpha_topics", "alpha_max"):
            check_number(name, state[name], Real, 0)
            setattr(self, name + "_", state[name])
        if not isinstance(self.components_, csr_array):
            raise ValueError("components are dense, but those of this model are sparse")  # noqa: TRY004
        if self.nonnegative and self.components_.nnz and not self.components_.data.min() >= 0:
            raise ValueError("components are negative, but nonnegative=True")
        whitening = state["whitening"]
        square = (self.n_components, self.n_components)
        if not isinstance(whitening, np.ndarray) or whitening.shape != square or whitening.dtype.kind != "f":
            raise ValueError("the whitening matrix does not fit the topics")
        self.whitening_ = whitening
        groups = self._term_groups()
        if groups is not None:
            norms = state["group_norms"]
            if (
                not isinstance(norms, csr_array)
                or norms.shape != (self.n_components, len(groups.names))
                or norms.dtype.kind != "f"
                or (norms.nnz and not norms.data.min() >= 0)
            ):
                raise ValueError("the lengths of groups do not fit the groups")
            self.group_norms_ = norms
        return self


def _typical_length(X: csr_array) -> Any:
    """The root mean square of the lengths of documents that are not empty."""
    by_document, _ = squared_norms(X)
    used = by_document[by_document > 0]
    return X.dtype.type(np.sqrt(used.mean()) if used.size else 1)


def _shrunk(topics: csr_array, shrink: Soft | GroupSoft) -> csr_array:
    """Topics (terms × topics) after the penalty's step."""
    parts = [
        csr_array(shrink(np.ascontiguousarray(topics[block.start : block.stop].toarray()), block))
        for block in shrink.blocks
    ]
    return csr_array(vstack(parts, format="csr"))


def varimax(loads: NDArray[Any], *, max_iter: int = 100, tol: float = 1e-6) -> NDArray[np.float64]:
    """The rotation of columns that makes the squares of the loads vary most."""
    loads = loads.astype(np.float64)
    rotation, before = np.eye(loads.shape[1]), 0.0
    for _ in range(max_iter):
        turned = loads @ rotation
        left, values, right = np.linalg.svd(loads.T @ (turned**3 - turned * np.square(turned).mean(0)))
        rotation = left @ right
        if values.sum() <= before * (1 + tol):
            break
        before = values.sum()
    return rotation
