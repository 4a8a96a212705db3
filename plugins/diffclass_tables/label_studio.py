"""A machine-learning backend of Label Studio: rows labelled there diffuse over a table.

    python -m diffclass_tables.label_studio TABLE [--field NAME] [--port 9090]

Connect it to a project with ``Choices`` in the settings, under Model, as http://localhost:9090. The
data of each task name their row by a field, "id" by default: the id of the table, or its number
from 0. Labels arrive by webhooks as they are given; every answer is the class of the row with its
probability. Ten rows that stand for many others in doubt have the lowest scores, so that Label
Studio asks for them first where it sorts tasks by uncertainty.

Source: HumanSignal, label-studio-ml-backend (label_studio_ml/api.py): /health, /setup, /predict,
/webhook.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from diffclass import DiffusionClassifier
from diffclass.exceptions import DataError
from diffclass.jobs import suggest_next, suggest_points
from diffclass.system.libraries import require
from diffclass_tables.io import open_table
from diffclass_tables.rows import Rows

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_N_FIRST = 10
_LARGEST = 2**20  # characters of a labelling configuration
_LABELLED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")


class Backend:
    """Rows, the labels that have arrived, and what follows from them.

    ``field`` of a task's data is the id of its row, or its number from 0.
    """

    def __init__(self, rows: Rows, field: str = "id"):
        self.rows, self.field = rows, field
        self.labels = np.full(rows.table.n_rows, None, dtype=object)
        self.names = ("choice", "item")  # of Choices, and of what they are about
        self._given: dict[tuple[Any, int], str | None] = {}  # of each annotation and its row
        self._n_changes = 0
        self._model: DiffusionClassifier | None = None
        self._graph: Any = None  # of the rows, once it is built
        self._first: dict[int, int] = {}
        self._is_stale = True

    @property
    def version(self) -> str:
        """Changes with each label that does."""
        return f"diffclass-{self._n_changes}"

    def setup(self, schema: str) -> None:
        """Take the names that results have to have from a labelling configuration."""
        if len(schema) > _LARGEST:
            raise DataError("the labelling configuration is too long")
        try:
            found = ElementTree.fromstring(schema or "<View/>").find(".//Choices")
        except ElementTree.ParseError as error:
            raise DataError(f"the labelling configuration is no XML ({error})") from None
        if found is None:
            raise DataError("the labelling configuration has no Choices; rows have one class each")
        self.names = found.get("name", self.names[0]), found.get("toName", self.names[1])

    def hear(self, event: str, data: dict[str, Any]) -> bool:
        """Take labels over, or away, from a webhook; say whether any was of a row.

        A row has the label of its newest annotation. Of those that are deleted only ids come.
        """
        if event == "ANNOTATIONS_DELETED":
            gone = {one.get("id") for one in _listed(data.get("annotations"))}
            told = {key: one for key, one in self._given.items() if key[0] in gone}
            self._given = {key: one for key, one in self._given.items() if key not in told}
        elif event in _LABELLED:
            annotations, tasks = _listed(data.get("annotation")), _listed(data.get("task"))
            by_id = {task.get("id"): task for task in tasks}
            only = tasks[0] if len(tasks) == 1 else {}
            about = [by_id.get(one.get("task"), only) for one in annotations]
            told = {
                (one.get("id"), row): _choice(one)
                for one, row in zip(annotations, self._rows(about), strict=True)
                if row is not None
            }
            self._given = {key: one for key, one in self._given.items() if key not in told} | told
        else:
            return False
        for row in {row for _, row in told}:
            self._label(row)
        return bool(told)

    def _label(self, row: int) -> None:
        given = [label for (_, of_row), label in self._given.items() if of_row == row]
        label = given[-1] if given else None
        if label != self.labels[row]:
            self.labels[row], self._is_stale = label, True
            self._n_changes += 1

    def predict(self, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a result for each task; an empty one where nothing is known."""
        if self._is_stale:
            self._fit()
        return [self._result(row) for row in self._rows(tasks)]

    def _fit(self) -> None:
        self._is_stale, given = False, self.labels[self.rows.valid]
        is_enough = len({label for label in given if label is not None}) > 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of points that few labels do not reach yet
            if is_enough:
                model = DiffusionClassifier(random_state=0, affinity=self.rows.affinity)
                self._model = model.fit(self.rows.points, given, graph=self._graph)
                self._graph = model.graph_
                is_labelled = np.array([label is not None for label in given])
                found = suggest_next(self.rows, model, is_labelled, _N_FIRST)
            else:
                self._model = None
                found = suggest_points(self.rows, n_points=_N_FIRST)
        ids = self.rows.table.rows_called(one.point["id"] for one in found.suggestions)
        self._first = {row: rank for rank, row in enumerate(ids)}
        self._places = np.cumsum(self.rows.valid) - 1

    def _rows(self, tasks: list[dict[str, Any]]) -> list[int | None]:
        ids = [str((task.get("data") or {}).get(self.field)) for task in tasks]
        return [None if row < 0 else row for row in self.rows.table.rows_called(ids)]

    def _result(self, row: int | None) -> dict[str, Any]:
        empty: dict[str, Any] = {"result": [], "score": 0.0, "model_version": self.version}
        if row is None or not self.rows.valid[row]:
            return empty
        first = self._first.get(row)
        if self._model is None:
            return empty | {"score": 1.0 if first is None else 1e-6 * first}
        place, model = self._places[row], self._model
        code = int(model.diffusion_.codes[place])
        if code < 0:
            return empty
        name, about = self.names
        chosen = {
            "from_name": name,
            "to_name": about,
            "type": "choices",
            "value": {"choices": [str(model.classes_[code])]},
            "score": float(model.label_distributions_[place, code]),
        }
        score = float(model.margin_[place]) if first is None else 1e-6 * first
        return {"result": [chosen], "score": score, "model_version": self.version}


def _listed(given: Any) -> list[dict[str, Any]]:
    """Return one thing, or a list of them, as a list."""
    return given if isinstance(given, list) else [given] if given else []


def _choice(annotation: dict[str, Any]) -> str | None:
    if annotation.get("was_cancelled"):  # skipped
        return None
    for part in annotation.get("result") or []:
        choices = (part.get("value") or {}).get("choices")
        if choices:
            return str(choices[0])
    return None


def application(backend: Backend) -> Starlette:
    """Return the backend as a web application."""
    starlette = require("starlette.applications", extra="relabel")
    responses = require("starlette.responses", extra="relabel")
    Route = require("starlette.routing", extra="relabel").Route

    async def health(_: Request) -> Response:
        return responses.JSONResponse({"status": "UP", "model_class": "diffclass"})

    async def setup(request: Request) -> Response:
        backend.setup(str((await request.json()).get("schema") or ""))
        return responses.JSONResponse({"model_version": backend.version})

    async def predict(request: Request) -> Response:
        data = await request.json()
        if data.get("label_config"):
            backend.setup(data["label_config"])
        answers = {"results": backend.predict(data.get("tasks") or [])}
        return responses.JSONResponse(answers | {"model_version": backend.version})

    async def webhook(request: Request) -> Response:
        data = await request.json()
        has_changed = backend.hear(str(data.get("action")), data)
        return responses.JSONResponse({"changed": has_changed}, status_code=201)

    async def refused(_: Request, error: Exception) -> Response:
        return responses.JSONResponse({"error": str(error)}, status_code=400)

    routes = [Route("/", health), Route("/health", health)]
    routes += [
        Route(f"/{work.__name__}", work, methods=["POST"]) for work in (setup, predict, webhook)
    ]
    handlers = dict.fromkeys((DataError, json.JSONDecodeError), refused)
    return starlette.Starlette(routes=routes, exception_handlers=handlers)


def main() -> None:
    """Serve a table on this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--field", default="id")
    parser.add_argument("--port", type=int, default=9090)
    given = parser.parse_args()
    backend = Backend(Rows(open_table(given.table)), given.field)
    require("uvicorn", extra="relabel").run(application(backend), host="127.0.0.1", port=given.port)


if __name__ == "__main__":
    main()
