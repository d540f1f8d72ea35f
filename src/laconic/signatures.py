"""What classes and functions take, by their source: known without importing all that they need."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import laconic


class SourceText(str):
    """A default that is no literal: the expression that gives it."""


def taken_by(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a function or a class, and their defaults (``...`` without one).

    >>> taken_by(taken_by)
    {'function': Ellipsis}
    """
    return {
        name: ... if parameter.default is parameter.empty else parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }


@cache
def taken_in(module: str, function: str, owner: str | None = None) -> Mapping[str, Any]:
    """The same of a function in a module of laconic, which need not be imported.

    Parameters
    ----------
    module : str
        Such as "laconic.models.rlsi".
    function : str
        Its name.
    owner : str, optional
        The class whose method it is.

    Returns
    -------
    mapping of str to object
        Empty if a class has no such method of its own. Where modules have no source at hand, they are
        imported.

    Examples
    --------
    >>> taken_in("laconic.checks", "check_number")["most"]
    'math.inf'
    """
    path = Path(laconic.__file__).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError:
        place: Any = import_module(module)
        if owner is not None:
            place = getattr(place, owner)
        return taken_by(vars(place)[function]) if function in vars(place) else {}
    return _taken(lines, function, owner)


def _taken(lines: list[str], function: str, owner: str | None) -> dict[str, Any]:
    """Find and parse one signature: to parse all of the files takes longer than the rest of the help."""
    indent = "" if owner is None else "    "
    numbers = range(len(lines))
    if owner is not None:
        start = next(n for n in numbers if lines[n].startswith((f"class {owner}(", f"class {owner}:")))
        ends = (n for n in numbers[start + 1 :] if lines[n] and not lines[n][0].isspace())
        numbers = range(start, next(ends, len(lines)))
    begins = (n for n in numbers if lines[n].startswith(f"{indent}def {function}("))
    begin = next(begins, None)
    if begin is None:
        return {}
    end = next(n for n in range(begin, len(lines)) if lines[n].endswith(":"))
    text = "\n".join(line.removeprefix(indent) for line in lines[begin : end + 1])
    (defined,) = ast.parse(f"{text} ...").body
    assert isinstance(defined, ast.FunctionDef)
    arguments = defined.args
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(positional) - len(arguments.defaults))
    pairs = [*zip(positional, [*without, *arguments.defaults], strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {name.arg: _value(default, lines) for name, default in pairs if name.arg not in ("self", "cls")}


def _value(default: ast.expr | None, lines: list[str]) -> Any:
    if default is None:
        return ...
    if isinstance(default, ast.Name):
        # a constant of the module, on a line of its own
        start = f"{default.id} = "
        default = next((ast.parse(line).body[0].value for line in lines if line.startswith(start)), default)  # type: ignore[attr-defined]
    try:
        return ast.literal_eval(default)
    except ValueError:
        return SourceText(ast.unparse(default))
