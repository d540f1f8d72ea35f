"""The pages of the explorer: views, by the templates of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from laconic.explore import views
from laconic.explore.facts import facts_of
from laconic.explore.pages.rendering import asset, digest, render
from laconic.explore.report import summary
from laconic.explore.server.acting import Workshop
from laconic.explore.server.api import LONGEST_TEXT, Modality, Text
from laconic.explore.server.links import ExplorerLinks
from laconic.explore.server.state import Explored, Seen
from laconic.explore.views.lines import UnknownError
from laconic.explore.views.shapes import Described
from laconic.steering.edits import obstacle
from laconic.steering.inputs import lacking_links

PAGE = 100
ON_MAP = 500
KEPT = 50
"""So many pages about all topics are kept as they were shown: the largest, and those asked for most."""
ASSETS = {"style.css": "text/css", "look.js": "text/javascript", "act.js": "text/javascript"}
LINKS = ExplorerLinks()

Number = Annotated[int, Query(ge=0, le=1_000_000)]


def stamp(name: str) -> str:
    """What changes when an asset does, so that browsers may keep it."""
    return digest(asset(name))[8:20].replace("+", "-").replace("/", "_")


def refusal(status: int, message: str) -> str:
    """The page of a request that is refused: it says why, and nothing about the model."""
    return render("refused.html", status=status, message=message, stamp=stamp)


class Pages:
    """Makes pages of views.

    Parameters
    ----------
    explored : Explored
    workshop : Workshop or None
        Where it is changed; None if nothing may be.
    """

    def __init__(self, explored: Explored, workshop: Workshop | None) -> None:
        self.explored, self.workshop = explored, workshop
        self._shown: dict[tuple[str, str], bytes] = {}
        self._said: tuple[str, list[str]] = ("", [])
        self._anew: tuple[str, bool] = ("", False)

    def page(
        self,
        request: Request,
        template: str,
        seen: Seen,
        *,
        status: int = 200,
        beside: str = "",
        **values: Any,
    ) -> HTMLResponse:
        """A page; `beside` is where the same is to be had as JSON."""
        made = render(
            template,
            links=LINKS,
            name=self.explored.name,
            version=seen.version,
            csrf=request.scope["state"]["csrf"],
            here=request.url.path,
            has=self._has(seen),
            read_only=self.workshop is None,
            beside=beside,
            stamp=stamp,
            **values,
        )
        return HTMLResponse(made, status)

    def _has(self, seen: Seen) -> dict[str, bool]:
        """Which pages there are for this model."""
        bundle = seen.bundle
        facts = facts_of(bundle)
        return {
            "documents": facts.documents is not None,
            "classes": bool(facts.owners or facts.label_names),
            "time": facts.over_time is not None,
            "texts": bundle.vectorizer is not None or bool(bundle.vectorizers),
            "edits": obstacle(bundle) is None,
            "anew": facts.documents is not None and self._found_anew(seen),
        }

    def _found_anew(self, seen: Seen) -> bool:
        """Whether topics can be found anew in the documents: looked at once for a version."""
        if self._anew[0] != seen.version:
            self._anew = seen.version, (obstacle(seen.bundle) or lacking_links(seen.bundle)) is None
        return self._anew[1]

    def router(self) -> APIRouter:
        """All pages."""
        router = APIRouter(include_in_schema=False)
        for path, made in (
            ("/", self.overview),
            ("/topics/{id}", self.topic),
            ("/word", self.word),
            ("/document", self.document),
            ("/search", self.search),
            ("/compare", self.compare),
            ("/class", self.label),
            ("/classes", self.labels),
            ("/time", self.time),
            ("/near", self.near),
            ("/text", self.new_text),
            ("/assets/{name}", self.asset),
            ("/favicon.ico", self.icon),
        ):
            router.add_api_route(path, made, methods=["GET", "HEAD"], response_class=HTMLResponse)
        if self.workshop is not None:
            router.add_api_route("/edits", self.edits, methods=["GET", "HEAD"], response_class=HTMLResponse)
        router.add_api_route("/text", self.described, methods=["POST"], response_class=HTMLResponse)
        return router

    def asset(self, name: str) -> Response:
        """A style or a script; only those that there are, by their names."""
        if name not in ASSETS:
            raise UnknownError("there is no such file")
        lasting = {"cache-control": "private, max-age=86400"}
        return PlainTextResponse(asset(name), media_type=ASSETS[name], headers=lasting)

    def icon(self) -> Response:
        """Browsers ask for one."""
        return Response(status_code=204)

    def overview(
        self,
        request: Request,
        first: Number = 0,
        order: Annotated[str, Query(pattern="^(id|share|size|name)$")] = "share",
    ) -> HTMLResponse:
        """All topics."""
        asked = urlencode({"first": first, "order": order})

        def make(seen: Seen) -> HTMLResponse:
            return self.page(
                request,
                "overview.html",
                seen,
                beside="/api/overview?" + asked,
                overview=views.overview(seen.bundle, first=first, n=PAGE, order=order),
                summary=self._summary(seen),
                map=views.topic_map(seen.bundle, most=ON_MAP) if not first else None,
                order=order,
                step=PAGE,
            )

        return self._kept("/?" + asked, make)

    def _kept(self, name: str, make: Callable[[Seen], HTMLResponse]) -> HTMLResponse:
        """A page that is the same for everybody until the model changes: made once for a version."""
        seen = self.explored.now()
        key = seen.version, name
        shown = self._shown.get(key)
        if shown is None:
            if len(self._shown) >= KEPT:
                self._shown = {}
            shown = self._shown[key] = bytes(make(seen).body)
        return HTMLResponse(shown)

    def _summary(self, seen: Seen) -> list[str]:
        """The model in words: of all its topics, so it is found once for a version."""
        if self._said[0] != seen.version:
            self._said = seen.version, summary(views.overview(seen.bundle, n_words=1))
        return self._said[1]

    def topic(self, request: Request, id: int) -> HTMLResponse:
        """A topic."""
        seen = self.explored.now()
        view = views.topic(seen.bundle, id)
        frozen = id in seen.bundle.notes.frozen
        return self.page(request, "topic.html", seen, beside=f"/api/topics/{id}", view=view, frozen=frozen)

    def word(self, request: Request, term: Text, modality: Modality = None) -> HTMLResponse:
        """A word."""
        seen = self.explored.now()
        view = views.word(seen.bundle, term, modality=modality)
        return self.page(
            request, "word.html", seen, beside="/api" + LINKS.word(term, modality or ""), view=view
        )

    def document(self, request: Request, id: Text) -> HTMLResponse:
        """A document to read."""
        seen = self.explored.now()
        view = views.document(seen.bundle, id)
        return self.page(
            request,
            "document.html",
            seen,
            beside="/api" + LINKS.document(id),
            view=view,
            shades=shades(view.topics),
        )

    def search(
        self,
        request: Request,
        q: Text = "",
        blend: Annotated[float | None, Query(ge=0, le=1)] = None,
        modality: Modality = None,
    ) -> HTMLResponse:
        """Documents by words and topics."""
        seen = self.explored.now()
        view = views.search(seen.bundle, q, blend=blend, modality=modality)
        asked = {"q": q, "blend": view.blend, **({"modality": modality} if modality else {})}
        return self.page(
            request,
            "search.html",
            seen,
            beside="/api/search?" + urlencode(asked),
            view=view,
            modalities=seen.bundle.modalities,
        )

    def compare(self, request: Request, first: Number = 0, second: Number = 1) -> HTMLResponse:
        """Two topics side by side."""
        seen = self.explored.now()
        last = seen.bundle.model.components_.shape[0] - 1
        second = min(second, last) if "second" not in request.query_params else second
        return self.page(
            request,
            "compare.html",
            seen,
            beside="/api" + LINKS.compare(first, second),
            view=views.compare(seen.bundle, first, second),
            last=last,
        )

    def label(self, request: Request, name: Text) -> HTMLResponse:
        """A class."""
        seen = self.explored.now()
        view = views.label(seen.bundle, name)
        return self.page(request, "class.html", seen, beside="/api" + LINKS.label(name), view=view)

    def labels(self, request: Request) -> HTMLResponse:
        """Topics by class."""

        def make(seen: Seen) -> HTMLResponse:
            return self.page(
                request,
                "classes.html",
                seen,
                beside="/api/classes",
                table=views.labels(seen.bundle, most=PAGE),
                lines=views.overview(seen.bundle, n=1).labels,
            )

        return self._kept("/classes", make)

    def time(self, request: Request) -> HTMLResponse:
        """Topics over time."""

        def make(seen: Seen) -> HTMLResponse:
            return self.page(request, "time.html", seen, beside="/api/time", view=views.time(seen.bundle))

        return self._kept("/time", make)

    def near(self, request: Request) -> HTMLResponse:
        """How near topics are to each other."""

        def make(seen: Seen) -> HTMLResponse:
            return self.page(
                request,
                "near.html",
                seen,
                beside="/api/similarity",
                pairs=views.nearest_pairs(seen.bundle),
                tree=views.tree(seen.bundle),
            )

        return self._kept("/near", make)

    def new_text(self, request: Request) -> HTMLResponse:
        """A box for a new text."""
        return self._text_page(request, self.explored.now(), "", None)

    async def described(self, request: Request) -> HTMLResponse:
        """The topics of a new text."""
        from starlette.concurrency import run_in_threadpool

        fields = parse_qs((await request.body()).decode("utf-8", "replace"))
        text = fields.get("text", [""])[0]
        modality = fields.get("modality", [""])[0]
        if len(text) > LONGEST_TEXT:
            raise UnknownError(
                f"a text may have at most {LONGEST_TEXT:,} characters, but this one has {len(text):,}"
            )
        return await run_in_threadpool(self._described, request, text, modality)

    def _described(self, request: Request, text: str, modality: str) -> HTMLResponse:
        seen = self.explored.now()
        view = views.describe(seen.bundle, text, modality=modality or None)
        return self._text_page(request, seen, text, view)

    def _text_page(self, request: Request, seen: Seen, text: str, view: Described | None) -> HTMLResponse:
        return self.page(
            request,
            "text.html",
            seen,
            text=text,
            view=view,
            modalities=list(seen.bundle.vectorizers),
            modality="" if view is None else view.modality,
            shades={} if view is None else shades(view.topics),
        )

    def edits(self, request: Request) -> HTMLResponse:
        """What was changed, what a refit would change, and forms for more."""
        assert self.workshop is not None
        seen, job, log = self.explored.now(), self.workshop.job(), self.workshop.log()
        return self.page(request, "edits.html", seen, beside="/api/edits", job=job, log=log[::-1])

    def unknown(self, request: Request, message: str, status: int = 404) -> HTMLResponse:
        """What there is not."""
        return self.page(request, "unknown.html", self.explored.now(), status=status, message=message)


def shades(topics: list[Any]) -> dict[int, int]:
    """Which of the kinds of underlining the largest topics of a text have."""
    return {part.id: place for place, part in enumerate(topics[:6])}
