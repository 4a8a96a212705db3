"""Bad input: one clear line, the right exit code, and no output."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp

from diffclass.command_line.main import run
from diffclass.exceptions import DataError
from diffclass_tables.io import open_table, read_row_labels

from .writers import FORMATS, write_csv, write_table

PER_FORMAT = -(-200 // len(FORMATS))


def damaged(content, kind, rng):
    """Return the bytes of a file with something wrong."""
    data, n = bytearray(content), len(content)
    if kind == 0:
        return content[: rng.integers(1, n)]
    if kind == 1:
        for _ in range(rng.integers(1, 9)):
            data[rng.integers(n)] ^= 1 << rng.integers(8)
    elif kind == 2:  # where headers and footers are
        place = int(rng.integers(min(200, n)))
        data[place if rng.random() < 0.5 else n - 1 - place] = int(rng.integers(256))
    elif kind == 3:
        start = int(rng.integers(n))
        data[start : start + int(rng.integers(1, 200))] = b""
    else:
        start = int(rng.integers(n))
        data[start : start + 64] = rng.bytes(64)
    return bytes(data)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.filterwarnings("ignore")
def test_damaged_tables(name, rows, capsys):
    write_table(name, rows[0], ids=[f"r{i}" for i in range(120)])
    content = Path(name).read_bytes()
    rng = np.random.default_rng(list(name.encode()))
    np.save("y.npy", np.where(np.arange(120) < 12, rows[1], ""))
    for attempt in range(PER_FORMAT):
        Path(name).write_bytes(damaged(content, attempt % 5, rng))
        before = sorted(path.name for path in Path().iterdir())
        command = [["info", name], ["cluster", name, "-o", "out.csv", "-k", "3"]][attempt % 2]
        code = run([*command, "-q"])
        said = capsys.readouterr()
        assert code in (0, 3), (attempt, said.err)
        assert "Traceback" not in said.err
        if code:
            assert said.err.strip().splitlines()[-1].lower().startswith("error: ")
            assert sorted(path.name for path in Path().iterdir()) == before
        Path("out.csv").unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["l.npy", "l.npz", "l.csv", "l.parquet", "k.npz", "k.mtx"])
@pytest.mark.filterwarnings("ignore")
def test_damaged_labels_and_graphs(name, rows, capsys):
    nearest = np.exp(-((rows[0][:, None] - rows[0]) ** 2).sum(axis=2))
    nearest[nearest < 0.01] = 0
    sp.save_npz("k.npz", sp.csr_array(nearest))
    scipy.io.mmwrite("k.mtx", sp.coo_array(nearest))
    np.save("l.npy", np.where(np.arange(120) < 12, rows[1], ""))
    np.savez("l.npz", y=np.load("l.npy"))
    write_csv("l.csv", {"row": range(12), "class": rows[1][:12]})
    pyarrow.parquet.write_table(pa.table({"row": range(12), "class": rows[1][:12]}), "l.parquet")
    content = Path(name).read_bytes()
    rng = np.random.default_rng(list(name.encode()))
    words = ["info", "points.npy", "--graph", name, "-q"]
    if name.startswith("l"):
        words = ["suggest", "points.npy", "--labels", name, "-o", "out.csv", "-n", "2", "-q"]
    for attempt in range(12):
        Path(name).write_bytes(damaged(content, attempt % 5, rng))
        code = run(words)
        said = capsys.readouterr()
        assert code in (0, 2, 3), (attempt, said.err)
        assert "Traceback" not in said.err
        assert not code or not Path("out.csv").exists()
        Path("out.csv").unlink(missing_ok=True)


CLUSTER = ("-o", "out.csv")


def of_text(name, text):
    Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,x\na,1\n,2\n", "1 of 2 rows have no id in 'id' (first: row 1)"),
        ("id,x\na,1\nb,2\na,3\n", "more than once in 'id', as 'a'"),
        ("id,x\n1,1\n2,2\n1,3\n", "more than once in 'id', as"),
        ("x,y\n1,2\n3,four\n5,6\n", "'four' in row 1 is no number"),
        ("x,x\n1,2\n3,4\n", "two columns are called 'x'"),
        ("x,y\n", "no row"),
        ("", "empty"),
        ("\n\n", "no row"),
        ("x,y\n1,2\n3\n", "Expected 2 columns"),
        ("x,y\n1,2\n3,4,5\n", "Expected 2 columns"),
        ('x,y\n1,2\n3,"4\n5,6\n', "a quote in row 1 is not closed"),
        ("x,y\n1,inf\n3,4\n", "infinite values"),
        ("x,y\n1,1e300\n3,4\n", "infinite values"),
    ],
)
def test_wrong_text(text, says, folder, fails):
    of_text("t.csv", text)
    fails("cluster", "t.csv", *CLUSTER, code=3, says=says)


def test_another_encoding(folder, fails):
    Path("t.csv").write_bytes("größe,y\n1,2\n3,4\n".encode("latin-1"))
    fails("cluster", "t.csv", *CLUSTER, code=3, says="byte 2 is no text in UTF-8")
    Path("t.csv").write_text("x,y\n1,2\n", encoding="utf-16-le")
    fails("cluster", "t.csv", *CLUSTER, code=3, says="zero bytes")
    Path("t.csv").write_text("größe,y\n1,2\n3,4\n", encoding="utf-16")
    assert open_table("t.csv").column_names == ("größe", "y")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("name,when\na,2024-01-01\nb,2024-01-02\n", (), "no column of numbers"),
        ("x,name\n1,a\n2,b\n", ("--columns=z",), "no column 'z'; it has x, name"),
        ("x,name\n1,a\n2,b\n", ("--columns=z*,x",), "no column 'z*'"),
        ("x,name\n1,a\n2,b\n", ("--columns=x,,",), "no column ''"),
        ("x,name\n1,a\n2,b\n", ("--id=key",), "no column 'key'; it has x, name"),
        ("x,name\n1,a\n2,b\n", ("--columns=name,x",), "'name' holds words"),
    ],
)
def test_columns_that_are_not_there(text, options, says, folder, fails):
    of_text("t.csv", text)
    code = 3 if "holds words" in says else 2
    fails("cluster", "t.csv", *options, *CLUSTER, code=code, says=says)


def bad_vectors():
    one, two, none = [1.0, 2.0], [3.0, 4.0], pa.array([None, None], pa.list_(pa.float32()))
    return {
        "lengths": ({"v": [one, two, [5.0], [6.0, 7.0]]}, 3, ("different lengths", "row 2")),
        "empty": ({"v": pa.array([[], []], pa.list_(pa.float32()))}, 3, "'v' holds no vector"),
        "null": ({"v": none}, 3, "'v' holds no vector"),
        "which": ({"v": [one, two], "w": [one, two]}, 2, "--columns v or w"),
        "words": ({"v": [["a"], ["b"]]}, 2, "no column of numbers"),
        "nested": ({"v": [[one], [two]]}, 2, "no column of numbers"),
        "nulls": ({"v": [[1.0, None], [None, 2.0]]}, 3, "every row has a missing value"),
        "none": ({"v": pa.array([], pa.list_(pa.float32()))}, 3, "no row"),
    }


@pytest.mark.parametrize("name", list(bad_vectors()))
def test_wrong_vectors(name, folder, fails):
    columns, code, says = bad_vectors()[name]
    pyarrow.parquet.write_table(pa.table(columns), "t.parquet")
    fails("cluster", "t.parquet", *CLUSTER, code=code, says=says)


def test_vectors_stand_alone(folder, fails):
    pyarrow.parquet.write_table(pa.table({"v": [[1.0], [2.0]], "x": [1, 2]}), "t.parquet")
    fails("cluster", "t.parquet", "--columns=v,x", *CLUSTER, code=2, says="stands alone")


def bad_arrays():
    return {
        "objects.npy": (np.array([[1, "a"], [2, "b"]], dtype=object), "cannot be read"),
        "words.npy": (np.array([["1", "a"], ["2", "b"]]), "real numbers"),
        "complex.npy": (np.ones((4, 2)) * 1j, "real numbers"),
        "dates.npy": (np.array([["2024-01-01"]] * 4, "datetime64[D]"), "real numbers"),
        "no_rows.npy": (np.zeros((0, 3)), "shape (0, 3)"),
        "no_columns.npy": (np.zeros((3, 0)), "shape (3, 0)"),
        "nan.npy": (np.full((4, 2), np.nan), "every row has a missing value"),
        "inf.npy": (np.array([[1, 2], [np.inf, 3]]), "infinite values"),
        "zeros.npy": (np.zeros((9, 3), np.float16), "only zeros in row 0"),
        "equal.npy": (np.ones((9, 3)), "all 9 points are equal"),
        "one.npy": (np.ones((1, 3)), "there is nothing to compare"),
    }


@pytest.mark.parametrize("command", ["cluster", "anomaly", "embed", "classify"])
@pytest.mark.parametrize("name", list(bad_arrays()))
def test_wrong_arrays(name, command, folder, fails):
    array, says = bad_arrays()[name]
    if name == "equal.npy" and command in ("anomaly", "classify"):
        return  # equal rows are alike, and have the classes of each other
    np.save(name, array, allow_pickle=True)
    np.save("y.npy", np.arange(len(array)) % 2)
    labels = ("--labels", "y.npy") if command == "classify" else ()
    few = ("-n", "1") if command == "embed" else ()
    fails(command, name, *labels, *few, *CLUSTER, code=3, says=says)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("command", ["cluster", "anomaly", "embed", "classify", "suggest"])
def test_few_rows(command, n, folder, capsys):
    np.save("t.npy", np.arange(2.0 * n).reshape(n, 2))
    np.save("y.npy", np.arange(n) % 2)
    labels = ["--labels", "y.npy"] if command == "classify" else []
    components = ["-n", "1"] if command == "embed" else []
    code = run([command, "t.npy", *labels, *components, *CLUSTER, "--quiet"])
    said = capsys.readouterr()
    assert code in (0, 2, 3, 4), said.err
    assert (code in (0, 4)) == Path("out.csv").exists()
    assert not code or "rror: " in said.err or code == 4


def test_wrong_archives(folder, fails):
    for name, arrays, code, says in (
        ("two.npz", {"a": np.zeros((3, 2)), "b": np.zeros((3, 2))}, 2, "which of a, b"),
        ("flat.npz", {"y": np.zeros(5)}, 2, "no column of numbers"),
        ("objects.npz", {"y": np.array([{}, 1])}, 3, "cannot be read"),
        ("twice.npz", {"X": np.zeros((2, 2)), "id": np.array(["a", "a"])}, 3, "more than once"),
        ("empty.npz", {"X": np.zeros((2, 2)), "id": np.array(["a", ""])}, 3, "no id"),
        ("short.npz", {"X": np.zeros((2, 2)), "id": np.array(["a"])}, 3, "'id' of shape (1,) for"),
    ):
        np.savez(name, **arrays)
        fails("cluster", name, *CLUSTER, code=code, says=says)
    np.savez("ok.npz", X=np.zeros((2, 2)))
    fails("cluster", "ok.npz", "--columns=Y", *CLUSTER, code=2, says="no table 'Y'; it has X")
    fails("cluster", "ok.npz", "--id=Y", *CLUSTER, code=2, says="no column 'Y'; it has none")
    np.save("ok.npy", np.zeros((2, 2)))
    fails("cluster", "ok.npy", "--columns=a", *CLUSTER, code=2, says="an array has neither")
    for name in ("none.csv", "none.npy", "none.npz"):
        fails("cluster", name, *CLUSTER, code=3, says="no such file")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_indices_that_lead_out_of_a_matrix(form, rows, fails):
    """Compiled loops would follow them, and end the process."""
    matrix = sp.random_array((120, 120), density=0.1, format=form, rng=0)
    sp.save_npz("t.npz", matrix)
    with np.load("t.npz") as archive:
        arrays = dict(archive)
    places = next(arrays[name] for name in ("indices", "coords", "row") if name in arrays)
    places.flat[5] = 2**30
    np.savez("t.npz", **arrays)
    fails("info", "t.npz", code=3, says="cannot be read as a table")
    words = ("--labels=labels.csv", "--graph=t.npz", "-o", "c.csv")
    fails("classify", "points.npy", *words, code=3, says="cannot be read as a graph")


def test_wrong_annotated_data(rows, fails):
    write_table("points.h5ad", rows[0])
    fails("cluster", "points.h5ad", "--columns=X_umap", *CLUSTER, code=2, says="it has X")
    fails("cluster", "points.h5ad", "--id=key", *CLUSTER, code=2, says="no column 'key'")
    with h5py.File("plain.h5ad", "w") as file:
        file["X"] = np.zeros((3, 2))
    fails("cluster", "plain.h5ad", *CLUSTER, code=3, says="it has no obs")
    with h5py.File("points.h5ad", "r+") as file:
        del file["X"]
    fails("cluster", "points.h5ad", *CLUSTER, code=3, says="X is empty")


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_no_advice_to_load_python_objects(tmp_path, name):
    objects = np.array([{}, 1], dtype=object)
    np.save(tmp_path / "rows.npy", np.eye(3))
    if name == "a.npy":
        np.save(tmp_path / name, objects, allow_pickle=True)
    else:
        np.savez(tmp_path / name, rows=objects)
    for read in (open_table, lambda path: read_row_labels(path, open_table(tmp_path / "rows.npy"))):
        with pytest.raises(DataError, match=rf"{name}: .* Python objects, which are never loaded"):
            read(tmp_path / name)
