"""The command on a table, as a process; the page's server; the widget."""

from __future__ import annotations

import json
import signal
from io import BytesIO

import httpx
import numpy as np
import pytest
from PIL import Image

from diffclass.command_line.main import run
from diffclass_relabel import protocol
from diffclass_relabel.session_file import recent_sessions


@pytest.fixture
def page(open_rows, table_folder, serve, connect):
    editor = open_rows(settings={"images": str(table_folder / "images")})
    return editor, connect(serve(editor))


def test_a_session_from_the_command_to_its_classes(
    relabel_in, connect, table_folder, tmp_path, digits
):
    table, session = table_folder / "digits.npy", tmp_path / "s.jsonl"
    words = [table, "--session", session, "--images", table_folder / "images", "--metric", "cosine"]
    server = relabel_in(tmp_path, *words)
    client = connect(server.gate)
    hello = client.hello()
    assert hello["scene"]["table"] == {"n_rows": 597, "images": True, "text": False}
    assert hello["scene"]["bands"] is None
    assert [one["what"] for one in hello["exports"]].count("map") == 3
    for row in (0, 1, 2, 3):
        client.do("add_class", name=f"n{digits[1][row]}")
    pixels = np.flatnonzero(client.settled()[0].ravel() != 255)
    named = {
        one["name"]: one["pixel"]
        for some in (pixels[:500], pixels[500:])
        for one in client.ask("rows", pixels=some.tolist())["rows"]
    }
    assert len(named) == 597
    for k, row in enumerate((0, 1, 2, 3), 1):
        assert client.do("stroke", **{"class": k, "pixels": [named[str(row)], 1]})["kind"] == "done"
    assert server.end(signal.SIGINT) == 130
    header = json.loads(session.read_text().splitlines()[0])
    assert header["settings"]["metric"] == "cosine"
    output = tmp_path / "classes.csv"
    assert run(["replay", str(session), "--scene", str(table), "-o", str(output), "-q"]) == 0
    assert len(output.read_text().splitlines()) == 601
    # once more: it goes on
    again = relabel_in(tmp_path, table, "--session", session)
    assert len(connect(again.gate).hello()["state"]["classes"]) == 4


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nowhere.csv"], 3, "no such file"),
        (["digits.npy", "--images", "nowhere"], 2, "neither a folder nor a column"),
        (["digits.npy", "--labels", "nowhere.csv"], 3, "no such file"),
        (["digits.npy", "digits.npy"], 2, "one table at a time"),
        (["digits.npy", "--bands", "1-3"], 2, "--bands is for scenes"),
        (["digits.npy", "--neighbors", "5000"], 2, "take at most"),
    ],
)
def test_bad_calls_end_with_one_line_and_no_session(
    table_folder, tmp_path, monkeypatch, capsys, words, code, says
):
    monkeypatch.chdir(table_folder)
    path = tmp_path / "s.jsonl"
    assert run(["relabel", *words, "--session", str(path), "--no-browser"]) == code
    said = capsys.readouterr().err.lower()
    assert says in said
    assert "traceback" not in said
    assert not path.exists() or not path.read_bytes()


def fetched(gate, query, token=None):
    """Return the answer to a request for a picture."""
    query = f"{query}&token={token or gate.token}"
    host = {"Host": f"127.0.0.1:{gate.port}"}
    return httpx.get(
        f"http://127.0.0.1:{gate.port}/picture.png?{query}", headers=host, trust_env=False
    )


def test_thumbnails_are_fetched_with_the_token_alone(open_rows, table_folder, serve):
    editor = open_rows(settings={"images": str(table_folder / "images")})
    gate = serve(editor)
    pixel = int(editor.workspace.pixels[20])
    found = fetched(gate, f"row={pixel}")
    image = Image.open(BytesIO(found.content))
    assert image.size == (40, 32)
    row = int(editor.workspace.row_numbers[20])
    with Image.open(editor.workspace.contents.images[row]) as original:
        np.testing.assert_array_equal(np.asarray(image), np.asarray(original.convert("RGB")))
    for wrong in ("-1", "abc", "1e3", str(editor.workspace.missing[0]), "999999999"):
        assert fetched(gate, f"row={wrong}").status_code == 400
    assert fetched(gate, f"row={pixel}", token="wrong").status_code in (401, 403)
    whole = Image.open(BytesIO(fetched(gate, "preset=features").content))
    assert whole.size == editor.workspace.shape[::-1]


def test_rows_are_told_of_by_their_pixels(page):
    editor, client = page
    pixels = editor.workspace.pixels[:3].tolist()
    said = client.ask("rows", pixels=pixels)
    assert said.keys() - {"kind", "seq", "ask"} == protocol.RowsAnswer.__annotations__.keys()
    assert [row["pixel"] for row in said["rows"]] == pixels
    assert said["rows"][0].keys() == protocol.RowFacts.__annotations__.keys()
    empty = int(editor.workspace.missing[0])
    assert "no data" in client.ask("rows", pixels=[empty])["message"]
    assert client.ask("rows", pixels=list(range(501)))["kind"] == "refused"


@pytest.mark.parametrize("ask", ["spectrum", "class_spectra", "predict"])
def test_what_is_of_scenes_is_refused_in_words(page, ask):
    editor, client = page
    fields = {
        "spectrum": {"pixel": int(editor.workspace.pixels[0])},
        "predict": {"path": "a.model"},
    }
    assert "is a table" in client.ask(ask, **fields.get(ask, {}))["message"]
    said = client.ask("export", what="margin")
    assert "no result of a table" in said["message"]


def test_a_table_is_among_the_recent_sessions(
    relabel_in, connect, table_folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    server = relabel_in(tmp_path, table_folder / "digits.npy", "--session", tmp_path / "s.jsonl")
    connect(server.gate).hello()
    known = recent_sessions()[0]
    assert known.scenes == ((table_folder / "digits.npy").absolute(),)
    assert known.shape == (600, 64)
