"""Topics that obey, last, and justify themselves: anchors, seeds, how many, which come back or move."""

from typing import TYPE_CHECKING

from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.steering.anchors import Anchors
    from laconic.steering.choice import Choice, choose
    from laconic.steering.drift import Drift

__all__ = ["Anchors", "Choice", "Drift", "choose"]

__getattr__ = lazily(
    __name__,
    {
        "Anchors": "laconic.steering.anchors",
        "Choice": "laconic.steering.choice",
        "Drift": "laconic.steering.drift",
        "choose": "laconic.steering.choice",
    },
)
