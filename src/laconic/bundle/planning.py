"""What a fit takes, and where: all in memory, or documents and their weights in files that are mapped."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from laconic.corpus.sizes import Sizes, reading_memory
from laconic.engines.room import MEMORY, Room
from laconic.engines.shards import NONZEROS_PER_SHARD
from laconic.errors import Parameter, ParameterError
from laconic.words import size

if TYPE_CHECKING:
    from laconic.models.base import TopicModel

# As measured: Python with the libraries, compiled kernels and buffers of BLAS.
PROGRAM = 320_000_000
# What a fit makes of every document or entry, and what can be in files as well.
IN_FILES = (
    "weights of terms",
    "documents by columns",
    "documents by class",
    "weights of documents",
    "singular vectors",
)
# What is taken for a moment, and given back.
IN_TURN = ("a shard", "a sample", "topics of the start", "sums over documents")
# While a shard is weighed: its counts' numbers, twice, and those without zeros with their indices.
BYTES_PER_ENTRY_WEIGHED = 16
_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Plan(NamedTuple):
    """How much memory a fit takes, by parts, and what is kept in files of which folder."""

    memory: dict[str, int]
    files: dict[str, int]
    folder: Path | None
    """None if nothing is."""

    @property
    def total(self) -> int:
        """Memory in all."""
        return sum(self.memory.values())

    @property
    def room(self) -> Room:
        """Where the fit makes its arrays."""
        return MEMORY if self.folder is None else Room(self.folder)

    def words(self) -> str:
        """The plan in a line."""
        if self.folder is None:
            return f"in memory, about {size(self.total)}"
        in_files = size(sum(self.files.values()))
        return f"streamed from {self.folder} (about {in_files} in files), about {size(self.total)} of memory"


class CountedDocuments(NamedTuple):
    """What is to be known of documents for a plan."""

    sizes: Sizes
    weighted: bool = True
    """Whether weights are needed that differ from counts."""
    mapped: bool = False
    """Whether counts are in files already."""
    labelled: bool = False
    n_classes: int = 1
    n_modalities: int = 1
    text_bytes: int = 0


def plan_fit(model: TopicModel, counted: CountedDocuments, memory: int | None) -> Plan:
    """Where the arrays of a fit are best, if it may take so many bytes of memory.

    Raises
    ------
    ParameterError
        If it takes more, even with documents in files.
    """
    sizes = counted.sizes
    kinds: dict[str, Any] = {"labelled": counted.labelled, "n_modalities": counted.n_modalities}
    adds = model.memory(
        sizes.n_documents,
        sizes.n_terms,
        sizes.n_nonzeros,
        n_classes=counted.n_classes,
        n_modalities=counted.n_modalities,
    )
    reading = reading_memory(
        sizes, weighted=counted.weighted, mapped=counted.mapped, text_bytes=counted.text_bytes, **kinds
    )
    near = {**reading, **adds, "the program itself": PROGRAM}
    if memory is None or sum(near.values()) <= memory:
        return Plan(near, {}, None)
    on_disk = reading_memory(
        sizes,
        weighted=counted.weighted,
        mapped=True,
        text_bytes=counted.text_bytes,
        memory=memory,
        **kinds,
    )
    far = {name: value for name, value in {**near, **on_disk}.items() if name not in IN_FILES}
    # one after the other, so that the largest counts
    far["a shard"] = BYTES_PER_ENTRY_WEIGHED * min(sizes.n_nonzeros, NONZEROS_PER_SHARD)
    largest = max(IN_TURN, key=lambda name: far.get(name, 0))
    far = {name: value for name, value in far.items() if name == largest or name not in IN_TURN}
    files = {name: near[name] for name in IN_FILES if near.get(name)}
    if not counted.mapped:
        kept = "counts, ids and vocabulary"
        files = {"counts": near[kept] - far[kept], **files}
    plan = Plan(far, files, _temporary_folder())
    if model.whole:
        raise ParameterError(
            f"{type(model).__name__} needs all documents in memory, which takes about "
            f"{size(sum(near.values()))}: raise ",
            Parameter("memory"),
            ", or choose a model that can keep documents in files",
        )
    if plan.total > memory:
        raise ParameterError(
            Parameter("memory", size(memory)),
            f" is too little: with documents in files, this fit takes about {size(plan.total)} ("
            f"{_largest(far)}). Raise it, ask for fewer topics, or leave out rare words with ",
            Parameter("min_df"),
        )
    return plan


def _temporary_folder() -> Path:
    """Where temporary files are; an error, if that is not where the user wants them."""
    named = os.environ.get("TMPDIR")
    try:
        if named and Path(named) != Path(tempfile.gettempdir()):
            # Python takes another one without a word, which may be small, or in memory
            with tempfile.TemporaryFile(dir=named):
                pass
        return Path(tempfile.gettempdir())
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}: temporary files cannot be written to {named or 'any of the usual folders'}; "
            "set the environment variable TMPDIR to a folder that has room",
        ) from error


def _largest(parts: Mapping[str, int]) -> str:
    name = max(parts, key=lambda name: parts[name])
    return f"{size(parts[name])} of it for {name}"


def bytes_of(given: Any) -> int | None:
    """A size in bytes: a number, or a text with a unit.

    >>> bytes_of("4GB"), bytes_of("500 MB"), bytes_of(2**30), bytes_of(None)
    (4000000000, 500000000, 1073741824, None)
    """
    if given is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", str(given), re.IGNORECASE)
    if found is None or float(found[1]) <= 0:
        raise ParameterError(
            Parameter("memory", given), " is not a size: give something like 4GB, or a number of bytes"
        )
    unit = _UNITS[found[2].upper()]
    if found[3]:
        unit = 1024 ** ("KMGT".index(found[2].upper()) + 1)
    return int(float(found[1]) * unit)
