from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from diffclass_hyperspectral import write_class_map, write_raster
from diffclass_hyperspectral.io.georeference import Georeference, MapInfo
from diffclass_hyperspectral.io.maps import metres_of_a_pixel
from diffclass_hyperspectral.io.maps.png_maps import bar_length

from ..writers import PLACE

IDS = np.arange(48 * 60).reshape(48, 60) % 4


@pytest.mark.parametrize(
    ("transform", "crs", "metres"),
    [
        ((30, 0, 5e5, 0, -30, 5e6), "EPSG:32633", 30),
        ((24, 18, 5e5, 18, -24, 5e6), "EPSG:32633", 30),
        ((10, 0, 5e5, 0, -10, 5e6), "EPSG:2263", 10 * 0.3048006),  # US survey feet
        ((0.001, 0, 10, 0, -0.001, 0.005), "EPSG:4326", 111.195),
        ((0.001, 0, 10, 0, -0.001, 60.005), "EPSG:4326", 55.5975),
        ((30, 0, 5e5, 0, -30, 5e6), None, None),
        ((30, 0, 5e5, 0, -30, 5e6), "nonsense", None),
    ],
)
def test_width_of_a_pixel(transform, crs, metres):
    found = metres_of_a_pixel(Georeference(transform, crs), 10)
    assert found is None if metres is None else found == pytest.approx(metres, rel=1e-5)


@pytest.mark.parametrize("metres", [1e-3, 0.7, 3.75, 30, 1234.5])
@pytest.mark.parametrize("dots", [1, 7, 480, 5000])
def test_bar_is_round_and_fits(metres, dots):
    length = bar_length(metres, dots)
    assert metres * dots / 3 / 2.5 < length <= metres * dots / 3 * (1 + 1e-12)
    assert f"{length:e}"[0] in "125"


@pytest.mark.parametrize("write", [write_class_map, write_raster])
def test_bar_under_the_picture(tmp_path, write):
    write(tmp_path / "plain.png", IDS)
    write(tmp_path / "map.png", IDS, map_info=PLACE)
    plain, picture = (
        np.array(Image.open(tmp_path / name).convert("RGB")) for name in ("plain.png", "map.png")
    )
    np.testing.assert_array_equal(picture[: len(plain)], plain)
    strip = picture[len(plain) :]
    # 60 columns of 8 dots and 30 m: a third are 600 m, so the bar is 500 m or 133 dots long
    assert (strip[8:13, 12 : 12 + 133] == 0).all()
    assert (strip[:, :12] == 255).all()
    assert (strip[8:13, 12 + 133 : 12 + 138] == 255).all()
    assert (strip[:, 12 + 138 :] < 128).any()  # the length in words


def test_no_bar_without_a_scale(tmp_path):
    write_class_map(tmp_path / "plain.png", IDS)
    for number, info in enumerate((("UTM", "1"), MapInfo(("x",)), ["a", 1, 1, 5, 5, 2, 2])):
        write_class_map(tmp_path / f"{number}.png", IDS, map_info=[str(text) for text in info])
        assert (tmp_path / f"{number}.png").read_bytes() == (tmp_path / "plain.png").read_bytes()
