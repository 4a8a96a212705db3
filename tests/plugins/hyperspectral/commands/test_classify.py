"""The commands as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spectral.io.envi as envi
from scipy.ndimage import label

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import open_scene, read_labels
from diffclass_hyperspectral.jobs.classification.lines import ambiguity_line

from ..writers import save_envi

NAMES = ["none", "nuclei", "cytoplasm", "stroma"]
COLORS = [(0, 0, 0), (1, 2, 3), (200, 100, 50), (9, 80, 7)]
FAST = ["--components", "8"]


@pytest.fixture(scope="session")
def tissue():
    return make_tissue_scene(64, 64, n_bands=20)


@pytest.fixture
def files(folder, tissue):
    """The folder with a scene, strokes and the truth."""
    bands = {"wavelength": tissue.wavelengths.tolist(), "wavelength units": "nm"}
    save_envi(folder, tissue.cube, metadata=bands)
    for name, ids in (("strokes", tissue.labels), ("truth", tissue.truth)):
        envi.save_classification(f"{name}.hdr", ids, class_names=NAMES, class_colors=COLORS)
    return folder


@pytest.fixture
def classify(files, works):
    def called(*arguments, scene="scene.hdr", labels="strokes.hdr", **options):
        return works("classify", scene, "--labels", labels, *FAST, *arguments, **options)

    return called


def listing():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def in_a_process(*arguments, folder):
    code = "from diffclass.command_line.start import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True
    )


# What works


def test_info(works, files, capsys):
    facts = works("info", "scene.hdr")
    expected = {"rows": 64, "columns": 64, "bands": 20, "wavelengths_nm": [430, 700],
                "usable_bands": 20, "valid_share": 1}  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    assert run(["info", "scene.img"]) == 0
    assert "64 rows x 64 columns x 20 bands" in capsys.readouterr().out


def test_features_beside_the_graph(classify):
    plain = classify("-o", "map.npy", "--labels-per-class", "10", "--join-features", "no")
    joined = classify("-o", "joined.npy", "--labels-per-class", "10")
    assert plain["parameters"]["join_features"] is False
    assert joined["parameters"]["join_features"] == "auto"
    kept, gained = (r["holdout"]["overall_accuracy"] for r in (plain, joined))
    assert gained > kept - 0.05


def test_a_stroke_is_one_label(classify, tissue):
    report = classify("-o", "map.npy", "--ambiguity", "sets.npy")
    regions = [label(tissue.labels == c, np.ones((3, 3)))[1] for c in (1, 2, 3)]
    assert report["calibration"]["n_held_out"] == sum(n for n in regions if n > 1) > 0


def test_every_output(classify, files, tissue):
    report = classify(
        "-o", "map.img", "--probability", "p.img", "--margin", "m.npy", "--report", "r.json"
    )
    classes = read_labels("map.img")
    assert classes.shape == (64, 64)
    assert (classes.ids == tissue.truth).mean() > 0.7
    assert [(e.id, e.name, e.color) for e in classes.table.entries][1:] == [
        (i, NAMES[i], COLORS[i]) for i in (1, 2, 3)
    ]
    posteriors = open_scene("p.img")
    assert posteriors.band_names == tuple(NAMES[1:])
    np.testing.assert_allclose(posteriors.data.sum(axis=2), 1, atol=1e-5)
    np.testing.assert_array_equal(posteriors.data.argmax(axis=2) + 1, classes.ids)
    # the margin is that of the walk: posteriors before they were sharpened
    walked = posteriors.data.astype(float) ** report["calibration"]["temperature"]
    walked = np.sort(walked / walked.sum(axis=2, keepdims=True), axis=2)
    margin = np.load("m.npy")
    np.testing.assert_allclose(margin, walked[..., 2] - walked[..., 1], atol=1e-4)
    written = json.loads(Path("r.json").read_text())
    assert written == report


def test_the_ambiguity_map(classify, files, tissue):
    found = {}
    for level in (".8", ".95"):
        name = f"a{level[1:]}.npy"
        report = classify("-o", "map.npy", "--ambiguity", name, "--level", level, "--overwrite")
        found[level] = sizes = np.load(name)
        assert sizes.shape == (64, 64)
        assert set(np.unique(sizes)) <= {1, 2, 3}
        assert report["ambiguity"]["level"] == float(level)
        assert report["ambiguity"]["mean_size"] == pytest.approx(sizes.mean())
        assert report["ambiguity"]["single"] == pytest.approx((sizes == 1).mean())
    assert (found[".8"] <= found[".95"]).all()
    assert "calibration" not in classify("-o", "map.npy", "--overwrite")


def test_the_highest_level_is_not_rounded_up_to_the_one_asked_for():
    facts = {"level": 0.95, "mean_size": 3.0, "single": 0.0, "highest_level": 18 / 19}
    assert ambiguity_line(facts).endswith("raise the highest level, 0.947")


def test_the_report(classify, tissue):
    report = classify("-o", "map.npy", "--labels-per-class", "20")
    assert report["tau"] in report["margin_curve"]["times"]
    lengths = {len(report["margin_curve"][name]) for name in ("times", "margin", "coverage")}
    assert len(lengths) == 1
    assert {"features", "neighbors", "diffusion", "writing", "total"} <= set(report["seconds"])
    assert report["peak_memory_bytes"] > 2**20
    assert report["unreached"] == report["n_without_data"] == report["unclassified"] == 0
    assert report["labels_used"] == {"1": 20, "2": 20, "3": 20}
    assert sum(entry["n_points"] for entry in report["classes"]) == 64 * 64
    held = report["holdout"]
    assert held["kind"] == "random"
    assert held["n_fit"] == 60
    assert held["n_points"] == np.count_nonzero(tissue.labels) - 60
    for name in ("overall_accuracy", "average_accuracy", "kappa"):
        assert 0.5 < held[name] <= 1
    assert set(held["per_class"]) == {"1", "2", "3"}
    assert {"precision", "recall", "n_true", "n_predicted"} == set(held["per_class"]["1"])


def test_the_report_agrees_with_the_map(classify, files, tissue):
    held = classify("-o", "map.npy", "--holdout", "blocks", labels="truth.hdr")["holdout"]
    assert held["kind"] == "blocks"
    assert held["gap_pixels"] == 6
    right = (np.load("map.npy") == tissue.truth).mean()
    assert held["overall_accuracy"] > 0.7
    assert right > 0.8


def said_of(capsys, *more):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy", "--overwrite"]
    assert run([*words, *FAST, *more]) == 0
    return capsys.readouterr().out


def test_what_the_text_says_of_labels_that_were_held_out(files, capsys):
    text = said_of(capsys)
    assert "accuracy      unknown: no labels were held out" in text
    text = said_of(capsys, "--verbose")
    assert "no accuracy to report" in text
    assert "overall accuracy" not in text
    text = said_of(capsys, "--ambiguity", "a.npy", "--labels-per-class", "10", "-v")
    calibrated = "probabilities are calibrated: temperature"
    for said in ("overall accuracy", "kappa", "stroma", calibrated, "at level 0.9"):
        assert said in text
    text = said_of(capsys, "--ambiguity", "a.npy", "--labels-per-class", "2")
    assert "at level 0.9 so few labels tell nothing" in text
    assert (np.load("a.npy") == 3).all()


def test_the_seed_decides_the_draw(classify, files):
    maps = []
    for seed in ("1", "1", "2"):
        options = ["--labels-per-class", "3", "--seed", seed, "--overwrite"]
        classify("-o", "map.npy", *options)
        maps.append(np.load("map.npy"))
    np.testing.assert_array_equal(maps[0], maps[1])
    assert (maps[0] != maps[2]).any()


def test_parameters_reach_the_classifier(classify):
    options = ["--neighbors", "9", "--tau", "8", "--label-mode", "absorbing"]
    report = classify("-o", "map.npy", *options, "--features", "spatial")
    assert (report["tau"], report["features"]) == (8, "spatial")
    used = report["parameters"]
    assert (used["n_neighbors"], used["label_mode"]) == (9, "absorbing")


@pytest.mark.filterwarnings("default")
def test_too_short_a_time_is_code_4_with_the_map_written(classify, files, tissue):
    found = classify("-o", "map.npy", "--max-time", "1", code=4)
    assert found["tau"] == 1
    assert found["unclassified"] == 0
    (warning,) = found["warnings"]
    assert "takes the class of its neighbours; raise max_time" in warning
    assert (np.load("map.npy") == tissue.truth).mean() > 0.7


def test_pixels_without_data_are_class_0(classify, files, tissue):
    cube = tissue.cube.copy()
    cube[:5, :6] = np.nan
    cube[40, 40, 3] = np.nan
    np.save("holes.npy", cube)
    report = classify("-o", "map.npy", "--margin", "m.npy", scene="holes.npy")
    assert report["n_without_data"] == report["unclassified"] == 31
    missing = np.isnan(cube).any(axis=2)
    np.testing.assert_array_equal(np.load("map.npy") == 0, missing)
    np.testing.assert_array_equal(np.isnan(np.load("m.npy")), missing)


def test_constant_bands_change_nothing(classify, files, tissue):
    np.save("more.npy", np.concatenate([tissue.cube, tissue.cube[..., :2] * 0], axis=2))
    np.save("plain.npy", tissue.cube)
    classify("-o", "a.npy", scene="more.npy")
    classify("-o", "b.npy", scene="plain.npy")
    np.testing.assert_array_equal(np.load("a.npy"), np.load("b.npy"))


@pytest.fixture
def model(classify, files):
    classify("-o", "first.npy", "--save", "scene.model", "--features", "spatial")
    return Path("scene.model")


def test_a_model_on_the_same_scene(model, works, files):
    report = works("classify", "scene.hdr", "--model", "scene.model", "-o", "map.img")
    found = read_labels("map.img")
    assert report["tau"] is None
    assert (found.ids == np.load("first.npy")).mean() > 0.97
    assert [e.name for e in found.table] == NAMES[1:]


def test_a_model_on_a_tile_and_on_bands_in_another_order(model, works, files, tissue):
    tile = tissue.cube[10:40, 20:]
    order = np.random.default_rng(0).permutation(20)
    for name, bands in (("tile", np.arange(20)), ("mixed", order)):
        metadata = {
            "wavelength": (tissue.wavelengths[bands] / 1000).tolist(),
            "wavelength units": "Micrometers",
        }
        save_envi(files, tile[..., bands], name=f"{name}.hdr", metadata=metadata)
        works("classify", f"{name}.hdr", "--model", "scene.model", "-o", f"{name}.npy")
    found = np.load("tile.npy")
    np.testing.assert_array_equal(found, np.load("mixed.npy"))
    assert (found == np.load("first.npy")[10:40, 20:]).mean() > 0.95


def test_a_model_leaves_pixels_without_data(model, works, files, tissue):
    tile = tissue.cube[:20, :20].copy()
    tile[3, 4] = np.nan
    np.save("tile.npy", tile)
    report = works("classify", "tile.npy", "--model", "scene.model", "-o", "map.npy")
    assert report["n_without_data"] == 1
    assert np.argwhere(np.load("map.npy") == 0).tolist() == [[3, 4]]


def test_evaluate(works, files, tissue):
    wrong = tissue.truth.copy()
    wrong[:16] = 0
    np.save("found.npy", wrong)
    scores = works("evaluate", "found.npy", "truth.hdr", "--report", "scores.json")
    assert scores["overall_accuracy"] == 0.75
    assert scores["n_points"] == 64 * 64
    assert json.loads(Path("scores.json").read_text()) == scores
    np.save("some.npy", np.where(wrong, tissue.truth, 0))
    assert works("evaluate", "found.npy", "some.npy")["kappa"] == 1


def test_evaluate_reads_like_text(files, capsys):
    assert run(["evaluate", "truth.hdr", "truth.hdr"]) == 0
    text = capsys.readouterr().out
    assert "overall accuracy 100.00%" in text
    assert "cytoplasm" in text


def test_in_a_process_of_its_own(files):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy"]
    done = in_a_process(*words, *FAST, "--json", "--threads", "1", folder=files)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr  # what it is doing may stand there
    assert json.loads(done.stdout)["n_without_data"] == 0
    data = Path("scene.img")
    data.write_bytes(data.read_bytes()[:100])
    done = in_a_process(*words, "--overwrite", folder=files)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("error: ")  # after progress
    assert "Traceback" not in done.stderr


def test_a_header_that_asks_for_less_is_a_warning(files, capsys):
    header = Path("scene.hdr")
    header.write_text(header.read_text().replace("lines = 64", "lines = 60"))
    assert run(["info", "scene.hdr", "--json"]) == 0
    said = capsys.readouterr()
    assert (said.err.startswith("warning: "), said.err.count("\n")) == (True, 1)
    assert json.loads(said.out)["rows"] == 60


# What cannot work

LABELLED = ["--labels", "strokes.hdr", "-o", "map.img"]


def test_files_that_are_missing_or_cut(fails, files):
    words = ["classify", "scene.hdr", "--labels", "no.png", "-o", "map.img"]
    fails(*words, code=3, says="no.png")
    data = Path("scene.img")
    data.write_bytes(data.read_bytes()[:-1000])
    fails("classify", "scene.hdr", *LABELLED, code=3, says=["scene.img", "cut short"])


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (np.ones((64, 60), dtype=int), "60 columns"),
        (np.zeros((64, 64), dtype=int), "no pixel is labelled"),
        (np.eye(64, dtype=int), "only class 1"),
        (np.full((64, 64), 0.5), "no class id"),
        (np.full((64, 64), -7), "-7"),
    ],
)
def test_labels_that_cannot_teach(fails, files, ids, says):
    np.save("ids.npy", ids)
    words = ["--labels", "ids.npy", "-o", "map.img"]
    fails("classify", "scene.hdr", *words, code=3, says=["ids.npy", says])


def test_a_scene_without_data(fails, files, tissue):
    for cube, says in (
        (np.full((64, 64, 5), np.nan, dtype=np.float32), ["cube.npy", "no pixel has data"]),
        (np.ones((64, 64, 5)), ["cube.npy", "constant"]),
        (np.where((tissue.labels > 1)[..., None], np.nan, tissue.cube), "only one class is lab"),
    ):
        np.save("cube.npy", cube)
        fails("classify", "cube.npy", *LABELLED, code=3, says=says)


def test_wrong_options(fails, files):
    # what is out of range is in io/test_fuzz.py, what has no effect in command_line/test_effects.py
    for words, says in (
        ("--neighbors 4096", "at most 4095"),
        ("--components 1000", "20 good bands"),
        ("--seed -1", "seed"),
        ("--variable x", "variable"),
        ("--probability p.png", "probability"),
        ("--ambiguity a.npy --level 1", "--level"),
        ("--report nowhere.d/r.json", "nowhere.d"),
        ("--margin map.hdr", "two outputs"),
        ("--report new.model --save new.model", "two outputs"),
        (f"--margin ../{files.name}/map.img", "two outputs"),
        ("--margin scene.img --overwrite", "read from"),
        ("--save strokes.hdr --overwrite", "read from"),
        ("--model m.model", "--model"),
    ):
        fails("classify", "scene.hdr", *LABELLED, *words.split(), code=2, says=says)


def test_wrong_outputs(fails, files):
    Path("map.hdr").write_text("kept")
    Path("folder.npy").mkdir()
    for words, says in (
        ("scene.hdr --labels strokes.hdr -o map.img", ["map.hdr", "exists"]),
        ("scene.hdr --labels strokes.hdr -o map.jp2", ".jp2"),
        ("scene.hdr --labels strokes.hdr -o map.mat", ".mat"),
        ("scene.hdr --labels strokes.hdr -o nowhere.d/map.npy", "nowhere.d"),
        ("scene.hdr --labels strokes.hdr -o folder.npy", "folder"),
        ("scene.hdr --labels strokes.hdr", "--output"),
        ("scene.hdr -o other.img", "--labels or --model"),
        ("scene.hdr strokes.hdr -o other.img", "hdr counts as a scene"),
        ("scene.hdr --model m.model -o other.img --holdout random", "need --labels"),
    ):
        fails("classify", *words.split(), code=2, says=says)


@pytest.mark.parametrize(("output", "largest"), [("map.tif", 65535), ("map.img", 65534)])
def test_ids_beyond_the_format_are_refused_before_the_work(
    fails, files, tissue, output, largest, monkeypatch
):
    monkeypatch.setattr("diffclass_hyperspectral.classify_scene", None)
    np.save("ids.npy", np.where(tissue.labels == 3, largest + 1, tissue.labels.astype(int)))
    words = ["classify", "scene.hdr", "--labels", "ids.npy", "-o", output]
    fails(*words, code=2, says=[str(largest + 1), f"({largest})", "write .npy"])


def test_models_that_do_not_fit(fails, files, model, tissue):
    words = ["-o", "map.img", "--model"]
    other = ["--kernel", "gaussian", "--neighbors", "9"]
    says = "--neighbors, --kernel have no effect with --model"
    fails("classify", "scene.hdr", *words, "scene.model", *other, code=2, says=says)
    metadata = {"wavelength": tissue.wavelengths[5:].tolist(), "wavelength units": "nm"}
    save_envi(files, tissue.cube[..., 5:], name="part.hdr", metadata=metadata)
    np.save("part.npy", tissue.cube[..., 5:])
    np.save("empty.npy", np.full_like(tissue.cube, np.nan))
    for scene, says in (
        ("part.hdr", ["part", "430.0", "5 of"]),
        ("part.npy", ["part.npy", "15 bands"]),
        ("empty.npy", ["empty.npy", "no pixel has data"]),
    ):
        fails("classify", scene, *words, "scene.model", code=3, says=says)
    model.write_bytes(model.read_bytes()[:2000])
    for name, says in (
        ("nowhere.model", "no such model"),
        ("scene.model", ["scene.model: is damaged", "save it again"]),
        ("truth.hdr", "truth.hdr: is damaged, or no diffclass scene model ("),
    ):
        fails("classify", "scene.hdr", *words, name, code=3, says=says)


def test_a_map_of_another_size_or_an_empty_truth(fails, files):
    np.save("small.npy", np.ones((8, 8), dtype=int))
    np.save("none.npy", np.zeros((64, 64), dtype=int))
    for code, words, says in (
        (3, "small.npy truth.hdr", "8 rows x 8 columns"),
        (3, "truth.hdr none.npy", "no pixel is labelled"),
        (2, "truth.hdr truth.hdr --report scene.hdr", "exists"),
        (2, "truth.hdr truth.hdr --report truth.hdr --overwrite", "is read from"),
    ):
        fails("evaluate", *words.split(), code=code, says=says)


@pytest.mark.parametrize(
    "place",
    [
        "diffclass_hyperspectral.Pixels.make",
        "spectral.io.envi.write_envi_header",
    ],
)
def test_interrupted(monkeypatch, files, capsys, place):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    before = listing()
    monkeypatch.setattr(place, interrupt)
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy", *FAST]
    assert run([*words, "--margin", "margin.img"]) == 130
    assert capsys.readouterr().err.strip().endswith("nothing was left half-written")
    after = listing()
    after.pop(Path("map.npy"), None)  # whole, as it was written before
    assert after == before


@pytest.mark.data
@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_salinas_a_from_five_labels_a_class(folder, data_folder, features, works):
    scene, labels = (data_folder / f"salinas_a/SalinasA_{name}.mat" for name in ("corrected", "gt"))
    words = ["-o", "map.img", "--labels-per-class", "5", "--features", features]
    report = works("classify", scene, "--labels", labels, *words)
    assert report["holdout"]["n_fit"] == 30
    assert report["holdout"]["overall_accuracy"] > 0.97


@pytest.mark.parametrize("kernel", ["gaussian", "covariance", "directed", "directed-discriminant"])
def test_shaped_kernels_and_rounds(kernel, classify, works, files):
    """The kernel and the warp are kept with the model, which draws the same map again."""
    shaped = ("--kernel", kernel, "--rounds=2", "--seed=1")
    report = classify("-o", "first.npy", "--save", "scene.model", "--holdout", "random", *shaped)
    assert report["holdout"]["overall_accuracy"] > 0.6
    assert report["parameters"]["warp"] == {"rounds": 2, "floor": 0.4, "forward_exponent": 0.25}
    works("classify", "scene.hdr", "--model", "scene.model", "-o", "again.npy")
    assert (np.load("again.npy") == np.load("first.npy")).mean() > 0.95
