"""Sessions over tables: what they log, and that classify and replay find the same classes."""

from __future__ import annotations

import json
from contextlib import closing

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.queries import describe_session, export
from diffclass_relabel.queries.answers import rows_at
from diffclass_relabel.session import open_editor, replayed
from diffclass_relabel.workspace import TableSettings, TableWorkspace
from diffclass_relabel.workspace.tables import fingerprint_of_table
from diffclass_tables import open_table, read_row_labels

LABELLED = (0, 1, 2, 3, 4, 6, 7, 8, 9, 11, 15, 30, 31, 200, 400)


@pytest.fixture
def editor(open_rows):
    return open_rows()


@pytest.fixture
def labelled(editor, digits, answer):
    answer(editor, LABELLED, digits[1][list(LABELLED)])
    editor.refine()
    return editor


def classes_of(path, table):
    """Return the classes in a file of results as texts, "" for none."""
    given = read_row_labels(path, open_table(table), variable="class")
    return np.array(["" if value is None else str(value) for value in given])


def test_each_row_with_values_has_a_pixel_of_its_own(editor, digits):
    workspace, X = editor.workspace, digits[0]
    complete = np.flatnonzero(~np.isnan(X).any(axis=1))
    np.testing.assert_array_equal(workspace.row_numbers, complete)
    assert len(np.unique(workspace.pixels)) == len(complete)
    np.testing.assert_array_equal(workspace.points[workspace.pixels], np.arange(len(complete)))
    assert np.count_nonzero(workspace.points >= 0) == len(complete)
    values = np.arange(len(complete))
    np.testing.assert_array_equal(workspace.by_point(workspace.raster(values))[complete], values)


def test_the_log_has_numbers_of_rows(labelled):
    lines = [json.loads(line) for line in labelled.log.path.read_text().splitlines()]
    strokes = [line["op"] for line in lines if line.get("op", {}).get("op") == "stroke"]
    assert [stroke["pixels"] for stroke in strokes] == [[row, 1] for row in LABELLED]
    assert lines[0]["of"] == "table"
    assert lines[0]["shape"] == [600, 64]


def test_runs_of_rows_and_of_pixels_are_each_others(editor):
    workspace = editor.workspace
    rng = np.random.default_rng(0)
    for _ in range(20):
        begin, length = int(rng.integers(0, 500)), int(rng.integers(1, 90))
        rows = np.arange(begin, begin + length)
        rows = rows[np.isin(rows, workspace.row_numbers)]
        cells = workspace.from_log([begin, length])
        back = workspace.to_log(cells)
        found = np.concatenate(
            [np.arange(a, a + n) for a, n in zip(back[::2], back[1::2], strict=True)]
        )
        np.testing.assert_array_equal(found, rows)
    with pytest.raises(ParameterError, match="leaves the image"):
        workspace.from_log([599, 2])


def test_a_session_goes_on_where_it_was(labelled, open_rows):
    ids, version = labelled.labels.ids.copy(), labelled.version
    labelled.close()
    again = open_rows()
    assert again.version == version
    np.testing.assert_array_equal(again.labels.ids, ids)


def test_a_session_does_not_depend_on_where_rows_are_drawn(labelled, table_folder, monkeypatch):
    """On another machine the last digits of the drawing differ, and with them its cells."""
    expected = labelled.session.map_ids.copy()
    labelled.close()
    with monkeypatch.context() as other:
        other.setattr(
            "diffclass_relabel.workspace.tables.drawn",
            lambda operator, coordinates, seed: np.random.default_rng(9).normal(
                size=(len(operator), 2)
            ),
        )
        with closing(replayed(labelled.log.path, table_folder / "digits.npy")) as again:
            assert not np.array_equal(again.workspace.pixels, labelled.workspace.pixels)
            np.testing.assert_array_equal(again.session.map_ids, expected)
            labels = again.workspace.by_point(again.labels.ids)
    np.testing.assert_array_equal(labels, labelled.workspace.by_point(labelled.labels.ids))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz", ".tsv", ".feather"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"metric": "cosine", "neighbors": 8}, {"dimensions": 20, "label_mode": "absorbing"}],
    ids=["usual", "cosine", "components"],
)
def test_classify_and_replay_find_the_classes_of_the_session(
    open_rows, answer, digits, table_folder, tmp_path, ending, settings
):
    table = table_folder / "digits.npy"
    editor = open_rows(settings=settings)
    answer(editor, LABELLED, digits[1][list(LABELLED)])
    named = {what: tmp_path / f"{what}{ending}" for what in ("labels", "map")}
    for what, path in named.items():
        export(editor, what, path)
    found = classes_of(named["map"], table)
    options = describe_session(editor)["classify_options"]
    words = ["classify", table, "--labels", named["labels"], *options, "-o", tmp_path / "c.csv"]
    assert run([*map(str, words), "-q"]) in (0, 4)
    np.testing.assert_array_equal(classes_of(tmp_path / "c.csv", table), found)
    editor.close()
    words = ["replay", editor.log.path, "--scene", table, "-o", tmp_path / f"r{ending}"]
    words += ["--labels", tmp_path / f"l{ending}", "--report", tmp_path / "r.json"]
    assert run([*map(str, words), "-q"]) == 0
    np.testing.assert_array_equal(classes_of(tmp_path / f"r{ending}", table), found)
    given = classes_of(tmp_path / f"l{ending}", table)
    np.testing.assert_array_equal(np.flatnonzero(given != ""), LABELLED)
    assert json.loads((tmp_path / "r.json").read_text())["labelled_pixels"] == len(LABELLED)
    assert found[5] == ""  # no values, no class


def test_results_of_annotated_data_are_a_copy_of_it(tmp_path, digits, open_rows, answer):
    anndata = pytest.importorskip("anndata")
    X, truth = digits
    X = np.nan_to_num(X)
    place = tmp_path / "cells.h5ad"
    anndata.AnnData(X).write_h5ad(place)
    editor = open_rows("cells.jsonl", table=place)
    answer(editor, LABELLED, truth[list(LABELLED)])
    export(editor, "map", tmp_path / "found.h5ad")
    written = anndata.read_h5ad(tmp_path / "found.h5ad")
    np.testing.assert_array_equal(written.X, X)
    assert set(written.obs["diffclass_class"].dropna()) <= {str(i) for i in range(10)}


def test_labels_of_a_file_are_one_operation(open_rows, digits, tmp_path, table_folder):
    truth = digits[1]
    labels = tmp_path / "labels.csv"
    labels.write_text("row,class\n" + "".join(f"{i},d{truth[i]}\n" for i in range(40)))
    editor = open_rows(labels=labels, reference=labels)
    names = {info.id: info.name for info in editor.session.classes}
    given = editor.workspace.by_point(editor.labels.ids)
    expected = [f"d{truth[i]}" if i != 5 else "" for i in range(40)]
    assert [names.get(i, "") for i in given[:40].tolist()] == expected
    assert not given[40:].any()
    assert editor.reference.labels.table[1].name == "d0"
    editor.close()
    # once only
    again = open_editor(table_folder / "digits.npy", editor.log.path, labels=labels)
    with closing(again):
        assert again.version == editor.version


def test_labels_may_be_a_column_which_is_no_feature(tmp_path, open_rows):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 5 * np.eye(3)[y][:, :2]
    lines = [
        f"{a:.4f},{b:.4f},{k if i < 30 else ''}"
        for i, ((a, b), k) in enumerate(zip(X, y, strict=True))
    ]
    table = tmp_path / "points.csv"
    table.write_text("a,b,kind\n" + "\n".join(lines) + "\n")
    editor = open_rows("kinds.jsonl", table=table, labels="kind", settings={"apart": "kind"})
    assert editor.workspace.features.shape == (90, 2)
    assert np.count_nonzero(editor.labels.ids) == 30
    facts = rows_at(editor, [int(editor.workspace.pixels[0])])["rows"][0]
    assert [name for name, _ in facts["values"]] == ["a", "b", "kind"]
    assert facts["name"] == "0"


def test_held_out_rows_are_pieces_of_their_own(labelled):
    ids = labelled.labels.ids
    pieces, n = labelled.workspace.pieces_of(ids == labelled.session.classes[0].id)
    assert n == np.count_nonzero(pieces) == pieces.max()


def test_suggestions_are_rows_that_are_not_labelled(labelled):
    found = labelled.session.suggest(8, features=labelled.workspace.features)
    assert labelled.workspace.coordinates is None
    assert not set(labelled.workspace.row_numbers[found.points]) & set(LABELLED)


# What shows rows


def test_a_row_has_its_picture_text_and_values(tmp_path, table_folder, open_rows):
    X = np.load(table_folder / "digits.npy")[:50]
    X = np.nan_to_num(X)
    np.savez(
        tmp_path / "some.npz",
        X=X,
        id=np.array([f"r{i}" for i in range(50)]),
        said=np.array([f"text {i}" for i in range(50)]),
        place=np.array([str(table_folder / "images" / f"{i}.png") for i in range(50)]),
        size=np.linspace(0, 1, 50),
    )
    shown = {"images": "place", "text": "said"}
    editor = open_rows("some.jsonl", table=tmp_path / "some.npz", settings=shown)
    pixel = int(editor.workspace.pixels[7])
    assert rows_at(editor, [pixel]) == {
        "rows": [{"pixel": pixel, "name": "r7", "text": "text 7", "values": [["size", "0.1429"]]}]
    }
    assert editor.workspace.contents.thumbnail(7)[:4] == b"\x89PNG"
    editor.close()
    # what only shows rows may be another the next time
    again = open_rows("some.jsonl", table=tmp_path / "some.npz", settings={"text": "place"})
    assert again.workspace.contents.text == "place"


def test_images_of_a_folder_are_called_as_rows_or_in_their_order(table_folder, tmp_path):
    table = open_table(table_folder / "digits.npy")
    settings = TableSettings(images=str(table_folder / "images"))
    paths = TableWorkspace.open(table.path, settings).contents.images
    assert [path.name for path in paths[:3]] == ["0.png", "1.png", "2.png"]
    folder = tmp_path / "ordered"
    folder.mkdir()
    for i in range(600):
        (folder / f"scan{i}.png").write_bytes((table_folder / "images" / f"{i}.png").read_bytes())
    settings = TableSettings(images=str(folder))
    paths = TableWorkspace.open(table.path, settings).contents.images
    assert [path.name for path in paths[8:12]] == [
        "scan8.png",
        "scan9.png",
        "scan10.png",
        "scan11.png",
    ]
    (folder / "scan3.png").unlink()
    with pytest.raises(DataError, match="599 images for 600 rows"):
        TableWorkspace.open(table.path, settings)


def test_an_image_that_cannot_be_read_is_said(table_folder, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "0.png").write_bytes(b"no picture")
    settings = TableSettings(images=str(folder))
    contents = TableWorkspace.open(table_folder / "digits.npy", settings).contents
    for row in (0, 1):  # damaged, missing
        with pytest.raises(DataError, match="no image that can be read"):
            contents.thumbnail(row)


# Bad input


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"images": "nowhere"}, ParameterError, "neither a folder nor a column"),
        ({"text": "nothing"}, ParameterError, "no column 'nothing'"),
        ({"metric": "angle"}, ParameterError, "metric = 'angle'"),
        ({"neighbors": 600}, ParameterError, "597 points|points have"),
        ({"columns": "x"}, ParameterError, "neither columns"),
        (
            {"features": "spatial"},
            ParameterError,
            "features is no setting of a session over a table",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(open_rows, tmp_path, settings, error, says):
    with pytest.raises(error, match=says):
        open_rows("bad.jsonl", settings=settings)
    path = tmp_path / "bad.jsonl"
    assert not path.exists() or not path.read_bytes()


def test_a_session_belongs_to_its_table(labelled, tmp_path, table_folder, scene_folder):
    labelled.close()
    X = np.load(table_folder / "digits.npy")
    X[3, 3] += 1
    np.save(tmp_path / "other.npy", X)
    with pytest.raises(DataError, match="is another table than the session's"):
        open_editor(tmp_path / "other.npy", labelled.log.path)
    with pytest.raises(DataError, match="the session is one of a table"):
        open_editor(scene_folder / "scene.hdr", labelled.log.path)
    with pytest.raises(ParameterError, match="metric None, not 'cosine'"):
        open_editor(table_folder / "digits.npy", labelled.log.path, settings={"metric": "cosine"})
    with pytest.raises(ParameterError, match="one table at a time"):
        open_editor([table_folder / "digits.npy"] * 2, tmp_path / "two.jsonl")


def test_the_hash_is_of_values_and_ids(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)

    def hashed(**arrays):
        np.savez(tmp_path / "t.npz", **arrays)
        return fingerprint_of_table(open_table(tmp_path / "t.npz"))

    ids = np.arange(20)
    first = hashed(X=X, id=ids)
    assert hashed(X=X, id=ids, more=ids) == first  # a column that is no feature
    assert hashed(X=X, id=ids + 1) != first
    assert hashed(X=X + np.eye(20, 3, dtype=np.float32), id=ids) != first
    assert hashed(X=X.astype(np.float64), id=ids) != first
    assert hashed(X=X.astype(X.dtype.newbyteorder(">")), id=ids) == first


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--margin", "m.npy"], 2, "are columns of -o"),
        (["--bands", "1-3"], 2, "is for scenes"),
        (["-o", "map.tif"], 2, "rows are written as"),
    ],
)
def test_replay_of_a_table_refuses_what_is_of_scenes(
    labelled, table_folder, tmp_path, monkeypatch, capsys, words, code, says
):
    monkeypatch.chdir(tmp_path)
    labelled.close()
    output = [] if "-o" in words else ["-o", "map.csv"]
    command = ["replay", labelled.log.path, "--scene", table_folder / "digits.npy", *output, *words]
    assert run([*map(str, command), "-q"]) == code
    assert says in capsys.readouterr().err
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".jsonl"] or not list(
        tmp_path.glob("map*")
    )
