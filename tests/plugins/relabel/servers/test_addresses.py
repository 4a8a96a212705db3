"""A session over a scene at an address: painted, left, found again among the recent ones."""

from __future__ import annotations

import signal
import sys

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass_hyperspectral import read_labels, write_raster
from experiments.relabel.driver.browser import PREPARED

from ...hyperspectral.range_server import served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT there"),
]


@pytest.fixture
def there(tmp_path, tissue):
    (tmp_path / "there").mkdir()
    write_raster(tmp_path / "there" / "scene.tif", tissue.cube.astype(np.float32))
    with served(tmp_path / "there") as server:
        yield server


def test_a_session_over_an_address(there, relabel_in, open_tab, browser, tmp_path):
    address = f"{there.address}/scene.tif"
    process = relabel_in(tmp_path, address)
    tab = open_tab(process.url)
    for class_id, row in ((1, 5), (2, 30)):
        tab.add_class(f"class {class_id}")
        tab.paint(class_id, (row, 5), (row, 20))
    tab.wait("diffclass.state.refined && !diffclass.state.stale")
    tab.idle()
    tab.page.click("text=Export")
    saved = tab.download("Map as NumPy, ids alone (.npy)")
    assert saved.suggested_filename == "scene_map.npy"
    shown = np.load(saved.path())
    tab.page.close()
    assert process.end(signal.SIGINT) == 130
    # without a scene it is among the recent ones, and goes on
    process = relabel_in(tmp_path)
    page = browser.new_page()
    page.goto(process.url)
    page.get_by_role("button", name="scene.tif").click()
    page.wait_for_function("() => window.diffclass?.state?.n_strokes === 2", timeout=PREPARED)
    page.close()
    assert process.end(signal.SIGINT) == 130
    session = tmp_path / "scene.relabel.jsonl"
    words = ["replay", str(session), "--scene", address, "-o", str(tmp_path / "map.npy")]
    assert run(words) == 0
    np.testing.assert_array_equal(read_labels(tmp_path / "map.npy").ids, shown)
