"""Labels of rows: wherever they lie, they reach the rows they are of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from diffclass.exceptions import DataError, ParameterError
from diffclass_tables.io import open_table, read_row_graph, read_row_labels

from .writers import write_csv, write_table

IDS = np.array([f"r{i}" for i in range(6)])
X = np.arange(12.0).reshape(6, 2)
EXPECTED = ["cat", None, "dog", None, None, "cat"]


@pytest.fixture
def table(folder):
    write_table("t.npz", X, ids=IDS)
    return open_table("t.npz")


def write_frame(name, columns):
    pyarrow.parquet.write_table(pa.table(columns), name)


def of_text(folder, text, table, **options):
    (folder / "l.csv").write_text(text)
    return read_row_labels("l.csv", table, **options).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "id,class\nr0,cat\nr2,dog\nr5,cat\n",
        "class,id\ndog,r2\ncat,r0\ncat,r5\n",
        "ID,Class\nr0,cat\nr2,dog\nr5,cat\n",
        "row,class\n0,cat\n2,dog\n5,cat\n",
        "id,label\nr0,cat\nr1,\nr2,dog\nr3,-1\nr4,NaN\nr5,cat\n",
        "class\ncat\n-1\ndog\nnan\n<NA>\ncat\n",
        "id;class\nr0;cat\nr2;dog\nr5;cat\n",
        "id\tclass\nr0\tcat\nr2\tdog\nr5\tcat\n",
        "id, class\nr0, cat\nr2, dog\nr5, cat\n",
        "# visits of June\nid,class\nr0,cat\nr2,dog\nr5,cat\n",
        'y\ncat\n""\ndog\n" "\n-1\ncat\n',
        "id,class\nr0,cat\nr2,dog\nr5,cat\nr5,cat\nr0,\n",
        "cell,class\nr5,cat\nr2,dog\nr0,cat\n",
        "cell,class\nr5,cat\nr4,\nr3,\nr2,dog\nr1,\nr0,cat\n",
        "x,id,category,y\n1,r0,cat,a\n2,r2,dog,b\n3,r5,cat,c\n",
        '"id","class"\r\n"r0","cat"\r\n"r2","dog"\r\n"r5","cat"\r\n',
        "﻿id,class\nr0,cat\nr2,dog\nr5,cat\n",
    ],
)
@pytest.mark.filterwarnings(
    "ignore:.*among the texts", "ignore:.*separated by", "ignore:.*left out"
)
def test_text(text, table, folder):
    assert of_text(folder, text, table) == EXPECTED


def test_the_index_of_pandas(folder):
    np.save("t.npy", X)
    pd.DataFrame(X, columns=["x", "y"], index=IDS).to_csv("t.csv")
    for table, index in (("t.npy", [0, 2, 5]), ("t.csv", IDS[[0, 2, 5]])):
        labels = pd.DataFrame({"class": ["cat", "dog", "cat"]}, index=index)
        labels.to_csv("l.csv")
        labels.to_parquet("l.parquet")
        for name in ("l.csv", "l.parquet"):
            assert read_row_labels(name, open_table(table)).tolist() == EXPECTED


def test_a_variable(table, folder):
    text = "id,mine,class\nr0,cat,x\nr2,dog,x\nr5,cat,x\n"
    assert of_text(folder, text, table, variable="mine") == EXPECTED
    assert of_text(folder, text, table) == ["x", None, "x", None, None, "x"]
    text = "id,mine,other\nr0,cat,x\n"
    for error, says, given, variable in (
        (ParameterError, "which column holds the classes", text, None),
        (ParameterError, "no column 'none'", text, "none"),
        (DataError, r"are these names or a row\? Begin the file with", "0,1\n5,2\n", None),
        (DataError, r"has no line of names; begin it with one", "3,1\n5,2\n", None),
    ):
        with pytest.raises(error, match=says):
            of_text(folder, given, table, variable=variable)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([3, -1, 0, -1, -1, 3]), [3, None, 0, None, None, 3]),
        (np.array([3, np.nan, 0, -1, np.nan, 3]), [3, None, 0, None, None, 3]),
        (np.array(["a", "", "b", "-1", "nan", "a"]), ["a", None, "b", None, None, "a"]),
        (np.array([b"a", b"", b"b", b"-1", b"", b"a"]), ["a", None, "b", None, None, "a"]),
        (np.array([True, False, True, True, False, True]), [True, False, True, True, False, True]),
        (np.array([0.5, np.inf, 2, -1, 0.5, 2]), [0.5, np.inf, 2, None, 0.5, 2]),
        (np.array([255, 0, 1, 0, 0, 0], np.uint8), [255, 0, 1, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("name", ["l.npy", "l.npz", "column"])
@pytest.mark.filterwarnings("ignore:'nan' among the texts")
def test_arrays(name, values, expected, folder):
    write_table("t.npz", X, ids=IDS, columns={"mine": values} if name == "column" else None)
    if name == "l.npy":
        np.save(name, values)
    elif name == "l.npz":
        np.savez(name, y=values, other=X)
    table = open_table("t.npz")
    found = read_row_labels("mine" if name == "column" else name, table).tolist()
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


KINDS = {
    "text": (pa.array(EXPECTED), EXPECTED),
    "large": (pa.array(EXPECTED, pa.large_string()), EXPECTED),
    "view": (pa.array(EXPECTED, pa.string_view()), EXPECTED),
    "bytes": (pa.array(EXPECTED, pa.binary()), EXPECTED),
    "category": (pa.array(EXPECTED).dictionary_encode(), EXPECTED),
    "numbers": (pa.array([2**53 + 1, None, 2, -1, 0, 1]), [2**53 + 1, None, 2, None, 0, 1]),
    "small": (pa.array([1, None, 2, -1, 0, 1], pa.int8()), [1, None, 2, None, 0, 1]),
    "codes": (pa.array([1, None, 2, 2, 1, 1]).dictionary_encode(), [1, None, 2, 2, 1, 1]),
    "floats": (pa.array([1.0, None, np.nan, -1, 0.5, 1]), [1, None, None, None, 0.5, 1]),
    "bool": (pa.array([True, None, False] * 2), [True, None, False] * 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_columns(kind, folder):
    column, expected = KINDS[kind]
    write_frame("t.parquet", {"id": IDS, "x": X[:, 0], "mine": column})
    write_frame("l.parquet", {"class": column, "id": IDS})
    table = open_table("t.parquet", apart=["mine"])
    assert table.values.shape == (6, 1)
    for source in ("mine", "l.parquet"):
        assert read_row_labels(source, table).tolist() == expected


def test_observations(folder):
    anndata = pytest.importorskip("anndata")
    columns = {
        "category": (pd.Categorical(EXPECTED), EXPECTED),
        "words": (["cat", "", "dog", "", "", "cat"], EXPECTED),
        "whole": (pd.array([1, None, 2, -1, 0, 1], "Int64"), [1, None, 2, None, 0, 1]),
        "yes": (pd.array([True, None, False] * 2, "boolean"), [True, None, False] * 2),
        "floats": ([1, np.nan, 2, -1, 0.5, 1], [1, None, 2, None, 0.5, 1]),
    }
    obs = pd.DataFrame({name: values for name, (values, _) in columns.items()}, index=IDS)
    anndata.AnnData(X.astype(np.float32), obs=obs).write_h5ad("t.h5ad")
    table = open_table("t.h5ad")
    for name, (_, expected) in columns.items():
        assert read_row_labels(name, table).tolist() == expected
    obs[["words"]].to_csv("l.csv")
    assert read_row_labels("l.csv", table, variable="words").tolist() == EXPECTED
    with pytest.raises(DataError, match="no id in 'floats'"):
        open_table("t.h5ad", id_column="floats")


@pytest.mark.parametrize(("given", "table_ids"), [("3", [1, 2, 3]), (3, ["1", "2", "3"])])
def test_numbers_as_text(given, table_ids, folder):
    write_frame("t.parquet", {"id": table_ids, "x": [0, 1, 2]})
    write_frame("l.parquet", {"id": [given], "class": ["a"]})
    found = read_row_labels("l.parquet", open_table("t.parquet"))
    assert found.tolist() == [None, None, "a"]


def test_a_folder_called_as_a_column(folder):
    (folder / "class").mkdir()
    write_table("t.npz", X, columns={"class": np.array(["a", "b"] * 3)})
    assert read_row_labels("class", open_table("t.npz")).tolist() == ["a", "b"] * 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,class\nr0,cat\nr9,dog\n", "'r9' is none of the 6 rows"),
        ("id,class\nr0,cat\n,dog\n", "None is none of the 6 rows"),
        ("id,class\nr0,cat\nr0,dog\n", "labelled 'cat' and 'dog'"),
        ("row,class\n0,cat\n6,dog\n", "6 is none"),
        ("row,class\n0,cat\n-1,dog\n", "-1 is none"),
        ("class\ncat\ndog\n", r"shape \(2,\) for 6 rows"),
        ("name,class\nu,cat\nv,dog\n", r"shape \(2,\) for 6 rows.*called as in the table"),
        ("id,class,class\nr0,cat,dog\n", "two columns are called 'class'"),
        ("", "empty"),
        ("\n", "no row"),
        ("id,class\nr0,1\nr2,NA\n", "column 'class': 'NA' stands among whole numbers"),
    ],
)
def test_wrong_labels(text, says, table, folder):
    with pytest.raises(DataError, match=says):
        of_text(folder, text, table)


def test_wrong_sources(table, folder):
    np.save("objects.npy", np.array(["a", None] * 3, dtype=object), allow_pickle=True)
    np.save("two.npy", X)
    np.save("short.npy", np.zeros(5))
    (folder / "l.doc").write_text("cat")
    for source, kind, says in (
        ("objects.npy", DataError, "cannot be read as labels"),
        ("two.npy", DataError, r"shape \(6, 2\)"),
        ("short.npy", DataError, r"shape \(5,\)"),
        ("l.doc", DataError, "labels of rows are"),
        ("none.csv", DataError, "no such file"),
        ("colour", ParameterError, "neither a file nor a column"),
    ):
        with pytest.raises(kind, match=says):
            read_row_labels(source, table)


def test_too_few_classes(rows, fails):
    for text, says in (
        ("row,class\n0,a\n1,a\n", "only one class is labelled among the rows"),
        ("row,class\n0,\n1,-1\n", "no class is labelled"),
        ("row,class\n", "no class is labelled"),
        ("row,class\n0,a\n1,b\n", "left to be held out"),
    ):
        Path("few.csv").write_text(text)
        more = ("--labels-per-class", "1") if "held" in says else ()
        words = ("classify", "points.npy", "--labels", "few.csv", "-o", "c.csv", *more)
        fails(*words, code=3, says=says)


@pytest.mark.parametrize("command", ["cluster", "anomaly", "suggest", "classify"])
def test_labels_are_no_features(command, rows, works):
    """A column of labels beside the features, of which most rows have none."""
    _, truth = rows
    numbers = np.unique(truth, return_inverse=True)[1]
    columns = {"mine": ["" if i >= 12 else n for i, n in enumerate(numbers)]}
    write_table("t.csv", rows[0], columns=columns)
    option = "--truth" if command in ("cluster", "anomaly") else "--labels"
    report = works(command, "t.csv", option, "mine", "-o", "found.csv")
    assert report.get("facts", {"n_features": 5})["n_features"] == 5
    assert report.get("n_without_data", 0) == 0


@pytest.mark.parametrize(
    "names",
    [
        ["true", "false", "True"],
        ["12:30", "12:30:00", "24:00"],
        ["1e3", "1000", "1E3"],
        ["1.10", "1.1", "1.0"],
        ["007", "7", "07"],
        ["2024-01-01", "2024-01-01 00:00", "2024-01-02T00:00:00Z"],
        ["9" * 18 + "7", "9" * 18 + "8", "9" * 25],
        ["0", "-0", "+0"],
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_texts_that_look_like_other_types(names, ending, folder):
    delimiter = "," if ending == "csv" else "\t"

    def written(name, columns):
        write_csv(f"{name}.{ending}", columns, delimiter=delimiter)
        return f"{name}.{ending}"

    # of one kind that pyarrow would infer, and of several
    for cells in ([names[0]] * 6, names * 2):
        place = written("t", {"id": IDS, "x": X[:, 0], "mine": cells})
        table = open_table(place, apart=["mine"])
        labels = written("l", {"id": IDS, "class": cells})
        for source in ("mine", labels):
            assert [str(name) for name in read_row_labels(source, table)] == cells
    # as ids, under any name, and as ends of edges
    for ids in (names, [*names, "a", "NA"]):
        n = len(ids)
        table = open_table(written("t", {"id": ids, "x": range(n)}))
        assert table.ids.tolist() == ids
        for name in ("id", "cell"):
            labels = written("l", {name: ids[::-1], "class": range(n)})
            assert read_row_labels(labels, table).tolist() == list(range(n))[::-1]
        edges = read_row_graph(written("e", {"source": ids[:-1], "target": ids[1:]}), table)
        assert edges.nnz == 2 * n - 2


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3", "7", "0", "1", "12", "3"], [3, 7, 0, 1, 12, 3]),
        (["3", "-1", "0", "", "12", "3"], [3, None, 0, None, 12, 3]),
        (["3", "NaN", "0", "<NA>", " 12", "3"], [3, None, 0, None, 12, 3]),
        (["3.0", "-1.0", "0.0", "", "12.0", "3.0"], [3, None, 0, None, 12, 3]),  # of pandas
    ],
)
@pytest.mark.filterwarnings("ignore:.*among the texts")
def test_whole_numbers_of_text_are_numbers(cells, expected, table, folder):
    lines = ["id,class", *map(",".join, zip(IDS, cells, strict=True))]
    found = of_text(folder, "\n".join(lines), table)
    assert found == expected
    assert {type(value) for value in found} <= {int, type(None)}
