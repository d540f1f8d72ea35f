"""Strings as text files of a stored directory, one to a line: as they are, or as JSON strings."""

import json
from collections.abc import Sequence

from laconic.storage.manifest import Json, quoted
from laconic.storage.reading import StoredDirectory
from laconic.storage.writing import DirectoryWriter, Sink

_BLOCK = 2**16


def add_lines(lines: Sequence[str], name: str, writer: DirectoryWriter) -> str:
    """Store strings as they are; none may have a line break.

    Parameters
    ----------
    lines : sequence of str
        Such as the terms of a vocabulary.
    name : str
        What they are called, in the file's name.
    writer : DirectoryWriter
        Receives the file.

    Returns
    -------
    str
        The file's name.
    """
    for line in lines:
        if "\n" in line:
            raise writer.error(f"{quoted(line)} of the {name} has a line break, so it is not saved")
    text = "".join(f"{line}\n" for line in lines)
    return writer.add(name, "txt", lambda sink: sink.write(text.encode("utf-8")))


def read_lines(file: Json, what: str, stored: StoredDirectory) -> list[str]:
    """Read what `add_lines` stored.

    Parameters
    ----------
    file : str
        The file's name, as found in the document.
    what : str
        What it should hold, for messages.
    stored : StoredDirectory
        Holds the file.

    Returns
    -------
    list of str
        The lines without their line breaks.
    """
    return _read_text(file, what, stored).split("\n")[:-1]


def add_strings(strings: Sequence[str], name: str, writer: DirectoryWriter) -> str:
    r"""Store any strings, each as JSON has it: in quotes, with a line break as ``\n``.

    Parameters
    ----------
    strings : sequence of str
        Valid Unicode, and otherwise of any characters.
    name : str
        What they are called, in the file's name.
    writer : DirectoryWriter
        Receives the file.

    Returns
    -------
    str
        The file's name.
    """

    def write(sink: Sink) -> None:
        for start in range(0, len(strings), _BLOCK):
            sink.write(_json_lines(list(strings[start : start + _BLOCK])).encode("utf-8"))

    return writer.add(name, "txt", write)


def read_strings(file: Json, what: str, stored: StoredDirectory) -> list[str]:
    """Read what `add_strings` stored.

    Parameters
    ----------
    file : str
        The file's name, as found in the document.
    what : str
        What it should hold, for messages.
    stored : StoredDirectory
        Holds the file.

    Returns
    -------
    list of str
        The strings.
    """
    text = _read_text(file, what, stored)
    try:
        # No JSON string has a line break in it, and one parse of all is quicker than one for each.
        strings: list[str] = json.loads(f"[{text[:-1].replace(chr(10), ',')}]")
        # The comparison finds several strings in a line, and any other spelling.
        intact = all(isinstance(string, str) for string in strings) and _json_lines(strings) == text
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise stored.error("is not made of JSON strings, one to a line", file)
    return strings


def _json_lines(strings: list[str]) -> str:
    text = json.dumps(strings, ensure_ascii=False, separators=("\n", ":"))[1:-1]
    return f"{text}\n" if strings else ""


def _read_text(file: Json, what: str, stored: StoredDirectory) -> str:
    content = stored.take(file)
    if not str(file).endswith(".txt"):
        raise stored.error(f"refers to {quoted(file)} as {what}")
    try:
        text = str(content, "utf-8")
    except UnicodeDecodeError as error:
        raise stored.error("is not UTF-8", file) from error
    if text and not text.endswith("\n"):
        raise stored.error("does not end in a line break", file)
    return text
