"""The steps of every model with squared loss: W and C in turn, through S = W'W, R = W'X and G = CC'.

The objective never needs the residual:  ||X - WC||^2 = ||X||^2 - 2<R, C> + <S, G>.

The coordinator keeps topics and Gram matrices, and sends messages; the functions of `shares` run on shards
and on blocks of terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from laconic.engines import Engine, Shards, even_rows, weighted_blocks
from laconic.engines.classes import by_class
from laconic.losses.anchoring import Anchoring, seeded_topics, settle
from laconic.losses.factor import (
    Factor,
    Floats,
    Projector,
    cross_gram,
    explained,
    power_sums,
    scale_topics,
    tile_rows,
    transposed,
    whole_gram,
)
from laconic.losses.squared.before import Before, anchored
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.rows import RowSolver
from laconic.losses.squared.seen import Seen
from laconic.losses.squared.shares import (
    ClassTopics,
    DocumentMessage,
    DocumentShare,
    First,
    TermMessage,
    allot_by_class,
    class_products,
    collect_products,
    solve_documents,
    solve_terms,
)
from laconic.losses.squared.topics import BudgetTopics, TopicStep
from laconic.losses.totals import (
    above_rounding,
    by_falling_frequency,
    checked_energy_of,
    document_frequencies,
)
from laconic.storage.forms import Form, Maybe, Numbers

# A block of terms goes through the weights tile by tile. Blocks are heavy enough to make good use of a tile,
# and light enough to keep several threads busy.
TERMS_PER_BLOCK = 512
# Of few topics, a block may have more terms: there is less to do for each.
ENTRIES_PER_BLOCK = 1 << 16
PASSES_PER_BLOCK = 8
# With classes, most documents of a term are of other classes, so that its part of each is light.
TERMS_PER_CLASS_BLOCK = 8192


class _TopicSet:
    """Topics (terms × topics) that are solved together: those of a class, or the shared ones."""

    def __init__(self, topics: Factor, step: TopicStep, before: Before | None) -> None:
        self.step, self.before = step, before
        if before is not None:
            topics = before.begun(topics)
        self.topics = topics if step.sparse else topics.toarray()

    @property
    def entries(self) -> Floats:
        """The numbers that are stored."""
        return self.topics if isinstance(self.topics, np.ndarray) else self.topics.data

    def set_gram(self, own: Floats, order: NDArray[Any]) -> None:
        self.project = Projector(self.topics, order)
        self.gram = own

    def penalty(self) -> float:
        """What the topics add to the objective: their penalty, and how far they are from their anchors."""
        held = 0.0 if self.before is None else self.before.loss(self.topics, self.gram)
        if self.step.alpha == 0:
            return held
        return held + self.step.alpha * float(power_sums(self.topics, self.step.power).sum())

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
        sums = np.diagonal(self.gram) if p == 2 else power_sums(self.topics, p)
        topic_side = p * sums * (1.0 if free else self.step.alpha)
        alive = (weight_side > 0) & (topic_side > 0)
        scale[alive] = (weight_side[alive] / topic_side[alive]) ** (1 / (p + q))
        if free:
            # a power of two rounds nothing, and is mostly one
            scale = np.exp2(np.round(np.log2(scale)))
        if self.before is not None:
            scale[self.before.held] = 1
        if (scale != 1).any():
            scale_topics(self.topics, scale)
        return scale


class Place(NamedTuple):
    """Topics of all sets (terms × topics), and what the weights of each class are still to be divided by."""

    topics: list[Factor]
    scales: list[Floats | None]


class SquaredSteps:
    """Documents and topics in turn for  ||X - WC||^2 + penalties; `begin` says which, and from where.

    A document uses the topics of its class and the shared ones. In the topic half the classes come first,
    each with the shared topics fixed, and the shared topics last. Terms are independent, so a block of terms
    goes through all classes and then the shared topics, and neither R nor the residual is ever whole.

    Topics, unless of length one, are rescaled against weights after each document step, to the scale at which
    the penalties add up to least: without it a badly scaled start can collapse to no topics. The weights
    stay as they are: what they are to be divided by goes with the next messages.

    Blocks are made of terms of about the same frequency, so that the terms of a block use the same documents;
    where there are few documents, of terms that are neighbours.
    With classes, terms are also called by their rank inside, as documents are copied anyway.

    Parameters
    ----------
    shards : Shards
        With classes, they are cut again, so that each is of one class.
    classes : Classes
    engine : Engine
    anchors : Anchoring, optional
        What is known of the topics: where they are held, and words that they may not have.
    seen : Seen, optional
        Sums over documents of earlier batches, whose weights are scaled against topics, too.
    """

    def __init__(
        self,
        shards: Shards,
        classes: Classes,
        engine: Engine,
        anchors: Anchoring | None = None,
        seen: Seen | None = None,
    ) -> None:
        self.classes, self.engine, self.anchors = classes, engine, anchors
        self.collection = shards
        """The documents as they were given, with their own numbers of terms."""
        self.n_terms, self.dtype = shards.n_terms, shards.dtype
        self.energy = checked_energy_of(shards, engine) + (0.0 if seen is None else seen.energy)
        frequencies = document_frequencies(shards, engine)
        if anchors is not None:
            # words of anchors are solved, too, where no document has them
            frequencies = np.maximum(
                frequencies, np.bincount(anchors.targets.indices, minlength=self.n_terms) > 0
            )
        if seen is not None:
            frequencies = np.maximum(frequencies, seen.terms)
        order = by_falling_frequency(frequencies)
        self.n_used_terms = order.size
        self._order, self._names = order, None
        if len(classes.n_own) > 1:
            # documents are copied anyway: call terms by their rank, so that those of a block are neighbours
            self._names = np.argsort(-frequencies, kind="stable")
            self._places = np.argsort(self._names)
            shards = by_class(shards, engine, classes.members, len(classes.n_own), self._places)
            frequencies, self._order = frequencies[self._names], np.arange(order.size)
        self.shards, self._frequencies = shards, frequencies
        self.seen = None if seen is None else seen.called(self._names)
        self.allot()

    def allot(self) -> None:
        """Make room for the weights."""
        widths = [self.classes.n_shared + n for n in self.classes.n_own]
        self.engine.each(self.shards, allot_by_class, widths)

    def begin(
        self,
        components: csr_array,
        documents: RowSolver,
        own: Sequence[TopicStep],
        shared: TopicStep | None = None,
        first: First | None = None,
    ) -> None:
        """Set the problem and its first topics (all topics × terms, shared ones first)."""
        self.solver = documents
        topics = transposed(components)
        if self._names is not None:
            topics = csr_array(topics[self._names])
        self.own = [
            self._topic_set(topics, place, step)
            for place, step in zip(self.classes.slices(), own, strict=True)
        ]
        self.shared = None
        if shared is not None:
            self.shared = self._topic_set(topics, slice(0, self.classes.n_shared), shared)
        self.blocks = self._blocks()
        self._first = first
        # at the start, all weights are zero, whatever they were before
        self._scales: list[Floats | None] = [np.full(1, np.inf, self.dtype) for _ in self.own]
        self._set_topics()

    def state(self) -> dict[str, Any]:
        """Topics, what their steps know, and what weights are still to be divided by."""
        return {
            "topics": [each.topics for each in self._sets],
            "steps": [each.step.state() for each in self._sets],
            "scales": list(self._scales),
        }

    def form(self) -> dict[str, Form]:
        """The same sets of topics, and a factor for every weight of a class, where there are any."""
        widths = [len(gram) for gram in self.topic_grams]
        return {
            "topics": [
                Numbers(each.topics.shape, self.dtype, sparse=each.step.sparse) for each in self._sets
            ],
            "steps": [each.step.form() for each in self._sets],
            "scales": [Maybe(Numbers((width,), self.dtype, least=0)) for width in widths],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there; `begin` has posed the problem."""
        for each, known in zip(self._sets, state["steps"], strict=True):
            each.step.restore(known)
        self._first = None
        self.go_to(Place(state["topics"], state["scales"]))

    def place(self) -> Place:
        """Where the steps are, but for the weights."""
        return Place([each.topics for each in self._sets], list(self._scales))

    def go_to(self, place: Place) -> None:
        """Go on from other topics, which now belong to the steps."""
        for each, topics in zip(self._sets, place.topics, strict=True):
            each.topics = topics
        self._scales = list(place.scales)
        self._set_topics()

    def scale_before(self, before: list[Factor]) -> None:
        """Scale topics that were put aside before the last document step as it has scaled those of now."""
        n_shared = self.classes.n_shared
        for p, (each, scale) in enumerate(zip(self.own, self._scales, strict=True)):
            if scale is not None:
                scale_topics(before[self._sets.index(each)], scale[n_shared:])
                if p == 0 and self.shared is not None:
                    scale_topics(before[0], scale[:n_shared])

    def held(self) -> tuple[str, ...]:
        """Weights that the next ones begin from; those in closed form begin from nothing."""
        return () if self.solver.closed_form else ("weights",)

    def _blocks(self) -> list[NDArray[Any]]:
        """Blocks of terms, each sorted."""
        order, most = self._order, TERMS_PER_BLOCK
        width = self.classes.n_shared + max(self.classes.n_own)
        if len(self.own) > 1:
            most = TERMS_PER_CLASS_BLOCK
        elif not any(each.step.coupled for each in self._sets):
            most = max(most, ENTRIES_PER_BLOCK // max(1, width))
            if max(len(shard.documents) for shard in self.shards) <= tile_rows(width, self.dtype):
                # one tile has all weights, so that what counts is that a block's columns are neighbours
                order = np.sort(order)
        ends = np.concatenate([[0], np.cumsum(self._frequencies[order])])
        blocks = weighted_blocks(ends, most, PASSES_PER_BLOCK * max(1, self.shards.n_documents))
        return [np.sort(order[block.start : block.stop]) for block in blocks]

    def _topic_set(self, topics: csr_array, place: slice, step: TopicStep) -> _TopicSet:
        before = None
        if self.anchors is not None:
            sizes = self.energy, self.classes.n_topics
            before = anchored(self.anchors, place, *sizes, self._names, step.unit_length)
        return _TopicSet(csr_array(topics[:, place]), step, before)

    def seeded(self, topics: csr_array) -> csr_array:
        """Topics × terms to begin with; those that are held are sums of documents with their words."""
        if self.anchors is None or self.anchors.held.size == 0:
            return topics
        rows = self.anchors.held
        owners = np.full(self.classes.n_topics, -1)
        for klass, place in enumerate(self.classes.slices()):
            owners[place] = klass
        targets = csr_array(self.anchors.targets[rows])
        if self._names is not None:
            targets = csr_array(targets[:, self._names])
        found = seeded_topics(self.shards, self.engine, targets, owners[rows])
        if self._names is not None:
            found = csr_array(found[:, self._places])
        own = [slice(0, self.classes.n_shared), *self.classes.slices()]
        begun = self.anchors.permitted(found, rows)
        return settle(self.shards, self.engine, topics, rows, begun, own, self._names)

    @property
    def anchored_topics(self) -> NDArray[np.bool_]:
        """Topics that keep their sign, as they are anchored."""
        parts = [
            np.zeros(each.topics.shape[1], bool) if each.before is None else each.before.held
            for each in self._sets
        ]
        return np.concatenate(parts)

    @property
    def _sets(self) -> list[_TopicSet]:
        """All topics, shared ones first."""
        return self.own if self.shared is None else [self.shared, *self.own]

    def components(self) -> Factor:
        """All topics as topics × terms, shared ones first."""
        own_names = slice(None) if self._names is None else self._places
        parts = [transposed(each.topics[own_names]) for each in self._sets]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else vstack(parts, format="csr")

    def _set_topics(self) -> None:
        """Compute what all documents need of the topics."""
        if len(self.own) == 1:
            self.own[0].set_gram(whole_gram(self.own[0].topics, self.engine), self._order)
        if self.shared is not None:
            self.shared.set_gram(whole_gram(self.shared.topics, self.engine), self._order)

        def prepare(own: _TopicSet) -> tuple[Floats, Floats]:
            if len(self.own) > 1:
                own.set_gram(whole_gram(own.topics), self._order)
            whole = own.gram
            if self.shared is not None:
                cross = cross_gram(self.shared.topics, own.topics)
                whole = np.block([[self.shared.gram, cross], [cross.T, own.gram]])
            return whole, self.solver.prepare(whole, self.dtype)

        self.topic_grams, self._prepared = zip(*self.engine.map(prepare, self.own), strict=True)

    def documents(self) -> float:
        """Fold all documents in, add up S, and balance the factors."""
        message = self._document_message()
        shares = self.engine.documents(self.shards, solve_documents, message, even_rows)
        self._first = None
        empty = DocumentShare(0.0, 0.0, 0.0)
        shares = [empty if share is None else share for share in shares]
        self.document_grams = [
            np.zeros_like(G) + share.gram for G, share in zip(self.topic_grams, shares, strict=True)
        ]
        norms = [np.zeros(len(G)) + share.norms for G, share in zip(self.topic_grams, shares, strict=True)]
        cross = sum(share.cross for share in shares)
        if self.seen is not None:
            cross += self._add_seen(self.seen, norms)
        # the loss does not change with the balance: W and C are scaled against each other
        loss = self._difference(cross)
        self._balance(norms)
        self.document_penalty = self.solver.alpha * float(sum(each.sum() for each in norms))
        return loss + self.document_penalty + self._topic_penalty()

    def _add_seen(self, seen: Seen, norms: list[Floats]) -> float:
        """Add the sums over documents that are gone; returns their <R, C>."""
        cross = 0.0
        for p, own in enumerate(self.own):
            self.document_grams[p] += seen.grams[p]
            norms[p] += seen.norms[p]
            cross += seen.cross(p, None if self.shared is None else self.shared.topics, own.topics)
        return cross

    def all_seen(self) -> Seen:
        """The sums over all documents, those of before included, for the topics that were found."""
        self.documents()
        message = self.term_message()
        products = [np.zeros((self.n_terms, len(gram)), self.dtype) for gram in self.document_grams]
        found = self.engine.terms(self.shards, self.blocks, class_products, collect_products, message)
        for block, parts in zip(self.blocks, found, strict=True):
            for whole, part in zip(products, parts, strict=True):
                if part is not None:
                    whole[block[part.places]] = part.rows
        if self._names is not None:
            products = [np.ascontiguousarray(each[self._places]) for each in products]
        return Seen(list(self.document_grams), products, self._norms, self.energy)

    def _document_message(self) -> DocumentMessage:
        first = self._first
        needs = [
            ClassTopics(
                None if self.shared is None else self.shared.project,
                own.project,
                prepared,
                scale,
                None if first is None else first.documents.prepare(whole, self.dtype),
            )
            for own, prepared, whole, scale in zip(
                self.own, self._prepared, self.topic_grams, self._scales, strict=True
            )
        ]
        return DocumentMessage(needs, self.solver, first)

    def _fit(self) -> float:
        """||WC||^2."""
        pairs = zip(self.document_grams, self.topic_grams, strict=True)
        return sum((float(np.vdot(S, G)) for S, G in pairs), 0.0)

    def _topic_penalty(self) -> float:
        return sum((each.penalty() for each in self._sets), 0.0)

    def _balance(self, norms: list[Floats]) -> None:
        """Multiply topics, and divide all that was computed from weights, norms included, against them."""
        self._norms = norms
        n_shared, q = self.classes.n_shared, self.solver.power
        common = np.ones(0)
        if self.shared is not None:
            common = self.shared.scale(np.sum([each[:n_shared] for each in norms], axis=0), self.solver)
        for p, own in enumerate(self.own):
            scale = np.concatenate([common, own.scale(norms[p][n_shared:], self.solver)])
            self.document_grams[p] /= np.outer(scale, scale)
            norms[p] /= scale**q
            if self.seen is not None:
                self.seen.scale(p, scale, q)
            self._scales[p] = scale.astype(self.dtype) if (scale != 1).any() else None

    def topics(self) -> float:
        """Solve for all topics, block of terms by block of terms."""
        for each in self._sets:
            if isinstance(each.step, BudgetTopics) and each.step.bars is None:
                self._set_bars()
        while True:
            message = self.term_message()
            found = self.engine.terms(self.shards, self.blocks, class_products, solve_terms, message)
            for block in found:
                for each, part in zip(self._in_turn, block, strict=True):
                    if part is not None:
                        each.step.take(part, each.topics)
            cross = self._finish()
            if cross is not None:
                break
        self._set_topics()
        return self._difference(cross) + self.document_penalty + self._topic_penalty()

    def _difference(self, cross: float) -> float:
        """||X - WC||^2, of which `cross` is the inner product of X and WC."""
        return above_rounding(self.energy - 2 * cross + self._fit(), self.energy, self.dtype)

    @property
    def _in_turn(self) -> list[_TopicSet]:
        """All topics in the order in which they are solved."""
        return self.own if self.shared is None else [*self.own, self.shared]

    def term_message(self) -> TermMessage:
        """What blocks of terms need, after the document half."""
        n_shared = self.classes.n_shared
        own = [
            each.step.part(whole[n_shared:, n_shared:], each.topics, each.before)
            if each.topics.shape[1]
            else None
            for each, whole in zip(self.own, self.document_grams, strict=True)
        ]
        seen = None if self.seen is None else self.seen.products
        if self.shared is None:
            return TermMessage(own, None, self._scales, [], None, None, seen)
        total = np.sum([whole[:n_shared, :n_shared] for whole in self.document_grams], axis=0)
        shared = self.shared.step.part(total, self.shared.topics, self.shared.before)
        return TermMessage(
            own,
            shared,
            self._scales,
            self._couplings(),
            self._corrected(self.shared),
            self.shared.topics,
            seen,
        )

    def _couplings(self) -> list[Floats]:
        """How much the weights of shared topics and of each class's go together."""
        n_shared = self.classes.n_shared
        return [
            np.ascontiguousarray(whole[:n_shared, n_shared:], self.dtype) for whole in self.document_grams
        ]

    def _corrected(self, shared: _TopicSet) -> NDArray[np.bool_] | None:
        """Where shared topics have a word, a class may need it with the opposite sign.

        Also if none of its documents has it; but not if all weights are positive.
        """
        if self.solver.nonnegative and shared.step.nonnegative:
            return None
        if not shared.step.sparse:
            return np.ones(self.n_terms, bool)
        return np.diff(shared.topics.indptr) > 0

    def _finish(self) -> float | None:
        """Take over the new topics; returns <R, C>, or None if the blocks have to be asked again."""
        found, cross = [], 0.0
        couplings = [] if self.shared is None else self._couplings()
        for p, own in enumerate(self.own):
            if own.topics.shape[1] == 0:
                found.append(own.topics)
                continue
            finished = own.step.finish(own.topics)
            if finished is None:
                return None
            found.append(finished[0])
            cross += finished[1]
            if self.shared is not None and own.step.coupled:
                # the blocks took this off the products
                before = cross_gram(self.shared.topics, finished[0])
                cross += float(np.vdot(self.document_grams[p][: len(before), len(before) :], before))
        if self.shared is not None:
            known = None
            if self.shared.step.coupled:
                known = partial(explained_by_all, found, [coupling.T for coupling in couplings])
            finished = self.shared.step.finish(self.shared.topics, known)
            if finished is None:
                return None
            self.shared.topics = finished[0]
            cross += finished[1]
        for own, topics in zip(self.own, found, strict=True):
            own.topics = topics
        return cross

    def _set_bars(self) -> None:
        """Ask the most frequent terms how large products are, twice as many terms as a topic may have words.

        Among all terms, the largest ones are no smaller.
        """
        wanted = 2 * max(each.step.budget for each in self._sets if isinstance(each.step, BudgetTopics))
        count = int(np.searchsorted(np.cumsum([block.size for block in self.blocks]), wanted)) + 1
        parts: list[list[Floats]] = [[] for _ in self._in_turn]
        blocks, message = self.blocks[:count], self.term_message()
        for found in self.engine.terms(self.shards, blocks, class_products, solve_terms, message):
            for sizes, part in zip(parts, found, strict=True):
                if part is not None:
                    sizes.append(part)
        for each, sizes in zip(self._in_turn, parts, strict=True):
            assert isinstance(each.step, BudgetTopics)
            each.step.expect(np.concatenate([np.zeros((0, each.topics.shape[1])), *sizes]))

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        n_alive = sum(int(np.count_nonzero(np.diagonal(each.gram))) for each in self._sets)
        words = sum(int(np.count_nonzero(each.entries)) for each in self._sets)
        return n_alive, words / (self.n_terms * self.classes.n_topics)


def explained_by_all(topics: Sequence[Factor], couplings: Sequence[Floats], terms: NDArray[Any]) -> Floats:
    """What the topics of all classes explain of the shared ones' products at some terms."""
    total = np.zeros((terms.size, couplings[0].shape[1]), topics[0].dtype)
    for each, coupling in zip(topics, couplings, strict=True):
        total += explained(each, terms, coupling)
    return total
