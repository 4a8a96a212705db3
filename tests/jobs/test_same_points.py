"""The same points give the same whatever they come from: a table, a scene, tiles, a cube."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass import DiffusionAnomaly, DiffusionClustering, DiffusionMap, DiffusionModes
from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import (
    MadePoints,
    PointSet,
    agreement,
    cluster,
    detection_of,
    embed,
    find_anomalies,
    report_anomalies,
    report_clusters,
    report_embedding,
    suggest_points,
)
from diffclass.system.costs import Cost, Size
from diffclass_hyperspectral import Pixels, SceneFeatures, open_scene, open_tiles, write_raster
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_tables import Rows, open_table

ROWS, COLUMNS, BANDS = 4, 40, 5
N = ROWS * COLUMNS
FORMS = ("table", "scene", "picture", "tiles", "cube", "readings")
SCENES = ("picture", "tiles", "cube")  # of several rows, so that they have noise
EMPTY = 70
TRUTH = np.repeat([1, 2, 3, 0], N // 4)


def values():
    """Four groups of spectra that differ in direction, the last of all apart, one empty."""
    rng = np.random.default_rng(3)
    centres = np.array([[9, 1, 1, 1, 4], [1, 9, 1, 4, 1], [1, 4, 9, 1, 1], [4, 1, 1, 9, 1.0]])
    X = np.repeat(centres, N // 4, axis=0) + 0.4 * rng.normal(size=(N, BANDS))
    X[-1] = [9, -9, 9, -9, 9]
    X[EMPTY] = np.nan
    return X.astype(np.float32)


class Readings(PointSet):
    """Another kind of input, which is one class: rows of an array, compared by their angles."""

    noun, path = "readings", "readings"

    def size(self, n_neighbors=0, n_classes=0):
        return Size(N, BANDS, n_neighbors, n_classes)

    def costs(self):
        return {"features": Cost(0)}

    def make(self):
        X = values()
        valid = np.isfinite(X).all(axis=1)
        points = X[valid] / np.linalg.norm(X[valid], axis=1, keepdims=True)
        facts = dict.fromkeys(("named_by", "features", "metric", "n_components", "n_features"))
        return MadePoints(points, valid, facts | {"left_out": []})

    def name(self, number):
        return {"id": number}

    def in_words(self, name):
        return str(name["id"])


def cube_of(folder):
    xarray = pytest.importorskip("xarray")
    array = values().reshape(ROWS, COLUMNS, BANDS)
    return xarray.DataArray(array, dims=("y", "x", "band"))


def tiles_of(folder):
    picture = values().reshape(ROWS, COLUMNS, BANDS)
    paths = []
    for top in (0, 2):
        paths.append(folder / f"tile{top}.img")
        place = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6 - 30 * top), "EPSG:32633")
        write_raster(paths[-1], picture[top : top + 2], map_info=map_info_of(place))
    return open_tiles(paths).scene


def scene_of(form, folder):
    if form == "cube":
        return open_scene(cube_of(folder))
    if form == "tiles":
        return tiles_of(folder)
    shape = (1, N, BANDS) if form == "scene" else (ROWS, COLUMNS, BANDS)
    np.save(folder / "scene.npy", values().reshape(shape))
    return open_scene(folder / "scene.npy")


def points_of(form, folder):
    """Return points whose distances are those of unit spectra."""
    if form == "readings":
        return Readings()
    if form == "table":
        np.save(folder / "table.npy", values())
        return Rows(open_table(folder / "table.npy"), metric="cosine")
    return Pixels(scene_of(form, folder), SceneFeatures(BANDS, metric="angle"))


@pytest.fixture(params=[form for form in FORMS if form != "readings"])
def form(request):
    return request.param


@pytest.fixture
def points(form, tmp_path):
    return points_of(form, tmp_path)


def numbers_of(points, names):
    """Return the numbers of points by their names, whatever these are."""
    return [one["id"] if "id" in one else place_of(points, one) for one in names]


def place_of(points, name):
    return int(np.ravel_multi_index((name["row"], name["column"]), points.valid.shape))


def same_facts(report, other):
    """Tell whether two reports have the same facts, but for what points are called."""
    ours, theirs = (json.loads(json.dumps(one.to_dict())) for one in (report, other))
    assert ours.keys() == theirs.keys()
    assert ours["n_points"] == theirs["n_points"] == N - 1
    assert ours["n_without_data"] == theirs["n_without_data"] == 1
    assert len(report.lines()) == len(other.lines())
    return ours, theirs


@pytest.mark.parametrize("made", [DiffusionClustering, DiffusionModes])
def test_clusters(points, made):
    expected, found = (cluster(one, made(4)) for one in (Readings(), points))
    np.testing.assert_array_equal(found.numbers.ravel(), expected.numbers)
    np.testing.assert_array_equal(found.outliers.ravel(), expected.outliers)
    if expected.modes is not None:
        assert numbers_of(points, found.modes) == numbers_of(Readings(), expected.modes)
    truth = TRUTH.reshape(points.valid.shape)
    names = {1: "ant", 2: "bee", 3: "cat"}
    reports = [
        report_clusters(one, truth=known, class_names=names)
        for one, known in ((expected, TRUTH), (found, truth))
    ]
    ours, theirs = same_facts(*reports)
    assert ours["agreement"] == theirs["agreement"]
    assert [one.keys() for one in ours["clusters"]] == [one.keys() for one in theirs["clusters"]]
    assert agreement(found, truth).adjusted_rand > 0.9
    with pytest.raises(DataError, match="known class"):
        agreement(found, np.zeros(points.valid.shape, int))
    with pytest.raises(ParameterError, match=f"only 160 {points.noun} have data"):
        cluster(points, made(200))


def test_anomalies(points):
    model = DiffusionAnomaly(n_neighbors=8, random_state=0)
    expected, found = (find_anomalies(one, model) for one in (Readings(), points))
    np.testing.assert_allclose(found.scores.ravel(), expected.scores, rtol=2e-3)
    names = [name for name, _ in found.highest(3)]
    assert numbers_of(points, names) == [name["id"] for name, _ in expected.highest(3)]
    assert numbers_of(points, names)[0] == N - 1
    marked = np.arange(N) == N - 1
    curves = detection_of(found, marked.reshape(points.valid.shape))
    assert curves.area == 1
    reports = [report_anomalies(one, curves={"diffusion": curves}) for one in (expected, found)]
    ours, theirs = same_facts(*reports)
    assert len(ours["highest"]) == len(theirs["highest"]) == 10


def test_coordinates(points):
    def model():
        return DiffusionMap(3, n_neighbors=60, random_state=0)

    expected, found = (embed(one, model()) for one in (Readings(), points))
    ours = expected.coordinates[expected.points.valid]
    theirs = found.coordinates[points.valid]
    np.testing.assert_allclose(theirs * np.sign((theirs * ours).sum(axis=0)), ours, atol=2e-3)
    assert np.isnan(found.coordinates.reshape(N, -1)[EMPTY]).all()
    same_facts(report_embedding(expected), report_embedding(found))


@pytest.mark.parametrize("rule", ["first", "coverage", "margin"])
def test_suggestions(points, rule):
    y = np.full(N, -1)
    # none touches another, or both would be one observation in a picture and two in a table
    y[[0, 2, 45, 47, 90, 92, 130, 132, N - 1]] = 1, 1, 2, 2, 3, 3, 4, 4, 4
    reports = []
    for one in (Readings(), points):
        labels = None if rule == "first" else y.reshape(one.valid.shape)
        word = "coverage" if rule == "first" else rule
        reports.append(suggest_points(one, labels, 4, rule=word))
    expected, found = reports
    ranked = [numbers_of(points, [one.point for one in report.suggestions]) for report in reports]
    assert ranked[0] == ranked[1]
    assert [one.current_name for one in found.suggestions] == [
        one.current_name for one in expected.suggestions
    ]
    same_facts(expected, found)
    if rule != "first":
        with pytest.raises(DataError, match=f"all {points.noun} with data are labelled"):
            suggest_points(points, np.arange(N).reshape(points.valid.shape) % 2, 4)


@pytest.mark.parametrize("y", [None, np.where(np.arange(N) == 40, 1, -1)])
def test_of_equal_points_one_is_suggested(y):
    class Copies(Readings):
        def make(self):
            points = np.random.default_rng(0).normal(size=(N // 8, BANDS)).repeat(8, axis=0)
            return MadePoints(points, np.ones(N, dtype=bool), super().make().facts)

    found = suggest_points(Copies(), y, N).suggestions
    places = {one.point["id"] // 8 for one in found}
    assert places == set(range(N // 8)) - (set() if y is None else {5})
    assert len(found) == len(places)


def test_distances_need_a_grid(points, form):
    if form != "table":
        found = suggest_points(points, n_points=4, min_distance=3).suggestions
        places = np.array([[one.point["row"], one.point["column"]] for one in found])
        apart = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
        assert apart.min() >= 3
        found = suggest_points(points, n_points=N, min_distance=3).suggestions
        places = np.array([[one.point["row"], one.point["column"]] for one in found])
        others = np.argwhere(points.valid)
        away = np.linalg.norm(others[:, None] - places, axis=2)
        assert away.min(axis=1).max() < 3  # all that is far enough is taken
        return
    with pytest.raises(ParameterError, match="lie on no grid"):
        suggest_points(points, n_points=4, min_distance=3)


@pytest.mark.parametrize("features", [SceneFeatures(), SceneFeatures(spatial=True)])
def test_scenes_are_one_whatever_they_are_made_of(features, tmp_path):
    """By noise-adjusted components and by spatial features, which a table has not."""
    found = [
        cluster(Pixels(scene_of(form, tmp_path), features), DiffusionClustering(3))
        for form in SCENES
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.points.points, found[0].points.points)
        np.testing.assert_array_equal(other.numbers, found[0].numbers)


COMMANDS = {
    "cluster": ("-k", "4", "--truth", "truth.npy"),
    "anomaly": ("--truth", "odd.npy"),
    "embed": ("-n", "2", "--neighbors", "8"),
    "suggest": ("-n", "4"),
}
OF_SCENES = {"bands", "wavelengths_nm"}  # of mean spectra


@pytest.mark.parametrize("verb", COMMANDS)
def test_commands_report_the_same_facts(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = values()
    np.save("table.npy", X)
    np.save("scene.npy", X.reshape(ROWS, COLUMNS, BANDS))
    told = {}
    for kind, shape in (("table", (N,)), ("scene", (ROWS, COLUMNS))):
        np.save("truth.npy", TRUTH.reshape(shape).astype(np.uint8))
        np.save("odd.npy", (np.arange(N) == N - 1).astype(np.uint8).reshape(shape))
        words = [verb, f"{kind}.npy", *COMMANDS[verb], "-o", f"{kind}.csv"]
        words[-1] = "scene_out.npy" if kind == "scene" and verb != "suggest" else words[-1]
        assert run([*words, "--report", f"{kind}.json", "--json", "-q"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert json.loads((tmp_path / f"{kind}.json").read_text()).keys() == printed.keys()
        told[kind] = printed
    assert told["scene"].keys() - OF_SCENES == told["table"].keys()
    assert told["scene"]["points"] == "pixels"
    assert told["table"]["points"] == "rows"
    assert (told["scene"]["named_by"], told["table"]["named_by"]) == ("row, column", "row")
    for name in ("n_points", "n_without_data"):
        assert told["scene"][name] == told["table"][name]
