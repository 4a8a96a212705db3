"""The page in a notebook: JupyterLab, VS Code, Colab.

It is the server's page, in a frame. Its messages take the notebook's own channel, so that no port
is open: access to the notebook is access to the page.
"""

from __future__ import annotations

import base64
import html
import io
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diffclass.command_line import is_of_kind, taken
from diffclass.exceptions import DataError, ParameterError
from diffclass.relabel import RelabelSession
from diffclass.system.progress import listening
from diffclass_hyperspectral.io.file_names import joint_name
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.notebook.pages import SessionThread
from diffclass_relabel.opening import Preparation, default_session, prepared_editor
from diffclass_relabel.options import Matching, checked_settings
from diffclass_relabel.session_file import SessionLog

if TYPE_CHECKING:
    from diffclass_relabel.session import SessionEditor

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ParameterError(
        f"a notebook's page needs the library anywidget, which cannot be imported ({error}); "
        "run: pip install 'diffclass[notebook]'"
    ) from error

_STATIC = Path(__file__).parents[1] / "static"
_LARGEST_STILL = 320  # pixels
_ELSEWHERE = (
    '<p style="font: 14px system-ui; color: #777">{name} is open in another cell now. '
    "Run this cell again to go on here.</p>"
)
_OPEN: weakref.WeakValueDictionary[Path, RelabelWidget] = weakref.WeakValueDictionary()


class RelabelWidget(anywidget.AnyWidget):
    """Label a scene or a table in a notebook; the classes follow, and both are here in Python.

    The cell returns at once and the page shows how far the scene is prepared. Every operation is on
    disk before it is answered: the same call continues the session, and ``diffclass replay`` and
    ``diffclass relabel`` read its file.

    Parameters
    ----------
    scene : path-like or sequence of them
        As for `diffclass_hyperspectral.open_scene`; several share one graph and one page. Or a
        table, as for `diffclass_tables.open_table`.
    session : path-like, optional
        Session file; by default as for ``diffclass relabel``. A widget that has it open gives it
        up and says so.
    labels : path-like, optional
        Labels that a new session begins with, or that are added to one that exists.
    label_variable : str, optional
        Array to take from a label file with several.
    match : {"names", "ids", "overlap"}, optional
        How classes of these labels are matched with those of a session that exists; as ``--match``
        of ``diffclass relabel``.
    height : int, default=720
        Of the page, pixels.
    **settings
        Fields of `SceneSettings` or `TableSettings`, for a new session.

    Raises
    ------
    ParameterError
        Where there can be no such session file, or a setting is one that the command refuses.
    DataError
        Where there is no such scene, or the session is open in another process. What else is wrong
        with them is shown on the page and raised by `labels`, `class_map` and `session`.

    Notes
    -----
    While another cell runs, the page waits in notebooks that deliver messages one after the other.
    """

    _esm = _STATIC / "widget.js"
    _page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(720, min=200).tag(sync=True)

    def __init__(
        self,
        scene: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        session: str | os.PathLike[str] | None = None,
        labels: str | os.PathLike[str] | None = None,
        label_variable: str | None = None,
        match: str | None = None,
        height: int = 720,
        **settings: Any,
    ):
        self._thread: SessionThread | None = None
        places = _places_of(scene)
        if not places:
            raise ParameterError("no scene is given; name one or more files")
        for place in places:
            if not place.exists():
                raise DataError(
                    f"{place}: no such scene; an array is one once numpy.save has kept it"
                )
        asked = checked_settings("table" if is_of_kind("table", places[0]) else "scene", settings)
        files = {"labels": labels, "label_variable": label_variable}
        files |= {"match": taken(Matching, {"match": match}).get("match")}
        path = default_session(places) if session is None else Path(session)
        super().__init__(height=height, _page=page_text())
        self._caption = _Caption(path.name)
        log = _opened_log(path)  # last of what may fail: it locks the session
        options = {"settings": asked, **files}

        def opening(preparation: Preparation) -> Any:
            try:
                with listening(preparation):
                    return prepared_editor(places, log, preparation, options)
            except BaseException:
                log.close()  # or the next try would find it open
                raise

        self._thread = SessionThread(opening, self._post, scene=joint_name(places))
        self._thread.watch(self._caption.draw)
        self.on_msg(self._take)
        _OPEN[log.path.resolve()] = self

    @property
    def labels(self) -> np.ndarray:
        """Class id of every labelled pixel, shape (rows, columns), int32; 0 elsewhere.

        Of a table: of every row, shape (n_rows,).
        """
        editor = self._running.editor()
        return editor.workspace.by_point(editor.labels.ids.astype(np.int32))

    @property
    def class_map(self) -> np.ndarray:
        """Class id of every pixel, shape (rows, columns), int32, brought up to date and refined.

        0 where no label arrives or there are no data. Of a table: of every row, shape (n_rows,).
        """
        editor = self._running.updated()
        assert editor.map is not None
        ids = editor.map.ids
        return editor.workspace.by_point(np.where(ids == NO_DATA, 0, ids).astype(np.int32))

    @property
    def session(self) -> RelabelSession:
        """The session: classes, strokes, tau, posteriors; only to be read."""
        return self._running.updated().session

    def close(self) -> None:
        """Close the session and the page."""
        if self._thread is not None:
            self._thread.close()
        super().close()

    def _give_up(self) -> None:
        """Close the session, which another cell has now, and say so on the page."""
        if self._thread is not None:
            self._thread.close()
        self._page = _ELSEWHERE.format(name=html.escape(self._caption.name))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self._caption.show()
        return super()._repr_mimebundle_(**options)

    @property
    def _running(self) -> SessionThread:
        if self._thread is None:
            raise DataError("the session was never opened")
        return self._thread

    def _post(self, message: Any, buffers: Any) -> None:
        self.send(dict(message), list(buffers))

    def _take(self, _: Any, message: Any, buffers: Any) -> None:
        self._running.take(message)


def page_text() -> str:
    """Return the page with its style and script within, as a frame takes it."""
    page, style, script = (
        (_STATIC / name).read_text(encoding="utf-8")
        for name in ("index.html", "style.css", "app.js")
    )
    link = '<link rel="stylesheet" href="static/style.css">'
    page = page.replace(link, f"<style>\n{style}</style>")
    tag = '<script src="static/app.js" defer></script>'
    # a deferred script runs when the document is there, as does one at its end
    page = page.replace(tag, "").replace("</body>", f"<script>\n{script}</script>\n</body>")
    return page


def _opened_log(path: Path) -> SessionLog:
    """Open a session file; a widget that has it open gives it up, as when a cell is run again."""
    before = _OPEN.pop(path.resolve(), None)
    if before is not None:
        before._give_up()
    return SessionLog(path)


def _places_of(scene: Any) -> list[Path]:
    """Return the files of scenes; `ParameterError` for what is none."""
    try:
        return list(map(Path, [scene] if isinstance(scene, str | os.PathLike) else scene))
    except TypeError:
        raise ParameterError(
            f"scene is of type {type(scene).__name__}; a session has to find its scene again: "
            "keep it in a file, as with numpy.save, and give that"
        ) from None


class _Caption:
    """The session's name and its last map above the page: what is left of it without a kernel."""

    def __init__(self, name: str):
        self.name = name
        self._map = ""
        self._handle: Any = None

    def show(self) -> None:
        """Display it above what is displayed next."""
        from IPython.core.getipython import get_ipython
        from IPython.display import HTML, display

        if getattr(get_ipython(), "kernel", None) is not None:
            self._handle = display(HTML(self._html), display_id=True)

    def draw(self, editor: SessionEditor) -> None:
        """Show the map of now."""
        from IPython.display import HTML

        self._map = _picture(editor)
        if self._handle is not None:
            self._handle.update(HTML(self._html))

    @property
    def _html(self) -> str:
        name = html.escape(self.name)
        picture = f'<img alt="The last map" src="{self._map}">' if self._map else ""
        return f"<details><summary>{name}</summary>{picture}</details>"


def _picture(editor: SessionEditor) -> str:
    """Return a small picture of the map as an address."""
    from PIL import Image

    ids = editor.map.ids if editor.map is not None else np.zeros((1, 1), np.uint8)
    step = max(1, -(-max(ids.shape) // _LARGEST_STILL))
    image = Image.fromarray(np.ascontiguousarray(ids[::step, ::step]))
    colors = np.zeros((256, 3), np.uint8)
    for info in editor.session.classes:
        colors[info.id] = [int(info.color[k : k + 2], 16) for k in (1, 3, 5)]
    image.putpalette(colors.ravel().tolist())
    times = max(1, _LARGEST_STILL // max(image.size))
    image = image.resize((times * image.width, times * image.height), Image.Resampling.NEAREST)
    content = io.BytesIO()
    image.save(content, format="PNG")
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
