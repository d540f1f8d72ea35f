"""Topics that obey: held where they are wanted, frozen, kept from words, seeded."""

from __future__ import annotations

from laconic.steering.anchors import Anchors

__all__ = ["Anchors"]
