"""Which class of one labelling is which of another: by name, by id, or by best overlap.

Two labellings of the same points may number their classes differently. Three rules say which class
of the *given* labels (a truth, a reference, a file) is which of the *own* ones (a map, a session):

- **names**: classes of one name are one, whatever their ids; upper and lower case, spaces and
  underscores do not count. Where the names that are found leave the ids as they are, classes of
  which one or both have no name are matched by id.
- **ids**: classes of one id are one.
- **overlap**: the assignment with most points in agreement (the Hungarian method, each class once;
  among equal ones that which keeps most ids). As it is chosen by the points that are then counted,
  accuracy after it is an upper bound.

Unless one is asked for, names count if there is one in common, else ids if there is one in common,
else overlap. Whatever counts, it is *contradicted* where the best overlap agrees far better: where
it raises Cohen's kappa by a quarter or by half of what is missing to 1, and more points agree than
chance would add (see `far_more`). Report a contradicted agreement and do not correct it silently: a
bad map and another numbering look the same.

Source: H. W. Kuhn, The Hungarian method for the assignment problem, 1955.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_choice
from diffclass.exceptions import DataError

MatchRule = Literal["names", "ids", "overlap"]
MATCH_RULES: tuple[str, ...] = get_args(MatchRule)

_LIFT = 0.25  # of kappa
_CONFIRMED = 0.5  # kappa
_UNNAMED = "class {}"  # as tables of classes call one without a name
_MOST_SHOWN = 8  # pairs in a sentence

Pairs = Mapping[int, int]
Names = Mapping[int, str | None]


@dataclass(frozen=True, eq=False)
class ClassMatch:
    """Which given class is which own one, and how far each rule agrees.

    Attributes
    ----------
    by : {"names", "ids", "overlap", "choice"}
        The rule that counts; "choice" where the pairs were given.
    rules : mapping of str to mapping of int to int
        Own class of each given class that has one, by each rule.
    given_names, own_names : mapping of int to str or None
        The classes of each side.
    counts : ndarray of int of shape (n_given, n_own)
        Points of both classes, in the order of the names.
    n_given, n_own : ndarray of int
        Points of each class; those of no class on the other side count too.
    """

    by: str
    rules: Mapping[str, Pairs]
    given_names: Names
    own_names: Names
    counts: np.ndarray
    n_given: np.ndarray
    n_own: np.ndarray

    @property
    def assignment(self) -> Pairs:
        """Own class of each given class that has one."""
        return self.rules[self.by]

    @property
    def unmatched(self) -> list[int]:
        """Given classes that have no own one."""
        return [i for i in self.given_names if i not in self.assignment]

    @cached_property
    def agreement(self) -> dict[str, float | None]:
        """Share of the given points whose class is the own one, by each rule; None for none."""
        n = int(self.n_given.sum())
        return {
            rule: self._shared(pairs) / n if n and (pairs or rule != "names") else None
            for rule, pairs in self.rules.items()
        }

    @property
    def is_contradicted(self) -> bool:
        """Whether another assignment agrees far better than the one that counts."""
        found, best = (self._shared(self.rules[rule]) for rule in (self.by, "overlap"))
        kappa = self._kappa(self.assignment, self.n_given)
        lift = self._kappa(self.rules["overlap"], self.n_given) - kappa
        is_beyond = far_more(best - found, int(self.n_given.sum())) or not found
        return bool(best > found and is_beyond and lift >= min(_LIFT, (1 - kappa) / 2))

    @property
    def is_confirmed(self) -> bool:
        """Whether the points that have classes on both sides agree, with a kappa of a half."""
        agreed, n_both = self._shared(self.assignment), self.counts.sum(axis=1)
        is_alike = self._kappa(self.assignment, n_both) >= _CONFIRMED
        return is_alike and far_more(agreed, int(n_both.sum())) and not self.is_contradicted

    @property
    def renames(self) -> bool:
        """Whether two classes that are one have names that differ."""
        names = [(self.given_names[i], self.own_names[j]) for i, j in self.assignment.items()]
        return any(a and b and _plain(a) != _plain(b) for a, b in names)

    def carried(self, ids: np.ndarray, unmatched: Mapping[int, int]) -> np.ndarray:
        """Return given ids, 0 = none, as own ones; the same array where no id changes.

        ``unmatched`` says what given classes without an own one become.
        """
        become = {**unmatched, **self.assignment}
        own = [become[i] for i in self.given_names]
        if own == list(self.given_names):
            return ids  # the usual case; saves a copy of many pixels
        return np.array([*own, 0], dtype=np.int32)[_places(ids, self.given_names)]

    def apart(self) -> dict[int, int]:
        """Return ids for the unmatched classes, their own where no own class has them."""
        taken = {*self.own_names}
        after = max([0, *taken, *self.given_names])
        ids: dict[int, int] = {}
        for given in self.unmatched:
            if given in taken:
                after += 1
            ids[given] = after if given in taken else given
        return ids

    def pairs_in_words(self, rule: str | None = None) -> str:
        """Return the pairs of a rule as a text, as "10 is 2 (corn), 11 is 3"; of many the first."""
        said = []
        for given, own in sorted(self.rules[rule or self.by].items()):
            name, other = self.own_names[own], self.given_names[given]
            differs = bool(name and other and _plain(name) != _plain(other))
            first = f"{given} ({other})" if differs else str(given)
            said.append(f"{first} is {own}" + (f" ({name or other})" if name or other else ""))
        more = len(said) - _MOST_SHOWN
        return ", ".join(said[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {
            "by": self.by,
            "assignment": {str(given): own for given, own in sorted(self.assignment.items())},
            "unmatched": self.unmatched,
            "overall_accuracy": dict(self.agreement),
            "is_upper_bound": self.by == "overlap",
            "is_contradicted": self.is_contradicted,
        }

    def _shared(self, pairs: Pairs) -> int:
        return int(sum(self.counts[place] for place in self._places(pairs)))

    def _places(self, pairs: Pairs) -> list[tuple[int, int]]:
        rows = {given: row for row, given in enumerate(self.given_names)}
        columns = {own: column for column, own in enumerate(self.own_names)}
        return [(rows[given], columns[own]) for given, own in pairs.items()]

    def _kappa(self, pairs: Pairs, n_given: np.ndarray) -> float:
        """Return Cohen's kappa of some pairs, of so many points of each given class."""
        n = int(n_given.sum())
        if not n:
            return 0.0
        by_chance = sum(float(n_given[i]) * self.n_own[j] for i, j in self._places(pairs)) / n**2
        agreed = self._shared(pairs) / n
        return (agreed - by_chance) / (1 - by_chance) if agreed < 1 else 1.0


def match_classes(
    given: ArrayLike,
    own: ArrayLike,
    *,
    given_names: Names,
    own_names: Names,
    by: str | None = None,
    pairs: Pairs | None = None,
    sides: str = "the two",
) -> ClassMatch:
    """Say which class of some labels is which of others.

    Parameters
    ----------
    given, own : array-like of int of shape (n,)
        Class of each point on both sides, 0 or masked = none.
    given_names, own_names : mapping of int to str or None
        All classes of each side; None for one without a name. A name of 0, as some formats have it,
        is left out.
    by : {"names", "ids", "overlap"}, optional
        The rule; by default the first of these under which two classes are one.
    pairs : mapping of int to int, optional
        Own class of each given one, in place of a rule.
    sides : str
        What messages call the two.

    Raises
    ------
    DataError
        For ``by="names"`` where no name is in common, and where the sides differ in length or a
        class has no entry among the names.

    See Also
    --------
    cluster_scores : For clusters, whose numbers mean nothing.

    Examples
    --------
    >>> match = match_classes([10, 10, 11], [2, 2, 3], given_names={10: None, 11: None},
    ...                       own_names={2: None, 3: None})
    >>> match.by, match.assignment, match.agreement["ids"]
    ('overlap', {10: 2, 11: 3}, 0.0)
    """
    given, own = (np.ma.filled(np.ma.asarray(ids), 0) for ids in (given, own))
    given_names, own_names = (
        {i: name for i, name in names.items() if i > 0} for names in (given_names, own_names)
    )
    if by is not None:
        check_choice(by, "by", MATCH_RULES)
    if given.shape != own.shape:
        raise DataError(f"given has shape {given.shape}, own {own.shape}; give the same points")
    chosen = np.array([*(pairs or {}).items()], dtype=np.int64).reshape(-1, 2)
    for ids, names, side in (
        (given, given_names, "given"),
        (chosen[:, 0], given_names, "given"),
        (chosen[:, 1], own_names, "own"),
    ):
        _check_named(ids, names, side)
    counts, n_given, n_own = _counted(given, own, list(given_names), list(own_names))
    rules: dict[str, Pairs] = {
        "names": _by_names(given_names, own_names),
        "ids": {i: i for i in given_names if i in own_names},
        "overlap": _by_overlap(counts, list(given_names), list(own_names)),
    }
    if pairs is not None:
        by, rules["choice"] = "choice", dict(pairs)
    if by == "names" and not rules["names"]:
        raise DataError(f"{sides} have no class name in common; match by ids or overlap")
    by = by or next((rule for rule in ("names", "ids") if rules[rule]), "overlap")
    return ClassMatch(by, rules, dict(given_names), dict(own_names), counts, n_given, n_own)


def _check_named(ids: np.ndarray, names: Names, side: str) -> None:
    if ids.dtype.kind not in "iu":
        raise DataError(f"{side} holds {ids.dtype} values; classes are whole numbers")
    missing = ids[(ids > 0) & ~np.isin(ids, np.array([*names], dtype=np.int64))]
    if len(missing):
        raise DataError(f"class {missing[0]} is not among {side}_names, which have all classes")


def far_more(n_more: int, n_points: int) -> bool:
    """Whether so many more, of n points, are beyond chance: two standard deviations of n coins."""
    return n_more > 0 and n_more >= 2 * n_points**0.5


def _counted(
    given: np.ndarray, own: np.ndarray, rows: list[int], columns: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points of each pair of classes, of each row, and of each column."""
    known = given > 0
    i, j = _places(given[known], rows), _places(own[known], columns)
    width = len(columns) + 1  # the last column is for no class
    table = np.bincount(i * width + j, minlength=len(rows) * width)
    table = table.reshape(len(rows), width)
    return table[:, :-1], table.sum(axis=1), table[:, :-1].sum(axis=0)


def _places(ids: np.ndarray, known: Iterable[int]) -> np.ndarray:
    """Return the place of each id in a list, or the one after the last where it is not there."""
    listed = np.array([*known, 0])
    order = np.argsort(listed)
    return order[np.searchsorted(listed, np.where(np.isin(ids, listed), ids, 0), sorter=order)]


def _by_overlap(counts: np.ndarray, given: list[int], own: list[int]) -> Pairs:
    from scipy.optimize import linear_sum_assignment

    is_same = np.array(given)[:, None] == np.array(own)[None, :]
    weights = counts * (min(counts.shape) + 1.0) + is_same  # ids decide among equal overlaps alone
    pairs = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
    return {given[i]: own[j] for i, j in pairs if counts[i, j]}


def _by_names(given: Names, own: Names) -> Pairs:
    # several classes of one name are told apart by their ids, if these are the same on both sides
    of_name = [_ids_by_name(names) for names in (given, own)]
    pairs = {i: i for name, ids in of_name[0].items() if of_name[1].get(name) == ids for i in ids}
    for key in (str, _plain):
        pairs |= _alike(given, own, key, pairs)
    is_renumbered = any(i != j for i, j in pairs.items())
    pairs |= _called_by_number(given, own, pairs)
    if not pairs or is_renumbered:
        return pairs
    free = given.keys() & own.keys() - pairs.keys() - set(pairs.values())
    return pairs | {i: i for i in sorted(free) if not (given[i] and own[i])}


def _called_by_number(given: Names, own: Names, pairs: Pairs) -> dict[int, int]:
    """Pair classes without a name with those that the other side calls "class 3"."""
    left = {i: name for i, name in given.items() if i not in pairs}
    right = {i: name for i, name in own.items() if i not in pairs.values()}
    by_name = [{name: i for i, name in side.items() if name} for side in (left, right)]
    found = {i: by_name[1].get(_UNNAMED.format(i)) for i, name in left.items() if not name}
    found |= {
        i: j for j, name in right.items() if not name and (i := by_name[0].get(_UNNAMED.format(j)))
    }
    return {i: j for i, j in found.items() if j is not None}


def _ids_by_name(names: Names) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for i, name in names.items():
        if name:
            found.setdefault(name, set()).add(i)
    return found


def _alike(given: Names, own: Names, key: Callable[[str], str], pairs: Pairs) -> dict[int, int]:
    """Pair classes whose names have a key that no other class of their side has."""
    sides = []
    for names, taken in ((given, set(pairs)), (own, set(pairs.values()))):
        keys = [(key(name), i) for i, name in names.items() if name and i not in taken]
        texts = [text for text, _ in keys]
        sides.append({text: i for text, i in keys if texts.count(text) == 1})
    return {i: sides[1][text] for text, i in sides[0].items() if text in sides[1]}


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().casefold()
