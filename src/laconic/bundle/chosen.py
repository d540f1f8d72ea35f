"""What spoke for which number of topics, as it is kept with a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from laconic.storage.manifest import Json
from laconic.storage.reading import StoredDirectory

LONGEST_SENTENCE = 2000
"""How many characters a reason or a warning may have."""


@dataclass(frozen=True)
class Tried:
    """One number of topics, and the means over the fits with it; see `laconic.steering.choice.Candidate`."""

    n_topics: int
    held_out: float
    coherence: float
    redundancy: float
    stability: float
    returning: float
    overall: float


@dataclass(frozen=True)
class Chosen:
    """What `laconic.choose` found out, without the single fits.

    Parameters
    ----------
    recommended : int
        The recommended number of topics.
    reason : str
    warnings : tuple of str
    n_documents, n_runs : int
        How many documents there were, and to how many halves of them each model was fitted.
    tried : tuple of Tried
        By number of topics.
    """

    recommended: int
    reason: str
    warnings: tuple[str, ...]
    n_documents: int
    n_runs: int
    tried: tuple[Tried, ...]

    def stored(self) -> dict[str, Json]:
        """As it stands in the document of a saved model."""
        found = asdict(self)
        return found | {"warnings": list(self.warnings), "tried": [asdict(one) for one in self.tried]}


def restored_chosen(stored: StoredDirectory) -> Chosen | None:
    """Read what `Chosen.stored` gave to a saved model; everything is checked."""
    described = stored.document.get("chosen")
    if described is None:
        return None
    try:
        return _read(described)
    except (TypeError, KeyError, ValueError) as error:
        raise stored.error("has no valid 'chosen'") from error


def _read(described: Any) -> Chosen:
    if not isinstance(described, dict) or described.keys() != {field.name for field in fields(Chosen)}:
        raise ValueError("parts are missing, or strange")
    tried = tuple(Tried(**one) for one in described["tried"])
    sentences = [described["reason"], *described["warnings"]]
    counts = [described["recommended"], described["n_documents"], described["n_runs"]]
    counts += [one.n_topics for one in tried]
    means = [value for one in tried for value in list(asdict(one).values())[1:]]
    if not tried or not all(type(count) is int and count >= 1 for count in counts):
        raise ValueError("numbers are missing, or strange")
    if not all(isinstance(text, str) and len(text) <= LONGEST_SENTENCE for text in sentences):
        raise ValueError("sentences are strange")
    if not all(type(mean) in (int, float) and abs(mean) < float("inf") for mean in means):
        raise ValueError("means are strange")
    return Chosen(**{**described, "warnings": tuple(described["warnings"]), "tried": tried})
