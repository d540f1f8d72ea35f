"""What is said of the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence


def verdict(holds: Sequence[bool]) -> str:
    """In words, whether a claim holds in all cases, in some or in none.

    Examples
    --------
    >>> verdict([True, True]), verdict([True, False]), verdict([False])
    ('**Confirmed.**', '**Confirmed in part.**', '**Not confirmed.**')
    """
    return (
        "**Confirmed.**" if all(holds) else "**Confirmed in part.**" if any(holds) else "**Not confirmed.**"
    )
