"""Sparse latent semantic analysis: sparse topics over an orthonormal basis of documents."""

from __future__ import annotations

from hashlib import sha256
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_choice, check_number
from laconic.engines import Block, Threads, even_blocks
from laconic.kernels.rows import compress
from laconic.models.base import TopicModel, data_hash
from laconic.models.factor import (
    ROWS_PER_BLOCK,
    CompressedRows,
    Factor,
    Projector,
    stacked,
    transposed,
    upright,
    whole_gram,
)
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.shrink import GroupSoft, Soft
from laconic.models.sparse_lsa_starts import shrunk, start
from laconic.models.sparse_lsa_steps import Seen, SparseLSASteps
from laconic.models.squared import checked_energy
from laconic.models.starts import given_topics
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
    n_documents_seen_ : int
        After `partial_fit`: the number of documents that were given to it.

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
    n_documents_seen_: int

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
        return self._run(self._first_steps(X, engine), watch)

    def _first_steps(self, X: csr_array, engine: Threads) -> SparseLSASteps:
        """Where a fit begins."""
        energy = checked_energy(X)
        if self.n_components > X.shape[0]:
            raise ValueError(
                f"n_components={self.n_components} topics need as many documents, but there are only "
                f"n_samples={X.shape[0]}: their columns in U could not be orthogonal"
            )
        self.alpha_topics_ = (
            DEFAULT_ALPHA * float(np.sqrt(energy / X.shape[0]))
            if self.alpha_topics is None
            else float(self.alpha_topics)
        )
        self.groups_ = self._term_groups()
        expanded, shrink = self._expanded(X), self._shrink()
        if isinstance(self.init, str):
            random = check_random_state(self.random_state)
            first = start(self.init, expanded, self.n_components, shrink, random, rotate=self.rotate)
        else:
            given = given_topics(self.init, self.n_components, X, nonnegative=self.nonnegative)
            first = transposed(self._expanded(given))
        return SparseLSASteps(expanded, first, shrink, engine)

    def _next_steps(self, X: csr_array, decay: float, engine: Threads) -> SparseLSASteps:
        """Where a fit goes on with other documents."""
        checked_energy(X)
        if self.n_components != self.components_.shape[0] or not _same_groups(
            self.groups_, self._term_groups()
        ):
            raise ValueError(
                "n_components or groups were changed since the last batch: set them back, or begin again "
                "with a model that is not fitted (sklearn's clone)"
            )
        if self.alpha_topics is not None:
            self.alpha_topics_ = float(self.alpha_topics)
        dtype, shrink = self.components_.dtype, self._shrink()
        if hasattr(self, "seen_products_"):
            products, squares = self.seen_products_, self.seen_squares_
        else:
            products = shrink.stretch(transposed(self._expanded(self.components_))).toarray()
            squares = np.square(products, dtype=np.float64).sum(1)
        # the first topics are those of before, however little that counts now
        first = shrunk(products, shrink)
        seen = Seen(products * dtype.type(np.sqrt(decay)), squares * decay)
        return SparseLSASteps(self._expanded(X).astype(dtype, copy=False), first, shrink, engine, seen)

    def _run(self, steps: SparseLSASteps, watch: Callback | None) -> tuple[Factor, Trace]:
        """Iterate, and take over what goes with the topics found."""
        trace = alternate(steps, steps.engine, max_iter=self.max_iter, tol=self.tol, callback=watch)
        # the basis that goes with the last topics
        steps.restart()
        components = transposed(steps.topics)
        signs = upright(components)
        dtype = components.dtype
        self.whitening_ = (steps.whitening * np.outer(signs, signs)).astype(dtype)
        self.alpha_max_ = float(np.sqrt(steps.squares.max(initial=0)))
        if self.groups_ is not None:
            assert isinstance(steps.shrink, GroupSoft)
            self.group_norms_ = csr_array(steps.shrink.group_norms(steps.topics).T.astype(dtype))
            components = self.groups_.fold(components, self.n_features_in_)
        return components, trace

    def partial_fit(
        self, X: Any, y: Any = None, *, decay: float = 1.0, callback: Callback | None = None
    ) -> Self:
        r"""Go on with another batch of documents, without those before.

        Of the documents before, only :math:`B = U^\top X` is kept, topics × terms: its rows stand for them.
        The objective is then exact for all bases that are made of U for the documents before, whatever they
        are for the new ones; so it says, as a bound from above, how well all documents are explained. The
        first batch is fitted as `fit` does; every batch is iterated until `tol` or `max_iter`. After `fit`,
        which keeps only its topics, they are taken for B: what they do not explain is forgotten.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            The first batch needs as many documents as there are topics. Best drawn at random: topics
            of the first batch are where the others start.
        y : ignored
        decay : float in [0, 1], default=1.0
            What all documents before count for beside one of this batch: 1 forgets nothing, so that the order
            of shuffled batches hardly matters; less follows a stream that changes (with n documents in a
            batch, about n / (1 - decay) of them are remembered). Note that `alpha_topics` is meant for as
            many documents as count; it may be changed between batches.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self
            The model of all documents so far. ``objective_history_`` is that of the last batch.

        Examples
        --------
        >>> import numpy as np
        >>> from laconic import SparseLSA
        >>> X = np.random.default_rng(0).poisson(0.5, (60, 12))
        >>> model = SparseLSA(n_components=3, alpha_topics=0.5, random_state=0)
        >>> for batch in np.split(X, 3):
        ...     model = model.partial_fit(batch)
        >>> model.n_documents_seen_
        60
        """
        self._check_parameters()
        check_number("decay", decay, Real, 0, 1)
        first = not hasattr(self, "components_")
        X = self._check_matrix(X, reset=first)
        with self._engine() as engine, self._watching(callback) as watch:
            steps = self._first_steps(X, engine) if first else self._next_steps(X, decay, engine)
            components, trace = self._run(steps, watch)
            seen = steps.remember()
        # an iteration more or less in a batch is no reason to warn
        self._conclude(components, trace._replace(converged=True))
        self.seen_products_, self.seen_squares_ = seen
        self.n_documents_seen_ = X.shape[0] + getattr(self, "n_documents_seen_", 0)
        own = data_hash(X)
        self.data_hash_ = own if first else sha256((self.data_hash_ + own).encode()).hexdigest()
        return self

    def _term_groups(self) -> TermGroups | None:
        if self.groups is None:
            return None
        return term_groups(self.groups, self.n_features_in_, getattr(self, "feature_names_in_", None))

    def _expanded(self, X: csr_array) -> csr_array:
        """Columns in the order of the groups."""
        return X if self.groups_ is None else self.groups_.expand(X)

    def _shrink(self) -> Soft | GroupSoft:
        groups = self.groups_
        if groups is None:
            return Soft(self.alpha_topics_, self.nonnegative, self.n_features_in_)
        weights = np.sqrt(groups.sizes.astype(np.float64))
        if self.group_weights is not None:
            places = {name: g for g, name in enumerate(groups.names[: groups.n_given])}
            for name, weight in dict(self.group_weights).items():
                if name not in places:
                    raise ValueError(f"group_weights has {name!r}, which is no group")
                check_number(f"group_weights[{name!r}]", weight, Real, 0)
                weights[places[name]] = weight
        return GroupSoft(self.alpha_topics_, self.nonnegative, groups.starts, weights)

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
        project = Projector(transposed(self.components_.astype(X.dtype, copy=False)))
        whitening = self.whitening_.astype(X.dtype, copy=False)

        def solve(rows: Block) -> Any:
            if mode == "project":
                return CompressedRows(*compress(project(X, rows)))
            return project(X, rows) @ whitening

        blocks = even_blocks(X.shape[0], ROWS_PER_BLOCK)
        if mode == "project" and len(blocks) == 1:
            # a document now and then should not wait for threads, and here no BLAS needs to be held to one
            return self._output(stacked(map(solve, blocks), project.topics.shape[1]), sparse=True)
        with self._engine() as engine:
            parts = list(engine.map(solve, blocks))
        if mode == "project":
            return self._output(stacked(parts, project.topics.shape[1]), sparse=True)
        return self._output(np.concatenate(parts), sparse=False)

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
        groups = self.groups_
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
        if self.groups_ is not None:
            state["group_norms"] = self.group_norms_
        if hasattr(self, "seen_products_"):
            state |= {
                "seen_products": self.seen_products_,
                "seen_squares": self.seen_squares_,
                "n_documents_seen": self.n_documents_seen_,
            }
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
        self.groups_ = groups = self._term_groups()
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
        if "seen_products" in state:
            self._restore_seen(state)
        return self

    def _restore_seen(self, state: dict[str, Any]) -> None:
        """What `partial_fit` goes on from."""
        n_terms = self.n_features_in_ if self.groups_ is None else self.groups_.columns.size
        products, squares = state["seen_products"], state["seen_squares"]
        if (
            not isinstance(products, np.ndarray)
            or products.shape != (n_terms, self.n_components)
            or products.dtype != self.components_.dtype
            or not isinstance(squares, np.ndarray)
            or squares.shape != (n_terms,)
            or squares.dtype != np.float64
            or not squares.min(initial=0) >= 0
        ):
            raise ValueError("what is kept of documents does not fit the topics")
        check_number("n_documents_seen", state["n_documents_seen"], Integral, 1)
        self.seen_products_, self.seen_squares_ = products, squares
        self.n_documents_seen_ = int(state["n_documents_seen"])


def _same_groups(one: TermGroups | None, other: TermGroups | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.names == other.names
        and np.array_equal(one.columns, other.columns)
        and np.array_equal(one.starts, other.starts)
    )
