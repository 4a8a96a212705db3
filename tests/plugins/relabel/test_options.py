"""What is asked of a session is checked by the one declaration, through whichever door it comes."""

from __future__ import annotations

import itertools

import click
import numpy as np
import pytest

from diffclass.command_line import names_of
from diffclass.exceptions import ParameterError
from diffclass_relabel import open_editor
from diffclass_relabel.commands.relabel_scene import relabel
from diffclass_relabel.commands.relabel_table import relabel as relabel_table
from diffclass_relabel.options import _DECLARED, checked_settings

COMMANDS = {"scene": relabel, "table": relabel_table}
NAMES = [(of, name) for of, kinds in _DECLARED.items() for name in names_of(*kinds)]
# none of them is a text or a number, or is one that fits no option
WRONG = (True, False, b"spectral", ["spectral"], {}, object(), np.zeros(2), float("nan"), 1.5)
WORDS = (
    *("bogus", "Spatial", "SPATIAL", "spectral", "spatial", "auto", "Auto", "margin", "free", ""),
    "free-l1",
    *("cosine", "Cosine", "0", "-1", "1", "12", "1.5", "nan", "4294967296", "x*,y", " "),
)


def is_taken_by_the_command(of, name, word):
    """Tell whether the command takes a word for an option."""
    command = COMMANDS[of]
    (option,) = (one for one in command.params if one.name == name)
    try:
        command.make_context("relabel", ["a.file", option.opts[-1], word])
    except click.UsageError:
        return False
    return True


@pytest.mark.parametrize(("of", "name"), NAMES)
def test_a_text_is_taken_where_the_command_takes_it(of, name):
    for word in WORDS:
        given = [word] if name == "apart" else word
        if is_taken_by_the_command(of, name, word):
            assert checked_settings(of, {name: given}).keys() == {name}
        else:
            with pytest.raises(ParameterError, match=f"^{name} = "):
                checked_settings(of, {name: given})


@pytest.mark.parametrize(("of", "name"), NAMES)
def test_what_can_be_no_option_is_refused(of, name):
    for value in WRONG:
        given = [value] if name == "apart" else value
        with pytest.raises(ParameterError, match=f"^{name} = "):
            checked_settings(of, {name: given})


def test_numbers_are_kept_as_the_command_keeps_them():
    given = {"neighbors": np.int64(5), "random_state": 3.0, "tau": np.int32(7), "max_time": None}
    found = checked_settings("scene", given)
    assert found == {"neighbors": 5, "random_state": 3, "tau": 7}
    assert {type(value) for value in found.values()} == {int}
    assert checked_settings("table", {"apart": ("a", "b")}) == {"apart": ["a", "b"]}


def test_files_are_named_from_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mask.tif").touch()
    found = checked_settings("scene", {"mask": "mask.tif", "roi": "1,2,3,4"})
    assert found == {"mask": str(tmp_path / "mask.tif"), "roi": "1,2,3,4"}


@pytest.mark.parametrize("path", ["scene.npy", "table.csv"])
def test_nothing_is_begun_with_what_is_refused(path, tissue, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("scene.npy", tissue.cube[:20, :20])
    np.savetxt("table.csv", np.eye(5), delimiter=",", header="a,b,c,d,e", comments="")
    kind = "table" if path == "table.csv" else "scene"
    own = names_of(*_DECLARED[kind])
    other = set(itertools.chain(*(names_of(*kinds) for kinds in _DECLARED.values()))) - set(own)
    for settings in (*({name: object()} for name in own), *({name: "1"} for name in other)):
        with pytest.raises(ParameterError):
            open_editor(path, "s.jsonl", settings=settings)
        assert not (tmp_path / "s.jsonl").exists()
    with pytest.raises(ParameterError, match="match = 'bogus'; 'bogus' is not one of"):
        open_editor(path, "s.jsonl", match="bogus")


def test_a_widget_refuses_at_once(scene_folder, tmp_path):
    notebook = pytest.importorskip("diffclass_relabel.notebook.widget")
    for settings in ({"features": "Spatial"}, {"label_mode": "best"}, {"match": "all"},
                     {"neighbors": 1.5}, {"colour": "red"}):  # fmt: skip
        with pytest.raises(ParameterError, match=f"^{next(iter(settings))} "):
            notebook.RelabelWidget(
                scene_folder / "scene.hdr", session=tmp_path / "s.jsonl", **settings
            )
    assert not (tmp_path / "s.jsonl").exists()
