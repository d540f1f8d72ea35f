"""Usenet messages without what is not theirs: headers, quotations and signatures."""

from __future__ import annotations

import re
from collections.abc import Iterable

from laconic.errors import DatasetError

PARTS = ("headers", "quotes", "signatures")

_HEADER = re.compile(r"^[A-Za-z][\w-]*:", re.MULTILINE)
_SIGNATURE = re.compile(r"\n-- *\n")
# Quoted lines begin with a sign, perhaps after the initials of who is quoted; the other alternatives are the
# lines that introduce a quotation.
_QUOTED = re.compile(
    r"^[>|:]|^\s*[A-Za-z]{0,3}>|(?:writes|wrote|says|said) *:|^In article|writes in",
)


def strip_message(message: str, parts: Iterable[str] = PARTS) -> str:
    r"""Leave parts of a message out.

    Parameters
    ----------
    message : str
        With its headers.
    parts : iterable of {"headers", "quotes", "signatures"}
        What to leave out: all up to the first empty line; lines that are quoted or introduce a quotation;
        all from the first line that is two dashes.

    Returns
    -------
    str
        The rest, which may be empty.

    Examples
    --------
    >>> message = "From: a@b\nSubject: fish\n\nC. writes:\n> Blue?\nNo, red.\n-- \nA. B."
    >>> strip_message(message)
    'No, red.'
    >>> strip_message(message, ["headers", "signatures"])
    'C. writes:\n> Blue?\nNo, red.'
    """
    chosen = check_parts(parts)
    if "headers" in chosen:
        head, _, body = message.partition("\n\n")
        # A text without any header would lose its first paragraph.
        message = body if _HEADER.search(head) else message
    if "signatures" in chosen:
        message = _SIGNATURE.split(message, maxsplit=1)[0]
    if "quotes" in chosen:
        message = "\n".join(line for line in message.split("\n") if not _QUOTED.search(line))
    return message


def check_parts(parts: Iterable[str]) -> frozenset[str]:
    """The parts to leave out, all of which have to be known."""
    chosen = frozenset([parts] if isinstance(parts, str) else parts)
    unknown = sorted(map(repr, chosen.difference(PARTS)))
    if unknown:
        raise DatasetError(f"strip has no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return chosen
