"""The page from another machine: through a tunnel, and behind a proxy with TLS and a prefix."""

from __future__ import annotations

from contextlib import ExitStack, closing
from urllib.parse import unquote

import httpx
import pytest

from diffclass.exceptions import ParameterError
from diffclass_relabel.access.security import BaseUrl, Gate, checked_host
from experiments.relabel.driver.browser import Tab

from ..browser import use_all
from ..proxies import Nginx, Tunnel, free_port, self_signed

# The guide's configuration, with ports and files of the test. The name of its certificate is known
# to nobody, as that of a machine without a name on the web.
TLS = """
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
"""
PLAIN = "    listen 127.0.0.1:{port};\n"
LOCATION = """
    location {prefix} {{
        proxy_pass http://127.0.0.1:{server};
        proxy_http_version 1.1;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection "upgrade";
        {more}
    }}
"""
PASS_HOST = "proxy_set_header Host $http_host;"


@pytest.fixture
def at_end():
    """Close at the end of the test what it opens."""
    with ExitStack() as opened:
        yield lambda one: opened.enter_context(closing(one))


@pytest.fixture
def new_nginx(tmp_path, at_end):
    """Start an nginx before a server; what listens with TLS has a new certificate."""

    def made(scheme, port, location):
        listen = PLAIN.format(port=port)
        if scheme == "https":
            certificate, key = self_signed(tmp_path)
            listen = TLS.format(port=port, certificate=certificate, key=key)
        return at_end(Nginx(tmp_path / "nginx", listen + location, port))

    return made


@pytest.mark.parametrize("how", ["allow-host", "base-url"])
def test_tunnel_with_another_port(editor, serve, open_tab, at_end, how):
    tunnel = at_end(Tunnel())
    address = f"localhost:{tunnel.port}"
    options = {
        "allow-host": {"allowed_hosts": frozenset({address})},
        "base-url": {"base": BaseUrl.parsed(f"http://{address}")},
    }
    gate = serve(editor, **options[how])
    tunnel.lead_to(gate.port)
    use_all(open_tab(f"http://{address}/?token={gate.token}"), editor)


def test_without_what_browsers_keep_for_encrypted_pages(editor, serve, browser):
    """As --public pages at http://other.machine are seen."""
    gate = serve(editor)
    tab = Tab(browser, gate.url, script="delete Crypto.prototype.randomUUID")
    assert tab.state["version"] == 0
    tab.close()


@pytest.mark.parametrize("more", ["", PASS_HOST], ids=["own-host", "passed-host"])
@pytest.mark.parametrize("keeps", [True, False], ids=["keeps-prefix", "strips-prefix"])
@pytest.mark.parametrize("scheme", ["https", "http"])
def test_behind_nginx(editor, serve, open_tab, new_nginx, scheme, keeps, more):
    port, prefix = free_port(), "/user/anna%40x/proxy/8765/"
    gate = serve(editor, base=BaseUrl.parsed(f"{scheme}://localhost:{port}{prefix}"))
    server = f"{gate.port}" if keeps else f"{gate.port}/"
    new_nginx(scheme, port, LOCATION.format(prefix=unquote(prefix), server=server, more=more))
    tab = open_tab(gate.url, ignore_https_errors=True)
    use_all(tab, editor)
    (cookie,) = tab.context.cookies()
    assert cookie["path"] == prefix
    assert cookie["secure"] == (scheme == "https")


def test_behind_nginx_without_a_slash(editor, serve, new_nginx):
    port = free_port()
    gate = serve(editor, base=BaseUrl.parsed(f"http://localhost:{port}/relabel"))
    assert gate.url.startswith(f"http://localhost:{port}/relabel/?token=")
    new_nginx("http", port, LOCATION.format(prefix="/relabel", server=gate.port, more=""))
    url = f"http://localhost:{port}/relabel"
    got = httpx.get(url, params={"token": gate.token})
    assert got.status_code == 307
    assert got.headers["location"] == f"/relabel/?token={gate.token}"
    assert httpx.get(url + "/").status_code == 403
    assert httpx.get(url + "/static/app.js").status_code == 200


@pytest.fixture
def stated(editor, serve):
    """A server that knows one address of a proxy and another name."""
    base = BaseUrl.parsed("https://labels.example.org/relabel/")
    return serve(editor, base=base, allowed_hosts=frozenset({"box.lan:9000"}))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("labels.example.org", "https://labels.example.org"),
        ("labels.example.org:443", "https://labels.example.org"),
        ("127.0.0.1:{port}", "https://labels.example.org"),  # a proxy that puts its own Host there
        ("box.lan:9000", "http://box.lan:9000"),
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}"),
    ],
)
def test_what_was_stated_is_let_in(stated, connect, host, origin):
    host, origin = host.format(port=stated.port), origin.format(port=stated.port)
    for prefix in ("", "/relabel"):
        client = connect(stated, origin=origin, path=f"{prefix}/ws", host=host)
        assert client.hello()["kind"] == "hello"
        url = f"http://127.0.0.1:{stated.port}{prefix}/?token={stated.token}"
        assert httpx.get(url, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.example", "https://labels.example.org"),
        ("evil.example", "http://evil.example"),
        ("labels.example.org", "http://evil.example"),
        ("labels.example.org", "https://evil.example"),
        ("labels.example.org", "https://labels.example.org:8443"),
        ("labels.example.org", "https://labels.example.org.evil.example"),
        ("labels.example.org", "https://evil.labels.example.org"),
        ("labels.example.org", "null"),
        ("127.0.0.1:{port}", "http://labels.example.org"),  # not the scheme that was stated
        ("127.0.0.1:{port}", "https://127.0.0.1:{port}"),
        ("127.0.0.1:{port}", "http://box.lan:9000"),
        ("box.lan", "http://box.lan"),
        ("box.lan:9000", "https://box.lan:9000"),
        ("box.lan:9001", "http://box.lan:9001"),
        ("labels.example.org:9000", "http://labels.example.org:9000"),
    ],
)
def test_what_was_not_stated_is_not(stated, connect, host, origin):
    host, origin = host.format(port=stated.port), origin.format(port=stated.port)
    client = connect(stated, origin=origin, host=host)
    assert client.end() == 1008
    assert client.heard == []


@pytest.mark.parametrize(
    "host", ["evil.example", "box.lan", "box.lan:9001", "labels.example.org:80", "example.org", ""]
)
def test_no_page_for_another_name(stated, host):
    for path in ("/", "/relabel/", "/relabel"):
        url = f"http://127.0.0.1:{stated.port}{path}?token={stated.token}"
        got = httpx.get(url, headers={"Host": host})
        assert got.status_code in (400, 421)
        assert stated.token not in got.text
        assert "location" not in got.headers


@pytest.mark.parametrize(
    "path", ["/relabel/static/..%2fserver.py", "/relabel/relabel/", "/relabelled/", "/other/"]
)
def test_the_prefix_opens_nothing_else(stated, path):
    url = f"http://127.0.0.1:{stated.port}{path}?token={stated.token}"
    assert httpx.get(url).status_code == 404


def test_without_the_token(stated):
    for path in ("/relabel/", "/relabel/picture.png", "/relabel/download/x"):
        assert httpx.get(f"http://127.0.0.1:{stated.port}{path}").status_code == 403


def test_the_policy_names_the_socket_of_the_proxy(stated):
    got = httpx.get(f"http://127.0.0.1:{stated.port}/", params={"token": stated.token})
    policy = got.headers["content-security-policy"]
    assert f"connect-src 'self' ws://127.0.0.1:{stated.port} wss://labels.example.org;" in policy


@pytest.mark.parametrize(
    ("text", "base", "hosts"),
    [
        ("https://a.example", "https://a.example/", {"a.example", "a.example:443"}),
        ("http://A.example:80/x", "http://a.example/x/", {"a.example", "a.example:80"}),
        ("http://localhost:9000/", "http://localhost:9000/", {"localhost:9000"}),
        ("https://[::1]/b/c/", "https://[::1]/b/c/", {"[::1]", "[::1]:443"}),
        ("https://[::1]:8443", "https://[::1]:8443/", {"[::1]:8443"}),
    ],
)
def test_addresses(text, base, hosts):
    found = BaseUrl.parsed(text)
    assert str(found) == base
    assert found.hosts == hosts
    assert Gate("127.0.0.1", 8000, base=found).url.startswith(f"{base}?token=")


@pytest.mark.parametrize(
    "text",
    [
        "", "/relabel/", "a.example", "ftp://a.example/", "https://", "https://u:p@a.example/",
        "https://a.example/?x=1", "https://a.example/#x", "https://a.example:99999/", "http://a b/",
        "https://a.example/;script-src *", "https://*.example/", "https://a.example/\nx",
    ],
)  # fmt: skip
def test_no_addresses(text):
    with pytest.raises(ParameterError, match="no address of a page"):
        BaseUrl.parsed(text)


@pytest.mark.parametrize(
    "text", ["", "*", "*.example", "http://a.example", "a.example/", "a b", "a:", "a;b", "u@a"]
)
def test_no_hosts(text):
    with pytest.raises(ParameterError, match="no host"):
        checked_host(text)
