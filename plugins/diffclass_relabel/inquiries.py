"""The questions that only look: at a pixel, the strokes, the scene or the times.

Those that change what is shown, or write files, are answered by `diffclass_relabel.hub`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from diffclass_relabel import answers, protocol
from diffclass_relabel.editor import SessionEditor
from diffclass_relabel.shown import ShownLabels
from diffclass_relabel.spectra import class_means, spectrum_at
from diffclass_relabel.workers import Workers


class Inquiries:
    """Answers questions about a session, each on the thread that it needs.

    Parameters
    ----------
    editor : SessionEditor
    workers : Workers
    """

    def __init__(self, editor: SessionEditor, workers: Workers):
        self._editor = editor
        self._workers = workers
        self._means: tuple[int, dict[int, protocol.Spectrum]] = (-1, {})

    async def answer(self, ask: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a question of `ANSWERS` from its checked fields."""
        return await self.ANSWERS[ask](self, **fields)

    async def _spectrum(self, pixel: int) -> protocol.SpectrumAnswer:
        workspace, labels = self._editor.workspace, self._editor.labels
        pixel = workspace.pixel_within(pixel)
        values = await self._workers.read(spectrum_at, workspace.scene, pixel)
        means = await self._workers.read(self._class_means, labels)
        listed: list[protocol.ClassMean] = [{"class": i, "values": m} for i, m in means.items()]
        return {"pixel": pixel, "values": values, "means": listed}

    def _class_means(self, labels: ShownLabels) -> dict[int, protocol.Spectrum]:
        if self._means[0] != labels.version:
            means = class_means(self._editor.workspace.scene, labels.ids)
            self._means = (labels.version, means)
        return self._means[1]

    async def _why(self, pixel: int) -> protocol.WhyAnswer:
        return await self._workers.at_desk(answers.why, self._editor, pixel)

    async def _audit(self) -> protocol.AuditAnswer:
        return await self._workers.at_desk(answers.audit, self._editor)

    async def _suggest(self, n: int = 10, rule: str = "hybrid") -> protocol.SuggestAnswer:
        return await self._workers.at_desk(answers.suggestions, self._editor, n, rule)

    async def _curve(self) -> protocol.CurveAnswer:
        return await self._workers.at_desk(answers.curve, self._editor)

    async def _segment(self, pixel: int) -> protocol.SegmentAnswer:
        workspace, shown = self._editor.workspace, self._editor.map
        return await self._workers.read(answers.segment, workspace, shown, pixel)

    # each takes the fields of the question of that name
    ANSWERS: ClassVar[dict[str, Callable[..., Awaitable[Mapping[str, Any]]]]] = {
        "spectrum": _spectrum,
        "why": _why,
        "audit": _audit,
        "suggest": _suggest,
        "curve": _curve,
        "segment": _segment,
    }
