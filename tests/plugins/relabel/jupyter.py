"""A real JupyterLab, and the page in one of its notebooks."""

from __future__ import annotations

import http.cookiejar
import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress

from experiments.relabel.driver.browser import PATIENCE, Tab

from .browser import lacking
from .proxies import free_port

STARTING = 120  # seconds, for the server and for the first kernel
TOKEN = "secret"


class Lab:
    """A JupyterLab that shows a folder.

    Parameters
    ----------
    folder : Path
    private : Path
        For what it keeps for its user.
    environment : dict
    """

    def __init__(self, folder, private, environment):
        for module in ("jupyterlab", "anywidget", "jupyter_server_proxy"):
            if importlib.util.find_spec(module) is None:
                lacking(f"no {module}; pip install jupyterlab anywidget jupyter-server-proxy")
        self.port = free_port()
        places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.root_dir": folder,
            "IdentityProvider.token": TOKEN,
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        }
        settings = private / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
        own = {place: str(private / place.lower()) for place in places}
        own["JUPYTERLAB_SETTINGS_DIR"] = str(private / "settings")
        options["ServerApp.jpserver_extensions"] = "jupyter_server_proxy=True"
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        self._process = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment | own,
        )
        self._wait()

    def close(self):
        self._process.terminate()
        self._process.wait(STARTING)

    def address(self, notebook):
        return f"http://127.0.0.1:{self.port}/lab/tree/{notebook}?token={TOKEN}"

    def logged_in(self):
        """Return what a browser holds that has logged in, as Playwright takes it."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        opener.open(f"http://127.0.0.1:{self.port}/lab?token={TOKEN}").close()
        place = {"domain": "127.0.0.1", "path": "/"}
        return {"cookies": [place | {"name": one.name, "value": one.value} for one in jar]}

    def _wait(self):
        end = time.monotonic() + STARTING
        while time.monotonic() < end:
            assert self._process.poll() is None, "JupyterLab ended"
            with suppress(urllib.error.URLError, OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api?token={TOKEN}").close()
                return
            time.sleep(0.1)
        raise AssertionError("JupyterLab does not answer")


def write_notebook(path, *cells):
    """Write a notebook of code cells."""
    content = {
        "cells": [
            {"cell_type": "code", "id": f"cell-{i}", "source": text, "metadata": {}, "outputs": [],
             "execution_count": None}
            for i, text in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    path.write_text(json.dumps(content))


class FramedTab(Tab):
    """A page in a frame: what a `Tab` does to it goes to `frame`, whose element is `handle`."""

    def js(self, code, argument=None):
        return self.frame.evaluate(code, argument)

    def find(self, selector, **options):
        return self.frame.locator(selector, **options)

    def at(self, row, column):
        box = self.handle.bounding_box()
        x, y = super().at(row, column)
        return box["x"] + x, box["y"] + y


class NotebookTab(FramedTab):
    """A notebook in JupyterLab; what a `Tab` does to the page goes to the frame in it."""

    def open(self, url):
        self.page = self.context.new_page()
        self.page.goto(url)
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=1000 * STARTING)
        # a cell that is run before there is a kernel is not run at all
        self.page.wait_for_selector(
            ".jp-StatusBar-TextItem:has-text('| Idle')", timeout=1000 * STARTING
        )
        self.page.locator(".jp-CodeCell").first.locator(".cm-content").click()
        return self.page

    def run_cell(self, *, patience=PATIENCE):
        """Run the cell with the cursor, go on to the next, and wait until the kernel is idle."""
        before = self.page.locator(".jp-InputPrompt", has_text="[").all_inner_texts()
        self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(
            """before => {
                const prompts = [...document.querySelectorAll(".jp-InputPrompt")];
                return prompts.filter(({ innerText }) => /[0-9]/.test(innerText)).length > before;
            }""",
            arg=sum(any(map(str.isdigit, text)) for text in before),
            timeout=patience,
        )

    def enter_frame(self):
        """Wait for the page in the output of a cell."""
        selector = "iframe[title='diffclass relabel']"
        handle = self.page.wait_for_selector(selector, timeout=1000 * STARTING)
        handle.scroll_into_view_if_needed()
        self.frame = handle.content_frame()
        self.handle = handle
        condition = "() => window.diffclass?.connection === 'open' && diffclass.state"
        self.frame.wait_for_function(condition, timeout=1000 * STARTING)

    def wait(self, condition):
        self.frame.wait_for_function(f"() => {condition}", polling=10)


def kernel_environment(environment):
    """Return the environment of a kernel that finds this project where the tests have found it."""
    return environment | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
