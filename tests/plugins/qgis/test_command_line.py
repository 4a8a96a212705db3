"""Command lines of the QGIS algorithms, without QGIS: true to the commands they call."""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

from diffclass_qgis.algorithms import ALGORITHMS, CLASSIFY, EVALUATE, RELABEL, SUGGEST
from diffclass_qgis.command_line import (
    ProgramNotFoundError,
    command_line,
    file_of,
    find_program,
    outside_qgis,
)
from diffclass_qgis.descriptions import CHOICE, EXTENT, FIELD, FILE, FLAG, OUTPUTS, RASTER, RASTERS

ROOT = Path(__file__).resolve().parents[3]
PARAMETERS = [(one, parameter) for one in ALGORITHMS for parameter in one.parameters]


def command_of(algorithm) -> click.Command:
    (point,) = entry_points(group="diffclass.commands", name=algorithm.command)
    return point.load()


def option_of(algorithm, parameter) -> click.Parameter:
    options = command_of(algorithm).params
    if not parameter.option:
        return next(one for one in options if isinstance(one, click.Argument))
    return next(one for one in options if parameter.option in one.opts)


@pytest.mark.parametrize(("algorithm", "parameter"), PARAMETERS)
def test_parameters_are_those_of_the_command(algorithm, parameter):
    option = option_of(algorithm, parameter)
    assert getattr(option, "is_flag", False) == (parameter.kind == FLAG)
    if isinstance(option.type, click.Choice):
        assert parameter.choices == tuple(option.type.choices)
    if isinstance(option.type, click.IntRange | click.FloatRange):
        assert parameter.least is None or parameter.least >= option.type.min
        assert option.type.max is None or parameter.most <= option.type.max
    if parameter.default is not None and not callable(option.default):
        # it is left out of the command line, so it has to be what the command takes by itself
        assert option.default in (parameter.default, None) or "UNSET" in repr(option.default)


def test_what_qgis_knows_of_options_is_what_they_are():
    """Kinds, choices, ranges, defaults and help."""
    script = runpy.run_path(str(ROOT / ".ci" / "qgis_options.py"))
    message = "run python .ci/qgis_options.py"
    assert script["TARGET"].read_text("utf-8") == script["described"](), message


def test_names_of_kernels_and_label_modes_are_those_of_the_core():
    from diffclass.kernels import NAMED
    from diffclass.label_diffusion.label_modes import LABEL_MODES
    from diffclass.relabel import SESSION_MODES

    assert CLASSIFY.parameter("KERNEL").choices == tuple(NAMED)
    assert set(CLASSIFY.parameter("LABEL_MODE").choices) == set(LABEL_MODES)
    assert set(RELABEL.parameter("LABEL_MODE").choices) == set(SESSION_MODES)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda one: one.id)
def test_table_is_sound(algorithm):
    names = [parameter.name for parameter in algorithm.parameters]
    assert len(set(names)) == len(names)
    assert algorithm.help
    assert algorithm.parameters[0].required
    for parameter in algorithm.parameters:
        assert parameter.option or parameter.kind in (RASTER, RASTERS, FILE)
    for parameter in algorithm.parameters:
        assert parameter.label
        assert parameter.help.endswith(".")
        assert bool(parameter.choices) == (parameter.kind == CHOICE)
        assert (parameter.kind in (FIELD, EXTENT)) == bool(parameter.of)
        assert not parameter.of or parameter.of in names
        if parameter.kind in OUTPUTS:
            assert option_of(algorithm, parameter).type.name == "path"


def test_values_become_options_and_defaults_are_left_out():
    values = {"SCENE": "-scene.tif", "LABELS": "labels.gpkg", "FIELD": "cover",
              "FEATURES": "spectral", "JOIN_FEATURES": "no", "SEED": 3, "OUTPUT": "map.tif",
              "MARGIN": None}  # fmt: skip
    expected = (
        "diffclass classify --progress json --overwrite --labels labels.gpkg --label-variable "
        "cover --join-features no --seed 3 --output map.tif -- -scene.tif"
    )
    assert command_line("diffclass", CLASSIFY, values) == expected.split()


def test_sizes_of_classes_are_passed_on_as_they_are_written():
    values = {"SCENE": "a.tif", "LABELS": "l.gpkg", "CLASS_SIZES": "corn=10-20%, soy=3ha"}
    words = command_line("diffclass", CLASSIFY, values | {"OUTPUT": "map.tif"})
    assert words[words.index("--class-sizes") + 1] == "corn=10-20%, soy=3ha"
    assert "--class-sizes" in command_line("diffclass", SUGGEST, values | {"OUTPUT": "s.gpkg"})


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda one: one.id)
def test_parts_of_a_scene_and_sizes_can_be_given_wherever_the_command_takes_them(algorithm):
    if algorithm.own_id:  # of a job that does without
        return
    known = {option for one in command_of(algorithm).params for option in one.opts}
    shown = {parameter.option for parameter in algorithm.parameters}
    assert {"--bands", "--mask", "--roi"} & known <= shown
    assert ("--class-sizes" in shown) == ("--class-sizes" in known)


def test_several_scenes_are_arguments_each_once():
    values = {"SCENE": "a.tif", "FURTHER": ["a.tif", "b.tif"], "LABEL_FOLDER": "labels"}
    values |= {"BANDS": "1-50,60", "EXTENT": "0.0,1.0,2.0,3.0", "OUTPUT": "map.tif"}
    expected = (
        "diffclass classify --progress json --overwrite --labels labels --bands 1-50,60 "
        "--roi 0.0,1.0,2.0,3.0 --output map.tif -- a.tif b.tif"
    )
    assert command_line("diffclass", CLASSIFY, values) == expected.split()


def test_a_region_is_a_layer_or_a_rectangle():
    values = {"SCENE": "a.tif", "LABELS": "l.gpkg", "ROI": "r.gpkg", "EXTENT": "0,1,2,3"}
    with pytest.raises(ValueError, match="only one of 'Region of interest' and"):
        command_line("diffclass", CLASSIFY, values)


def test_the_page_replaces_no_file():
    assert "--overwrite" not in command_line("diffclass", RELABEL, {"SCENE": "scene.tif"})


def test_of_alternatives_one_is_given():
    with pytest.raises(ValueError, match="'Truth as shapes' or 'Truth as an image'"):
        command_line("diffclass", EVALUATE, {"MAP": "map.tif"})
    both = {"MAP": "map.tif", "TRUTH": "truth.gpkg", "TRUTH_IMAGE": "truth.tif"}
    with pytest.raises(ValueError, match="only one of 'Truth as shapes'"):
        command_line("diffclass", EVALUATE, both)


@pytest.mark.parametrize("place", ["bin/diffclass", "Scripts/diffclass.exe", "diffclass"])
def test_program_is_found_in_the_environment_that_is_named(tmp_path, place):
    program = tmp_path / place
    program.parent.mkdir(exist_ok=True)
    program.touch(0o755)
    assert find_program(str(tmp_path), {}) == str(program)
    assert find_program(str(program), {}) == str(program)


def test_program_is_searched_on_the_path_if_none_is_named(tmp_path):
    program = tmp_path / "diffclass"
    program.touch(0o755)
    assert find_program(" ", {"PATH": str(tmp_path)}) == str(program)


def test_missing_program_says_what_to_do(tmp_path):
    with pytest.raises(ProgramNotFoundError, match=r"on the path.*Settings > Options > Processing"):
        find_program("", {"PATH": str(tmp_path)})
    with pytest.raises(ProgramNotFoundError, match=r"nowhere.*Settings > Options > Processing"):
        find_program(str(tmp_path / "nowhere"), {})


def test_what_qgis_sets_for_its_own_libraries_does_not_reach_the_program():
    inside = {"PYTHONHOME": "/qgis", "PROJ_LIB": "/qgis/proj", "HOME": "/home/user"}
    assert outside_qgis(inside) == {"HOME": "/home/user", "PYTHONUTF8": "1"}


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("/data/scene.tif", "/data/scene.tif"),
        ('NETCDF:"/data/a b.nc":reflectance', "/data/a b.nc"),
        ('HDF5:"/data/scene.he5"://HDFEOS/SWATHS/cube', "/data/scene.he5"),
        ("NETCDF:C:/data/scene.nc:reflectance", "C:/data/scene.nc"),
        ("/data/scene.tif|option:x", "/data/scene.tif"),
        ("/vsizip/a.zip/b.tif", "/vsizip/a.zip/b.tif"),
        ("/vsicurl/https://host/b.tif", "/vsicurl/https://host/b.tif"),
    ],
)
def test_file_behind_a_layer(source, path):
    assert file_of(source) == path


@pytest.mark.parametrize("source", ["type=xyz&url=https://tiles", ""])
def test_layer_without_a_file_is_refused(source):
    with pytest.raises(ValueError, match="export the layer to a GeoTIFF"):
        file_of(source)


def test_modules_without_qgis_need_the_standard_library_alone():
    plugins = ROOT / "plugins"
    names = "added, algorithms, command_line, running"
    # -S: no site-packages, so numpy, click and the core are not there
    code = f"import sys; sys.path.insert(0, {str(plugins)!r}); from diffclass_qgis import {names}"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
