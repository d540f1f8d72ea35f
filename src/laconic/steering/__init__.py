"""Topics that obey, last, and justify themselves: anchors and seeds, how many topics, which come back."""

from typing import TYPE_CHECKING

from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.steering.anchors import Anchors
    from laconic.steering.choice import Choice, choose

__all__ = ["Anchors", "Choice", "choose"]

__getattr__ = lazily(
    __name__,
    {
        "Anchors": "laconic.steering.anchors",
        "Choice": "laconic.steering.choice",
        "choose": "laconic.steering.choice",
    },
)
