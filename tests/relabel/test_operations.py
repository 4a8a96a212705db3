"""Operations are described once; checks, error messages and documentation follow."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import ParameterError
from diffclass.relabel import OPERATIONS, RelabelSession
from diffclass.relabel.messages import contents_of, decoded, name_of, purpose_of
from diffclass.relabel.operations import (
    Paint,
)

WRONG = {
    "class": [0, 255, -1, 2.0, "3", True, None, 10**40, [1]],
    "stroke": [0, 2**31, True, None],
    "hidden": [0, 1, "true", None],
    "locked": ["yes", 1],
    "name": ["", " ", "a" * 201, "a\nb", "\ud800", b"a", 3],
    "color": ["red", "#12345", "#1234567", "#12345g", "#123456\n", 123456],
    "mode": ["c", "", None, ["auto"], 1],
    "sizes": ["", "all", 3, [{}], [{"class": 1}], [{"class": 0, "least": 0, "most": 1}],
              [{"class": 1, "least": 0.3, "most": 0.2}], [{"class": 1, "least": 0, "most": 0}],
              [{"class": 1, "least": -0.1, "most": 0.2}],
              [{"class": 1, "least": 0.1, "most": 1.1}],
              [{"class": 1, "least": 1.1, "most": 1.2}], [3]],
    "tau": [0, -1, 16_385, 1.5, "most", True, None, ["margin"]],
    "points": [[], [1.5], [True, 2], [[1]], "12", None, np.array(["a"]), {1, 2}],
}  # fmt: skip
GOOD = {"sizes": [{"class": 1, "least": 0.1, "most": 0.2}],
        "class": 1, "points": [0], "stroke": 1, "id": 1, "hidden": True, "name": "a",
        "color": "#000000", "mode": "free", "tau": 8, "locked": True, "source": 1, "into": 2,
        "operations": [{"op": "add_class"}], "steps": 1}  # fmt: skip


def message(kind, **values):
    names = [one.removesuffix(" (optional)") for one in contents_of(kind).split(", ")]
    fields = {name: GOOD[name] for name in names if name in GOOD}
    return {"op": name_of(kind)} | fields | values


@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=list(OPERATIONS))
def test_a_field_refuses_all_that_it_is_not(kind):
    assert type(decoded(message(kind), OPERATIONS)) is kind
    for name in WRONG.keys() & message(kind).keys():
        for value in WRONG[name]:
            with pytest.raises(ParameterError, match=rf"^{name_of(kind)}: {name} = .*; ") as caught:
                decoded(message(kind, **{name: value}), OPERATIONS)
            assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"op": "recolor_class", "id": 3}, "recolor_class: color is missing; give id, color"),
        ({"op": "undo", "a": 1, "b": 2}, r"undo: a, b are unknown; give steps \(optional\)"),
        ({"op": "remove_class", "id": 0}, "remove_class: id = 0; class ids are 1 to 254"),
        ({"op": "recolor_class", "id": 1, "color": None}, "color = None; it is a text such as"),
        ({"op": "x"}, "op = 'x'; possible: stroke, erase"),
        ({"op": "batch", "operations": [{"op": "warp"}, {"op": "move", "stroke": 1, "class": 0}]},
         "batch: move: class = 0; class ids are 1 to 254"),
        ({"op": "batch", "operations": [{"op": "undo"}]}, "batch: op = 'undo'; possible: stroke"),
        ({"op": "batch", "operations": [3]}, "batch: give a mapping"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong_and_what_to_give(given, says):
    with pytest.raises(ParameterError, match=says):
        decoded(given, OPERATIONS)


def test_values_are_cleaned():
    for given in ([4, 1, 4], (4, 1, 4), np.array([4, 1, 4], dtype=np.uint8)):
        painted = decoded({"op": "stroke", "class": np.int8(3), "points": given}, OPERATIONS)
        assert (painted.class_id, painted.points.tolist()) == (3, [4, 1, 4])
    assert decoded({"op": "add_class", "name": " corn "}, OPERATIONS).name == "corn"


def test_points_are_checked_where_an_operation_is_made_in_python():
    with pytest.raises(ValueError, match="at least one point number"):
        Paint(1, np.zeros(0, dtype=int))


def test_the_documentation_of_apply_lists_every_operation():
    documented = " ".join(RelabelSession.apply.__doc__.split())
    for name, kind in OPERATIONS.items():
        given = contents_of(kind)
        fields = "" if given == "nothing else" else f" ({given})"
        line = f"- ``{name}``{fields}: {purpose_of(kind)}"
        assert line in documented, f"put into the docstring of apply: {line}"
