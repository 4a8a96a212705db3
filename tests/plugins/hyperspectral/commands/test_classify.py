"""The commands as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.io
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
def files(tmp_path, tissue):
    """A folder with a scene, strokes and the truth."""
    bands = {"wavelength": tissue.wavelengths.tolist(), "wavelength units": "nm"}
    save_envi(tmp_path, tissue.cube, metadata=bands)
    for name, ids in (("strokes", tissue.labels), ("truth", tissue.truth)):
        envi.save_classification(
            str(tmp_path / f"{name}.hdr"), ids, class_names=NAMES, class_colors=COLORS
        )
    return tmp_path


def listing(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def words_of(arguments, folder):
    """Names with an ending are files in the folder."""
    return [str(folder / word) if "." in word.strip(".") else word for word in arguments]


@pytest.fixture
def call(files, capsys):
    """Run a command that has to succeed and return what it prints as JSON."""

    def called(*arguments, code=0):
        assert run([*words_of(arguments, files), "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return called


@pytest.fixture
def classify(call):
    def called(*arguments, scene="scene.hdr", labels="strokes.hdr", **options):
        return call("classify", scene, "--labels", labels, *FAST, *arguments, **options)

    return called


@pytest.fixture
def fails(files, capsys):
    """Run a command that has to fail: one line, the right code, nothing written."""

    def failed(*arguments, code, says=()):
        before = listing(files)
        assert run([*words_of(arguments, files), "-q"]) == code  # no progress on a slow machine
        said = capsys.readouterr()
        assert said.out == ""
        line = said.err.strip().splitlines()[-1]
        assert line.lower().startswith("error: ")
        if line.startswith("error"):  # not click's own, which repeats the usage first
            assert said.err.count("\n") == 1
        assert "Traceback" not in said.err
        for word in [says] if isinstance(says, str) else says:
            assert word in line
        assert listing(files) == before

    return failed


def in_a_process(*arguments, folder):
    code = "from diffclass.command_line.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True
    )


# What works


def test_info(call, files, capsys):
    facts = call("info", "scene.hdr")
    assert (facts["rows"], facts["columns"], facts["bands"]) == (64, 64, 20)
    assert facts["wavelengths_nm"] == [430, 700]
    assert facts["usable_bands"] == 20
    assert facts["valid_share"] == 1
    assert run(["info", str(files / "scene.img")]) == 0
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
    classes = read_labels(files / "map.img")
    assert classes.shape == (64, 64)
    assert (classes.ids == tissue.truth).mean() > 0.7
    assert [(e.id, e.name, e.color) for e in classes.table.entries][1:] == [
        (i, NAMES[i], COLORS[i]) for i in (1, 2, 3)
    ]
    posteriors = open_scene(files / "p.img")
    assert posteriors.band_names == tuple(NAMES[1:])
    np.testing.assert_allclose(posteriors.data.sum(axis=2), 1, atol=1e-5)
    np.testing.assert_array_equal(posteriors.data.argmax(axis=2) + 1, classes.ids)
    # the margin is that of the walk: posteriors before they were sharpened
    walked = posteriors.data.astype(float) ** report["calibration"]["temperature"]
    walked = np.sort(walked / walked.sum(axis=2, keepdims=True), axis=2)
    margin = np.load(files / "m.npy")
    np.testing.assert_allclose(margin, walked[..., 2] - walked[..., 1], atol=1e-4)
    written = json.loads((files / "r.json").read_text())
    assert written == report


def test_the_ambiguity_map(classify, files, tissue):
    found = {}
    for level in (".8", ".95"):
        name = f"a{level[1:]}.npy"
        report = classify("-o", "map.npy", "--ambiguity", name, "--level", level, "--overwrite")
        found[level] = sizes = np.load(files / name)
        assert sizes.shape == (64, 64)
        assert set(np.unique(sizes)) <= {1, 2, 3}
        assert report["ambiguity"]["level"] == float(level)
        assert report["ambiguity"]["mean_size"] == pytest.approx(sizes.mean())
        assert report["ambiguity"]["single"] == pytest.approx((sizes == 1).mean())
    assert (found[".8"] <= found[".95"]).all()
    assert "calibration" not in classify("-o", "map.npy", "--overwrite")


def test_so_few_labels_that_nothing_can_be_told(files, capsys):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy", *FAST]
    words += ["--ambiguity", "a.npy", "--labels-per-class", "2"]
    assert run(words_of(words, files)) == 0
    assert "at level 0.9 so few labels tell nothing" in capsys.readouterr().out
    assert (np.load(files / "a.npy") == 3).all()


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
    right = (np.load(files / "map.npy") == tissue.truth).mean()
    assert held["overall_accuracy"] > 0.7
    assert right > 0.8


def test_without_holdout_no_accuracy_is_claimed(files, capsys):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.png", *FAST]
    assert run(words_of(words, files)) == 0
    text = capsys.readouterr().out
    assert "accuracy      unknown: no labels were held out" in text
    assert run(words_of([*words, "--verbose", "--overwrite"], files)) == 0
    text = capsys.readouterr().out
    assert "no accuracy to report" in text
    assert "overall accuracy" not in text


def test_the_text_says_what_was_held_out_and_calibrated(files, capsys):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy", *FAST]
    words += ["--ambiguity", "a.npy"]
    assert run([*words_of(words, files), "--labels-per-class", "10", "-v"]) == 0
    text = capsys.readouterr().out
    calibrated = "probabilities are calibrated: temperature"
    for said in ("overall accuracy", "kappa", "stroma", calibrated, "at level 0.9"):
        assert said in text


def test_the_seed_decides_the_draw(classify, files):
    maps = []
    for seed in ("1", "1", "2"):
        options = ["--labels-per-class", "3", "--seed", seed, "--overwrite"]
        classify("-o", "map.npy", *options)
        maps.append(np.load(files / "map.npy"))
    np.testing.assert_array_equal(maps[0], maps[1])
    assert (maps[0] != maps[2]).any()


def test_parameters_reach_the_classifier(classify):
    options = ["--neighbors", "9", "--tau", "8", "--label-mode", "absorbing"]
    report = classify("-o", "map.npy", *options, "--features", "spatial")
    assert report["tau"] == 8
    assert report["parameters"]["n_neighbors"] == 9
    assert report["parameters"]["label_mode"] == "absorbing"
    assert report["features"] == "spatial"


@pytest.mark.filterwarnings("default")
def test_too_short_a_time_is_code_4_with_the_map_written(classify, files, tissue):
    found = classify("-o", "map.npy", "--max-time", "1", code=4)
    assert found["tau"] == 1
    assert found["unclassified"] == 0
    (warning,) = found["warnings"]
    assert "takes the class of its neighbours; raise max_time" in warning
    assert (np.load(files / "map.npy") == tissue.truth).mean() > 0.7


def test_pixels_without_data_are_class_0(classify, files, tissue):
    cube = tissue.cube.copy()
    cube[:5, :6] = np.nan
    cube[40, 40, 3] = np.nan
    np.save(files / "holes.npy", cube)
    report = classify("-o", "map.npy", "--margin", "m.npy", scene="holes.npy")
    assert report["n_without_data"] == report["unclassified"] == 31
    missing = np.isnan(cube).any(axis=2)
    np.testing.assert_array_equal(np.load(files / "map.npy") == 0, missing)
    np.testing.assert_array_equal(np.isnan(np.load(files / "m.npy")), missing)


def test_constant_bands_change_nothing(classify, files, tissue):
    np.save(files / "more.npy", np.concatenate([tissue.cube, tissue.cube[..., :2] * 0], axis=2))
    np.save(files / "plain.npy", tissue.cube)
    classify("-o", "a.npy", scene="more.npy")
    classify("-o", "b.npy", scene="plain.npy")
    np.testing.assert_array_equal(np.load(files / "a.npy"), np.load(files / "b.npy"))


@pytest.fixture
def model(classify, files):
    classify("-o", "first.npy", "--save", "scene.model", "--features", "spatial")
    return files / "scene.model"


def test_a_model_on_the_same_scene(model, call, files):
    report = call("classify", "scene.hdr", "--model", "scene.model", "-o", "map.img")
    found = read_labels(files / "map.img")
    assert report["tau"] is None
    assert (found.ids == np.load(files / "first.npy")).mean() > 0.97
    assert [e.name for e in found.table] == NAMES[1:]


def test_a_model_on_a_tile_and_on_bands_in_another_order(model, call, files, tissue):
    tile = tissue.cube[10:40, 20:]
    order = np.random.default_rng(0).permutation(20)
    for name, bands in (("tile", np.arange(20)), ("mixed", order)):
        metadata = {
            "wavelength": (tissue.wavelengths[bands] / 1000).tolist(),
            "wavelength units": "Micrometers",
        }
        save_envi(files, tile[..., bands], name=f"{name}.hdr", metadata=metadata)
        call("classify", f"{name}.hdr", "--model", "scene.model", "-o", f"{name}.npy")
    found = np.load(files / "tile.npy")
    np.testing.assert_array_equal(found, np.load(files / "mixed.npy"))
    assert (found == np.load(files / "first.npy")[10:40, 20:]).mean() > 0.95


def test_a_model_leaves_pixels_without_data(model, call, files, tissue):
    tile = tissue.cube[:20, :20].copy()
    tile[3, 4] = np.nan
    np.save(files / "tile.npy", tile)
    report = call("classify", "tile.npy", "--model", "scene.model", "-o", "map.npy")
    assert report["n_without_data"] == 1
    assert np.argwhere(np.load(files / "map.npy") == 0).tolist() == [[3, 4]]


def test_evaluate(call, files, tissue):
    wrong = tissue.truth.copy()
    wrong[:16] = 0
    np.save(files / "found.npy", wrong)
    scores = call("evaluate", "found.npy", "truth.hdr", "--report", "scores.json")
    assert scores["overall_accuracy"] == 0.75
    assert scores["n_points"] == 64 * 64
    assert json.loads((files / "scores.json").read_text()) == scores
    np.save(files / "some.npy", np.where(wrong, tissue.truth, 0))
    assert call("evaluate", "found.npy", "some.npy")["kappa"] == 1


def test_evaluate_reads_like_text(files, capsys):
    assert run(words_of(["evaluate", "truth.hdr", "truth.hdr"], files)) == 0
    text = capsys.readouterr().out
    assert "overall accuracy 100.00%" in text
    assert "cytoplasm" in text


def test_in_a_process_of_its_own(files):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy"]
    done = in_a_process(*words, *FAST, "--json", "--threads", "1", folder=files)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr  # what it is doing may stand there
    assert json.loads(done.stdout)["n_without_data"] == 0


def test_a_header_that_asks_for_less_is_a_warning(files):
    header = files / "scene.hdr"
    header.write_text(header.read_text().replace("lines = 64", "lines = 60"))
    done = in_a_process("info", "scene.hdr", "--json", folder=files)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ")
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)["rows"] == 60


# What cannot work

LABELLED = ["--labels", "strokes.hdr", "-o", "map.img"]


def test_a_missing_scene(fails):
    fails("info", "nowhere.hdr", code=3, says=["nowhere.hdr", "no such file"])
    fails("classify", "nowhere.hdr", *LABELLED, code=3, says="no such file")
    fails("classify", "scene.hdr", "--labels", "no.png", "-o", "map.img", code=3, says="no.png")


def test_a_truncated_file(fails, files, tissue):
    data = files / "scene.img"
    data.write_bytes(data.read_bytes()[:-1000])
    fails("classify", "scene.hdr", *LABELLED, code=3, says=["scene.img", "cut short"])
    np.save(files / "cube.npy", tissue.cube)
    (files / "cube.npy").write_bytes((files / "cube.npy").read_bytes()[:5000])
    fails("classify", "cube.npy", *LABELLED, code=3, says="cube.npy")
    scipy.io.savemat(files / "cube.mat", {"cube": tissue.cube})
    (files / "cube.mat").write_bytes((files / "cube.mat").read_bytes()[:5000])
    fails("classify", "cube.mat", *LABELLED, code=3, says="cube.mat")


def test_a_truncated_file_in_a_process_of_its_own(files):
    data = files / "scene.img"
    data.write_bytes(data.read_bytes()[:100])
    done = in_a_process("classify", "scene.hdr", *LABELLED, folder=files)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("error: ")  # after progress, where it is slow
    assert "Traceback" not in done.stderr


def test_a_header_that_disagrees_with_the_data(fails, files):
    header = files / "scene.hdr"
    text = header.read_text()
    header.write_text(text.replace("bands = 20", "bands = 21"))
    fails("classify", "scene.hdr", *LABELLED, code=3, says="scene.hdr")
    header.write_text(text.replace("lines = 64", "lines = 640"))
    fails("classify", "scene.hdr", *LABELLED, code=3, says="640 lines")
    header.write_text(text.replace("lines = 64", "lines = many"))
    fails("classify", "scene.hdr", *LABELLED, code=3, says="many")
    header.write_text("ENVI\n")
    fails("info", "scene.hdr", code=3, says="scene.hdr")


def test_something_that_is_no_scene(fails, files):
    (files / "notes.doc").write_text("no scene at all")
    fails("info", "notes.doc", code=3, says="unknown format")
    (files / "empty.npy").write_bytes(b"")
    fails("info", "empty.npy", code=3, says="empty")


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
    np.save(files / "ids.npy", ids)
    fails(
        "classify", "scene.hdr", "--labels", "ids.npy", "-o", "map.img",
        code=3, says=["ids.npy", says],
    )  # fmt: skip


def test_a_scene_without_data(fails, files, tissue):
    np.save(files / "cube.npy", np.full((64, 64, 5), np.nan, dtype=np.float32))
    fails("classify", "cube.npy", *LABELLED, code=3, says=["cube.npy", "no pixel has data"])
    np.save(files / "cube.npy", np.ones((64, 64, 5)))
    fails("classify", "cube.npy", *LABELLED, code=3, says=["cube.npy", "constant"])
    cube = np.where((tissue.labels > 1)[..., None], np.nan, tissue.cube)
    np.save(files / "cube.npy", cube)
    fails("classify", "cube.npy", *LABELLED, code=3, says="only one class is labelled")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--neighbors", "4096"], "at most 4095"),
        (["--neighbors", "99999"], "at most 4095"),
        (["--neighbors", "0"], "--neighbors"),
        (["--neighbors", "-3"], "--neighbors"),
        (["--tau", "-4"], "tau"),
        (["--tau", "0"], "tau"),
        (["--max-time", "0"], "--max-time"),
        (["--components", "0"], "components"),
        (["--labels-per-class", "0"], "labels-per-class"),
        (["--features", "magic"], "magic"),
        (["--seed", "-1"], "seed"),
        (["--variable", "x"], "variable"),
        (["--probability", "p.png"], "probability"),
        (["--ambiguity", "a.npy", "--level", "1"], "--level"),
        (["--report", "nowhere.d/r.json"], "nowhere.d"),
        (["--margin", "map.hdr"], "two outputs"),
        (["--report", "new.model", "--save", "new.model"], "two outputs"),
        (["--margin", "../{name}/map.img"], "two outputs"),
        (["--margin", "scene.img", "--overwrite"], "read from"),
        (["--save", "strokes.hdr", "--overwrite"], "read from"),
    ],
)
def test_wrong_options(fails, files, options, says):
    options = [word.format(name=files.name) for word in options]
    fails("classify", "scene.hdr", *LABELLED, *options, code=2, says=says)


def test_wrong_outputs(fails, files):
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o"]
    (files / "map.hdr").write_text("kept")
    fails(*words, "map.img", code=2, says=["map.hdr", "exists"])
    fails(*words, "map.jp2", code=2, says=".jp2")
    fails(*words, "map.mat", code=2, says=".mat")
    fails(*words, "nowhere.d/map.npy", code=2, says="nowhere.d")
    (files / "folder.npy").mkdir()
    fails(*words, "folder.npy", code=2, says="folder")
    fails("classify", "scene.hdr", "--labels", "strokes.hdr", code=2, says="--output")


def test_neither_labels_nor_a_model_and_both(fails, files):
    fails("classify", "scene.hdr", "-o", "map.img", code=2, says="--labels or --model")
    two = ["classify", "scene.hdr", "strokes.hdr", "-o", "map.img"]
    fails(*two, code=2, says="hdr counts as a scene")
    fails("classify", "scene.hdr", *LABELLED, "--model", "m.model", code=2, says="--model")
    fails(
        "classify", "scene.hdr", "--model", "m.model", "-o", "map.img", "--holdout", "random",
        code=2, says="need --labels",
    )  # fmt: skip


def test_a_damaged_model(fails, files, model):
    words = ["classify", "scene.hdr", "-o", "map.img", "--model"]
    fails(*words, "nowhere.model", code=3, says="no such model")
    model.write_bytes(model.read_bytes()[:2000])
    fails(*words, "scene.model", code=3, says=["scene.model: is damaged", "save it again"])
    fails(*words, "truth.hdr", code=3, says="truth.hdr: is damaged, or no diffclass scene model (")


def test_a_model_whose_bands_are_missing(fails, files, model, tissue):
    words = ["--model", "scene.model", "-o", "map.img"]
    metadata = {"wavelength": tissue.wavelengths[5:].tolist(), "wavelength units": "nm"}
    save_envi(files, tissue.cube[..., 5:], name="part.hdr", metadata=metadata)
    fails("classify", "part.hdr", *words, code=3, says=["part", "430.0", "5 of"])
    np.save(files / "part.npy", tissue.cube[..., 5:])
    fails("classify", "part.npy", *words, code=3, says=["part.npy", "15 bands"])
    np.save(files / "empty.npy", np.full_like(tissue.cube, np.nan))
    fails("classify", "empty.npy", *words, code=3, says=["empty.npy", "no pixel has data"])


def test_a_map_of_another_size_or_an_empty_truth(fails, files):
    np.save(files / "small.npy", np.ones((8, 8), dtype=int))
    fails("evaluate", "small.npy", "truth.hdr", code=3, says="8 rows x 8 columns")
    np.save(files / "none.npy", np.zeros((64, 64), dtype=int))
    fails("evaluate", "truth.hdr", "none.npy", code=3, says="no pixel is labelled")
    twice = ["evaluate", "truth.hdr", "truth.hdr", "--report"]
    fails(*twice, "scene.hdr", code=2, says="exists")
    fails(*twice, "truth.hdr", "--overwrite", code=2, says="is read from")


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

    before = listing(files)
    monkeypatch.setattr(place, interrupt)
    words = ["classify", "scene.hdr", "--labels", "strokes.hdr", "-o", "map.npy", *FAST]
    assert run(words_of([*words, "--margin", "margin.img"], files)) == 130
    assert capsys.readouterr().err.strip().endswith("nothing was left half-written")
    after = listing(files)
    after.pop(files / "map.npy", None)  # whole, as it was written before
    assert after == before


@pytest.mark.data
@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_salinas_a_from_five_labels_a_class(tmp_path, data_folder, features, capsys):
    folder = data_folder / "salinas_a"
    words = [
        "classify", str(folder / "SalinasA_corrected.mat"),
        "--labels", str(folder / "SalinasA_gt.mat"),
        "-o", str(tmp_path / "map.img"), "--labels-per-class", "5",
        "--features", features, "--json",
    ]  # fmt: skip
    assert run(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["holdout"]["n_fit"] == 30
    assert report["holdout"]["overall_accuracy"] > 0.97


@pytest.mark.parametrize("kernel", ["gaussian", "covariance", "directed", "directed-discriminant"])
def test_shaped_kernels_and_rounds(kernel, classify, call, files):
    """The kernel and the warp are kept with the model, which draws the same map again."""
    shaped = ("--kernel", kernel, "--rounds=2", "--seed=1")
    report = classify("-o", "first.npy", "--save", "scene.model", "--holdout", "random", *shaped)
    assert report["holdout"]["overall_accuracy"] > 0.6
    assert report["parameters"]["warp"] == {"rounds": 2, "floor": 0.4, "forward_exponent": 0.25}
    call("classify", "scene.hdr", "--model", "scene.model", "-o", "again.npy")
    assert (np.load(files / "again.npy") == np.load(files / "first.npy")).mean() > 0.95
