"""An operation that others have given another meaning meanwhile is refused, and no other."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import markov_operator
from diffclass.exceptions import ParameterError
from diffclass.relabel import RelabelSession
from diffclass.relabel.messages import decoded
from diffclass_relabel.session.operations import PIXEL_OPERATIONS
from diffclass_relabel.session.timeline import Unseen

OPERATOR = markov_operator(np.linspace(0, 1, 12)[:, None], n_neighbors=4)
AUTHORS = ("mine", "theirs")
OPERATIONS = st.one_of(
    st.just({"op": "add_class"}),
    st.builds(lambda i: {"op": "remove_class", "id": i}, st.integers(1, 4)),
    st.builds(lambda i, n: {"op": "rename_class", "id": i, "name": n}, st.integers(1, 4),
              st.sampled_from("abc")),
    st.builds(lambda op, k: {"op": op, "steps": k}, st.sampled_from(["undo", "redo"]),
              st.integers(1, 3)),
)  # fmt: skip


def typed(operation):
    return decoded(operation, PIXEL_OPERATIONS)


class Twin:
    """Gives every class that is added an identity of its own, and keeps all states."""

    def __init__(self):
        self.states, self.place, self.after, self.n_identities = [{}], 0, [{}], 0

    def note(self, operation, ids):
        steps = operation.get("steps", 1)
        if operation["op"] == "undo":
            self.place -= steps
        elif operation["op"] == "redo":
            self.place += steps
        else:
            del self.states[self.place + 1 :]
            state = {i: old for i, old in self.states[-1].items() if i in ids}
            for new in ids - set(state):
                self.n_identities += 1
                state[new] = self.n_identities
            self.states.append(state)
            self.place += 1
        self.after.append(self.states[self.place])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(OPERATIONS, st.sampled_from(AUTHORS)), max_size=25))
def test_a_stroke_is_refused_if_its_class_is_another_one_by_now(acts):
    session, unseen, twin, added_by = RelabelSession(OPERATOR), Unseen(), Twin(), {}
    for operation, author in acts:
        with suppress(ParameterError):
            session.apply(operation)
            unseen.note(typed(operation), author, session)
            before = twin.n_identities
            twin.note(operation, {info.id for info in session.classes})
            if twin.n_identities > before:
                added_by[twin.n_identities] = author
    now = twin.after[-1]
    for seen, then in enumerate(twin.after):
        for class_id, identity in now.items():
            is_known = class_id in then or added_by[identity] != "mine"  # and no class just added
            is_another = then.get(class_id) != identity and is_known
            stroke = {"op": "stroke", "class": class_id, "pixels": [0, 1]}
            for operation in (stroke, {"op": "batch", "operations": [{"op": "warp"}, stroke]}):
                if is_another:
                    with pytest.raises(ParameterError, match="choose a class again"):
                        unseen.check(typed(operation), "mine", seen)
                else:
                    unseen.check(typed(operation), "mine", seen)


def noted(*authors):
    session, unseen = RelabelSession(OPERATOR, ["a"]), Unseen()
    for k, author in enumerate(authors):
        session.apply({"op": "stroke", "class": 1, "points": [k]})
        operation = {"op": "stroke", "class": 1, "pixels": [k, 1]}
        unseen.note(typed(operation), author, session)
    return unseen


@pytest.mark.parametrize("name", ["undo", "redo"])
def test_nobody_takes_back_what_they_have_not_seen(name):
    unseen = noted("mine", "theirs", "mine", "theirs", "mine")
    unseen.check(typed({"op": name}), "mine", 0)  # the last one is my own, whatever was before it
    unseen.check(typed({"op": name, "steps": 2}), "mine", 4)
    for steps, seen in ((2, 3), (3, 0), (5, 1)):
        with pytest.raises(ParameterError, match="look again"):
            unseen.check(typed({"op": name, "steps": steps}), "mine", seen)
    with pytest.raises(ParameterError, match="look again"):
        unseen.check(typed({"op": name}), "theirs", 4)
    unseen.check(typed({"op": name}), "theirs", 5)


@pytest.mark.parametrize("name", ["move", "remove"])
def test_strokes_are_told_by_numbers_that_others_may_give_away(name):
    unseen = noted("mine", "theirs", "mine")
    operation = {"op": name, "stroke": 2} | ({"class": 1} if name == "move" else {})
    unseen.check(typed(operation), "mine", 2)
    with pytest.raises(ParameterError, match="look again"):
        unseen.check(typed(operation), "mine", 1)
