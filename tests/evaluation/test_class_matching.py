"""Which class of one labelling is which of another: the laws of names, ids and overlap."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass.evaluation import classification_scores, match_classes
from diffclass.exceptions import DataError


@st.composite
def labellings(draw):
    """Return classes of the same points on two sides, some of none, by ids with gaps."""
    n = draw(st.integers(1, 60))
    sides = []
    for _ in range(2):
        ids = draw(st.lists(st.integers(1, 30), min_size=1, max_size=5, unique=True))
        values = draw(st.lists(st.sampled_from([0, *ids]), min_size=n, max_size=n))
        sides.append((np.array(values), ids))
    return sides


def named(ids, names=None):
    return {i: (names or {}).get(i) for i in ids}


def renumbering(draw, ids):
    return dict(zip(ids, draw(st.permutations(range(1, 40)))[: len(ids)], strict=True))


def renumbered(values, numbers):
    return np.array([numbers.get(i, 0) for i in values.tolist()])


def matched(truth, ids, found, own, **options):
    return match_classes(truth, found, given_names=named(ids), own_names=named(own), **options)


def accuracy(match, truth, found):
    """Return the overall accuracy as classification_scores counts it after the match."""
    carried = match.carried(truth, match.apart())
    return classification_scores(carried[truth > 0], found[truth > 0]).overall_accuracy


def most_in_agreement(truth, ids, found, own):
    """Return the most points that any assignment brings to agree, by trying all."""
    sides = (ids, own) if len(ids) <= len(own) else (own, ids)
    best = 0
    for chosen in permutations(sides[1], len(sides[0])):
        pairs = zip(sides[0], chosen, strict=True)
        pairs = pairs if sides[0] is ids else ((j, i) for i, j in pairs)
        best = max(best, sum(np.count_nonzero((truth == i) & (found == j)) for i, j in pairs))
    return best


@settings(deadline=None, max_examples=100)
@given(labellings(), st.data())
def test_by_overlap_no_numbering_changes_what_agrees(sides, data):
    (truth, ids), (found, own) = sides
    before = matched(truth, ids, found, own, by="overlap")
    best = most_in_agreement(truth, ids, found, own)
    n = np.count_nonzero(truth)
    assert before.agreement["overlap"] == (best / n if n else None)
    first, second = (renumbering(data.draw, each) for each in (ids, own))
    after = matched(
        renumbered(truth, first), [first[i] for i in ids],
        renumbered(found, second), [second[i] for i in own], by="overlap",
    )  # fmt: skip
    assert after.agreement["overlap"] == before.agreement["overlap"]
    if n:
        assert accuracy(before, truth, found) == pytest.approx(best / n)
        assert before.agreement["ids"] == pytest.approx(np.mean((truth == found)[truth > 0]))


@settings(deadline=None, max_examples=100)
@given(labellings(), st.data())
def test_by_names_no_numbering_changes_anything(sides, data):
    (truth, ids), (found, own) = sides
    letters = data.draw(st.permutations("abcdefgh"))
    names = dict(zip(ids, letters, strict=False))
    own_names = dict(zip(own, data.draw(st.permutations("abcdefgh")), strict=False))
    before = match_classes(truth, found, given_names=names, own_names=own_names)
    shared = set(names.values()) & set(own_names.values())
    assert (before.by == "names") == bool(shared)
    if not shared:
        return
    assert {names[i] for i in before.assignment} == shared
    numbers = renumbering(data.draw, ids)
    after = match_classes(
        renumbered(truth, numbers), found, own_names=own_names,
        given_names={numbers[i]: f" {name.upper()}_" for i, name in names.items()},
    )  # fmt: skip
    assert after.by == "names"
    assert after.assignment == {numbers[i]: j for i, j in before.assignment.items()}
    assert after.agreement["names"] == before.agreement["names"]
    assert after.is_contradicted == before.is_contradicted


@given(labellings())
def test_what_has_no_class_on_the_other_side_gets_an_id_of_its_own(sides):
    (truth, ids), (found, own) = sides
    for by in ("ids", "overlap"):
        match = matched(truth, ids, found, own, by=by)
        apart = match.apart()
        assert set(apart) == set(ids) - set(match.assignment)
        assert len({*apart.values(), *own}) == len(apart) + len(own)
        assert len(set(match.assignment.values())) == len(match.assignment)
        expected = [{0: 0, **apart, **match.assignment}[i] for i in truth.tolist()]
        assert match.carried(truth, apart).tolist() == expected


def test_ids_in_another_order_are_contradicted_and_errors_are_not():
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 7, 2000)
    found = np.where(rng.random(2000) < 0.3, rng.integers(1, 7, 2000), truth)  # a poor map
    ids = range(1, 7)
    assert not matched(truth, ids, found, ids).is_contradicted
    worthless = rng.integers(1, 7, 2000)
    assert not matched(truth, ids, worthless, ids).is_contradicted
    one_class = np.full(2000, 3)
    assert not matched(truth, ids, one_class, ids).is_contradicted
    shifted = truth % 6 + 1
    assert matched(truth, ids, shifted, ids).is_contradicted
    assert not matched(truth, ids, shifted, ids, by="overlap").is_contradicted
    swapped = np.where(truth > 4, 11 - truth, truth)  # 5 and 6 alone
    assert matched(truth, ids, swapped, ids).is_contradicted
    assert not matched(truth, ids, swapped, ids).is_confirmed
    assert matched(truth, ids, found, ids).is_confirmed
    assert not matched(truth[:3], ids, truth[:3], ids).is_confirmed  # too few to tell
    mostly = np.where(rng.random(2000) < 0.7, 1, truth)
    assert not matched(mostly, ids, np.ones(2000, int), ids).is_confirmed  # of 2 to 6 nothing tells


def test_among_equal_overlaps_ids_are_kept():
    truth, found = np.array([1, 1, 2, 2]), np.array([1, 2, 1, 2])
    assert matched(truth, [1, 2], found, [2, 1]).assignment == {1: 1, 2: 2}
    assert matched(truth, [1, 2], found, [2, 1], by="overlap").assignment == {1: 1, 2: 2}


@pytest.mark.parametrize(
    ("names", "own_names", "expected"),
    [
        ({1: "corn", 2: None}, {1: "Corn", 2: "soy"}, {1: 1, 2: 2}),
        ({1: "corn", 2: None}, {2: "corn", 1: "soy"}, {1: 2}),  # ids are others
        ({1: "corn", 2: "oat"}, {1: "corn", 2: "soy"}, {1: 1}),
        ({1: "corn", 2: "corn"}, {1: "corn", 2: None}, {}),  # which of them?
        ({1: "corn", 2: "corn"}, {1: "corn", 2: "corn", 3: "soy"}, {1: 1, 2: 2}),
        ({6: "class 2", 5: "soy"}, {2: None, 3: "soy"}, {6: 2, 5: 3}),
        ({2: None, 3: "soy"}, {6: "class 2", 5: "soy"}, {2: 6, 3: 5}),
        ({1: "corn", 2: "CORN"}, {5: "CORN", 6: "corn"}, {1: 6, 2: 5}),
        ({1: "winter  wheat"}, {9: "Winter_wheat "}, {1: 9}),
    ],
)
def test_names(names, own_names, expected):
    truth = found = np.zeros(1, dtype=int)
    match = match_classes(truth, found, given_names=names, own_names=own_names)
    assert match.rules["names"] == expected
    assert match.by == ("names" if expected else "ids")


def test_names_that_are_asked_for_have_to_be_there():
    with pytest.raises(DataError, match="no class name in common"):
        matched(np.ones(1, int), [1], np.ones(1, int), [1], by="names")


@settings(max_examples=30, deadline=None)
@given(labellings(), st.sampled_from([None, "ids", "overlap"]))
def test_a_name_of_0_changes_nothing(sides, by):
    (truth, ids), (found, own_ids) = sides
    names, own_names = dict.fromkeys(ids), dict.fromkeys(own_ids)
    plain, more = (
        match_classes(truth, found, given_names=zero | names, own_names=zero | own_names, by=by)
        for zero in ({}, {0: "Unclassified"})
    )
    assert more.to_dict() == plain.to_dict()
    np.testing.assert_array_equal(more.counts, plain.counts)
    carried = [match.carried(truth, match.apart()).tolist() for match in (plain, more)]
    assert carried[0] == carried[1]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"given": [1, 2, 3]}, "class 3 is not among given_names"),
        ({"given": [1, 2]}, "shape"),
        ({"given": [1.0, 2.0, 2.0]}, "whole numbers"),
        ({"given_names": {}}, "class 1 is not among given_names"),
        ({"pairs": {1: 7}}, "class 7 is not among own_names"),
        ({"pairs": {7: 1}}, "class 7 is not among given_names"),
        ({"by": "luck"}, "by = 'luck'"),
    ],
)
def test_what_has_no_entry_is_refused(changed, says):
    names = {1: None, 2: None}
    sides = {"given": [1, 2, 2], "own": [1, 1, 2], "given_names": names, "own_names": names}
    with pytest.raises(ValueError, match=says):
        match_classes(**sides | changed)
