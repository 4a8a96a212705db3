"""Several scenes on one page: which is under the pointer, and a file for each."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_relabel.queries import describe_session
from diffclass_relabel.session.session_files import open_editor

PARTS = {"north side/field.npy": slice(0, 20), "south/field.npy": slice(20, 48)}
NAMES = ["north side_field_map.npy", "south_field_map.npy"]


def test_the_scene_under_the_pointer_and_a_file_for_each(tmp_path, tissue, serve, open_tab):
    for name, rows in PARTS.items():
        (tmp_path / name).parent.mkdir()
        np.save(tmp_path / name, tissue.cube[rows])
    editor = open_editor(
        [tmp_path / name for name in PARTS], tmp_path / "s.jsonl", settings={"tau": 12}
    )
    tab = open_tab(serve(editor).url)
    tab.add_class("one")
    tab.add_class("two")
    below = editor.workspace.tiles.tiles[1].row
    tab.paint(1, (4, 10), (4, 20))
    tab.paint(2, (below + 3, 10), (below + 3, 20))
    for row, name in ((3, "north side_field"), (below, "south_field"), (below - 1, "")):
        tab.move(row, 7)
        tab.wait(f"document.querySelector('.status .pixel').textContent.startsWith('row {row} ')")
        said = tab.find(".status .pixel").inner_text()
        assert said.split("column 7")[1].strip() == name
    files = []
    tab.page.on("download", lambda file: files.append(file))
    tab.page.click("text=Export")
    tab.find("[title='Map as NumPy, ids alone (.npy)']").click()
    while len(files) < 2:
        tab.page.wait_for_timeout(20)
    for file, rows in zip(files, PARTS.values(), strict=True):
        file.save_as(tmp_path / file.suggested_filename)
        shown = np.load(tmp_path / file.suggested_filename)
        assert shown.shape == tissue.cube[rows].shape[:2]
    assert [file.suggested_filename for file in files] == NAMES
    assert ", ".join(NAMES) in tab.find("#export-menu .files").inner_text()
    tab.page.screenshot(path=tmp_path / "page.png")
    whole = tab.map.reshape(editor.workspace.shape)
    np.testing.assert_array_equal(whole[below:, :50], np.load(tmp_path / NAMES[1]))
    editor.close()


def test_a_scene_that_no_label_reaches_is_named_until_one_does(tmp_path, tissue, serve, open_tab):
    np.save(tmp_path / "north.npy", tissue.cube[:20])
    np.save(tmp_path / "south.npy", tissue.cube[20:] + 30)  # far from all of the other
    paths = [tmp_path / "north.npy", tmp_path / "south.npy"]
    with pytest.warns(UserWarning, match="in other units"):
        editor = open_editor(paths, tmp_path / "s.jsonl", settings={"tau": 12})
    tab = open_tab(serve(editor).url)
    tab.add_class("one")
    tab.add_class("two")
    hint = tab.find(".hint")
    tab.paint(1, (4, 10), (4, 14))
    assert "second class" in hint.inner_text()
    tab.paint(2, (12, 10), (12, 14))
    says = "No label reaches south: nothing there is linked to the labelled scenes; "
    hint.filter(has_text=says).wait_for()
    assert "no label reaches south" in describe_session(editor)["map_note"]
    tab.page.screenshot(path=tmp_path / "page.png")
    below = editor.workspace.tiles.tiles[1].row
    tab.paint(1, (below + 3, 10), (below + 3, 14))
    hint.wait_for(state="hidden")
    assert describe_session(editor)["map_note"] is None
    tab.key("Control+z")
    hint.filter(has_text=says).wait_for()
    editor.close()
