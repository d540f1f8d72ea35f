import pytest
from asking import PORT, TOKEN, ask, door, raw

from laconic.errors import ParameterError
from laconic.explore.server.guard import LONGEST_BODY, POSTS_PER_MINUTE, Guard, is_loopback
from laconic.explore.server.running import chosen_door

HERE = f"127.0.0.1:{PORT}"


async def inner(scope, receive, send):
    """Answers with what was posted."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def guard(**options):
    options = {"door": door(), "read_only": False, "refuse": lambda status, message: message, **options}
    return Guard(inner, **options)


def test_a_page_of_ours_is_answered():
    assert ask(guard()).status == 200
    assert ask(guard(), method="POST", body=b"{}").body == b"{}"


@pytest.mark.parametrize("host", [HERE, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_hosts_that_are_ours(host):
    assert ask(guard(), also={"host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{PORT}",
     f"127.0.0.2:{PORT}", f"10.0.0.1:{PORT}", "", f"{HERE}, evil.example", f"evil.example@{HERE}", None],
)  # fmt: skip
def test_other_hosts_are_refused(host):
    assert ask(guard(), also={"host": host}).status == 421


def test_two_hosts_are_refused():
    cookie = ("cookie", f"{door().cookie}={door().session}")
    assert raw(guard(), headers=[("host", HERE), cookie]).status == 200
    assert raw(guard(), headers=[("host", "evil.example"), ("host", HERE), cookie]).status == 421


def test_forwarded_headers_are_not_believed():
    also = {"host": "evil.example", "x-forwarded-host": HERE, "forwarded": f"host={HERE}", "x-host": HERE}
    assert ask(guard(), also=also).status == 421


def test_elsewhere_addresses_and_the_machine_s_name_are_hosts():
    import socket

    open_door = door("0.0.0.0")
    for host in ("192.168.1.5", "[fe80::1]", socket.gethostname(), "localhost"):
        assert open_door.knows(f"{host}:{PORT}")
    assert not open_door.knows(f"evil.example:{PORT}")
    assert door("10.1.2.3").knows(f"10.1.2.3:{PORT}")
    assert not door("10.1.2.3").knows(f"10.1.2.4:{PORT}")


def test_without_the_token_nothing_is_answered():
    answer = ask(guard(), also={"cookie": None})
    assert (answer.status, "Open the link" in answer.text) == (401, True)
    for cookie in ("", "laconic-8350=", "laconic-8350=wrong", f"laconic-8351={door().session}", "=;;;\x01"):
        assert ask(guard(), also={"cookie": cookie}).status == 401
    said = raw(guard(), path="/api/overview", headers=[("host", HERE)]).json["detail"]
    assert said.startswith("Open the link that laconic serve printed")


def test_the_token_moves_from_the_link_into_a_cookie():
    answer = raw(guard(), path=f"/search?q=a%26b&token={TOKEN}&blend=1", headers=[("host", HERE)])
    assert answer.status == 303
    assert answer.header("location") == "/search?q=a%26b&blend=1"
    name, *rest = answer.header("set-cookie").split("; ")
    assert name == f"laconic-{PORT}={door().session}"
    assert set(rest) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert TOKEN not in str(answer)


def test_a_wrong_token_in_the_link_is_refused_even_with_a_cookie():
    assert ask(guard(), "/?token=wrong").status == 401
    assert raw(guard(), path="/?token=", headers=[("host", HERE)]).status == 401


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "/%0d%0aset-cookie:x", "///"])
def test_the_redirect_stays_here(path):
    from urllib.parse import unquote

    answer = raw(guard(), path=f"{unquote(path)}?token={TOKEN}", headers=[("host", HERE)])
    place = answer.header("location")
    assert place.startswith("/")
    assert not place.startswith(("//", "/\\"))
    assert "\r" not in place
    assert "\n" not in place


def test_secrets_are_compared_in_constant_time(monkeypatch):
    import hmac

    compared = []
    same = hmac.compare_digest
    monkeypatch.setattr(
        "laconic.explore.server.guard.hmac.compare_digest", lambda a, b: compared.append(b) or same(a, b)
    )
    ask(guard())
    raw(guard(), path=f"/?token={TOKEN}", headers=[("host", HERE)])
    ask(guard(), method="POST", body=b"x")
    assert {door().session.encode(), TOKEN.encode(), door().csrf.encode()} <= set(compared)


def test_tokens_are_random_and_long():
    first, one = chosen_door("127.0.0.1", 0, None)
    second, other = chosen_door("127.0.0.1", 0, None)
    one.close()
    other.close()
    assert first.token != second.token
    assert len(first.token) >= 32
    assert first.token in first.link
    assert len({first.token, first.session, first.csrf}) == 3
    assert first.cookie != second.cookie


def test_a_script_may_say_the_token_itself():
    also = {"authorization": f"Bearer {TOKEN}", "cookie": None, "x-csrf-token": None}
    assert ask(guard(), also=also).status == 200
    assert ask(guard(), method="POST", body=b"{}", also=also).status == 200
    assert ask(guard(), also={**also, "authorization": "Bearer wrong"}).status == 401
    assert ask(guard(), also={**also, "authorization": f"Basic {TOKEN}"}).status == 401


@pytest.mark.parametrize(
    "also",
    [
        {"x-csrf-token": None},
        {"x-csrf-token": "wrong"},
        {"origin": "http://evil.example"},
        {"origin": f"http://evil.example:{PORT}"},
        {"origin": f"https://{HERE}"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_what_is_posted_from_elsewhere_is_refused(also):
    assert ask(guard(), method="POST", body=b"{}", also=also).status == 403


def test_what_our_pages_post_is_not():
    also = {"origin": f"http://{HERE}", "sec-fetch-site": "same-origin"}
    assert ask(guard(), method="POST", body=b"{}", also=also).status == 200


def test_a_form_proves_itself_by_a_field():
    also = {"x-csrf-token": None, "content-type": "application/x-www-form-urlencoded"}
    good = f"text=a&csrf={door().csrf}".encode()
    assert ask(guard(), "/text", "POST", good, also=also).body == good
    for bad in (b"text=a", b"text=a&csrf=wrong", b"csrf=", b"\xff\xfe"):
        assert ask(guard(), "/text", "POST", bad, also=also).status == 403


def test_too_much_is_not_read():
    assert ask(guard(), method="POST", body=b"x" * (LONGEST_BODY + 1)).status == 413
    lying = {"content-length": "10"}
    assert ask(guard(), method="POST", body=b"x" * (LONGEST_BODY + 1), also=lying).status == 413
    assert ask(guard(), method="POST", body=b"", also={"content-length": "-1"}).status == 413
    assert ask(guard(), "/?q=" + "x" * 9000).status == 414


def test_posts_are_limited_and_pages_are_not():
    now = [0.0]
    watched = guard(clock=lambda: now[0])
    for _ in range(POSTS_PER_MINUTE):
        assert ask(watched, method="POST", body=b"{}").status == 200
    refused = ask(watched, method="POST", body=b"{}")
    assert (refused.status, refused.header("retry-after")) == (429, "5")
    assert all(ask(watched).status == 200 for _ in range(50))
    now[0] += 60
    assert ask(watched, method="POST", body=b"{}").status == 200


def test_read_only():
    closed = guard(read_only=True)
    assert ask(closed).status == 200
    assert ask(closed, "/api/rename", "POST", b"{}").status == 403
    assert ask(closed, "/api/describe", "POST", b"{}").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_are_refused(method):
    assert ask(guard(), method=method).status == 405


def test_every_answer_has_the_headers():
    for answer in (
        ask(guard()),
        ask(guard(), also={"host": "evil.example"}),
        ask(guard(), also={"cookie": None}),
    ):
        policy = answer.header("content-security-policy")
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("x-frame-options") == "DENY"
        assert answer.header("referrer-policy") == "same-origin"
        assert answer.header("cross-origin-resource-policy") == "same-origin"
        assert answer.header("cache-control") == "no-store"
        assert answer.header("access-control-allow-origin") is None


def test_a_socket_is_not_opened():
    import asyncio

    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(guard()({"type": "websocket", "headers": []}, None, send))
    assert sent == []


def test_loopback_is_the_default_and_elsewhere_needs_a_token():
    assert is_loopback("127.0.0.1")
    for host in ("0.0.0.0", "192.168.1.2", "::", "example.org"):
        with pytest.raises(ParameterError, match="others could reach the explorer"):
            chosen_door(host, 0, None)
    with pytest.raises(ParameterError, match="at least 16 characters"):
        chosen_door("0.0.0.0", 0, "short")
    made, bound = chosen_door("0.0.0.0", 0, TOKEN)
    bound.close()
    assert made.token == TOKEN


def test_a_port_that_is_taken_is_said():
    made, bound = chosen_door("127.0.0.1", 0, None)
    bound.listen()
    try:
        with pytest.raises(ParameterError, match=f"port {made.port} of 127.0.0.1 is not available"):
            chosen_door("127.0.0.1", made.port, None)
    finally:
        bound.close()


def test_answers_are_sent_at_once():
    import socket

    _, bound = chosen_door("127.0.0.1", 0, None)
    bound.close()
    # what asyncio looks at before it turns off the waiting for more
    assert bound.proto == socket.IPPROTO_TCP
