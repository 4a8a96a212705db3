"""The rule "auto" on the page: a first map at once, then that of classify with the same labels."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from diffclass import DiffusionClassifier
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.session_files import session_header
from diffclass_relabel.session_file.session_log import SessionLog
from diffclass_relabel.workspace import SceneSettings
from experiments.relabel.driver.clients import PATIENCE

from ..strokes import three_classes


@contextmanager
def begun(workspace, path):
    """A session on a workspace, in a file of its own."""
    log = SessionLog(path)
    log.begin(session_header(workspace))
    yield SessionEditor(workspace, log)
    log.close()


@pytest.fixture
def editor(workspace, tmp_path):
    workspace = replace(workspace, settings=SceneSettings(components=6))
    with begun(workspace, tmp_path / "auto.jsonl") as editor:
        yield editor


def chosen(page):
    """Hear until the time is chosen and the map follows; returns its class ids."""
    end = time.monotonic() + PATIENCE
    ids = page.settled()[0]
    while not page.state["refined"]:
        assert time.monotonic() < end, page.state
        page.hear()
        ids = page.settled()[0]
    return ids


def classified(editor, shape):
    """The map of the labels so far, without any session; 255 where the scene has no data."""
    workspace, ids = editor.workspace, editor.labels.ids
    y = ids.ravel()[workspace.pixels].astype(int)
    clf = DiffusionClassifier(random_state=0)
    groups = label_regions(ids).ravel()[workspace.pixels]
    clf.fit(workspace.features, np.where(y > 0, y, -1), groups=groups)
    return workspace.raster(clf.transduction_.astype(np.uint8), fill=255).reshape(shape), clf.tau_


def test_the_map_settles_as_classify_would_choose(page, editor, tissue):
    page.hello()
    assert page.state["tau_mode"] == "auto"
    for operation in three_classes(tissue):
        page.do(operation)
    for pixel in (700, 1500):
        page.do("stroke", **{"class": 1, "pixels": [pixel, 3]})
        found = chosen(page)
        expected, tau = classified(editor, found.shape)
        np.testing.assert_array_equal(found, expected)
        assert page.state["tau"] == tau
    assert page.heard.count("map") > 2  # the first maps did not wait
    page.do("tau", tau=9)  # the user takes it
    page.settled()
    assert (page.state["tau"], page.state["tau_mode"], page.state["refined"]) == (9, "fixed", True)
    page.do("tau", tau="auto")  # and gives it back
    np.testing.assert_array_equal(chosen(page), expected)


def test_an_export_waits_for_the_time(page, editor, tissue):
    for operation in three_classes(tissue):
        page.do(operation)
    answer = page.ask("export", what="report")
    assert answer["kind"] == "answer"
    assert page.state["refined"]
    expected, tau = classified(editor, editor.labels.ids.shape)
    np.testing.assert_array_equal(editor.map.ids, expected)
    assert editor.session.tau == tau
