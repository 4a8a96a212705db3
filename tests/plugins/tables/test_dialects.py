"""Text tables as others write them: read right, with a word of what was assumed, or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from diffclass.command_line import is_of_kind
from diffclass.exceptions import DataError
from diffclass.jobs import Suggestion
from diffclass_tables.io import open_table, read_row_labels
from diffclass_tables.io.results import write_suggestions

X = np.random.default_rng(0).normal(size=(60, 4))
CLASSES = np.array(["setosa", "virginica"])[np.arange(60) % 2]
LINES = list(zip(X, CLASSES, strict=True))
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=CLASSES)


def written(frame, **how):
    frame.to_csv("t.csv", index=how.pop("index", False), **how)
    return "t.csv"


def assert_read(path, *, classes=True, **how):
    table = open_table(path, **how)
    np.testing.assert_allclose(table.values, X)
    if classes:
        assert read_row_labels(table.column_names[-1], table).tolist() == CLASSES.tolist()


def test_names_over_numbers_need_no_word(folder):
    assert_read(written(FRAME))
    assert_read(written(FRAME, index=True))
    assert_read(written(pd.DataFrame(X), index=True), classes=False)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"sep": ";"}, ["separated by semicolons"]),
        ({"sep": "\t"}, ["separated by tabs"]),
        ({"sep": "|"}, ["separated by bars"]),
        ({"sep": ";", "decimal": ","}, ["separated by semicolons", "decimal commas"]),
        ({"decimal": ","}, ["decimal commas"]),
        ({"header": False}, ["taken as a row of data"]),
        ({"header": False, "sep": ";", "decimal": ","}, ["semicolons", "commas", "row of data"]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_dialects(how, says, encoding, folder):
    with pytest.warns(UserWarning, match="t.csv: ") as said:
        assert_read(written(FRAME, encoding=encoding, **how))
    assert len(said) == len(says)
    for one, words in zip(said, says, strict=True):
        assert words in str(one.message)


@pytest.mark.parametrize(
    ("columns", "index"),
    [
        ([0, 1, 2, 3], False),
        ([450.5, 550.5, 650.5, 850.5], False),
        ([450.5, 550.5, 650.5, 850.5], True),
        ([2019, 2020, 2021, 2022], False),
        ([900.1, 800.1, 700.1, 600.1], False),
        ([3, 7, 12, 40], False),
    ],
)
@pytest.mark.filterwarnings("ignore:.*taken as names")
def test_numbers_as_names(columns, index, folder):
    assert_read(written(pd.DataFrame(X, columns=columns), index=index), classes=False)
    assert_read(written(pd.DataFrame(X, columns=columns).assign(kind=CLASSES), index=index))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0,1\n5,2\n3,3\n", "are these names or a row"),
        ("1 2 3\n4 5 6\n", "write commas between columns"),
        ("#a,b\n1,2\n", "are these names, a row or a remark"),
        ("a,b\n1,2\n# the end\n", "cannot be read as a table"),
        ("a;b\n1.234,5;2\n", "marks of thousands"),
        ("a;b\n1,5;0.5\n2,5;1.5\n", "write all with a point"),
        ("a;b\n1;2;3\n", "cannot be read as a table"),
        ("a b c\n1 2 3\n4 5\n", "give every line, also that of names, as many cells"),
        ("a,b\n1,1\n2,1_000\n", "'1_000' in row 1 is no number"),
        ("a,b\n1,1\n2,\u00a01\n", "in row 1 is no number"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*separated by")
def test_what_cannot_be_told_is_refused(text, says, folder):
    (folder / "t.csv").write_text(text)
    with pytest.raises(DataError, match=says):
        open_table("t.csv")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("sep", [";", ",", "\t", ":"])
def test_a_line_that_states_the_delimiter_is_obeyed(sep, encoding, end, folder):
    text = f"sep={sep}\n" + FRAME.to_csv(index=False, sep=sep)
    (folder / "t.csv").write_bytes(text.replace("\n", end).encode(encoding))
    assert_read("t.csv")


@pytest.mark.parametrize("sep", [",", "x", " ", "|"])
def test_a_line_that_states_another_delimiter_costs_no_column(sep, folder):
    text = f"sep={sep}\n" + FRAME.to_csv(index=False, sep=";")
    (folder / "t.csv").write_text(text)
    with pytest.warns(UserWarning, match="separated by semicolons"):
        assert_read("t.csv")


def test_row_names_of_r_are_not_taken_for_a_column_of_words(folder):
    rows = "".join(f'"{i}" {" ".join(map(str, row))} "{c}"\n' for i, (row, c) in enumerate(LINES))
    (folder / "t.txt").write_text('"a" "b" "c" "d" "kind"\n' + rows)
    with pytest.raises(DataError, match="give every line, also that of names, as many cells"):
        open_table("t.txt")


@pytest.mark.parametrize("n_columns", [1, 2, 3, 8])
def test_rows_of_numbers_without_names_are_all_read(n_columns, folder):
    rng = np.random.default_rng(n_columns)
    for _ in range(20):
        values = rng.normal(size=(30, n_columns)).round(2)
        np.savetxt("t.csv", values, fmt="%.2f", delimiter=",")
        assert open_table("t.csv").n_rows == 30


@pytest.mark.parametrize("name", ["class", "class_now", "margin", "score", "set", "cluster"])
def test_ids_that_are_called_as_results_are(name, folder):
    ids = [f"r{i}" for i in range(60)]
    table = open_table(written(FRAME.assign(**{name: ids})), id_column=name)
    found = [Suggestion(1, {"id": i}, "coverage", 1.0, None, "", 0.5) for i in ("r3", "r5")]
    write_suggestions("next.csv", table, found)
    filled = pd.read_csv("next.csv").assign(**{"class": ["setosa", "virginica"]})
    filled.to_csv("next.csv", index=False)
    labels = read_row_labels("next.csv", table)
    assert {i: name for i, name in enumerate(labels) if name} == {3: "setosa", 5: "virginica"}


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["2024-01-01", None], ["2024-01-01", None]),
        (["2024-01-01 12:30:00", "2024-01-02"], ["2024-01-01 12:30:00", "2024-01-02 00:00:00"]),
    ],
)
def test_dates_are_the_texts_that_pandas_writes(dates, expected, folder):
    frame = pd.DataFrame({"class": pd.to_datetime(dates, format="mixed"), "row": [0, 1]})
    frame.to_csv("l.csv", index=False)
    frame.to_parquet("l.parquet")
    np.savez("l.npz", **{"class": frame["class"].to_numpy()})
    np.save("t.npy", X[:2])
    for path in ("l.csv", "l.parquet", "l.npz"):
        assert read_row_labels(path, open_table("t.npy")).tolist() == expected


def test_lists_are_no_classes(folder):
    pd.DataFrame({"class": [["a"], ["b", "c"]], "row": [0, 1]}).to_parquet("l.parquet")
    np.save("t.npy", X[:2])
    with pytest.raises(DataError, match="column 'class': holds lists"):
        read_row_labels("l.parquet", open_table("t.npy"))


IRIS = "".join(",".join(f"{value:.2f}" for value in row) + f",{kind}\n" for row, kind in LINES)
HOUSING = "".join("  " + "   ".join(f"{value:.2f}" for value in row) + "\n" for row in X)
SEEDS = "".join(
    "\t".join(f"{v:.2f}" for v in row) + "\t" * (1 + i % 2) + "1\n" for i, row in enumerate(X)
)
GERMAN = "".join(f"A1{i % 3} {i} A{i % 4} {2 * i} B\n" for i in range(60))
CARS = "".join(f'{i}.0   {i + 1}   3.5\t"chevrolet malibu {i}"\n' for i in range(60))


@pytest.mark.parametrize("ending", [".data", ".txt"])
@pytest.mark.parametrize(
    ("text", "n_features", "n_columns"),
    [
        (IRIS + "\n", 4, 5),  # with an empty line at its end, as it is delivered
        (HOUSING, 4, 4),
        ("a b c d\n" + HOUSING, 4, 4),
        ("# by hand\n" + HOUSING, 4, 4),
        (SEEDS, 5, 5),
        (GERMAN, 2, 5),
        (CARS, 3, 4),
        (HOUSING.replace(".", ","), 4, 4),
        (IRIS.replace(",", ";"), 4, 5),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(row of data|decimal commas|left out)")
def test_texts_of_collections(text, n_features, n_columns, ending, folder):
    path = folder / f"t{ending}"
    path.write_text(text)
    table = open_table(path)
    assert (table.n_rows, table.values.shape[1]) == (60, n_features)
    assert len(table.column_names) == n_columns
    if n_features == 4:
        np.testing.assert_allclose(table.values, X.round(2))


def test_sentences_are_no_columns(folder):
    (folder / "t.txt").write_text("red fox\nbig dog\nold cat\n" * 20)
    with pytest.warns(UserWarning, match="row of data"):
        table = open_table("t.txt", columns=None)
    assert table.column_names == ("1",)


def test_a_text_is_a_table_unless_a_header_of_envi_lies_beside_it(folder):
    (folder / "t.data").write_text(HOUSING)
    assert is_of_kind("table", "t.data")
    (folder / "t.hdr").write_text("ENVI\n")
    assert not is_of_kind("table", "t.data")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("line", ["cat", "a,b"])
def test_names_without_rows_are_no_table(tmp_path, line, end, encoding):
    path = tmp_path / "names.csv"
    path.write_bytes((line + end).encode(encoding))
    with pytest.raises(DataError, match=r"names\.csv: holds no row of numbers"):
        open_table(path)
