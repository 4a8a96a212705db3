"""Every option of every command changes what can be seen of a run, or is refused by its name."""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
import pytest
import rasterio
import scipy.io
import scipy.sparse as sp

from diffclass.command_line.console import CommonOptions
from diffclass.command_line.main import run
from diffclass.command_line.option_groups import RunOptions, names_of
from diffclass.system.extensions import COMMANDS, own_points

SIDE = 12
CALLS = {
    ("anomaly", "scene"): "scene.npy -o out.npy",
    ("anomaly", "table"): "rows.csv -o out.csv",
    ("classify", "scene"): "scene.npy --labels labels.npy -o out.npy",
    ("classify", "table"): "rows.csv --labels labels.csv -o out.csv",
    ("cluster", "scene"): "scene.npy -o out.npy",
    ("cluster", "table"): "rows.csv -o out.csv",
    ("embed", "scene"): "scene.npy -o out.npy --neighbors 12",
    ("embed", "table"): "rows.csv -o out.csv --neighbors 12",
    ("evaluate", "scene"): "map.npy truth.npy",
    ("evaluate", "table"): "classes.csv truth.csv",
    ("info", "scene"): "scene.npy",
    ("info", "table"): "rows.csv",
    ("suggest", "scene"): "scene.npy --labels labels.npy -o out.csv",
    ("suggest", "table"): "rows.csv --labels labels.csv -o out.csv",
}


def calls(*text):
    """By option a call where it matters: what else is given | the option. INPUT= is the input."""
    every = [line.strip() for line in "; ".join(text).split(";")]
    return {line.rpartition("|")[2].split()[0]: line for line in every}


PART = calls("--bands 1-3; --mask mask.npy; --roi mask.npy; INPUT=several.mat | --variable first")
ROWS = calls(
    "--columns x*; --id name; --metric cosine; --dimensions 2; --apart x; --graph graph.npz"
)
WALK = calls(
    "--neighbors 5; --kernel gaussian; --label-mode free; --class-sizes 1=80%; --tau 3",
    "--max-time 2; --rounds 1; --join-features no; --device cuda",
)
FEATURES = calls("--features spatial; --metric angle")
COORDINATES = calls(
    "--picture out.png; --components 2; --neighbors 5; --alpha 0.5; --time 3; --kind symmetric",
    "--bandwidth 4",
)
MATTERS = {
    ("anomaly", "scene"): PART
    | calls(
        "--neighbors 5 | --roi mask.npy; --neighbors 5; --time 4; --method rx",
        "--truth strange.npy; --picture out.png",
        "--truth several_truth.mat | --truth-variable strange",
    ),
    ("anomaly", "table"): ROWS | calls("--neighbors 5; --time 4; --truth strange.csv"),
    ("classify", "scene"): PART
    | WALK
    | FEATURES
    | calls(
        "--scores truth.npy | --labels truth.npy; --scores truth.npy",
        "--scores truth.npy --labels-per-class 1 | --score-accuracy 0.9",
        "--labels several_truth.mat | --label-variable first",
        "--holdout blocks; --labels-per-class 2; --probability out_p.npy; --margin out_m.npy",
        "--save out_model; --ambiguity out_a.npy; MODEL | --novelty out_n.npy",
        "--spectra out.csv; --stability out_s.npy",
        "INPUT=placed.tif -o out.geojson | --simplify 2; --ambiguity out_a.npy | --level 0.5",
        "--labels labels.npy | --model model; INPUT=shifted.npy MODEL | --classify-all",
        "MODEL | --scale 3; --components 2; --min-margin 0.9; --majority 5; --min-area 20",
        "--segments segments.npy; --memory 1MB; --workers 1; --resume; --scratch here",
    ),
    ("classify", "table"): ROWS
    | WALK
    | calls(
        "--scores scores.csv | --labels truth.csv; --scores scores.csv",
        "--scores scores.csv --labels-per-class 1 | --score-accuracy 0.9; --level 0.5",
        "--labels several_truth.csv | --label-variable first",
        "--scores scores.csv | --memory 1MB; --holdout; --labels-per-class 2",
    ),
    ("cluster", "scene"): PART
    | FEATURES
    | calls(
        "--clusters 4; --method modes; --components 2; --truth truth.npy; --picture out.png",
        "--spectra out_s.csv; --truth several_truth.mat | --truth-variable first",
    ),
    ("cluster", "table"): ROWS | calls("--clusters 4; --method modes; --truth truth.csv"),
    ("embed", "scene"): PART | FEATURES | COORDINATES,
    ("embed", "table"): ROWS | COORDINATES,
    ("evaluate", "scene"): calls(
        "--labels truth.npy; --margin margin.npy; --probability probability.npy; --areas",
        "--match overlap; --fitted labels.npy; --fitted labels.npy | --gap 2",
        "INPUT=several_truth.mat | --map-variable strange",
        "--labels several_truth.mat | --truth-variable first; --picture out.png",
    ),
    ("evaluate", "table"): calls(
        "--labels truth.csv; --fitted labels.csv; --id class; --class-variable other",
        "--labels several_truth.csv | --truth-variable first",
    ),
    ("info", "scene"): PART,
    ("info", "table"): ROWS,
    ("suggest", "scene"): PART
    | WALK
    | FEATURES
    | calls(
        "--labels truth.npy; --number 3; --rule margin; --min-distance 1",
        "INPUT=map.npy UNLABELLED | --for-validation 5",
        "INPUT=map.npy UNLABELLED --for-validation 20 | --by-class",
        "--labels several_labels.mat | --label-variable first; --components 2",
    ),
    ("suggest", "table"): ROWS
    | WALK
    | calls(
        "--labels truth.csv; --number 3; --rule margin",
        "--labels several_labels.csv | --label-variable first",
    ),
}
# Needed by all calls, or of all commands: the other tests give them.
OF_THE_RUN = ("seconds", "peak_memory_bytes", "peak_memory_by_stage", "memory")
OF_COSTS = ("memory:", "time:")
ELSEWHERE = {"--output", "--report", "--verbose"}


def declared(verb, kind):
    services = own_points(COMMANDS)[verb].load().services
    (service,) = (one for each, one in services.items() if each.name == kind)
    shared = {*names_of(RunOptions, CommonOptions)}
    own = [one for one in service.params if isinstance(one, click.Option)]
    return {one.opts[-1] for one in own if one.name not in shared} - ELSEWHERE


@pytest.mark.parametrize(("verb", "kind"), CALLS)
def test_every_option_has_a_call_where_it_matters(verb, kind):
    assert set(MATTERS[verb, kind]) == declared(verb, kind)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A scene of two classes that overlap, the same points as a table, and what options name."""
    folder = tmp_path_factory.mktemp("effects")
    rng = np.random.default_rng(5)
    truth = np.repeat([1, 2], SIDE * SIDE // 2)
    centres = np.array([[4, 1, 2, 1], [1, 4, 1, 2.0]])
    points = np.abs(centres[truth - 1] + 1.6 * rng.normal(size=(len(truth), 4))) + 0.1
    found = np.where(rng.random(len(truth)) < 0.2, 3 - truth, truth)
    labels = np.where(np.arange(len(truth)) % (SIDE + 1) == 0, truth, 0)
    images = {
        "truth": truth, "labels": labels, "map": found, "mask": np.arange(len(truth)) % 7 == 0,
        "strange": np.arange(len(truth)) % 9 == 0, "segments": np.arange(len(truth)) // 30 + 1,
    }  # fmt: skip
    for name, values in images.items():
        np.save(folder / f"{name}.npy", values.reshape(SIDE, SIDE).astype(np.uint8))
    np.save(folder / "margin.npy", rng.random((SIDE, SIDE)).astype(np.float32))
    shares = rng.random((SIDE, SIDE, 1)).astype(np.float32)
    np.save(folder / "probability.npy", np.concatenate([shares, 1 - shares], axis=2))
    cube = points.reshape(SIDE, SIDE, 4).astype(np.float32)
    np.save(folder / "scene.npy", cube)
    np.save(folder / "shifted.npy", cube * np.array([1, 9, 1, 1], np.float32))
    with rasterio.open(
        folder / "placed.tif", "w", driver="GTiff", width=SIDE, height=SIDE, count=4,
        dtype="float32", crs="EPSG:32632", transform=rasterio.transform.from_origin(5e5, 5e6, 9, 9),
    ) as file:  # fmt: skip
        file.write(np.moveaxis(cube, 2, 0))
    scipy.io.savemat(folder / "several.mat", {"first": cube, "other": cube[::-1]})
    several = {"first": truth.reshape(SIDE, SIDE), "strange": images["strange"].reshape(SIDE, SIDE)}
    scipy.io.savemat(folder / "several_truth.mat", {k: v.astype("u1") for k, v in several.items()})
    few = labels.reshape(SIDE, SIDE).astype(np.uint8)
    scipy.io.savemat(folder / "several_labels.mat", {"first": few, "other": few[::-1]})
    write_rows(folder, points, images)
    weights = np.exp(-((points[:, None] - points[None]) ** 2).sum(2))
    sp.save_npz(folder / "graph.npz", sp.csr_array(weights * (weights > 1e-3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        model = "scene.npy --labels labels.npy -o x.npy --save model -q"
        assert run(["classify", *model.split()]) == 0
    return folder


def write_rows(folder, points, images):
    def write(name, head, columns):
        lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join([head, *lines, ""]))

    numbers = range(len(points))
    write("rows", "x,y,z,w,name", [*points.T.round(3), [f"p{i}" for i in numbers]])
    for name in ("truth", "strange"):
        write(name, "row,class", [numbers, images[name].astype(int)])
    write("labels", "row,class", [numbers, [one or "" for one in images["labels"]]])
    write("classes", "row,class,other", [numbers, images["map"], images["truth"]])
    few = [one or "" for one in images["labels"]]
    write("several_labels", "row,first,other", [numbers, few, few])
    write("several_truth", "row,first,other", [numbers, images["truth"], images["map"]])
    share = np.linspace(0, 1, len(points)).round(3)
    write("scores", "row,1,2", [numbers, share, 1 - share])


def words_of(verb, kind, context):
    words = CALLS[verb, kind].split()
    for word in context.split():
        if word.startswith("INPUT="):
            words[0] = word.removeprefix("INPUT=")
        elif word in ("MODEL", "UNLABELLED"):
            words = [one for one in words if not one.startswith(("--labels", "labels."))]
            words += ["--model", "model"] if word == "MODEL" else []
        else:
            words.append(word)
    if "--labels" in context and verb == "evaluate":
        words.remove(f"truth.{'npy' if kind == 'scene' else 'csv'}")
    return [verb, *words]


def seen(words, capsys):
    """Return the exit code and what can be seen of a run but its costs: error, facts, files."""
    capsys.readouterr()
    again = [] if words[0] == "info" else ["--overwrite"]
    code = run([*words, "--json", *again])
    said = capsys.readouterr()
    facts = json.loads(said.out) if code in (0, 4) else {}
    lines = [line for line in said.err.splitlines() if not line.startswith(OF_COSTS)]
    lasting = {name: fact for name, fact in facts.items() if name not in OF_THE_RUN}
    outputs = {path.name: path.read_bytes() for path in Path().glob("out*") if path.is_file()}
    for path in Path().glob("out*"):
        path.unlink()
    return code, lines, lasting, outputs


@pytest.fixture(scope="module")
def known():
    """What was seen of calls without the option, which many options share."""
    return {}


@pytest.mark.parametrize(
    ("verb", "kind", "option"), [(*call, one) for call, each in MATTERS.items() for one in each]
)
def test_an_option_has_an_effect_or_is_refused(
    verb, kind, option, files, known, monkeypatch, capsys
):
    monkeypatch.chdir(files)
    before = sorted(Path().iterdir())
    context, _, given = MATTERS[verb, kind][option].rpartition("|")
    words = words_of(verb, kind, context)
    if tuple(words) not in known:
        known[tuple(words)] = seen(words, capsys)
    code, *found = seen([*words, *given.split()], capsys)
    if code == 2:
        assert option.strip("-") in " ".join(found[0]).replace("_", "-")
    else:
        assert (code, *found) != known[tuple(words)]
    assert sorted(Path().iterdir()) == before


# Calls in which an option would change nothing, and what the message names.
SILENT = {
    "info rows.csv --dimensions 2": "--dimensions",
    "cluster rows.csv --graph graph.npz --columns x,y -o out.csv": "--columns",
    "cluster rows.csv --graph graph.npz --apart x -o out.csv": "--apart",
    "embed rows.csv --graph graph.npz --bandwidth 3 -o out.csv": "--bandwidth",
    "anomaly rows.csv --graph graph.npz -o out.csv": "--graph",
    "classify rows.csv --graph graph.npz --labels name --join-features yes -o out.csv": "join-fe",
    "classify rows.csv --labels name --label-variable x -o out.csv": "name one of them",
    "classify rows.csv --scores scores.csv --holdout -o out.csv": "--holdout",
    "suggest rows.csv --label-variable x -o out.csv": "--label-variable",
    "suggest rows.csv --rule margin -o out.csv": "--rule",
    "suggest scene.npy --rule margin -o out.csv": "--rule",
    "suggest scene.npy --device cuda -o out.csv": "--device",
    "suggest scene.npy --by-class -o out.csv": "--by-class",
    "suggest map.npy --for-validation 5 --number 3 -o out.csv": "--number",
    "evaluate classes.csv --labels other --truth-variable x": "name one of them",
    "evaluate map.npy truth.npy --gap 2": "--gap",
    "info scene.npy --variable x": "--variable",
    "cluster scene.npy --truth truth.npy --truth-variable x -o out.npy": "variable",
    "cluster scene.npy --truth-variable x -o out.npy": "--truth-variable",
    "anomaly scene.npy --method rx --time 3 -o out.npy": "--time",
    "classify scene.npy --labels labels.npy --classify-all -o out.npy": "--classify-all",
    "classify scene.npy --labels labels.npy --level 0.5 -o out.npy": "--level",
    "classify scene.npy --labels labels.npy --simplify 2 -o out.npy": "--simplify",
    "classify scene.npy --labels labels.npy --tau 3 --max-time 9 -o out.npy": "--max-time",
    "classify scene.npy --model model --kernel gaussian -o out.npy": "--kernel",
}


@pytest.mark.parametrize("call", SILENT)
def test_what_would_change_nothing_is_refused(call, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert run(call.split()) == 2
    assert SILENT[call] in capsys.readouterr().err.replace("_", "-")
    assert not [*Path().glob("out*")]


@pytest.mark.parametrize(("verb", "kind"), CALLS)
def test_nothing_else_is_seen_to_differ(verb, kind, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    words = words_of(verb, kind, "")
    first = seen(words, capsys)
    assert first[0] == 0
    assert seen(words, capsys) == first
