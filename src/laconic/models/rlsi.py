"""Regularised latent semantic indexing, flat and with classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_number
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.problems import DEFAULT_BUDGET, Regularised
from laconic.models.base import TopicModel
from laconic.models.batches import SEEN, BatchModel
from laconic.models.class_topics import ClassTopicsModel
from laconic.models.state import COMMON, Field, number
from laconic.models.traits import Traits
from laconic.steering.anchors import Anchors


def _alpha_topics(value: Any, model: Any) -> float | None:
    if model.topic_norm == "l0":
        return None
    check_number("it", value, Real, 0)
    return float(value)


ALPHAS = (
    Field("alpha_topics", _alpha_topics),
    Field("alpha_docs", number(0)),
    Field("alpha_max", number(0), optional=True),
)
"""The weights of penalties that were used."""


class PenalisedTopics(TopicModel):
    """What RLSI has in common, flat and with classes: topics under a penalty, or a word budget."""

    topic_norm: str
    terms_per_topic: int | None
    nonnegative: bool | str
    alpha_topics_: float | None
    _signs: ClassVar[tuple[bool | str, ...]] = (False, True, "both")

    @property
    def traits(self) -> Traits:
        """Non-negative, if weights of documents are."""
        return replace(super().traits, nonnegative=self.nonnegative == "both")

    @property
    def _positive_topics(self) -> bool:
        return bool(self.nonnegative)

    @property
    def topic_penalty(self) -> float | None:
        """The weight of the penalty on topics that was used; None with a word budget."""
        check_is_fitted(self, "components_")
        return self.alpha_topics_

    @property
    def word_budget(self) -> int | None:
        """How many words a topic may have; None with a penalty."""
        return (self.terms_per_topic or DEFAULT_BUDGET) if self.topic_norm == "l0" else None


class RLSI(PenalisedTopics, BatchModel):
    r"""Regularised latent semantic indexing: sparse topics by penalised least squares.

    With documents as rows of X, the topics C (``components_``) and the documents' weights W minimise

    .. math:: \|X - WC\|^2 + \lambda_1 \|C\|_p^p + \lambda_2 \|W\|_q^q,

    with :math:`\lambda_1` = `alpha_topics`, :math:`\lambda_2` = `alpha_docs`, and p and q = 1 (``"l1"``) or
    2 (``"l2"``), without normalisation. The loss has no factor 1/2, so an l1 penalty of alpha sets entries
    up to alpha / 2 to zero. With ``topic_norm="l0"`` there is a **word budget** instead of the first
    penalty: every topic has length one and at most `terms_per_topic` words.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    topic_norm : {"l1", "l2", "l0"}, default="l1"
        Penalty on the topics. "l1" and "l0" give exact zeros, "l2" dense topics.
    doc_norm : {"l2", "l1"}, default="l2"
        Penalty on the documents' weights. "l1" gives sparse weights.
    alpha_topics : float, optional
        Weight of the penalty on topics. By default, for l1 topics with l2 weights, it is a sixth of the
        penalty at which the median topic of the start would just keep 40 words. For the other norms, or with
        no more terms than that, it is a share of `alpha_max_` (l1 with l2: 1/400, l1 with l1: 1/20,000, l2
        with l2: 1/50, l2 with l1: 1/10,000).
        `alpha_topics_` is the value used. Not for "l0".
    alpha_docs : float, optional
        Weight of the penalty on documents' weights, 0.1 by default. With l1 or l2 topics, both alphas must
        be positive, or both zero. With only one of them zero, its factor could grow and the other shrink
        without end.
    terms_per_topic : int, optional
        The word budget of "l0", 40 by default.
    nonnegative : {False, True, "both"}, default=False
        Whether words of topics must be non-negative; with "both", so must weights of documents, which can
        then be read as shares (`shares`).
    anchors : Anchors, optional
        What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden
        words; see `laconic.steering.Anchors`.
    init : {"svd", "documents"} or array of shape (n_components, n_terms), default="svd"
        Topics to start from. "svd": singular vectors, turned until each has few large words (varimax);
        topics then hardly depend on chance. They use the most frequent terms: 12,000, or 160 for every
        topic, but no more than there are documents, or 4,000 if these are fewer. "documents": distinct
        documents drawn with `random_state`; l1 and l0 topics are then narrowed from many words to few over
        a dozen iterations. With more than 20,000 documents, a sample is used. No start is part of the
        history.
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
    components_ : csr_array or ndarray of shape (n_components, n_terms)
        The topics; dense for "l2", otherwise sparse. A factorisation determines a topic only up to its
        sign; signs are chosen so that large weights are positive.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    n_iter_ : int
        Number of iterations.
    n_alive_ : int
        Number of topics that have words.
    topic_sizes_ : ndarray of shape (n_components,)
        Number of words of each topic; `n_short_` counts topics with one to four words.
    max_cosine_, distinct_terms_ : float
        Largest cosine between two topics, and share of distinct words among all words of the topics.
    data_hash_ : str
        SHA-256 of X, to check whether another model was fitted to the same data.
    alpha_topics_, alpha_docs_ : float
        The values used (`alpha_topics_` is None for "l0").
    alpha_max_ : float
        At this value of `alpha_topics` or above, given `alpha_docs`, no topics are left (with l2 on both
        sides, they tend to zero). Not for "l0".

    Examples
    --------
    >>> from laconic import RLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = RLSI(n_components=2, topic_norm="l0", terms_per_topic=2, random_state=0).fit(X)
    >>> topics = model.topics(["sun", "moon", "salt", "pepper"])
    >>> sorted(sorted(term for term, weight in topic) for topic in topics)
    [['moon', 'sun'], ['pepper', 'salt']]

    References
    ----------
    Wang, Xu, Li, Craswell: Regularized latent semantic indexing, SIGIR 2011.
    """

    _schema = (*COMMON, *ALPHAS, *SEEN)
    _starts: ClassVar[tuple[str, ...]] = ("svd", "documents")

    def __init__(
        self,
        n_components: int = 10,
        *,
        topic_norm: Literal["l1", "l2", "l0"] = "l1",
        doc_norm: Literal["l2", "l1"] = "l2",
        alpha_topics: float | None = None,
        alpha_docs: float | None = None,
        terms_per_topic: int | None = None,
        nonnegative: bool | Literal["both"] = False,
        anchors: Anchors | None = None,
        init: Any = "svd",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.topic_norm = topic_norm
        self.doc_norm = doc_norm
        self.alpha_topics = alpha_topics
        self.alpha_docs = alpha_docs
        self.terms_per_topic = terms_per_topic
        self.nonnegative = nonnegative
        self.anchors = anchors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _loss(self) -> Regularised:
        return Regularised(
            self.topic_norm,
            self.doc_norm,
            self.alpha_topics,
            getattr(self, "alpha_docs_", self.alpha_docs),
            self.terms_per_topic,
            self.nonnegative,
            self.tol,
        )

    def _given(self, data: Any, given: dict[str, Any]) -> dict[str, Any]:
        return {"classes": Classes.single(data.n_documents, self.n_components)}


class GroupRLSI(PenalisedTopics, ClassTopicsModel):
    r"""Regularised latent semantic indexing with topics shared by all classes and topics of each class.

    For the documents :math:`X_p` of every class p, the shared topics :math:`C_0`, the topics :math:`C_p` of
    the class and the documents' weights :math:`H_p, Z_p` minimise

    .. math:: \sum_p \|X_p - H_p C_0 - Z_p C_p\|^2 + \lambda_s \|C_0\|_1 + \lambda_c \sum_p \|C_p\|_1
              + \lambda_2 \sum_p (\|H_p\|^2 + \|Z_p\|^2)

    with :math:`\lambda_c` = `alpha_topics`, :math:`\lambda_s` = `alpha_shared` and :math:`\lambda_2` =
    `alpha_docs`, without normalisation. With ``n_shared=0`` this is an `RLSI` for each class, with
    ``n_per_class=0`` it is one `RLSI`.

    Parameters
    ----------
    n_shared : int, default=5
        Number of topics that documents of all classes may use.
    n_per_class : int or mapping of class to int, default=3
        Number of topics of each class.
    topic_norm : {"l1", "l2", "l0"}, default="l1"
        Penalty on the topics, or the word budget "l0", as for `RLSI`.
    alpha_topics : float, optional
        Weight of the penalty on the topics of classes; by default as for `RLSI`.
    alpha_shared : float, optional
        Weight of the penalty on shared topics; by default the same.
    alpha_docs : float, optional
        Weight of the squared norm of the documents' weights, 0.1 by default.
    terms_per_topic : int, optional
        The word budget of "l0", 40 by default.
    nonnegative : {False, True, "both"}, default=False
        Whether words of topics must be non-negative; with "both", so must weights of documents.
    scale_by_class_size : bool, default=False
        Whether the penalty on the topics of a class grows with its number of documents; `alpha_topics` is
        then the penalty for a class of average size. Otherwise topics of small classes have fewer words.
    anchors : Anchors, optional
        What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden
        words; see `laconic.steering.Anchors`.
    init : "documents" or array of shape (n_topics, n_terms), default="documents"
        Topics to start from, shared ones first, then those of each class in the order of `classes_`.
        "documents": shared topics start from documents of all classes, the others from documents of their
        own class.
    max_iter, tol, random_state, n_jobs, verbose
        As for `RLSI`.

    Attributes
    ----------
    components_ : csr_array or ndarray of shape (n_topics, n_terms)
        Shared topics first, then those of each class in the order of `classes_`.
    classes_ : ndarray
        The classes, sorted.
    topic_class_ : ndarray of shape (n_topics,)
        The class of each topic, or "shared".
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    alpha_topics_, alpha_docs_, alpha_max_ : float
        As for `RLSI`.

    See Also
    --------
    GroupNMF : The same with non-negative factors and no penalties.

    Examples
    --------
    >>> from laconic import GroupRLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 1], [0, 0, 1, 2], [1, 0, 2, 1]]
    >>> model = GroupRLSI(n_shared=1, n_per_class=1, alpha_topics=0.1, random_state=0)
    >>> model = model.fit(X, ["sky", "sky", "sea", "sea"])
    >>> model.get_feature_names_out()
    array(['shared0', 'sea0', 'sky0'], dtype=object)
    >>> model.predict([[1, 1, 0, 0]])
    array(['sky'], dtype='<U3')

    References
    ----------
    Wang, Cao, Xu, Li: Group matrix factorization for scalable topic modeling, SIGIR 2012.
    """

    _schema = (*ClassTopicsModel._schema, *ALPHAS, *SEEN)

    def __init__(
        self,
        n_shared: int = 5,
        n_per_class: int | Mapping[Any, int] = 3,
        *,
        topic_norm: Literal["l1", "l2", "l0"] = "l1",
        alpha_topics: float | None = None,
        alpha_shared: float | None = None,
        alpha_docs: float | None = None,
        terms_per_topic: int | None = None,
        nonnegative: bool | Literal["both"] = False,
        scale_by_class_size: bool = False,
        anchors: Anchors | None = None,
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_shared = n_shared
        self.n_per_class = n_per_class
        self.topic_norm = topic_norm
        self.alpha_topics = alpha_topics
        self.alpha_shared = alpha_shared
        self.alpha_docs = alpha_docs
        self.terms_per_topic = terms_per_topic
        self.nonnegative = nonnegative
        self.scale_by_class_size = scale_by_class_size
        self.anchors = anchors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _loss(self) -> Regularised:
        return Regularised(
            self.topic_norm,
            "l2",
            self.alpha_topics,
            getattr(self, "alpha_docs_", self.alpha_docs),
            self.terms_per_topic,
            self.nonnegative,
            self.tol,
            self.alpha_shared,
            self.scale_by_class_size,
        )
