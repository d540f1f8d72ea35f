"""The document of a stored directory: canonical JSON that lists its files and seals itself with a checksum.

Nothing here knows what is stored.
"""

import hashlib
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_MANIFEST_BYTES = 16 * 2**20
"""Of the document alone, which is parsed as a whole; arrays and texts are files of their own."""
MAX_NAME_LENGTH = 200

STEM = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")
FILE_NAME = re.compile(rf"{STEM.pattern}-(?P<digest>[0-9a-f]{{16}})\.(npy|txt)")

_MAX_DEPTH = 64
_MAX_DIGITS = 20
# The line of the checksum, as `sealed` writes it: "files" and "format" come after it.
_CHECKSUM = re.compile(rb'^ "checksum": "([0-9a-f]{64})",\n', re.MULTILINE)
# A half of a character that is escaped, which no Unicode text has.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Kind:
    """What a directory stores: the names in its files, and the words of its messages.

    Parameters
    ----------
    noun : str
        What is stored, such as ``"model"``.
    manifest : str
        The name of the document's file.
    format : str
        What the document calls its format.
    version : int
        The newest version of the format, which is the one that is written.
    error : type of ValueError
        What is raised about a directory of this kind.
    """

    noun: str
    manifest: str
    format: str
    version: int
    error: type[ValueError]

    @property
    def restore(self) -> str:
        """What to do about a damaged directory."""
        return f"restore the directory from a copy, or save the {self.noun} again"


def canonical_json(document: Json) -> bytes:
    r"""Return the only byte string that stands for `document`.

    Parameters
    ----------
    document : JSON value
        Finite floats only.

    Returns
    -------
    bytes
        UTF-8, sorted keys, one item per line.

    Examples
    --------
    >>> canonical_json({"b": 0.1, "a": "é"}).decode()
    '{\n "a": "é",\n "b": 0.1\n}\n'
    """
    text = json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def quoted(value: object) -> str:
    """Return `value` as it may stand in a message, however long it is.

    Examples
    --------
    >>> quoted("word"), len(quoted("long" * 100))
    ("'word'", 60)
    """
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def sealed(document: dict[str, Json]) -> bytes:
    """Return the canonical bytes of `document` with their own checksum added.

    Parameters
    ----------
    document : dict
        A document without ``checksum``.

    Returns
    -------
    bytes
        What `unsealed` accepts, if the document is one of ours.

    Examples
    --------
    >>> shelf = Kind("shelf", "shelf.json", "laconic-shelf", 1, ValueError)
    >>> document = {"format": "laconic-shelf", "format_version": 1, "files": {}}
    >>> unsealed(shelf, Path("shelf.json"), sealed(document)) == document
    True
    """
    checksum = hashlib.sha256(canonical_json(document)).hexdigest()
    return canonical_json({**document, "checksum": checksum})


def unsealed(kind: Kind, path: Path, raw: bytes | bytearray) -> dict[str, Json]:
    """Parse a document and check first whose it is, then its version, then every byte.

    Parameters
    ----------
    kind : Kind
        What is expected.
    path : Path
        The file, for messages.
    raw : bytes
        Its content.

    Returns
    -------
    dict
        The document without its checksum.
    """
    try:
        document: Any = json.loads(
            raw.decode("utf-8"),
            parse_int=_bounded_int,
            parse_float=_finite_float,
            parse_constant=_no_constant,
        )
        _check_depth(document)
    except (ValueError, RecursionError) as error:
        raise kind.error(f"{path}: is damaged or not JSON ({error}); {kind.restore}") from error
    if not isinstance(document, dict) or document.get("format") != kind.format:
        raise kind.error(
            f"{path}: {_described(document)}, so it is not a laconic {kind.noun}; give the directory of a "
            f"{kind.noun}"
        )
    version = document.get("format_version")
    if type(version) is not int or version < 1:
        raise kind.error(f"{path}: has no valid format version ({quoted(version)}); {kind.restore}")
    if version > kind.version:
        raise kind.error(
            f"{path}: was written by a newer laconic (format {version}; this one reads up to "
            f"{kind.version}): upgrade laconic"
        )
    # The bytes themselves are hashed: to write a large document again takes longer than all else.
    checksums = _CHECKSUM.findall(raw)
    rest = _CHECKSUM.sub(b"", raw, count=1)
    if (
        [hashlib.sha256(rest).hexdigest().encode()] != checksums
        or document.pop("checksum", None) != checksums[0].decode()
        or _SURROGATE.search(raw)
    ):
        raise kind.error(f"{path}: is damaged or was edited (its checksum differs); {kind.restore}")
    return document


def listing(kind: Kind, path: Path, files: Json) -> dict[str, tuple[int, str]]:
    """Check the list of files of a document.

    Parameters
    ----------
    kind : Kind
        What is expected.
    path : Path
        The document's file, for messages.
    files : dict
        Its ``files``.

    Returns
    -------
    dict
        File name to size and SHA-256 sum; no name leads out of the directory.
    """
    if not isinstance(files, dict):
        raise kind.error(f"{path}: lists no files; {kind.restore}")
    checked = {}
    for name, entry in files.items():
        match = FILE_NAME.fullmatch(name)
        if not match or len(name) > MAX_NAME_LENGTH:
            problem = f"lists {quoted(name)}, which is no file name of a {kind.noun}"
            raise kind.error(f"{path}: {problem}; {kind.restore}")
        size, sha256 = (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        if type(size) is not int or not isinstance(sha256, str) or not sha256.startswith(match["digest"]):
            raise kind.error(f"{path}: lists {name} without a valid size and checksum; {kind.restore}")
        checked[name] = size, sha256
    return checked


def _described(document: object) -> str:
    if not isinstance(document, dict):
        return f"holds a JSON {type(document).__name__}"
    if "format" in document:
        return f"holds the format {quoted(document['format'])}"
    return f"names no format (its keys: {quoted(sorted(document))})"


def _bounded_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"it holds a whole number of {len(digits)} digits")
    return int(digits)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"it holds the number {digits[:20]}")
    return number


def _no_constant(name: str) -> None:
    raise ValueError(f"it holds the value {name}")


def _check_depth(document: Json) -> None:
    level: list[Json] = [document]
    for _ in range(_MAX_DEPTH):
        level = [item for value in level for item in _items(value)]
        if not level:
            return
    raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")


def _items(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
