"""Answers to the queries that only look: at a pixel, the strokes, the scene or the times.

They are computed in the background; the map waits for none of them. Queries that change what is
shown, or write files, are answered by `diffclass_relabel.session_hub.hub`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import partial
from typing import Any

from diffclass_relabel.access import Client
from diffclass_relabel.protocol import ClassSpectraAnswer, SpectrumAnswer
from diffclass_relabel.queries import Numbers, Pictures, answers, class_spectra, spectrum_at
from diffclass_relabel.session import SessionEditor
from diffclass_relabel.session_hub.workers import Workers

Answer = Mapping[str, Any]
Run = Callable[[Hashable, Callable[[], Answer]], Awaitable[Answer]]


class Queries:
    """Answers questions about a session, each on the thread that it needs."""

    def __init__(self, editor: SessionEditor, workers: Workers, pictures: Pictures):
        self._editor = editor
        self._workers = workers
        self._spectra: ClassSpectraAnswer | None = None
        self.numbers = Numbers(editor)  # to be told of every new map
        read, quick, slow = self._read, workers.answer_quick, workers.answer_slow
        # by the name of the question: what runs it, and what takes its fields
        self.answers: dict[str, tuple[Run, Callable[..., Answer]]] = {
            "spectrum": (read, self._spectrum),
            "class_spectra": (read, self._class_spectra),
            "histograms": (read, lambda **given: {"channels": pictures.histograms(**given)}),
            "rows": (read, lambda pixels: answers.rows_at(editor, pixels)),
            "segment": (read, lambda pixel: answers.segment(editor, pixel)),
            "history": (read, editor.history),
            "why": (self._on_graph, lambda pixel: answers.why(editor, pixel)),
            "audit": (self._on_graph, lambda: answers.audit(editor)),
            "read_labels": (quick, lambda **given: answers.labels_of_file(editor, **given)),
            "numbers": (self._on_graph, self.numbers.answer),
            "suggest": (slow, lambda **given: answers.suggestions(editor, **given)),
            "curve": (slow, lambda: answers.curve(editor)),
        }

    async def answer(self, client: Client, ask: str, fields: Mapping[str, Any]) -> Answer:
        """Answer a question; `CancelledError` where its client asks it anew, or has left."""
        run, function = self.answers[ask]
        return await run((client, ask), partial(function, **fields))

    async def _read(self, key: Hashable, function: Callable[[], Answer]) -> Answer:
        """Run what reads the scene; it is never cancelled, so that the key does not matter."""
        return await self._workers.read_scene(function)

    async def _on_graph(self, key: Hashable, function: Callable[[], Answer]) -> Answer:
        """Run what takes a moment once there is a graph."""
        # waiting for the graph in the thread itself would hold up all other quick answers
        waiting = asyncio.wrap_future(self._editor.workspace.graph)
        await asyncio.wait([waiting])
        waiting.exception()  # the function raises it
        return await self._workers.answer_quick(key, function)

    def _spectrum(self, pixel: int) -> SpectrumAnswer:
        workspace = self._editor.workspace
        pixel = workspace.pixel_within(pixel)
        return {"pixel": pixel, "values": spectrum_at(workspace.scene, pixel)}

    def _class_spectra(self) -> ClassSpectraAnswer:
        labels = self._editor.labels
        if self._spectra is None or self._spectra["version"] != labels.version:
            found = class_spectra(self._editor.workspace.scene, labels.ids)
            self._spectra = {"version": labels.version, "classes": found}
        return self._spectra
