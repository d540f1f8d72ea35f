"""The manual: links lead somewhere, pages are found, examples run, and formulas can be drawn offline."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

from laconic.evaluate import clustering_accuracy

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES if "_build" not in page.parts]

_FENCED = re.compile(r"^(`{3,})(?P<kind>[^\n]*)\n(?P<code>.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"(`+)[^`].*?\1")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\d\w])", re.DOTALL)


def prose(name):
    """A page without its code."""
    text = _FENCED.sub("", (ROOT / name).read_text(encoding="utf-8"))
    indented = [line for line in text.splitlines() if not line.startswith("    ")]
    return "\n".join(indented)


def anchors(path):
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings]
    return set(plain)


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    for match in _LINK.finditer(_INLINE_CODE.sub("", prose(name))):
        target, _, anchor = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{name} links to {match['target']}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{name} links to {match['target']}"


def test_every_page_of_the_manual_is_listed():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    listed = set(index[index.index("{toctree}") :].split())
    for name in NAMES:
        path = Path(name)
        if path.parts[0] == "docs" and path.name != "index.md" and path.parent == Path("docs"):
            assert path.stem in listed, f"{name} is not in the table of contents"
            assert f"({path.name})" in index, f"docs/index.md does not say what {name} is"


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(examples).failed == 0
    for block in _FENCED.finditer(text):
        if block["kind"].strip() == "python" and ">>>" not in block["code"]:
            ast.parse(block["code"])


def test_digits_form_clusters_as_the_page_on_graphs_says():
    text = (ROOT / "docs/graph-plsa.md").read_text(encoding="utf-8")
    (code,) = (block["code"] for block in _FENCED.finditer(text) if "load_digits" in block["code"])
    space = {}
    with pytest.warns(ConvergenceWarning):
        exec(code, space)
    assert clustering_accuracy(space["y"], space["clusters"]) > 0.8


@pytest.mark.parametrize("name", NAMES)
def test_formulas_can_be_drawn_offline(name):
    convert = pytest.importorskip("latex2mathml.converter", reason="formulas need the extra docs").convert
    for formula in _FORMULA.findall(_INLINE_CODE.sub("", prose(name))):
        drawn = convert(next(filter(None, formula)))
        assert drawn.startswith("<math")


def test_the_readme_is_short_and_has_pictures():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    assert text.count("![") >= 3
