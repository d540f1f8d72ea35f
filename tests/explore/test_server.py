import json
from dataclasses import asdict
from urllib.parse import urlencode

import pytest
from asking import ask, door
from explore_toys import HOSTILE, KINDS, of_size
from test_report import Page

import laconic
from laconic.bundle.chosen import Chosen, Tried
from laconic.explore import views
from laconic.explore.server.app import make_app

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    """From a kind to its explorer."""
    made = {}

    def app(kind, **options):
        key = kind, *options.items()
        if key not in made:
            path = tmp_path_factory.mktemp("models") / kind
            KINDS[kind]().save(path)
            made[key] = make_app(path, door(), **options)
        return made[key]

    return app


def addresses(kind):
    """Every page that there is for a kind of model."""
    bundle = KINDS[kind]()
    first = next(iter(bundle.vectorizers.values()), bundle.vectorizer).vocabulary[0]
    found = ["/", "/?order=name&first=1", "/topics/0", f"/word?term={first}", "/near", "/text"]
    found += ["/compare", "/compare?first=1&second=0"]
    if bundle.documents is not None:
        found += ["/search", "/search?q=moon+butter&blend=0.5", "/document?" + urlencode({"id": HOSTILE})]
        found += ["/document?id=doc/0", "/time"]
        if bundle.documents.labels is not None:
            found += ["/classes", "/class?name=sea"]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_of_every_kind(apps, kind):
    app, seen = apps(kind), set()
    queue = addresses(kind)
    while queue and len(seen) < 60:
        address = queue.pop(0)
        if address in seen:
            continue
        seen.add(address)
        answer = ask(app, address)
        assert answer.status == 200, (address, answer.text)
        page = Page(answer.text)
        assert len(page.ids) == len(set(page.ids))
        assert not page.scripts
        assert not page.styles
        assert not page.all("img")
        assert len(page.all("h1")) == 1
        for _, attrs in page.tags:
            assert "style" not in attrs
            assert not any(name.startswith("on") for name in attrs)
            for name in ("src", "href", "action"):
                target = attrs.get(name)
                assert target is None or (target.startswith(("/", "#")) and not target.startswith("//"))
        # what is linked is there: follow some of it
        links = [attrs["href"] for attrs in page.all("a") if attrs.get("href", "").startswith("/")]
        queue += [
            link for link in links[:: max(1, len(links) // 6)] if not link.startswith(("/api", "/edits"))
        ]


@pytest.mark.parametrize("kind", ["flat", "group", "multimodal"])
def test_json_beside_every_page(apps, kind):
    app = apps(kind)
    for address in addresses(kind):
        page = Page(ask(app, address).text)
        (beside,) = [a["href"] for a in page.all("a") if a.get("href", "").startswith("/api/")] or [None]
        if beside is not None:
            answer = ask(app, beside)
            assert answer.status == 200, beside
            assert answer.header("content-type") == "application/json"
            json.loads(answer.body)


def test_json_is_the_view(apps):
    app, bundle = apps("flat"), KINDS["flat"]()
    assert ask(app, "/api/topics/1").json == asdict(views.topic(bundle, 1))
    assert ask(app, "/api/overview?n=2&order=size").json == asdict(views.overview(bundle, n=2, order="size"))
    assert ask(app, "/api/search?q=moon&k=3").json == asdict(views.search(bundle, "moon", k=3))
    said = {"text": "sun and moon"}
    answer = ask(app, "/api/describe", "POST", json.dumps(said).encode())
    assert answer.json == asdict(views.describe(bundle, "sun and moon"))


def test_what_documents_contain_stays_text(apps):
    app = apps("flat")
    for address in (
        "/document?" + urlencode({"id": HOSTILE}),
        "/document?id=doc/0",
        "/search?" + urlencode({"q": HOSTILE}),
    ):
        page = Page(ask(app, address).text)
        assert HOSTILE in "".join(page.text) + str(page.tags)
        assert all(set(script) <= {"src", "defer"} for script in page.all("script"))
        assert not page.all("img")
    hostile = urlencode({"term": HOSTILE, "modality": HOSTILE})
    assert ask(app, f"/word?{hostile}").status == 404
    assert not Page(ask(app, f"/word?{hostile}").text).all("img")


def test_a_pasted_text_gets_its_topics_without_a_script(apps):
    body = urlencode({"csrf": door().csrf, "text": f"The moon & sun {HOSTILE}", "modality": ""}).encode()
    answer = ask(apps("flat"), "/text", "POST", body, also={**FORM, "x-csrf-token": None})
    assert answer.status == 200
    page = Page(answer.text)
    assert HOSTILE in "".join(page.text)
    assert {a.get("data-topic") for a in page.all("a")} - {None}
    body = urlencode({"csrf": door().csrf, "text": "Mond und Sonne", "modality": "german"}).encode()
    answer = ask(apps("multimodal"), "/text", "POST", body, also={**FORM, "x-csrf-token": None})
    assert "data-topic" in answer.text


def test_a_text_may_be_long_but_not_endless(apps):
    for size, status in ((150_000, 200), (250_000, 404)):
        body = urlencode({"csrf": door().csrf, "text": "moon " * (size // 5)}).encode()
        assert ask(apps("flat"), "/text", "POST", body, also={**FORM, "x-csrf-token": None}).status == status
    endless = json.dumps({"text": "x" * 300_000}).encode()
    assert ask(apps("flat"), "/api/describe", "POST", endless).status == 422


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/topics/4", 404), ("/topics/-1", 404), ("/topics/one", 422), ("/word", 422), ("/word?term=", 404),
        ("/document?id=none", 404), ("/class?name=none", 404), ("/compare?first=0&second=99", 404),
        ("/search?q=a&blend=2", 422), ("/search?q=a&blend=nan", 422), ("/?order=age", 422), ("/none", 404),
        ("/assets/none.css", 404), ("/topics/99999999999999999999999", 404),
    ],
)  # fmt: skip
def test_what_there_is_not_is_said(apps, address, status):
    answer = ask(apps("flat"), address)
    assert answer.status == status
    assert "Traceback" not in answer.text
    assert Page(answer.text).all("h1")
    if not address.startswith("/assets"):
        other = ask(apps("flat"), "/api" + address)
        assert other.status in (404, 422)
        assert "detail" in other.json


@pytest.mark.parametrize(
    "path",
    ["/assets/../app.py", "/assets/..%2f..%2fserver%2fapp.py", "/assets//etc/passwd", "/..%2f..%2fetc/passwd",
     "/assets/macros.html", "/assets/%00", "/document?id=../../etc/passwd", "/topics/..%2f..",
     "/assets/style.css%00"],
)  # fmt: skip
def test_no_path_of_a_request_touches_the_disk(apps, path, monkeypatch):
    from urllib.parse import unquote

    app = apps("flat")
    ask(app, "/")
    opened = []
    real = open

    def watched(file, *args, **kwargs):
        opened.append(str(file))
        return real(file, *args, **kwargs)

    monkeypatch.setattr("builtins.open", watched)
    monkeypatch.setattr("io.open", watched)
    answer = ask(app, unquote(path))
    assert answer.status in (404, 422)
    assert "root:" not in answer.text
    assert not [name for name in opened if "passwd" in name or "app.py" in name]


def test_assets_may_be_kept_and_pages_may_not(apps):
    assert "max-age" in ask(apps("flat"), "/assets/style.css").header("cache-control")
    assert ask(apps("flat"), "/").header("cache-control") == "no-store"
    assert ask(apps("flat"), "/favicon.ico").status == 204


def test_head_is_answered_without_a_body(apps):
    assert ask(apps("flat"), "/", "HEAD").status == 200


def test_the_openapi_document_is_at_api(apps):
    found = ask(apps("flat"), "/api").json
    assert found["openapi"].startswith("3.")
    assert "/api/topics/{id}" in found["paths"]
    assert "TopicView" in found["components"]["schemas"]
    assert ask(apps("flat"), "/docs").status == 404


def test_a_model_that_others_change_is_read_again(tmp_path):
    bundle = KINDS["flat"]()
    bundle.save(tmp_path / "model")
    app = make_app(tmp_path / "model", door())
    assert "Luna" not in ask(app, "/topics/2").text
    laconic.load(tmp_path / "model").rename(2, "Luna").save(tmp_path / "model")
    assert "Luna" in ask(app, "/topics/2").text


def test_many_topics_have_pages(tmp_path):
    of_size(1200).save(tmp_path / "many")
    app = make_app(tmp_path / "many", door())
    page = Page(ask(app, "/?first=200").text)
    assert "201\N{EN DASH}300 of 1,200" in "".join(page.text)
    first = Page(ask(app, "/").text)
    assert len(first.all("circle")) == 500
    assert "There are 1,200 topics" in "".join(first.text)
    assert ask(app, "/topics/1199").status == 200
    assert ask(app, "/near").status == 200


def test_the_overview_says_what_spoke_for_which_number_of_topics(tmp_path):
    bundle = of_size(4)
    tried = tuple(Tried(n, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6) for n in (2, 4))
    bundle.chosen = Chosen(4, "4 topics <return> best", ("but few documents",), 10, 5, tried)
    bundle.save(tmp_path / "model")
    app = make_app(tmp_path / "model", door())
    page = ask(app, "/").text
    assert "4 topics &lt;return&gt; best" in page
    assert "but few documents" in page
    assert ask(app, "/api/overview").json["chosen"]["tried"][1]["n_topics"] == 4
