from laconic import __version__

project = "laconic"
author = "the laconic developers"
copyright = "2026, the laconic developers"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.viewcode", "numpydoc", "myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"laconic {__version__}"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
