"""Classes go through every pair of formats and every door unchanged, or are refused."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diffclass.exceptions import DataError, DiffclassError
from diffclass.jobs import Measures, sizes_as_text, sizes_of
from diffclass.label_diffusion.score_prior import ScorePrior
from diffclass.names import is_mark, same_names
from diffclass.targets import encode_labels
from diffclass_tables import evaluate_rows, open_table, read_row_labels, read_row_scores, write_rows

anndata = pytest.importorskip("anndata")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

FORMATS = (".csv", ".tsv", ".parquet", ".feather", ".npy", ".npz", ".h5ad")
SIDES = ("the file", "the names")
NASTY = [
    "NA", "N/A", "null", "NULL", "nan", "None", "<NA>", "NaT", "-1", "-1.0", "", " ", "none", "NAN",
    "0", "1", "2", "2.0", "10.0", "007", "1.10", "1e3", "true", "False", "inf", "2024-01-01",
    "a,b", 'a"b', "a;b", "a|b", "a=b", "a\tb", "a\nb", "a\r\nb", "a\rb", "b ", " b",
    "'b'", '"b"', "#b",
    "uniform", "class", "row", "id", "ä", "Ä", "土", "\u00a0x", "x" * 300, "{}", "=1+1", "\\N",
]  # fmt: skip
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=5))
kinds = (texts, st.integers(-9, 2**60), st.booleans(), st.sampled_from([0.5, 1.25, 3.0, 1e300]))
some_names = st.one_of(st.lists(kind, min_size=1, max_size=4, unique=True) for kind in kinds)


def write_labels(path, names):
    """Write classes as other programs do, a row each."""
    plain = np.array(names)
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t")
            rows.writerows([("row", "class"), *enumerate(names)])
    elif path.suffix in (".parquet", ".feather"):
        frame = pd.DataFrame({"row": range(len(names)), "class": names})
        (frame.to_parquet if path.suffix == ".parquet" else frame.to_feather)(path)
    elif path.suffix == ".npy":
        np.save(path, plain)
    elif path.suffix == ".npz":
        np.savez(path, y=plain, id=np.arange(len(names)))
    else:
        rows = [str(i) for i in range(len(names))]
        obs = pd.DataFrame({"class": names}, index=rows)
        anndata.AnnData(np.eye(len(names), dtype=np.float32), obs=obs).write_h5ad(path)


def read_labels(path, table):
    """Read them; of annotated data and arrays with ids they are a column."""
    if path.suffix != ".h5ad":
        return read_row_labels(path, table)
    opened = open_table(path, has_features=False)
    name = "diffclass_class" if "diffclass_class" in opened.column_names else "class"
    return read_row_labels(name, opened)


def assert_same(found, names):
    """The class of each row is the one of that name, or none where the name is a mark."""
    classes = [name for name in dict.fromkeys(names) if not is_mark(name)]
    is_one = same_names({value for value in found if value is not None}, classes, sides=SIDES)
    expected = [None if is_mark(name) else name for name in names]
    assert [None if value is None else is_one[value] for value in found] == expected


def through_doors(folder, table, labels):
    classes = [name for name in dict.fromkeys(labels) if name is not None]
    numbered = dict(enumerate(map(str, classes)))
    measures = Measures({}, of="all", examples="20%")
    for i in numbered:  # sizes of classes
        text = sizes_as_text([(i, "10%")], numbered)
        assert [size.class_id for size in sizes_of(text, numbered, measures)] == [i]
    codes = np.array([classes.index(name) if name is not None else -1 for name in labels])
    y = labels.copy()
    y[0], codes[0] = None, 0  # without a label
    if len({name for name in y if name is not None}) < len(classes):
        return
    for ending in (".csv", ".parquet"):  # columns of scores
        path = folder / f"s{ending}"
        values = {str(name): np.eye(len(classes))[codes, k] for k, name in enumerate(classes)}
        frame = pd.DataFrame({"row": range(len(labels)), **values})
        if len(frame.columns) != len(classes) + 1:
            continue  # a class called row
        frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
        prior = ScorePrior(read_row_scores(path, table).of(np.ones(len(labels), dtype=bool)), y)
        assert prior.classes.tolist() == encode_labels(y)[0].tolist()
        known = codes >= 0
        assert (prior.classes[prior.hints[known]] == np.array(classes, object)[codes[known]]).all()


def check_names(names, folder, sources=FORMATS, outputs=FORMATS):
    """Take names through all pairs of formats; return how many were refused, and how many not."""
    rows = names * 2
    np.save(folder / "t.npy", np.eye(len(rows)))
    write_labels(folder / "t.h5ad", list(range(len(rows))))
    table, cells = open_table(folder / "t.npy"), open_table(folder / "t.h5ad", columns="X")
    refused = passed = 0
    for first in sources:
        path = folder / f"l{first}"
        try:
            write_labels(path, rows)
        except (ValueError, TypeError, UnicodeError, pa.ArrowException):
            continue  # another program's refusal
        if first == ".npy" and np.load(path).tolist() != rows:
            continue  # NumPy takes zero bytes at the end away
        try:
            labels = read_labels(path, table)
        except DataError:
            refused += 1
            continue
        assert_same(labels, rows)
        if all(name is None for name in labels):
            continue
        for second in outputs:
            try:
                through_doors(folder, table, labels)
                rows_of = cells if second == ".h5ad" else table
                columns = {"class": labels}
                out = write_rows(folder / f"o{second}", rows_of, columns, overwrite=True)
                again = read_labels(out, table)
            except DiffclassError:
                refused += 1
                continue
            assert_same(again, rows)
            assert evaluate_rows(again, labels).scores.overall_accuracy == 1
            passed += 1
    return refused, passed


pairs = st.sampled_from(FORMATS)


@settings(max_examples=20, deadline=None)
@given(some_names, pairs, pairs)
@example(["NA", "null", "wood"], ".csv", ".parquet")
@example(["2.0", "5.0", "10.0"], ".csv", ".npz")
@example(["007", "1.10", "b "], ".h5ad", ".tsv")
@example([2, 5, 10], ".parquet", ".h5ad")
@pytest.mark.filterwarnings("ignore")
def test_names_pass_unchanged_or_are_refused(names, source, output):
    with tempfile.TemporaryDirectory() as folder:
        check_names(names, Path(folder), [source], [output])


@pytest.mark.filterwarnings("ignore")
def test_usual_names_are_not_refused_in_any_pair_of_formats(folder):
    refused, passed = check_names(["NA", "corn, young", 'the "old"'], folder)
    assert refused == 0
    assert passed == len(FORMATS) ** 2
