"""The guide's lines for ``qgis_process``: true to the table everywhere, run where QGIS is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from diffclass_hyperspectral import read_labels
from diffclass_qgis.algorithms import ALGORITHMS
from diffclass_qgis.command_line import check_alternatives
from diffclass_qgis.descriptions import CHOICE, FIELD, RASTERS
from experiments.potsdam.qgis_profile import PROCESS

GUIDE = Path(__file__).resolve().parents[3] / "plugins" / "README.md"
TABLE = {f"diffclass:{one.id}": one for one in ALGORITHMS}


def runs() -> list[list[str]]:
    """Return the words after ``qgis_process run`` in every block of the guide."""
    tokens = MarkdownIt("commonmark").parse(GUIDE.read_text(encoding="utf-8"))
    text = "".join(one.content for one in tokens if one.type in {"fence", "code_block"})
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[2:] for line in lines if line.startswith("qgis_process run ")]


def values_of(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        name, _, value = word.partition("=")
        found.setdefault(name, []).append(value)
    return found


def test_the_guide_has_lines():
    assert len(runs()) >= 2


@pytest.mark.parametrize("words", runs(), ids=" ".join)
def test_lines_are_those_of_the_table(words):
    name, dashes, *given = words
    algorithm, values = TABLE[name], values_of(given)
    assert dashes == "--"
    assert set(values) <= {parameter.name for parameter in algorithm.parameters}
    assert {one.name for one in algorithm.parameters if one.required} <= set(values)
    check_alternatives(algorithm, values)
    for parameter, value in ((algorithm.parameter(one), values[one]) for one in values):
        assert len(value) == 1 or parameter.kind == RASTERS
        assert parameter.kind != CHOICE or value[0] in parameter.choices
        assert parameter.kind != FIELD or parameter.of in values


def test_names_in_the_text_are_titles():
    text = GUIDE.read_text(encoding="utf-8")
    (listed,) = re.findall(r"The plugin `diffclass_qgis` adds (.*?) to\s+the", text, re.DOTALL)
    assert re.findall(r"\*(.*?)\*", listed) == [one.title for one in ALGORITHMS]


@pytest.mark.slow
@pytest.mark.skipif(PROCESS is None, reason="needs qgis_process (Debian: qgis, python3-qgis)")
@pytest.mark.parametrize("words", runs(), ids=" ".join)
def test_lines_run(words, profile, scene, monkeypatch):
    monkeypatch.chdir(scene)
    name, _, *given = words
    values = values_of(given)
    done = profile.run(name.partition(":")[2], **values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (read_labels(values["OUTPUT"][0]).ids > 0).any()
