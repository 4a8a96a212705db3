"""Sessions over tables: what they log, and that classify and replay find the same classes."""

from __future__ import annotations

import io
import json
import threading
from contextlib import closing

import numpy as np
import pytest
from PIL import Image

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.queries import describe_session, export
from diffclass_relabel.queries.answers import rows_at
from diffclass_relabel.session import open_editor, replayed
from diffclass_relabel.workspace import TableSettings, TableWorkspace
from diffclass_relabel.workspace.row_contents import RowContents
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


def drawn(folder, **shades):
    """Write a small picture of a shade of grey for each name."""
    folder.mkdir(exist_ok=True)
    for name, shade in shades.items():
        Image.new("L", (4, 4), shade).save(folder / f"{name}.png")
    return folder


def names_of(contents):
    return [path.name for path in contents.images]


def written(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


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
            lambda operator, coordinates, random_state: np.random.default_rng(9).normal(
                size=(len(operator), 2)
            ),
        )
        with closing(replayed(labelled.log.path, table_folder / "digits.npy")) as again:
            assert not np.array_equal(again.workspace.pixels, labelled.workspace.pixels)
            np.testing.assert_array_equal(again.session.map_ids, expected)
            labels = again.workspace.by_point(again.labels.ids)
    np.testing.assert_array_equal(labels, labelled.workspace.by_point(labelled.labels.ids))


@pytest.mark.parametrize(
    ("ending", "settings"),
    [
        (".csv", {}),
        (".parquet", {"metric": "cosine", "neighbors": 8}),
        (".npz", {"dimensions": 20, "label_mode": "absorbing"}),
        (".tsv", {}),
        (".feather", {}),
    ],
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
    named = ((i, f"d{truth[i]}") for i in range(40))
    labels = written(tmp_path / "labels.csv", "row,class", named)
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
    rows = ((*x, k if i < 30 else "") for i, (x, k) in enumerate(zip(X, y, strict=True)))
    table = written(tmp_path / "points.csv", "a,b,kind", rows)
    editor = open_rows("kinds.jsonl", table=table, labels="kind", settings={"apart": ["kind"]})
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


def test_a_widget_has_classes_by_row(table_folder, tmp_path, digits):
    pytest.importorskip("anywidget")
    from diffclass_relabel import RelabelWidget

    labels = written(tmp_path / "labels.csv", "row,class", enumerate(digits[1][:40]))
    widget = RelabelWidget(
        table_folder / "digits.npy", session=tmp_path / "w.jsonl", labels=labels, metric="cosine"
    )
    given, found = widget.labels, widget.class_map
    # loops still warm up behind the page, and would do so in the tests after this one
    for thread in threading.enumerate():
        if thread.name == "preparation":
            thread.join(60)
    widget.close()
    assert given.shape == found.shape == (600,)
    expected = np.array([i < 40 and i != 5 for i in range(600)])
    np.testing.assert_array_equal(given > 0, expected)
    np.testing.assert_array_equal(found[expected], given[expected])
    assert found[5] == 0


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
    def images(folder):
        settings = TableSettings(images=str(folder))
        return names_of(TableWorkspace.open(table_folder / "digits.npy", settings).contents)

    assert images(table_folder / "images")[:3] == ["0.png", "1.png", "2.png"]
    folder = drawn(tmp_path / "ordered", **{f"scan{i}": 0 for i in range(600)})
    assert images(folder)[8:12] == [f"scan{i}.png" for i in (8, 9, 10, 11)]
    (folder / "scan3.png").unlink()
    with pytest.raises(DataError, match="599 images for 600 rows"):
        images(folder)


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
        ({"neighbors": 600}, ParameterError, "the 597 that have data"),
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


# What an attack found


def test_columns_of_labels_are_no_features_of_classify_either(tmp_path, open_rows, answer):
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    X = rng.normal(size=(120, 3)) + 3 * np.eye(3)[truth]
    rows = ([*x, k, 10 * k] for x, k in zip(X, truth, strict=True))
    table = written(tmp_path / "t.csv", 'a,b,c,"kind, fine",truth', rows)
    settings = {"apart": ["kind, fine", "truth"]}
    editor = open_rows("t.jsonl", table=table, reference="truth", settings=settings)
    assert editor.workspace.features.shape == (120, 3)
    answer(editor, range(6), truth[:6])
    export(editor, "labels", tmp_path / "l.csv")
    export(editor, "map", tmp_path / "m.csv")
    options = describe_session(editor)["classify_options"]
    assert options.count("--apart") == 2
    words = ["classify", table, "--labels", tmp_path / "l.csv", *options, "-o", tmp_path / "c.csv"]
    assert run([*map(str, words), "-q"]) in (0, 4)
    np.testing.assert_array_equal(
        classes_of(tmp_path / "c.csv", table), classes_of(tmp_path / "m.csv", table)
    )
    # one of the columns is enough the next time, or none; another was a feature
    editor.close()
    for apart in (["truth"], None):
        settings = {} if apart is None else {"apart": apart}
        open_rows("t.jsonl", table=table, settings=settings).close()
    with pytest.raises(ParameterError, match="was begun with apart"):
        open_rows("t.jsonl", table=table, settings={"apart": ["a"]})


def test_a_column_of_labels_is_taken_in_once_wherever_the_command_runs(
    tmp_path, open_rows, monkeypatch
):
    rows = ((i % 7, i % 5, "xyz"[i % 3] if i < 9 else "") for i in range(60))
    table = written(tmp_path / "t.csv", "a,b,kind", rows)
    options = {"table": table, "labels": "kind", "settings": {"apart": ["kind"]}}
    editor = open_rows("t.jsonl", **options)
    version = editor.version
    editor.close()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = open_rows("t.jsonl", **options)
    assert again.version == version
    # on the page the column is asked for beside the table
    found = again.workspace.read_labels(tmp_path / "kind")
    assert {"x", "y", "z"} <= {entry.name for entry in found.table}


@pytest.mark.parametrize(
    "ids",
    [["1.0", "1.1", "1.10", "2.0"], ["001", "01", "1", "NA"], ["null", "nan", "1e3", "9" * 25]],
    ids=["decimals", "zeros", "words"],
)
def test_ids_that_look_like_numbers_stay_with_their_rows(tmp_path, open_rows, answer, ids):
    arrow = pytest.importorskip("pyarrow.parquet")
    names = [f"{name}" for name in ids] + [f"r{i}" for i in range(56)]
    rng = np.random.default_rng(1)
    columns = {"id": names, "x": rng.normal(size=60), "y": rng.normal(size=60)}
    table = tmp_path / "t.parquet"
    arrow.write_table(pytest.importorskip("pyarrow").table(columns), table)
    editor = open_rows("t.jsonl", table=table)
    answer(editor, range(8), ["p", "q"] * 4)
    for ending in (".csv", ".tsv", ".parquet"):
        export(editor, "labels", tmp_path / f"l{ending}")
        given = read_row_labels(tmp_path / f"l{ending}", open_table(table))
        assert given[:8].tolist() == ["p", "q"] * 4
        assert set(given[8:].tolist()) == {None}


def test_a_class_whose_name_means_no_label_is_not_written(open_rows, answer, tmp_path):
    editor = open_rows()
    answer(editor, range(3), ["a", "nan", "b"])
    with pytest.raises(DataError, match="a class is called 'nan'"):
        export(editor, "labels", tmp_path / "l.csv")
    assert not (tmp_path / "l.csv").exists()


def test_annotated_data_that_have_changed_are_not_written_beside(tmp_path, open_rows, answer):
    anndata = pytest.importorskip("anndata")
    X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    place = tmp_path / "cells.h5ad"
    anndata.AnnData(X).write_h5ad(place)
    editor = open_rows("cells.jsonl", table=place)
    answer(editor, range(4), ["a", "b"] * 2)
    anndata.AnnData(X[::-1].copy()).write_h5ad(place)
    with pytest.raises(DataError, match="has changed since it was opened"):
        export(editor, "map", tmp_path / "found.h5ad")


@pytest.mark.parametrize("n", [3, 5, 12])
def test_small_tables_have_fewer_neighbours(tmp_path, open_rows, n):
    table = tmp_path / "t.npy"
    np.save(table, np.random.default_rng(0).normal(size=(n, 2)))
    with pytest.warns(UserWarning, match=f"other {n - 1} as neighbors, not 12 as usual"):
        assert open_rows("t.jsonl", table=table).workspace.settings.neighbors == n - 1
    with pytest.raises(ParameterError, match="take at most"):
        open_rows("u.jsonl", table=table, settings={"neighbors": n + 1})


def test_images_that_are_gone_keep_no_session_from_going_on(table_folder, tmp_path, open_rows):
    folder = drawn(tmp_path / "images", **{"0": 0})
    editor = open_rows(settings={"images": str(folder)})
    editor.close()
    folder.rename(tmp_path / "moved")
    replayed(editor.log.path, table_folder / "digits.npy").close()
    with pytest.warns(UserWarning, match="is gone"):
        assert open_rows().workspace.contents.images is None


@pytest.mark.parametrize("first", [0, 1])
def test_rows_without_ids_have_images_by_their_numbers_or_in_their_order(tmp_path, first):
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(20, 2)))
    folder = drawn(tmp_path / "images", **{f"{i + first}": 10 * i for i in range(20)})
    table = open_table(tmp_path / "t.npy")
    images = RowContents.of(table, str(folder)).images
    assert [Image.open(path).getpixel((0, 0)) for path in images] == [10 * i for i in range(20)]
    (folder / f"{first + 3}.png").unlink()  # now only the numbers tell
    if first == 0:
        names = names_of(RowContents.of(table, str(folder)))
        assert names == [f"{i}.png" if i != 3 else "3" for i in range(20)]
    else:
        with pytest.raises(DataError, match="not called as the rows, from 0"):
            RowContents.of(table, str(folder))


def test_images_in_the_order_of_rows_are_ordered_as_bands_are(tmp_path):
    names = ["img1", "Img2", "img10", "zoo"]
    drawn(tmp_path, **dict.fromkeys(names, 0))
    np.save(tmp_path / "t.npy", np.zeros((4, 2)))
    contents = RowContents.of(open_table(tmp_path / "t.npy"), str(tmp_path))
    assert names_of(contents) == [f"{name}.png" for name in names]


def test_images_are_found_by_ids_only_where_there_are_ids(tmp_path):
    ids = ["007", "003", "001", "012"]
    table = open_table(written(tmp_path / "t.csv", "id,a,b", ((i, i[2], int(i) % 4) for i in ids)))
    folder = drawn(tmp_path / "images", **{i: int(i) for i in ids})
    assert names_of(RowContents.of(table, str(folder))) == [f"{i}.png" for i in ids]
    for path in list(folder.iterdir()):
        path.rename(folder / f"photo_{path.name}")
    with pytest.raises(DataError, match="not called as ids of 'id'"):
        RowContents.of(table, str(folder))


def test_a_column_of_paths_comes_before_a_folder_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn(tmp_path / "images", **{"0": 0, "1": 1, "2": 2})
    rows = ((1, "images/2.png"), (2, "images/0.png"), (5, "images/1.png"))
    table = written(tmp_path / "t.csv", "a,images", rows)
    with pytest.warns(UserWarning, match="the other 2 as neighbors"):
        contents = TableWorkspace.open(table, TableSettings(images="images")).contents
    assert names_of(contents) == ["2.png", "0.png", "1.png"]


@pytest.mark.parametrize("mode", ["16 bits", "float", "palette", "upright", "cmyk"])
def test_images_of_all_kinds_are_shown_as_they_are(tmp_path, mode):
    values = np.linspace(0, 1, 64).reshape(8, 8)
    place = tmp_path / "images" / "0.png"
    place.parent.mkdir()
    if mode == "16 bits":
        Image.fromarray((40000 * values).astype(np.uint16)).save(place)
    elif mode == "float":
        place = place.with_suffix(".tif")
        Image.fromarray(values.astype(np.float32)).save(place)
    elif mode == "palette":
        image = Image.new("P", (8, 8), 0)
        image.putpalette([200, 0, 0, 0, 200, 0])
        image.save(place, transparency=0)
    elif mode == "upright":
        place = place.with_suffix(".jpg")
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by a quarter
        Image.new("RGB", (16, 8)).save(place, exif=exif)
    else:
        place = place.with_suffix(".jpg")
        Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(place)
    np.save(tmp_path / "t.npy", np.eye(2))
    contents = RowContents.of(open_table(tmp_path / "t.npy"), str(place.parent))
    shown = Image.open(io.BytesIO(contents.thumbnail(0)))
    pixels = np.asarray(shown.convert("RGBA"))
    if mode in ("16 bits", "float"):
        np.testing.assert_allclose(pixels[..., 0], 255 * values, atol=1.5)
    elif mode == "palette":
        assert not pixels[..., 3].any()
    elif mode == "upright":
        assert shown.size == (8, 16)
    else:
        assert (pixels[0, 0, :3] > [200, -1, -1]).all()
        assert pixels[0, 0, 1:3].max() < 60


def test_a_column_of_vectors_is_no_text(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    columns = {"v": [[1.0, 2.0], [2.0, 1.0]], "name": ["a", "b"]}
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    with pytest.raises(ParameterError, match="'v' holds vectors, no texts"):
        RowContents.of(open_table(tmp_path / "t.parquet"), text="v")


def test_the_report_counts_rows(labelled):
    report = describe_session(labelled)
    assert report["missing"] == 3
    assert report["unclassified"] == np.count_nonzero(labelled.session.map_ids == 0)
