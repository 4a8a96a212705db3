"""Ids and classes are found whatever program wrote either file: one law over the ways to write."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from diffclass_tables import Rows, open_table, read_row_graph, read_row_labels
from diffclass_tables.io import read_row_scores
from diffclass_tables.label_studio import Backend

pd = pytest.importorskip("pandas")
N = 12
IDS = 100 + 10 * np.arange(N)
KINDS = {
    "whole": IDS,
    "float": IDS.astype(float),
    "text": IDS.astype(str),
    "text of floats": IDS.astype(float).astype(str),
}
WAYS = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".de.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".feather": lambda frame, path: frame.to_feather(path),
}
WRITTEN = [
    pair
    for pair in itertools.product(KINDS, WAYS)
    if pair != ("text of floats", ".de.csv")  # points and commas in one file: refused
]


def written(folder, name, kind, way, **columns):
    path = folder / f"{name}{way}"
    WAYS[way](pd.DataFrame({"id": KINDS[kind], **columns}), path)
    return path


@pytest.mark.filterwarnings("ignore:.*(semicolons|decimal commas):UserWarning")
@pytest.mark.parametrize(("kind", "way"), WRITTEN)
def test_labels_scores_edges_and_tasks_find_their_rows(kind, way, tmp_path, rng):
    X = rng.normal(size=(2, N))
    table = open_table(written(tmp_path, "t", kind, way, x=X[0], y=X[1]))
    assert table.values.shape == (N, 2)
    classes = pd.Series([1, 2, 3] * 4, dtype=float)
    classes[[0, 4, 5]] = None  # pandas then writes 1.0
    expected = [None, 2, 3, 1, None, None, 1, 2, 3, 1, 2, 3]
    for other_kind, other_way in WRITTEN:
        labels = written(tmp_path, "l", other_kind, other_way, **{"class": classes})
        assert read_row_labels(labels, table).tolist() == expected, (other_kind, other_way)
        scores = written(tmp_path, "s", other_kind, other_way, a=np.arange(N) + 0.25, b=1.5)
        found = read_row_scores(scores, table)
        np.testing.assert_array_equal(found.values[:, 0], np.arange(N) + 0.25)
        ends = pd.DataFrame({"source": KINDS[other_kind][:-1], "target": KINDS[other_kind][1:]})
        WAYS[other_way](ends, edges := tmp_path / f"e{other_way}")
        graph = read_row_graph(str(edges), table).toarray()
        np.testing.assert_array_equal(graph, np.eye(N, k=1) + np.eye(N, k=-1))
    backend = Backend(Rows(table))
    choice = {"result": [{"value": {"choices": ["ant"]}}]}
    for other, given in KINDS.items():
        row = list(KINDS).index(other)
        task = {"data": {"id": given[row].item() if hasattr(given[row], "item") else given[row]}}
        assert backend.hear("ANNOTATION_CREATED", {"task": task, "annotation": choice})
        assert backend.labels[row] == "ant"
    assert not backend.hear("ANNOTATION_CREATED", {"task": {"data": {"id": 7}}})


def test_ids_that_are_written_alike_are_found_as_they_stand_alone(tmp_path):
    """Of "2" and "2.0" in one table neither is taken for the other, nor is "02" for 2."""
    pd.DataFrame({"id": ["2", "2.0", "02", "x"], "v": np.arange(4.0)}).to_parquet(
        tmp_path / "t.parquet"
    )
    table = open_table(tmp_path / "t.parquet")
    assert table.rows_called(["2", "2.0", "02", "x", " x", 2, 2.0, "y", None]) == [
        0, 1, 2, 3, 3, -1, -1, -1, -1,
    ]  # fmt: skip


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_an_index_that_pandas_has_read_back_is_no_feature(rounds, shuffled, tmp_path, rng):
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    frame = frame.sample(frac=1, random_state=0) if shuffled else frame
    kept = frame["a"].to_dict()
    for _ in range(rounds):
        frame.to_csv(tmp_path / "t.csv")
        frame = pd.read_csv(tmp_path / "t.csv")
    for path, write in (("u.csv", frame.to_csv), ("u.parquet", frame.to_parquet)):
        write(tmp_path / path, index=False)
        table = open_table(tmp_path / path)
        assert table.features == "a, b, c", table.features
        labels = pd.DataFrame({"class": ["u", "v"]}, index=[3, 5])
        labels.to_csv(tmp_path / "l.csv")
        found = read_row_labels(tmp_path / "l.csv", table)
        if rounds == 1 or not shuffled:
            for index, name in zip((3, 5), "uv", strict=True):
                row = int(np.argmin(abs(table.values[:, 0] - kept[index])))
                assert found[row] == name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = open_table(tmp_path / "u.csv", columns="Unnamed: 0")
    assert named.values.shape == (N, 1)
