"""Which kind an input is of: each claims what its readers know, and the strongest claim wins."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import ClassVar

import click
import numpy as np
import pytest

from diffclass.command_line import Claim, InputKind, command, inputs, is_of_kind, kind_of
from diffclass.command_line import main as cli
from diffclass.command_line.inputs import kinds
from diffclass.command_line.verbs import Verb
from diffclass.exceptions import DataError, ParameterError
from diffclass.system.extensions import COMMANDS, own_points
from diffclass_tables.formats import COMMON_ENDINGS, OF_COLUMNS

VERBS = sorted(
    name for name, point in own_points(COMMANDS).items() if isinstance(point.load(), Verb)
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("cube.npy", np.zeros((4, 5, 6), np.float32))
    np.save("map.npy", np.ones((4, 5), np.uint8))
    np.save("row.npy", np.array(["a", "b"]))
    np.save("objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    np.savez("cubes.npz", scene=np.zeros((4, 5, 6)), wavelengths=np.zeros(6))
    np.savez("rows.npz", X=np.zeros((4, 2)), id=np.arange(4))
    np.savez("results.npz", row=np.arange(4), **{"class": np.arange(4)})
    for name in ("noise.npy", "noise.npz", "scene.txt", "rows.txt", "other.bytes"):
        Path(name).write_text("noise")
    Path("scene.hdr").write_text("ENVI")
    Path("scene").write_bytes(b"II*\0")
    Path("folder").mkdir()
    with zipfile.ZipFile("other.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    return tmp_path


TABLES = ["row.npy", "map.npy", "objects.npy", "rows.npz", "results.npz", "rows.txt", "none.CSV"]
SCENES = [
    "cube.npy", "cubes.npz", "scene.hdr", "none.tif", "none.mat", "scene.txt", "scene",
    "folder", "https://host/scene", "none.zarr",
]  # fmt: skip
MAPS = ["map.npy", "cube.npy", "rows.npz", "none.tif", "none.gpkg"]
CLASSES = ["row.npy", "results.npz", "c.csv", "c.parquet"]


@pytest.mark.parametrize("ending", sorted({*OF_COLUMNS, ".h5ad"} - {*COMMON_ENDINGS}))
def test_an_ending_of_one_kind_is_that_kinds(ending, files):
    Path(f"scene{ending}").write_bytes(b"\x89HDF\r\n\x1a\n")  # beside scene.hdr
    assert kind_of(f"scene{ending}").name == "table"


def test_each_input_is_of_one_kind(files):
    for name, paths in (("table", TABLES), ("scene", SCENES)):
        for path in paths:
            assert kind_of(path).name == name, path
            assert is_of_kind(name, path)


def test_images_of_classes_are_scenes_and_lists_of_them_tables(files):
    for name, paths in (("table", CLASSES), ("scene", MAPS)):
        for path in paths:
            assert kind_of(path, holds_classes=True).name == name, path


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("none", "no such file"),
        ("none.npy", "no such file"),
        ("noise.npy", "cannot be read as a NumPy file"),
        ("noise.npz", "cannot be read as a NumPy file"),
        ("other.npz", "unknown format"),
        ("other.bytes", "unknown format; what can be read: scenes: ENVI"),
    ],
)
def test_what_no_kind_claims_is_refused(path, says, files, capsys):
    assert not is_of_kind("scene", path)
    with pytest.raises(DataError, match=says):
        kind_of(path)
    for verb in VERBS:
        assert cli.run([verb, path, "-q"]) == 3
        assert says in capsys.readouterr().err


class Spheres(InputKind):
    """A kind of input that is not of diffclass itself."""

    name = "sphere"
    formats = ".ball"
    services: ClassVar = {"info": f"{__name__}:weighed"}

    def claims(self, path, *, holds_classes=False):
        return Claim.OWN_ENDING if path.suffix in (".ball", ".tif") else Claim.NONE


@command(epilog="Example: diffclass info a.ball")
@click.argument("sphere")
def weighed(sphere):
    """Weigh SPHERE."""
    click.echo(f"weighed {sphere}")


@pytest.fixture
def spheres(monkeypatch, files):
    found = kinds() | {"sphere": Spheres()}
    for module in (inputs, cli.own_points(COMMANDS)["info"].load().__class__.__module__):
        monkeypatch.setattr(
            f"{module.__name__ if hasattr(module, '__name__') else module}.kinds", lambda: found
        )


def test_a_kind_of_input_is_one_class(spheres, capsys):
    assert cli.run(["info", "a.ball"]) == 0
    assert capsys.readouterr().out == "weighed a.ball\n"
    assert cli.run(["info", "a.ball", "--bands", "1"]) == 2
    assert "--bands is for scenes; a.ball is a sphere" in capsys.readouterr().err
    assert cli.run(["classify", "a.ball"]) == 2
    assert "a.ball is a sphere; classify takes scenes and tables" in capsys.readouterr().err


def test_what_two_kinds_claim_is_refused(spheres, capsys):
    with pytest.raises(ParameterError, match="may be a scene and a sphere"):
        kind_of("none.tif")
    assert cli.run(["info", "none.tif"]) == 2
    assert "none.tif: may be a scene and a sphere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("rows.npz", "table"),
        ("--labels l.tif rows.npz", "table"),
        ("--labels=l.tif rows.npz", "table"),
        ("-o c.csv cube.npy", "scene"),
        ("-oc.csv cube.npy", "scene"),
        ("-qo c.csv cube.npy", "scene"),
        ("--json rows.npz", "table"),
        ("--seed 3 --kernel gaussian rows.npz --labels cube.npy", "table"),
        ("--labels t.csv none.tif", "scene"),
        ("--columns x*,y t.parquet", "table"),
        ("-- t.csv", "table"),
        ("-o c.csv -- cube.npy t.csv", "scene"),
        ("cube.npy t.csv", "scene"),
    ],
)
def test_the_first_argument_is_the_input(words, name, files, monkeypatch):
    monkeypatch.setattr(click.Command, "make_context", lambda self, *_, **__: self)
    verb = own_points(COMMANDS)["classify"].load()
    services = {kind.name: service for kind, service in verb.services.items()}
    assert verb.make_context("classify", words.split()) is services[name]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("place", ["before", "after"])
def test_an_option_of_another_kind_is_refused_by_its_name(verb, place, files, capsys):
    paths = {"scene": "none.tif", "table": "none.csv"}
    services = own_points(COMMANDS)[verb].load().services
    own = {kind.name: {one.opts[-1]: one for one in each.params} for kind, each in services.items()}
    n_refused = 0
    for kind, path in paths.items():
        (other,) = set(paths) - {kind}
        for name, option in own[other].items():
            if not isinstance(option, click.Option) or name in own[kind]:
                continue
            words = [name] if option.is_flag else [name, "1"]
            words = [*words, path] if place == "before" else [path, *words]
            assert cli.run([verb, *words]) == 2
            if verb != "suggest" or name != "--for-validation":
                assert f"{name} is for {other}s; {path} is a {kind}" in capsys.readouterr().err
                n_refused += 1
    assert n_refused > 3


@pytest.mark.parametrize("verb", VERBS)
def test_options_of_one_name_take_as_many_words(verb):
    by_name = {}
    for service in own_points(COMMANDS)[verb].load().services.values():
        for one in service.params:
            if isinstance(one, click.Option):
                kind = (one.opts, one.name, one.is_flag, one.nargs, one.multiple)
                assert by_name.setdefault(one.opts[-1], kind) == kind


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_what_is_of_one_kind_below_its_name(verb, files, capsys):
    services = own_points(COMMANDS)[verb].load().services
    own = {kind.name: {one.opts[-1] for one in each.params if isinstance(one, click.Option)}
           for kind, each in services.items()}  # fmt: skip
    assert cli.run([verb, "--help-all"]) == 0
    section, listed = "", {}
    for line in capsys.readouterr().out.splitlines():
        if line and not line.startswith(" "):
            section = line
        words = line.split()
        if line.startswith("  -"):
            listed[next(w.strip(",") for w in words if w.startswith("--"))] = section
    for name, title in listed.items():
        having = [kind for kind, names in own.items() if name in names]
        if len(having) == 1:
            assert title.startswith(f"Of {having[0]}s"), name
        else:
            assert not title.startswith("Of "), name


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("path", "kind"), [("t.csv", "table"), ("cube.npy", "scene")])
def test_help_with_an_input_is_of_its_kind(verb, path, kind, files, capsys):
    if verb == "evaluate":
        path = path.replace("cube", "map")
    assert cli.run([verb, path, "--help"]) == 0
    said = capsys.readouterr().out
    assert "Of scenes" not in said
    assert "Of tables" not in said
    assert ("--bands" in said) == (kind == "scene" and verb != "evaluate")
    assert ("--id" in said) == (kind == "table")


def test_a_command_can_be_called_by_itself(files, capsys):
    info = own_points(COMMANDS)["info"].load()
    for path, says in (("cube.npy", "4 rows"), ("rows.npz", "rows")):
        info.main([path], standalone_mode=False)
        assert says in capsys.readouterr().out
