"""Plain texts: a document in every line of a file, or in every file of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from laconic.errors import CorpusError, Parameter, listed
from laconic.reading.files import LARGEST_LINE, TOO_LONG, File, Rows, suffixes
from laconic.reading.ledger import Ledger
from laconic.reading.rows import Columns, Row
from laconic.storage.manifest import FILE_NAME


def read_lines(source: File, columns: Columns) -> Iterator[Row]:
    """Give every line as a document, also the empty ones."""
    if columns != Columns("text", None, None):
        raise CorpusError(
            f"{source.path} has one document per line and no columns: leave ",
            *listed(["text", "label", "id", "date", *(["keep"] if columns.kept else [])]),
            " out",
        )
    for number, line in source.lines():
        yield number, line.removesuffix("\n").removesuffix("\r"), None, None, None


class Folder(Rows):
    """A folder, of which every ``.txt`` file is a document, in the order of their names.

    Parameters
    ----------
    path : pathlib.Path
        Of the folder.
    files : list of pathlib.Path
        As in `text_files`.
    ledger : Ledger
        Where bad files are reported.
    encoding : str
        Of the texts.
    """

    def __init__(self, path: Path, files: list[Path], ledger: Ledger, encoding: str) -> None:
        super().__init__("", ledger, "file")
        self.path = path
        self.files = files
        self._encoding = encoding

    def place(self, number: int) -> str:
        """Name a file."""
        return str(self.files[number])


def read_folder(source: Folder, columns: Columns) -> Iterator[Row]:
    """Give every file as a document, with its sub-folder as label and its path as id."""
    path = source.path
    columnless = columns.text == "text" and columns.id is None and columns.date is None and not columns.kept
    if not columnless or columns.label not in (None, "folder"):
        raise CorpusError(
            f"{path} is a folder, which has no columns: leave ",
            *listed(["text", "id", "date", *(["keep"] if columns.kept else [])]),
            " out, and ",
            Parameter("label"),
            " too unless it is ",
            Parameter("label", "folder"),
            " (the name of the sub-folder)",
        )
    start = 0
    for number, name in enumerate(source.files):
        if columns.label is not None and name.parent == path:
            reason = CorpusError(
                "is not in a sub-folder, so ",
                Parameter("label", "folder"),
                " gives it no label; move it to the sub-folder of its label",
            )
            source.refuse(number, reason)
            continue
        file = File(name, source.ledger, source._encoding, start)
        try:
            with file.opened() as opened:
                contents = opened.read(LARGEST_LINE + 1)
        except CorpusError as error:
            # One document among many: what is wrong with it is nothing against the others.
            source.refuse(number, error.without(str(name)).without(": ").without(" "))
            continue
        finally:
            start = source.ledger.position()
        if len(contents) > LARGEST_LINE:
            source.refuse(number, TOO_LONG)
            continue
        try:
            text = contents.decode()
        except UnicodeDecodeError as error:
            line = contents.count(b"\n", 0, error.start) + 1
            file.refuse(line, file.undecodable)
            continue
        yield number, text, name.parent.name, _name(name.relative_to(path)), None


def text_files(path: Path) -> list[Path]:
    """The texts in a folder and in its sub-folders, by name.

    Hidden ones are left out, and so are files of models and corpora that were saved among them.
    """
    saved: dict[Path, bool] = {}
    found = [
        file
        for file in path.rglob("*")
        if suffixes(file)[0] == ".txt"
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and file.is_file()
        and not (FILE_NAME.fullmatch(file.name) and _holds_saved(file.parent, saved))
    ]
    return sorted(found, key=lambda file: file.relative_to(path).as_posix())


def _holds_saved(folder: Path, known: dict[Path, bool]) -> bool:
    """Whether a folder is one of laconic's own: its files of words are no documents."""
    if folder not in known:
        known[folder] = any(_is_manifest(file) for file in folder.glob("*.json"))
    return known[folder]


def _is_manifest(file: Path) -> bool:
    try:
        return file.is_file() and b'"format": "laconic-' in file.read_bytes()
    except OSError:
        return False


def _name(file: Path) -> str:
    whole = file.as_posix()
    return whole[: -len("".join(suffixes(file)))]
