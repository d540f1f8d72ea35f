"""The explorer as an ASGI application: pages and JSON behind the guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from laconic import __version__
from laconic.errors import InputError
from laconic.explore.server.acting import ConflictError, Workshop
from laconic.explore.server.api import acts, api
from laconic.explore.server.guard import Door, Guard
from laconic.explore.server.pages import Pages, refusal
from laconic.explore.server.state import Explored
from laconic.explore.views.lines import UnknownError


def make_app(path: Path, door: Door, *, read_only: bool = False, warm: bool = False) -> Any:
    """Make the explorer of a saved model.

    Parameters
    ----------
    path : Path
        The model's directory.
    door : Door
        Its address and token.
    read_only : bool, default=False
        Whether nothing may be changed.
    warm : bool, default=False
        Whether what first pages would wait for is found beforehand.

    Returns
    -------
    ASGI application
    """
    explored = Explored(path)
    if warm:
        explored.warm()
    # The usual pages of documentation fetch scripts from elsewhere, so there are none: /api is the document.
    app = FastAPI(
        title="laconic",
        version=__version__,
        openapi_url="/api",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    workshop = Workshop(explored)
    pages = Pages(explored, None if read_only else workshop)
    app.include_router(api(explored))
    if not read_only:
        workshop.resume()
        app.include_router(acts(workshop))
    app.include_router(pages.router())

    def answer(request: Request, status: int, message: str) -> Response:
        if request.url.path.startswith("/api"):
            return JSONResponse({"detail": message}, status)
        return pages.unknown(request, message, status)

    @app.exception_handler(UnknownError)
    def unknown(request: Request, error: UnknownError) -> Response:
        return answer(request, 404, str(error))

    @app.exception_handler(ConflictError)
    def conflict(request: Request, error: ConflictError) -> Response:
        return answer(request, 409, str(error))

    @app.exception_handler(InputError)
    @app.exception_handler(ValueError)
    def wrong(request: Request, error: ValueError) -> Response:
        return answer(request, 400, str(error))

    @app.exception_handler(OSError)
    def not_written(request: Request, error: OSError) -> Response:
        return answer(request, 507, f"It could not be saved: {error.strerror or error}.")

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        said = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors())
        return answer(request, 422, said)

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> Response:
        return answer(
            request,
            error.status_code,
            "there is no such page" if error.status_code == 404 else str(error.detail),
        )

    return Guard(app, door=door, read_only=read_only, refuse=refusal)
