"""Make the pictures of the manual anew: python docs/pictures.py (all but those that benchmarks draw)."""

from __future__ import annotations

import io
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from playwright.sync_api import Browser, sync_playwright
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from rich.console import Console

import laconic
from laconic import Bundle, Corpus, SearchIndex
from laconic.bundle import Documents
from laconic.bundle.listing import Listing
from laconic.cli.commands.demo import TERMS, TERMS_SHOWN, TOPICS
from laconic.cli.screen.tables import labels_column, topics_table
from laconic.corpus.stdlib import standard_library
from laconic.explore.server.app import make_app
from laconic.explore.server.running import chosen_door
from laconic.models.making import make_model

IMAGES = Path(__file__).parent / "images"
TITLE = "Python's standard library"
FONTS = "'Noto Sans', 'DejaVu Sans', sans-serif"
NOTEBOOK = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 12px; font: 15px {fonts}; width: 1060px }}
.cell {{ display: grid; grid-template-columns: 72px 1fr; margin-bottom: 14px }}
.prompt {{ color: #888; font: 13px monospace; padding-top: 9px }}
pre {{ margin: 0; padding: 8px; background: #f5f5f5; border: 1px solid #ddd }}
{colours}</style>{cells}"""


def demo_bundle() -> Bundle:
    """The model of `laconic demo`."""
    texts, labels, ids = standard_library()
    corpus = Corpus.from_texts(texts, labels=labels, ids=ids, keep_texts=True, **TERMS)
    model = make_model("rlsi", TOPICS, random_state=0).fit(corpus.X)
    return Bundle(model, corpus.vectorizer, documents=Documents.of(model, corpus))


def draw_terminal(bundle: Bundle) -> None:
    """The table that `laconic demo` ends with."""
    documents = bundle.documents
    assert documents is not None
    modules = labels_column(documents.labels, documents.weights)
    console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True)
    console.print(topics_table(Listing.of(bundle), TERMS_SHOWN, extra=modules))
    picture = console.export_svg(title="laconic demo")
    # fonts of the viewer's own machine: a picture should not fetch anything
    picture = re.sub(r"@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)
    (IMAGES / "demo.svg").write_text(picture, encoding="utf-8")


@contextmanager
def serving(path: Path) -> Iterator[Any]:
    """The explorer of a saved model."""
    door, bound = chosen_door("127.0.0.1", 0, None)
    server = uvicorn.Server(uvicorn.Config(make_app(path, door), log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


def shoot(browser: Browser, name: str, address: str, width: int, height: int, *then: str) -> None:
    """A picture of a page, after going on to other addresses of it."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    for path in then:
        page.goto(address.split("/?")[0] + path)
    page.screenshot(path=IMAGES / f"{name}.png")
    page.close()


def shoot_explorer(browser: Browser, bundle: Bundle, folder: Path) -> None:
    """The page of a topic, whichever number it has in this Python."""
    words = bundle.topic_words(1)
    topic = next((k for k, own in enumerate(words) if own[0][0] in ("bytes", "path")), 0)
    path = folder / "demo-model"
    bundle.save(path)
    with serving(path) as door:
        shoot(browser, "explorer", door.link, 1100, 940, f"/topics/{topic}")


def shoot_report(browser: Browser, bundle: Bundle, folder: Path) -> None:
    """The beginning of the report of `make demo`."""
    path = bundle.report(folder / "report.html", title=TITLE)
    shoot(browser, "report", f"file://{path}", 1100, 1030)


def shoot_notebook(browser: Browser, folder: Path) -> None:
    """What a bundle and a search look like when a cell ends with them."""
    texts, labels, ids = standard_library()
    lines = [
        "bundle = laconic.fit(texts, n_topics=8, labels=labels, ids=ids)\nbundle",
        'index = SearchIndex(bundle)\nindex.search("read a compressed file", k=2)',
    ]

    bundle = laconic.fit(texts, n_topics=8, labels=labels, ids=ids)
    shown = [bundle, SearchIndex(bundle).search("read a compressed file", k=2)]
    formatter = HtmlFormatter()
    coded = [highlight(code, PythonLexer(), formatter) for code in lines]
    cells = "".join(
        f'<div class="cell"><div class="prompt">In [{n}]:</div>{code}</div>'
        f'<div class="cell"><div class="prompt">Out[{n}]:</div><div>{out._repr_html_()}</div></div>'
        for n, (code, out) in enumerate(zip(coded, shown, strict=True), 2)
    )
    path = folder / "notebook.html"
    colours = formatter.get_style_defs(".highlight")
    path.write_text(NOTEBOOK.format(fonts=FONTS, colours=colours, cells=cells), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1100, "height": 300})
    page.goto(f"file://{path}")
    page.screenshot(path=IMAGES / "notebook.png", full_page=True)
    page.close()


def main() -> None:
    """All of them."""
    bundle = demo_bundle()
    draw_terminal(bundle)
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        shoot_explorer(browser, bundle, Path(folder))
        shoot_report(browser, bundle, Path(folder))
        shoot_notebook(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
