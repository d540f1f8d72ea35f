"""Ask an ASGI application, with any headers."""

import asyncio
import json
from typing import NamedTuple

from laconic.explore.server.guard import Door

TOKEN = "a-token-of-our-own"
PORT = 8350


class Answer(NamedTuple):
    status: int
    headers: list
    body: bytes

    @property
    def text(self):
        return self.body.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.body)

    def header(self, name):
        found = [value for key, value in self.headers if key == name]
        return found[0] if found else None


def door(host="127.0.0.1", port=PORT):
    return Door(host, port, TOKEN)


def raw(app, method="GET", path="/", headers=(), body=b""):
    """Ask with just these headers."""
    path, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode("latin-1"), "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT),
    }  # fmt: skip
    parts = [body[start : start + 65536] for start in range(0, len(body), 65536)] or [b""]
    sent, started = [], []

    async def receive():
        part = parts.pop(0) if parts else b""
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        if message["type"] == "http.response.start":
            started.append(message)
        else:
            sent.append(message.get("body", b""))

    asyncio.run(app(scope, receive, send))
    if not started:
        return None
    found = [(name.decode().lower(), value.decode("latin-1")) for name, value in started[0]["headers"]]
    return Answer(started[0]["status"], found, b"".join(sent))


def ask(app, path="/", method="GET", body=b"", also=(), **without):
    """Ask as a page of ours does: with host, cookie and, to post, what proves it."""
    opened = door()
    headers = {"host": f"127.0.0.1:{PORT}", "cookie": f"{opened.cookie}={opened.session}"}
    if method == "POST":
        headers |= {
            "x-csrf-token": opened.csrf,
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
    headers |= dict(also)
    return raw(app, method, path, [(k, v) for k, v in headers.items() if v is not None], body)
