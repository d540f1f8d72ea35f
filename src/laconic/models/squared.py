"""The steps of every model with squared loss: W and C in turn, through S = W'W, R = W'X and G = CC'.

The objective never needs the residual:  ||X - WC||^2 = ||X||^2 - 2<R, C> + <S, G>.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from laconic.engines import Block, Threads, even_blocks
from laconic.kernels.accumulate import gather
from laconic.kernels.rows import inner, split
from laconic.models.factor import (
    ROWS_PER_BLOCK,
    Factor,
    Floats,
    Projector,
    cross_gram,
    explained,
    gram,
    mirrored,
    power_sums,
    scale_topics,
    squared_norm,
    transposed,
    whole_gram,
)
from laconic.models.groups import GroupData, Groups, grouped_rows
from laconic.models.solvers import RowSolver
from laconic.models.topic_steps import TopicStep

SHARED_TERMS_PER_BLOCK = 1024


class GroupBlock(NamedTuple):
    """Some documents, or terms, of a group; None stands for the shared topics."""

    group: int | None
    block: Block


class DocumentShare(NamedTuple):
    """What a block of documents adds: W'W, <X, WC>, and the sums of |w|**power for every topic."""

    group: int
    gram: Floats
    cross: float
    norms: Floats


class _TopicSet:
    """Topics (terms × topics) that are solved together: those of a group, or the shared ones."""

    def __init__(self, topics: Factor, step: TopicStep) -> None:
        self.step = step
        self.topics = topics if step.sparse else topics.toarray()

    def set_gram(self, own: Floats) -> None:
        self.project = Projector(self.topics)
        self.gram = own

    def penalty(self) -> float:
        if self.step.alpha == 0:
            return 0.0
        return self.step.alpha * float(power_sums(self.topics, self.step.power).sum())

    def scale(self, norms: Floats, documents: RowSolver) -> Floats:
        """The factor for every topic, and the inverse for its weights, that makes the penalties least.

        Without penalties, one that keeps both sides about equally large: topics whose weights have nearly
        died could otherwise grow until the others are lost in their rounding.
        """
        scale = np.ones(len(norms))
        free = self.step.alpha == documents.alpha == 0 and not self.step.unit_length
        if not (free or (self.step.alpha > 0 and documents.alpha > 0)):
            return scale
        p, q = self.step.power, documents.power
        weight_side = q * norms * (1.0 if free else documents.alpha)
        topic_side = p * power_sums(self.topics, p) * (1.0 if free else self.step.alpha)
        alive = (weight_side > 0) & (topic_side > 0)
        scale[alive] = (weight_side[alive] / topic_side[alive]) ** (1 / (p + q))
        if free:
            # a power of two rounds nothing, and is mostly one
            scale = np.exp2(np.round(np.log2(scale)))
        scale_topics(self.topics, scale)
        return scale


class SquaredSteps:
    """Documents and topics in turn for  ||X - WC||^2 + penalties; `begin` says which, and from where.

    A document uses the topics of its group and the shared ones. In the topic half the groups come first, each
    with the shared topics fixed, and the shared topics last: then the products of one group at a time are
    enough, and the residual is never formed.

    Topics, unless of length one, are rescaled against weights after each document step, to the scale at which
    the penalties add up to least: without it a badly scaled start can collapse to no topics.

    Inside, terms are ordered by falling frequency, so that the terms of a block use the same documents.

    Parameters
    ----------
    X : csr_array
    groups : Groups
    engine : Threads
    """

    def __init__(self, X: csr_array, groups: Groups, engine: Threads) -> None:
        self.order = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
        self.place = np.empty(X.shape[1], X.indices.dtype)
        self.place[self.order] = np.arange(X.shape[1])
        self.n_terms, self.dtype = X.shape[1], X.dtype
        self.engine = engine
        self.energy = checked_energy(X)
        self.members = groups
        rows = grouped_rows(csr_array((X.data, self.place[X.indices], X.indptr), shape=X.shape), groups)
        single = len(rows) == 1

        def arrange(p: int) -> GroupData:
            return GroupData(rows[p], groups.n_shared, groups.n_own[p], single)

        self.groups = list(engine.map(arrange, range(len(rows))))
        self.document_stages = [
            [GroupBlock(p, block) for p, group in enumerate(self.groups) for block in group.document_blocks]
        ]
        self.term_stages: Sequence[Sequence[GroupBlock]] = [
            [GroupBlock(p, block) for block in group.term_blocks] for p, group in enumerate(self.groups)
        ]
        if groups.n_shared:
            blocks = even_blocks(self.n_terms, SHARED_TERMS_PER_BLOCK)
            self.term_stages.append([GroupBlock(None, block) for block in blocks])
            # filled by the groups, and emptied when the shared topics have been solved
            self._shared_products = np.zeros((self.n_terms, groups.n_shared), X.dtype)

    def begin(
        self,
        components: csr_array,
        documents: RowSolver,
        own: Sequence[TopicStep],
        shared: TopicStep | None = None,
    ) -> None:
        """Set the problem and its first topics (all topics × terms, shared ones first)."""
        self.documents = documents
        topics = transposed(components)[self.order]
        self.own = [
            _TopicSet(csr_array(topics[:, place]), step)
            for place, step in zip(self.members.slices(), own, strict=True)
        ]
        self.shared = None
        if shared is not None:
            self.shared = _TopicSet(csr_array(topics[:, : self.members.n_shared]), shared)
        for group in self.groups:
            group.weights[:] = 0
        self._set_topics()

    def solve_first(self, documents: RowSolver, least: float) -> None:
        """Give documents weights for the first topics, none of them below this share of its largest one."""
        prepared = [documents.prepare(whole, self.dtype) for whole in self.topic_grams]

        def solve(rows: GroupBlock) -> None:
            assert rows.group is not None
            weights = self.groups[rows.group].weights[rows.block.start : rows.block.stop]
            documents.solve(prepared[rows.group], self._products(rows), weights)
            np.maximum(weights, least * weights.max(axis=1, keepdims=True), out=weights)

        for _ in self.engine.map(solve, self.document_stages[0]):
            continue

    @property
    def _sets(self) -> list[_TopicSet]:
        """All topics, shared ones first."""
        return self.own if self.shared is None else [self.shared, *self.own]

    def components(self) -> Factor:
        """All topics as topics × terms, shared ones first, the terms in their own order."""
        parts = [transposed(each.topics[self.place]) for each in self._sets]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else vstack(parts, format="csr")

    def _set_topics(self) -> None:
        """Compute what all documents need of the topics."""
        if len(self.own) == 1:
            self.own[0].set_gram(whole_gram(self.own[0].topics, self.engine))
        if self.shared is not None:
            self.shared.set_gram(whole_gram(self.shared.topics, self.engine))

        def prepare(p: int) -> tuple[Floats, Floats]:
            own = self.own[p]
            if len(self.own) > 1:
                own.set_gram(mirrored(own.topics, gram(own.topics, Block(0, self.n_terms))))
            whole = own.gram
            if self.shared is not None:
                cross = cross_gram(self.shared.topics, own.topics)
                whole = np.block([[self.shared.gram, cross], [cross.T, own.gram]])
            return whole, self.documents.prepare(whole, self.dtype)

        self.topic_grams, self._prepared = zip(*self.engine.map(prepare, range(len(self.own))), strict=True)

    def solve_documents(self, rows: GroupBlock) -> DocumentShare:
        """Fold these documents in."""
        assert rows.group is not None
        products = self._products(rows)
        weights = self.groups[rows.group].weights[rows.block.start : rows.block.stop]
        self.documents.solve(self._prepared[rows.group], products, weights)
        own_gram = weights.T @ weights
        if self.documents.power == 2:
            norms = np.diagonal(own_gram)
        else:
            norms = np.abs(weights).sum(0, dtype=np.float64)
        return DocumentShare(rows.group, own_gram, inner(products, weights), norms)

    def _products(self, rows: GroupBlock) -> Floats:
        """The products of documents with their topics."""
        assert rows.group is not None
        X = self.groups[rows.group].X
        products = self.own[rows.group].project(X, rows.block)
        if self.shared is None:
            return products
        return np.concatenate([self.shared.project(X, rows.block), products], axis=1)

    def reduce_documents(self, shares: Iterable[DocumentShare]) -> float:
        """Add up S, balance the factors, and hand S to the topic steps."""
        widths = [group.weights.shape[1] for group in self.groups]
        self.document_grams = [np.zeros((width, width)) for width in widths]
        norms, cross = [np.zeros(width) for width in widths], 0.0
        for share in shares:
            self.document_grams[share.group] += share.gram
            norms[share.group] += share.norms
            cross += share.cross
        # the loss does not change with the balance: W and C are scaled against each other
        loss = self.energy - 2 * cross + self._fit(self.document_grams, self.topic_grams)
        self._balance(norms)
        self.document_penalty = self.documents.alpha * float(sum(each.sum() for each in norms))
        n_shared = self.members.n_shared
        for own, whole in zip(self.own, self.document_grams, strict=True):
            own.step.begin(whole[n_shared:, n_shared:], self.dtype)
        if self.shared is not None:
            self._begin_shared(self.shared)
        return loss + self.document_penalty + self._topic_penalty()

    def _begin_shared(self, shared: _TopicSet) -> None:
        n_shared = self.members.n_shared
        total = sum(whole[:n_shared, :n_shared] for whole in self.document_grams)
        shared.step.begin(np.asarray(total), self.dtype)
        # Where shared topics have a word, a group may need it with the opposite sign even if none of its
        # documents has it; but not if all weights are positive.
        self._corrected = None
        if not (self.documents.nonnegative and shared.step.nonnegative):
            self._corrected = np.arange(self.n_terms, dtype=self.place.dtype)
            if shared.step.sparse:
                self._corrected = self._corrected[np.diff(shared.topics.indptr) > 0]

    @staticmethod
    def _fit(document_grams: Iterable[Floats], topic_grams: Iterable[Floats]) -> float:
        """||WC||^2."""
        return sum((float(np.vdot(S, G)) for S, G in zip(document_grams, topic_grams, strict=True)), 0.0)

    def _topic_penalty(self) -> float:
        return sum((each.penalty() for each in self._sets), 0.0)

    def _balance(self, norms: list[Floats]) -> None:
        """Multiply topics and divide weights, and all that was computed from them, norms included."""
        n_shared, q = self.members.n_shared, self.documents.power
        common = np.ones(0)
        if self.shared is not None:
            common = self.shared.scale(np.sum([each[:n_shared] for each in norms], axis=0), self.documents)
        scales = [
            np.concatenate([common, own.scale(each[n_shared:], self.documents)])
            for own, each in zip(self.own, norms, strict=True)
        ]
        for p, scale in enumerate(scales):
            self.document_grams[p] /= np.outer(scale, scale)
            norms[p] /= scale**q
        factors = [scale.astype(self.dtype) for scale in scales]

        def divide(rows: GroupBlock) -> None:
            assert rows.group is not None
            self.groups[rows.group].weights[rows.block.start : rows.block.stop] /= factors[rows.group]

        if any((scale != 1).any() for scale in scales):
            for _ in self.engine.map(divide, self.document_stages[0]):
                continue

    def solve_terms(self, columns: GroupBlock) -> Any:
        """Gather the products of these terms and pass them on to the topic step."""
        if columns.group is None:
            return self._solve_shared(columns.block)
        group, own = self.groups[columns.group], self.own[columns.group]
        others = None if self.shared is None else self._corrected
        terms, indptr = group.columns(columns.block, others)
        products = np.empty((terms.size, group.weights.shape[1]), self.dtype)
        gather(indptr, group.indices, group.data, 0, terms.size, group.weights, group.tile, products)
        if self.shared is None:
            return own.step.solve(terms, products, None, own.topics)
        targets = np.empty((terms.size, group.n_own), self.dtype)
        split(products, terms, self._shared_products, targets)
        if group.n_own == 0:
            return None
        known = np.zeros_like(targets)
        explained(self.shared.topics, terms, self._coupling(columns.group).astype(self.dtype), known)
        return own.step.solve(terms, targets, known, own.topics)

    def _solve_shared(self, block: Block) -> Any:
        assert self.shared is not None
        terms = np.arange(block.start, block.stop, dtype=self.place.dtype)
        products = self._shared_products[block.start : block.stop]
        known = np.zeros_like(products)
        for p, own in enumerate(self.own):
            explained(own.topics, terms, self._coupling(p).T.astype(self.dtype, order="C"), known)
        share = self.shared.step.solve(terms, products, known, self.shared.topics)
        products[:] = 0
        return share

    def _coupling(self, p: int) -> Floats:
        """How much the weights of shared topics and of a group's go together."""
        n_shared = self.members.n_shared
        coupling: Floats = self.document_grams[p][:n_shared, n_shared:]
        return coupling

    def reduce_terms(self, stage: int, shares: Iterable[Any]) -> float:
        """Take over the new topics of a group, or the shared ones."""
        if stage == 0:
            self._cross = 0.0
        if stage < len(self.own):
            own = self.own[stage]
            if self.groups[stage].n_own == 0:
                for _ in shares:
                    continue
            else:
                own.topics, cross = own.step.finish(shares, own.topics)
                self._cross += cross
            if self.shared is not None and stage == len(self.own) - 1:
                self._cross += sum(self.engine.map(self._explained_before, range(len(self.own))), 0.0)
        else:
            assert self.shared is not None
            self.shared.topics, cross = self.shared.step.finish(shares, self.shared.topics)
            self._cross += cross
        if stage < len(self.term_stages) - 1:
            return np.nan
        self._set_topics()
        return self._topic_objective()

    def _explained_before(self, p: int) -> float:
        """What was taken off the products of a group, because the shared topics explained it."""
        assert self.shared is not None
        return float(np.vdot(self._coupling(p), cross_gram(self.shared.topics, self.own[p].topics)))

    def _topic_objective(self) -> float:
        """The objective after the topic half step.

        The products that were added up lack what was explained already: those of a group what the shared
        topics explained before the step, those of the shared topics what the groups did after theirs.
        """
        fit = self._fit(self.document_grams, self.topic_grams)
        if self.shared is not None:
            mixed = np.s_[: self.members.n_shared, self.members.n_shared :]
            pairs = zip(self.document_grams, self.topic_grams, strict=True)
            fit -= 2 * sum(float(np.vdot(S[mixed], G[mixed])) for S, G in pairs)
        return self.energy - 2 * self._cross + fit + self.document_penalty + self._topic_penalty()

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        n_alive = sum(int(np.count_nonzero(np.diagonal(each.gram))) for each in self._sets)
        stored = sum(each.topics.size for each in self._sets)  # a sparse array's size: its stored entries
        return n_alive, stored / (self.n_terms * self.members.n_topics)


def checked_energy(X: csr_array) -> float:
    """||X||^2, or an error if products of such numbers would leave the range of their type."""
    with np.errstate(over="ignore"):
        energy = squared_norm(X)
    limits = np.finfo(X.dtype)
    for wrong, what, remedy in (
        (not energy < float(limits.max) ** 0.5, "large", "down"),
        (0 < energy < float(limits.tiny) ** 0.5, "small", "up"),
    ):
        if wrong:
            otherwise = ", or pass it as float64" if X.dtype == np.float32 else ""
            raise ValueError(f"The values of X are too {what} for {X.dtype}: scale X {remedy}{otherwise}.")
    return energy


def fold_in(
    X: csr_array, topics: Factor, documents: RowSolver, engine: Threads
) -> tuple[Floats, float, float]:
    """The weights of documents for fixed topics (terms × topics), the squared loss, and ||X||^2."""
    energy = checked_energy(X)
    topic_gram = whole_gram(topics, engine)
    prepared = documents.prepare(topic_gram, X.dtype)
    project = Projector(topics)
    weights = np.zeros((X.shape[0], topics.shape[1]), X.dtype)

    def solve(rows: Block) -> float:
        products = project(X, rows)
        block = weights[rows.start : rows.stop]
        documents.solve(prepared, products, block)
        exact = block.astype(np.float64)
        return float(np.vdot(exact @ topic_gram, exact)) - 2 * float(inner(products, block))

    loss = sum(engine.map(solve, even_blocks(X.shape[0], ROWS_PER_BLOCK)), 0.0)
    return weights, energy + loss, energy
