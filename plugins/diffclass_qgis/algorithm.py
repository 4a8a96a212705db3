"""One class for all algorithms: values from QGIS, the command, results back."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from typing import Any

from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
    QgsProcessingUtils,
)

from diffclass_qgis.command_line import (
    ProgramNotFoundError,
    check_alternatives,
    command_line,
    outside_qgis,
)
from diffclass_qgis.descriptions import Algorithm
from diffclass_qgis.parameters import Source, qgis_parameter, value_of
from diffclass_qgis.running import Progress, parsed, run
from diffclass_qgis.styles import write_style

_BOUND_MISSED = 4  # the command's exit code: the result is there, with a reservation


class DiffclassAlgorithm(QgsProcessingAlgorithm):
    """An algorithm of the table; ``program`` returns the path of ``diffclass``."""

    def __init__(self, description: Algorithm, program: Callable[[], str]):
        super().__init__()
        self._description = description
        self._program = program

    def createInstance(self) -> DiffclassAlgorithm:  # noqa: N802
        """Return another of its kind."""
        return DiffclassAlgorithm(self._description, self._program)

    def name(self) -> str:
        """Return the second part of the algorithm's id."""
        return self._description.id

    def displayName(self) -> str:  # noqa: N802
        """Return what the toolbox shows."""
        return self._description.title

    def shortHelpString(self) -> str:  # noqa: N802
        """Return the text of the dialog's help panel."""
        return self._description.help

    def initAlgorithm(self, configuration: dict[str, Any] | None = None) -> None:  # noqa: N802
        """Add parameters, and the numbers among the results."""
        for parameter in self._description.parameters:
            self.addParameter(qgis_parameter(parameter))
        for key, label in self._description.figures:
            self.addOutput(QgsProcessingOutputNumber(_figure_name(key), label))

    def canExecute(self) -> tuple[bool, str]:  # noqa: N802
        """Return whether the program is there, and what to do if not."""
        try:
            self._program()
        except ProgramNotFoundError as error:
            return False, str(error)
        return True, ""

    def checkParameterValues(  # noqa: N802
        self, parameters: dict[str, Any], context: QgsProcessingContext
    ) -> tuple[bool, str]:
        """Return whether the values are valid, and what is wrong with them."""
        try:
            check_alternatives(self._description, parameters)
        except ValueError as error:
            return False, str(error)
        return super().checkParameterValues(parameters, context)

    def processAlgorithm(  # noqa: N802
        self,
        parameters: dict[str, Any],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> dict[str, Any]:
        """Run the command, and return outputs and numbers."""
        source = Source(self, parameters, context, feedback)
        values = {one.name: value_of(one, source) for one in self._description.parameters}
        outputs = {
            one.name: values[one.name]
            for one in self._description.parameters
            if one.is_output and values[one.name]
        }
        if self._description.figures:
            values["REPORT"] = values["REPORT"] or QgsProcessingUtils.generateTempFilename("r.json")
        if not self._run(values, feedback):
            return {}
        for name, path in outputs.items():
            write_style(path, self._description.parameter(name).style)
        return {**outputs, **self._figures(values.get("REPORT"))}

    def _run(self, values: dict[str, Any], feedback: QgsProcessingFeedback) -> bool:
        """Run the command; return whether it came to its end."""
        progress = Progress(self._description.stages)
        errors: list[str] = []
        last: list[str] = []

        def hear(line: str) -> None:
            message = parsed(line)
            text = progress.hear(message)
            feedback.setProgress(progress.percent)
            if text:
                feedback.setProgressText(text)
            elif message["type"] == "error":
                errors.append(message["text"])
            elif message["type"] == "warning":
                feedback.pushWarning(message["text"])
            elif message["type"] == "message":
                last[:] = [message["text"]]
                feedback.pushInfo(message["text"])

        try:
            command = command_line(self._program(), self._description, values)
            feedback.pushCommandInfo(shlex.join(command))
            code = run(
                command,
                outside_qgis(os.environ),
                result=feedback.pushInfo,
                message=hear,
                is_cancelled=feedback.isCanceled,
            )
        except (ProgramNotFoundError, OSError, ValueError) as error:
            raise QgsProcessingException(str(error)) from error
        if code == _BOUND_MISSED:
            feedback.pushWarning("Finished, but a stated bound was missed; see the report above.")
        elif errors:
            raise QgsProcessingException(errors[-1])
        elif code:
            said = last[-1] if last else "without a word"
            raise QgsProcessingException(f"diffclass ended with exit code {code}: {said}")
        return code is not None

    def _figures(self, report: str | None) -> dict[str, float]:
        """Return the numbers of the report that are results; those that it lacks are left out."""
        if not self._description.figures or report is None:
            return {}
        with open(report, encoding="utf-8") as stream:
            content = json.load(stream)
        found = {}
        for key, _ in self._description.figures:
            value = content
            for part in key.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if isinstance(value, (int, float)):
                found[_figure_name(key)] = value
        return found


def _figure_name(key: str) -> str:
    return key.rpartition(".")[2].upper()
