"""A small scene, an editor on it, a server in a thread, and clients that speak with it."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack, closing, contextmanager

import httpx
import numpy as np
import pytest
import spectral.io.envi as envi
from scipy import ndimage

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import ClassTable, write_class_map
from diffclass_relabel.access.security import Gate
from diffclass_relabel.servers.web_servers import SessionServer, bound_socket
from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.session_files import session_header
from diffclass_relabel.session_file import session_log
from diffclass_relabel.session_file.session_log import SessionLog
from diffclass_relabel.workspace import SceneSettings, SceneWorkspace
from experiments.relabel.driver.browser import Tab, chromium
from experiments.relabel.driver.clients import PageClient
from experiments.relabel.driver.processes import Relabel

from .browser import lacking
from .strokes import three_classes

COLORS = {1: (1, 2, 3), 2: (200, 100, 50), 3: (9, 80, 7)}
NAMES = {1: "nuclei", 2: "cytoplasm", 3: "stroma"}
CLASSES = ("nuclei", "cytoplasm", "stroma")
# two pixels without data: a whole row would be easy, a hole is not
HOLES = [(0, 0), (20, 31)]


@pytest.fixture(scope="session")
def tissue():
    return make_tissue_scene(48, 50, n_bands=12)


@pytest.fixture(scope="session")
def scene_folder(tmp_path_factory, tissue):
    """A folder with scene.hdr, which has wavelengths, a bad band and holes, and strokes.hdr."""
    folder = tmp_path_factory.mktemp("scene")
    cube = tissue.cube.astype(np.float32)
    for place in HOLES:
        cube[place] = -1
    metadata = {
        "wavelength": tissue.wavelengths.tolist(),
        "wavelength units": "nm",
        "bbl": [1] * 11 + [0],
        "data ignore value": -1,
        "map info": ["UTM", "1", "1", "500000", "4470000", "2", "2", "33", "North", "WGS-84"],
    }
    envi.save_image(str(folder / "scene.hdr"), cube, metadata=metadata)
    table = ClassTable.from_ids(NAMES, names=NAMES, colors=COLORS)
    write_class_map(folder / "strokes.hdr", tissue.labels, table)
    return folder


@pytest.fixture(scope="session")
def workspace(scene_folder):
    # a time that is given: the map of some labels is known as soon as it is shown
    settings = SceneSettings(components=6, label_mode="summed", tau=12)
    return SceneWorkspace.open(scene_folder / "scene.hdr", settings)


@pytest.fixture
def new_editor(workspace, tmp_path):
    """Open a session file; the same name continues the session."""
    with ExitStack() as logs:

        def made(name="session.jsonl"):
            log = logs.enter_context(closing(SessionLog(tmp_path / name)))
            if not log.is_begun:
                log.begin(session_header(workspace))
            return SessionEditor(workspace, log)

        yield made


@pytest.fixture
def editor(new_editor):
    return new_editor()


@pytest.fixture
def labelled(editor, tissue):
    """The editor of a session with three classes, a stroke each."""
    for operation in three_classes(tissue):
        editor.apply(operation)
    return editor


@pytest.fixture
def full_disk(monkeypatch):
    """A ``with`` block in which no line of a session file comes to the disk."""

    def full(descriptor):
        raise OSError(28, "No space left on device")

    @contextmanager
    def filled():
        with monkeypatch.context() as patch:
            patch.setattr(session_log.os, "fsync", full)
            yield

    return filled


def is_preparing(gate):
    """Return whether the server still opens the session: it answers 503 until then."""
    address = f"http://127.0.0.1:{gate.port}/download/none?token={gate.token}"
    host = {"Host": f"127.0.0.1:{gate.port}"}
    return httpx.get(address, headers=host, trust_env=False).status_code == 503


@contextmanager
def running(server_at, *, port=0, is_ready=lambda gate: True, **options):
    """Run the server at a gate in a thread of this process; yields server, gate and thread."""
    listening = bound_socket("127.0.0.1", port)
    gate = Gate("127.0.0.1", listening.getsockname()[1], **options)
    server = server_at(gate)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not (server.started and is_ready(gate)):
            assert thread.is_alive()
            time.sleep(0.01)
        yield server, gate, thread
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def serve():
    """Serve an editor from a thread of this process; returns the gate, made with the options."""
    with ExitStack() as servers:

        def served(editor, **options):
            server = running(
                lambda gate: SessionServer(lambda preparation: editor, gate),
                is_ready=lambda gate: not is_preparing(gate),
                **options,
            )
            return servers.enter_context(server)[1]

        yield served


@pytest.fixture
def gate(editor, serve):
    return serve(editor)


@pytest.fixture
def connect():
    """Open a WebSocket as the page does."""
    with ExitStack() as clients:
        yield lambda gate, **options: clients.enter_context(closing(PageClient(gate, **options)))


@pytest.fixture
def page(gate, connect):
    return connect(gate)


@pytest.fixture
def painter(page, tissue):
    """A page that has painted three classes and has their map."""
    for operation in three_classes(tissue):
        assert page.do(operation)["kind"] == "done"
    page.settled()
    return page


@pytest.fixture(scope="session")
def process_environment():
    """For separate processes, which are to share the machine."""
    return os.environ | {
        "NUMBA_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture
def relabel_in(tmp_path, process_environment):
    """Run ``diffclass relabel`` in a folder, with recent sessions of its own, and end it."""
    environment = process_environment | {"XDG_STATE_HOME": str(tmp_path / "state")}
    with ExitStack() as running:

        def started(folder, *words):
            process = Relabel(*words, cwd=folder, environment=environment)
            running.callback(process.end)
            return process

        yield started


@pytest.fixture(scope="module")
def browser():
    """A real browser; only while a module of page tests runs, because it keeps an event loop."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright for Python")
    with sync_api.sync_playwright() as playwright:
        try:
            launched = chromium(playwright)
        except FileNotFoundError as error:
            lacking(str(error))
        yield launched
        launched.close()


@pytest.fixture
def open_tab(browser):
    """Open the page of an address in a tab of its own."""
    with ExitStack() as tabs:
        yield lambda url, **options: tabs.enter_context(closing(Tab(browser, url, **options)))


@pytest.fixture
def blank(gate, open_tab):
    """A tab on a session without anything."""
    return open_tab(gate.url)


@pytest.fixture
def places(tissue):
    """Two pixels side by side well inside each class, twice."""

    def inside(class_id):
        mask = ndimage.minimum_filter(tissue.truth == class_id, (1, 4))
        rows, columns = np.nonzero(mask)
        chosen = [len(rows) // 8, 7 * len(rows) // 8]
        return [(int(rows[i]), int(columns[i])) for i in chosen]

    return {class_id: inside(class_id) for class_id in (1, 2, 3)}


@pytest.fixture
def painted_url(editor, serve, places):
    """The address of a session with three classes, two strokes each."""
    for name in CLASSES:
        editor.apply({"op": "add_class", "name": name})
    for class_id, seeds in places.items():
        for row, column in seeds:
            runs = [(row + k) * 50 + column - 1 for k in (-1, 0, 1)]
            pixels = [number for start in runs for number in (start, 4)]
            editor.apply({"op": "stroke", "class": class_id, "pixels": pixels})
    return serve(editor).url


@pytest.fixture
def tab(painted_url, open_tab):
    """A tab on the painted session, with its map."""
    tab = open_tab(painted_url)
    tab.idle()
    return tab
