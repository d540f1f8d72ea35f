"""Who may ask, and how much: everything that is refused is refused here, before any page is made.

A server on loopback is reached by every page that the user's browser shows. So a request must name a host
that is ours (a name that an attacker lets point to 127.0.0.1 is not), must come with the token of the link
that was printed, and must prove, if it changes something, that it comes from a page of ours.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LONGEST_BODY = 1_000_000
LONGEST_QUERY = 8_000
POSTS_PER_MINUTE = 240
"""What one who works fast does not reach, and a loop does."""

FORM = "application/x-www-form-urlencoded"

UNCHANGING = ("/text", "/api/describe")
"""What is posted there changes nothing: a text that gets its topics."""

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # to ourselves alone; without any, browsers hide where a form comes from, too
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]


@dataclass(frozen=True)
class Door:
    """What the address of a server is, and the secrets that go with it.

    Parameters
    ----------
    host : str
        Where it listens.
    port : int
    token : str
        Of the link that is printed.
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def link(self) -> str:
        """What opens the explorer."""
        return f"{self.address}?{urlencode({'token': self.token})}"

    @property
    def address(self) -> str:
        """The same without the token."""
        shown = "127.0.0.1" if _wildcard(self.host) else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/"

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers do not tell ports apart, so it does."""
        return f"laconic-{self.port}"

    @property
    def session(self) -> str:
        """What the cookie holds: the token itself does not leave the link."""
        return self._derived("session")

    @property
    def csrf(self) -> str:
        """What forms and scripts of our own pages send along."""
        return self._derived("csrf")

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name, _, port = host.rpartition(":")
        if not name or port != str(self.port):
            return False
        name = name.lower()
        if name in LOOPBACK:
            return True
        if is_loopback(self.host):
            return False
        if _wildcard(self.host):
            # An address cannot be made to point elsewhere, and the machine's own name is its own.
            return _is_address(name.strip("[]")) or name == socket.gethostname().lower()
        return name.strip("[]") == self.host.lower()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::", "")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Refused(Exception):  # noqa: N818
    """A request that is not answered, with the status and what is said about it."""

    def __init__(self, status: int, message: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, list(headers)


class Guard:
    """Middleware that lets through who may ask.

    Parameters
    ----------
    app : ASGI application
    door : Door
    read_only : bool
        Whether nothing may be changed.
    refuse : callable
        Makes the page that says why a request was refused, from a status and a message.
    clock : callable
        Tells seconds.
    """

    def __init__(
        self,
        app: Any,
        *,
        door: Door,
        read_only: bool,
        refuse: Callable[[int, str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app, self.door, self.read_only, self._refuse = app, door, read_only, refuse
        self._clock, self._lock = clock, Lock()
        self._allowance, self._since = float(POSTS_PER_MINUTE), clock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            # No page of ours opens a socket.
            return
        send, receive = _with_headers(send), _measured(receive)
        try:
            if self._check(scope):
                receive = await self._checked_form(receive)
            await self.app(scope, receive, send)
        except Refused as refused:
            await self._say(refused, scope, send)

    def _check(self, scope: Scope) -> bool:
        """Refuse what the headers tell; say whether a form has still to prove where it comes from."""
        headers = _single(scope["headers"])
        if not self.door.knows(headers.get("host", "")):
            raise Refused(421, "This is not the address of this server.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise Refused(405, "Only GET, HEAD and POST are understood.", [(b"allow", b"GET, HEAD, POST")])
        if len(scope["query_string"]) > LONGEST_QUERY:
            raise Refused(414, "The address is too long.")
        self._check_token(scope, headers)
        bearer = self._authorised(headers)
        scope.setdefault("state", {})["csrf"] = self.door.csrf
        if scope["method"] != "POST":
            return False
        self._check_post(scope, headers)
        # A script that says the token itself is not led by somebody else's page.
        if bearer or _same(headers.get("x-csrf-token", ""), self.door.csrf):
            return False
        if headers.get("content-type", "").startswith(FORM):
            return True
        raise Refused(403, _TOO_OLD)

    def _check_token(self, scope: Scope, headers: dict[str, str]) -> None:
        """Move the token from the link into a cookie, by a redirect to the same page without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given or scope["method"] == "POST":
            return
        if not _same(given[0], self.door.token):
            raise Refused(401, _NO_ENTRY)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # Our own path, and nothing that a browser could take for another host.
        path = "/" + scope["path"].lstrip("/\\")
        place = path.encode("utf-8", "surrogateescape")
        where = _quoted(place) + (f"?{rest}" if rest else "").encode("latin-1")
        cookie = f"{self.door.cookie}={self.door.session}; Path=/; HttpOnly; SameSite=Strict"
        raise Refused(303, "", [(b"location", where), (b"set-cookie", cookie.encode())])

    def _authorised(self, headers: dict[str, str]) -> bool:
        """Let in who has the cookie, or says the token itself; tell whether it was the latter."""
        scheme, _, said = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(said.strip(), self.door.token):
            return True
        if not _same(_cookies(headers.get("cookie", "")).get(self.door.cookie, ""), self.door.session):
            raise Refused(401, _NO_ENTRY)
        return False

    async def _checked_form(self, receive: Receive) -> Receive:
        """A form that was sent without a script: what proves that it is ours is one of its fields."""
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), bool(message.get("more_body"))
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        if not _same(fields.get("csrf", ""), self.door.csrf):
            raise Refused(403, _TOO_OLD)

        async def again() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        return again

    def _check_post(self, scope: Scope, headers: dict[str, str]) -> None:
        if self.read_only and scope["path"] not in UNCHANGING:
            raise Refused(403, "This explorer was started with --read-only: nothing can be changed.")
        origin = headers.get("origin")
        if origin is not None and not self.door.knows(origin.removeprefix("http://")):
            raise Refused(403, "This request comes from another site.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "This request comes from another site.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            raise Refused(413, f"At most {LONGEST_BODY:,} bytes can be posted.")
        self._take_turn()

    def _take_turn(self) -> None:
        """No more posts than somebody who works fast makes."""
        with self._lock:
            now = self._clock()
            self._allowance += (now - self._since) * POSTS_PER_MINUTE / 60
            self._allowance, self._since = min(self._allowance, POSTS_PER_MINUTE), now
            if self._allowance < 1:
                raise Refused(429, "Too many requests: wait a moment.", [(b"retry-after", b"5")])
            self._allowance -= 1

    async def _say(self, refused: Refused, scope: Scope, send: Send) -> None:
        if scope["path"].startswith("/api"):
            body, kind = json.dumps({"detail": refused.message}).encode(), b"application/json"
        else:
            body, kind = self._refuse(refused.status, refused.message).encode(), b"text/html; charset=utf-8"
        headers = [(b"content-type", kind), (b"cache-control", b"no-store"), *refused.headers]
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


_TOO_OLD = "This page is out of date: reload it."
_NO_ENTRY = "Open the link that laconic serve printed: it contains the token that this page needs."


def _single(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name; one that must not be there twice, and is, counts as missing."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for name, value in headers:
        key = name.decode("latin-1").lower()
        if key in found:
            twice.add(key)
        found[key] = value.decode("latin-1")
    for key in twice & {"host", "origin", "authorization", "x-csrf-token", "content-length"}:
        found[key] = "?"
    return found


def _cookies(text: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(text).items()}
    except CookieError:
        return {}


def _same(given: str, known: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing about them."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _quoted(path: bytes) -> bytes:
    safe = b"/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    return b"".join(bytes([c]) if c in safe else b"%%%02X" % c for c in path)


def _measured(receive: Receive) -> Receive:
    """A body that may not be longer than it may be, whatever its header says."""
    taken = 0

    async def limited() -> MutableMapping[str, Any]:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LONGEST_BODY:
            raise Refused(413, f"At most {LONGEST_BODY:,} bytes can be posted.")
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            known = {name.lower() for name, _ in message.get("headers", [])}
            message["headers"] = [*message.get("headers", []), *HEADERS]
            if b"cache-control" not in known:
                message["headers"].append((b"cache-control", b"no-store"))
        await send(message)

    return sending
