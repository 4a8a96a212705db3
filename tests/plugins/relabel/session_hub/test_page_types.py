"""The page's types are those of the server, and every operation and query can be done."""

from __future__ import annotations

from msgspec.structs import fields

from diffclass.exceptions import ParameterError
from diffclass.relabel import OPERATIONS, purpose_of
from diffclass_relabel.queries.exports import DEFAULT_NAMES, FORMATS
from diffclass_relabel.queries.kinds import QUERIES
from diffclass_relabel.session.operations import PIXEL_OPERATIONS
from diffclass_relabel.session_hub.hub import SessionHub
from diffclass_relabel.session_hub.page_types import TARGET, protocol_types
from diffclass_relabel.session_hub.queries import Queries
from diffclass_relabel.session_hub.workers import Workers


def names(kind):
    return [one.encode_name for one in fields(kind)]


def test_every_operation_can_be_done(editor):
    """Every name in the table does something: what cannot be done now is refused with a reason."""
    values = {"points": [0], "class": 1, "stroke": 1, "id": 1, "name": "a", "color": "#000000",
              "hidden": True, "locked": True, "source": 1, "into": 2, "tau": 8, "steps": 1,
              "mode": "free", "sizes": "uniform", "with_labels": True, "spare": True,
              "joins": "stroke", "operations": [{"op": "add_class"}]}  # fmt: skip
    for name, kind in OPERATIONS.items():
        session = editor.workspace.new_session()
        try:
            session.apply({"op": name} | {field: values[field] for field in names(kind)})
            reason = name
        except ParameterError as error:
            reason = str(error)
        assert reason.startswith(name)


def test_pixels_stand_where_the_engine_has_points():
    assert OPERATIONS.keys() == PIXEL_OPERATIONS.keys()
    for name, kind in OPERATIONS.items():
        sent = PIXEL_OPERATIONS[name]
        assert names(sent) == [field.replace("points", "pixels") for field in names(kind)]
        assert purpose_of(sent) == purpose_of(kind).replace("points", "pixels")


def test_every_query_is_answered(editor):
    answers = Queries(editor, Workers(), pictures=None).answers
    assert QUERIES.keys() == answers.keys() | SessionHub._ANSWERS.keys()


def test_every_result_has_formats_and_a_name():
    assert FORMATS.keys() == DEFAULT_NAMES.keys()


def test_the_types_of_the_page_are_those_of_the_server():
    message = "run python -m diffclass_relabel.session_hub.page_types, then build the page again"
    assert TARGET.read_text(encoding="utf-8") == protocol_types(), message
