"""Where data sets are looked for, and which of them are there."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from laconic.datasets.files import locate
from laconic.datasets.registry import KNOWN, Kind
from laconic.errors import DatasetError

PROVENANCE = "PROVENANCE.md"
VARIABLE = "LACONIC_DATA"


@dataclass(frozen=True)
class Info:
    """What is known about a data set.

    Attributes
    ----------
    name : str
        What `load` takes.
    description : str
        What it is, in a line.
    folder : pathlib.Path or None
        Where it is.
    present : bool
        Whether it is there, with all its files.
    source : str
        Where it comes from.
    kind : str or None
        "text", "retrieval", "counts", "images", "graph", "parallel", "multimodal" or "groups"; None for a
        folder whose files tell none of these.
    size : str
        How large it is, in words; may be empty for data sets of your own.

    Examples
    --------
    >>> from laconic.datasets import available
    >>> info = available()[0]
    >>> info.name, info.kind, info.size
    ('20newsgroups', 'text', '18,846 messages, 20 groups')
    """

    name: str
    description: str
    folder: Path | None
    present: bool
    source: str
    kind: Kind | None
    size: str


def cache_folder() -> Path:
    """The user's folder of laconic's data, whether it exists or not."""
    if sys.platform == "win32":
        base, default = os.environ.get("LOCALAPPDATA", ""), Path("~", "AppData", "Local")
    else:
        base, default = os.environ.get("XDG_CACHE_HOME", ""), Path("~", ".cache")
    # The XDG specification says that relative folders are to be ignored.
    return (Path(base) if base and Path(base).is_absolute() else default.expanduser()) / "laconic"


def search_folders() -> list[Path]:
    """The folders in which data sets are looked for, the first choice first.

    Returns
    -------
    list of pathlib.Path
        The folder that the environment variable ``LACONIC_DATA`` names, if it is set, and the user's cache
        folder; whether they exist or not.
    """
    named = os.environ.get(VARIABLE)
    return [*([Path(named).expanduser()] if named else []), cache_folder()]


def available() -> list[Info]:
    """List the data sets that are known, present or not, and any others that are found.

    Returns
    -------
    list of Info
        Sorted by name. Besides the known data sets there is one for every folder with a ``PROVENANCE.md``.

    Examples
    --------
    >>> from laconic.datasets import available
    >>> "cranfield" in [info.name for info in available()]
    True
    """
    found = {path.parent.name: path.parent for path in _provenances()}
    infos = [known_info(name) for name in KNOWN]
    infos += [_own_info(name, folder) for name, folder in found.items() if name not in KNOWN]
    return sorted(infos, key=lambda info: info.name)


def lookup(name: str) -> Info:
    """Find a data set by its name, and suggest others if there is none."""
    if name in KNOWN:
        return known_info(name)
    infos = {info.name: info for info in available()}
    if name not in infos:
        close = get_close_matches(str(name).lower(), infos, n=3)
        hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
        raise DatasetError(f"there is no data set {name!r}; {hint}`laconic datasets` lists them all")
    return infos[name]


def known_info(name: str) -> Info:
    """Look for a known data set: a complete folder before an incomplete one."""
    known = KNOWN[name]
    folders = [path for path in (folder / name for folder in search_folders()) if path.is_dir()]
    complete = [path for path in folders if all(locate(path, file) for file in known.files)]
    folder = next(iter([*complete, *folders]), None)
    return Info(name, known.description, folder, bool(complete), known.source, known.kind, known.size)


def present_folder(info: Info) -> Path:
    """The folder of a data set; the error of an absent one says what to do."""
    if info.folder is None:
        raise DatasetError(
            f"the data set {info.name} ({info.description}; {info.size}) was not found. laconic downloads "
            f"nothing; get it from {info.source}. {how_to_provide(info.name)}"
        )
    return info.folder


def how_to_provide(name: str) -> str:
    """Say where a data set is to be put."""
    named = os.environ.get(VARIABLE)
    now = f" (now {named}{'' if Path(named).expanduser().is_dir() else ', no folder'})" if named else ""
    return (
        f"Set {VARIABLE}{now} to the folder that holds a folder named {name}, "
        f"or put that into {cache_folder()}"
    )


def provenance(folder: Path) -> str:
    """What the ``PROVENANCE.md`` of a data set says; nothing if there is none."""
    path = folder / PROVENANCE
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _provenances() -> list[Path]:
    # The first choice last, so that it stays when names are the same.
    return [path for folder in reversed(search_folders()) for path in sorted(folder.glob(f"*/{PROVENANCE}"))]


def _own_info(name: str, folder: Path) -> Info:
    text = provenance(folder)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    description = next((line for line in lines if not re.match(r"\w+:", line)), "")
    source = next((line.partition(":")[2].strip() for line in lines if line.startswith("Source:")), "")
    size = re.search(r"[\d,]+ documents", text)
    kind: Kind | None = None
    if locate(folder, "docs.jsonl"):
        kind = "retrieval" if locate(folder, "queries.jsonl") and locate(folder, "qrels.tsv") else "text"
    return Info(name, description, folder, True, source, kind, size.group() if size else "")
