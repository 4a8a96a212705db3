"""Answers to the queries that only look: at a pixel, the strokes, the scene or the times.

They are computed in the background; the map waits for none of them.

Those that change what is shown, or write files, are answered by
`diffclass_relabel.hub.session_hub`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from diffclass.exceptions import CancelledError
from diffclass_relabel import protocol
from diffclass_relabel.door import Client
from diffclass_relabel.hub.workers import Workers
from diffclass_relabel.maps import ShownLabels
from diffclass_relabel.queries import Numbers, Pictures, answers, class_spectra, spectrum_at
from diffclass_relabel.session import SessionEditor


class Queries:
    """Answers questions about a session, each on the thread that it needs.

    Parameters
    ----------
    editor : SessionEditor
    workers : Workers
    pictures : Pictures

    Attributes
    ----------
    numbers : Numbers
        To be told of every new map.
    """

    def __init__(self, editor: SessionEditor, workers: Workers, pictures: Pictures):
        self._editor = editor
        self._pictures = pictures
        self._workers = workers
        self.numbers = Numbers(editor)
        self._is_preparing = False
        self._spectra: protocol.ClassSpectraAnswer | None = None

    async def answer(
        self, client: Client, ask: str, fields: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Answer a question of `ANSWERS` from its checked fields.

        Raises
        ------
        CancelledError
            Where the client has asked the same anew, or has left.
        """
        return await self.ANSWERS[ask](self, client, **fields)

    def forget(self, client: Client) -> None:
        """Give up what a client has asked."""
        for ask in self.ANSWERS:
            self._workers.give_up((client, ask))

    async def prepare(self) -> None:
        """Compute what suggestions need while nobody has asked for them yet."""
        if self._is_preparing:
            return
        self._is_preparing = True
        try:
            await self._workers.answer_slow("prepare", self._editor.session.prepare_suggestions)
        except CancelledError:
            return
        finally:
            self._is_preparing = False

    async def refine(self) -> None:
        """Choose the time of the present labels' map.

        Raises
        ------
        CancelledError
            Where it was cancelled: labels have changed, or the server ends.
        """
        await self._workers.refine("refine", self._editor.session.refine)

    def give_up_refining(self) -> None:
        """Leave the time open: labels have changed."""
        self._workers.give_up("refine")

    async def _spectrum(self, client: Client, pixel: int) -> protocol.SpectrumAnswer:
        workspace = self._editor.workspace
        pixel = workspace.pixel_within(pixel)
        values = await self._workers.read_scene(spectrum_at, workspace.scene, pixel)
        return {"pixel": pixel, "values": values}

    async def _class_spectra(self, client: Client) -> protocol.ClassSpectraAnswer:
        return await self._workers.read_scene(self._spectra_of, self._editor.labels)

    def _spectra_of(self, labels: ShownLabels) -> protocol.ClassSpectraAnswer:
        if self._spectra is None or self._spectra["version"] != labels.version:
            found = class_spectra(self._editor.workspace.scene, labels.ids)
            self._spectra = {"version": labels.version, "classes": found}
        return self._spectra

    async def _histograms(
        self, client: Client, preset: str = "true", bands: str | None = None
    ) -> protocol.HistogramsAnswer:
        channels = await self._workers.read_scene(self._pictures.histograms, preset, bands)
        return {"channels": channels}

    async def _why(self, client: Client, pixel: int) -> protocol.WhyAnswer:
        return await self._workers.answer_quick((client, "why"), answers.why, self._editor, pixel)

    async def _audit(self, client: Client) -> protocol.AuditAnswer:
        return await self._workers.answer_quick((client, "audit"), answers.audit, self._editor)

    async def _suggest(
        self, client: Client, n: int = 10, rule: str = "hybrid"
    ) -> protocol.SuggestAnswer:
        key = client, "suggest"
        return await self._workers.answer_slow(key, answers.suggestions, self._editor, n, rule)

    async def _curve(self, client: Client) -> protocol.CurveAnswer:
        return await self._workers.answer_slow((client, "curve"), answers.curve, self._editor)

    async def _segment(self, client: Client, pixel: int) -> protocol.SegmentAnswer:
        workspace, shown = self._editor.workspace, self._editor.map
        return await self._workers.read_scene(answers.segment, workspace, shown, pixel)

    async def _read_labels(self, client: Client, **given: Any) -> protocol.ReadLabelsAnswer:
        read = partial(answers.labels_of_file, self._editor, **given)
        return await self._workers.answer_quick((client, "read_labels"), read)

    async def _numbers(self, client: Client, by: str | None = None) -> protocol.NumbersAnswer:
        return await self._workers.answer_quick((client, "numbers"), self.numbers.answer, by)

    async def _history(self, client: Client) -> protocol.HistoryAnswer:
        return await self._workers.read_scene(self._editor.history)

    # each takes the fields of the question of that name
    ANSWERS: ClassVar[dict[str, Callable[..., Awaitable[Mapping[str, Any]]]]] = {
        "spectrum": _spectrum,
        "class_spectra": _class_spectra,
        "histograms": _histograms,
        "why": _why,
        "audit": _audit,
        "suggest": _suggest,
        "curve": _curve,
        "segment": _segment,
        "read_labels": _read_labels,
        "numbers": _numbers,
        "history": _history,
    }
