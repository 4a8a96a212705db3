"""Opening the page in the user's browser, without its token in the list of processes.

The browser is given a file that only the user can read, which leads it to the page and is removed
as soon as the page was asked for.
"""

from __future__ import annotations

import html
import threading
import webbrowser
from pathlib import Path

from diffclass.temporary_folders import TemporaryFolder
from diffclass_relabel.files import make_private

_LONGEST = 60.0  # seconds until the browser has to have read the file

_TEMPLATE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>diffclass relabel</title>
<p>This leads to <a href="{url}">the page</a>.</p>
"""


class BrowserOpening:
    """Opens the page and cleans up after it.

    Parameters
    ----------
    folder : Path
        Where the file is put. Browsers in a sandbox see the user's folders, but not the system's
        temporary one.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._arrived = threading.Event()
        self._temporary: TemporaryFolder | None = None

    def open(self, url: str) -> None:
        """Open the page of an address.

        Raises
        ------
        OSError
            Where the file cannot be written.
        """
        text = _TEMPLATE.format(url=html.escape(url))
        self._temporary = TemporaryFolder("relabel-opening", parent=self._folder)
        file = self._temporary.path / "page.html"
        make_private(file, text)
        # some browsers block until they are closed
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()

    def arrived(self) -> None:
        """Take note that the page was asked for."""
        self._arrived.set()

    def close(self) -> None:
        """Remove the file with its folder, if they are still there."""
        self._arrived.set()
        if self._temporary is not None:
            self._temporary.remove()

    def _wait(self) -> None:
        self._arrived.wait(_LONGEST)
        self.close()
