"""Where a session's server answers: kept for the next one, and told to nobody but its user."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import pytest

from diffclass_relabel.servers import process
from diffclass_relabel.servers.process import BrowserOpening
from diffclass_relabel.servers.web_servers import bound_socket
from diffclass_relabel.session_file.sidecar import Address, address_file, keep_address, kept_address


@pytest.fixture
def session(tmp_path):
    return tmp_path / "a.relabel.jsonl"


def test_an_address_is_kept_for_its_owner_only(session):
    address = Address(4711)
    keep_address(session, address)
    assert kept_address(session) == address
    assert stat.S_IMODE(address_file(session).stat().st_mode) == 0o600
    assert os.listdir(session.parent) == [address_file(session).name]
    assert address.token not in repr(address)


def test_what_others_can_read_is_not_trusted(session):
    address = Address(4711)
    keep_address(session, address)
    address_file(session).chmod(0o644)
    found = kept_address(session)
    assert found.port == 0
    assert found.token != address.token


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"port": 1}', '{"port": 80, "token": "guess"}',
     json.dumps({"port": 70000, "token": 43 * "x"}), json.dumps({"port": True, "token": 43 * "x"})],
)  # fmt: skip
def test_a_damaged_file_is_as_none(session, content):
    address_file(session).write_text(content)
    address_file(session).chmod(0o600)
    assert kept_address(session).port == 0
    assert len(kept_address(session).token) == 43


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    keep_address(tmp_path / "missing" / "a.jsonl", Address(1))


def test_the_port_of_last_time_if_it_is_free():
    with bound_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with bound_socket("127.0.0.1", 0, rather=port) as other:
            assert other.getsockname()[1] != port
    with bound_socket("127.0.0.1", 0, rather=port) as again:
        assert again.getsockname()[1] == port


@pytest.fixture
def opened(monkeypatch):
    """What a browser was asked to open."""
    found = []
    monkeypatch.setattr(process.webbrowser, "open", found.append)
    return found


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("typed", [".", "..", "sub", "sub/..", "./sub", None])
def test_the_browser_is_led_by_a_private_file(tmp_path, monkeypatch, opened, typed):
    (tmp_path / "here" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    folder = tmp_path if typed is None else Path(typed)
    opening = BrowserOpening(folder)
    opening.open("http://127.0.0.1:1/?token=secret&x")
    wait_for(lambda: opened)
    assert "secret" not in opened[0]  # which stands in the list of processes
    (file,) = folder.absolute().glob("relabel-opening.*/page.html")
    assert opened[0] == file.as_uri()
    assert "token=secret&amp;x" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    opening.arrived()
    wait_for(lambda: not list(folder.glob("relabel-opening.*")))
    opening.close()


def test_a_page_opened_so_keeps_no_token(tmp_path, opened, gate, browser):
    opening = BrowserOpening(tmp_path)
    opening.open(gate.url)
    wait_for(lambda: opened)
    page = browser.new_context().new_page()
    page.goto(opened[0])
    page.wait_for_url(f"http://127.0.0.1:{gate.port}/")  # without the token
    page.wait_for_function("() => window.diffclass?.state")
    assert page.reload().status == 200
    page.wait_for_function("() => window.diffclass?.state")
    assert gate.token not in page.url
    page.context.close()
    opening.close()
