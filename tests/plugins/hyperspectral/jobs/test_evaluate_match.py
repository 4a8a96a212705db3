"""A map and a truth that number classes otherwise: matched by name, id or overlap, and said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass_hyperspectral import LabelImage, evaluate_map, write_class_map
from diffclass_hyperspectral.io.labels import ClassTable

NAMES = {2: "corn", 3: "soy", 4: "wood", 5: "water", 6: "road"}


@pytest.fixture
def found():
    """A map of classes 2 to 6 in stripes, and 0 in a corner."""
    ids = np.repeat([[2, 2, 3, 3, 3, 4, 4, 5, 5, 6]], 100, axis=0)
    ids[:2, :2] = 0
    return ids


@pytest.fixture
def truth(found):
    """The same classes in one pixel of a thousand otherwise."""
    ids = np.repeat([[2, 2, 3, 3, 3, 4, 4, 5, 5, 6]], 100, axis=0)
    ids[50, 2] = 6
    ids[:3, :] = 0
    return ids


@pytest.fixture
def call(folder, capsys):
    def called(*words, code=0):
        capsys.readouterr()
        assert run(["evaluate", *words]) == code, capsys.readouterr().err
        return capsys.readouterr()

    return called


@pytest.fixture
def facts(call):
    return lambda *words: json.loads(call(*words, "--json").out)


def renumbered(ids, numbers):
    """Return ids with other numbers; 0 stays."""
    table = np.arange(ids.max() + 1)
    table[list(numbers)] = list(numbers.values())
    return table[ids]


def save(path, ids, names=None):
    present = np.unique(ids[ids > 0]).tolist()
    write_class_map(path, ids, ClassTable.from_ids(present, names=names))


def test_ids_10_to_14_are_those_2_to_6(call, facts, found, truth):
    np.save("map.npy", found)
    np.save("truth.npy", renumbered(truth, {i: i + 8 for i in NAMES}))
    told = facts("map.npy", "truth.npy")
    n = np.count_nonzero(truth)
    assert told["overall_accuracy"] == (n - 1) / n
    match = told["match"]
    assert match["by"] == "overlap"
    assert match["assignment"] == {str(i + 8): i for i in NAMES}
    assert match["overall_accuracy"] == {"names": None, "ids": 0, "overlap": (n - 1) / n}
    text = " ".join(call("map.npy", "truth.npy").out.split())
    assert "10 is 2" in text
    assert "upper bound" in text


def test_the_same_ids_in_another_order_are_said_and_not_taken(call, facts, found, truth):
    """It may be a bad map; whoever knows that it is not says so."""
    np.save("map.npy", found)
    np.save("truth.npy", renumbered(truth, {2: 3, 3: 4, 4: 5, 5: 6, 6: 2}))
    told = facts("map.npy", "truth.npy")
    n = np.count_nonzero(truth)
    assert told["match"]["by"] == "ids"
    assert told["overall_accuracy"] < 0.01
    assert told["match"]["overall_accuracy"]["overlap"] == (n - 1) / n
    for words in ((), ("--match", "ids")):
        caught = call("map.npy", "truth.npy", *words)
        assert "99.9%" in caught.out
        assert "--match overlap" in caught.out
        said = call("map.npy", "truth.npy", *words, "--json").err
        assert "99.9%" in said
    assert facts("map.npy", "truth.npy", "--match", "overlap")["overall_accuracy"] == (n - 1) / n


def test_classes_of_one_name_are_one_whatever_their_numbers(facts, found, truth):
    save("map.tif", found, NAMES)
    numbers = {2: 9, 3: 2, 4: 1, 5: 6, 6: 5}
    save("truth.tif", renumbered(truth, numbers), {numbers[i]: NAMES[i].upper() for i in NAMES})
    told = facts("map.tif", "truth.tif")
    n = np.count_nonzero(truth)
    assert told["match"]["by"] == "names"
    assert told["overall_accuracy"] == (n - 1) / n
    by_ids = facts("map.tif", "truth.tif", "--match", "ids")
    assert by_ids["overall_accuracy"] < 0.01
    assert by_ids["match"]["overall_accuracy"]["names"] == (n - 1) / n


def test_a_truth_of_some_classes_is_read_by_ids_without_a_word(call, facts, found, truth):
    np.save("map.npy", found)
    np.save("truth.npy", np.where(truth > 4, 0, truth))
    told = facts("map.npy", "truth.npy")
    assert told["match"]["by"] == "ids"
    assert told["match"]["warning"] is None
    assert told["overall_accuracy"] == told["match"]["overall_accuracy"]["ids"] == 1
    assert call("map.npy", "truth.npy").out.startswith("overall accuracy")


def test_a_class_that_finds_none_counts_as_wrong(call, facts, found, truth):
    """Of six classes of the truth five are the map's, whichever rule is asked for."""
    ids = renumbered(truth, {i: i + 8 for i in NAMES})
    ids[60:80] = np.where(ids[60:80] == 11, 5, ids[60:80])  # a part of soy is barley
    np.save("map.npy", found)
    np.save("truth.npy", ids)
    told = facts("map.npy", "truth.npy", "--match", "overlap")
    n, n_barley = np.count_nonzero(ids), np.count_nonzero(ids == 5)
    assert told["overall_accuracy"] == pytest.approx((n - 1 - n_barley) / n)
    assert told["match"]["unmatched"] == [5]
    assert told["per_class"]["15"]["n_true"] == n_barley  # 5 is another class of the map
    assert told["per_class"]["15"]["recall"] == 0
    said = call("map.npy", "truth.npy", "--match", "overlap").out
    assert "count as wrong: class 5 of the truth" in said
    assert "--match overlap" in call("map.npy", "truth.npy").out  # an id in common by accident


def test_several_maps_are_matched_as_one(facts, found, truth):
    Path("truth").mkdir()
    other = renumbered(truth, {i: i + 8 for i in NAMES})
    for name, rows in (("north.npy", slice(0, 50)), ("south.npy", slice(50, 100))):
        np.save(name, found[rows])
        np.save(f"truth/{name}", other[rows])
    told = facts("north.npy", "south.npy", "truth")
    assert told["match"]["assignment"] == {str(i + 8): i for i in NAMES}
    assert told["overall_accuracy"] > 0.998


def test_names_that_are_asked_for_and_missing_are_refused(call, found, truth):
    save("map.tif", found, NAMES)
    np.save("truth.npy", truth)
    error = call("map.tif", "truth.npy", "--match", "names", code=3).err
    assert "truth.npy and map.tif have no class name in common" in error


OF_MAP = {1: "a", 2: "b", 3: "c"}
TRUTH = np.random.default_rng(0).integers(1, 4, (30, 30))
UPPER = np.arange(900).reshape(30, 30) < 450


@pytest.mark.parametrize("names", [{1: "x", 2: "y", 3: "z"}, {11: "x", 12: "y", 13: "z"}])
@pytest.mark.parametrize(
    ("found", "says"),
    [
        (TRUTH, None),
        (np.random.default_rng(1).integers(1, 4, (30, 30)), "which does not bear it out"),
        (np.where(UPPER, TRUTH, 0), "no pixel that is labelled in the truth has a class"),
    ],
)
def test_how_far_names_that_are_not_in_common_are_borne_out(names, found, says):
    """No figure stands without a word on what it assumes, where that is in doubt."""
    ids = np.where(UPPER & (found == 0).any(), 0, TRUTH + min(names) - 1)
    truth = LabelImage.from_array(ids, names=names)
    evaluation = evaluate_map(LabelImage.from_array(found, names=OF_MAP), truth)
    if says is None:
        assert evaluation.scores.overall_accuracy == 1
        assert "bear" not in str(evaluation.warning)
    else:
        assert says in evaluation.warning
        assert evaluation.lines()[0] == f"warning: {evaluation.warning}"
