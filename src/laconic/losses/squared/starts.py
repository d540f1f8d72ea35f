"""Where the fits of models with squared loss begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from laconic.engines import Engine, Shard, Shards, even_blocks, weighted_blocks
from laconic.kernels.columns import count_columns
from laconic.losses.anchoring import placed
from laconic.losses.factor import Floats, compressed
from laconic.losses.loop import Patience, Trace, alternate
from laconic.losses.memory import Sizes
from laconic.losses.rotation import pieces, varimax
from laconic.losses.singular import basis_width, singular_vectors
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.penalties import Lasting
from laconic.losses.squared.rows import Ridge
from laconic.losses.squared.steps import SquaredSteps
from laconic.losses.squared.topics import BudgetTopics
from laconic.losses.starts import document_topics, with_words
from laconic.losses.totals import by_falling_frequency

# The start narrows the topics from many words to few over this many iterations: topics that begin wide find
# their place before they have to choose their words, and fewer of them end as a word or two.
NARROWING = 12
# Singular vectors have found their place, and are narrowed only for the penalty that suits them.
SETTLING = 2
WIDEST = 9
ALPHA_DOCS = 0.1
# Where there are more documents than this, and than so many for every topic, a start is made of a sample.
SAMPLE, SAMPLE_PER_TOPIC = 20_000, 20
# To narrow topics that began as documents, fewer do as well (measured on 20newsgroups); singular vectors of
# fewer come back less often.
SAMPLE_TO_NARROW = 8_000
# A start looks at the most frequent terms: so many, or so many for every topic, and no more than there are
# documents. Rarer ones hardly move a topic, and they are most of a vocabulary. Measured on halves of six
# collections (docs/performance-topics.md): words come back as often, and NPMI is as high or higher.
TERMS, TERMS_PER_TOPIC = 12_000, 160
FEWEST_TERMS = 4_000
# Singular vectors have at most so many entries, all together.
ENTRIES = 1 << 25
# Singular vectors are turned by the loads of so many terms, the largest, or so many for every topic. With
# four times as many, nearly the same words are found in three times the time.
LOADS, LOADS_PER_TOPIC = 500, 25
# Until the criterion hardly grows; with few terms it costs nothing to go on.
TURNED, TURNED_FEW = 1e-5, 1e-12
# Topics that are made of vectors at a time.
TOPICS_AT_ONCE = 32
# Entries of documents that are taken over at a time.
ENTRIES_AT_ONCE = 1 << 18


def drawn_topics(
    shards: Shards, engine: Engine, classes: Classes, random: np.random.RandomState
) -> csr_array:
    """Topics × terms: the shared topics are documents of all, those of a class are its own documents."""
    usable = with_words(shards, engine)
    parts = [document_topics(shards, engine, classes.n_shared, random, usable)] if classes.n_shared else []
    for p, n_own in enumerate(classes.n_own):
        own = usable[classes.members[usable] == p]
        parts.append(document_topics(shards, engine, n_own, random, own))
    return parts[0] if len(parts) == 1 else vstack(parts, format="csr")


def sample_of(
    classes: Classes, random: np.random.RandomState, size: int | None = None
) -> NDArray[np.int64] | None:
    """Documents for a start, rising, enough of every class for the topics it has; None stands for all."""
    n_documents = classes.members.size
    wanted = max(size or SAMPLE, SAMPLE_PER_TOPIC * classes.n_topics)
    if n_documents <= wanted:
        return None
    order = random.permutation(n_documents)
    own = classes.members[order]
    by_class = np.argsort(own, kind="stable")
    first = np.cumsum(classes.sizes) - classes.sizes
    rank = np.empty(n_documents, np.int64)
    rank[by_class] = np.arange(n_documents) - first[own[by_class]]
    least = SAMPLE_PER_TOPIC * (1 + np.array(classes.n_own))
    return np.sort(order[(np.arange(n_documents) < wanted) | (rank < least[own])])


def sampled_sizes(sizes: Sizes) -> Sizes:
    """How large a sample is; it has at most as many terms as entries."""
    wanted = max(SAMPLE, SAMPLE_PER_TOPIC * sizes.n_topics)
    if sizes.n_documents <= wanted:
        return sizes
    n_nonzeros = round(sizes.n_nonzeros * wanted / sizes.n_documents)
    return sizes._replace(n_documents=wanted, n_nonzeros=n_nonzeros, n_terms=min(sizes.n_terms, n_nonzeros))


def most_terms(n_topics: int, n_documents: int) -> int:
    """How many terms singular vectors of a collection may have: no more than documents, if these are few."""
    wanted = min(max(TERMS, TERMS_PER_TOPIC * n_topics), max(FEWEST_TERMS, n_documents))
    return min(wanted, max(n_topics, ENTRIES // basis_width(n_topics)))


def sampled(steps: SquaredSteps, random: np.random.RandomState) -> SquaredSteps:
    """Steps over a sample of the documents; the same steps, where there are few."""
    sample = sample_of(steps.classes, random, min(SAMPLE, SAMPLE_TO_NARROW))
    if sample is None:
        return steps
    classes = steps.classes._replace(members=steps.classes.members[sample])
    shards = _in_room(steps.engine.sample(steps.collection, sample), steps)
    return SquaredSteps(shards, classes, steps.engine, steps.anchors)


def _in_room(X: csr_array, steps: SquaredSteps) -> Shards:
    """Documents of a start as a collection of their own, where the others are."""
    room = steps.collection[0].room
    return Shards([Shard(room.matrix(X), room=room)])


def singular_topics(steps: SquaredSteps, random: np.random.RandomState) -> csr_array:
    """Topics × terms of length one: singular vectors, turned, of a sample where there are many documents.

    They hardly depend on chance: another sample of the same documents gives nearly the same topics.
    """
    shards, terms = _for_singular_vectors(steps, random)
    topics = turned_topics(shards, steps.engine, steps.classes.n_topics, random)
    steps.allot()
    return _of_all_terms(topics, terms, steps.n_terms)


def _for_singular_vectors(
    steps: SquaredSteps, random: np.random.RandomState
) -> tuple[Shards, NDArray[np.int64] | None]:
    """All documents, or a sample, over their most frequent terms, and these; None stands for all terms.

    So what a start takes does not grow with the vocabulary. Topics get their other words in the first
    iteration.
    """
    sample = sample_of(steps.classes, random)
    most = most_terms(steps.classes.n_topics, steps.classes.members.size)
    if sample is None and steps.n_terms <= most:
        return steps.collection, None
    if sample is None and len(steps.collection) == 1 and not steps.engine.remote:
        X = steps.collection[0].X
    else:
        everything = np.arange(steps.classes.members.size)
        X = steps.engine.sample(steps.collection, everything if sample is None else sample)
    frequencies = np.zeros(steps.n_terms, np.int64)
    count_columns(X.indices, frequencies)
    terms = np.sort(by_falling_frequency(frequencies)[:most])
    places = np.full(steps.n_terms, -1, np.int32)
    places[terms] = np.arange(terms.size)
    return _in_room(_of_terms(X, places, terms.size, int(frequencies[terms].sum())), steps), terms


def _of_terms(X: csr_array, places: NDArray[np.int32], n_terms: int, n_entries: int) -> csr_array:
    """Some terms of documents, called by their places; those without a place are left out.

    A few entries at a time, so that a sample of long documents takes no more than its result. Taking them by
    number is several times as fast as by a mask.
    """
    ends = np.zeros_like(X.indptr)
    indices, data = np.empty(n_entries, np.int32), np.empty(n_entries, X.dtype)
    for rows in weighted_blocks(X.indptr, X.shape[0], ENTRIES_AT_ONCE):
        stops = X.indptr[rows.start : rows.stop + 1]
        entries = slice(stops[0], stops[-1])
        found = places[X.indices[entries]]
        kept = np.flatnonzero(found >= 0)
        done = ends[rows.start]
        now = slice(done, done + kept.size)
        indices[now], data[now] = found.take(kept), X.data[entries].take(kept)
        ends[rows.start + 1 : rows.stop + 1] = done + np.searchsorted(kept, stops[1:] - stops[0])
    found = csr_array((data, indices, ends), shape=(X.shape[0], n_terms))
    found.has_canonical_format = True
    return found


def _of_all_terms(topics: csr_array, terms: NDArray[np.int64] | None, n_terms: int) -> csr_array:
    if terms is None:
        return topics
    return csr_array((topics.data, terms[topics.indices], topics.indptr), shape=(topics.shape[0], n_terms))


def turned_topics(shards: Shards, engine: Engine, n_topics: int, random: np.random.RandomState) -> csr_array:
    """Topics × terms of length one: singular vectors turned until each has few words (varimax).

    Vectors have both signs; turned, nearly all of the weight of each is on one side, and that is kept. If
    there are fewer singular vectors than topics, or nothing is left of one, documents take their place.
    """
    values, right = singular_vectors(shards, engine, n_topics, random)
    alive = int(np.count_nonzero(values**2 > np.finfo(shards.dtype).eps * values[:1] ** 2))
    scale = np.diag(values[:alive])
    heaviest = right[_heaviest(values, right), :alive]
    tol = TURNED if len(heaviest) < len(right) else TURNED_FEW
    turn = scale @ varimax(heaviest, scale, tol=tol) if alive else scale
    leaning = np.zeros(alive)
    for rows in pieces(right):
        loads = rows[:, :alive] @ turn.astype(right.dtype)
        leaning += np.einsum("mk,mk,mk->k", loads, loads, loads, dtype=np.float64)
        rows[:, :alive] = loads
    right[:, :alive] *= np.where(leaning >= 0, 1, -1).astype(right.dtype)
    parts = [_larger_side(right[:, some.start : some.stop]) for some in even_blocks(alive, TOPICS_AT_ONCE)]
    topics = csr_array(vstack([*parts, csr_array((n_topics - alive, shards.n_terms), dtype=shards.dtype)]))
    lacking = np.flatnonzero(np.diff(topics.indptr) == 0)
    if lacking.size:
        drawn = document_topics(shards, engine, lacking.size, random, with_words(shards, engine))
        topics = placed(topics, lacking, drawn)
    return topics


def _larger_side(vectors: Floats) -> csr_array:
    """Vectors × terms: the positive part of each column, of length one."""
    parts = np.maximum(vectors.T, 0)
    parts[parts <= np.finfo(parts.dtype).eps * parts.max(axis=1, keepdims=True)] = 0
    lengths = np.linalg.norm(parts, axis=1, keepdims=True)
    return compressed(np.ascontiguousarray(parts / np.where(lengths > 0, lengths, 1)))


def _heaviest(values: NDArray[np.float64], right: Floats) -> NDArray[np.int64]:
    """The terms with the largest loads, rising: they decide how vectors are turned."""
    loads = np.concatenate([np.square(rows * values).sum(1) for rows in pieces(right)])
    count = max(LOADS, LOADS_PER_TOPIC * values.size)
    return np.sort(np.argsort(-loads, kind="stable")[:count])


def budgets(
    steps: SquaredSteps, budget: int, nonnegative: bool
) -> tuple[list[BudgetTopics], BudgetTopics | None]:
    """The word budgets of every class and of the shared topics."""
    classes, n_terms = steps.classes, steps.n_used_terms
    own = [BudgetTopics(n, budget, nonnegative, n_terms) for n in classes.n_own]
    shared = BudgetTopics(classes.n_shared, budget, nonnegative, n_terms) if classes.n_shared else None
    return own, shared


def narrow(
    steps: SquaredSteps,
    topics: csr_array,
    budget: int,
    nonnegative: bool,
    lasting: Lasting | None,
    patience: Patience,
    random: np.random.RandomState,
    n_steps: int,
) -> tuple[Trace, csr_array, float | None]:
    """A start that keeps topics alive and even: word budgets from wide to `budget` in so many iterations.

    A sample does for all but the last, which weighs the words of all documents. The last that is returned is
    the penalty that suits these topics, if one was looked for and found.
    """
    few = sampled(steps, random)
    own, shared = budgets(few, WIDEST * budget, nonnegative)
    few.begin(topics, Ridge(ALPHA_DOCS), own, shared)
    widths = [min(round(width), topics.shape[1]) for width in np.geomspace(WIDEST * budget, budget, n_steps)]
    for left, width in zip(reversed(range(n_steps)), widths, strict=True):
        if left == 0 and few is not steps:
            own, shared = budgets(steps, budget, nonnegative)
            steps.begin(csr_array(few.components()), Ridge(ALPHA_DOCS), own, shared)
            few = steps
        budgeted = [*own, *([shared] if shared else [])]
        for step in budgeted:
            step.budget = width
            step.watch = lasting if left == 0 else None
        trace = alternate(few, patience._replace(max_iter=1, tol=0), phase="start")
        if trace.interrupted:
            break
    # the start has an objective of its own, which is not part of the history
    topics = csr_array(few.components())
    return Trace([], interrupted=trace.interrupted), topics, Lasting.alpha(budgeted)
