"""Operations in, engine, disk: what is refused, what is kept, what comes back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass import __version__, diffuse_labels
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import LabelImage
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.session.label_files import class_table, label_import
from diffclass_relabel.session.session_files import open_editor
from diffclass_relabel.session_file.session_log import HASH, chained
from diffclass_relabel.session_file.sidecar import address_file
from diffclass_relabel.session_hub.states import session_state

from ..conftest import COLORS, HOLES, NAMES
from ..strokes import truth_stroke


def forged(path, old, new):
    """Replace a text in a session file, with hashes that fit; return the path."""
    text = path.read_text()
    assert old in text
    lines = [json.loads(line) for line in text.replace(old, new).splitlines()]
    lines = [{k: v for k, v in line.items() if k != HASH} for line in lines]
    path.write_bytes(chained(lines)[0])
    address_file(path).unlink()  # which knows the last step as it was
    return path


def test_map_is_that_of_the_labels(labelled, workspace):
    shown = labelled.update()
    ids = labelled.labels.ids.ravel()[workspace.pixels].astype(int)
    y = np.where(ids > 0, ids, -1)
    fresh = diffuse_labels(workspace.operator, y, label_mode="summed", tau=labelled.session.tau)
    found = shown.ids.ravel()[workspace.pixels]
    np.testing.assert_array_equal(found, fresh.classes[fresh.codes])
    holes = tuple(np.transpose(HOLES))
    assert (shown.ids[holes] == NO_DATA).all()
    assert (shown.ids == NO_DATA).sum() == len(HOLES)
    assert not shown.margin[holes].any()
    np.testing.assert_allclose(
        shown.margin.ravel()[workspace.pixels] / 255, fresh.margin, atol=1 / 255
    )
    np.testing.assert_allclose(
        shown.probability.ravel()[workspace.pixels] / 255,
        fresh.posteriors.max(axis=1),
        atol=1 / 255,
    )


def test_a_stroke_goes_around_holes(editor):
    editor.apply({"op": "add_class"})
    done = editor.apply({"op": "stroke", "class": 1, "pixels": [0, 4]})
    assert done["pixels"] == [1, 3]
    with pytest.raises(ParameterError, match="has data"):
        editor.apply({"op": "stroke", "class": 1, "pixels": [0, 1]})


def test_a_new_class_is_completed_and_kept_so(editor):
    first = editor.apply({"op": "add_class"})
    assert first == {"op": "add_class", "id": 1, "name": "class 1", "color": "#e69f00"}
    editor.apply({"op": "rename_class", "id": 1, "name": "class 2"})
    assert editor.apply({"op": "add_class"})["name"] == "class 2 (2)"
    assert editor.apply({"op": "add_class", "id": 254})["id"] == 254
    assert editor.apply({"op": "add_class"})["id"] == 3  # the least that is free
    assert editor.log.entries[0]["op"] == first


REFUSED = [  # what no operation may be, whatever it is done on, is in tests/relabel/test_operations
    None, {"op": "undo", "more": 1}, {"op": "stroke", "class": 1},
    {"op": "stroke", "class": 9, "pixels": [1, 2]},
    {"op": "stroke", "class": 1, "pixels": [2399, 2]},
    {"op": "stroke", "class": 1, "pixels": [-1, 2]},
    {"op": "stroke", "class": 1, "pixels": []}, {"op": "stroke", "class": 1, "pixels": [1]},
    {"op": "stroke", "class": 1, "points": [1]}, {"op": "stroke", "class": 0, "pixels": [1, 2]},
    *({"op": "erase", "pixels": runs} for runs in (
        "1,2", None, {"a": 1}, [0.0, 1], [True, 1], [0, True], ["0", 1], [[0, 1]],
        [2**70, 1], [0, 2**63], [None, 1],
    )),
    {"op": "erase", "pixels": [1900, 2]}, {"op": "move", "stroke": 99, "class": 1},
    {"op": "add_class", "id": 1}, {"op": "add_class", "name": "a\nb"},
    {"op": "lock_class", "id": 9, "locked": True}, {"op": "remove_class", "id": 1},
    {"op": "tau", "tau": 0}, {"op": "unwarp"}, {"op": "redo"},
    {"op": "class_sizes", "sizes": ""}, {"op": "class_sizes", "sizes": "much"},
    {"op": "class_sizes", "sizes": 3}, {"op": "class_sizes", "sizes": "9=10%"},
    {"op": "class_sizes", "sizes": "1=10%,2=95-99%"},
]  # fmt: skip


def test_refused_and_nothing_changed(labelled):
    state, labels = session_state(labelled), labelled.labels
    lines = labelled.log.path.read_bytes()
    for operation in REFUSED:
        with pytest.raises(ParameterError) as caught:
            labelled.apply(operation)
        assert len(str(caught.value)) < 400, operation
        assert session_state(labelled) == state, operation
        assert labelled.labels is labels, operation
        assert labelled.log.path.read_bytes() == lines, operation


@pytest.mark.parametrize("refused", [{"op": "remove", "stroke": 9}, {"op": "redo"}, {"op": "odd"}])
def test_what_is_refused_between_two_that_join_changes_nothing(editor, new_editor, refused):
    """A new class and its name are undone as one, live and where the session is repeated."""
    editor.apply({"op": "add_class"}, client="a page", number=0)
    with pytest.raises(ParameterError):
        editor.apply(refused, client="a page", number=1)
    editor.apply({"op": "rename_class", "id": 1, "name": "trees"}, client="a page", number=2)
    editor.apply({"op": "undo"}, client="a page", number=3)
    assert not editor.session.classes
    with pytest.raises(ParameterError, match="nothing to undo"):
        editor.apply({"op": "undo"}, client="a page", number=4)
    state = session_state(editor)
    editor.close()
    assert session_state(new_editor()) == state | {"map_version": None}


def test_reopened_is_the_same_to_the_bit(labelled, new_editor, tissue):
    labelled.update()
    more = [
        truth_stroke(tissue, 2, 30, start=30),
        {"op": "tau", "tau": "margin"},
        truth_stroke(tissue, 3, 30, start=30),
        {"op": "undo"},
        {"op": "warp"},
        {"op": "lock_class", "id": 2, "locked": True},
        {"op": "rename_class", "id": 1, "name": "nuclei, all"},
        truth_stroke(tissue, 1, 30, start=30),
    ]
    for operation in more:
        before = labelled.labels.ids
        labelled.apply(operation)
    shown, state = labelled.update(), session_state(labelled)
    probability = labelled.session.posteriors
    labelled.close()
    again = new_editor()
    assert np.array_equal(again.labels.ids, labelled.labels.ids)
    for name in ("ids", "margin", "probability"):
        assert np.array_equal(getattr(again.update(), name), getattr(shown, name))
    assert again.session.posteriors.tobytes() == probability.tobytes()
    apart = {"ms", "n_changed"}
    assert {k: v for k, v in session_state(again).items() if k not in apart} == {
        k: v for k, v in state.items() if k not in apart
    }
    again.apply({"op": "undo"})
    assert np.array_equal(again.labels.ids, before)
    assert session_state(again)["can_redo"]


def test_sent_twice_is_done_once(editor, new_editor):
    assert editor.apply({"op": "add_class"}, client="a", number=3)
    assert editor.apply({"op": "add_class"}, client="a", number=3) == {}
    assert editor.apply({"op": "add_class"}, client="b", number=3)
    assert editor.apply({"op": "add_class"}, number=3)
    editor.close()
    again = new_editor()
    assert again.version == 3
    assert again.apply({"op": "add_class"}, client="a", number=3) == {}
    # a number that was never done is not taken for done because a later one was
    assert again.apply({"op": "add_class"}, client="a", number=2)
    assert again.apply({"op": "add_class"}, client="a", number=4)


def test_refused_once_is_refused_when_sent_again(editor, new_editor):
    unknown = {"op": "rename_class", "id": 1, "name": "corn"}
    for _ in range(2):
        with pytest.raises(ParameterError, match="no class 1"):
            editor.apply(unknown, client="a", number=1)
        if not editor.session.classes:
            editor.apply({"op": "add_class"}, client="a", number=2)
    editor.close()
    again = new_editor()  # also after a crash: what was done afterwards counts on it
    with pytest.raises(ParameterError, match="no class 1"):
        again.apply(unknown, client="a", number=1)
    for each in (editor, again):
        assert each.version == each.log.n_operations == 1
        (refusal,) = [entry for entry in each.log.entries if "refused" in entry]
        assert (refusal["name"], refusal["client"], refusal["seq"]) == ("rename_class", "a", 1)
    again.apply(unknown, client="b", number=1)


def test_what_was_turned_away_unread_stays_refused(editor):
    assert "too many" in str(editor.turn_away("too many wait", "a", 1))
    with pytest.raises(ParameterError, match="too many wait"):
        editor.apply({"op": "add_class"}, client="a", number=1)
    assert editor.apply({"op": "add_class"}, client="b", number=1)


def test_a_refusal_of_nobody_known_is_not_that_of_others(editor):
    unknown = {"op": "rename_class", "id": 1, "name": "corn"}
    with pytest.raises(ParameterError, match="no class 1"):
        editor.apply(unknown, number=1)
    editor.apply({"op": "add_class"}, number=2)
    assert editor.apply(unknown, number=1)


def test_without_room_for_a_refusal_it_is_known_all_the_same(editor, full_disk):
    unknown = {"op": "rename_class", "id": 1, "name": "corn"}
    with full_disk(), pytest.raises(ParameterError, match="no class 1"):
        editor.apply(unknown, client="a", number=1)
    editor.apply({"op": "add_class"}, client="a", number=2)
    with pytest.raises(ParameterError, match="no class 1"):
        editor.apply(unknown, client="a", number=1)


def test_a_session_of_a_newer_version_is_refused(editor, scene_folder):
    editor.close()
    path = forged(editor.log.path, __version__, "999.0")
    with pytest.raises(DataError, match=r"made by diffclass 999\.0, newer"):
        open_editor(scene_folder / "scene.hdr", path)


def test_a_stroke_that_cannot_be_written_is_taken_back(labelled, full_disk):
    state, labels = session_state(labelled), labelled.labels.ids.copy()
    with full_disk(), pytest.raises(DataError, match="make room"):
        labelled.apply({"op": "undo"}, client="a", number=1)
    assert session_state(labelled) == state
    assert np.array_equal(labelled.labels.ids, labels)
    assert labelled.apply({"op": "undo"}, client="a", number=1)


def test_a_session_of_another_scene_is_refused(scene_folder, tissue, tmp_path):
    np.save(tmp_path / "other.npy", tissue.cube[::-1])
    session = tmp_path / "a.jsonl"
    open_editor(scene_folder / "scene.hdr", session, settings={"components": 6}).close()
    with pytest.raises(DataError, match="another scene"):
        open_editor(tmp_path / "other.npy", session)
    open_editor(scene_folder / "scene.hdr", session).close()


def test_settings_are_the_sessions(scene_folder, tmp_path):
    scene, session = scene_folder / "scene.hdr", tmp_path / "a.jsonl"
    settings = {"components": 5, "tau": 16, "features": "spatial", "random_state": 3}
    open_editor(scene, session, settings=settings).close()
    editor = open_editor(scene, session)
    assert editor.session.tau == 16
    assert editor.workspace.settings.random_state == 3
    assert editor.workspace.features.shape[1] == 10
    editor.close()
    with pytest.raises(ParameterError, match="begun with tau 16, not 32"):
        open_editor(scene, session, settings={"tau": 32})


def test_begun_with_labels(scene_folder, tmp_path, tissue):
    scene, session = scene_folder / "scene.hdr", tmp_path / "a.jsonl"
    labels = scene_folder / "strokes.hdr"
    editor = open_editor(scene, session, labels=labels, settings={"components": 6})
    assert np.array_equal(editor.labels.ids, tissue.labels)
    table = class_table(editor.session.classes)
    assert {entry.id: entry.name for entry in table} == NAMES
    assert {entry.id: entry.color for entry in table} == COLORS
    assert editor.version == editor.log.header["first_steps"] == 6
    editor.close()
    editor = open_editor(scene, session, labels=labels)  # the same command again continues
    assert editor.version == 6
    editor.close()


def test_labels_are_added_to_a_session_that_exists_once_and_as_one_operation(
    scene_folder, tmp_path, tissue
):
    scene, session = scene_folder / "scene.hdr", tmp_path / "a.jsonl"
    labels = scene_folder / "strokes.hdr"
    editor = open_editor(scene, session, settings={"components": 6})
    editor.apply({"op": "add_class", "name": "stroma"})
    editor.apply({"op": "add_class", "name": "fat"})
    editor.close()
    for _ in range(2):  # the same command again adds nothing
        editor = open_editor(scene, session, labels=labels)
        names = {entry.name: entry.id for entry in editor.session.classes}
        # a class of the same name is that class; ids that are taken give way
        assert names == {"stroma": 1, "fat": 2, "nuclei": 4, "cytoplasm": 5}
        given = np.array([0, 4, 5, 1])[tissue.labels]
        given[~editor.workspace.scene.valid] = 0
        assert np.array_equal(editor.labels.ids, given)
        assert editor.version == 3
        editor.close()
    editor = open_editor(scene, session)
    editor.apply({"op": "undo"})
    assert not editor.labels.ids.any()
    assert len(editor.session.classes) == 2
    editor.close()


def test_what_cannot_begin_leaves_no_file(scene_folder, tmp_path):
    session = tmp_path / "a.jsonl"
    with pytest.raises(DataError):
        open_editor(tmp_path / "none.hdr", session)
    with pytest.raises(DataError):
        open_editor(scene_folder / "scene.hdr", session, labels=tmp_path / "none.hdr")
    with pytest.raises(ParameterError, match="neighbors"):
        open_editor(scene_folder / "scene.hdr", session, settings={"neighbors": 5000})
    assert not session.exists()


def test_labels_of_odd_names_and_ids(workspace):
    ids = np.zeros(workspace.shape, dtype=int)
    ids[5, 5], ids[6, 6], ids[7, 7] = 3, 7, 9
    labels = LabelImage.from_array(ids, names={3: "corn", 7: "corn", 9: " \n"})
    operations = label_import(labels, workspace).steps
    assert [op.name for op in operations[:3]] == ["corn", "corn (2)", "class 9"]
    assert [op.class_id for op in operations[3:]] == [3, 7, 9]
    ids[8, 8] = 300
    with pytest.raises(ParameterError, match="class id 300 is too large"):
        label_import(LabelImage.from_array(ids), workspace)
    alone = np.zeros(workspace.shape, dtype=int)
    alone[0, 0] = 1
    with pytest.raises(ParameterError, match="no labelled pixel has data"):
        label_import(LabelImage.from_array(alone), workspace)
    with pytest.raises(DataError, match="rows"):
        label_import(LabelImage.from_array(ids.T), workspace)


def test_a_changed_file_says_which_step(editor, new_editor):
    editor.apply({"op": "add_class"})
    editor.close()
    forged(editor.log.path, '"add_class"', '"no_class"')
    with pytest.raises(DataError, match="step 1 cannot be repeated"):
        new_editor()


def test_header(editor, workspace, scene_folder):
    header = json.loads(editor.log.path.read_text().splitlines()[0])
    assert header["scenes"] == [str(scene_folder / "scene.hdr")]
    assert header["sha256"] == workspace.fingerprint
    assert header["settings"]["components"] == 6
    assert header["settings"]["seed"] == 0  # as the option is called, in Python random_state
    assert {"kernel", "version", "settings", "shape"} <= header.keys()


def test_a_session_that_is_opened_again_has_changed_nothing(labelled, new_editor):
    labelled.update()
    labelled.close()
    again = new_editor()
    shown = again.update()
    assert shown.n_changed == 0
    assert not shown.changed.any()
    again.apply({"op": "undo"})
    assert again.update().n_changed > 0


def test_refusals_are_in_the_words_of_the_page(editor):
    editor.apply({"op": "add_class"})
    editor.apply({"op": "stroke", "class": 1, "pixels": [100, 3]})
    for operation, says in (
        ({"op": "remove_class", "id": 1}, "class 1 (class 1) has 3 labelled pixels; erase"),
        ({"op": "erase", "pixels": [200, 3]}, "none of these pixels is labelled"),
        ({"op": "merge_classes", "source": 1, "into": 1}, "class 1 cannot be merged"),
    ):
        with pytest.raises(ParameterError) as refused:
            editor.apply(operation)
        assert str(refused.value).startswith(says)


@pytest.mark.parametrize("how", ["in the list", "in a row"])
def test_what_a_page_does_at_one_go_is_one_step(editor, new_editor, tissue, how):
    """A class is added and named; a row is labelled by a new name: after a restart too."""
    add = {"op": "add_class"} | ({"name": "one"} if how == "in a row" else {})
    name = {"op": "rename_class", "id": 1, "name": "one"}
    stroke = truth_stroke(tissue, 1, 5)
    first, second = (stroke, name | {"name": "two"}) if how == "in a row" else (name, stroke)
    for number, operation in enumerate((add, first, second)):
        editor.apply(operation, client="a page", number=number)
    steps = editor.history()
    assert (steps["step"], steps["n_steps"], len(steps["steps"])) == (2, 2, 2)
    added = "new class, painted" if how == "in a row" else "new class"
    assert (steps["steps"][0]["title"], steps["steps"][0]["name"]) == (added, "one")
    assert editor.birth(1) == 1
    editor.log.close()
    again = new_editor()
    assert again.history() == steps
    again.apply({"op": "undo"})
    assert [info.name for info in again.session.classes] == ["one"]
    again.apply({"op": "undo"})
    assert not again.session.classes
    again.apply({"op": "redo", "steps": 2})
    assert again.history() == steps


def test_only_what_follows_at_once_is_one_step_with_a_new_class(editor, tissue):
    def steps_after(*operations, **options):
        before = editor.session.step
        for number, operation in enumerate(operations):
            given = {"client": options["client"], "number": number} if options else {}
            editor.apply(operation, **given)
        return editor.session.step - before

    stroke = truth_stroke(tissue, 1, 5)
    add, tau = {"op": "add_class", "id": 1, "name": "one"}, {"op": "tau", "tau": 9}
    assert steps_after(add, stroke) == 2  # of a script
    other = {"op": "add_class", "id": 2, "name": "two"}
    assert steps_after(other, stroke, client="other class") == 2
    third = {"op": "add_class", "id": 3, "name": "three"}
    assert steps_after(third, tau, stroke | {"class": 3}, client="between") == 3
    fourth = {"op": "add_class", "id": 4}
    assert steps_after(fourth, stroke | {"class": 4}, client="painted") == 2
    fifth = {"op": "add_class", "id": 5}
    back = {"op": "undo"}, {"op": "redo"}
    rename = {"op": "rename_class", "id": 5, "name": "five"}
    assert steps_after(fifth, *back, rename, client="there and back") == 2
