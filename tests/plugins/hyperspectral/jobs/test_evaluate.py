"""``diffclass evaluate`` and the honest figures of ``diffclass classify``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import spectral.io.envi as envi
from scipy.ndimage import binary_dilation

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.evaluation import clustered_interval, reliability_curve, stratified_areas
from diffclass.exceptions import DataError
from diffclass.jobs import measure_certainty
from diffclass_hyperspectral import LabelImage, read_labels
from diffclass_hyperspectral.io.readers import read_library
from diffclass_hyperspectral.jobs.classification import Cleanup
from diffclass_hyperspectral.jobs.classification.classifying import hints_of
from diffclass_hyperspectral.jobs.evaluation import probability_of_class
from diffclass_hyperspectral.jobs.evaluation.maps_on_disk import read_map_raster

from ..writers import UTM, save_envi

NAMES = ["none", "nuclei", "cytoplasm", "stroma"]


@pytest.fixture(scope="module")
def tissue():
    return make_tissue_scene(64, 64, n_bands=20)


@pytest.fixture
def files(folder, tissue):
    """The folder with a scene, strokes, the truth, a map with errors, margins, posteriors."""
    save_envi(folder, tissue.cube)
    rng = np.random.default_rng(0)
    margin = rng.random((64, 64)).astype(np.float32)
    wrong = rng.random((64, 64)) > 0.6 + 0.4 * margin
    found = np.where(wrong, tissue.truth % 3 + 1, tissue.truth)
    colors = [(0, 0, 0), (1, 2, 3), (200, 100, 50), (9, 80, 7)]
    for name, ids in (("strokes", tissue.labels), ("truth", tissue.truth), ("found", found)):
        envi.save_classification(f"{name}.hdr", ids, class_names=NAMES, class_colors=colors)
    margin[0, :8] = np.nan
    np.save("margin.npy", margin)
    known = margin[..., None]
    np.save("posteriors.npy", (1 - known) / 3 + known * (found[..., None] == np.arange(1, 4)))
    return folder


@pytest.fixture
def call(files, capsys):
    def called(*words, code=0):
        assert run(list(words)) == code, capsys.readouterr().err
        return capsys.readouterr()

    return called


@pytest.fixture
def facts(files, works):
    return works


def test_truth_may_be_named_labels(facts, call):
    plain = facts("evaluate", "found.hdr", "truth.hdr")
    assert facts("evaluate", "found.hdr", "--labels", "truth.hdr") == plain
    assert plain["margin"] is plain["areas"] is plain["thresholds"] is None
    for more in ([], ["truth.hdr", "--labels", "truth.hdr"]):
        assert "give the truth once" in call("evaluate", "found.hdr", *more, code=2).err


def test_margins_and_posteriors(facts, files, tissue):
    found = facts(
        "evaluate", "found.hdr", "truth.hdr", "--margin", "margin.npy",
        "--probability", "posteriors.npy", "--report", "r.json",
    )  # fmt: skip
    assert json.loads(Path("r.json").read_text()) == found
    margin = np.load("margin.npy")
    ids = envi.open("found.hdr").read_band(0)
    right, has = ids == tissue.truth, np.isfinite(margin)
    curve = reliability_curve(right[has], margin[has])
    assert found["margin"] == curve.to_dict()
    assert found["margin"]["auc"] > 0.6
    assert found["probability"]["expected_calibration_error"] == pytest.approx(
        reliability_curve(right[has], (1 + 2 * margin[has]) / 3).expected_calibration_error
    )
    first, *_, last = found["thresholds"]["rows"]
    assert first["threshold"] == 0
    assert first["share"] == 1
    assert first["n_points"] == has.sum()
    assert last["share"] == pytest.approx(0.25, abs=0.001)
    assert last["accuracy"] > first["accuracy"] + 0.1


@pytest.mark.parametrize("gain", [1e-4, 0.5, 2.0])
def test_scales_of_margins_count(tmp_path, gain):
    """Margins may be whole numbers with the scale that their file states."""
    rasterio = pytest.importorskip("rasterio")
    stored = np.random.default_rng(0).integers(0, 10_000, (4, 5, 2)).astype(np.uint16)
    stored[1, 2] = 65535
    expected = np.where(stored == 65535, np.nan, stored * gain)
    save_envi(
        tmp_path,
        stored,
        metadata={"reflectance scale factor": 1 / gain, "data ignore value": 65535},
    )
    size = {"height": 4, "width": 5, "count": 2, "dtype": "uint16", "nodata": 65535}
    with rasterio.open(
        tmp_path / "scene.tif", "w", **size, crs=UTM.crs, transform=UTM.affine
    ) as raster:
        raster.write(stored.transpose(2, 0, 1))
        raster.scales = (gain, gain)
    for name in ("scene.hdr", "scene.tif"):
        np.testing.assert_allclose(read_map_raster(tmp_path / name).bands, expected, rtol=1e-6)


def test_areas(facts, files, tissue):
    ids = envi.open("found.hdr").read_band(0)
    rng = np.random.default_rng(1)
    truth = np.where(rng.random((64, 64)) < 0.2, tissue.truth, 0)
    np.save("sample.npy", truth)
    found = facts("evaluate", "found.hdr", "sample.npy", "--areas")["areas"]
    known = truth > 0
    sizes = {c: int((ids == c).sum()) for c in (1, 2, 3)}
    assert found == stratified_areas(truth[known], ids[known], sizes).to_dict()
    true_areas = np.bincount(tissue.truth.ravel())[1:]
    for class_id, area in zip("123", true_areas, strict=True):
        low, high = found["per_class"][class_id]["area"]["interval"]
        assert low - 100 < area < high + 100
    words = ["evaluate", "found.hdr", "sample.npy", "--areas", "--margin", "margin.npy"]
    assert facts(*words)["areas"]["total"] == 64 * 64 - 8


def test_squares_as_what_is_independent(facts, files, tissue):
    found = facts("evaluate", "found.hdr", "truth.hdr")["by_blocks"]
    ids = envi.open("found.hdr").read_band(0)
    numbers = np.kron(np.arange(64).reshape(8, 8), np.ones((8, 8), dtype=int))
    expected = clustered_interval((ids == tissue.truth).ravel(), numbers.ravel())
    assert found["n_blocks"] == expected.n_clusters == 64
    assert found["overall_accuracy"] == [expected.lower, expected.upper]
    assert found["effective_n"] == expected.effective_n
    np.save("corner.npy", np.pad(tissue.truth[:6, :6], (0, 58)))
    assert facts("evaluate", "found.hdr", "corner.npy")["by_blocks"]["overall_accuracy"] is None


def test_labels_of_the_fit_can_be_left_out(facts, tissue):
    everything = facts("evaluate", "found.hdr", "truth.hdr")
    rest = facts("evaluate", "found.hdr", "truth.hdr", "--fitted", "strokes.hdr")
    assert everything["n_points"] - rest["n_points"] == np.count_nonzero(tissue.labels)
    apart = facts("evaluate", "found.hdr", "truth.hdr", "--fitted", "strokes.hdr", "--gap", "3")
    near = binary_dilation(tissue.labels > 0, np.ones((5, 5)))
    assert apart["n_points"] == np.count_nonzero(~near & (tissue.truth > 0))


def test_the_text_and_the_picture(call, files):
    text = call(
        "evaluate", "found.hdr", "truth.hdr", "--margin", "margin.npy", "--areas",
        "--probability", "posteriors.npy", "--picture", "p.png",
    ).out  # fmt: skip
    for words in ("overall accuracy", "confusion", "cytoplasm", "95% intervals", "calibration",
                  "unknown", "Olofsson"):  # fmt: skip
        assert words in text
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_evaluated(files, fails):
    np.save("small.npy", np.ones((8, 8)))
    np.save("nan.npy", np.full((64, 64), np.nan))
    for words, code, says in (
        ("--picture p.jpg", 2, ".png"),
        ("--picture truth.hdr --overwrite", 2, ".png"),
        ("--margin posteriors.npy", 3, "3 bands"),
        ("--margin small.npy", 3, "8 x 8"),
        ("--margin picture.png", 3, "no"),
        ("--margin nan.npy", 3, "no point of known truth"),
        ("--probability margin.npy", 3, "1 bands"),
        ("--fitted truth.hdr", 3, "no pixel is labelled that is 1 or more pixels from"),
        ("--gap 3", 2, "give these too"),
        ("--report margin.npy --margin margin.npy --overwrite", 2, "read from"),
    ):
        fails("evaluate", "found.hdr", "truth.hdr", *words.split(), code=code, says=says)


def test_certainty_of_a_map_without_any_class():
    known, nothing = np.ones((3, 3), dtype=bool), np.zeros((3, 3), dtype=bool)
    margin, probability = np.zeros((3, 3)), np.ones((3, 3))
    found = measure_certainty(nothing, known, nothing, margin, probability=probability)
    assert found.margin is None
    assert found.probability is None
    assert found.thresholds.n_kept.tolist() == [0]
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(DataError, match="margin"):
        measure_certainty(nothing, known, nothing, np.full((3, 3), np.nan))


def test_probability_is_that_of_the_class_given():
    posteriors = np.arange(8.0).reshape(2, 2, 2)
    ids = np.array([[3, 9], [0, 4]])
    found = probability_of_class(ids, posteriors, np.array([3, 9]))
    np.testing.assert_array_equal(found, [[0, 3], [np.nan, np.nan]])


# What classify says about itself


@pytest.fixture
def classify(facts):
    words = ["classify", "scene.hdr", "-o", "map.npy", "--components", "8", "--tau", "16"]

    def called(*more, labels="truth.hdr"):
        return facts(*words, "--labels", labels, *more)

    return called


def test_unknown_and_cleaning(classify, files, tissue):
    words = ["--labels-per-class", "20", "--margin", "m.npy"]
    plain = classify(*words)
    before, margin = np.load("map.npy"), np.load("m.npy")
    assert "cleanup" not in plain
    options = ["--min-margin", "0.3", "--majority", "3", "--min-area", "10"]
    report = classify(*words, *options, "--overwrite")
    after = np.load("map.npy")
    np.testing.assert_array_equal(np.load("m.npy"), margin)
    expected, counts = Cleanup(0.3, 3, 10).apply(before, margin)
    np.testing.assert_array_equal(after, expected)
    told = report["cleanup"]
    assert (told["min_margin"], told["majority"], told["min_area"]) == (0.3, 3, 10)
    assert told["below_margin"] == counts.below_margin == report["unclassified"] > 0
    assert told["by_majority"] == counts.by_majority > 0
    assert told["by_min_area"] == counts.by_min_area
    assert report["unreached"] == report["n_without_data"] == 0
    # the held-out score is that of the map that was written
    held = report["holdout"]
    assert held["n_points"] == 64 * 64 - 60
    right = np.count_nonzero(after == tissue.truth)
    assert right - 60 <= held["overall_accuracy"] * held["n_points"] <= right
    # the thresholds are those of the map before
    assert held["certainty"]["margin"] == plain["holdout"]["certainty"]["margin"]
    row = next(r for r in held["certainty"]["thresholds"]["rows"] if r["threshold"] == 0.3)
    assert row["share"] == pytest.approx((margin >= 0.3).mean())


def test_a_margin_that_nothing_reaches(classify, files):
    report = classify("--labels-per-class", "20", "--min-margin", "1")
    assert report["unclassified"] == np.count_nonzero(np.load("map.npy") == 0)
    assert report["holdout"]["overall_accuracy"] < 0.5


def test_spatial_features_are_scored_both_ways(classify):
    report = classify("--features", "spatial", "--labels-per-class", "20")
    assert report["holdout"]["kind"] == "random"
    other = report["other_holdout"]
    assert other["kind"] == "blocks"
    assert 6 <= other["gap_pixels"] < other["full_gap_pixels"]  # the walk reaches too far
    assert 0.01 < other["weight_beyond_gap"] < 0.5
    assert other["n_fit"] == 60
    assert other["untested"] == []
    lower, upper = other["intervals"]["overall_accuracy"]
    assert lower < other["overall_accuracy"] < upper
    words = ["--labels-per-class", "20", "--overwrite"]
    for more, both in (([], False), (["--min-margin", "0.1"], False), (["--majority", "3"], True)):
        assert ("other_holdout" in classify(*words, *more)) == both
    assert "holdout" not in classify("--features", "spatial", "--overwrite")


def test_both_holdouts_on_request(classify):
    report = classify("--holdout", "both")
    assert report["holdout"]["kind"] == "blocks"
    assert report["other_holdout"]["kind"] == "random"


def test_a_holdout_that_the_labels_do_not_allow_is_said(classify, call, files):
    ids = np.zeros((64, 64), dtype=int)
    ids[10, 10:13], ids[40, 40:43] = 1, 2
    np.save("few.npy", ids)
    words = ["--features", "spatial", "--holdout", "random"]
    failed = classify(*words, labels="few.npy")["other_holdout"]
    assert failed["kind"] == "blocks"
    assert "no label is left to be held out of the pixels (blocks)" in failed["failed"]
    given = ["classify", "scene.hdr", "--labels", "few.npy", "-o", "m2.npy", "--components", "8"]
    text = call(*given, "-v", *words).out
    assert "held out (blocks): not possible" in text


def test_the_text_says_what_was_cleaned_and_what_crosses_the_gap(call):
    words = ["classify", "scene.hdr", "--labels", "truth.hdr", "-o", "map.npy", "--overwrite",
             "--components", "8", "--tau", "16", "--holdout", "blocks", "-v"]  # fmt: skip
    plain = call(*words, "--min-margin", "0.2", "--min-area", "5").out
    spatial = call(*words, "--features", "spatial").out
    for said in ("below the margin", "minimum area", "share right by margin", "unknown"):
        assert said in plain
    assert "- of 0 right" not in plain
    assert "(transductive)" in plain
    crosses = "of what makes a pixel's features comes"
    assert crosses not in plain
    assert f"{crosses} from so far or farther (less than 1% at" in spatial
    assert "squares of the picture are independent" in spatial


def test_a_majority_filter_reaches_farther(classify):
    words = ["--holdout", "blocks", "--labels-per-class", "5", "--overwrite"]
    plain, filtered = (classify(*words, "--majority", width)["holdout"] for width in ("1", "19"))
    assert (plain["gap_pixels"], plain["weight_beyond_gap"]) == (6, 0)
    assert filtered["full_gap_pixels"] == 10
    assert filtered["gap_pixels"] > 6


def test_wrong_cleaning(files, fails):
    for words, says in (
        ("--majority 4", "odd"),
        ("--min-area 0", "x>=1"),
        ("--min-margin 2", "0<=x<=1"),
        ("--min-margin nan", "at least 0 and at most 1"),
    ):
        given = ["--labels", "strokes.hdr", "-o", "map.npy", *words.split()]
        fails("classify", "scene.hdr", *given, code=2, says=says)


@pytest.mark.data
def test_a_random_split_flatters_on_indian_pines(folder, data_folder, works):
    scene, labels = (data_folder / f"indian_pines/{n}.mat" for n in ("IP_200_M", "Indian_pines_gt"))
    words = ["-o", "map.npy", "--labels-per-class", "10", "--features", "spatial", "--tau", "64"]
    report = works("classify", scene, "--labels", labels, *words)
    random, blocks = report["holdout"], report["other_holdout"]
    assert random["kind"] == "random"
    assert random["overall_accuracy"] > blocks["overall_accuracy"] + 0.05
    assert blocks["untested"] == [1, 7, 9, 16]  # fields smaller than the gap
    assert random["certainty"]["margin"]["auc"] > 0.75
    # neighbouring pixels are right and wrong together
    spans = [random["by_blocks"]["overall_accuracy"], random["intervals"]["overall_accuracy"]]
    assert spans[0][1] - spans[0][0] > 3 * (spans[1][1] - spans[1][0])


def test_segments_decide_and_blocks_are_tested_outside_them(classify, files):
    segments = np.arange(64)[:, None] // 8 * 8 + np.arange(64) // 8
    np.save("fields.npy", segments + 1)
    options = ["--segments", "fields.npy", "--holdout", "blocks", "--labels-per-class", "5"]
    report = classify(*options)
    found = np.load("map.npy")
    for segment in range(64):
        assert len(np.unique(found[segments == segment])) == 1
    assert report["cleanup"]["by_segments"] > 0
    kinds = [report["holdout"]["kind"], report["other_holdout"]["kind"]]
    assert kinds == ["blocks", "random"]  # a segment is a pixel's surroundings


def test_mean_spectra_of_the_map_are_labels_of_another_scene(classify, files, tissue):
    classify("--spectra", "means.csv")
    found = np.load("map.npy")
    library = read_library("means.csv")
    assert library.names == ("nuclei", "cytoplasm", "stroma")
    for k in range(3):
        mean = tissue.cube[found == k + 1].mean(axis=0)
        np.testing.assert_allclose(library.spectra[k], mean, rtol=1e-5)
    classify("--overwrite", labels="means.csv")
    again = np.load("map.npy")
    assert (again == found).mean() > 0.9


def test_another_map_is_a_hint_beside_the_labels(classify, files, tissue):
    random = np.random.default_rng(0)
    wrong = random.random(tissue.truth.shape) < 0.3
    other = np.where(wrong, random.integers(1, 4, tissue.truth.shape), tissue.truth)
    np.save("other.npy", other)
    words = ["--labels-per-class", "1", "--seed", "2"]
    alone = classify(*words)["holdout"]["overall_accuracy"]
    report = classify(*words, "--scores", "other.npy", "--overwrite")
    assert report["holdout"]["overall_accuracy"] > max(alone, (other == tissue.truth).mean())
    assert report["hints_worth"] > 0.05
    words += ["--scores", "other.npy", "--overwrite", "--score-accuracy"]
    said = [classify(*words, accuracy)["hints_share"] for accuracy in ("0.4", "0.8")]
    assert said[0] < said[1]
    named = LabelImage.from_array(10 * other, names={10: "nuclei", 20: "cytoplasm", 30: "stroma"})
    hints = hints_of(named, read_labels("truth.hdr"))
    np.testing.assert_array_equal(hints, other)  # by name
    with pytest.raises(DataError, match="none of its classes"):
        hints_of(LabelImage.from_array(0 * other), read_labels("truth.hdr"))
