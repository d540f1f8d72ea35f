"""Sparse latent semantic analysis: sparse topics over an orthonormal basis of documents."""

from __future__ import annotations

from hashlib import sha256
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_choice, check_number
from laconic.engines import Shards
from laconic.errors import Parameter, ParameterError
from laconic.losses.loop import Callback, Patience
from laconic.losses.memory import Sizes
from laconic.losses.orthogonal.further import FURTHER_PER_TOPIC
from laconic.losses.orthogonal.problem import Before, FixedBasis, Orthogonal
from laconic.losses.orthogonal.steps import Seen
from laconic.losses.orthogonal.term_groups import TermGroups, term_groups
from laconic.losses.starts import Start
from laconic.models.alone import one_at_a_time
from laconic.models.base import TopicModel
from laconic.models.parameters import check_parameters
from laconic.models.state import COMMON, Field, array, number

if TYPE_CHECKING:
    from laconic.matrices import Weights

MODES = ("project", "orthogonal", "lsq")


def _components(value: Any, model: Any) -> csr_array:
    found = COMMON[0].check(value, model)
    if not isinstance(found, csr_array):
        raise ValueError("components are dense, but those of this model are sparse")  # noqa: TRY004
    if model.nonnegative and found.nnz and not found.data.min() >= 0:
        raise ValueError("components are negative, but nonnegative=True")
    return found


def _group_norms(value: Any, model: Any) -> csr_array:
    groups = model.groups_
    if (
        groups is None
        or not isinstance(value, csr_array)
        or value.shape != (model.n_components, len(groups.names))
        or value.dtype.kind != "f"
        or (value.nnz and not value.data.min() >= 0)
    ):
        raise ValueError("the lengths of groups do not fit the groups")
    return value


def _n_columns(model: Any) -> int:
    return int(model.n_features_in_ if model.groups_ is None else model.groups_.columns.size)


def _seen_products(value: Any, model: Any) -> Any:
    if not hasattr(model, "seen_squares_"):
        raise ValueError("seen_squares are missing, which belong to them")
    found = array(lambda m: (_n_columns(m), None))(value, model)
    # models of earlier versions have only the directions of the topics
    least, most = model.n_components, (1 + FURTHER_PER_TOPIC) * model.n_components
    if not least <= found.shape[1] <= most:
        raise ValueError(f"there are {found.shape[1]} directions, not {least} to {most}")
    return found


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
        The weight λ: the larger, the fewer words. Weights are shrunk by exactly λ (the loss has a factor
        1/2). By default 0.05 times the root mean square of the documents' lengths, that is 0.05 for
        documents of unit length.
    nonnegative : bool, default=False
        Whether words of topics must be non-negative.
    groups : array of shape (n_terms,) or mapping of name to terms, optional
        The group of every term, or the terms of every group (their column numbers, or their names if X has
        names). A mapping may leave out terms (each is then its own group), and groups may overlap: a term
        is then copied once per group, its weight in a topic is the sum over the copies, and the loss counts
        it as many times.
    group_weights : mapping of name to float, optional
        The weight :math:`w_g` of groups; by default, and for groups left out, the root of the group's size.
    rotate : {None, "varimax"}, default=None
        With ``init="svd"``: rotate the singular vectors so that their weights are few and large.
    init : {"documents", "svd", "identity"} or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`. "identity": the
        first documents that have words. "svd": singular vectors, which tend to lose topics if there are
        many.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when an iteration lowers the objective by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the start. The same seed gives the same bits for any `n_jobs`.
    n_jobs : int, optional
        Number of threads; by default all cores.
    verbose : int, default=0
        Whether to show the progress of the fit.

    Attributes
    ----------
    components_ : csr_array of shape (n_components, n_terms)
        The topics.
    alpha_topics_ : float
        The penalty used.
    alpha_max_ : float
        Without groups: at this penalty or above, no topics are left.
    whitening_ : ndarray of shape (n_components, n_components)
        Turns the projections of the fitted documents into orthonormal columns.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    n_documents_seen_ : int
        After `partial_fit`: the number of documents it has seen.

    See Also
    --------
    RLSI : Sparse topics without orthogonality.

    Notes
    -----
    U is never formed: an iteration is a pass over the documents, one over the terms, and a K × K
    eigenproblem; its memory is that of documents × topics. A topic that loses all its words restarts from
    the document that the others explain least.

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

    n_documents_seen_: int
    _starts: ClassVar[tuple[str, ...]] = ("documents", "svd", "identity")
    _signs: ClassVar[tuple[bool, ...]] = (False, True)
    _schema = (
        Field("components", _components),
        *COMMON[1:],
        Field("alpha_topics", number(0)),
        Field("alpha_max", number(0)),
        Field("whitening", array(lambda m: (m.n_components, m.n_components))),
        Field("group_norms", _group_norms, optional=True),
        Field(
            "seen_squares", array(lambda m: (_n_columns(m),), nonnegative=True, dtype=float), optional=True
        ),
        Field("seen_products", _seen_products, optional=True),
        Field("n_documents_seen", number(1, kind=Integral), optional=True),
    )

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha_topics: float | None = None,
        nonnegative: bool = False,
        groups: Any = None,
        group_weights: Any = None,
        rotate: Literal["varimax"] | None = None,
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha_topics = alpha_topics
        self.nonnegative = nonnegative
        self.groups = groups
        self.group_weights = group_weights
        self.rotate = rotate
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _loss(self) -> Orthogonal:
        groups = self.groups_ if hasattr(self, "groups_") else self._term_groups()
        return self._problem(groups)

    def _problem(self, groups: TermGroups | None) -> Orthogonal:
        return Orthogonal(
            self.n_components, self.alpha_topics, self.nonnegative, groups, self.group_weights, self.rotate
        )

    def _memory(self, sizes: Sizes) -> dict[str, int]:
        # which terms the groups have is not known before the fit
        parts = self._problem(None).memory(sizes)
        return parts if self.groups is None else parts | {"documents by groups": sizes.matrix}

    def _term_groups(self) -> TermGroups | None:
        if self.groups is None:
            return None
        return term_groups(self.groups, self.n_features_in_, vars(self).get("feature_names_in_"))

    @property
    def topic_penalty(self) -> float | None:
        """The penalty used."""
        check_is_fitted(self, "components_")
        return float(self.alpha_topics_)

    @one_at_a_time
    def partial_fit(
        self, X: Any, y: Any = None, *, decay: float = 1.0, callback: Callback | None = None
    ) -> Self:
        r"""Continue the fit with another batch of documents, without the earlier ones.

        Only :math:`B = U^\top X` is kept of the earlier documents: its rows stand for them. U has the basis
        of the topics and up to as many directions again, those in which documents have most outside of it;
        so B has at most twice as many rows as there are topics. The objective is exact for all bases that
        lie in the span of U for the earlier documents, and arbitrary for the new ones; so it is an upper
        bound for all documents so far. The first batch is fitted as in `fit`; every batch is iterated until
        `tol` or `max_iter`. After `fit`, which keeps only its topics, these serve as B: what they do not
        explain is forgotten.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            The first batch needs as many documents as there are topics. Preferably a random sample: the
            topics of the first batch are the start for the others.
        y : ignored
        decay : float in [0, 1], default=1.0
            How much earlier documents count relative to those of this batch. 1 forgets nothing, so the
            order of shuffled batches hardly matters; less follows a changing stream (with n documents in a
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
        check_parameters(self)
        check_number("decay", decay, Real, 0, 1)
        first = not hasattr(self, "components_")
        shards = Shards.whole(self._check_matrix(X, reset=first))
        if not first:
            self._check_unchanged()
        loss = self._loss()
        start = Start(self.init, self.random_state) if first else self._before(loss, decay)
        with self._engine() as engine, self._watching(callback) as watch:
            found = loss.fit_batch(shards, start, engine, Patience(self.max_iter, self.tol, watch))
        # an iteration more or less in a batch is no reason to warn
        self._conclude(found._replace(trace=found.trace._replace(converged=True)))
        self.n_documents_seen_ = shards.n_documents + getattr(self, "n_documents_seen_", 0)
        own = shards.hash()
        self.data_hash_ = own if first else sha256((self.data_hash_ + own).encode()).hexdigest()
        return self

    def _check_unchanged(self) -> None:
        """Refuse parameters that cannot be changed between batches."""
        same = self.n_components == self.components_.shape[0]
        if not same or not _same_groups(self.groups_, self._term_groups()):
            raise ParameterError(
                Parameter("n_components"),
                " or ",
                Parameter("groups"),
                " have changed since the last batch: restore them, or start again with an unfitted model "
                "(sklearn's clone)",
            )

    def _before(self, loss: Orthogonal, decay: float) -> Before:
        """Where the next batch goes on."""
        alpha = self.alpha_topics_ if self.alpha_topics is None else float(self.alpha_topics)
        if hasattr(self, "seen_products_"):
            return Before(Seen(self.seen_products_, self.seen_squares_), decay, alpha)
        return Before(loss.stand_ins(self.components_, alpha), decay, alpha)

    def transform(self, X: Any, *, mode: str = "project") -> Weights:
        """Describe documents by the topics.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
        mode : {"project", "orthogonal", "lsq"}, default="project"
            "project": Ax as in the paper, sparse. "orthogonal": the coordinates in the basis U; for the
            fitted documents, these are the rows of U. "lsq": the weights that explain the document best;
            only these fit `inverse_transform`.

        Returns
        -------
        csr_array or ndarray of shape (n_documents, n_components)
            Sparse for "project" (dense if `set_output` asks for data frames).
        """
        check_choice("mode", mode, MODES)
        X = self._check_new(X)
        with self._engine() as engine:
            topics: FixedBasis = self._prepared(X.dtype, engine)
            if mode == "project":
                return self._output(topics.projected(X, engine), sparse=True)
            if mode == "orthogonal":
                return self._output(topics.turned(X, self.whitening_, engine), sparse=False)
            return self._output(topics.weights(X, engine), sparse=False)

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
            raise ParameterError(
                "topics with negative weights are not distributions: use ", Parameter("nonnegative", True)
            )
        sums = np.asarray(self.components_.sum(axis=1)).ravel()
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
        owner = np.repeat(np.arange(self.components_.shape[0]), np.diff(self.components_.indptr))
        scaled = self.components_.copy()
        scaled.data = scaled.data * scale[owner]
        return scaled

    def _restore(self, state: dict[str, Any]) -> Self:
        # groups are made of the parameter again; what is stored about them is checked against them
        self.n_features_in_ = int(state["n_features_in"])
        names = state.get("feature_names_in")
        if names is not None:
            self.feature_names_in_ = np.asarray(names, object)
        self.groups_ = self._term_groups()
        super()._restore(state)
        if self.groups_ is not None and not hasattr(self, "group_norms_"):
            raise ValueError("group_norms is missing")
        return self


def _same_groups(one: TermGroups | None, other: TermGroups | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.names == other.names
        and np.array_equal(one.columns, other.columns)
        and np.array_equal(one.starts, other.starts)
    )
