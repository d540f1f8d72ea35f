"""Start the explorer, and say where it is."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

from laconic.errors import Parameter, ParameterError
from laconic.explore.server.guard import Door, is_loopback

PORT = 8350
NEXT_PORTS = 20
LEAST_TOKEN = 16
WAITING = 2048
"""So many may wait for an answer."""


def chosen_door(host: str, port: int | None, token: str | None) -> tuple[Door, socket.socket]:
    """Take a port, and make the door to it.

    Parameters
    ----------
    host : str
        Where to listen; other than on this machine only with a token that was given.
    port : int or None
        None takes the first that is free from 8350 on; 0 takes any.
    token : str or None
        None makes a random one.

    Returns
    -------
    (Door, socket)
        The socket is bound.

    Raises
    ------
    ParameterError
        If the port is taken, or others could reach it and no token was given.
    """
    if not is_loopback(host) and token is None:
        raise ParameterError(
            f"others could reach the explorer at {host}: give them a ",
            Parameter("token"),
            " that they need, or leave ",
            Parameter("host"),
            " out, so that only this machine does",
        )
    if token is not None and len(token) < LEAST_TOKEN:
        raise ParameterError(Parameter("token"), f" must have at least {LEAST_TOKEN} characters")
    if token is not None and not (token.isascii() and token.isprintable()):
        raise ParameterError(Parameter("token"), " must consist of plain letters, digits and signs")
    tried = range(PORT, PORT + NEXT_PORTS) if port is None else [port]
    for number in tried:
        bound = _bound(host, number)
        if bound is not None:
            taken = int(bound.getsockname()[1])
            return (Door(host, taken) if token is None else Door(host, taken, token)), bound
    raise ParameterError(
        f"port {tried[0]} of {host} is not available: choose another with ", Parameter("port")
    )


def _bound(host: str, port: int) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, so that answers are sent at once: otherwise each waits 40 ms for the next packet.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError:
        made.close()
        return None
    return made


def run(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    read_only: bool = False,
    browse: bool = False,
    ready: Callable[[Door], None] = lambda door: None,
) -> None:
    """Serve a model until Ctrl-C.

    Parameters
    ----------
    path : Path
        The model's directory.
    host, port, token
        As in `chosen_door`.
    read_only : bool
        Whether nothing may be changed.
    browse : bool
        Whether a browser is opened.
    ready : callable
        Told the door, once the model is loaded.
    """
    import uvicorn

    from laconic.explore.server.app import make_app

    door, bound = chosen_door(host, port, token)
    with bound:
        app = make_app(path, door, read_only=read_only, warm=True)
        config = uvicorn.Config(
            app,
            log_level="warning",
            # addresses contain what people search for
            access_log=False,
            # no header may say who asks
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=20,
            limit_concurrency=1000,
            backlog=WAITING,
        )
        # From now on a browser waits for an answer, rather than being turned away.
        bound.listen(WAITING)
        ready(door)
        if browse:
            webbrowser.open(door.link)
        uvicorn.Server(config).run(sockets=[bound])
