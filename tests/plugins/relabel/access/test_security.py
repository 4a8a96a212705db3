"""Who is let in, and how others are refused."""

from __future__ import annotations

import socket

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from diffclass.exceptions import ParameterError
from diffclass_relabel.access.security import Gate, is_loopback
from diffclass_relabel.servers.web_servers import bound_socket

SECRETS = ["/", "/picture.png", "/download/map.img"]


@pytest.fixture
def url(gate):
    return f"http://127.0.0.1:{gate.port}"


@pytest.mark.parametrize("path", SECRETS)
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%FF%00"])
def test_without_the_token(url, path, query):
    got = httpx.get(url + path + query)
    assert got.status_code == 403
    assert "token" in got.text
    assert "set-cookie" not in got.headers


def test_the_cookie_stands_for_the_token(url, gate):
    with httpx.Client(base_url=url) as client:
        assert client.get("/picture.png").status_code == 403
        page = client.get("/", params={"token": gate.token})
        assert page.status_code == 200
        cookie = page.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert gate.cookie.endswith(str(gate.port))  # servers on other ports share the cookies
        assert client.get("/picture.png").status_code == 200
        assert client.get("/picture.png?token=wrong").status_code == 403


def test_every_answer_is_locked_down(url, gate):
    for path in ("/?token=" + gate.token, "/", "/nowhere", "/static/app.js"):
        headers = httpx.get(url + path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "", "127.0.0.1", "127.0.0.1:1"]
)
def test_another_name_is_not_answered(url, gate, host):
    got = httpx.get(f"{url}/?token={gate.token}", headers={"Host": host})
    assert got.status_code in (400, 421)
    assert gate.token not in got.text


def test_localhost_is_the_same_machine(url, gate):
    got = httpx.get(f"{url}/?token={gate.token}", headers={"Host": f"localhost:{gate.port}"})
    assert got.status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/static/../__init__.py", "/static/..%2f__init__.py", "/static/%2e%2e%2f__init__.py",
        "/static/", "/static//etc/passwd", "/static/none.js",
        "/download/..%2f..%2fetc%2fpasswd", "/download/x",
    ],
)  # fmt: skip
def test_nothing_else_is_handed_out(gate, path):
    # a plain socket: clients normalize such paths before they send them
    with socket.create_connection(("127.0.0.1", gate.port)) as raw:
        host = f"Host: 127.0.0.1:{gate.port}\r\n"
        cookie = f"Cookie: {gate.cookie}={gate.token}\r\n"
        raw.sendall(f"GET {path} HTTP/1.1\r\n{host}{cookie}Connection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
    assert answer.split()[1] in (b"404", b"400")


def refused(client):
    """Return the code with which a WebSocket is closed before it says anything."""
    with pytest.raises(ConnectionClosed) as closed:
        client.hello()
    assert client.heard == []
    return closed.value.rcvd.code


@pytest.mark.parametrize("token", ["", "wrong", "%FF"])
def test_a_wrong_token(gate, connect, editor, token):
    assert refused(connect(gate, token=token)) == 1008
    assert editor.version == 0


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1",
     "http://127.0.0.1:1", "http://localhost:{port}", "http://127.0.0.1:{port}.evil.example"],
)  # fmt: skip
def test_a_foreign_origin(gate, connect, origin):
    assert refused(connect(gate, origin=origin.format(port=gate.port))) == 1008


def test_no_origin_at_all(gate):
    from websockets.sync.client import connect

    url = f"ws://127.0.0.1:{gate.port}/ws?token={gate.token}"
    with connect(url) as client, pytest.raises(ConnectionClosed) as closed:
        client.recv(10)
    assert closed.value.rcvd.code == 1008


def test_the_cookie_opens_the_socket(gate, connect):
    cookie = f"{gate.cookie}={gate.token}"
    client = connect(gate, token="", Cookie=cookie)
    assert refused(client) == 1008  # a token that is given has to be right


def test_too_large_a_message_ends_the_connection_alone(gate, connect, editor, caplog):
    client, other = connect(gate), connect(gate)
    client.hello()
    pixels = [0, 1] * (2**20)
    # the code is lost if the connection was reset while this side was still writing
    assert client.end({"op": {"op": "erase", "pixels": pixels}}) in (1009, None)
    assert any("more than 4194304 bytes" in record.getMessage() for record in caplog.records)
    assert editor.version == 0
    assert other.do("add_class")["kind"] == "done"


def test_a_large_message_is_fine(gate, connect):
    client = connect(gate)
    client.do("add_class")
    pixels = [value for start in range(1, 2300, 2) for value in (start, 1)] * 300
    assert client.do("stroke", **{"class": 1, "pixels": pixels})["kind"] == "done"
    client.settled()


def test_a_binary_message(gate, connect, editor):
    client = connect(gate)
    client.hello()
    client.socket.send(b"\x00\x01")
    assert client.end() == 1003


def test_refusals_are_logged(gate, connect, caplog):
    refused(connect(gate, token="wrong"))
    client = connect(gate)
    client.do("stroke", **{"class": 9, "pixels": [1, 2]})
    said = [record.getMessage() for record in caplog.records]
    assert any("WebSocket with a wrong token" in text for text in said)
    assert any("there is no class 9" in text for text in said)
    assert not any(gate.token in text for text in said)


def test_gates():
    gate = Gate("127.0.0.1", 8000)
    assert len(gate.token) > 40
    assert gate.token != Gate("127.0.0.1", 8000).token
    assert gate.token not in repr(gate)
    assert gate.url == f"http://127.0.0.1:8000/?token={gate.token}"
    assert Gate("::1", 8000).url.startswith("http://[::1]:8000/")
    public = Gate("0.0.0.0", 8000, is_public=True)
    assert socket.gethostname() in public.url
    assert public.knows_origin("http://box.lan:8000", "box.lan:8000")
    assert not public.knows_origin("http://evil.example", "box.lan:8000")
    assert not public.knows_host(None)
    assert not gate.knows_host(None)


def test_loopback():
    assert is_loopback("127.4.5.6")
    assert not any(map(is_loopback, ["", "0.0.0.0", "::", "box.lan", "192.168.0.2"]))


def test_a_taken_port_is_said_at_once():
    with bound_socket("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(ParameterError, match="another --port"):
            bound_socket("127.0.0.1", taken.getsockname()[1])
