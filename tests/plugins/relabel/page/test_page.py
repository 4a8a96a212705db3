"""The page in a real browser: what is painted, shown and steered, compared with the engine."""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import ndimage

from diffclass_hyperspectral import read_labels
from diffclass_relabel.maps import unpack_frame
from diffclass_relabel.queries.answers import similar_frame
from experiments.relabel.driver.browser import PREPARED

from ..browser import engine_map
from ..conftest import CLASSES as NAMES

COLORS = ("#e69f00", "#56b4e9", "#009e73")  # the first of the default palette


def test_first_visit(blank):
    assert blank.page.title() == "scene.hdr \u2013 diffclass relabel"
    assert blank.find(".hint").inner_text().startswith("Add a class")
    blank.stroke((10, 10), (10, 12))
    assert "no class to paint" in blank.find(".message").inner_text()
    blank.add_class("water")
    assert blank.find(".hint").inner_text().startswith("Choose a class")
    assert blank.state["classes"][0]["color"].lower() == COLORS[0]
    assert blank.js("diffclass.classId") == 1


def test_strokes_make_the_map(blank, editor, places):
    for name in NAMES:
        blank.add_class(name)
    for class_id, seeds in places.items():
        for row, column in seeds:
            blank.paint(class_id, (row, column), (row, column + 1))
    np.testing.assert_array_equal(blank.map, engine_map(editor))
    assert blank.state["version"] == blank.js("diffclass.lastMapVersion") == editor.version
    blank.show_map_only()
    colors = dict(zip((1, 2, 3), COLORS, strict=True))
    ids = engine_map(editor)
    for row in range(1, 48, 5):
        for column in range(2, 50, 6):
            if ids[row, column] in colors:
                assert blank.color(row, column) == colors[ids[row, column]]


def test_a_stroke_is_seen_at_once_and_kept_if_it_ends_outside(tab, editor):
    before = len(editor.session.strokes)
    tab.key("2")
    tab.press((30, 20), (30, 26))
    tab.js("diffclass.layers.setOpacity('labels', 1)")
    assert tab.color(30, 23) == COLORS[1]
    assert len(editor.session.strokes) == before
    tab.release()
    tab.idle()
    assert len(editor.session.strokes) == before + 1
    np.testing.assert_array_equal(tab.labels[29:32, 20:27], 2)
    strokes = len(tab.state["strokes"])
    tab.key("1")
    tab.press((40, 40))
    tab.page.mouse.move(1200, 500, steps=5)
    tab.release()
    tab.idle()
    assert len(tab.state["strokes"]) == strokes + 1
    assert tab.labels[40, 40] == 1


def test_a_fast_hand_leaves_no_gap(tab):
    tab.key("1", "[", "[")
    tab.move(40, 5)
    tab.page.mouse.down()
    tab.move(44, 45)  # one event, forty pixels on
    tab.release()
    tab.idle()
    columns = np.nonzero(tab.labels[40:45].any(axis=0))[0]
    assert set(range(5, 46)) <= set(columns)


def test_undo_redo_and_eraser(tab, editor):
    before = tab.map
    tab.paint(3, (24, 5), (24, 40))
    after = tab.map
    assert (before != after).any()
    tab.undo()
    np.testing.assert_array_equal(tab.map, before)
    tab.find("[aria-label^=Redo]").click()
    tab.idle()
    np.testing.assert_array_equal(tab.map, after)
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.paint(1, (40, 10), (40, 20))
    tab.key("e")
    tab.stroke((40, 14), (40, 16))
    tab.idle()
    assert (tab.labels[39:42, 13:18] == 0).all()
    assert (tab.labels[40, [10, 20]] == 1).all()


def test_polygon_and_lasso(tab):
    corners = [(10, 30), (10, 40), (20, 40)]
    inside = np.s_[11:20, 31:40]
    tab.key("2", "g")
    version = tab.state["version"]
    for place in corners:
        tab.click(*place)
    tab.key("Escape", "Enter")  # broken off
    tab.idle()
    assert tab.state["version"] == version
    closing = (
        lambda: (tab.click(20, 30), tab.key("Enter")),
        lambda: tab.page.mouse.dblclick(*tab.at(20, 30)),
        lambda: (tab.click(20, 30), tab.page.mouse.click(*tab.at(5, 5), button="right")),
    )
    for class_id, close in zip((2, 3, 2), closing, strict=True):
        tab.key(str(class_id))
        for place in corners:
            tab.click(*place)
        close()
        tab.idle()
        assert (tab.labels[inside] == class_id).all()
    assert tab.labels[5, 5] == 0
    assert tab.find(".menu-item:visible").count() == 0
    tab.key("3", "a")
    tab.stroke(*corners, (20, 30))
    tab.idle()
    assert (tab.labels[inside] == 3).all()


@contextmanager
def once_more(tab):
    """Wait until what is done in the block has led to another state."""
    version = tab.state["version"]
    yield
    tab.wait(f"diffclass.state.version > {version}")
    tab.idle()


def near(editor, place, tolerance):
    """The pixels like one, as the server says: all of them, and those connected with it."""
    pixel = place[0] * editor.workspace.shape[1] + place[1]
    _, (plane,) = unpack_frame(similar_frame(editor, pixel), editor.workspace.n_pixels)
    every = plane.reshape(editor.workspace.shape) <= tolerance
    pieces, _ = ndimage.label(every)
    return every, pieces == pieces[place]


def test_the_wand_takes_similar_pixels(tab, editor):
    place = (30, 20)
    tab.key("3", "z")
    tolerance = tab.js("diffclass.tolerance")
    every, connected = near(editor, place, tolerance)
    assert 1 < connected.sum() < every.sum()
    before = tab.labels
    with once_more(tab):
        tab.click(*place)
    np.testing.assert_array_equal(tab.labels, np.where(connected, 3, before))
    tab.undo()
    tab.find("text=Connected pixels only").click()
    with once_more(tab):
        tab.click(*place)
    np.testing.assert_array_equal(tab.labels, np.where(every, 3, before))
    tab.undo()
    np.testing.assert_array_equal(tab.labels, before)


def test_the_wand_takes_more_when_it_is_dragged_to_the_right(tab, editor):
    place = (30, 20)
    before = tab.labels
    tab.key("3", "z")
    tolerance = tab.js("diffclass.tolerance")
    tab.press(place, (30, 24))
    tab.key("Escape")
    tab.release()
    wider = tab.js("diffclass.tolerance")
    assert wider > tolerance
    tab.idle()
    np.testing.assert_array_equal(tab.labels, before)  # broken off
    tab.key("[", "[")
    assert tab.js("diffclass.tolerance") == wider - 10
    with once_more(tab):
        tab.press(place, (30, 22), (30, 16))
        tab.release()
    narrower = tab.js("diffclass.tolerance")
    assert narrower < wider - 10
    _, connected = near(editor, place, narrower)
    np.testing.assert_array_equal(tab.labels, np.where(connected, 3, before))


def test_labels_of_other_classes_are_kept_where_that_is_chosen(tab, editor):
    before = tab.labels
    row, column = np.argwhere(before == 1)[0].tolist()
    tab.find("text=Keep other classes").click()
    tab.key("2")
    tab.press((row, column), (row + 6, column))
    drawing = tab.labels
    assert (drawing[before == 1] == 1).all()
    assert (drawing != before).any()
    tab.release()
    tab.idle()
    np.testing.assert_array_equal(tab.labels, drawing)
    np.testing.assert_array_equal(editor.labels.ids, drawing)
    tab.reload()
    assert tab.find("text=Keep other classes").locator("input").is_checked()
    tab.find("text=Keep other classes").click()
    tab.paint(2, (row, column), (row, column))
    assert tab.labels[row, column] == 2


def test_two_digits_choose_a_class(blank):
    added = [{"op": "add_class", "id": k, "name": f"kind {k}"} for k in range(1, 13)]
    blank.js("operations => diffclass.apply({ op: 'batch', operations })", added)
    blank.wait("diffclass.state.classes.length === 12")
    blank.key("1", "2")
    assert blank.js("diffclass.classId") == 12
    blank.page.wait_for_timeout(800)  # another number begins
    blank.key("3")
    assert blank.js("diffclass.classId") == 3


def test_class_list(tab):
    row = tab.find("[data-class='2']")
    row.locator("button.class-name").dblclick()
    row.locator("input.class-name").fill("epithelium")
    tab.key("Enter")
    tab.wait("diffclass.state.classes[1].name === 'epithelium'")
    assert tab.js("document.activeElement.textContent") == "epithelium"
    row.locator("input[type=color]").fill("#123456")
    tab.wait("diffclass.state.classes[1].color.toLowerCase() === '#123456'")
    row.locator("[aria-label^=Hide]").click()
    tab.wait("diffclass.state.classes[1].hidden")
    tab.find("[aria-label='Rename, hide, lock, merge or remove nuclei']").click()
    tab.find(".menu-item").filter(has_text="stroma").click()
    tab.wait("diffclass.state.classes.length === 2")
    tab.idle()
    assert set(np.unique(tab.labels)) == {0, 2, 3}
    labels = tab.labels
    tab.find("[aria-label='Rename, hide, lock, merge or remove epithelium']").click()
    tab.find(".menu-item", has_text="Remove with labels").click()
    tab.wait("diffclass.state.classes.length === 1")
    tab.idle()
    assert set(np.unique(tab.labels)) == {0, 3}
    assert "second class" in tab.find(".hint").inner_text()
    tab.key("Control+z")
    tab.wait("diffclass.state.classes.length === 2")
    tab.idle()
    np.testing.assert_array_equal(tab.labels, labels)
    assert not tab.find(".hint").is_visible()


def test_the_class_under_the_pointer_is_taken_by_a_key(tab, places):
    for class_id in (2, 1, 3):
        tab.move(*places[class_id][0])
        tab.key("j")
        assert tab.find(".class-row.chosen").get_attribute("data-class") == str(class_id)


def test_hidden_classes_are_not_drawn_and_locked_ones_stay(tab, places):
    tab.show_map_only()
    row, column = places[1][0]
    assert tab.color(row, column) == COLORS[0]
    tab.find("[aria-label='Hide nuclei']").click()
    tab.wait("diffclass.state.classes[0].hidden")
    assert tab.color(row, column) != COLORS[0]
    tab.find("[aria-label^='Lock nuclei']").click()
    tab.wait("diffclass.state.classes[0].locked")
    tab.key("2")
    tab.press((row, column), (row, column + 3))
    assert tab.labels[row, column] == 1  # at once, not only after the server's answer
    tab.release()
    tab.idle()
    assert tab.labels[row, column] == 1


def test_what_is_refused_is_taken_back_and_said(tab, editor):
    tab.key("1", "[", "[")
    tab.click(20, 31)  # a pixel without data
    tab.wait("diffclass.pending === 0")
    tab.find(".message").wait_for()
    assert "data" in tab.find(".message").inner_text()
    assert tab.labels[20, 31] == 0


def test_layers(tab, places):
    row, column = places[1][0]
    mixed = tab.color(row + 3, column)
    tab.key("i")
    alone = tab.color(row + 3, column)
    assert alone != mixed
    tab.key("i")
    assert tab.color(row + 3, column) == mixed
    tab.key("m", "l")
    assert tab.color(row + 3, column) == alone
    tab.key("u")
    assert tab.color(row + 3, column) != alone
    assert tab.find("[data-layer=doubt]").get_attribute("aria-pressed") == "true"


def test_changes_light_up(tab, editor):
    before = tab.map
    tab.paint(3, (24, 5), (24, 40))
    changed = (tab.map != before) & (tab.map != 255)
    assert tab.state["n_changed"] == changed.sum() > 0
    tab.show_map_only()
    tab.key("c")
    colors = {*COLORS}
    for mask, lit in ((changed, True), (~changed & (tab.map != 255), False)):
        row, column = (int(k) for k in np.argwhere(mask)[len(np.argwhere(mask)) // 2])
        assert (tab.color(row, column) in colors) == lit


def test_outlines_while_painting(tab, places):
    tab.show_map_only()
    row, column = places[3][0]
    assert tab.color(row, column) == COLORS[2]
    tab.key("1")
    tab.press((40, 5), (40, 15))
    assert tab.color(row, column) != COLORS[2]
    tab.release()
    tab.idle()
    tab.key("o")
    assert tab.find("label", has_text="Map as outlines").locator("input").is_checked()
    assert tab.js("diffclass.layers.outlines")


def test_the_view_is_zoomed_at_the_pointer_moved_and_never_lost(tab):
    tab.move(20, 20)
    before = tab.js("diffclass.hover")
    scale = tab.js("diffclass.view.scale")
    tab.page.mouse.wheel(0, -400)
    tab.wait(f"diffclass.view.scale > {scale}")
    x, y = tab.at(20, 20)
    tab.page.mouse.move(x, y)
    assert tab.js("diffclass.hover") == before == {"row": 20, "column": 20}
    assert tab.js("([x, y]) => diffclass.pixelAt(x, y)", [x, y]) == before
    tab.key("h")
    assert tab.js("diffclass.view.scale") == scale
    version = tab.state["version"]
    for button in ("left", "middle"):
        before = tab.at(20, 20)
        tab.move(20, 20)
        if button == "left":
            tab.page.keyboard.down(" ")
        tab.page.mouse.down(button=button)
        tab.page.mouse.move(before[0] + 60, before[1] - 30, steps=4)
        tab.page.mouse.up(button=button)
        tab.page.keyboard.up(" ")
        assert tab.at(20, 20) == pytest.approx((before[0] + 60, before[1] - 30), abs=1)
    assert tab.state["version"] == version
    tab.js("diffclass.view.pan(1e5, -1e5)")
    corner = tab.js("diffclass.view.window")
    assert corner["right"] > corner["left"]
    assert corner["bottom"] > corner["top"]
    tab.key("h")
    window = tab.js("diffclass.view.window")
    assert window == {"top": 0, "left": 0, "bottom": 48, "right": 50}
    assert tab.js("diffclass.view.scale") == scale


def test_high_density_and_small(open_tab, painted_url, editor):
    tab = open_tab(painted_url, width=1280, height=720, device_scale_factor=2)
    tab.idle()
    assert tab.js("diffclass.view.ratio") == 2
    canvas = tab.find(".area canvas").first
    assert canvas.evaluate("c => c.width") == 2 * canvas.evaluate("c => c.clientWidth")
    tab.show_map_only()
    ids = engine_map(editor)
    for row, column in [(3, 3), (25, 25), (44, 40)]:
        assert tab.color(row, column) == COLORS[ids[row, column] - 1]
    whole = "(({scrollWidth, scrollHeight}) => [scrollWidth, scrollHeight])"
    assert tab.js(f"{whole}(document.documentElement)") == [1280, 720]


def test_what_is_known_under_the_pointer(tab, editor, tissue):
    tab.move(24, 30)
    tab.wait("document.querySelector('.note').textContent === 'at 24, 30'")
    text = tab.find(".status").inner_text()
    name = NAMES[engine_map(editor)[24, 30] - 1]
    assert "row 24  column 30" in text
    assert "E 500061  N 4469951" in text
    assert f"{name} " in text
    assert "margin" in text
    tab.key("w")
    tab.find(".item.why").first.wait_for()
    point = editor.workspace.point_of(24 * 50 + 30)
    best = editor.session.explain(point)[0]
    text = tab.find(".item.why").first.inner_text()
    assert f"stroke {best.stroke}" in text
    assert NAMES[best.class_id - 1] in text


def test_why_follows_the_map(tab, editor):
    """What is painted where it was asked changes the answer."""
    tab.move(24, 30)
    tab.key("w")
    tab.find(".item.why").first.wait_for()
    before = engine_map(editor)[24, 30]
    other = next(k for k in (1, 2, 3) if k != before)
    tab.paint(other, (24, 30))
    name = NAMES[other - 1]
    tab.wait(f"document.querySelector('.why-head').textContent.startsWith('{name}')")
    tab.wait(f"document.querySelector('.item.why').textContent.startsWith('{name}')")


def test_suggestions_that_were_passed_over_do_not_come_again(tab, editor):
    tab.key("n")
    tab.wait("diffclass.suggestions.current === 0")
    first = tab.js("diffclass.suggestions")["pixels"][0]
    row, column = divmod(first, 50)
    x, y = tab.at(row, column)
    assert tab.js("([x, y]) => diffclass.pixelAt(x, y)", [x, y]) == {"row": row, "column": column}
    tab.key("n")
    tab.wait("diffclass.suggestions.current === 1")
    tab.key("b")
    tab.wait("diffclass.suggestions.current === 0")
    tab.paint(2, (row, column))
    assert tab.find(".item.done").count() >= 1
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    first = None
    for _ in range(11):
        before = tab.js("diffclass.suggestions")
        tab.key("n")
        old = json.dumps(before, separators=(",", ":"))
        now = "JSON.stringify(diffclass.suggestions)"
        tab.wait(f"diffclass.suggestions.current >= 0 && {now} !== '{old}'")
        first = first or tab.js("diffclass.suggestions")["pixels"]
    assert not set(first) & set(tab.js("diffclass.suggestions")["pixels"])


def test_audit_finds_a_wrong_stroke_and_strokes_are_moved_and_removed(tab, editor):
    sure = (tab.map == 2) & (tab.labels == 0)
    margin = np.zeros(tab.map.size)
    margin[editor.workspace.pixels] = editor.session.margin
    row, column = divmod(int((margin * sure.ravel()).argmax()), 50)
    tab.key("[", "[")
    tab.paint(3, (row, column))
    number = tab.state["strokes"][-1]["number"]
    tab.find("[data-tab=Audit]").click()
    tab.page.click("text=Check labels")
    tab.find(f".item[title^=Row][title$='stroke {number}']").first.click()
    tab.page.click("text=Stroke to cytoplasm")
    tab.wait(f"diffclass.labels[{row * 50 + column}] === 2")
    tab.find("[data-tab=Strokes]").click()
    tab.find(".tab-panel:visible .item").first.click()
    newest = tab.state["strokes"][-1]
    tab.find(".item-actions select").select_option("1")
    tab.wait("diffclass.state.strokes.at(-1).class === 1")
    tab.find(f"[aria-label='Remove stroke {newest['number']}']").click()
    tab.wait(f"!diffclass.state.strokes.some(item => item.number === {newest['number']})")


def test_tau(tab, editor):
    before = tab.map
    tab.find(".made summary").click()
    tab.find(".tau input").focus()
    tab.find(".tau .line").wait_for(state="attached")
    box = tab.find(".tau input").bounding_box()
    middle = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + 0.6 * box["width"], middle)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.1 * box["width"], middle, steps=4)
    tab.wait("diffclass.previewing")
    assert tab.state["tau"] == 12  # sliding changes nothing
    tab.page.mouse.up()
    tab.wait("diffclass.state.tau < 12 && !diffclass.previewing")
    tab.idle()
    assert tab.state["tau"] == editor.session.tau
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.page.click("text=auto")
    tab.wait("diffclass.state.tau_mode === 'auto' && diffclass.state.refined")
    tab.key("Control+z", "Control+z")
    tab.wait("diffclass.state.tau === 12")
    tab.idle()
    np.testing.assert_array_equal(tab.map, before)


def test_live_off_waits_for_update(tab, editor):
    before = tab.map
    tab.key("t")
    tab.wait("!diffclass.state.live")
    tab.key("3")
    tab.stroke((24, 5), (24, 40))
    tab.wait("diffclass.state.stale")
    assert tab.find(".badge.warn").inner_text() == "map is stale"
    np.testing.assert_array_equal(tab.map, before)  # the old one stays
    tab.find("button.primary").click()
    tab.wait("!diffclass.state.stale")
    tab.idle()
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    assert tab.find(".switch").get_attribute("aria-checked") == "false"


def test_exports(tab, editor, tmp_path):
    tab.page.click("text=Export")
    labels = np.load(tab.download("Labels as NumPy, ids alone (.npy)").path())
    np.testing.assert_array_equal(labels, np.where(tab.labels == 255, 0, tab.labels))
    assert json.loads(tab.download("Report as JSON (.json)").path().read_text())
    files = []
    tab.page.on("download", lambda file: files.append(file))
    tab.find("[title='Map as ENVI (.img)']").click()
    tab.find("#export-menu .files").wait_for()
    while len(files) < 2:
        tab.page.wait_for_timeout(20)
    for file in files:
        file.save_as(tmp_path / file.suggested_filename)
    table = read_labels(tmp_path / "scene_map.img").table
    assert [entry.name for entry in table] == list(NAMES)


def test_a_model_goes_from_session_to_session(tab, new_editor, serve, open_tab, tmp_path):
    tab.page.click("text=Export")
    assert tab.find("[data-what=prediction]").is_hidden()
    tab.download("Model as for other scenes (.model)").save_as(tmp_path / "scene.model")
    other = open_tab(serve(new_editor("other.jsonl")).url)
    for name in ("nuclei", "stroma"):
        other.add_class(name)
    other.page.click("text=Import")
    other.find("#import-menu [aria-label=Model]").set_input_files(tmp_path / "scene.model")
    other.wait("diffclass.state.has_prediction", PREPARED)
    other.wait("document.querySelector('#import-menu .files').textContent.includes('Compare')")
    assert "scene.model" in other.find("#import-menu .files").inner_text()
    other.key("Escape")
    other.find("select[aria-label='Compare the map with']").select_option("prediction")
    other.find(".divider").wait_for()
    other.wait("document.querySelector('.left-side').textContent.startsWith('map of a model')")
    other.page.click("text=Export")
    prediction = np.load(other.download("Prediction as NumPy, ids alone (.npy)").path())
    assert set(np.unique(prediction)) <= {0, 1, 2, 3}


def test_pictures(tab):
    tab.key("i")
    seen = set()
    for choice in ("true", "false", "mnf"):
        with tab.page.expect_response(lambda answer: "picture.png" in answer.url):
            tab.find("[aria-label=Picture]").last.select_option(choice)
        tab.idle()
        seen.add(tuple(tab.color(row, 20) for row in range(5, 45, 8)))
    assert len(seen) == 3
    with tab.page.expect_response("**/picture.png?bands=*"):
        tab.find("select[aria-label=Picture]").select_option("bands")
    with tab.page.expect_response(lambda got: "?bands=4%2C" in got.url) as answer:
        tab.find("[aria-label='Red: band']").fill("5")
        tab.key("Enter")
    assert answer.value.ok


def test_dark_and_light(gate, open_tab):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    tab = open_tab(gate.url, color_scheme="light")
    light = tab.js(ground)
    tab.page.emulate_media(color_scheme="dark")
    dark = tab.js(ground)
    assert light != dark
    tab.page.emulate_media(color_scheme="light")
    tab.find("[aria-label='Dark or light']").click()
    assert tab.js(ground) == dark
    tab.reload()
    assert tab.js(ground) == dark  # the choice is kept


def test_every_control_has_a_name_and_can_be_reached(tab):
    nameless = tab.js(
        """[...document.querySelectorAll("button, input, select")]
           .filter(item => item.checkVisibility())
           .filter(item => !(item.ariaLabel || item.textContent.trim() || item.labels?.length))
           .map(item => item.outerHTML)"""
    )
    assert nameless == []
    tab.find(".made summary").click()
    reached = set()
    for _ in range(90):
        tab.key("Tab")
        reached.add(
            tab.js("document.activeElement.ariaLabel || document.activeElement.textContent")
        )
    wanted = {"Brush", "Undo (Ctrl+Z)", "A kernel for each class", "Add a class", "Opacity of map"}
    assert wanted <= reached
