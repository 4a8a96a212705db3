"""The page in a notebook without a notebook: messages on one channel, and the widget in Python."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import time

import numpy as np
import pytest
from PIL import Image

from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.notebook import pages as notebook_pages
from diffclass_relabel.notebook.pages import NotebookPages
from diffclass_relabel.opening import OpeningPage
from diffclass_relabel.session_file import SessionLog

from ..browser import lacking


class Channel:
    """A notebook's channel, and the session of an editor at its other end."""

    def __init__(self, editor):
        self.opening_page = OpeningPage(lambda preparation: editor)
        self.posted = []
        self.pages = NotebookPages(self.opening_page, self._post)

    def _post(self, message, buffers):
        json.dumps(message)
        self.posted.append(dict(message) | {"data": b"".join(buffers)})

    def tell(self, client, kind, **fields):
        self.pages.take({"client": client, "kind": kind} | fields)

    async def hear(self, *kinds, client="a"):
        """Wait for the first message of some kinds and take it."""
        for _ in range(3000):
            for message in self.posted:
                if message["kind"] in kinds and message["client"] == client:
                    self.posted.remove(message)
                    return message
            await asyncio.sleep(0.01)
        raise AssertionError(self.posted)

    async def answer(self, number, *, client="a"):
        """Confirm what comes until the answer to a message is there."""
        while True:
            got = await self.hear("text", "binary", client=client)
            self.tell(client, "heard")
            content = json.loads(got.get("text", "{}"))
            if content.get("seq") == number:
                return content


@pytest.fixture
def speak(editor):
    """Run a conversation with an editor's session from its beginning to its end."""

    def spoken(conversation):
        async def run():
            channel = Channel(editor)
            channel.opening_page.start()
            await channel.opening_page.opened()
            try:
                return await conversation(channel)
            finally:
                channel.pages.close()
                await channel.opening_page.close()

        return asyncio.run(run())

    return spoken


def test_two_pages_on_one_channel(speak, editor):
    async def conversation(channel):
        channel.tell("a", "join")
        channel.tell("b", "join")
        channel.tell("a", "text", text=json.dumps({"seq": 1, "op": {"op": "add_class"}}))
        assert (await channel.answer(1))["kind"] == "done"
        # in parts, as long messages come
        text = json.dumps({"seq": 1, "op": {"op": "stroke", "class": 1, "pixels": [60, 4]}})
        channel.tell("b", "text", text="+" + text[:9])
        channel.tell("b", "text", text="=" + text[9:])
        assert (await channel.answer(1, client="b"))["stroke"] == 1

    speak(conversation)
    assert editor.version == 2


def test_pictures_and_files(speak):
    async def conversation(channel):
        channel.tell("a", "join")
        channel.tell("a", "get", number=7, path="picture.png?bands=3,2,1")
        got = await channel.hear("got")
        assert got["number"] == 7
        assert got["data"].startswith(b"\x89PNG")
        for number, path in enumerate(
            ["picture.png?preset=x", "download/none", "../server.py", None]
        ):
            channel.tell("a", "get", number=number, path=path)
            got = await channel.hear("got")
            assert got["number"] == number
            assert got["problem"]
            assert not got["data"]

    speak(conversation)


def test_a_page_that_confirms_nothing_gets_the_newest_and_is_forgotten(speak, monkeypatch):
    monkeypatch.setattr(notebook_pages, "_PATIENCE", 0.5)

    async def conversation(channel):
        channel.tell("a", "join")
        for number in range(1, 40):
            operation = {"op": "add_class"} if number == 1 else {"op": "tau", "tau": number}
            channel.tell("a", "text", text=json.dumps({"seq": number, "op": operation}))
        await asyncio.sleep(1.5)
        assert len([m for m in channel.posted if m["kind"] in ("text", "binary")]) == 4
        channel.tell("a", "heard")  # it wakes up
        await channel.hear("closed")
        channel.posted.clear()
        channel.tell("a", "join")
        assert json.loads((await channel.hear("text"))["text"])["state"]["version"] == 39

    speak(conversation)


def test_what_makes_no_sense_is_dropped(speak, editor):
    async def conversation(channel):
        for message in (None, [], {}, {"client": "n", "kind": "leave"}):
            channel.pages.take(message)
        channel.tell("nobody", "ping")
        assert channel.posted.pop()["kind"] == "closed"
        for name in (3, "", "x" * 101):
            channel.tell(name, "join")
        assert channel.posted == []
        channel.tell("a", "join")
        channel.tell("a", "ping")
        assert (await channel.hear("pong"))["client"] == "a"
        channel.tell("a", "text", text=3)
        channel.tell("a", "dance")
        channel.tell("a", "text", text="{")
        while True:
            got = json.loads((await channel.hear("text"))["text"])
            channel.tell("a", "heard")
            if got["kind"] == "refused":
                break

    speak(conversation)
    assert editor.version == 0


@pytest.fixture
def widgets():
    """The class; all widgets are closed at the end."""
    try:
        import anywidget  # noqa: F401
    except ImportError:
        lacking("no anywidget; pip install anywidget")
    from diffclass_relabel import RelabelWidget

    opened = []

    def made(*arguments, **options):
        opened.append(RelabelWidget(*arguments, **options))
        return opened[-1]

    yield made
    for widget in opened:
        widget.close()


def test_a_cell_that_is_run_again_continues(widgets, scene_folder, tmp_path):
    scene, session = scene_folder / "scene.hdr", tmp_path / "s.jsonl"
    strokes = scene_folder / "strokes.hdr"
    first = widgets(scene, session=session, labels=strokes, components=6)
    labels, found = first.labels, first.class_map
    assert labels.dtype == found.dtype == np.int32
    assert set(np.unique(labels)) == {0, 1, 2, 3}
    assert found[0, 0] == 0  # no data there
    assert [entry.name for entry in first.session.classes] == ["nuclei", "cytoplasm", "stroma"]
    again = widgets(scene, session=session)
    assert "s.jsonl is open in another cell now" in first._page
    assert np.array_equal(again.class_map, found)
    end = time.monotonic() + 20
    while "base64," not in again._caption._html and time.monotonic() < end:
        time.sleep(0.05)
    name, _, drawn = again._caption._html.partition("base64,")
    assert "<summary>s.jsonl</summary>" in name
    with Image.open(io.BytesIO(base64.b64decode(drawn.partition('"')[0]))) as picture:
        assert picture.size == (300, 288)  # six times as large as the map
        colors = np.array(picture.convert("RGB"))[::6, ::6]
    assert len(np.unique(colors.reshape(-1, 3), axis=0)) == len(np.unique(found))
    with pytest.raises(DataError, match="closed"):
        _ = first.labels


def test_a_scene_that_cannot_be_opened(widgets, scene_folder, tmp_path):
    with pytest.raises(DataError, match="no such scene"):
        widgets(tmp_path / "none.npy")
    (tmp_path / "bad.npy").write_bytes(b"x")
    broken = widgets(tmp_path / "bad.npy")
    with pytest.raises(DataError, match=r"bad\.npy"):
        _ = broken.class_map
    assert not (tmp_path / "bad.relabel.jsonl").exists()


def test_what_fails_leaves_the_session_free(widgets, scene_folder, tmp_path):
    scene, session = scene_folder / "scene.hdr", tmp_path / "s.jsonl"
    for array in (np.ones((3, 4, 5)), 3, [np.ones(3)]):
        with pytest.raises(ParameterError, match=r"keep it in a file, as with numpy\.save"):
            widgets(array)
    with pytest.raises(Exception, match="height"):
        widgets(scene, session=session, height=3)
    SessionLog(session).close()  # nobody has it
    broken = widgets(scene, session=session, labels=tmp_path / "none.tif")
    with pytest.raises(DataError, match=r"none\.tif"):
        _ = broken.labels
    SessionLog(session).close()
    widgets(scene, session=session, components=6).labels  # noqa: B018  the second try is the good one


def test_the_page_is_whole(widgets):
    from diffclass_relabel.notebook.widget import page_text

    text = page_text()
    assert "static/" not in text
    assert text.count("<script>") == text.count("</script>") == 1
    assert text.count("<style>") == 1
