import pytest


def test_others_need_a_token(laconic, saved, monkeypatch):
    monkeypatch.delenv("LACONIC_TOKEN", raising=False)
    said = " ".join(laconic("serve", saved, "--host", "0.0.0.0", "--port", "0", code=1).stderr.split())
    assert "others could reach the explorer at 0.0.0.0: give them a --token" in said
    assert "leave --host out" in said


def test_the_link_is_printed(laconic, saved, monkeypatch):
    uvicorn = pytest.importorskip("uvicorn")
    asked = {}

    def run(server, sockets):
        asked["app"], asked["port"] = server.config.app, sockets[0].getsockname()[1]
        asked["host"], asked["proxied"] = sockets[0].getsockname()[0], server.config.proxy_headers

    monkeypatch.setattr(uvicorn.Server, "run", run)
    said = laconic("serve", saved, "--port", "0").stderr.replace("\n", "")
    assert f"http://127.0.0.1:{asked['port']}/?token={asked['app'].door.token}" in said
    assert (asked["host"], asked["proxied"]) == ("127.0.0.1", False)
    assert not asked["app"].read_only
    laconic("serve", saved, "--port", "0", "--read-only")
    assert asked["app"].read_only


def test_it_says_what_to_install(laconic, saved, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "fastapi", None)
    said = " ".join(laconic("serve", saved, code=1).stderr.split())
    assert "pip install 'laconic[serve]'" in said
