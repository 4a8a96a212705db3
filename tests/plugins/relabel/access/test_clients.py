"""Messages too long for one piece: put together again, or refused by name."""

from __future__ import annotations

import json

import pytest

from diffclass_relabel.access import clients
from diffclass_relabel.access.clients import LAST, MORE, PART_LENGTH, Parts, TooLongError
from diffclass_relabel.access.page_service import MOST_BYTES


def test_parts_are_joined():
    joint = Parts()
    for _ in range(2):
        assert joint.joined(MORE + '{"a":"') is None
        assert joint.joined(MORE + "=+") is None  # marks count at the beginning only
        assert joint.joined(LAST + '"}') == '{"a":"=+"}'
        assert joint.joined("{}") == "{}"


def test_too_long_a_message_is_refused_once_by_its_number(monkeypatch):
    monkeypatch.setattr(clients, "MOST_LENGTH", 30)
    joint = Parts()
    assert joint.joined(MORE + '{"seq":17,"op":{"op":') is None
    with pytest.raises(TooLongError, match="several pieces") as refused:
        joint.joined(MORE + 30 * "x")
    assert refused.value.number == 17
    assert joint.joined(MORE + 30 * "x") is None
    assert joint.joined(LAST + "x") is None
    assert joint.joined(LAST + "{}") == "{}"
    with pytest.raises(TooLongError) as refused:
        joint.joined(LAST + 31 * "x")
    assert refused.value.number is None
    assert joint.joined("{}") == "{}"


def test_a_piece_is_no_longer_than_the_server_takes():
    assert 4 * PART_LENGTH < MOST_BYTES  # a character may take four bytes


def test_a_stroke_of_many_runs(gate, connect, workspace):
    client = connect(gate)
    client.do("add_class")
    pixels = [value for start in range(1, 2300, 2) for value in (start, 1)] * 600
    text = json.dumps({"seq": 50, "op": {"op": "stroke", "class": 1, "pixels": pixels}})
    assert len(text) > MOST_BYTES
    pieces = [text[at : at + PART_LENGTH] for at in range(0, len(text), PART_LENGTH)]
    for piece in pieces[:-1]:
        client.socket.send(MORE + piece)
    client.socket.send(LAST + pieces[-1])
    assert client.reply(50)["kind"] == "done"
    assert client.settled() is not None


def test_a_client_whose_message_is_too_long_goes_on(gate, connect, monkeypatch):
    monkeypatch.setattr(clients, "MOST_LENGTH", 100)
    client = connect(gate)
    client.hello()
    client.socket.send(MORE + '{"seq":9,"op":' + 100 * " ")
    refused = client.reply(9)
    assert refused["kind"] == "refused"
    assert "several pieces" in refused["message"]
    client.socket.send(LAST + "{}}")
    assert client.do("add_class")["kind"] == "done"


def test_the_page_sends_in_parts_and_shows_the_refusal(blank):
    blank.js(
        """() => {
            const send = WebSocket.prototype.send;
            window.sent = [];
            WebSocket.prototype.send = function (text) {
                sent.push(text.length);
                send.call(this, text);
            };
        }"""
    )
    blank.find("[aria-label='Add a class']").click()
    field = blank.find("input.class-name")
    field.evaluate("(field) => field.removeAttribute('maxlength')")
    field.evaluate("(field, n) => (field.value = 'x'.repeat(n))", 3 * PART_LENGTH)
    field.press("Enter")
    notice = blank.find(".notices .message")
    notice.wait_for()
    assert "200 characters" in notice.inner_text()
    assert len(blank.js("sent")) >= 4
    assert max(blank.js("sent")) <= PART_LENGTH + 1
    assert blank.js("diffclass.pending") == 0
