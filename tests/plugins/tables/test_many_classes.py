"""Tables of many rows and classes: each row keeps its likeliest classes, and the report says so."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from diffclass import DiffusionClassifier, Warp
from diffclass.blocks import BlockClassifier
from diffclass.command_line.main import run
from diffclass_tables.jobs import classification

from .writers import write_csv, write_table

N_CLASSES = 80


@pytest.fixture
def many(folder):
    """Rows of 80 classes in embeddings.npy, three labels of each in labels.csv; the classes."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(N_CLASSES, 12))
    truth = np.repeat(np.arange(N_CLASSES), 15)
    write_table("embeddings.npy", (centres[truth] + 0.3 * random.normal(size=(1200, 12))))
    labelled = np.flatnonzero(np.arange(1200) % 15 < 3)
    write_csv("labels.csv", {"row": labelled, "class": [f"c{k}" for k in truth[labelled]]})
    return np.array([f"c{k}" for k in truth])


def classes(path):
    table = pq.read_table(path)
    return np.array(table["class"].to_pylist()), table["set"].to_pylist()


def test_classes_are_those_with_all_kept(many, works, capsys, monkeypatch):
    arguments = ["embeddings.npy", "--labels", "labels.csv", "--level", "0.9"]
    all_kept = works("classify", *arguments, "-o", "all.parquet")
    monkeypatch.setattr(classification, "_MANY_VALUES", 90_000)
    kept = works("classify", *arguments, "-o", "kept.parquet", "--memory", "64GB")
    assert "kept_classes" not in all_kept
    assert kept["kept_classes"] == 32
    assert 0 <= kept["dropped"] < 0.3
    assert kept["tau"] == all_kept["tau"]
    (whole, whole_sets), (found, sets) = classes("all.parquet"), classes("kept.parquet")
    assert (found == whole).mean() > 0.99
    assert (found == many).mean() > 0.9
    assert np.mean([a == b for a, b in zip(whole_sets, sets, strict=True)]) > 0.9
    assert run(["classify", *arguments, "-o", "said.csv"]) == 0
    said = capsys.readouterr()
    assert "each row keeps its 32 likeliest classes" in said.err
    assert "the 32 likeliest of 80 classes of each point" in said.out + said.err


@pytest.mark.parametrize(
    ("classifier", "n_rows", "n_classes", "kept"),
    [
        (DiffusionClassifier(), 10**6, 1000, 32),
        (DiffusionClassifier(), 10**6, 64, None),  # as long and as large with all
        (DiffusionClassifier(), 50_000, 1000, None),
        (DiffusionClassifier(label_mode="free"), 10**6, 1000, None),
        (DiffusionClassifier(warp=Warp(1)), 10**6, 1000, None),
        (DiffusionClassifier(join_features=True), 10**6, 1000, None),
    ],
)
def test_few_rows_or_classes_are_kept_whole(classifier, n_rows, n_classes, kept):
    assert classification.kept_classes_of(classifier, n_rows, n_classes) == kept


def test_blocks_keep_all():
    with pytest.raises(ValueError, match="kept_classes"):
        BlockClassifier.like(DiffusionClassifier(kept_classes=8))
