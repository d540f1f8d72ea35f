"""Where the fits of models with squared loss begin."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from laconic.engines import Block, Engine, Shard, Shards, even_rows
from laconic.losses.loop import Patience, Trace, alternate
from laconic.losses.singular import project, singular_vectors
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.penalties import Lasting
from laconic.losses.squared.rows import Ridge
from laconic.losses.squared.steps import SquaredSteps
from laconic.losses.squared.topics import BudgetTopics
from laconic.losses.starts import document_topics, with_words

# The start narrows the topics from many words to few over this many iterations: topics that begin wide find
# their place before they have to choose their words, and fewer of them end as a word or two.
NARROWING = 12
WIDEST = 9
ALPHA_DOCS = 0.1


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


def svd_topics(shards: Shards, engine: Engine, n_topics: int, random: np.random.RandomState) -> csr_array:
    """Topics × terms: of each singular vector the positive or the negative part, of length one (NNDSVD).

    The part is taken that matters more, in terms and documents together. If there are fewer singular vectors
    than topics, or none of a sign, documents take their place.
    """
    values, right = singular_vectors(shards, engine, n_topics, random)
    project(shards, engine, right)
    positive, negative = engine.documents(shards, _sizes_of_parts, None, even_rows)[0]
    topics = np.zeros((n_topics, shards.n_terms), shards.dtype)
    for k in np.flatnonzero(values > 0):
        parts = [np.maximum(sign * right[:, k], 0) for sign in (1, -1)]
        sizes = [
            np.sqrt(documents[k]) * np.linalg.norm(part)
            for documents, part in zip((positive, negative), parts, strict=True)
        ]
        part = parts[int(np.argmax(sizes))]
        if max(sizes) > 0:
            topics[k] = part / np.linalg.norm(part)
    lacking = np.flatnonzero(~topics.any(axis=1))
    if lacking.size:
        usable = with_words(shards, engine)
        topics[lacking] = document_topics(shards, engine, lacking.size, random, usable).toarray()
    return csr_array(topics)


def _sizes_of_parts(shard: Shard, rows: Block, message: Any) -> tuple[Any, Any]:
    """The squared norms of the positive and of the negative parts of the weights, topic by topic."""
    weights = shard.weights[rows.start : rows.stop]
    return tuple(np.square(np.maximum(sign * weights, 0), dtype=np.float64).sum(0) for sign in (1, -1))


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
) -> Trace:
    """A start that keeps topics alive and even: word budgets from wide to `budget`, an iteration each."""
    own, shared = budgets(steps, WIDEST * budget, nonnegative)
    steps.begin(topics, Ridge(ALPHA_DOCS), own, shared)
    widths = [
        min(round(width), topics.shape[1]) for width in np.geomspace(WIDEST * budget, budget, NARROWING)
    ]
    for left, width in zip(reversed(range(NARROWING)), widths, strict=True):
        for step in [*own, *([shared] if shared else [])]:
            step.budget = width
            step.watch = lasting if left == 0 else None
        trace = alternate(steps, patience._replace(max_iter=1, tol=0), phase="start")
        if trace.interrupted:
            break
    # the start has an objective of its own, which is not part of the history
    return Trace([], interrupted=trace.interrupted)
