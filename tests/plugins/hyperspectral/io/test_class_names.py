"""A name is a name: classes pass every pair of formats unchanged, or are refused by the writer."""

from __future__ import annotations

import csv
import warnings

import numpy as np
import pyogrio.raw
import pytest
import rasterio.errors
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diffclass.evaluation import match_classes
from diffclass.exceptions import ParameterError
from diffclass.names import is_mark
from diffclass_hyperspectral import (
    ClassTable,
    LabelImage,
    read_labels,
    write_class_map,
)

from ..writers import PLACE

FORMATS = ("map.img", "map.bip", "map.tif", "map.png", "map.gpkg", "map.geojson")
GRID = LabelImage.from_array(np.zeros((3, 4))).placed(PLACE)
NASTY = (
    "water, deep", "{all}", "a;b", "a=b", 'q"uote', "it's", "back\\slash", "line\nbreak", "\r\n|",
    "tab\t|", " lead", "trail ", "in  side", "\u00e9t\u00e9", "\u68ee", "\U0001f333", "|\u2028|",
    "\x07", "|\x85|", "\ufeff", "class 2", "class 9", "2", "0", "007", "7", "2.0", "1e3", "-1",
    "nan", "None", "NA", "null", "<NA>", "true", "unclassified", "Unclassified", "unused", "%2C",
    "<b>&amp;", "__u41__", "\\u0041", "#ff0000", "2020/05/01", "12:30", "x" * 5000, '{"1": "a"}',
    "a\x0bb", "\ufffe", "=1+1", "--", "$x^2$",
)  # fmt: skip
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.one_of(
    st.sampled_from(NASTY),
    st.text(LETTERS, min_size=1, max_size=12),
    st.text("ab ,;{}=\"'\\\n\t%&<_u4", min_size=1, max_size=8),
    st.integers(0, 300).map(str),
).filter(lambda name: bool(name.strip()))
TABLES = st.lists(NAMES, min_size=4, max_size=4, unique_by=lambda name: " ".join(name.split()))


def written(folder, file, ids, names):
    table = ClassTable.from_ids(names, names=names)
    write_class_map(folder / file, ids, table, map_info=PLACE, legend=False, overwrite=True)
    return folder / file


def same_through_every_pair(folder, texts):
    """Write a map and a truth of other numbers in every format, and compare each with each."""
    sides = []
    for side, numbers in (("map", (1, 2, 3, 4)), ("truth", (7, 6, 5, 3))):
        names = dict(zip(numbers, texts, strict=True))
        (folder / side).mkdir(exist_ok=True)
        ids = np.repeat([numbers], 3, axis=0)
        sides.append([read(written(folder / side, file, ids, names)) for file in FORMATS])
        for labels in sides[-1]:
            assert {e.id: e.name for e in labels.table} == names, labels.path
            np.testing.assert_array_equal(labels.ids, ids)
    for found in sides[0]:
        for truth in sides[1] + [read(path, found.table) for path in as_texts(folder, texts)]:
            match = match_classes(
                truth.ids.ravel(), found.ids.ravel(), by="names",
                given_names=truth.table.given_names, own_names=found.table.given_names,
            )  # fmt: skip
            assert match.agreement["names"] == 1, (found.path, truth.path)
    return len(sides[0]) * len(sides[1])


def read(path, known=None):
    return read_labels(path, grid=GRID, known=known)


def as_texts(folder, texts):
    """Write the classes as texts alone, as people and programs do: a list, and shapes."""
    named = [(column, text) for column, text in enumerate(texts) if not is_mark(text)]
    with (folder / "list.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerows([["row", "column", "class"], *([1, column, text] for column, text in named)])
    columns = [np.array([text for _, text in named], dtype=object)]
    places = [shapely.box(5e5 + 30 * c, 5.4e6 - 90, 5e5 + 30 * c + 30, 5.4e6) for c, _ in named]
    for file in ("shapes.gpkg", "shapes.fgb"):
        pyogrio.raw.write(
            folder / file, shapely.to_wkb(np.array(places)), columns, ["class"],
            geometry_type="Polygon", crs="EPSG:32633",
        )  # fmt: skip
    return [folder / file for file in ("list.csv", "shapes.gpkg", "shapes.fgb")]


@pytest.fixture(autouse=True)
def _names_are_warned_of():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'(NA|null)' is the name of a class")
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        yield


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TABLES)
def test_names_pass_every_pair_of_formats(tmp_path, texts):
    assert same_through_every_pair(tmp_path, texts) == 36


@pytest.mark.parametrize("name", ["nul\0", "\ud800"])
@pytest.mark.parametrize("file", FORMATS)
def test_what_no_text_can_hold_is_refused_and_nothing_written(tmp_path, file, name):
    with pytest.raises(ParameterError, match="cannot be written as a text"):
        written(tmp_path, file, np.array([[1, 2]]), {1: name, 2: "b"})
    assert not list(tmp_path.iterdir())
