"""How things look in a notebook: pure functions from plain data to HTML.

Self-contained (no script, nothing fetched), escaped throughout, and legible on light and dark pages: text has
the page's own colour, and nothing is told by colour alone.
"""

from laconic.display.documents import corpus_html
from laconic.display.found import explanation_html, results_html, snippet_html
from laconic.display.topics import bundle_html, model_html

__all__ = [
    "bundle_html",
    "corpus_html",
    "explanation_html",
    "model_html",
    "results_html",
    "snippet_html",
]
