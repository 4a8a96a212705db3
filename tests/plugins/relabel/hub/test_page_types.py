"""Operations and questions are described once; checks, documentation and types follow."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import ParameterError
from diffclass.relabel import OPERATIONS, RelabelSession
from diffclass.relabel.fields import Choice, Color, Flag, Points, Text, Time, Whole
from diffclass.relabel.schema import Form, checked_message
from diffclass_relabel.hub.page_types import TARGET, protocol_types
from diffclass_relabel.hub.queries import Queries
from diffclass_relabel.hub.session_hub import SessionHub
from diffclass_relabel.queries.exports import DEFAULT_NAMES, FORMATS
from diffclass_relabel.queries.questions import ANSWERS, QUESTIONS
from diffclass_relabel.session.operations import PIXEL_OPERATIONS, Runs


@pytest.mark.parametrize(
    ("kind", "given", "cleaned"),
    [
        (Whole(1, 9, "digits"), 9, 9), (Whole(1, 9, "digits"), np.int8(3), 3),
        (Flag(), False, False), (Text(), " corn ", "corn"), (Text(), "a" * 200, "a" * 200),
        (Color(), "#ABCdef", "#abcdef"), (Choice(["a", "b"]), "b", "b"),
        (Time(), "margin", "margin"), (Time(), 10_000, 10_000), (Runs(), [3, 2], [3, 2]),
    ],
)  # fmt: skip
def test_a_kind_cleans_what_it_takes(kind, given, cleaned):
    found = kind.checked(given, "x")
    assert (found, type(found)) == (cleaned, type(cleaned))


def test_points_are_taken_from_lists_and_arrays():
    for given in ([4, 1, 4], (4, 1, 4), np.array([4, 1, 4], dtype=np.uint8)):
        assert Points().checked(given, "x").tolist() == [4, 1, 4]


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        (Whole(1, 9, "digits"), [0, 10, -1, 2.0, "3", True, None, 10**40, [1]]),
        (Flag(), [0, 1, "true", None]),
        (Text(), ["", " ", "a" * 201, "a\nb", "\ud800", b"a", None, 3]),
        (Color(), ["red", "#12345", "#1234567", "#12345g", "#123456\n", 123456, None]),
        (Choice(["a", "b"]), ["c", "", None, ["a"], 1]),
        (Time(), [0, -1, 16_385, 1.5, "most", True, None, ["margin"]]),
        (Points(), [[], [1.5], [True, 2], [[1]], "12", None, np.array(["a"]), {1, 2}]),
        (Runs(), [None, "1,2", (1, 2), {}]),
    ],
)
def test_a_kind_refuses_all_else_in_its_own_words(kind, refused):
    for value in refused:
        with pytest.raises(ParameterError, match=r"^x = .*; ") as caught:
            kind.checked(value, "x")
        assert len(str(caught.value)) < 200


def test_a_form_says_what_is_wrong_and_what_to_give():
    form = Form("paint", "paint", {"size": Whole(1, 9, "sizes")}, {"color": Color()})
    assert form.checked({"size": 3}) == {"size": 3}
    for values, message in (
        ({}, r"paint: size is missing; give size, color \(optional\)"),
        ({"size": 3, "a": 1, "b": 2}, "paint: a, b are unknown"),
        ({"size": 0}, "paint: size = 0; sizes are 1 to 9"),
        ({"size": 1, "color": None}, "paint: color = None; it is a text such as"),
    ):
        with pytest.raises(ParameterError, match=message):
            form.checked(values)
    with pytest.raises(ParameterError, match="ask = 'x'; possible: paint"):
        checked_message({"ask": "x"}, {"paint": form}, key="ask")


def test_the_documentation_of_apply_lists_every_operation():
    documented = " ".join(RelabelSession.apply.__doc__.split())
    for form in OPERATIONS.values():
        assert f"- {form}" in documented, f"put into the docstring of apply: - {form}"


def test_every_operation_can_be_done(editor):
    """Every name in the table does something: what cannot be done now is refused with a reason."""
    values = {"points": [0], "class": 1, "stroke": 1, "id": 1, "name": "a", "color": "#000000",
              "hidden": True, "locked": True, "source": 1, "into": 2, "tau": 8, "steps": 1,
              "mode": "free",
              "operations": [{"op": "add_class"}]}  # fmt: skip
    for form in OPERATIONS.values():
        session = editor.workspace.new_session()
        try:
            session.apply({"op": form.name} | {name: values[name] for name in form.fields})
            reason = form.name
        except ParameterError as error:
            reason = str(error)
        assert reason.startswith(form.name)


def test_pixels_stand_where_the_engine_has_points():
    for name, form in OPERATIONS.items():
        sent = PIXEL_OPERATIONS[name]
        renamed = {"pixels" if field == "points" else field for field in form.fields}
        assert sent.fields.keys() == renamed
        assert "points" not in str(sent)


def test_every_question_has_an_answer():
    assert QUESTIONS.keys() == ANSWERS.keys()
    assert QUESTIONS.keys() == Queries.ANSWERS.keys() | SessionHub._ANSWERS.keys()


def test_every_result_has_formats_and_a_name():
    assert FORMATS.keys() == DEFAULT_NAMES.keys()


def test_the_types_of_the_page_are_those_of_the_server():
    message = "run python -m diffclass_relabel.hub.page_types, then build the page again"
    assert TARGET.read_text(encoding="utf-8") == protocol_types(), message
