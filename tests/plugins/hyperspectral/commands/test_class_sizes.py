"""``--class-sizes``: what may be written, what the classifier gets, and what is said of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import ParameterError
from diffclass.jobs.written_sizes import sizes_as_text, sizes_of
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    open_scene,
    write_class_map,
    write_raster,
)
from diffclass_hyperspectral.jobs.class_sizes import class_prior_of, measures_of

from ..writers import PLACE

NAMES = {1: "corn", 2: "soy", 3: "oats", 5: "wood"}


@pytest.fixture(scope="module")
def labels():
    ids = np.zeros((10, 20), dtype=np.uint8)
    ids[0, 0], ids[3, 3], ids[5:7, 5] = 1, 2, 5
    return LabelImage.from_array(ids, names=NAMES)


@pytest.fixture(scope="module")
def scene():
    cube = np.random.default_rng(0).random((10, 20, 4))
    cube[:, 10:] = np.nan  # 100 pixels have data
    return Scene.from_array(cube)


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("placed")
    write_raster(folder / "scene.img", np.ones((10, 20, 4)), map_info=PLACE)
    return open_scene(folder / "scene.img")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("uniform", "uniform"),
        ("corn=20%,soy=30%,wood=50%", [0.2, 0.3, 0.5]),
        (" soy = 30% , 1=20%, wood=51px", [0.2, 0.3, 0.51]),
        ("corn=10-20%", ([0.1, 0, 0], [0.2, 1, 1])),
        ("wood=12.5-40px,5=", None),
        ("soy=0-.5%,corn=7px", ([0.07, 0, 0], [0.07, 0.005, 1])),
    ],
)
def test_what_the_classifier_gets(text, expected, labels, scene):
    if expected is None:
        with pytest.raises(ParameterError):
            class_prior_of(text, labels, scene)
    elif isinstance(expected, str):
        assert class_prior_of(text, labels, scene) == expected
    else:
        np.testing.assert_allclose(class_prior_of(text, labels, scene), expected)


def test_areas_are_shares_of_the_scene(labels, placed):
    found = class_prior_of("corn=1.8-5.4ha,soy=36000m2,wood=0.09km2", labels, placed)  # of 18 ha
    np.testing.assert_allclose(found, ([0.1, 0.2, 0.5], [0.3, 0.2, 0.5]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("corn=40%,soy=60px", "no room for class 'wood'"),
        ("half", "is not NAME=SIZE"),
        ("corn=10%,", "is not NAME=SIZE"),
        ("maize=10%", "no class 'maize'.*1 corn"),
        ("4=10%", "no class '4'"),
        ("oats=10%", "has no label"),
        ("corn=10%,1=20%", "twice"),
        ("corn=10", "is no size; write"),
        ("corn=much", "is no size"),
        ("corn=20-10%", "not before it begins"),
        ("corn=0%", "above 0"),
        ("corn=101px", "whole scene, 100px"),
        ("corn=1ha", "does not tell the area"),
        ("corn=0-100%", "'0-100%' of 'corn' is any size; leave it out"),
        ("corn=0-100px,soy=10%", "any size"),
        (f"corn=0.{322 * '0'}1%", "above 0"),  # as a share it would be 0
        (5000 * "9" + "=10%", "no class"),  # Python reads no such number
        ("corn=60%,soy=60%", "the classes with labels have 120 to 220 % of the whole scene"),
        ("corn=20%,soy=30%,wood=30%", "80 to 80 %"),
    ],
)
def test_refuses_what_is_no_size(text, message, labels, scene):
    with pytest.raises(ParameterError, match=message):
        class_prior_of(text, labels, scene)


def test_text_of_sizes_says_the_same(placed):
    text = "corn=1.8-3.6ha,2=20%,wood=36px"
    sizes = sizes_of(text, NAMES, measures_of(placed))
    again = sizes_as_text([(size.class_id, size.written) for size in sizes], NAMES)
    assert again == "corn=1.8-3.6ha,soy=20%,wood=36px"
    assert sizes_of(again, NAMES, measures_of(placed)) == sizes


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ({1: "corn, soy", 2: "1"}, '"corn, soy"=20%,"1"=30%'),
        ({1: "2", 2: "corn"}, '"2"=20%,corn=30%'),
        ({1: "2", 2: "2"}, "1=20%,2=30%"),
        ({1: ' "a", =5%', 2: "b=c"}, '" ""a"", =5%"=20%,b=c=30%'),
    ],
)
def test_any_name_can_be_written_with_its_size(names, text, placed):
    sizes = sizes_of(text, names, measures_of(placed))
    assert [(size.class_id, size.written) for size in sizes] == [(1, "20%"), (2, "30%")]
    assert sizes_as_text([(1, "20%"), (2, "30%")], names) == text


def test_a_name_that_is_another_class_s_id_is_the_name_and_told(placed):
    with pytest.warns(UserWarning, match=r"class with this name, not of class 2 \(corn\)"):
        (size,) = sizes_of("2=20%", {1: "2", 2: "corn"}, measures_of(placed))
    assert size.class_id == 1
    with pytest.raises(ParameterError, match="'corn' is the name of the classes 1 and 2"):
        sizes_of("corn=20%", {1: "corn", 2: "corn"}, measures_of(placed))


@pytest.fixture(scope="module")
def tissue():
    return make_tissue_scene(48, 48, n_bands=12)


@pytest.fixture
def files(folder, tissue):
    write_raster("scene.img", tissue.cube, map_info=PLACE)
    write_class_map("truth.img", tissue.truth, map_info=PLACE)
    return folder


CLASSIFY = ["classify", "scene.img", "--labels", "truth.img", "-o", "map.img", "--components", "6"]


@pytest.mark.parametrize("more", [[], ["--memory", "1GB"], ["--min-area", "9"]], ids=str)
@pytest.mark.parametrize("sizes", ["uniform", "1=5-95%", "2=60-70%"])
def test_classify_says_what_was_asked_and_what_the_map_has(files, capsys, sizes, more):
    words = [*CLASSIFY, "--labels-per-class", "5", "--class-sizes", sizes, *more]
    assert run([*words, "--report", "report.json"]) == 0
    report = json.loads((files / "report.json").read_text())
    pixels = {one["id"]: one["n_points"] for one in report["classes"]}
    asked = {"uniform": {1: "33.3", 2: "33.3", 3: "33.3"}, "1=5-95%": {1: "5 to 95"}}
    for said, (i, size) in zip(
        report["class_sizes"], asked.get(sizes, {2: "60 to 70"}).items(), strict=True
    ):
        share = f"{100 * pixels[i] / 48**2:.3g}"
        assert said.startswith(f"class {i}: asked {size} %, the map has {share} %")
    assert "class sizes   " + report["class_sizes"][0] in capsys.readouterr().out


def test_sets_go_with_sizes(files, works, fails):
    words = [*CLASSIFY, "--labels-per-class", "40", "--ambiguity", "sets.img", "--level", "0.9"]
    ambiguity = works(*words, "--class-sizes", "1=20-25%,3=45-50%")["ambiguity"]
    assert ambiguity["highest_level"] > 0.9
    assert ambiguity["mean_size"] < 2
    assert "class_sizes" not in works(*CLASSIFY, "--labels-per-class", "5", "--overwrite")
    says = "--class-sizes: 'half' of '1' is no size"
    fails(*CLASSIFY, "--class-sizes", "1=half", "--overwrite", code=2, says=says)


def test_suggest_takes_sizes(files, tissue):
    here = np.arange(48 * 48).reshape(48, 48) % 29 == 0
    np.save("some.npy", np.where(here, tissue.truth, 0))
    words = ["suggest", "scene.img", "--labels", "some.npy", "-o", "next.csv", "-n", "3"]
    assert run([*words, "--components", "6", "--class-sizes", "uniform"]) in (0, 4)
    assert len((files / "next.csv").read_text().splitlines()) == 4
