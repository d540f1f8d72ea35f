"""JSON beside every page: the views themselves."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from laconic.explore import views
from laconic.explore.server.acting import Edit, JobView, Workshop
from laconic.explore.server.changes import Change
from laconic.explore.server.state import Explored
from laconic.explore.views import shapes
from laconic.steering.tree import Branch

MOST = 1_000
"""At most so many of anything in one answer."""

LONGEST_TEXT = 200_000

Topic = Annotated[int, Query(ge=0, le=1_000_000)]
Text = Annotated[str, Query(max_length=2_000)]
Modality = Annotated[str | None, Query(max_length=200)]


class NewText(BaseModel):
    """A text that is not among the documents."""

    text: str = Field(max_length=LONGEST_TEXT)
    modality: str | None = Field(None, max_length=200)


def as_json(view: Any) -> Response:
    """A view as it is; numbers that JSON does not have would be an error."""
    plain = None if view is None else asdict(view)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
    # half of a pair of characters, such as broken texts have, is in no encoding
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


class Asked(BaseModel):
    """A change that is asked for, and the version of the model that the page has shown."""

    kind: Literal["rename", "merge", "split", "seed", "drop", "forbid", "freeze", "thaw"]
    version: str = Field(max_length=64)
    topics: list[Annotated[int, Field(ge=0, le=1_000_000)]] = Field([], max_length=100)
    words: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field([], max_length=200)
    name: str = Field("", max_length=200)

    def change(self) -> Change:
        """The same for a model."""
        return Change(self.kind, tuple(self.topics), tuple(self.words), self.name.strip())


class Version(BaseModel):
    """The version of the model that a page has shown, or that it has now."""

    version: str = Field(max_length=64)


class Edits(BaseModel):
    """What was changed, the oldest first."""

    version: str
    edits: list[Edit]


def acts(workshop: Workshop) -> APIRouter:
    """What changes a model.

    Parameters
    ----------
    workshop : Workshop
    """
    router = APIRouter(
        prefix="/api",
        tags=["changes"],
        responses={409: {"description": "The page is out of date, or another refit is running."}},
    )

    @router.get("/edits", response_model=Edits)
    def edits() -> Edits:
        """The log of changes."""
        return Edits(version=workshop.explored.now().version, edits=workshop.log())

    @router.post("/edits", response_model=Version)
    def change(asked: Asked) -> Version:
        """Rename, freeze or thaw at once; begin a refit for all else."""
        return Version(version=workshop.change(asked.change(), asked.version))

    @router.post("/undo", response_model=Version)
    def undo(seen: Version) -> Version:
        """Take the last change back."""
        return Version(version=workshop.undo(seen.version))

    @router.get("/refit", response_model=JobView)
    def job() -> Response:
        """How far the refit is, and what it would change."""
        return as_json(workshop.job())

    @router.post("/refit/accept", response_model=Version)
    def accept() -> Version:
        """Save what the refit has found."""
        return Version(version=workshop.accept())

    @router.post("/refit/discard", response_model=JobView)
    def discard() -> Response:
        """Forget the refit."""
        workshop.discard()
        return as_json(workshop.job())

    return router


def api(explored: Explored) -> APIRouter:
    """The views of a model as JSON.

    Parameters
    ----------
    explored : Explored
    """
    router = APIRouter(
        prefix="/api",
        tags=["views"],
        responses={
            404: {"description": "There is no such thing in this model."},
            401: {"description": "The token is missing."},
        },
    )

    @router.get("/overview", response_model=shapes.Overview)
    def overview(
        first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
        n: Annotated[int, Query(ge=1, le=MOST)] = 100,
        order: Annotated[str, Query(pattern="^(id|share|size|name)$")] = "id",
    ) -> Response:
        """The model at a glance, with a page of its topics."""
        return as_json(views.overview(explored.now().bundle, first=first, n=n, order=order))

    @router.get("/topics/{id}", response_model=shapes.TopicView)
    def topic(id: int) -> Response:
        """All about a topic."""
        return as_json(views.topic(explored.now().bundle, id))

    @router.get("/word", response_model=shapes.WordView)
    def word(term: Text, modality: Modality = None) -> Response:
        """All about a word."""
        return as_json(views.word(explored.now().bundle, term, modality=modality))

    @router.get("/document", response_model=shapes.DocumentView)
    def document(id: Text) -> Response:
        """A document, with the topic that explains each word."""
        return as_json(views.document(explored.now().bundle, id))

    @router.get("/search", response_model=shapes.SearchView)
    def search(
        q: Text,
        k: Annotated[int, Query(ge=1, le=100)] = 10,
        blend: Annotated[float | None, Query(ge=0, le=1)] = None,
        modality: Modality = None,
    ) -> Response:
        """Documents by words and topics, both parts of their scores, and why they matched."""
        return as_json(views.search(explored.now().bundle, q, k=k, blend=blend, modality=modality))

    @router.get("/compare", response_model=shapes.Comparison)
    def compare(first: Topic, second: Topic) -> Response:
        """Two topics side by side."""
        return as_json(views.compare(explored.now().bundle, first, second))

    @router.get("/class", response_model=shapes.LabelView)
    def label(name: Text) -> Response:
        """A class of documents."""
        return as_json(views.label(explored.now().bundle, name))

    @router.get("/classes", response_model=shapes.Table)
    def labels() -> Response:
        """Topics by class."""
        return as_json(views.labels(explored.now().bundle))

    @router.get("/time", response_model=shapes.TimeView)
    def time() -> Response:
        """Topics over time."""
        return as_json(views.time(explored.now().bundle))

    @router.get("/similarity", response_model=shapes.Similarity)
    def similarity(most: Annotated[int, Query(ge=1, le=MOST)] = 300) -> Response:
        """Cosines of topics."""
        return as_json(views.similarity(explored.now().bundle, most=most))

    @router.get("/tree", response_model=Branch | None)
    def tree(most: Annotated[int, Query(ge=1, le=200)] = 200) -> Response:
        """Topics as a tree."""
        return as_json(views.tree(explored.now().bundle, most=most))

    @router.get("/map", response_model=shapes.MapView)
    def topic_map(most: Annotated[int, Query(ge=1, le=MOST)] = MOST) -> Response:
        """Topics as points of a plane."""
        return as_json(views.topic_map(explored.now().bundle, most=most))

    @router.post("/describe", response_model=shapes.Described)
    def describe(new: NewText) -> Response:
        """The topics of a new text."""
        return as_json(views.describe(explored.now().bundle, new.text, modality=new.modality))

    return router
