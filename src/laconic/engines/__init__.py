"""Where blocks run. An engine decides nothing about the answer, only about the time it takes."""

from laconic.engines.blocks import Block, even_blocks, weighted_blocks
from laconic.engines.threads import Threads

__all__ = ["Block", "Threads", "even_blocks", "weighted_blocks"]
