"""Shards of documents, and who runs functions over them. An engine decides nothing about the answer."""

from laconic.engines.blocks import Block, even_blocks, weighted_blocks
from laconic.engines.checkpoints import Checkpoint
from laconic.engines.engine import Engine
from laconic.engines.room import MEMORY, Room
from laconic.engines.shards import Shard, Shards, even_rows, release
from laconic.engines.threads import Threads
from laconic.engines.workers import Workers

__all__ = [
    "MEMORY",
    "Block",
    "Checkpoint",
    "Engine",
    "Room",
    "Shard",
    "Shards",
    "Threads",
    "Workers",
    "even_blocks",
    "even_rows",
    "release",
    "weighted_blocks",
]
