"""The problem that `SparseLSA` poses, at once or batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shards, Threads, even_blocks, release
from laconic.engines.shards import ROWS_PER_BLOCK
from laconic.errors import InPython, Parameter, ParameterError
from laconic.kernels.rows import compress
from laconic.losses.factor import (
    CompressedRows,
    Factor,
    Floats,
    Projector,
    stacked,
    transposed,
    upright,
    whole_gram,
)
from laconic.losses.folding import Explained
from laconic.losses.loop import Found, Patience, alternate
from laconic.losses.memory import Sizes, beyond
from laconic.losses.orthogonal.shrinkage import GroupSoft, Soft
from laconic.losses.orthogonal.starts import first_topics, shrunk
from laconic.losses.orthogonal.steps import OrthogonalSteps, Seen
from laconic.losses.orthogonal.term_groups import TermGroups
from laconic.losses.singular import singular_memory
from laconic.losses.starts import Start, given_topics
from laconic.losses.totals import checked_energy, checked_energy_of

DEFAULT_ALPHA = 0.05


@dataclass(frozen=True)
class Orthogonal:
    """Sparse topics over an orthonormal basis of documents; names and defaults are those of `SparseLSA`."""

    n_topics: int
    alpha_topics: float | None
    nonnegative: bool
    groups: TermGroups | None = field(default=None, compare=False)
    group_weights: Mapping[Any, float] | None = None
    rotate: str | None = None

    whole: ClassVar[bool] = False

    def fit(self, shards: Shards, start: Start, engine: Engine, patience: Patience) -> Found:
        """Find topics × terms."""
        found = self._run(self._first_steps(shards, start, engine), patience)
        engine.each(shards, release, None)
        return found

    def _first_steps(self, shards: Shards, start: Start, engine: Engine) -> OrthogonalSteps:
        energy = checked_energy_of(shards, engine)
        if self.n_topics > shards.n_documents:
            raise ParameterError(
                Parameter("n_components", self.n_topics),
                " needs at least as many documents, but there are only ",
                InPython("n_samples="),
                f"{shards.n_documents}: the columns of U could not be orthogonal",
            )
        alpha = self.alpha_topics
        if alpha is None:
            alpha = DEFAULT_ALPHA * float(np.sqrt(energy / shards.n_documents))
        n_terms, expanded = shards.n_terms, self._expanded_shards(shards)
        shrink = self.shrink(float(alpha), n_terms)
        if start.drawn:
            first = first_topics(expanded, engine, self.n_topics, start, shrink, rotate=self.rotate)
        else:
            given = given_topics(start.init, self.n_topics, n_terms, shards.dtype, self.nonnegative)
            first = transposed(self._expanded(given))
        return OrthogonalSteps(expanded, first, shrink, engine)

    def fit_batch(
        self,
        shards: Shards,
        start: Start | Before,
        engine: Engine,
        patience: Patience,
    ) -> Found:
        """As `fit`, from a start or going on from documents before, with what to keep of all of them."""
        if isinstance(start, Start):
            steps = self._first_steps(shards, start, engine)
        else:
            checked_energy_of(shards, engine)
            shrink = self.shrink(start.alpha, shards.n_terms)
            # the first topics are those of before, however little that counts now
            first = shrunk(start.seen.products[:, : self.n_topics], shrink)
            decay, dtype = start.decay, start.seen.products.dtype
            seen = Seen(start.seen.products * dtype.type(np.sqrt(decay)), start.seen.squares * decay)
            expanded = self._expanded_shards(shards).transformed(partial(_as_type, dtype))
            steps = OrthogonalSteps(expanded, first, shrink, engine, seen)
        found = self._run(steps, patience)
        products, squares = steps.remember()
        return found._replace(facts=found.facts | {"seen_products": products, "seen_squares": squares})

    def stand_ins(self, components: csr_array, alpha: float) -> Seen:
        """Topics as if they were all that is known of documents before."""
        shrink = self.shrink(alpha, components.shape[1])
        products = shrink.stretch(transposed(self._expanded(components))).toarray()
        return Seen(products, np.square(products, dtype=np.float64).sum(1))

    def _run(self, steps: OrthogonalSteps, patience: Patience) -> Found:
        """Iterate, and take over what goes with the topics found."""
        trace = alternate(steps, patience)
        # the basis that goes with the last topics
        steps.restart()
        components = transposed(steps.components)
        signs = upright(components)
        dtype = components.dtype
        facts: dict[str, Any] = {
            "alpha_topics": steps.shrink.alpha,
            "alpha_max": float(np.sqrt(steps.squares.max(initial=0))),
            "whitening": (steps.whitening * np.outer(signs, signs)).astype(dtype),
            "groups": self.groups,
        }
        if self.groups is not None:
            assert isinstance(steps.shrink, GroupSoft)
            norms = steps.shrink.group_norms(steps.components)
            facts["group_norms"] = csr_array(norms.T.astype(dtype))
            components = self.groups.fold(components)
        return Found(components, trace, facts)

    def _expanded_shards(self, shards: Shards) -> Shards:
        """The same for all documents."""
        return shards if self.groups is None else shards.transformed(self.groups.expand)

    def _expanded(self, X: csr_array) -> csr_array:
        """Columns in the order of the groups."""
        return X if self.groups is None else self.groups.expand(X)

    def shrink(self, alpha: float, n_terms: int) -> Soft | GroupSoft:
        """The proximal step of the penalty."""
        groups = self.groups
        if groups is None:
            return Soft(alpha, self.nonnegative, n_terms)
        weights = np.sqrt(groups.sizes.astype(np.float64))
        places = {name: g for g, name in enumerate(groups.names[: groups.n_given])}
        for name, weight in dict(self.group_weights or {}).items():
            if name not in places:
                raise ParameterError(Parameter("group_weights"), f" has {name!r}, which is no group")
            weights[places[name]] = weight
        return GroupSoft(alpha, self.nonnegative, groups.starts, weights)

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """What a fit adds in bytes; topics are taken to be an eighth full."""
        parts = {"documents by columns": sizes.columns, "weights of documents": sizes.weights}
        parts["sums over documents"] = beyond(sizes.norms, parts)
        # before and after an iteration, with their indices
        parts["topics"] = sizes.n_terms * sizes.n_topics * (sizes.itemsize + sizes.index_size) // 4
        parts["lists of terms"] = sizes.lists
        if sizes.svd:
            parts["singular vectors"] = singular_memory(sizes)
            # half full, in parts and joined
            parts["topics of the start"] = beyond(sizes.topics * 2, {"topics": parts["topics"]})
        return parts

    def fold_in(self, components: Factor, dtype: Any, engine: Engine) -> FixedBasis:
        """Prepare topics × terms for documents of a type."""
        return FixedBasis(transposed(components.astype(dtype, copy=False)))


class Before(NamedTuple):
    """Where a batch goes on: what is kept of documents before, what they count for, and the penalty."""

    seen: Seen
    decay: float
    alpha: float


def _as_type(dtype: Any, X: csr_array) -> csr_array:
    return X if X.dtype == dtype else X.astype(dtype)


class FixedBasis:
    """What documents need of topics (terms × topics) that are fixed: a `FoldIn` by least squares."""

    sparse = False

    def __init__(self, topics: Factor) -> None:
        self.topics, self._project = topics, Projector(topics)

    def projected(self, X: csr_array, engine: Engine) -> csr_array:
        """The projections Ax of documents."""
        checked_energy(X)
        work = partial(_compressed_block, self._project, X)
        return stacked(engine.map(work, even_blocks(X.shape[0], ROWS_PER_BLOCK)), self.topics.shape[1])

    def turned(self, X: csr_array, whitening: Floats, engine: Engine) -> Floats:
        """The coordinates of documents in the basis, by G^(-1/2)."""
        checked_energy(X)
        work = partial(_turned_block, self._project, X, whitening.astype(X.dtype, copy=False))
        return np.concatenate(list(engine.map(work, even_blocks(X.shape[0], ROWS_PER_BLOCK))))

    def weights(self, X: csr_array, engine: Engine) -> Floats:
        """The weights that explain documents best."""
        return self.explained(X, engine).weights

    def explained(self, X: csr_array, engine: Engine) -> Explained:
        """The weights that explain documents best, the squared loss, and ||X||^2."""
        energy = checked_energy(X)
        weights = np.zeros((X.shape[0], self.topics.shape[1]), X.dtype)
        work = partial(_explain_rows, self._project, self._inverse, X, weights)
        explained = sum(engine.map(work, even_blocks(X.shape[0], ROWS_PER_BLOCK)), 0.0)
        return Explained(weights, max(0.0, energy - explained), energy)

    @cached_property
    def _inverse(self) -> Floats:
        """Of the Gram matrix. Projections, which are asked for most, do without."""
        # products are as exact as their type, so that smaller parts of the Gram matrix are noise
        exactness = np.finfo(self.topics.dtype).eps
        return np.linalg.pinv(whole_gram(self.topics, Threads(1)), rcond=exactness, hermitian=True)


def _explain_rows(project: Projector, inverse: Floats, X: csr_array, out: Floats, rows: Block) -> float:
    """The least-squares weights of these documents; returns what they explain."""
    products = project(X, rows).astype(np.float64)
    exact = products @ inverse
    out[rows.start : rows.stop] = exact
    return float(np.vdot(products, exact))


def _turned_block(projector: Projector, X: csr_array, whitening: Floats, rows: Block) -> Floats:
    return np.asarray(projector(X, rows) @ whitening)


def _compressed_block(projector: Projector, X: csr_array, rows: Block) -> CompressedRows:
    return CompressedRows(*compress(projector(X, rows)))
