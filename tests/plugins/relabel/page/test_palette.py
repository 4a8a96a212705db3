"""The colours of classes: told apart in both themes of the page, and the same in all maps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import rasterio
from PIL import Image
from rasterio.transform import from_origin

import diffclass_relabel
from diffclass import markov_operator
from diffclass.plots import DEFAULT_PALETTE, class_palette
from diffclass.relabel import RelabelSession
from diffclass_hyperspectral import ClassTable, write_class_map

LEAST = 10.0  # difference by CIEDE2000
N_FIRST = 8  # classes whose colours are told apart by every eye
PLUGIN = Path(diffclass_relabel.__file__).parent
#: What the colour-blind see of linear red, green and blue (Machado, Oliveira and Fernandes 2009).
VISION = {
    "protanopic": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopic": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopic": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colors):
    """Return the linear red, green and blue of texts like #e69f00, shape (n, 3)."""
    values = np.array([[int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in colors]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def cielab(light):
    """Return L*, a*, b* of linear sRGB, shape (n, 3), in the light D65."""
    primaries = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    xyz = light @ np.transpose(primaries) / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def ciede2000(one, other):
    """Return the difference of two colours in CIELAB (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    grey = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    c1, c2 = np.hypot(grey * a1, b1), np.hypot(grey * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, grey * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    waves = ((1, -30, -0.17), (2, 0, 0.24), (3, 6, 0.32), (4, -63, -0.2))
    weight = 1 + sum(part * np.cos(np.radians(n * hue + shift)) for n, shift, part in waves)
    s_light = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    d_light = (l2 - l1) / s_light
    d_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    d_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    around_blue = 60 * np.exp(-(((hue - 275) / 25) ** 2))
    mixed = -2 * np.sin(np.radians(around_blue)) * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    return np.sqrt(d_light**2 + d_chroma**2 + d_hue**2 + mixed * d_chroma * d_hue)


def least_difference(lab, others=None):
    """Return the least difference of colours among themselves, or from some others."""
    if others is not None:
        return min(ciede2000(one, other) for one in lab for other in others)
    return min(ciede2000(one, lab[k]) for i, one in enumerate(lab) for k in range(i))


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_its_authors(one, other, difference):
    assert ciede2000(one, other) == pytest.approx(difference, abs=1e-4)


def test_sixty_classes_are_told_apart_in_both_themes():
    assert len(DEFAULT_PALETTE) >= 60
    colors = cielab(linear(DEFAULT_PALETTE))
    assert least_difference(colors) >= LEAST
    style = (PLUGIN / "static" / "style.css").read_text(encoding="utf-8")
    grounds = re.findall(r"--(?:ground|panel|raised): light-dark\((#\w{6}), (#\w{6})\)", style)
    assert len(grounds) == 3
    assert least_difference(colors, cielab(linear(sum(grounds, ())))) >= LEAST


@pytest.mark.parametrize("vision", VISION)
def test_the_first_classes_are_told_apart_by_every_eye(vision):
    seen = np.clip(linear(DEFAULT_PALETTE[:N_FIRST]) @ np.transpose(VISION[vision]), 0, 1)
    assert least_difference(cielab(seen)) >= LEAST


def test_one_table_for_page_plots_and_files(tmp_path):
    colors = [color.lower() for color in DEFAULT_PALETTE]
    ids = range(1, len(colors) + 1)
    text = (PLUGIN / "web/src/session/protocol.generated.ts").read_text(encoding="utf-8")
    assert json.loads(re.search(r"PALETTE = (\[.*\])", text)[1]) == colors
    session = RelabelSession(markov_operator(np.random.default_rng(0).random((40, 2))))
    for _ in ids:
        session.apply({"op": "add_class"})
    assert [info.color for info in session.classes] == colors
    rgb = [tuple(int(color[k : k + 2], 16) for k in (1, 3, 5)) for color in colors]
    drawn = class_palette(ids).values()
    assert [tuple(round(255 * value) for value in color[:3]) for color in drawn] == rgb
    table = ClassTable.from_ids(ids)
    assert [entry.color for entry in table.entries if entry.id] == rgb
    image = np.arange(len(colors) + 1, dtype=np.int32).reshape(1, -1)
    place = {"map_info": ["UTM", "1", "1", "5e5", "44e5", "2", "2", "33", "North", "WGS-84"]}
    # the colours of a map in QGIS are those of its file (diffclass_qgis.styles)
    write_class_map(tmp_path / "map.tif", image, table, **place)
    with rasterio.open(tmp_path / "map.tif") as raster:
        assert raster.transform == from_origin(5e5, 44e5, 2, 2)
        assert [raster.colormap(1)[i][:3] for i in ids] == rgb
    write_class_map(tmp_path / "map.png", image, table, legend=False)
    with Image.open(tmp_path / "map.png") as picture:
        assert [tuple(picture.getpalette()[3 * i : 3 * i + 3]) for i in ids] == rgb
