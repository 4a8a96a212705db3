"""What a scratch folder holds is taken over by the same fit alone, and only as it was written."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from diffclass import markov_operator
from diffclass.blocks import (
    BlockClassifier,
    BlockOperator,
    Scratch,
    ScratchError,
    build,
    diffuse_in_blocks,
)
from diffclass.exceptions import DataError
from diffclass.kernels import Gaussian, SharedNeighbors
from diffclass.label_diffusion import DiffusionRules, Labels


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 400)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 200)
    monkeypatch.setattr(BlockOperator, "joined", lambda operator, n_blocks: operator)


@pytest.fixture(scope="module")
def blobs():
    X, truth = make_blobs(900, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    y = np.full(900, -1)
    y[::30] = truth[::30]
    return X.astype(np.float32), y, truth


QUICK = {"tau": 4, "join_features": True}  # no time is searched for, but all is read


def fitted(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few edges between so small blocks
        return BlockClassifier(**{"random_state": 0} | parameters).fit(X, y)


POINTS = {
    "other points": lambda X: {"X": X + np.float32(1)},
    "another order": lambda X: {"X": X[::-1]},
    "one bit": lambda X: {"X": np.nextafter(X, np.where(np.arange(900)[:, None] == 7, 9, X))},
    "twice the features": lambda X: {"X": np.hstack([X, X])},
}
CHANGES = POINTS | {
    "fewer neighbours": lambda X: {"X": X, "n_neighbors": 8},
    "alpha": lambda X: {"X": X, "alpha": 1.0},
    "kernel": lambda X: {"X": X, "kernel": Gaussian()},
    "inner kernel": lambda X: {"X": X, "kernel": SharedNeighbors(Gaussian(neighbor=5))},
    "power": lambda X: {"X": X, "kernel": SharedNeighbors(power=1.0)},
    "seed": lambda X: {"X": X, "random_state": 1},
    "random state": lambda X: {"X": X, "random_state": np.random.RandomState(0)},
}


@pytest.mark.parametrize(
    ("given", "changes"), [("array", CHANGES), ("file", POINTS), ("map", POINTS)]
)
def test_another_graph_is_refused_and_the_first_stays(blobs, tmp_path, given, changes):
    X, y, _ = blobs
    folder = tmp_path / "kept"

    def as_given(points):
        if given == "array":
            return points
        np.save(tmp_path / "points.npy", points)
        path = tmp_path / "points.npy"
        return path if given == "file" else np.load(path, mmap_mode="r")

    known = fitted(as_given(X), y, scratch=folder, **QUICK).transduction_
    for change in changes.values():
        other = change(X)
        points = as_given(other.pop("X"))
        with pytest.raises(ScratchError, match="holds a run with other") as said:
            fitted(points, y, scratch=folder, **QUICK, **other)
        assert str(folder) in str(said.value)
    assert np.array_equal(fitted(as_given(X), y, scratch=folder, **QUICK).transduction_, known)


@pytest.mark.parametrize(
    "change",
    [{"tau": 3}, {"class_prior": [0.8, 0.1, 0.1]}, {"memory": 1e9}, {"kernel": SharedNeighbors()}],
    ids=lambda change: next(iter(change)),
)
def test_what_the_graph_does_not_depend_on_gives_the_map_of_a_fresh_fit(blobs, tmp_path, change):
    X, y, _ = blobs
    fitted(X, y, scratch=tmp_path)
    again = fitted(X, y, scratch=tmp_path, **change)
    assert np.array_equal(again.diffusion_.posteriors, fitted(X, y, **change).diffusion_.posteriors)


def test_an_array_changed_in_place_and_a_rewritten_file_are_others(blobs, tmp_path):
    X, y, _ = blobs
    points, path = X.copy(), tmp_path / "points.npy"
    np.save(path, X)
    fitted(points, y, scratch=tmp_path / "array", **QUICK)
    fitted(path, y, scratch=tmp_path / "file", **QUICK)
    points[5] = 0
    np.save(path, points)
    for given, folder in ((points, "array"), (path, "file")):
        with pytest.raises(ScratchError, match="points"):
            fitted(given, y, scratch=tmp_path / folder, **QUICK)


VIEWS = {
    "reversed": lambda m: m[::-1],
    "even rows": lambda m: m[::2],
    "columns": lambda m: m[:, ::-1],
    "some columns": lambda m: m[:, :1],
    "end": lambda m: m[100:],
    "transposed": lambda m: m.T.reshape(-1, 2),
    "other type": lambda m: m.view(np.int32),
    "whole": lambda m: m[:],
}


@pytest.mark.parametrize(
    ("view", "order"), [*((view, "C") for view in VIEWS), ("whole", "F"), ("reversed", "F")]
)
def test_a_view_of_a_file_is_what_its_values_are(blobs, tmp_path, view, order):
    np.save(tmp_path / "points.npy", np.asarray(blobs[0][:600], order=order))
    points = VIEWS[view](np.load(tmp_path / "points.npy", mmap_mode="r"))
    labels = np.where(np.arange(len(points)) % 20, -1, np.arange(len(points)) % 3)
    same = fitted(np.array(points), labels, **QUICK).transduction_
    assert np.array_equal(fitted(points, labels, **QUICK).transduction_, same)


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_a_changed_map_and_a_replaced_file_are_what_the_map_holds(blobs, tmp_path, mode):
    X, y, _ = blobs
    path = tmp_path / "points.npy"
    np.save(path, X[::-1])
    points = np.load(path, mmap_mode=mode)
    if mode == "r":
        new = tmp_path / "new.npy"
        np.save(new, X)
        new.replace(path)
    else:
        points[:] = X
    same = fitted(np.array(points), y, **QUICK).transduction_
    assert np.array_equal(fitted(points, y, **QUICK).transduction_, same)


def damaged(path: Path, random: np.random.Generator) -> str:
    kind = random.choice(["bits", "cut", "empty", "gone", "noise"])
    content = bytearray(path.read_bytes())
    if kind == "gone":
        path.unlink()
        return kind
    if kind == "bits":
        for k in random.integers(len(content), size=20):
            content[k] ^= 1 << int(random.integers(8))
    elif kind == "cut":
        content = content[: random.integers(len(content))]
    elif kind == "empty":
        content.clear()
    else:
        content[:] = random.bytes(len(content))
    path.write_bytes(content)
    return kind


def test_damaged_files_are_refused_by_name_or_made_again(blobs, tmp_path, monkeypatch):
    """60 damages of any file, of finished and unfinished folders."""
    X, y, _ = blobs
    whole = tmp_path / "whole"
    known = fitted(X, y, scratch=whole).transduction_
    folders = [whole]
    for stage in ("find_neighbors", "join_neighbors", "weigh_edges", "normalise"):
        folders.append(tmp_path / stage)
        with monkeypatch.context() as patched:
            patched.setattr(build, stage, None)
            with pytest.raises(TypeError):
                fitted(X, y, scratch=folders[-1])
    random, refused = np.random.default_rng(0), 0
    for n in range(60):
        folder = tmp_path / "damaged"
        shutil.copytree(folders[n % len(folders)], folder)
        path = random.choice(sorted(file for file in folder.rglob("*") if file.is_file()))
        damaged(path, random)
        try:
            found = fitted(X, y, scratch=folder).transduction_
        except DataError as error:
            assert str(folder) in str(error)  # noqa: PT017
            refused += 1
        else:
            assert np.array_equal(found, known)
        shutil.rmtree(folder)
    assert refused > 30


def test_a_stage_of_another_folder_is_refused(blobs, tmp_path):
    X, y, _ = blobs
    for name, points in (("one", X), ("two", X[::-1])):
        fitted(points, y, scratch=tmp_path / name, **QUICK)
    for part in ("operator", "operator.json"):
        (tmp_path / "one" / part).rename(tmp_path / f"{part} aside")
        (tmp_path / "two" / part).rename(tmp_path / "one" / part)
    with pytest.raises(ScratchError, match="operator: affinities"):
        fitted(X, y, scratch=tmp_path / "one", **QUICK)


@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_no_folder_can_be_there(blobs, tmp_path, kind):
    X, y, _ = blobs
    if kind == "file":
        (tmp_path / "kept").touch()
    else:
        (tmp_path / "kept").symlink_to(tmp_path / "nowhere" / "else")
    with pytest.raises(ScratchError, match="there can be no folder"):
        fitted(X, y, scratch=tmp_path / "kept")


def test_an_operator_made_by_hand_is_what_was_written(blobs, tmp_path):
    """Not of other blocks, not damaged, not of a folder without one."""
    X, y, _ = blobs
    labels = Labels.of(y)
    whole = markov_operator(X)
    written = BlockOperator.from_operator(whole, [0, 300, 900], Scratch(tmp_path))
    rules = DiffusionRules.of(labels)
    diffuse_in_blocks(BlockOperator(Scratch(tmp_path), (0, 300, 900)), labels, rules)
    diffuse_in_blocks(written.joined(1), labels, rules, name="joined")
    for starts in ((0, 400, 900), (0, 900)):
        with pytest.raises(ScratchError, match="an operator of other blocks"):
            diffuse_in_blocks(BlockOperator(Scratch(tmp_path), starts), labels, rules)
    with pytest.raises(ScratchError, match="holds a run with other"):
        BlockOperator.from_operator(markov_operator(X[::-1]), [0, 300, 900], Scratch(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ScratchError, match=r"operator\.json"):
        diffuse_in_blocks(BlockOperator(Scratch(tmp_path / "empty"), (0, 900)), labels, rules)
    path = tmp_path / "operator" / "indices.1.npy"
    content = bytearray(path.read_bytes())
    content[-3] ^= 64
    path.write_bytes(content)
    with pytest.raises(ScratchError, match="is damaged"):
        diffuse_in_blocks(written, labels, rules)
