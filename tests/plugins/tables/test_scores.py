"""Scores of rows from elsewhere, and rows and classes beyond memory, by ``diffclass classify``."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import DiffusionClassifier
from diffclass_tables import Rows, open_table, read_row_scores

from .conftest import NAMES
from .writers import read_csv, write_csv


@pytest.fixture
def scores(rows):
    """Scores whose highest is right at two thirds of the rows, by row number, in any order."""
    _, truth = rows
    rng = np.random.default_rng(5)
    named = np.where(rng.random(120) < 0.5, truth, rng.choice(NAMES, 120))
    values = (named[:, None] == NAMES) + 0.3 * rng.random((120, 3))
    order = rng.permutation(120)
    columns = {"row": order, **{n: values[order, k] for k, n in enumerate(NAMES)}}
    write_csv("scores.csv", columns)
    np.save("scores.npy", values)
    return values


def right(path, truth):
    return np.mean(np.array(read_csv(path)["class"]) == truth)


def test_scores_alone_and_beside_labels(rows, scores, works):
    _, truth = rows
    assert np.mean(NAMES[scores.argmax(axis=1)] == truth) < 0.8
    report = works("classify", "points.npy", "--scores", "scores.csv", "-o", "alone.csv")
    assert report["hints_worth"] == pytest.approx(0.05 * 120 / 3)
    assert [one["labels"] for one in report["classes"]] == [0, 0, 0]
    assert right("alone.csv", truth) > 0.85
    both = ["--scores", "scores.csv", "--labels", "labels.csv"]
    works("classify", "points.npy", *both, "-o", "both.csv")
    assert right("both.csv", truth) > 0.95
    works("classify", "points.npy", "--scores", "scores.npy", *both[2:], "-o", "array.csv")
    assert read_csv("array.csv") == read_csv("both.csv")
    model = DiffusionClassifier(random_state=0)
    read = read_row_scores("scores.csv", open_table("points.npy"))
    every = np.ones(120, dtype=bool)
    points = Rows(open_table("points.npy")).points
    model.fit(points, None, score_prior=read.of(every))
    assert read_csv("alone.csv")["class"] == model.transduction_.tolist()


def test_what_is_said_of_scores_decides_with_one_label_per_class(rows, scores, works):
    _, truth = rows
    write_csv("one.csv", {"row": [int(np.argmax(truth == n)) for n in NAMES], "class": NAMES})
    words = ["classify", "points.npy", "--labels", "one.csv", "--scores", "scores.csv"]
    shares = [
        works(*words, "--score-accuracy", said, "-o", f"{said}.csv")["hints_share"]
        for said in ("0.4", "0.67", "0.99")
    ]
    assert shares == sorted(set(shares))
    assert right("0.67.csv", truth) > 0.9


def test_rows_without_scores_take_those_around_them(rows, scores, works):
    _, truth = rows
    some = np.arange(0, 120, 2)
    columns = {"row": some, **{n: scores[some, k] for k, n in enumerate(NAMES)}}
    write_csv("some.csv", columns)
    works("classify", "points.npy", "--scores", "some.csv", "-o", "out.csv")
    assert right("out.csv", truth) > 0.8


@pytest.mark.parametrize(
    ("columns", "code", "says"),
    [
        ({"row": [0, 500], "ant": [1, 2], "bee": [2, 1]}, 3, "500 is none of the 120 rows"),
        ({"row": [0, 0], "ant": [1, 2], "bee": [2, 1]}, 3, "twice"),
        ({"row": [0, 1], "ant": ["high", "low"]}, 3, "'ant' holds no numbers"),
        ({"row": [0, 1]}, 3, "no column of scores"),
        ({"ant": [1, 2], "bee": [2, 1]}, 3, "2 lines for 120 rows"),
        ({"row": [0, 1], "ant": [1, 1], "bee": [1, 1]}, 3, "no row with one highest score"),
    ],
)
def test_what_are_no_scores(rows, fails, columns, code, says):
    write_csv("bad.csv", columns)
    fails("classify", "points.npy", "--scores", "bad.csv", "-o", "out.csv", code=code, says=says)


def test_wrong_usage_of_scores(rows, scores, fails):
    for words, says in (
        ([], "give --labels, --scores or both"),
        (["--scores", "scores.csv", "--holdout"], "--holdout has no effect without --labels"),
        (["--scores", "scores.csv", "--label-mode", "free"], "leave label_mode out"),
        (["--scores", "scores.csv", "--score-accuracy", "0.7"], "no effect without --labels"),
        (["--labels", "labels.csv", "--score-accuracy", "0.7"], "no effect without --scores"),
        (["--labels", "labels.csv", "--scores", "scores.csv", "--score-accuracy", "70"], "70"),
    ):
        fails("classify", "points.npy", *words, "-o", "out.csv", code=2, says=says)
    np.save("short.npy", scores[1:])
    fails("classify", "points.npy", "--scores", "short.npy", "-o", "o.csv", code=3, says="(119, 3)")


def test_rows_beyond_memory(folder, works, fails):
    rng = np.random.default_rng(0)
    truth = np.arange(30_000) % 3
    X = rng.normal(size=(30_000, 4)) + 6 * np.eye(4)[truth]
    np.save("many.npy", X.astype(np.float32))
    write_csv("few.csv", {"row": range(30), "class": NAMES[truth[:30]]})
    words = ["classify", "many.npy", "--labels", "few.csv"]
    works(*words, "-o", "one.csv", "--level", "0.9")
    works(*words, "-o", "blocks.csv", "--level", "0.9", "--memory", "600MB")
    one, blocks = read_csv("one.csv"), read_csv("blocks.csv")
    same = np.array(one["class"]) == np.array(blocks["class"])
    assert same.mean() > 0.999
    assert np.mean(np.array(one["class"]) == NAMES[truth]) > 0.99
    assert sorted(path.name for path in folder.iterdir()) == [
        "blocks.csv", "few.csv", "many.npy", "one.csv"
    ]  # fmt: skip
    fails(*words, "-o", "o.csv", "--memory", "300MB", "--rounds", "1", code=2, says="warp")
    fails(*words, "-o", "o.csv", "--memory", "1MB", code=2, says="too little")
