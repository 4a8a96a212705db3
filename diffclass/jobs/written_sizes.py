"""What is known of the sizes of classes, as text and as shares of all points.

"uniform", or NAME=SIZE of some classes, separated by commas; a name with a comma stands in quotes
("water, deep"=20%), as in CSV. What is the name of one class and the id of another is the name. A
size is a share, a number of points or, where these have one, an area, each as one number or a
range: 20%, 10-20%, 1200px, 3-4.5ha.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from diffclass.exceptions import ParameterError, warn_user
from diffclass.label_diffusion.class_sizes import NEAR, SIZED, ClassSizes, prior_of

Uniform = Literal["uniform"]
Prior = str | list[float] | tuple[list[float], list[float]]
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"


class GivenSize(NamedTuple):
    """The size of a class: the least and the most share of all points, 0 to 1."""

    class_id: Any
    least: float
    most: float
    written: str  # as it was given


@dataclass(frozen=True)
class Measures:
    """In what sizes may be given besides %.

    Attributes
    ----------
    wholes : mapping of str to callable
        By unit: how large all points together are.
    of : str
        What they are, such as "the whole scene".
    examples : str
        For messages.

    Examples
    --------
    Pixels of a scene, each of 100 square metres:

    >>> from diffclass.jobs import Measures
    >>> wholes = {"px": lambda: 5000.0, "ha": lambda: 50.0}
    >>> measures = Measures(wholes, of="the whole scene", examples="20% or 3-4.5ha")
    >>> measures.shares("corn", "500px"), measures.shares("soy", "5-10ha")
    ((0.1, 0.1), (0.1, 0.2))
    """

    wholes: Mapping[str, Callable[[], float]]
    of: str
    examples: str

    def shares(self, name: str, size: str) -> tuple[float, float]:
        """Return the least and the most share that a text gives to a class."""
        units = "|".join(map(re.escape, ["%", *self.wholes]))
        given = re.fullmatch(rf"{_NUMBER}(?:-{_NUMBER})?\s*({units})", size)
        if given is None:
            raise ParameterError(f"{size!r} of {name!r} is no size; write {self.examples}")
        least, most = float(given[1]), float(given[2] or given[1])
        whole = 100.0 if given[3] == "%" else self.wholes[given[3]]()
        is_inside = least <= most and 0 < most <= whole * (1 + 1e-9)
        if not is_inside or most / whole == 0:  # the share may be too small for a float
            raise ParameterError(
                f"{size!r} of {name!r} has to end above 0, not before it begins, and at most at "
                f"{self.of}, {whole:.6g}{given[3]}"
            )
        if least == 0 and most >= whole:
            raise ParameterError(f"{size!r} of {name!r} is any size; leave it out")
        return min(least / whole, 1.0), min(most / whole, 1.0)


def sizes_of(text: str, names: Mapping[Any, str], measures: Measures) -> Uniform | list[GivenSize]:
    """Return the sizes that a text gives; see the module.

    Parameters
    ----------
    text : str
    names : mapping to str
        The classes by id. They are called by their names or ids.
    measures : Measures

    Raises
    ------
    ParameterError
        For text that is no size, and for classes that are unknown or named twice.

    See Also
    --------
    written_prior : As the classifier takes them.

    Examples
    --------
    >>> from diffclass.jobs import Measures, sizes_of
    >>> measures = Measures({"rows": lambda: 200.0}, of="the table", examples="20% or 10rows")
    >>> for size in sizes_of("corn=10-20%, 2=50rows", {1: "corn", 2: "soy"}, measures):
    ...     print(size)
    GivenSize(class_id=1, least=0.1, most=0.2, written='10-20%')
    GivenSize(class_id=2, least=0.25, most=0.25, written='50rows')
    """
    if text.strip() == "uniform":
        return "uniform"
    found: dict[Any, GivenSize] = {}
    for name, is_quoted, size in _entries(text):
        class_id = _id_of(name, names, is_quoted=is_quoted)
        if class_id in found:
            raise ParameterError(f"{name!r} is there twice")
        found[class_id] = GivenSize(class_id, *measures.shares(name, size), size)
    return [*found.values()]


def sizes_as_text(sizes: Iterable[tuple[int, str]], names: Mapping[int, str]) -> str:
    """Return the text of sizes, each a class and what was written of it; see `sizes_of`.

    A name that would be read otherwise stands in quotes; a class whose name another one has too
    goes by its id.

    Examples
    --------
    >>> from diffclass.jobs import sizes_as_text
    >>> sizes_as_text([(1, "10-20%"), (2, "3ha")], {1: "corn", 2: "oats, wheat"})
    'corn=10-20%,"oats, wheat"=3ha'
    """
    return ",".join(f"{_called(class_id, names)}={written}" for class_id, written in sizes)


def written_prior(
    text: str, names: Mapping[Any, str], labelled: Collection[Any], measures: Measures
) -> Prior:
    """Return the classifier's ``class_prior`` for the text of ``--class-sizes``.

    ``labelled`` are the ids of the classes with labels, in their order. Classes that are not named
    may have any size.

    Raises
    ------
    ParameterError
        As `sizes_of`, for classes without a label, and for sizes that leave no room.

    See Also
    --------
    sizes_of : The sizes themselves, by class.

    Examples
    --------
    >>> from diffclass.jobs import Measures, written_prior
    >>> measures = Measures({}, of="the table", examples="20%")
    >>> names = {1: "corn", 2: "soy"}
    >>> written_prior("corn=10-20%", names, [1, 2], measures)
    ([0.1, 0.0], [0.2, 1.0])
    >>> written_prior("uniform", names, [1, 2], measures)
    'uniform'
    """
    try:
        sizes = sizes_of(text, names, measures)
    except ParameterError as error:
        raise ParameterError(f"--class-sizes: {error}") from None
    if isinstance(sizes, str):
        return sizes
    for size in sizes:
        if size.class_id not in labelled:
            raise ParameterError(
                f"--class-sizes: class {names[size.class_id]!r} has no label on a point with data, "
                "so nothing can be mapped as it; label one, or leave its size out"
            )
    known = {size.class_id: (size.least, size.most) for size in sizes}
    prior = prior_of([known.get(class_id) for class_id in labelled])
    _check_all_have_room(prior, [names[class_id] for class_id in labelled], measures.of)
    return prior


def sizes_in_words(
    class_prior: ArrayLike, names: Sequence[str], shares: ArrayLike, weighting: str
) -> tuple[str, ...]:
    """Say for each class with a size what was asked for and what the map has.

    Parameters
    ----------
    class_prior : array-like of shape (n_classes,) or (2, n_classes), or "uniform"
        As of `diffclass.diffuse_labels`.
    names : sequence of str
        The names of the classes, in the same order.
    shares : array-like of shape (n_classes,)
        Of the map's points that are of each class, 0 to 1.
    weighting : str
        That of the `LabelDiffusion`: it says whether the graph disagreed.

    See Also
    --------
    written_prior : From text to ``class_prior``.

    Examples
    --------
    >>> from diffclass.jobs import sizes_in_words
    >>> prior = [0.2, 0, 0.1], [0.3, 1, 0.1]
    >>> sizes_in_words(prior, ["corn", "soy", "oats"], [0.23, 0.67, 0.1], "moved")
    ('corn: asked 20 to 30 %, the map has 23 %', 'oats: asked 10 %, the map has 10 %')
    >>> sizes_in_words("uniform", ["corn", "soy"], [0.8, 0.2], "equal")[0]
    'corn: asked 50 %, the map has 80 %: the graph disagrees'
    """
    sizes = ClassSizes.of(class_prior, len(names))
    if sizes is None:
        return ()
    found = np.asarray(shares)
    is_refused = weighting not in SIZED and not sizes.hold(found, by=NEAR)
    return tuple(
        f"{name}: asked {_percent(least, most)}, the map has {100 * share:.3g} %"
        + (": the graph disagrees" if is_refused else "")
        for name, share, least, most in zip(names, found, sizes.least, sizes.most, strict=True)
        if least > 0 or most < 1
    )


def _percent(least: float, most: float) -> str:
    return f"{100 * least:.3g} %" if least == most else f"{100 * least:.3g} to {100 * most:.3g} %"


def _check_all_have_room(prior: Prior, names: Sequence[str], of: str) -> None:
    """Refuse sizes that the classes with labels cannot have between them."""
    if not isinstance(prior, tuple):
        return
    least, most = (100 * sum(shares) for shares in prior)
    if not least - 1e-7 <= 100 <= most + 1e-7:
        raise ParameterError(
            f"--class-sizes: the classes with labels have {least:.4g} to {most:.4g} % of {of} "
            "between them; 100 % has to lie in that range"
        )
    without = [name for name, one in zip(names, prior[0], strict=True) if not one]
    if least > 100 - 1e-7 and without:
        raise ParameterError(
            f"--class-sizes: the sizes add up to {of} and leave no room for class {without[0]!r}, "
            "which has labels too; lower one of them"
        )


_ENTRY = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*=\s*([^,=]*?)\s*(,|\Z)')


def _entries(text: str) -> list[tuple[str, bool, str]]:
    """Return the name in each entry of a text, whether it is in quotes, and the size."""
    found: list[tuple[str, bool, str]] = []
    start = 0
    divider = ","
    while divider:
        entry = _ENTRY.match(text, start)
        if entry is None:
            wrong = text[start:].partition(",")[0].strip()
            raise ParameterError(
                f"{wrong!r} is not NAME=SIZE, such as corn=10-20%; or give 'uniform'"
            )
        quoted, bare, size, divider = entry.groups()
        found.append(
            (bare if quoted is None else quoted.replace('""', '"'), quoted is not None, size)
        )
        start = entry.end()
    return found


def _called(class_id: Any, names: Mapping[Any, str]) -> str:
    """Return what a class is called in a text of sizes."""
    name = names[class_id]
    if list(names.values()).count(name) > 1:
        return str(class_id)
    is_an_id = any(str(other) == name for other in names if other != class_id)
    if name and name == name.strip() and not is_an_id and not re.search(r'[,"\r\n]', name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _id_of(name: str, names: Mapping[Any, str], *, is_quoted: bool) -> Any:
    called = [class_id for class_id, named in names.items() if named == name]
    by_id = None if is_quoted else next((i for i in names if str(i) == name), None)
    if len(called) > 1 and by_id not in called:
        both = " and ".join(map(str, called))
        raise ParameterError(f"{name!r} is the name of the classes {both}; give their ids")
    if called and by_id not in called:
        if by_id is not None:
            warn_user(
                f"the size of {name!r} is that of the class with this name, not of class {by_id} "
                f"({names[by_id]})"
            )
        return called[0]
    if by_id is None:
        there_are = ", ".join(
            named if str(class_id) == named else f"{class_id} {named}"
            for class_id, named in names.items()
        )
        raise ParameterError(f"no class {name!r}; there are {there_are or 'none'}")
    return by_id
