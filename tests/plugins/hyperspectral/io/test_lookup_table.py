from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import LabelImage, LookupTable, Scene
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of, map_info_of
from diffclass_hyperspectral.io.readers.hdf5_products import read_emit_table

from ..products import COLUMNS, ROWS, write_emit


@pytest.fixture
def table(tmp_path):
    write_emit(tmp_path / "emit.nc")
    return read_emit_table(tmp_path / "emit.nc")


def test_maps_go_to_the_map_and_labels_back(table):
    ids = np.arange(1, ROWS * COLUMNS + 1).reshape(ROWS, COLUMNS)
    on_map = table.to_map(ids)
    np.testing.assert_array_equal(on_map[:, 1:], ids[::-1])  # as `write_emit` lays it out
    assert (on_map[:, 0] == 0).all()
    np.testing.assert_array_equal(table.to_sensor(on_map), ids)
    layers = table.to_map(np.dstack([ids, -ids]).astype(float), fill=np.nan)
    np.testing.assert_array_equal(layers[:, 1:, 1], -ids[::-1])
    assert np.isnan(layers[:, 0]).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_most_frequent_label_of_a_pixels_cells_counts(seed, n_classes):
    """As it does where labels lie on any other grid; none of several that are as frequent."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(-1, 3, (6, 8)), rng.integers(0, 2, (6, 8))
    place = map_info_of(Georeference((1.0, 0.0, 10.0, 0.0, -1.0, 45.0), "EPSG:32633"))
    table = LookupTable(rows, np.where(rows < 0, -1, columns), (3, 2), place, Path("emit.nc"))
    ids = rng.integers(0, n_classes + 1, (6, 8))
    expected = np.zeros((3, 2), dtype=int)
    for pixel in np.ndindex(3, 2):
        here = ids[(rows == pixel[0]) & (columns == pixel[1])]
        counts = np.bincount(here[here > 0], minlength=2)
        if np.count_nonzero(counts == counts.max()) == 1:
            expected[pixel] = counts.argmax()
    np.testing.assert_array_equal(table.to_sensor(ids), expected)
    scene = replace(Scene.from_array(np.ones((3, 2, 3))), read_lookup_table=lambda: table)
    whole = LabelImage.from_array(ids).placed(place)
    larger = LabelImage.from_array(np.pad(ids, ((0, 1), (0, 0)))).placed(place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what was placed
        for labels in (whole, larger):
            np.testing.assert_array_equal(labels.on(scene).ids, expected)


def test_coordinates_of_the_map(table):
    place = Georeference((0.001, 0.0, 10.0, 0.0, -0.001, 45.0), "EPSG:4326")
    assert georeference_of(table.map_info) == place
    assert table.shape == (ROWS, COLUMNS + 1)


def test_centres_of_pixels(table):
    assert table.centre(ROWS - 1, 0) == pytest.approx((10.0015, 44.9995))
    twice = replace(table, rows=np.vstack([table.rows, table.rows[-1:]]),
                    columns=np.vstack([table.columns, table.columns[-1:]]))  # fmt: skip
    assert twice.centre(0, 0) == pytest.approx((10.0015, 45 - 0.001 * ROWS))
    assert replace(table, rows=table.rows - 1).centre(ROWS - 1, 0) is None


def test_sizes_that_do_not_fit(table):
    with pytest.raises(ParameterError, match="rows and columns"):
        table.to_map(np.ones((3, 3)))
    with pytest.raises(ParameterError, match="shape"):
        table.to_sensor(np.ones((3, 3), int))


@pytest.mark.parametrize("name", ["location/glt_x", "location/glt_y"])
def test_a_table_that_is_damaged(tmp_path, name):
    path = tmp_path / "emit.nc"
    for value, word in (
        (None, "lacks"),
        (np.full((ROWS, COLUMNS + 1), 99, np.int32), "outside the scene"),
        (np.ones((2, 2), np.int32), "two tables"),
        (np.ones((ROWS, COLUMNS + 1)), "two tables"),
    ):
        write_emit(path)
        with h5py.File(path, "r+") as file:
            del file[name]
            if value is not None:
                file[name] = value
        with pytest.raises(DataError, match=word):
            read_emit_table(path)
