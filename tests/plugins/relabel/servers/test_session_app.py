"""The protocol, over a real server on loopback and a real WebSocket."""

from __future__ import annotations

import io
import json

import httpx
import numpy as np
import pytest
from PIL import Image

from diffclass_hyperspectral import read_labels
from diffclass_relabel import protocol
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.queries.exports import export
from diffclass_relabel.queries.kinds import QUERIES
from diffclass_relabel.session.label_files import Reference
from diffclass_relabel.workspace.pixels import pixels_of
from experiments.relabel.driver.clients import PageClient

from ..strokes import three_classes, truth_stroke


@pytest.fixture
def http(gate):
    with httpx.Client(base_url=f"http://127.0.0.1:{gate.port}") as client:
        client.get("/", params={"token": gate.token})  # sets the cookie
        yield client


def test_hello(page, workspace):
    hello = page.hello()
    scene = hello["scene"]
    assert (scene["rows"], scene["columns"], scene["bands"]["n_bands"]) == (48, 50, 12)
    assert scene["name"] == "scene.hdr"
    assert scene["bands"]["good"] == [1] * 11 + [0]
    assert len(scene["bands"]["wavelengths"]) == 12
    bands = scene["bands"]
    assert len(bands["bands_true"]) == len(bands["bands_false"]) == 3
    assert hello["geo"] == {"transform": [500000, 2, 0, 4470000, 0, -2], "crs": "EPSG:32633"}
    assert [preset["name"] for preset in hello["presets"]] == ["true", "false", "mnf"]
    geotiff = {"what": "map", "suffix": ".tif", "label": "GeoTIFF", "name": "scene_map.tif"}
    assert geotiff in hello["exports"]
    state = hello["state"]
    assert state["classes"] == state["strokes"] == []
    assert (state["tau"], state["tau_mode"], state["live"]) == (12, "fixed", True)
    assert not any(state[name] for name in ("can_undo", "can_redo", "warped"))


def test_a_stroke_from_paint_to_map(page, editor, tissue):
    page.hello()
    for operation in three_classes(tissue):
        number = page.send({"op": operation})
    done = {"kind": "done", "seq": number, "op": "stroke", "stroke": 3, "version": 6}
    assert page.reply(number) == done
    ids, margin, probability = page.settled()
    assert np.array_equal(ids, editor.map.ids.ravel())
    assert np.array_equal(margin, editor.map.margin.ravel())
    assert np.array_equal(probability, editor.map.probability.ravel())
    assert np.array_equal(page.labels, editor.labels.ids.ravel())
    assert (ids == NO_DATA).sum() == 2
    entries = {entry["id"]: entry for entry in page.state["classes"]}
    assert [entries[i]["pixels"] for i in (1, 2, 3)] == [12, 12, 12]
    assert sum(entry["mapped"] for entry in entries.values()) == np.isin(ids, (1, 2, 3)).sum()
    assert [stroke["class"] for stroke in page.state["strokes"]] == [1, 2, 3]
    assert all(tissue.truth.ravel()[s["first"]] == s["class"] for s in page.state["strokes"])
    assert page.state["saved"]


def test_what_changed_follows_the_map(painter, tissue):
    painter.ask("curve")
    before = painter.settled()[0].copy()
    painter.heard.clear()
    painter.do(truth_stroke(tissue, 1, 60, start=30))
    after = painter.settled()[0]
    first = {kind: painter.heard.index(kind) for kind in ("done", "labels", "map", "changes")}
    assert sorted(first, key=first.get) == ["done", "labels", "map", "changes"]
    assert painter.heard[-1] == "state"
    changed = painter.frames["changes"][1][0]
    assert np.array_equal(changed, before != after)
    assert painter.state["n_changed"] == changed.sum() > 0
    assert painter.state["ms"] > 0


def test_not_live_the_old_map_stays(painter, tissue):
    assert painter.ask("live", on=False)["on"] is False
    before = painter.frames["map"][0]
    painter.do(truth_stroke(tissue, 1, 60, start=30))
    painter.ask("curve")  # time enough for a map that must not come
    assert painter.state["stale"]
    assert not painter.state["live"]
    assert painter.frames["map"][0] == before
    assert painter.ask("update")["version"] == painter.state["version"]
    assert not painter.state["stale"]
    assert painter.frames["map"][0]["version"] == painter.state["version"]
    painter.do("undo")
    painter.ask("live", on=True)
    painter.settled()


def test_spectrum(painter, workspace, tissue):
    answer = painter.ask("spectrum", pixel=55)
    np.testing.assert_allclose(answer["values"][:11], workspace.scene.data[1, 5, :11], atol=1e-6)
    assert answer["values"][11] is None
    answer = painter.ask("class_spectra")
    assert [one["class"] for one in answer["classes"]] == [1, 2, 3]
    painter.do("remove", stroke=1)
    again = painter.ask("class_spectra")
    assert [one["class"] for one in again["classes"]] == [2, 3]
    assert again["version"] == answer["version"] + 1


def test_why_shares_a_pixel_among_the_strokes_the_largest_share_first(painter):
    shares = painter.ask("why", pixel=1000)["shares"]
    sizes = [share["share"] for share in shares]
    assert sum(sizes) == pytest.approx(1, abs=1e-4)
    assert sizes == sorted(sizes, reverse=True)
    strokes = {stroke["number"]: stroke for stroke in painter.state["strokes"]}
    for share in shares:  # each says of which class its stroke is, and where
        stroke = strokes[share["stroke"]]
        assert (share["class"], share["pixel"]) == (stroke["class"], stroke["first"])


def test_answers_and_messages_have_the_fields_that_the_page_is_told_of(
    painter, editor, tmp_path, tissue
):
    np.save(tmp_path / "labels.npy", tissue.truth)
    editor.reference = Reference.read(tmp_path / "labels.npy", editor.workspace)
    row, column = (int(k) for k in np.argwhere(painter.settled()[0].reshape(48, 50) % 255)[0])
    pixel = row * 50 + column
    fields = {
        **{question: {"pixel": pixel} for question in ("spectrum", "why", "segment", "similar")},
        "live": {"on": True},
        "preview_tau": {"tau": 8},
        "export": {"what": "labels"},
        "compare": {"step": 0},
        "match_reference": {"pairs": [1, 1, 2, 2, 3, 3]},
        "read_labels": {"path": str(tmp_path / "labels.npy")},
        "predict": {"path": str(export(editor, "model", tmp_path / "a.model")[0])},
        "view": dict(zip(("top", "left", "bottom", "right"), (0, 0, 48, 50), strict=True)),
    }
    assert painter.ask("rows", pixels=[pixel])["kind"] == "refused"  # it is of tables
    for name, kind in QUERIES.items():
        if name == "rows":
            continue
        said = painter.ask(name, **fields.get(name, {}))
        assert said.pop("kind") == "answer", said
        assert said.keys() - {"seq", "ask"} == kind.answer.__annotations__.keys(), name
    assert painter.hello().keys() == protocol.Hello.__annotations__.keys()
    assert painter.state.keys() == protocol.SessionState.__annotations__.keys()
    assert painter.do("add_class").keys() <= protocol.Done.__annotations__.keys()
    assert painter.do("nix").keys() == protocol.Refused.__annotations__.keys()


def test_audit_finds_what_was_painted_wrongly(painter, tissue):
    wrong = truth_stroke(tissue, 1, 3, start=5)["pixels"]
    wanted = set(pixels_of(wrong, tissue.truth.size).tolist())
    painter.do(truth_stroke(tissue, 1, 90, start=4))
    painter.do("stroke", **{"class": 3, "pixels": wrong})
    items = painter.ask("audit")["items"]
    strokes = [(item["stroke"], item["says"]) for item in items]
    assert len(set(strokes)) == len(strokes)  # one item each, however many pixels
    found = [set(pixels_of(item["pixels"], 48 * 50).tolist()) for item in items]
    assert any(wanted <= pixels for pixels in found)
    for item, pixels in zip(items, found, strict=True):
        assert item["count"] == len(pixels)
        assert item["pixel"] in pixels
    margins = [item["margin"] for item in items]
    assert margins == sorted(margins, reverse=True)


def test_suggestions(painter, workspace):
    answer = painter.ask("suggest", n=7, rule="margin")
    assert answer["rule"] == "margin"
    assert len(answer["pixels"]) == len(answer["scores"]) == 7
    assert not painter.labels[answer["pixels"]].any()
    places = np.column_stack(np.unravel_index(answer["pixels"], workspace.shape))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[~np.eye(7, dtype=bool)]
    assert gaps.min() >= 5


def test_curve_and_preview(painter):
    curve = painter.ask("curve")
    assert curve["tau"] == 12
    assert len(curve["times"]) == len(curve["margin"]) == len(curve["coverage"]) > 5
    answer = painter.ask("preview_tau", tau=12)
    assert answer["tau"] == 12
    header, planes = painter.frames["preview"]
    assert header == {"kind": "preview", "tau": 12}
    ids, margin, _ = painter.settled()
    assert np.mean(planes[0] == ids) > 0.999
    np.testing.assert_allclose(planes[1].astype(int), margin.astype(int), atol=1)
    assert painter.state["tau"] == 12


def test_of_many_previews_the_last_is_computed(painter):
    numbers = [painter.send({"ask": "preview_tau", "tau": tau}) for tau in range(60, 80)]
    kinds = [painter.reply(number)["kind"] for number in numbers]
    assert kinds[-1] == "answer"
    assert set(kinds[:-1]) <= {"answer", "superseded"}
    assert painter.frames["preview"][0]["tau"] == 79


def test_segment(painter):
    ids = painter.settled()[0].reshape(48, 50)
    pixel = int(np.flatnonzero(ids.ravel() == 2)[0])
    answer = painter.ask("segment", pixel=pixel)
    inside = pixels_of(answer["pixels"], ids.size)
    assert pixel in inside
    assert set(ids.ravel()[inside]) == {2}
    around = np.zeros(ids.shape, dtype=bool)
    around.ravel()[inside] = True
    edge = np.zeros(ids.shape, dtype=bool)
    edge[1:] |= around[:-1]
    edge[:-1] |= around[1:]
    edge[:, 1:] |= around[:, :-1]
    edge[:, :-1] |= around[:, 1:]
    assert not (ids[edge & ~around] == 2).any()
    assert painter.ask("segment", pixel=0)["kind"] == "refused"  # no data


def test_all_that_is_offered_can_be_exported(painter, editor, tmp_path):
    (model,) = export(editor, "model", tmp_path / "a.model")
    assert painter.ask("predict", path=str(model))["kind"] == "answer"
    for offer in painter.hello()["exports"]:
        answer = painter.ask("export", what=offer["what"], name="out" + offer["suffix"])
        assert answer["kind"] == "answer", answer


@pytest.mark.parametrize("what", ["labels", "map", "margin", "probability", "report"])
def test_export_and_download(painter, http, what, tmp_path):
    answer = painter.ask("export", what=what)
    assert answer["url"] == f"download/{answer['files'][0]}"
    for name in answer["files"]:
        got = http.get(f"/download/{name}")
        assert got.status_code == 200
        (tmp_path / name).write_bytes(got.content)
    if what == "map":
        read = read_labels(tmp_path / "scene_map.img").ids
        shown = painter.settled()[0].reshape(48, 50)
        assert np.array_equal(read, np.where(shown == NO_DATA, 0, shown))
    if what == "report":
        assert json.loads((tmp_path / "scene_report.json").read_text())["strokes"] == 3


def test_what_is_exported_is_shown(painter, tissue):
    painter.ask("live", on=False)
    painter.do(truth_stroke(tissue, 1, 60, start=30))
    painter.ask("export", what="map")
    painter.ask("curve")
    assert painter.frames["map"][0]["version"] == painter.state["version"]
    assert not painter.state["stale"]
    assert painter.state["n_changed"] == painter.frames["changes"][1].sum() > 0


def test_exported_again_in_another_format(painter, http):
    answer = painter.ask("export", what="map", name="my-map.tif")
    assert answer["files"][0] == "my-map.tif"
    assert http.get(answer["url"]).content[:2] in (b"II", b"MM")


def test_pictures(http):
    for query in ({"preset": "true"}, {"preset": "mnf"}, {"bands": "3,2,1"}, {}):
        got = http.get("/picture.png", params=query)
        assert got.headers["content-type"] == "image/png"
        assert Image.open(io.BytesIO(got.content)).size == (50, 48)
    assert http.get("/picture.png", params={"bands": "3,2"}).status_code == 400
    assert http.get("/picture.png", params={"preset": "x"}).status_code == 400


def test_joined_later_everything_is_there(gate, painter, connect):
    other = connect(gate)
    other.hello()
    while "map" not in other.frames or other.frames["map"][0]["left"]:
        other.hear()
    assert other.state["classes"] == painter.state["classes"]
    assert np.array_equal(other.frames["map"][1], painter.frames["map"][1])
    assert np.array_equal(other.labels, painter.labels)


def test_resent_after_a_lost_connection_is_done_once(gate, editor, connect):
    first = connect(gate, name="tab-1")
    first.hello()
    assert first.do("add_class")["class"] == 1
    first.close()
    second = connect(gate, name="tab-1")
    second.hello()
    second.send({"op": {"op": "add_class"}}, number=1)
    assert second.reply(1) == {"kind": "done", "seq": 1, "again": True, "version": 1, "class": 1}
    second.send({"op": {"op": "add_class"}}, number=2)
    assert second.reply(2)["class"] == 2
    assert editor.version == 2


def test_a_state_tells_each_page_which_of_its_operations_it_includes(gate, connect):
    first, second = connect(gate, name="first"), connect(gate, name="second")
    for client in (first, second):
        assert client.hello()["included"] == 0
    numbers = [first.send({"op": {"op": "add_class"}}) for _ in range(2)]
    for number in numbers:
        first.reply(number)
    number = second.send({"op": {"op": "undo", "steps": 1}}, number=7)
    second.reply(number)
    for client, included in ((first, numbers[-1]), (second, 7)):
        client.settled()
        while client.state["version"] < 3:
            client.hear()
        assert client.included == included
    assert connect(gate, name="first").hello()["included"] == numbers[-1]  # comes back
    assert connect(gate, name="third").hello()["included"] == 0


def test_what_others_gave_another_meaning_is_refused(gate, editor, connect):
    """Class 2 is removed and its number given to another, before a stroke in it arrives."""
    first, second = connect(gate, name="first"), connect(gate, name="second")
    for name in ("corn", "soy"):
        first.do("add_class", name=name)
    seen = editor.version
    second.do("remove_class", id=2)
    assert second.do("add_class", name="roads")["class"] == 2
    stroke = {"op": "stroke", "class": 2, "pixels": [5, 3]}
    answer = first.reply(first.send({"op": stroke, "seen": seen}))
    assert answer["kind"] == "refused"
    assert "belongs to another one now" in answer["message"]
    assert first.reply(first.send({"op": {"op": "undo"}, "seen": seen}))["kind"] == "refused"
    assert not editor.session.strokes
    assert first.reply(first.send({"op": stroke, "seen": editor.version}))["kind"] == "done"
    for wrong in (-1, True, "3", 2**53):
        answer = first.reply(first.send({"op": stroke, "seen": wrong}))
        assert answer["kind"] == "refused"
        assert "seen = " in answer["message"]


MALFORMED = [
    "", "{", "[]", "7", '"op"', "null", "{}", '{"seq":1}', '{"seq":"1","op":{"op":"undo"}}',
    '{"seq":-1,"op":{"op":"undo"}}', '{"seq":true,"op":{"op":"undo"}}', '{"seq":1e3,"ask":"audit"}',
    '{"op":{"op":"add_class"}}', '{"seq":1,"op":{"op":"nix"}}', '{"seq":1,"op":7}',
    '{"seq":1,"ask":"nix"}', '{"seq":1,"ask":["audit"]}', '{"seq":1,"ask":{}}',
    '{"seq":1,"ask":"spectrum"}', '{"seq":1,"ask":"spectrum","pixel":2400}',
    '{"seq":1,"ask":"spectrum","pixel":-1}', '{"seq":1,"ask":"spectrum","pixel":1.5}',
    '{"seq":1,"ask":"why","pixel":0}', '{"seq":1,"ask":"segment","pixel":"5"}',
    '{"seq":1,"ask":"suggest","n":0}', '{"seq":1,"ask":"suggest","n":100000}',
    '{"seq":1,"ask":"suggest","rule":"best"}', '{"seq":1,"ask":"suggest","rule":{}}',
    '{"seq":1,"ask":"live"}', '{"seq":1,"ask":"live","on":1}',
    '{"seq":1,"ask":"preview_tau","tau":0}', '{"seq":1,"ask":"preview_tau","tau":100000}',
    '{"seq":1,"ask":"preview_tau","tau":"x"}', '{"seq":1,"ask":"export"}',
    '{"seq":1,"ask":"export","what":"all"}', '{"seq":1,"ask":"export","what":["map"]}',
    '{"seq":1,"ask":"export","what":"map","name":"../map.img"}',
    '{"seq":1,"ask":"export","what":"map","name":"/etc/passwd"}',
    '{"seq":1,"ask":"export","what":"map","name":".map.img"}',
    '{"seq":1,"ask":"export","what":"map","name":"map"}',
    '{"seq":1,"ask":"export","what":"map","name":7}',
    "[" * 100_000, '{"seq":1,"op":{"op":"tau","tau":NaN}}',
]  # fmt: skip


def test_a_page_of_another_session_is_sent_away(gate, editor, connect):
    own = connect(gate, name="own", session=editor.id)
    assert own.hello()["id"] == editor.id
    foreign = connect(gate, name="old", session="0123456789abcdef")
    assert foreign.hear() == {"kind": "foreign", "scene": "scene.hdr"}
    answer = foreign.reply(foreign.send({"op": {"op": "add_class"}}))
    assert answer["kind"] == "refused"
    assert "another session" in answer["message"]
    assert editor.version == 0
    assert own.do("add_class")["kind"] == "done"


def test_a_session_keeps_its_id(editor, new_editor):
    name = editor.id
    editor.apply({"op": "add_class"})
    editor.close()
    assert new_editor().id == name != new_editor("other.jsonl").id


def test_malformed_messages_are_refused(painter, editor):
    painter.ask("curve")
    lines, state = editor.log.path.read_bytes(), painter.state
    for text in MALFORMED:
        painter.socket.send(text)
        answer = painter.hear()
        assert answer["kind"] == "refused", text
        assert "error in the program" not in answer["message"]
        assert len(answer["message"]) < 400
    assert painter.ask("curve")["kind"] == "answer"  # still at work
    assert painter.state == state
    assert editor.log.path.read_bytes() == lines


def test_of_a_slow_client_the_newest_map_is_kept(gate, painter, tissue):
    slow = PageClient(gate)  # reads nothing until the end
    for i in range(40):
        painter.do(truth_stroke(tissue, 1 + i % 3, 3, start=3 + i))
    painter.settled()
    slow.ask("curve")
    assert np.array_equal(slow.settled(), painter.settled())
    assert slow.state["version"] == painter.state["version"]
    slow.close()


def test_a_client_that_never_reads_does_not_stay(gate, painter, editor):
    lost = PageClient(gate)
    lost.hello()
    for _ in range(1500):  # more answers than are kept for a client
        lost.send({"ask": "curve"})
    lost.socket.socket.close()  # without a goodbye
    assert painter.ask("live", on=True)["kind"] == "answer"
    assert painter.do("undo")["kind"] == "done"


def test_a_map_that_fails_is_said_and_the_old_one_stays(painter, editor, tissue, monkeypatch):
    before = painter.settled().copy()

    def fail():
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(editor.session, "update", fail)
        stroke = truth_stroke(tissue, 1, 60, start=30)
        assert painter.do(stroke)["kind"] == "done"
        while painter.state["problem"] is None:
            painter.hear()
        assert "no room" in painter.state["problem"]
        assert painter.state["stale"]
        assert painter.ask("update")["kind"] == "refused"
        assert np.array_equal(painter.frames["map"][1], before)
    painter.ask("update")
    assert painter.state["problem"] is None
    assert not np.array_equal(painter.frames["map"][1], before)
