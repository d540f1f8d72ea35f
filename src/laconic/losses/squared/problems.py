"""The problems with squared loss that models pose: penalised topics (RLSI), and non-negative ones (NMF)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Engine, Shards, release
from laconic.losses.anchoring import Anchoring
from laconic.losses.factor import Factor, transposed, upright, without_rounding
from laconic.losses.loop import Found, Patience, Trace, alternate, precision
from laconic.losses.memory import Sizes, beyond
from laconic.losses.singular import singular_memory
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.folding import FixedClasses, FixedTopics, fixed
from laconic.losses.squared.penalties import SHARE, Lasting, alpha_max
from laconic.losses.squared.rows import NARROW, Descent, Multiplicative, Ridge, RowSolver
from laconic.losses.squared.seen import Seen
from laconic.losses.squared.shares import First
from laconic.losses.squared.sooner import Extrapolated
from laconic.losses.squared.starts import (
    ALPHA_DOCS,
    NARROWING,
    SETTLING,
    WIDEST,
    budgets,
    drawn_topics,
    most_terms,
    narrow,
    sampled_sizes,
    singular_topics,
)
from laconic.losses.squared.steps import SquaredSteps
from laconic.losses.squared.topics import SeparableTopics, TopicStep
from laconic.losses.starts import Start, given_topics, unit_budget
from laconic.losses.totals import term_sums
from laconic.storage.forms import Number

# Documents are folded in to the end, not until the patience of a warm-started iteration runs out.
SWEEPS_FIT, SWEEPS_TRANSFORM = 200, 10_000
DEFAULT_BUDGET = 40
# Rows of NMF are warm-started and need not be solved in full in any iteration. It does not even pay: where
# each side is fitted to the other in full too soon, the optimum that is found is often a worse one.
SWEEPS_NMF = 1
# Multiplicative updates never leave zero, so at the start every word of the collection gets a little weight
# in every topic; every topic gets one in each document, an equal one unless topics are given.
FLOOR = 0.01
# Non-negative topics, before an iteration, after it, ahead, and joined of blocks: full, as they may be at
# first; or half full, with their indices.
TOPIC_COPIES = 5
# A sample is collected from shards, joined, and reduced to some terms.
SAMPLE_COPIES = 3


class SquaredProblem:
    """Base: the fit, and folding documents in. A problem says where it starts and how rows are solved."""

    whole: ClassVar[bool] = False
    tol: float

    def fit(
        self,
        shards: Shards,
        start: Start,
        engine: Engine,
        patience: Patience,
        *,
        classes: Classes,
        anchors: Anchoring | None = None,
        seen: Seen | None = None,
        remember: bool = False,
    ) -> Found:
        """Find topics × terms; of a batch, `seen` are those before, and what to `remember` is a fact."""
        classes = classes.simplified()
        steps = SquaredSteps(shards, classes, engine, anchors, seen)
        trace, facts = self._begin(steps, start, patience)
        if not trace.interrupted:
            # sums of before are scaled with the weights, and cannot go back
            trace = alternate(steps if seen is not None else self._paced(steps), patience)
        now_seen = steps.all_seen() if remember else None
        engine.each(steps.shards, release, None)
        components = self._finished(steps.components())
        signs = upright(components, steps.anchored_topics)
        if now_seen is not None:
            facts["seen"] = now_seen.turned(signs, classes.n_shared)
        return Found(components, trace, facts)

    def _paced(self, steps: SquaredSteps) -> SquaredSteps | Extrapolated:
        """The steps as they are alternated, once they have begun."""
        return steps

    def _finished(self, components: Factor) -> Factor:
        """Topics × terms as users get them."""
        return components

    def _begin(self, steps: SquaredSteps, start: Start, patience: Patience) -> tuple[Trace, dict[str, Any]]:
        """Begin the steps at their first topics; tells how finding those went, and what was settled."""
        raise NotImplementedError

    def documents(self, max_sweeps: int, dtype: Any) -> RowSolver:
        """How weights are found when topics are fixed."""
        raise NotImplementedError

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """What a fit adds in bytes."""
        parts = {"documents by columns": sizes.columns, "weights of documents": sizes.weights}
        if self._keeps_weights(sizes.itemsize):
            parts["weights of documents"] *= 2
        if len(sizes.n_own) > 1:
            parts["documents by class"] = sizes.matrix
        parts |= {"topics": self._topics_memory(sizes), "lists of terms": sizes.lists}
        before_topics = {"topics": parts["topics"]}
        # to draw a start from, when columns and weights are there already
        parts["sums over documents"] = beyond(sizes.norms, before_topics)
        if sizes.svd:
            few = sampled_sizes(sizes)
            most = most_terms(sizes.n_topics, sizes.n_documents)
            of_few_terms = few._replace(n_terms=min(few.n_terms, most))
            taken = 0 if few == of_few_terms == sizes else SAMPLE_COPIES * few.matrix
            parts["a sample"] = beyond(taken, {"documents": sizes.columns})
            parts["singular vectors"] = beyond(singular_memory(of_few_terms), before_topics)
            parts["topics of the start"] = beyond(TOPIC_COPIES * of_few_terms.topics, before_topics)
        return parts

    def _keeps_weights(self, itemsize: int) -> bool:
        """Whether steps may come back to weights, which are kept until then."""
        return False

    def _topics_memory(self, sizes: Sizes) -> int:
        """Dense topics: before an iteration, after it and ahead, and their transpose in the end."""
        return 4 * sizes.topics

    def fold_in(self, components: Factor, dtype: Any, engine: Engine) -> FixedTopics:
        """Prepare topics × terms for documents of a type."""
        topics = transposed(components.astype(dtype, copy=False))
        return fixed(topics, self.documents(SWEEPS_TRANSFORM, dtype), engine)

    def fold_in_classes(
        self, components: Factor, dtype: Any, n_shared: int, n_own: Sequence[int]
    ) -> FixedClasses:
        """The same where some topics are shared and the others of classes."""
        places = Classes(np.zeros(0, np.int64), n_shared, tuple(n_own)).slices()
        solver = self.documents(SWEEPS_TRANSFORM, dtype)
        return FixedClasses(components.astype(dtype, copy=False), n_shared, places, solver)


@dataclass(frozen=True)
class Regularised(SquaredProblem):
    """Penalties on topics and weights, or a word budget; names and defaults are those of `RLSI`."""

    topic_norm: str
    doc_norm: str
    alpha_topics: float | None
    alpha_docs: float | None
    terms_per_topic: int | None
    nonnegative: bool | str
    """False, True (topics) or "both" (weights of documents, too)."""
    tol: float
    alpha_shared: float | None = None
    scale_by_class_size: bool = False

    def _begin(self, steps: SquaredSteps, start: Start, patience: Patience) -> tuple[Trace, dict[str, Any]]:
        facts = self._settled(steps)
        trace = Trace([])
        classes, n_terms, dtype = steps.classes, steps.n_terms, steps.dtype
        budget = min(self.terms_per_topic or DEFAULT_BUDGET, n_terms)
        needs_alpha = self.topic_norm != "l0" and facts["alpha_topics"] is None
        singular = start.drawn and start.init == "svd"
        # a penalty that only accompanies given topics is not left to chance
        random = (start if start.drawn else start._replace(random_state=0)).random()
        if singular:
            topics = steps.seeded(singular_topics(steps, random))
            most = budget if self.topic_norm == "l0" else min(WIDEST * budget, n_terms)
            topics = unit_budget(topics, most, self._one_signed)
        elif start.drawn:
            topics = drawn_topics(steps.collection, steps.engine, classes, random)
            topics = steps.seeded(unit_budget(topics, n_terms, self._one_signed))
        elif needs_alpha:
            # of the given topics: those that are drawn would depend on the order of the documents
            topics = given_topics(start.init, classes.n_topics, n_terms, dtype, self._one_signed)
            topics = unit_budget(topics, n_terms, self._one_signed)
        if needs_alpha or (start.drawn and not singular and self.topic_norm != "l2"):
            lasting = Lasting(facts["alpha_docs"], self._one_signed) if needs_alpha else None
            n_steps = SETTLING if singular else NARROWING
            trace, topics, alpha = narrow(
                steps, topics, budget, self._one_signed, lasting, patience, random, n_steps
            )
            # a fit that is stopped while topics are still wide keeps to its budget, too
            topics = unit_budget(topics, budget, self._one_signed)
            if lasting is not None:
                least = SHARE[self.topic_norm, self.doc_norm] * facts["alpha_max"]
                facts["alpha_topics"] = patience.note("alpha_topics", lambda: alpha or least, Number(0))
        if not start.drawn:
            topics = given_topics(start.init, classes.n_topics, n_terms, dtype, self._one_signed)
            if self.topic_norm == "l0":
                topics = unit_budget(topics, budget, self._one_signed)
        own: Sequence[TopicStep]
        shared: TopicStep | None
        if self.topic_norm == "l0":
            own, shared = budgets(steps, budget, self._one_signed)
        else:
            alphas, alpha_shared = self._alphas(classes, facts["alpha_topics"])
            own = [SeparableTopics(self._penalty(alpha, dtype)) for alpha in alphas]
            shared = SeparableTopics(self._penalty(alpha_shared, dtype)) if classes.n_shared else None
        steps.begin(topics, self.documents(SWEEPS_FIT, dtype), own, shared)
        return trace, facts

    def _paced(self, steps: SquaredSteps) -> SquaredSteps | Extrapolated:
        # Under a word budget, topics ahead would save a fifth of the time to the same objective, but fewer of
        # them come back from other documents, and weights would have to be kept (docs/performance-topics.md).
        return steps if self.topic_norm == "l0" else Extrapolated(steps, nonnegative=self._one_signed)

    @property
    def _one_signed(self) -> bool:
        """Whether topics have positive words alone."""
        return bool(self.nonnegative)

    def _settled(self, steps: SquaredSteps) -> dict[str, Any]:
        """The weights of the penalties, but for what depends on the start."""
        alpha_docs = ALPHA_DOCS if self.alpha_docs is None else float(self.alpha_docs)
        facts: dict[str, Any] = {"alpha_docs": alpha_docs, "alpha_topics": None}
        if self.topic_norm == "l0":
            return facts
        if alpha_docs == 0:
            return facts | {"alpha_topics": 0.0}
        most = alpha_max(steps.shards, steps.engine, self.topic_norm, self.doc_norm, alpha_docs)
        facts["alpha_max"] = most
        if self.alpha_topics is not None:
            facts["alpha_topics"] = float(self.alpha_topics)
        elif (self.topic_norm, self.doc_norm) != ("l1", "l2") or steps.n_terms <= DEFAULT_BUDGET:
            # of few terms, topics of the start keep all, and so do not say what they could do without
            facts["alpha_topics"] = SHARE[self.topic_norm, self.doc_norm] * most
        return facts

    def _topics_memory(self, sizes: Sizes) -> int:
        if self.topic_norm == "l2":
            return super()._topics_memory(sizes)
        # the products of candidates, of blocks, joined, in order and by topic: for the widest topics of the
        # start, that is most of it all
        budget = self.terms_per_topic or DEFAULT_BUDGET
        together = (sizes.n_shared, *sizes.n_own)
        n_rows = [min(sizes.n_terms, 2 * WIDEST * budget * n_topics) for n_topics in together]
        return 4 * sizes.itemsize * sum(rows * n for rows, n in zip(n_rows, together, strict=True))

    def _keeps_weights(self, itemsize: int) -> bool:
        return self.topic_norm != "l0" and not self.documents(1, np.dtype(f"f{itemsize}")).closed_form

    def _alphas(self, classes: Classes, alpha_topics: float) -> tuple[list[float], float]:
        """The weight of the penalty on the topics of every class, and on the shared ones."""
        shared = alpha_topics if self.alpha_shared is None else float(self.alpha_shared)
        if classes.merged:
            return [shared], shared
        sizes = classes.sizes
        relative = sizes / sizes.mean() if self.scale_by_class_size else np.ones(sizes.size)
        return [alpha_topics * float(size) for size in relative], shared

    def documents(self, max_sweeps: int, dtype: Any) -> RowSolver:
        """How weights are found when topics are fixed."""
        alpha = ALPHA_DOCS if self.alpha_docs is None else float(self.alpha_docs)
        nonnegative = self.nonnegative == "both"
        if self.doc_norm == "l2" and not nonnegative:
            return Ridge(alpha)
        return Descent(
            alpha,
            power=1 if self.doc_norm == "l1" else 2,
            nonnegative=nonnegative,
            precision=precision(self.tol, dtype),
            max_sweeps=max_sweeps,
        )

    def _penalty(self, alpha: float, dtype: Any) -> RowSolver:
        power = 1 if self.topic_norm == "l1" else 2
        if power == 2 and not self._one_signed:
            return Ridge(alpha)
        return Descent(
            alpha,
            power=power,
            nonnegative=self._one_signed,
            precision=precision(self.tol, dtype),
            max_sweeps=SWEEPS_FIT,
        )


@dataclass(frozen=True)
class NonNegative(SquaredProblem):
    """Everything non-negative, no penalties: `NMF` by coordinate descent (HALS) or multiplicative updates."""

    solver: str
    tol: float

    def _begin(self, steps: SquaredSteps, start: Start, patience: Patience) -> tuple[Trace, dict[str, Any]]:
        shards, engine, classes, dtype = steps.collection, steps.engine, steps.classes, steps.dtype
        if start.drawn and start.init == "svd":
            topics = steps.seeded(singular_topics(steps, start.random()))
        elif start.drawn:
            topics = steps.seeded(drawn_topics(shards, engine, classes, start.random()))
        else:
            topics = given_topics(start.init, classes.n_topics, steps.n_terms, dtype, nonnegative=True)
        solver = self.documents(SWEEPS_NMF, dtype)
        if self.solver == "mu":
            solver = Multiplicative()
            if start.drawn:
                mean = (term_sums(shards, engine) / shards.n_documents).astype(dtype)
                topics = csr_array(topics.toarray() + FLOOR * mean)
            if steps.anchors is not None:
                # what is zero stays zero
                topics = csr_array(topics + FLOOR * steps.anchors.targets)
        dense = classes.n_topics <= NARROW
        own = [SeparableTopics(solver, dense=dense) for _ in classes.n_own]
        shared = SeparableTopics(solver, dense=dense) if classes.n_shared else None
        exact = self.documents(SWEEPS_NMF if start.drawn and self.solver == "cd" else SWEEPS_FIT, dtype)
        least = 0.0 if self.solver == "cd" else 1.0 if start.drawn else FLOOR
        steps.begin(topics, solver, own, shared, First(exact, least))
        return Trace([]), {}

    def _paced(self, steps: SquaredSteps) -> SquaredSteps | Extrapolated:
        return Extrapolated(steps, nonnegative=True) if self.solver == "cd" else steps

    def _finished(self, components: Factor) -> Factor:
        """Without zeros, and without what rounding leaves of them."""
        return components if self.solver == "mu" else without_rounding(components)

    def _topics_memory(self, sizes: Sizes) -> int:
        if self.solver == "mu":
            # a start without zeros goes through sparse form
            return 10 * sizes.topics
        return TOPIC_COPIES * sizes.topics

    def _keeps_weights(self, itemsize: int) -> bool:
        return self.solver == "cd"

    def documents(self, max_sweeps: int, dtype: Any) -> RowSolver:
        """Non-negative least squares."""
        exactness = precision(self.tol, dtype)
        return Descent(0.0, power=2, nonnegative=True, precision=exactness, max_sweeps=max_sweeps)
