"""How sphinx makes the manual: offline, with formulas as MathML, which browsers draw themselves."""

from docutils import nodes
from latex2mathml.converter import convert

from laconic import __version__

project = "laconic"
author = "the laconic developers"
copyright = "2026, the laconic developers"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc", "myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"laconic {__version__}"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _inline(self, node):
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(self, node):
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))


html_math_renderer = "mathml"

# several classes have an attribute of the same name, which is no mistake
suppress_warnings = ["ref.python"]
