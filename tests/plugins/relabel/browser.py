"""What tests of the page share, beside the driver of the browser."""

from __future__ import annotations

import os

import numpy as np
import pytest


def lacking(what):
    """Skip because a tool is missing; in CI, where it has to be installed, fail."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


def engine_map(editor):
    """Return the class of every pixel as the engine has it, 255 without data."""
    workspace = editor.workspace
    raster = np.full(np.prod(workspace.shape), 255, dtype=np.uint8)
    raster[workspace.pixels] = editor.session.map_ids
    return raster.reshape(workspace.shape)


def use_all(tab, editor):
    """Do all that needs the connection: paint, fetch a picture and a file, lose it, come back."""
    for class_id, row in ((1, 5), (2, 30)):
        tab.add_class(f"class {class_id}")
        tab.paint(class_id, (row, 5), (row, 20))
    assert (tab.map == engine_map(editor)).all()
    tab.page.click("text=Export")
    saved = tab.download("Labels as NumPy, ids alone (.npy)")
    assert saved.path().read_bytes()[1:6] == b"NUMPY"
    tab.js("diffclass.drop()")
    tab.wait("diffclass.connection === 'open'")
    tab.reload()
    tab.idle()
    assert (tab.map == engine_map(editor)).all()
    assert editor.version == 4
