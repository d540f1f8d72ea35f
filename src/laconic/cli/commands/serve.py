"""``laconic serve``: a model in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command
from laconic.cli.screen.console import say, waiting
from laconic.errors import InputError, ParameterError

if TYPE_CHECKING:
    from laconic.explore.server.guard import Door

EXAMPLES = """
Examples

  laconic serve model --open

  laconic serve model --port 9000 --read-only

  laconic serve model --host 0.0.0.0 --token "$(openssl rand -hex 16)"
"""

Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="NUMBER",
        min=0,
        max=65535,
        help="Where to listen.",
        show_default="8350, or the next",
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Show everything, but allow no changes.")]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="The address to listen on. Any other than 127.0.0.1 lets other machines connect, and needs "
        "--token.",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TEXT",
        help="The secret in the link that opens the explorer.",
        show_default="a random one",
        envvar="LACONIC_TOKEN",
    ),
]


@command()
def serve(
    model: Saved,
    port: Port = None,
    open: Open = False,
    read_only: ReadOnly = False,
    host: Host = "127.0.0.1",
    token: Token = None,
) -> None:
    """Explore a model in the browser: topics, words, documents, classes, time, search.

    Only this machine can reach it, and only by the link that is printed. It fetches nothing from the
    network. Press Ctrl-C to stop it.
    """
    with waiting(f"loading {model}") as status:
        try:
            import fastapi  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError as error:
            raise InputError("laconic serve needs some packages: pip install 'laconic[serve]'") from error
        from laconic.explore.server.running import run

        def ready(door: Door) -> None:
            status.stop()
            say(f"{model} is served at {door.link}", whole=True)
            say("press Ctrl-C to stop" + ("; read-only" if read_only else ""))

        try:
            run(model, host=host, port=port, token=token, read_only=read_only, browse=open, ready=ready)
        except ParameterError as error:
            # options of this command alone, so they are in no table
            raise InputError(error.worded(lambda parameter: f"--{parameter.name}")) from error
