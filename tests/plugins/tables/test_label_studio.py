"""The backend of Label Studio, asked by real requests as Label Studio asks."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import httpx
import numpy as np
import pytest

from diffclass.exceptions import DataError
from diffclass_tables import Rows, open_table
from diffclass_tables.label_studio import Backend

from .conftest import NAMES

CONFIG = """<View><Image name="photo" value="$image"/>
<Choices name="kind" toName="photo"><Choice value="ant"/><Choice value="bee"/></Choices></View>"""


def task(row):
    return {"id": 1000 + int(row), "data": {"id": int(row), "image": f"{row}.jpg"}}


def labelled(row, name, action="ANNOTATION_CREATED"):
    result = [{"from_name": "kind", "to_name": "photo", "type": "choices",
               "value": {"choices": [name]}}]  # fmt: skip
    annotation = {"id": 5000 + int(row), "task": 1000 + int(row), "result": result}
    return {"action": action, "task": task(row), "annotation": annotation}


def deleted(*rows):
    """As Label Studio tells it: ids of annotations, and no task."""
    annotations = [{"id": 5000 + row} for row in rows]
    return {"action": "ANNOTATIONS_DELETED", "annotations": annotations, "project": {"id": 1}}


@pytest.fixture(scope="module")
def server(tmp_path_factory, blobs):
    """The backend in a process of its own, as a user starts it."""
    folder = tmp_path_factory.mktemp("server")
    np.save(folder / "points.npy", blobs[0])
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    words = ["-m", "diffclass_tables.label_studio", "points.npy", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, *words], cwd=folder, stderr=subprocess.DEVNULL
    ) as backend:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            for _ in range(600):
                try:
                    client.get("/health")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield client
        backend.terminate()


def test_labels_become_classes_of_all_tasks(blobs, server):
    _, truth = blobs
    assert server.get("/").json()["status"] == "UP"
    answer = server.post("/setup", json={"project": "1.1", "schema": CONFIG, "hostname": "x"})
    assert answer.json() == {"model_version": "diffclass-0"}
    tasks = [task(row) for row in range(120)]
    before = server.post("/predict", json={"tasks": tasks, "label_config": CONFIG}).json()
    assert all(one["result"] == [] for one in before["results"])
    scores = np.array([one["score"] for one in before["results"]])
    assert np.count_nonzero(scores < 0.5) == 10  # what to label first
    for row in range(9):
        heard = server.post("/webhook", json=labelled(row, truth[row]))
        assert (heard.status_code, heard.json()) == (201, {"changed": True})
    after = server.post("/predict", json={"tasks": tasks, "label_config": CONFIG}).json()
    assert after["model_version"] == "diffclass-9"
    chosen = [one["result"][0] for one in after["results"]]
    assert {(c["from_name"], c["to_name"], c["type"]) for c in chosen} == {
        ("kind", "photo", "choices")
    }
    found = np.array([c["value"]["choices"][0] for c in chosen])
    assert (found == truth).mean() > 0.95
    assert all(0 <= c["score"] <= 1 for c in chosen)
    scores = np.array([one["score"] for one in after["results"]])
    assert np.count_nonzero(scores < 1e-4) >= 10


def test_what_label_studio_does_not_send_is_refused(server):
    assert server.post("/predict", content="no json").status_code == 400
    answer = server.post("/setup", json={"schema": "<View><Text name='t'/></View>"})
    assert answer.status_code == 400
    assert "no Choices" in answer.json()["error"]
    assert server.post("/setup", json={"schema": "<View>"}).status_code == 400
    heard = server.post("/webhook", json=labelled(5000, "ant"))
    assert heard.json() == {"changed": False}
    unknown = server.post("/predict", json={"tasks": [task(5000), {"id": 3}]}).json()
    assert [one["result"] for one in unknown["results"]] == [[], []]


def test_labels_are_changed_and_taken_away(rows):
    _, truth = rows
    backend = Backend(Rows(open_table("points.npy")))
    for row in range(6):
        backend.hear("ANNOTATION_CREATED", labelled(row, truth[row]))
    wrong = NAMES[(NAMES.tolist().index(truth[0]) + 1) % 3]
    backend.hear("ANNOTATION_UPDATED", labelled(0, wrong))
    assert backend.labels[0] == wrong
    backend.hear("ANNOTATIONS_DELETED", deleted(0))
    assert backend.labels[0] is None
    again = backend.predict([task(0)])[0]["result"][0]["value"]["choices"]
    assert again == [truth[0]]
    with pytest.raises(DataError, match="too long"):
        backend.setup(" " * 2_000_000)


def test_with_one_class_left_nothing_is_known(rows):
    backend = Backend(Rows(open_table("points.npy")))
    for row, name in ((0, "ant"), (1, "bee")):
        event = labelled(row, name)
        backend.hear(event["action"], event)
    assert all(one["result"] for one in backend.predict([task(5), task(6)]))
    event = deleted(1)
    backend.hear(event["action"], event)
    assert not any(one["result"] for one in backend.predict([task(5), task(6)]))
    event = labelled(1, "bee")
    backend.hear(event["action"], event)
    assert all(one["result"] for one in backend.predict([task(5), task(6)]))


def test_the_newest_annotation_counts_whatever_order_things_happen_in(rows, rng):
    """Created, updated, skipped and deleted, alone and in lists, against a list of what is left."""
    backend, left, versions = Backend(Rows(open_table("points.npy"))), [], []
    actions = {"many": "ANNOTATIONS_CREATED", "update": "ANNOTATION_UPDATED"}
    for kind in rng.choice(["one", "many", "update", "skip", "delete"], 300):
        first, before = int(rng.integers(12)), backend.labels[:5].tolist()
        about = [(i, i % 5) for i in range(first, first + (3 if kind == "many" else 1))]
        left = [one for one in left if one[0] not in dict(about)]
        if kind == "delete":
            backend.hear("ANNOTATIONS_DELETED", {"annotations": [{"id": first}]})
        else:
            name = None if kind == "skip" else str(rng.choice(NAMES))
            left += [(i, row, name) for i, row in about]
            result, tasks = [{"value": {"choices": [name or "ant"]}}], [task(r) for _, r in about]
            made = [
                {"id": i, "task": 1000 + row, "was_cancelled": kind == "skip", "result": result}
                for i, row in about
            ]
            event = {"annotation": made, "task": tasks[::-1]}
            if kind != "many":
                event = {name: values[0] for name, values in event.items()}
            assert backend.hear(actions.get(kind, "ANNOTATION_CREATED"), event)
        expected = {row: name for _, row, name in left}
        assert backend.labels[:5].tolist() == [expected.get(row) for row in range(5)]
        versions.append(backend.version)
        has_changed = backend.labels[:5].tolist() != before
        assert len(versions) < 2 or (versions[-1] != versions[-2]) == has_changed
    assert not backend.hear("ANNOTATIONS_DELETED", deleted(77))
    assert not backend.hear("PROJECT_UPDATED", {})
