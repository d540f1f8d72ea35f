"""Topics that come back: a bar while that is found out, and a sentence about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laconic.cli.screen.console import say
from laconic.cli.screen.working import working
from laconic.words import enumerated, plural

if TYPE_CHECKING:
    from laconic.bundle import Bundle

SELDOM = 0.5
"""Topics that come back in fewer refits than this are named."""


def watched_returns(bundle: Bundle, n_refits: int, seed: int, n_jobs: int | None) -> None:
    """Measure which topics come back, with a bar on a terminal."""
    with working(f"{plural(n_refits, 'refit')} to halves of the documents") as tell:
        bundle.measure_returns(n_refits, random_state=seed, n_jobs=n_jobs, progress=tell)


def tell_returns(bundle: Bundle) -> None:
    """Say how many topics come back, and which seldom do."""
    returns = bundle.notes.returns
    if returns is None:
        return
    alive = [k for k, size in enumerate(bundle.model.topic_sizes_) if size]
    often = [k for k in alive if (returns.shares[k] or 0) > SELDOM]
    say(
        f"{len(often)} of {plural(len(alive), 'topic')} come back in more than half of "
        f"{plural(returns.n_refits, 'refit')} to halves of the documents"
    )
    never = [bundle.notes.shown(k) for k in alive if not returns.shares[k]]
    if never:
        say(f"never came back: {enumerated(never)}")
