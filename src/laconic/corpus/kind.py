"""What a saved corpus is called, and which files it consists of."""

from __future__ import annotations

from laconic.errors import CorpusError
from laconic.storage.manifest import Kind

# Format 2 added dates and texts; format 3 has the columns of large corpora in parts, one for every shard.
CORPUS = Kind(noun="corpus", manifest="corpus.json", format="laconic-corpus", version=3, error=CorpusError)
