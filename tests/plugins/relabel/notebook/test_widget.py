"""The page in a notebook of a real JupyterLab."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_relabel.access.security import BaseUrl
from diffclass_relabel.session_file.session_log import read_session

from ..browser import use_all
from ..jupyter import Lab, NotebookTab, kernel_environment, write_notebook
from ..proxies import free_port

WIDGET = (
    "from diffclass_relabel import RelabelWidget\nw = RelabelWidget('scene.npy', components=6)\nw"
)
KEEP = "import numpy as np\nnp.save('labels.npy', w.labels)\nnp.save('map.npy', w.class_map)"


@pytest.fixture(scope="module")
def lab_folder(tmp_path_factory, tissue):
    folder = tmp_path_factory.mktemp("notebooks")
    np.save(folder / "scene.npy", tissue.cube)
    return folder


@pytest.fixture(scope="module")
def lab(lab_folder, tmp_path_factory, process_environment):
    opened = Lab(
        lab_folder, tmp_path_factory.mktemp("lab"), kernel_environment(process_environment)
    )
    yield opened
    opened.close()


@pytest.mark.slow
def test_painting_in_jupyterlab(lab, lab_folder, browser):
    write_notebook(
        lab_folder / "paint.ipynb", WIDGET, KEEP, "print('strokes', len(w.session.strokes))"
    )
    tab = NotebookTab(browser, lab.address("paint.ipynb"), height=1000)
    tab.run_cell(patience=120_000)
    tab.enter_frame()
    for class_id, row in ((1, 5), (2, 30)):
        tab.add_class(f"class {class_id}")
        tab.paint(class_id, (row, 5), (row, 20))
    tab.wait("diffclass.state.refined && !diffclass.state.stale")  # else the map may yet change
    tab.page.locator(".jp-CodeCell").nth(1).locator(".cm-content").click()
    tab.run_cell()
    labels, found = np.load(lab_folder / "labels.npy"), np.load(lab_folder / "map.npy")
    assert np.array_equal(labels, tab.labels)
    assert set(np.unique(labels)) == {0, 1, 2}
    assert np.array_equal(found, tab.map)
    tab.run_cell()
    assert "strokes 2" in tab.page.locator(".jp-OutputArea-output").last.inner_text()
    # pictures and files come through the channel too
    tab.find("button:has-text('Export')").click()
    saved = tab.download("Labels as NumPy, ids alone (.npy)")
    assert saved.suggested_filename == "scene_labels.npy"
    assert np.array_equal(np.load(saved.path()), labels)
    tab.js("diffclass.drop()")
    tab.wait("diffclass.connection === 'open'")
    tab.key("Escape")
    tab.close()
    assert len(read_session(lab_folder / "scene.relabel.jsonl")[1]) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "prefix", ["proxy", "proxy/absolute"], ids=["strips-prefix", "keeps-prefix"]
)
def test_server_behind_the_proxy_of_jupyterhub(lab, editor, serve, open_tab, prefix):
    # the port is part of the address that the server has to know before it has one
    port = free_port()
    base = BaseUrl.parsed(f"http://127.0.0.1:{lab.port}/{prefix}/{port}/")
    gate = serve(editor, port=port, base=base)
    use_all(open_tab(gate.url, storage_state=lab.logged_in()), editor)
