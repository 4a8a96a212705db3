"""A table is read as it was written, whatever its delimiter, decimal sign and encoding."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diffclass.exceptions import DataError
from diffclass.system.text_dialects import BLANKS, DELIMITERS, ENDINGS, dialect_of

NAMES = ["id", "height", "kind"]
USUAL = {".csv": ",", ".tsv": "\t"}


def table(n_rows, seed, point):
    """Return cells of a number, a decimal number and a word, which stands in its column again."""
    random = np.random.default_rng(seed)
    kinds = ["soy", *random.choice(["soy", "corn"], n_rows - 2).tolist(), "soy"]
    heights = [f"{one:.2f}".replace(".", point) for one in random.uniform(-50, 50, n_rows)]
    ids = random.permutation(n_rows).tolist()
    return [
        [str(3 * i + 1), height, kind] for i, height, kind in zip(ids, heights, kinds, strict=True)
    ]


@settings(max_examples=150, deadline=None)
@given(
    ending=st.sampled_from(ENDINGS),
    delimiter=st.sampled_from([*DELIMITERS, BLANKS]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    point=st.sampled_from(".,"),
    is_named=st.booleans(),
    is_stated=st.booleans(),
    is_padded=st.booleans(),
    remarks=st.lists(st.sampled_from(["# note\n", "\n"]), max_size=3),
    n_rows=st.integers(4, 12),
    seed=st.integers(0, 2**31),
)
@example(".csv", ";", "utf-8", ",", True, True, False, [], 4, 0)
def test_it_is_told_how_a_table_is_written(
    ending, delimiter, encoding, point, is_named, is_stated, is_padded, remarks, n_rows, seed
):
    if delimiter == BLANKS:
        ending, is_stated, is_padded = ".txt", False, False
    if delimiter == ",":
        point = "."
    rows = [NAMES] * is_named + table(n_rows, seed, point)
    between = delimiter + " " * is_padded
    above = [*remarks, *([f"sep={delimiter}\n"] if is_stated else [])]
    lines = [*above, *(between.join(row) + "\n" for row in rows)]
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = Path(folder) / f"points{ending}"
        path.write_text("".join(lines), encoding=encoding)
        found = dialect_of(path)
        cells = [[cell.strip() for cell in row] for row in found.rows(path)]
    assert (found.delimiter, found.decimal_point, found.n_columns) == (delimiter, point, 3)
    assert found.n_skipped == len(above)
    assert found.names == (tuple(NAMES) if is_named else None)
    assert found.pads == is_padded
    assert found.encoding == ("utf16" if encoding == "utf-16" else "utf8")
    assert cells == rows
    text = " ".join(str(one.message) for one in said)
    assert ("are separated by" in text) == (
        not is_stated and USUAL.get(ending, delimiter) != delimiter
    )
    assert ("have decimal commas" in text) == (point == ",")
    assert ("with # at the top" in text) == ("# note\n" in remarks)


@pytest.mark.filterwarnings("ignore:.*are separated by", "ignore:.*have decimal commas")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_rows_may_be_wide(tmp_path, ending, delimiter):
    path = tmp_path / f"genes{ending}"  # the csv module takes at most 131,072 letters for a cell
    row = delimiter.join(["0.12345"] * 20_000)
    path.write_text(f"{row}\n{row}\n")
    found = dialect_of(path)
    assert (found.delimiter, found.n_columns) == (delimiter, 20_000)


def test_a_cell_without_end_is_refused(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("7" * 200_000 + "\n8\n")
    with pytest.raises(DataError, match=r"points.csv: cannot be read as a table \(field larger"):
        dialect_of(path)


@pytest.mark.filterwarnings("ignore:.*are separated by")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# a,b\n1,2\n3,4\n", "are these names, a row or a remark"),
        ("a b\n1 2\n3 4\n", "write commas between columns"),
        ("1.234,5;2\n2;3\n", "marks of thousands"),
        ("1,5;2.5\n2,5;3.5\n", "write all with a point"),
        ("\n# nothing\n", "holds no row of numbers"),
        ("a,b\n1,2\0\n", "zero bytes"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path, text, says):
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        dialect_of(path)


@settings(max_examples=80, deadline=None)
@given(
    names=st.permutations([f"{i}" for i in range(9)] + ["450.5", "1e3", "-2"]),
    n_words=st.integers(1, 2),
    place=st.integers(0, 3),
    point=st.sampled_from(".,"),
    n_missing=st.integers(0, 3),
    seed=st.integers(0, 2**31),
)
def test_numbers_over_words_are_names(names, n_words, place, point, n_missing, seed):
    """As pandas writes an array of numbers with a column of classes, in any order."""
    random = np.random.default_rng(seed)
    columns = [[f"{one:.2f}".replace(".", point) for one in random.normal(size=12)]] * 3
    words = random.choice(["soy", "corn", "1st"], 12).tolist()
    for row in range(n_missing):
        words[row] = ["", "NA", "null"][row]
    columns[place:place] = [words] * n_words
    names = [name.replace(".", point) for name in names[: len(columns)]]
    rows = [names, *map(list, zip(*columns, strict=True))]
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = Path(folder) / "points.csv"
        path.write_text("".join(";".join(row) + "\n" for row in rows))
        assert dialect_of(path).names == tuple(names)
    assert any("first line is taken as names" in str(one.message) for one in said)
