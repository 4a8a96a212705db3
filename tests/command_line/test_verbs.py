"""Every command does the same with inputs of every kind: results, reports, messages, exit codes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import diffclass_hyperspectral.xarray  # noqa: F401  the accessor
from diffclass.command_line import Verb
from diffclass.command_line.main import run
from diffclass.command_line.option_groups import OutputFile
from diffclass.system.extensions import COMMANDS, own_points
from diffclass_hyperspectral import SceneFeatures

SIDE = 12
INPUTS = {"scene": "scene.npy", "table": "rows.npy"}
# What follows a command's name; {} is .npy of a scene, .csv of a table.
CALLS = {
    "anomaly": "INPUT -o out{} --report r.json",
    "classify": "INPUT --labels labels{} -o out{} --report r.json --seed 2",
    "cluster": "INPUT -k 2 -o out{} --report r.json",
    "embed": "INPUT -o out.npy --report r.json",
    "evaluate": "truth{} --labels labels{} --report r.json",
    "info": "INPUT",
    "suggest": "INPUT --labels labels{} -n 3 -o out.csv --report r.json",
}
COMPUTING = sorted({*CALLS} - {"evaluate", "info"})


def test_every_command_of_several_kinds_is_called():
    verbs = {name for name, point in own_points(COMMANDS).items() if isinstance(point.load(), Verb)}
    assert verbs - {"relabel"} == set(CALLS)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A scene of two halves, a table of the same points, and labels and truth of both."""
    folder = tmp_path_factory.mktemp("inputs")
    truth = np.repeat([1, 2], SIDE * SIDE // 2)
    points = np.random.default_rng(0).normal(size=(SIDE * SIDE, 4)) + 6 * truth[:, None]
    labels = np.where(np.arange(len(truth)) % 12 == 0, truth, 0)
    for name, ids in (("truth", truth), ("labels", labels)):
        np.save(folder / f"{name}.npy", ids.reshape(SIDE, SIDE).astype(np.uint8))
        rows = "".join(f"{i},{one}\n" for i, one in enumerate(ids) if one)
        (folder / f"{name}.csv").write_text(f"row,class\n{rows}")
    np.save(folder / "strange.npy", (truth == 2).reshape(SIDE, SIDE).astype(np.uint8))
    np.save(folder / "rows.npy", points)
    np.save(folder / "scene.npy", points.reshape(SIDE, SIDE, 4))
    return folder


@pytest.fixture
def inputs(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def words_of(verb, kind):
    ending = {"scene": ".npy", "table": ".csv"}[kind]
    return [verb, *CALLS[verb].replace("INPUT", INPUTS[kind]).replace("{}", ending).split()]


def outputs():
    return {path.name for path in Path().iterdir() if path.stem in ("out", "r")}


def documented():
    """Return what the guide says of reports: by command the cells of its row, as sets of names."""
    text = (Path(__file__).parents[2] / "diffclass" / "README.md").read_text(encoding="utf-8")
    _, _, after = text.partition("<!-- reports:")
    lines = [line for line in after.partition("<!-- end of reports")[0].splitlines() if "|" in line]
    rows = {}
    for line in lines[2:]:
        first, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        outside = [re.sub(r"\([^)]*\)", "", cell) for cell in cells]
        rows[first] = [set(re.findall("`([^`]+)`", cell)) for cell in outside]
    return rows


DOCUMENTED = documented()


def assert_documented(verb, kind, found):
    """Reports have the facts that the guide names, and no others."""
    rows = [DOCUMENTED[f"`{verb}`"]]
    if verb in COMPUTING:
        rows.append(DOCUMENTED["all but `evaluate` and `info`"])
    in_all, of_scenes, of_tables, some = (set().union(*cells) for cells in zip(*rows, strict=True))
    expected = in_all | {"scene": of_scenes, "table": of_tables}[kind]
    assert expected - found == set()
    assert found - expected - some == set()


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("verb", CALLS)
def test_results_reports_and_messages(verb, kind, inputs, capsys):
    words = words_of(verb, kind)
    has_report = "--report" in words
    assert run([*words, "--json", "--progress", "json"]) == 0
    said = capsys.readouterr()
    facts = json.loads(said.out)
    events = [json.loads(line) for line in said.err.splitlines()]
    stages = [one["name"] for one in events if one.get("state") == "begins"]
    if verb in COMPUTING:
        assert (stages[0], "writing" in stages) == ("opening", True)
        assert [one["name"] for one in events if one.get("state") == "ends"].count("writing") == 1
    if has_report:
        assert json.loads(Path("r.json").read_text()) == facts
    assert_documented(verb, kind, set(facts))
    assert run([*words, *["--overwrite"] * has_report]) == 0
    assert capsys.readouterr().out.strip()
    assert run([*words, *["--overwrite"] * has_report, "-q"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("verb", CALLS)
def test_exit_codes(verb, kind, inputs, capsys):
    words, before = words_of(verb, kind), outputs()
    if "--report" in words:
        Path("r.json").write_text("kept")
        assert run([*words, "-q"]) == 2
        assert "exists" in capsys.readouterr().err
        assert Path("r.json").read_text() == "kept"
        Path("r.json").unlink()
    assert run([*words, "--no-such-option"]) == 2
    assert run([verb]) == 2
    capsys.readouterr()
    ending = Path(words[1]).suffix
    assert run([verb, f"none{ending}", *words[2:], "-q"]) == 3
    assert "no such file" in capsys.readouterr().err
    Path(f"empty{ending}").touch()
    assert run([verb, f"empty{ending}", *words[2:], "-q"]) == 3
    assert "empty" in capsys.readouterr().err
    assert outputs() == before


# Every file that a command can write, beside those of CALLS.
FURTHER = {
    ("anomaly", "scene"): "--truth strange.npy --picture out_p.png",
    ("classify", "scene"): "--probability out_p.npy --margin out_m.tif --ambiguity out_a.img "
    "--stability out_s.png --spectra out_l.csv --save out_model",
    ("cluster", "scene"): "--picture out_p.png --spectra out_s.sli",
    ("cluster", "table"): "--truth truth.csv",
    ("embed", "scene"): "--picture out_p.png",
    ("embed", "table"): "--picture out_p.png",
    ("evaluate", "scene"): "--picture out_p.png",
}
REPORTING = sorted({*CALLS} - {"info"})
OF_THE_RUN = ("path", "seconds", "peak_memory_bytes", "peak_memory_by_stage", "memory", "recipe")


def in_full(verb, kind):
    return [*words_of(verb, kind), *FURTHER.get((verb, kind), "").split()]


def made_files(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("out*")}


def lasting_facts(report):
    facts = json.loads(Path(report).read_text())
    return {name: fact for name, fact in facts.items() if name not in OF_THE_RUN}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("verb", REPORTING)
def test_a_report_is_run_again(verb, kind, inputs, monkeypatch, capsys):
    """From another folder, and in its own."""
    assert run([*in_full(verb, kind), "-q"]) == 0
    before, facts = made_files("."), lasting_facts("r.json")
    Path("other").mkdir()
    monkeypatch.chdir("other")
    assert run(["rerun", "../r.json", "--into", "again", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["same_result"], found["changed"]) == (True, [])
    assert made_files("again") == before
    assert lasting_facts("again/r.json") == facts
    monkeypatch.chdir(inputs)
    assert run(["rerun", "r.json"]) == 2  # they are there already
    assert run(["rerun", "r.json", "--overwrite"]) == 0
    assert "the same result, point for point" in capsys.readouterr().out
    assert made_files(".") == before
    assert lasting_facts("r.json") == facts


def test_every_file_that_a_command_writes_is_written_again():
    for verb in REPORTING:
        for kind, service in own_points(COMMANDS)[verb].load().services.items():
            words = in_full(verb, kind.name)
            for one in service.params:
                if isinstance(one.type, OutputFile) and one.name != "novelty":  # with a model
                    assert set(one.opts) & set(words), (verb, one.opts)


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("verb", REPORTING)
def test_what_has_changed_since_is_said(verb, kind, inputs, capsys):
    assert run([*words_of(verb, kind), "-q"]) == 0
    ids = np.load("labels.npy")
    ids[ids > 0] = 3 - ids[ids > 0]
    np.save("labels.npy", ids)
    head, *rows = Path("labels.csv").read_text().splitlines()
    swapped = [row[:-1] + str(3 - int(row[-1])) for row in rows]
    Path("labels.csv").write_text("\n".join([head, *swapped, ""]))
    order = np.random.default_rng(1).permutation(SIDE)
    for name in ("scene", "rows"):
        points = np.load(f"{name}.npy")
        np.save(f"{name}.npy", points.reshape(SIDE, SIDE, 4)[order].reshape(points.shape))
    assert run(["rerun", "r.json", "--into", "again"]) == 4
    said = capsys.readouterr()
    assert "another result than before" in said.out
    assert "has changed (the same size, another content)" in said.err


def test_a_model_is_applied_again(inputs, capsys):
    labelled = "scene.npy --labels labels.npy -o out.npy --save out_model -q"
    assert run(["classify", *labelled.split()]) == 0
    with_model = "scene.npy --model out_model -o out_m.npy --novelty out_n.npy --report r.json -q"
    assert run(["classify", *with_model.split()]) == 0
    before = {name: Path(name).read_bytes() for name in ("out_m.npy", "out_n.npy")}
    assert run(["rerun", "r.json", "--into", "again"]) == 0
    assert {name: Path("again", name).read_bytes() for name in before} == before


def test_the_same_points_have_the_same_classes_as_any_kind(inputs):
    # the classes overlap, and labels do not touch: touching ones of a scene are one observation
    truth = np.repeat([1, 2], SIDE * SIDE // 2)
    centres = np.array([[4, 1, 2, 1], [1, 4, 1, 2.0]])
    noise = 2.4 * np.random.default_rng(5).normal(size=(len(truth), 4))
    points = (centres[truth - 1] + noise).astype(np.float32)
    labels = np.where(np.arange(len(truth)) % (2 * SIDE + 2) == 0, truth, 0).astype(np.uint8)
    shape = SIDE, SIDE, 4
    np.save("rows.npy", points)
    np.save("one_row.npy", points[None])
    np.save("one_row_labels.npy", labels[None])
    np.save("picture.npy", points.reshape(shape))
    np.save("labels.npy", labels.reshape(SIDE, SIDE))
    lines = [f"{i},{one}\n" for i, one in enumerate(labels) if one]
    Path("labels.csv").write_text("".join(["row,class\n", *lines]))
    Path("tiles").mkdir()
    halves = np.split(points.reshape(shape), 2), np.split(labels.reshape(SIDE, SIDE), 2)
    for name, part, known in zip(("left", "right"), *halves, strict=True):
        np.save(f"{name}.npy", part)
        np.save(f"tiles/{name}.npy", known)
    Path("maps").mkdir()
    for words in (
        # components of a scene are turned, and the features' opinion goes by each feature
        "rows.npy --labels labels.csv --metric cosine --join-features no -o rows.npz",
        "one_row.npy --labels one_row_labels.npy --metric angle --join-features no -o walked.npy",
        "one_row.npy --labels one_row_labels.npy --metric angle -o one_row_map.npy",
        "picture.npy --labels labels.npy --metric angle -o picture_map.npy",
        "left.npy right.npy --labels tiles --metric angle -o maps/{}.npy",
    ):
        assert run(["classify", *words.split(), "-q"]) == 0
    cube = xr.DataArray(points.reshape(shape), dims=("y", "x", "band"))
    of_cube = cube.diffclass.classify(
        labels.reshape(SIDE, SIDE), features=SceneFeatures(metric="angle")
    )
    of_rows = np.load("rows.npz")["class"].astype(int)
    np.testing.assert_array_equal(np.load("walked.npy").ravel(), of_rows)
    expected = np.load("one_row_map.npy").ravel()
    assert 0.6 < (expected == truth).mean() < 0.9
    for one in (
        np.load("picture_map.npy"),
        np.concatenate([np.load(f"maps/{name}.npy") for name in ("left", "right")]),
        of_cube.class_map.to_numpy(),
    ):
        np.testing.assert_array_equal(one.ravel(), expected)
