"""The page over a table: rows drawn, shown and answered, in a real browser."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass_relabel.session import open_editor
from experiments.relabel.driver.rows import answered, focused

from ..browser import engine_map
from ..page.test_access import AXE, assert_axe_finds_nothing_serious, lacking
from .test_sessions import classes_of


@pytest.fixture
def editor(open_rows, table_folder):
    return open_rows(settings={"images": str(table_folder / "images")})


@pytest.fixture
def tab(editor, serve, open_tab):
    return open_tab(serve(editor).url)


def accuracy(editor, truth):
    names = {info.id: info.name for info in editor.session.classes}
    found = [names.get(i) for i in editor.session.map_ids.tolist()]
    return np.mean(np.array(found) == truth[editor.workspace.row_numbers].astype(str))


def answers_until(tab, editor, truth, goal, most):
    """Answer suggestions until the classes are right; return how many answers it took."""
    known, rows = [], []
    tab.key("q")
    while len(rows) < most:
        rows.append(answered(tab, truth, known))
        if len(known) < 2:
            continue
        tab.idle()
        if accuracy(editor, truth) >= goal:
            break
    assert len(set(rows)) == len(rows)
    return len(rows)


def test_from_nothing_to_95_percent_with_one_key_for_each_answer(tab, editor, digits):
    truth = digits[1]
    n = answers_until(tab, editor, truth, 0.95, 40)
    assert accuracy(editor, truth) >= 0.95
    assert n <= 40
    tab.wait("diffclass.state.refined && !diffclass.state.stale")  # else the map may yet change
    tab.idle()
    np.testing.assert_array_equal(tab.map, engine_map(editor))


@pytest.mark.data
def test_from_nothing_to_95_percent_on_photographs(data_folder, tmp_path, serve, open_tab):
    with np.load(data_folder / "embeddings" / "georsclip_vit_l_14.npz") as found:
        np.save(tmp_path / "photographs.npy", found["images"])
        truth = found["classes"]
    editor = open_editor(tmp_path / "photographs.npy", tmp_path / "s.jsonl")
    try:
        tab = open_tab(serve(editor).url)
        assert answers_until(tab, editor, truth, 0.95, 40) <= 40
        assert accuracy(editor, truth) >= 0.95
    finally:
        editor.close()


def test_rows_have_their_pictures_on_the_canvas_and_under_the_pointer(tab, editor):
    workspace = editor.workspace
    tab.idle()
    row, column = divmod(int(workspace.pixels[50]), workspace.shape[1])
    tab.move(row, column)
    name = str(workspace.row_numbers[50])
    tab.wait(f"document.querySelector('.right .row-name').textContent === '{name}'")
    tab.wait("!document.querySelector('.right .row-picture').hidden")
    assert tab.find(".status .pixel").text_content() == f"row {name}"
    before = tab.js("([r, c]) => diffclass.canvasPixel(r, c)", [row, column])
    tab.js("([row, column]) => diffclass.view.restore({row, column, scale: 40})", [row, column])
    # pictures are white or grey where the coordinates have colours
    tab.wait(
        f"(([r, g, b]) => r === g && g === b && r > 0)(diffclass.canvasPixel({row}, {column}))"
    )
    assert tab.js("([r, c]) => diffclass.canvasPixel(r, c)", [row, column]) != before
    assert tab.find(".right section.of-scene").is_hidden()


def test_a_lasso_labels_the_rows_inside(tab, editor):
    workspace = editor.workspace
    tab.add_class("some")
    tab.key("a")
    rows, columns = workspace.shape
    box = [(rows // 4, columns // 4), (rows // 4, 3 * columns // 4)]
    box += [(3 * rows // 4, 3 * columns // 4), (3 * rows // 4, columns // 4)]
    tab.stroke(*box)
    tab.idle()
    r, c = np.divmod(workspace.pixels, columns)
    edge = 1
    inside = (r > rows // 4 + edge) & (r < 3 * rows // 4 - edge)
    inside &= (c > columns // 4 + edge) & (c < 3 * columns // 4 - edge)
    given = editor.labels.ids.ravel()[workspace.pixels]
    assert inside.any()
    assert given[inside].all()
    # nothing is shown where there is no row
    shown = tab.labels.ravel()
    assert not shown[workspace.missing].any()
    assert np.count_nonzero(shown) == np.count_nonzero(given)


def test_the_lists_of_the_grid(editor, digits, answer, serve, open_tab):
    truth = digits[1]
    rows = [0, 1, 2, 10, 11, 12, 20, 21, 22]
    answer(editor, rows, np.where(np.isin(rows, [22]), 0, truth[rows]))
    editor.refine()
    tab = open_tab(serve(editor).url)
    tab.idle()
    tab.key("1", "q")
    select = tab.find("select[aria-label='Which rows']")
    margin = editor.session.margin
    ids = editor.session.map_ids
    chosen = editor.session.classes[0].id
    for name, order in (("unsure", 1), ("sure", -1)):
        select.select_option(name)
        tab.wait(f"document.querySelector('.row-grid').dataset.shows === '{name}'")
        tab.wait("document.activeElement?.matches('.row-card')")
        shown = [int(e.get_attribute("data-pixel")) for e in tab.find(".row-card").all()]
        points = editor.workspace.points[shown]
        assert (ids[points] == chosen).all()
        values = order * np.rint(margin[points] * 255)
        assert (np.diff(values) >= 0).all()
    select.select_option("contradicted")
    tab.wait("document.activeElement?.matches('.row-card.answered, select')")


def test_enter_confirms_backspace_takes_back_and_undo_undoes(tab, editor, digits):
    truth = digits[1]
    known = []
    tab.key("q")
    for _ in range(10):
        answered(tab, truth, known)
    tab.idle()
    n = len(editor.session.strokes)
    row = focused(tab)
    point = int(np.flatnonzero(editor.workspace.row_numbers == row)[0])
    found = int(editor.session.map_ids[point])
    tab.key("Enter")
    tab.idle()
    assert int(editor.session.label_ids[point]) == found
    tab.key("ArrowLeft")
    tab.key("Backspace")
    tab.idle()
    assert np.count_nonzero(editor.session.label_ids) == n
    tab.undo(2)
    assert len(editor.session.strokes) == n
    tab.key("Escape")
    assert tab.find(".row-grid").is_hidden()


def test_a_named_class_that_exists_is_not_added_again(tab, editor, digits):
    tab.key("q")
    for name in ("Four", "four"):
        focused(tab)
        tab.key("+")
        tab.page.keyboard.type(name)
        tab.key("Enter")
    tab.idle()
    assert [info.name for info in editor.session.classes] == ["Four"]
    assert np.count_nonzero(editor.session.label_ids) == 2


def test_exported_labels_make_the_classes_of_the_page(tab, editor, digits, tmp_path, table_folder):
    answers_until(tab, editor, digits[1], 0.8, 20)
    tab.key("Escape")
    tab.idle()
    places = {}
    for what, title in (("labels", "Labels"), ("map", "Map"), ("report", "Report")):
        if not tab.find("#export-menu").is_visible():
            tab.page.click("button[popovertarget=export-menu]")
        suffix = ".json" if what == "report" else ".csv"
        with tab.page.expect_download() as saved:
            tab.find(f"[title^='{title} as'][title$='({suffix})']").click()
        places[what] = tmp_path / f"{what}{suffix}"
        saved.value.save_as(places[what])
    options = json.loads(places["report"].read_text())["classify_options"]
    table = table_folder / "digits.npy"
    words = ["classify", table, "--labels", places["labels"], *options, "-o", tmp_path / "c.csv"]
    assert run([*map(str, words), "-q"]) in (0, 4)
    np.testing.assert_array_equal(
        classes_of(tmp_path / "c.csv", table), classes_of(places["map"], table)
    )


def test_what_is_of_scenes_is_not_shown(tab):
    assert tab.find("section[aria-label='Row']").is_visible()
    assert tab.find("section[aria-label='Spectrum']").is_hidden()
    options = tab.find("select[aria-label='Picture'] option").all_text_contents()
    assert options == ["Three diffusion coordinates", "Three features"]
    assert tab.find("h1 + .muted, header .muted").first.text_content() == "597 rows"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_names_and_contrast_of_the_grid(tab, theme):
    if not AXE.exists():
        lacking("no axe-core; npm install in plugins/diffclass_relabel/web")
    tab.js(f"document.documentElement.dataset.theme = '{theme}'")
    tab.add_class("one")
    tab.key("Escape", "q")
    focused(tab)
    tab.js(AXE.read_text(encoding="utf-8"))
    assert_axe_finds_nothing_serious(tab)


LATE = """(() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) {
    const isLate = String(text).includes('"ask":"suggest"');
    setTimeout(() => send.call(this, text), isLate ? 800 : 0);
  };
})()"""


def slow_suggestions(tab):
    """Let the answers to questions for suggestions come late, as on a busy machine."""
    tab.js(LATE)


def test_keys_while_other_rows_are_looked_for_answer_nothing(tab, editor, digits):
    truth, known = digits[1], []
    tab.key("q")
    for _ in range(9):
        answered(tab, truth, known)
    last = focused(tab)
    slow_suggestions(tab)
    tab.key("1", "2", "Enter", "3")  # the others come too early
    tab.wait("document.activeElement?.matches('.row-card:not(.answered)')")
    tab.idle()
    assert len(editor.session.strokes) == 10
    point = int(np.flatnonzero(editor.workspace.row_numbers == last)[0])
    assert editor.session.label_ids[point] == editor.session.classes[0].id


def test_a_name_is_typed_to_its_end_while_other_rows_come(tab, editor, digits):
    truth, known = digits[1], []
    tab.key("q")
    for _ in range(9):
        answered(tab, truth, known)
    focused(tab)
    slow_suggestions(tab)
    tab.key("1", "+")
    for letter in "abcd":
        tab.page.keyboard.type(letter)
        tab.page.wait_for_timeout(300)
    tab.wait("document.querySelector('.row-card:not(.answered)')")  # before, Enter answers nothing
    tab.key("Enter")
    tab.idle()
    assert editor.session.classes[-1].name == "abcd"
    assert np.count_nonzero(editor.session.label_ids == editor.session.classes[-1].id) == 1
    assert len(editor.session.strokes) == 11


def test_others_are_rows_not_seen_before(tab):
    tab.key("q")
    seen = set()
    for _ in range(3):
        focused(tab)
        shown = {card.get_attribute("data-pixel") for card in tab.find(".row-card").all()}
        assert not shown & seen
        seen |= shown
        first = tab.find(".row-card").first.get_attribute("data-pixel")
        tab.find("text=Others").click()
        tab.wait(f"document.querySelector('.row-card').dataset.pixel !== '{first}'")


def test_naming_a_class_is_undone_at_once(tab, editor):
    tab.key("q")
    focused(tab)
    tab.key("+")
    tab.page.keyboard.type("one")
    tab.key("Enter")
    tab.idle()
    assert (len(editor.session.classes), len(editor.session.strokes)) == (1, 1)
    tab.undo()
    assert not editor.session.classes
    tab.key("Control+y")
    tab.idle()
    assert (len(editor.session.classes), len(editor.session.strokes)) == (1, 1)


@pytest.mark.parametrize(("width", "height"), [(390, 800), (800, 500)])
def test_the_grid_stays_within_a_small_window(editor, serve, open_tab, width, height):
    tab = open_tab(serve(editor).url, width=width, height=height)
    tab.add_class("one")
    tab.key("q")
    focused(tab)
    stage, grid, cards = (
        tab.find(name).bounding_box() for name in (".stage", ".row-grid", ".row-grid .cards")
    )
    assert stage["y"] <= grid["y"]
    assert grid["y"] + grid["height"] <= stage["y"] + stage["height"]
    assert cards["height"] >= 60
