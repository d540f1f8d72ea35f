"""A corpus that every Python carries: the docstrings of its standard library."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from laconic.errors import CorpusError

_FEWEST_WORDS = 20
_TEST_FOLDERS = {"test", "tests", "idle_test"}

_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, *_NAMED)
# Where statements hold others, in the order of the source; expressions, which are most of it, hold none.
_STATEMENTS = ("body", "handlers", "orelse", "finalbody", "cases")
_NESTED = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
    ast.ExceptHandler,
    ast.match_case,
)


def standard_library() -> tuple[list[str], list[str], list[str]]:
    """Collect the docstrings of the standard library of the running Python.

    The sources are parsed and never imported, so no code of theirs runs.

    Returns
    -------
    texts : list of str
        The docstrings of modules, classes and functions that have at least 20 words.
    labels : list of str
        The top-level module of each.
    ids : list of str
        The dotted name of each; where a name is defined again, ``#2``, ``#3``, ... is added.

    Raises
    ------
    CorpusError
        If this Python comes without sources.

    Examples
    --------
    >>> texts, labels, ids = standard_library()
    >>> ids[labels.index("json")]
    'json'
    """
    texts, labels, ids = _collect()
    return list(texts), list(labels), list(ids)


# Parsing takes seconds, and the library does not change while it runs.
@cache
def _collect() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    root = Path(sysconfig.get_path("stdlib"))
    texts: list[str] = []
    labels: list[str] = []
    ids: list[str] = []
    uses: Counter[str] = Counter()
    for module in sorted(sys.stdlib_module_names):
        for file in _sources(root, module):
            for name, text in _docstrings(_parse(file), _dotted(root, file)):
                uses[name] += 1
                texts.append(text)
                labels.append(module)
                ids.append(name if uses[name] == 1 else f"{name}#{uses[name]}")
    if not texts:
        raise CorpusError(f"this Python has no source code of its standard library in {root}")
    return tuple(texts), tuple(labels), tuple(ids)


def _sources(root: Path, module: str) -> list[Path]:
    """List the source files of a module or package, without its tests."""
    single = root / f"{module}.py"
    files = [single] if single.is_file() else []
    files += [
        file
        for file in (root / module).rglob("*.py")
        if _TEST_FOLDERS.isdisjoint(file.relative_to(root).parts[:-1])
    ]
    return sorted(files, key=lambda file: file.relative_to(root).parts)


def _dotted(root: Path, file: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _parse(file: Path) -> ast.Module:
    with warnings.catch_warnings():
        # Old escapes in the library's own strings: nothing that the user could change.
        warnings.simplefilter("ignore")
        return ast.parse(file.read_bytes(), filename=str(file))


def _docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Walk the statements below a node, also those inside ``if`` or ``try``, in the order of the source."""
    if isinstance(node, _DOCUMENTED):
        text = ast.get_docstring(node)
        if text and len(text.split()) >= _FEWEST_WORDS:
            yield name, text
    for part in _STATEMENTS:
        for child in getattr(node, part, ()):
            if isinstance(child, _NAMED):
                yield from _docstrings(child, f"{name}.{child.name}")
            elif isinstance(child, _NESTED):
                yield from _docstrings(child, name)
