"""The explorer and the report in a real browser: every page, offline, without an error, for everybody."""

import os
import shutil
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from explore_toys import HOSTILE, KINDS

from laconic.explore.server.app import make_app
from laconic.explore.server.running import chosen_door

api = pytest.importorskip("playwright.sync_api", reason="the browser tests need laconic[browser]")
uvicorn = pytest.importorskip("uvicorn")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
PATIENCE = 30_000
PHONE = {"width": 390, "height": 800}
CACHES = {"darwin": "~/Library/Caches/ms-playwright", "win32": "~/AppData/Local/ms-playwright"}


def no_chromium():
    """Whether there is neither one of the system nor Playwright's own."""
    own = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", CACHES.get(sys.platform, "~/.cache/ms-playwright"))
    return not any(map(shutil.which, NAMES)) and not any(Path(own).expanduser().glob("chromium*-*"))


if no_chromium():
    # all tests at once, so that it is said once
    pytest.skip("no Chromium: install one, or run playwright install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    """A Chromium: the system's, or else Playwright's own."""
    with api.sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, NAMES)), None)
        flags = [*FLAGS, *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])]
        try:
            launched = playwright.chromium.launch(executable_path=found, args=flags)
        except api.Error as error:
            pytest.skip(f"the Chromium of this machine does not start ({error.message[:80]})")
        yield launched
        launched.close()


@contextmanager
def serving(path, **options):
    """The explorer of a model, on a port of its own."""
    door, bound = chosen_door("127.0.0.1", 0, None)
    app = make_app(path, door, **options)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.should_exit = True
        thread.join(30)
        bound.close()


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """From a kind of model to its explorer."""
    with_doors = {}
    stack = []

    def opened(kind):
        if kind not in with_doors:
            path = tmp_path_factory.mktemp("models") / kind
            KINDS[kind]().save(path)
            running = serving(path)
            with_doors[kind] = running.__enter__()
            stack.append(running)
        return with_doors[kind]

    yield opened
    for running in reversed(stack):
        running.__exit__(None, None, None)


class Visit:
    """A page of the browser that tells what went wrong on it."""

    def __init__(self, browser, door, **options):
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.wrong, self.left = [], []
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.wrong.append(dialog.message), dialog.dismiss()))
        self.address = door.address.rstrip("/") if door else "file://"
        self.context.route("**/*", self._watch)
        if door:
            self.page.goto(door.link)
            assert "token" not in self.page.url

    def _watch(self, route):
        """Let requests to the explorer through, and no other."""
        if route.request.url.startswith((self.address, "file://", "data:")):
            route.continue_()
        else:
            self.left.append(route.request.url)
            route.abort()

    def go(self, path):
        answer = self.page.goto(self.address + path)
        assert answer.status == 200, path
        return self.page

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert self.wrong == []
            assert self.left == []


def pages_of(kind):
    bundle = KINDS[kind]()
    term = next(iter(bundle.vectorizers.values()), bundle.vectorizer).vocabulary[0]
    paths = ["/", "/topics/0", f"/word?term={term}", "/near", "/compare", "/text"]
    if bundle.documents is not None:
        paths += ["/document?id=doc/0", "/search?q=moon+butter"]
        paths += ["/classes", "/class?name=sea"] if bundle.documents.labels is not None else []
        paths += ["/time"] if bundle.documents.dates is not None else []
    return paths


def overflows(page):
    return page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")


def complaints(page):
    """What axe-core finds of WCAG A and AA."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the check needs laconic[browser]"
    )
    found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found.response["violations"]
    ]


@pytest.mark.parametrize("kind", ["flat", "group", "multimodal", "graph", "no_documents"])
def test_every_page_is_without_errors_and_stays_on_this_machine(browser, doors, kind):
    with Visit(browser, doors(kind), viewport=PHONE) as visit:
        for path in pages_of(kind):
            page = visit.go(path)
            assert page.locator("h1").count() == 1
            assert not overflows(page), path
            # the style is there before anything is shown
            assert page.evaluate("getComputedStyle(document.querySelector('.page')).maxWidth") != "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser, doors, scheme):
    kind = "flat" if scheme == "light" else "group"
    with Visit(browser, doors(kind), color_scheme=scheme) as visit:
        for path in pages_of(kind):
            assert complaints(visit.go(path)) == [], path
        background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(background.strip("rgb()").split(",")[0]) > 128) == (scheme == "light")


def test_click_through(browser, doors):
    with Visit(browser, doors("flat")) as visit:
        page = visit.page
        page.locator("#topics-table tbody a.name").first.click()
        page.wait_for_url("**/topics/*")
        word = page.locator(".bars a").first
        term = word.inner_text()
        word.click()
        page.wait_for_url("**/word?*")
        assert page.locator("h1").inner_text() == term
        page.locator(".hits h3 a").first.click()
        page.wait_for_url("**/document?*")
        page.locator(".text a").first.click()
        page.wait_for_url("**/topics/*")
        page.go_back()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"


def test_search_and_slider(browser, doors):
    with Visit(browser, doors("flat")) as visit:
        page = visit.page
        page.fill("#find", "moon butter")
        page.press("#find", "Enter")
        page.wait_for_url("**/search?q=moon*")
        before = page.locator(".hits summary").all_inner_texts()
        assert before
        assert page.locator("mark").count() > 0
        page.locator(".hits details summary").first.click()
        assert page.locator(".hits details li").first.is_visible()
        page.locator("#blend").focus()
        page.keyboard.press("End")
        page.wait_for_url("**blend=1*")
        after = page.locator(".hits summary").all_inner_texts()
        assert after != before
        assert all("words 0.000" in line for line in after)


def test_sort_filter_and_highlight(browser, doors):
    with Visit(browser, doors("flat")) as visit:
        page = visit.page
        numbers = "#topics-table tbody td.id"
        page.get_by_role("button", name="No.").click()
        assert page.locator(numbers).all_inner_texts() == ["0", "1", "2", "3"]
        page.get_by_role("button", name="No.").click()
        assert page.locator(numbers).all_inner_texts() == ["3", "2", "1", "0"]
        assert page.locator("th[aria-sort=descending]").count() == 1
        page.fill("#filter", "no such word")
        assert page.locator("#topics-table tbody tr:visible").count() == 0
        assert page.locator("#filter-told").inner_text() == "0 of 4"
        page.fill("#filter", "")
        page.locator("#topics-table tbody tr").first.hover()
        assert page.locator(".map a.lit").count() == 1


def test_a_new_text(browser, doors):
    with Visit(browser, doors("flat")) as visit:
        page = visit.go("/text")
        page.fill("#text", f"The moon, the sun and a comet. {HOSTILE}")
        page.click("button.main")
        page.locator(".text a").first.wait_for()
        assert HOSTILE in page.locator(".text").inner_text()


def test_without_script_pages_are_whole(browser, doors):
    with Visit(browser, doors("flat"), java_script_enabled=False) as visit:
        for path in pages_of("flat"):
            visit.go(path)
            assert visit.page.locator("h1").count() == 1
        page = visit.go("/text")
        page.fill("#text", "The moon and the sun")
        page.click("button.main")
        assert page.locator(".text a").count() == 2
        visit.go("/?order=name")
        assert not page.locator("#filter").is_visible()


def test_what_documents_contain_does_nothing(browser, doors):
    with Visit(browser, doors("flat")) as visit:
        page = visit.page
        page.fill("#find", HOSTILE)
        page.press("#find", "Enter")
        page.wait_for_url("**/search?*")
        visit.go("/document?id=doc/0")
        assert HOSTILE in page.locator(".text").inner_text()


def test_without_the_token_there_is_nothing_to_see(browser, doors):
    door = doors("flat")
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(door.address).status == 401
    assert "Open the link" in page.inner_text("main")
    context.close()


@pytest.mark.parametrize("kind", ["flat", "group", "multimodal"])
def test_the_report(browser, tmp_path, kind):
    path = KINDS[kind]().report(tmp_path / "report.html", documents=2)
    scheme = "dark" if kind == "group" else "light"
    with Visit(browser, None, color_scheme=scheme) as visit:
        page = visit.page
        page.goto(f"file://{path}")
        assert complaints(page) == []
        page.get_by_role("button", name="words").click()
        page.fill("#filter", "no such word")
        assert page.locator(".card:visible").count() == 0
        page.fill("#filter", "")
        page.locator(".map a").first.focus()
        assert page.locator("tr.lit").count() >= 1
        page.set_viewport_size(PHONE)
        assert not overflows(page)
        page.emulate_media(media="print")
        assert not page.locator(".top").is_visible()
        assert page.locator(".card").first.is_visible()


def test_rename_merge_undo(browser, tmp_path):
    path = tmp_path / "model"
    KINDS["flat"]().save(path)
    with serving(path) as door, Visit(browser, door) as visit:
        page = visit.go("/topics/1")
        page.locator(".acts summary").click()
        page.fill("#new-name", "Luna & Sol")
        page.get_by_role("button", name="Rename").click()
        page.locator("h1", has_text="Luna & Sol").wait_for()
        visit.go("/topics/0")
        page.locator(".acts summary").click()
        page.fill("#merge-with", "3")
        page.get_by_role("button", name="Merge").click()
        page.get_by_role("button", name="Accept").click()
        page.locator("ol li", has_text="Merge 0 3").wait_for()
        assert complaints(page) == []
        assert page.locator("#log-title ~ ol li").count() == 2
        page.get_by_role("button", name="Undo").click()
        page.locator("ol li", has_text="Merge 0 3").wait_for(state="detached")
        visit.go("/topics/3")
        assert page.locator(".bars li").count() > 0
        visit.go("/edits")
        page.fill("#seed-name", "sky")
        page.fill("#seed-words", "sun, moon")
        page.get_by_role("button", name="Seed").click()
        page.get_by_role("button", name="Discard").wait_for()
        page.get_by_role("button", name="Accept").wait_for()
        page.get_by_role("button", name="Discard").click()
        page.locator("#seed-name").wait_for()


def test_a_second_tab_is_told(browser, tmp_path):
    path = tmp_path / "model"
    KINDS["flat"]().save(path)
    with serving(path) as door, Visit(browser, door) as visit:
        stale = visit.go("/topics/1")
        other = visit.context.new_page()
        for page, name in ((other, "Luna"), (stale, "Sol")):
            if page is other:
                page.goto(f"{visit.address}/topics/1")
            page.locator(".acts summary").click()
            page.fill("#new-name", name)
            page.get_by_role("button", name="Rename").click()
            if page is other:
                page.locator("h1", has_text="Luna").wait_for()
        stale.locator("#told", has_text="reload the page").wait_for()
        # a browser says every answer that is an error on its console
        visit.wrong = [said for said in visit.wrong if "409" not in said]
